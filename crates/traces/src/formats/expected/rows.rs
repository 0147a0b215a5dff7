//! Records become traces; rows that hold one call each and have one id become one trace.

use std::cmp::Ordering;

use super::calls::CallsReading;
use super::members::{
    CallsMember, Whose, answer, arguments, holds_whole_calls, image, is_empty, question, record_id, server,
    step, task_type,
};
use crate::arguments::arguments as read_arguments;
use crate::formats::prelude::*;
use crate::label::Label;
use crate::literal::literal;

/// The rows of a file.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Tasks of rows that hold one call each, which wait for further calls.
    open: Vec<OpenTask>,
    places: HashMap<String, usize>,
}

/// A task of rows that hold one call each.
#[derive(Debug)]
struct OpenTask {
    at: At,
    trace: Trace,
    /// The step of the last row.
    last: Option<String>,
    /// The number of each step, if the rows tell it.
    numbers: Vec<Option<f64>>,
}

impl Rows {
    /// Reads a record. A record of which no call could be read is lost.
    pub(super) fn add(&mut self, sink: &mut dyn Sink, at: At, record: &Json) -> Result<(), ReadError> {
        let all = CallsMember::all(record);
        let (Some(first), true) = (all.first().copied(), matches!(record, Json::Object(_))) else {
            return crate::lost::leave_out(sink, at.line, record, "a record without calls is left out");
        };
        let expected = all.iter().find(|member| member.whose == Whose::Expected);
        // Beside calls that should be made, others are those of a model.
        let unsaid = || all.iter().find(|member| member.whose == Whose::Unsaid && expected.is_some());
        let made = all.iter().find(|member| member.whose == Whose::Made).or_else(unsaid);
        let Some(mut trace) = trace_of(sink, at, record, *made.unwrap_or(&first)) else { return Ok(()) };
        if let (Some(expected), true) = (expected, made.is_some()) {
            let Some(reference) = trace_of(sink, at, record, *expected) else { return Ok(()) };
            trace.reference = Some(Box::new(reference));
        }
        trace.label = made.and_then(|_| Label::find(record));
        for (key, value) in members(record) {
            if holds_whole_calls(value) && !all.iter().any(|member| member.key == key) {
                trace.notes.add_named("the calls in the member", key, "are left out");
            }
        }
        // Rows of one task that has no id have the same question, and say which step they are.
        let has_step = step(record).is_some();
        let question = || trace.question.as_ref().map(Content::text).filter(|_| has_step);
        if let (Some(id), true) = (trace.id.clone().or_else(question), first.is_one) {
            self.join(id, (at, trace, step(record)));
            return Ok(());
        }
        trace.id = at.id(trace.id);
        sink.trace(at.line, trace)
    }

    /// Adds a row with one call to the task with its id, or with its question.
    fn join(&mut self, id: String, (at, trace, step): (At, Trace, Option<String>)) {
        let place = *self.places.entry(id).or_insert(self.open.len());
        let number =
            step.as_deref().and_then(|step| step.parse::<f64>().ok()).filter(|number| number.is_finite());
        let Some(OpenTask { trace: known, last, numbers, .. }) = self.open.get_mut(place) else {
            let numbers = vec![number; trace.steps.len()];
            self.open.push(OpenTask { at, trace, last: step, numbers });
            return;
        };
        let is_same_step = step.is_some() && *last == step;
        *last = step;
        known.notes.extend(&trace.notes);
        known.question = known.question.take().or(trace.question);
        known.final_reply = known.final_reply.take().or(trace.final_reply);
        append(&mut known.steps, trace.steps, is_same_step);
        numbers.resize(known.steps.len(), number);
        match (&mut known.reference, trace.reference) {
            (Some(known), Some(further)) => append(&mut known.steps, further.steps, is_same_step),
            (known @ None, further) => *known = further,
            (Some(_), None) => {}
        }
    }

    /// Gives the tasks whose calls stood in rows of their own.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        self.open.into_iter().try_for_each(|OpenTask { at, mut trace, numbers, .. }| {
            // Rows may stand in any order if they say their steps.
            if trace.reference.is_none() && numbers.iter().all(Option::is_some) {
                let mut steps: Vec<_> = numbers.into_iter().zip(trace.steps).collect();
                steps.sort_by(|(one, _), (other, _)| one.partial_cmp(other).unwrap_or(Ordering::Equal));
                trace.steps = steps.into_iter().map(|(_, calls)| calls).collect();
            }
            trace.id = at.id(trace.id);
            sink.trace(at.line, trace)
        })
    }
}

/// Adds the steps of a further row.
fn append(steps: &mut Vec<Vec<TracedCall>>, further: Vec<Vec<TracedCall>>, is_same_step: bool) {
    for calls in further {
        match steps.last_mut().filter(|_| is_same_step) {
            Some(step) => step.extend(calls),
            None => steps.push(calls),
        }
    }
}

/// The trace of one member with calls; `None` if it has some and none could be read, which the sink is told.
pub(super) fn trace_of(sink: &mut dyn Sink, at: At, record: &Json, member: CallsMember<'_>) -> Option<Trace> {
    let mut reading = CallsReading::new(member.value);
    let beside = arguments(record, member.whose).filter(|beside| !is_empty(beside));
    let is_joined = beside.is_none_or(|beside| join(&mut reading, beside));
    let name = m3_support::text::shortened(member.key, 40);
    if let (Some(server), true) = (server(record), member.is_one) {
        let is_bare = |call: &&mut TracedCall| !call.tool.contains('/');
        for call in reading.steps.iter_mut().flatten().filter(is_bare) {
            call.tool = tool(Some(server), &call.tool);
        }
    }
    if reading.steps.is_empty() && reading.unread > 0 {
        sink.lost(at.line, &format!("no call was read of `{name}`; the record is left out"));
        return None;
    }
    let mut trace = Trace {
        id: record_id(record),
        question: question(record),
        final_reply: answer(record, member.whose),
        task_type: task_type(record),
        extra: image(record).into_iter().collect(),
        kind: if member.whose == Whose::Expected { TraceKind::Reference } else { TraceKind::Prediction },
        ..Trace::default()
    };
    let notes = &mut trace.notes;
    if member.whose == Whose::Expected {
        notes.add("calls that should be made, not those of a model");
    }
    if !is_joined {
        notes.add("arguments that stand beside several names belong to none of them: they are left out");
    }
    if reading.unread > 0 {
        notes.add("items among the calls that name no tool are left out");
    }
    if reading.steps.is_empty() {
        notes.add("no call is named, so none is expected");
    }
    if reading.steps.len() > 1 && !reading.has_steps {
        notes.add("each call is a step of its own, as the file does not say which were made together");
    }
    let without = reading.steps.iter().flatten().filter(|call| call.arguments.is_none()).count();
    (0..without).for_each(|_| trace.notes.add("a call has no arguments in the file"));
    let is_text = |call: &&TracedCall| matches!(call.arguments, Some(Json::String(_)));
    let texts = reading.steps.iter().flatten().filter(is_text).count();
    (0..texts).for_each(|_| trace.notes.add("arguments that are no object stay a text"));
    trace.steps = reading.steps;
    Some(trace)
}

/// Joins names with the arguments that stand beside them: one for one name, a list of as many for several. Returns whether
/// they belong together.
fn join(reading: &mut CallsReading, beside: &Json) -> bool {
    let mut calls: Vec<&mut TracedCall> = reading.steps.iter_mut().flatten().collect();
    // Calls that have arguments of their own need no others.
    if calls.iter().any(|call| call.arguments.is_some()) {
        return true;
    }
    let value = beside.as_str().and_then(|text| {
        let json = parse(text.as_bytes()).ok().map(|(value, _)| value);
        json.or_else(|| literal(text))
    });
    let value = value.filter(|value| matches!(value, Json::Object(_) | Json::Array(_)));
    match (&mut calls[..], value.as_ref().unwrap_or(beside)) {
        ([], beside) => members(beside).is_empty(),
        (calls, Json::Array(items)) if calls.len() == items.len() => {
            for (call, item) in calls.iter_mut().zip(items) {
                call.arguments = read_arguments(Some(item));
            }
            true
        }
        ([call], beside) => {
            call.arguments = read_arguments(Some(beside));
            true
        }
        // Arguments by the names of the tools.
        (calls, beside) => calls.iter_mut().all(|call| {
            let own = members(beside).iter().find(|(name, _)| *name == call.tool);
            call.arguments = own.and_then(|(_, arguments)| read_arguments(Some(arguments)));
            call.arguments.is_some()
        }),
    }
}
