//! Values that stand one after another, which are read as lines, and records whose trace stands in a member: `{"custom_id": .., "response": {"body": ..}}`, `{"data": [..]}`. Only files that
//! no format recognizes as they are are looked into.

use std::collections::VecDeque;
use std::io::{BufWriter, Write as _};

use m3_trajectory::json::{Json, Keys};

use crate::call_shapes::named_like_calls;
use crate::fields::{Fields, id, members};
use crate::formats::{Format, TEXTS};
use crate::head::{Head, Shape, is_report};
use crate::input::{Input, ReadError, Sink};
use crate::lost::leave_out;
use crate::sink::TakingSink;
use crate::trace::Trace;

/// Members that hold the trace of a record, or a list of records. Others may hold a part of a trace alone, such as a step.
const HOLDERS: [&str; 29] = [
    "body",
    "chat",
    "completion",
    "completions",
    "conversation",
    "conversations",
    "data",
    "entries",
    "item",
    "items",
    "message",
    "output",
    "payload",
    "record",
    "records",
    "response",
    "responses",
    "result",
    "results",
    "rows",
    "sample",
    "samples",
    "session",
    "sessions",
    "simulations",
    "trace",
    "outputs",
    "spans",
    "user_input",
];

/// The most records that tell the format.
const RECORDS: usize = 10;

/// The deepest member that is looked into.
const DEPTH: usize = 3;

/// Members with the id that the program gave to a record; it is surer than one within the trace.
const IDS: [&str; 2] = ["custom_id", "key"];

/// Where the trace of each record stands.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    /// The names of the members on the way to it.
    path: Vec<String>,
}

impl Envelope {
    /// The envelope of a file and the format within, the outermost member first.
    pub(crate) fn find(head: &Head, formats: &[&'static Format]) -> Option<(Self, &'static Format)> {
        if head.shape == Shape::Values {
            let lines = Head { shape: Shape::Lines, ..head.clone() };
            let plain = Self { path: Vec::new() };
            let format = plain.format(&lines, formats).map(|format| (plain, format));
            return format.or_else(|| Self::find(&lines, formats));
        }
        let first = head.records().find(|record| matches!(record, Json::Object(_)))?;
        if !head.is_json() || is_report(first) {
            return None;
        }
        let mut queue = VecDeque::from([(Vec::new(), first)]);
        while let Some((path, value)) = queue.pop_front() {
            // Of a list of records, the first tells where the trace stands.
            let value = value.items().first().unwrap_or(value);
            for (key, inner) in members(value) {
                let has_objects = match inner {
                    Json::Object(_) => true,
                    Json::Array(items) => items.iter().any(|item| matches!(item, Json::Object(_))),
                    _ => false,
                };
                if !has_objects || !HOLDERS.contains(&key.as_str()) {
                    continue;
                }
                let path: Vec<String> = path.iter().chain([key]).cloned().collect();
                let envelope = Self { path };
                if let Some(format) = envelope.format(head, formats) {
                    return Some((envelope, format));
                }
                if envelope.path.len() < DEPTH {
                    queue.push_back((envelope.path, inner));
                }
            }
        }
        None
    }

    /// The format of what the records have at this place. Texts alone are no sign: many files hold prompts.
    fn format(&self, head: &Head, formats: &[&'static Format]) -> Option<&'static Format> {
        let records = head.records().take(RECORDS);
        let values: Vec<Json> =
            records.flat_map(|record| self.inner(record)).take(RECORDS).cloned().collect();
        let shape = if values.len() == 1 { Shape::Document } else { Shape::Lines };
        let inner = Head { shape, values, text: String::new(), is_whole: head.is_whole };
        let format = formats.iter().copied().find(|format| (format.recognizes)(&inner))?;
        let is_sure =
            format.name != TEXTS || inner.values.iter().any(|value| !named_like_calls(value).is_empty());
        is_sure.then_some(format)
    }

    /// What stands at this place: several values if there is a list on the way.
    fn inner<'j>(&self, record: &'j Json) -> Vec<&'j Json> {
        self.path.iter().fold(vec![record], |values, key| {
            let items = |value: &'j Json| match value {
                Json::Array(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            values.into_iter().flat_map(items).filter_map(|value| value.member(key)).collect()
        })
    }

    /// Reads what stands in the records, in a temporary file, by its own format.
    pub(crate) fn read(
        &self,
        format: &Format,
        input: &Input<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        let source = input.source;
        let failed = |cause| ReadError::from(source.spool_error(cause));
        let mut file = BufWriter::new(source.temporary_file()?);
        let mut lines = 0;
        let name = self.path.join(".");
        input.values(sink, |sink, record| {
            let items = match &record.value {
                Json::Array(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            for item in items {
                let all = self.inner(item);
                if all.is_empty() {
                    leave_out(sink, record.line, item, &format!("a record without `{name}` is left out"));
                }
                // What is said of a line is said of the file's own.
                while record.line.is_some_and(|line| lines + 1 < line) {
                    writeln!(file).map_err(failed)?;
                    lines += 1;
                }
                for inner in all {
                    let text = with_id(inner, item).to_text(Keys::AsRead);
                    writeln!(file, "{text}").map_err(failed)?;
                    lines += 1;
                }
            }
            Ok(())
        })?;
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        let source = source.converted_to(file)?;
        let head = Head::read(&source)?;
        let inner = Input::new(&source, &head);
        let note = |sink: &mut dyn Sink, line, mut trace: Trace| {
            if !name.is_empty() {
                trace.notes.add_named("read from the member", &name, "of a record");
            }
            sink.trace(line, trace)
        };
        (format.read)(&inner, &mut TakingSink::new(sink, note))?;
        if inner.is_checked() {
            input.set_checked();
        }
        Ok(())
    }
}

/// A trace with the id that its record has, if that is surer.
fn with_id(inner: &Json, record: &Json) -> Json {
    let Some(id) = IDS.iter().find_map(|key| record.member(key).and_then(id)) else { return inner.clone() };
    let Json::Object(all) = inner else { return inner.clone() };
    let others = all.iter().filter(|(key, _)| key != "id").cloned();
    Json::Object([("id".to_owned(), Json::String(id))].into_iter().chain(others).collect())
}
