//! A score as OpenTelemetry events `gen_ai.evaluation.result` (conventions for generative AI): one OTLP/JSON document
//! a line, with an event for each metric of one trajectory. If the span that recorded the trajectory is known, the
//! events belong to it.

use std::io::{self, Write};
use std::time::SystemTime;

use m3_score::Metric;
use m3_support::text::{json_without_hidden, shortened};
use serde_json::{Value, json};

use super::faults::{Fault, faults};
use super::{Floor, ScoreRenderer, ScoreSummary, SuiteValue, TrajectoryReport};

/// The name of the events.
const EVENT: &str = "gen_ai.evaluation.result";

/// The severity INFO.
const INFO: u8 = 9;

/// The longest explanation, in columns.
const EXPLANATION: usize = 1_000;

/// Writes the events of each trajectory as it comes.
pub struct Evaluations<W: Write> {
    writer: W,
    floors: Vec<Floor>,
    /// When the evaluation is made, in nanoseconds since 1970.
    time: String,
}

impl<W: Write> Evaluations<W> {
    /// Writes to `writer`; metrics with a floor are labelled `pass` or `fail` by it.
    pub fn new(writer: W, floors: Vec<Floor>) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { writer, floors, time: since.as_nanos().to_string() }
    }

    /// The label of a value by the floor of its metric; `None` without a floor.
    fn label(&self, name: &str, value: f64) -> Option<&'static str> {
        let floor = self.floors.iter().find(|floor| floor.name == name)?;
        Some(passed(value >= floor.least))
    }

    /// The event for the evaluation of a trajectory by one metric or criterion.
    fn record(
        &self,
        report: &TrajectoryReport,
        name: &str,
        (value, label): (Option<f64>, Option<&str>),
        explanation: Option<String>,
    ) -> Value {
        let texts = [
            ("gen_ai.evaluation.name", Some(name.to_owned())),
            ("gen_ai.evaluation.score.label", label.map(str::to_owned)),
            ("gen_ai.evaluation.explanation", explanation.map(|text| shortened(&text, EXPLANATION))),
            ("gen_ai.conversation.id", Some(report.id.clone())),
            ("m3.trajectory.id", Some(report.id.clone())),
            ("m3.trajectory.type", report.task_type.clone()),
            ("m3.failure", report.failure.clone()),
        ];
        let mut attributes: Vec<Value> = texts
            .into_iter()
            .filter_map(|(key, text)| Some(json!({"key": key, "value": {"stringValue": text?}})))
            .collect();
        if let Some(value) = value {
            attributes
                .insert(1, json!({"key": "gen_ai.evaluation.score.value", "value": {"doubleValue": value}}));
        }
        if let Some(repeat) = report.repeat {
            // In OTLP/JSON, integers of 64 bits are texts.
            attributes.push(json!({"key": "m3.repetition", "value": {"intValue": repeat.to_string()}}));
        }
        let mut record = json!({
            "timeUnixNano": self.time,
            "observedTimeUnixNano": self.time,
            "severityNumber": INFO,
            "severityText": "INFO",
            "eventName": EVENT,
            "attributes": attributes,
        });
        if let Some(place) = &report.places.span {
            record["traceId"] = json!(place.trace);
            if let Some(span) = &place.span {
                record["spanId"] = json!(span);
            }
        }
        record
    }
}

fn passed(is_passed: bool) -> &'static str {
    if is_passed { "pass" } else { "fail" }
}

/// The faults that lower a metric, in words; for the average all of them.
fn explanation(metric: Metric, faults: &[Fault]) -> Option<String> {
    let counts = |fault: &&Fault| metric == Metric::Average || fault.rule.lowers == Some(metric);
    let words: Vec<&str> = faults.iter().filter(counts).map(|fault| fault.message.as_str()).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

impl<W: Write> ScoreRenderer for Evaluations<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        let (faults, _) = faults(report);
        let mut records = Vec::new();
        for metric in Metric::of_scores() {
            let Some(value) = report.metrics.metrics.get(metric) else { continue };
            let name = metric.name();
            let scored = (Some(value), self.label(name, value));
            records.push(self.record(report, name, scored, explanation(metric, &faults)));
        }
        if let Some(verdict) = &report.verdict {
            let scored = (Some(f64::from(u8::from(verdict.passed))), Some(passed(verdict.passed)));
            records.push(self.record(report, "match", scored, verdict.reason.clone()));
        }
        for (suite, trial) in &report.suites.0 {
            for (metric, value) in &trial.0 {
                let name = &format!("{suite}.{metric}");
                records.push(match value {
                    SuiteValue::Number(Some(value)) => {
                        self.record(report, name, (Some(*value), self.label(name, *value)), None)
                    }
                    SuiteValue::Text(text) => self.record(report, name, (None, None), Some(text.clone())),
                    SuiteValue::Number(None) => continue,
                });
            }
        }
        let scope = json!({"name": "m3", "version": env!("CARGO_PKG_VERSION")});
        let resource = json!({"attributes": [{"key": "service.name", "value": {"stringValue": "m3"}}]});
        let document = json!({"resourceLogs": [{
            "resource": resource, "scopeLogs": [{"scope": scope, "logRecords": records}]
        }]});
        writeln!(self.writer, "{}", json_without_hidden(&document.to_string()))
    }

    fn finish(&mut self, _: &ScoreSummary) -> io::Result<()> {
        self.writer.flush()
    }
}
