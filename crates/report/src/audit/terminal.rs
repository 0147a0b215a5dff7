//! An audit for people at a terminal: 80 columns, or more if there is room, readable without colour and through a pipe.

use std::io::{self, Write};

use anstyle::Style;
use m3_support::text::counted;

use m3_score::{Metric, PartOfAverages};

use super::flow_words::{compared_nevertheless, compared_with};
use super::limits::{
    TERMINAL_ARGUMENTS, TERMINAL_FLOW, TERMINAL_MATCHES, TERMINAL_SENTENCES, TERMINAL_UNMATCHED, more,
};
use super::text::{around_difference, cut_middle, headline, line, padded, width, wrapped};
use super::words::{self, CallView};
use super::{ArgumentAudit, CallFlow, FlowLine, MatchArguments, ResultPair, TrajectoryAudit};
use crate::{MatchReport, ScoreSummary, tables};

/// The smallest width of everything, in columns.
const WIDTH: usize = 80;

/// The columns between both sides.
const BETWEEN: usize = 4;

/// The least width of the matched call behind a call: `= 2.1 0.88 !`.
const PARTNER: usize = 12;

/// The indent of the lines about what a call reads and makes, in columns.
const FLOW_INDENT: usize = 6;

/// The most columns of the question.
const QUESTION: usize = 4 * WIDTH;

/// The most columns of the reason for a verdict, which may quote values.
const REASON: usize = 2 * WIDTH;

/// Writes audits.
pub struct AuditTerminal<W> {
    writer: W,
    /// The width of everything, in columns.
    columns: usize,
    bold: Style,
    is_first: bool,
}

impl<W: Write> AuditTerminal<W> {
    /// Writes to `writer`, on this many columns, at least 80, with bold type if `is_styled`.
    pub fn new(writer: W, columns: usize, is_styled: bool) -> Self {
        let bold = if is_styled { Style::new().bold() } else { Style::new() };
        Self { writer, columns: columns.max(WIDTH), bold, is_first: true }
    }

    /// Writes, before all audits, what a language model was asked and how many trajectories pass, if that is known.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn begin(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        let passed = tables::matched(summary).map(|(label, count)| format!("{label} {count}"));
        let notes: Vec<String> = tables::asked(summary).into_iter().chain(passed).collect();
        for text in notes.iter().flat_map(|note| wrapped(note, self.columns)) {
            writeln!(self.writer, "{text}")?;
        }
        if notes.is_empty() { Ok(()) } else { writeln!(self.writer) }
    }

    /// The writer, after everything has been written.
    pub fn into_writer(self) -> W {
        self.writer
    }

    /// Writes an audit, after a line that separates it from the one before.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn write(&mut self, audit: &TrajectoryAudit) -> io::Result<()> {
        if !std::mem::take(&mut self.is_first) {
            writeln!(self.writer, "\n{}\n", "─".repeat(self.columns))?;
        }
        self.head(audit)?;
        self.sides(audit)?;
        self.arguments(audit)?;
        self.section("unmatched", &unmatched(audit, self.columns))?;
        self.section("structure", &structure(audit, self.columns))?;
        let left = &audit.flow.left_behind;
        let sentences = left.sentences();
        let lines: Vec<String> =
            sentences.iter().flat_map(|sentence| indented(sentence, self.columns)).collect();
        self.section(&left.heading(), &lines)?;
        self.writer.flush()
    }

    fn head(&mut self, audit: &TrajectoryAudit) -> io::Result<()> {
        let Self { writer: out, columns, bold, .. } = self;
        let metrics = &audit.score.metrics;
        let task_type = audit.score.task_type.as_deref().map(|name| format!("  {}", line(name, 24)));
        let id = line(&audit.score.id, 50);
        writeln!(out, "{bold}{id}{bold:#}{}", task_type.unwrap_or_default())?;
        let cost = words::cost(audit.cost).map(|cost| format!("; {cost}")).unwrap_or_default();
        if let Some(failure) = words::failure(audit.score.failure.as_deref()) {
            writeln!(out, "{bold}{failure}{bold:#}")?;
        }
        if let Some(job) = &audit.score.job {
            for text in indented(&job.sentence(), *columns) {
                writeln!(out, "{bold}{text}{bold:#}")?;
            }
        }
        writeln!(out, "average {:.4}{cost}", metrics.metrics[Metric::Average])?;
        if let Some(verdict) = &audit.score.verdict {
            for text in indented(&words::verdict(verdict), *columns) {
                writeln!(out, "{text}")?;
            }
        }
        let of_average = Metric::of_scores().filter(|metric| metric.averaged() == PartOfAverages::Always);
        let values = of_average.map(|metric| format!("{} {:.3}", metric.heading(), metrics.metrics[metric]));
        writeln!(out, "{}", values.collect::<Vec<_>>().join("  "))?;
        if let Some(fidelity) = words::fidelity(metrics, &audit.score.matches) {
            writeln!(out, "{fidelity}")?;
        }
        if let Some(question) = &audit.question {
            writeln!(out)?;
            for text in wrapped(&headline(question, QUESTION), *columns) {
                writeln!(out, "{text}")?;
            }
        }
        Ok(())
    }

    /// Writes both sides, each step beside the step with the same number.
    fn sides(&mut self, audit: &TrajectoryAudit) -> io::Result<()> {
        let [(reference, reference_notes), (prediction, prediction_notes)] =
            words::sides(audit).map(words::shown);
        let side = side(self.columns);
        let Self { writer: out, bold, .. } = self;
        writeln!(out, "\n{bold}{}{bold:#}    {bold}prediction{bold:#}", padded("reference", side))?;
        let mut beside = |left: &[String], right: &[String]| {
            (0..left.len().max(right.len())).try_for_each(|row| {
                let cell = |lines: &[String]| lines.get(row).cloned().unwrap_or_default();
                writeln!(out, "{}", format!("{} │  {}", padded(&cell(left), side), cell(right)).trim_end())
            })
        };
        let flow = &audit.flow;
        for step in 0..reference.len().max(prediction.len()) {
            let left = step_lines(step, &reference, &flow.reference, side);
            beside(&left, &step_lines(step, &prediction, &flow.prediction, side))?;
        }
        let absent = |side: &[_]| Vec::from_iter(side.is_empty().then(|| "no steps".to_owned()));
        beside(&absent(&reference), &absent(&prediction))?;
        beside(&reference_notes, &prediction_notes)
    }

    /// Writes the matches whose arguments are not all equal, or whose results differ.
    fn arguments(&mut self, audit: &TrajectoryAudit) -> io::Result<()> {
        let results = |pair: &MatchReport| {
            let mut results = audit.flow.results.iter();
            results.find(|results| results.reference.index == pair.reference.index)
        };
        let pairs = audit.score.matches.iter().zip(&audit.arguments);
        let pairs = pairs.map(|(pair, arguments)| (pair, arguments, results(pair)));
        let is_unequal =
            |(pair, arguments, results): &(&MatchReport, &MatchArguments, Option<&ResultPair>)| {
                arguments.unequal_count() > 0
                    || pair.compared_with.is_some()
                    || results.is_some_and(ResultPair::differs)
            };
        let unequal: Vec<_> = pairs.filter(is_unequal).collect();
        let shown = unequal.iter().take(TERMINAL_MATCHES);
        let mut lines: Vec<String> = shown
            .flat_map(|(pair, arguments, results)| match_lines(pair, arguments, *results, self.columns))
            .collect();
        lines.extend(more(unequal.len().saturating_sub(TERMINAL_MATCHES), "matches"));
        let is_listed = |found: &&ResultPair| {
            unequal.iter().any(|(pair, ..)| pair.reference.index == found.reference.index)
        };
        let alike = audit.flow.results.iter().filter(|found| found.are_same == Some(true));
        let alike = alike.filter(|found| !is_listed(found)).count() as u64;
        if alike > 0 {
            let calls = counted(alike, if lines.is_empty() { "pair" } else { "further pair" });
            lines.push(format!("the same arguments and the same results: {calls} of calls"));
        }
        self.section("arguments", &lines)
    }

    /// Writes a heading and the lines below it, if there are any lines.
    fn section(&mut self, heading: &str, lines: &[String]) -> io::Result<()> {
        if lines.is_empty() {
            return Ok(());
        }
        let Self { writer: out, bold, .. } = self;
        writeln!(out, "\n{bold}{heading}{bold:#}")?;
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))
    }
}

/// The width of each side.
fn side(columns: usize) -> usize {
    (columns - BETWEEN) / 2
}

/// A step of one side; empty if the side has no such step.
fn step_lines(step: usize, steps: &[Vec<CallView<'_>>], flow: &[CallFlow], side: usize) -> Vec<String> {
    let Some(calls) = steps.get(step) else { return Vec::new() };
    let heading = format!("step {}{}", step + 1, if calls.is_empty() { " (no calls)" } else { "" });
    let of_call =
        |call: &CallView<'_>| [call_lines(call, side), flow_lines(call.place.index, flow, side)].concat();
    std::iter::once(heading).chain(calls.iter().flat_map(of_call)).collect()
}

/// The lines below a call about what it reads and makes.
fn flow_lines(call: usize, flow: &[CallFlow], side: usize) -> Vec<String> {
    // `flow` is in the order of the calls.
    let found = flow.binary_search_by_key(&call, |of| of.call.index).ok().and_then(|at| flow.get(at));
    let lines = found.map(|of| of.lines(TERMINAL_FLOW)).unwrap_or_default();
    let wrapped = |line: &FlowLine| {
        let lines = wrapped(&line.words(), side - FLOW_INDENT - 2).into_iter().enumerate();
        let indent = |(at, text)| format!("{}{text}", " ".repeat(FLOW_INDENT + if at > 0 { 2 } else { 0 }));
        lines.map(indent).collect::<Vec<_>>()
    };
    lines.iter().flat_map(wrapped).collect()
}

/// A call on one line, or on two if its tool's name is long.
fn call_lines(view: &CallView<'_>, side: usize) -> Vec<String> {
    let partner = match view.partner {
        None => "· unmatched".to_owned(),
        Some(partner) => {
            let sign = if partner.is_strong { '=' } else { '~' };
            let (place, similarity) = (partner.place.to_string(), words::similarity(partner.similarity));
            format!("{sign} {place} {similarity}{}", if partner.is_rejected { " !" } else { "" })
        }
    };
    let place = view.place.to_string();
    let tool = line(&view.call.tool, side - width(&place) - 3);
    let start = format!("  {place} {tool}");
    if width(&start) + 2 + width(&partner) <= side {
        let gap = side - width(&start) - width(&partner).max(PARTNER);
        return vec![format!("{start}{}{partner}", " ".repeat(gap.max(2)))];
    }
    vec![start, format!("{}{partner}", " ".repeat(side - width(&partner).max(PARTNER)))]
}

/// The lines of a match, and below it how its arguments compare.
fn match_lines(
    pair: &MatchReport,
    arguments: &MatchArguments,
    results: Option<&ResultPair>,
    columns: usize,
) -> Vec<String> {
    let start = format!("{} -> {} ", pair.reference, pair.predicted);
    let MatchReport { similarity, strength, argument_fidelity, .. } = pair;
    let end = format!(" {similarity:.4} {strength}, fidelity {argument_fidelity:.4}");
    let tool = line(&pair.tool, columns - width(&start) - width(&end));
    let mut lines = vec![format!("{start}{tool}{end}")];
    if words::is_rejected(pair) {
        lines.push(format!("    ! {}", words::REJECTED));
    }
    let results = results.map(|found| match found.words() {
        words if words.starts_with("results") => words,
        words => format!("results: {words}"),
    });
    let notes = [compared_with(pair), words::regions(pair, TERMINAL_ARGUMENTS), results];
    let notes = notes.iter().flatten().flat_map(|note| wrapped(note, columns - 6));
    lines.extend(notes.map(|text| format!("    {text}")));
    let shown: Vec<_> = arguments.unequal().take(TERMINAL_ARGUMENTS).collect();
    let hidden = arguments.unequal_count() - shown.len() as u64;
    lines.extend(shown.into_iter().flat_map(|argument| argument_lines(argument, columns)));
    if hidden > 0 {
        lines.push(format!("    … and {hidden} more"));
    }
    if arguments.verdicts.equal > 0 {
        lines.push(format!("    {} equal", arguments.verdicts.equal));
    }
    lines
}

/// An argument that is not equal: on one line if it fits, else with values and verdict on separate lines.
fn argument_lines(argument: &ArgumentAudit, columns: usize) -> Vec<String> {
    let name = match argument.argument.as_str() {
        "" => "(all arguments)".to_owned(),
        name => line(name, 28),
    };
    let start = format!("    {} {name}:", argument.mark());
    let kind = argument.kind.replace('_', " ");
    let verdict = format!("{} {kind}: {}", argument.verdict, headline(&argument.reason, REASON));
    let room = columns - width(&start) - 1;
    let mut lines = match (&argument.reference, &argument.predicted) {
        (Some(a), Some(b)) => {
            let (a, b) = around_difference(a, b, columns - 18);
            if width(&a) + 4 + width(&b) <= room {
                vec![format!("{start} {a} -> {b}")]
            } else {
                vec![start, format!("        reference {a}"), format!("        predicted {b}")]
            }
        }
        (Some(value), None) | (None, Some(value)) => vec![format!("{start} {}", line(value, room))],
        (None, None) => vec![start],
    };
    match lines.as_mut_slice() {
        [only] if width(only) + 3 + width(&verdict) <= columns => {
            only.push_str("   ");
            only.push_str(&verdict);
        }
        _ => lines.extend(wrapped(&verdict, columns - 6).iter().map(|text| format!("      {text}"))),
    }
    lines
}

fn unmatched(audit: &TrajectoryAudit, columns: usize) -> Vec<String> {
    let side = side(columns);
    let all = words::alone(audit);
    let hidden = more(all.len().saturating_sub(TERMINAL_UNMATCHED), "unmatched calls");
    let lines = all.into_iter().take(TERMINAL_UNMATCHED).flat_map(|alone| {
        let tool = cut_middle(&line(alone.tool, side), side);
        let text = format!("{} {} {tool}: {}", alone.side, alone.place, alone.reason);
        let candidate = alone.candidate().map(|candidate| format!("    {candidate}"));
        let mut further = audit.score.further_pairs.iter();
        let further = further.find(|pair| alone.side == "reference" && pair.reference == alone.place);
        let compared = further.map(|pair| format!("    {}", compared_nevertheless(pair)));
        indented(&text, columns).into_iter().chain(candidate).chain(compared)
    });
    lines.chain(hidden).collect()
}

fn structure(audit: &TrajectoryAudit, columns: usize) -> Vec<String> {
    let sentences = words::structure(audit, TERMINAL_SENTENCES, |tool| line(tool, side(columns)));
    sentences.iter().flat_map(|sentence| indented(sentence, columns)).collect()
}

/// A sentence, broken into lines; all but the first are indented.
fn indented(sentence: &str, columns: usize) -> Vec<String> {
    let lines = wrapped(sentence, columns - 4).into_iter().enumerate();
    lines.map(|(index, text)| if index == 0 { text } else { format!("    {text}") }).collect()
}
