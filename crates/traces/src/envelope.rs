//! Records around a trace, in files that no format recognizes as they are: values that stand one after another, the rows of
//! a table, requests with their replies in the writing of a gateway, and members such as those of
//! `{"custom_id": .., "response": {"body": ..}}` or `{"data": [..]}`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};

use m3_trajectory::json::{Json, Keys};

use crate::call_signs::count_signs;
use crate::fields::{Fields, id, items_or_one, members, names, plain};
use crate::formats::{Format, TEXTS};
use crate::head::{Head, Shape, is_report};
use crate::input::{Input, ReadError, Sink};
use crate::label::Label;
use crate::logs::as_exchange;
use crate::lost::{has_calls, leave_out};
use crate::sink::{At, TakingSink};
use crate::spans::is_page;
use crate::table;
use crate::trace::Trace;
use crate::values::opened;

/// The plain names of members that hold the trace of a record, or a list of records. Others may hold a part of a trace alone,
/// such as a step.
const HOLDERS: &[&str] = names![
    agentcontainer agentdata agents agentstate agentstates allmessages body calls cases chat chathistory
    chats chatstore completion completions content context conversation conversations data dest entries
    events examples httpinteractions inlinedresponses inmemory interactions item items llmcontext log
    memory message messagehistory messages output outputs params payload record records response responses
    result results rollouts row rows run rundata runs sample samples serializeddata session sessions
    simulations spans state store tasks testcases tests thread threads trace traces trajectory trials
    userinput values
];

/// The most records that tell the format.
const RECORDS: usize = 10;

/// How many records are written before the reader is asked whether to go on.
const AT_ONCE: usize = 1000;

/// The deepest member that is looked into.
const DEPTH: usize = 5;

/// Members with the id that the program gave to a record; it is surer than one within the trace.
const IDS: [&str; 2] = ["custom_id", "key"];

/// What stands between a record and its trace.
#[derive(Debug, Clone)]
enum Step {
    /// A member, whose value may be a text of JSON.
    Member(String),
    /// The members of a request and its reply.
    Exchange,
    /// A data frame with the records.
    Frame,
    /// The records of an object whose members are their ids.
    Entries,
}

impl Step {
    /// The steps that a value allows, the surest first.
    fn all(value: &Json) -> impl Iterator<Item = Self> {
        let is_holder = |(key, inner): &&(String, Json)| {
            let has_objects = match inner {
                Json::Object(_) => true,
                Json::Array(items) => items.iter().any(|item| matches!(item, Json::Object(_))),
                Json::String(text) => text.trim_start().starts_with(['{', '[']),
                _ => false,
            };
            let name = plain(key);
            has_objects && HOLDERS.contains(&name.as_str())
        };
        let members = members(value).iter().filter(is_holder).map(|(key, _)| Self::Member(key.clone()));
        let entries = has_entries(value).then_some(Self::Entries);
        [Self::Exchange, Self::Frame].into_iter().chain(members).chain(entries)
    }

    /// What a value, or each item of a list, has behind this step.
    fn apply<'j>(&'j self, value: &'j Json) -> impl Iterator<Item = Cow<'j, Json>> {
        items_or_one(value).iter().flat_map(|value| match self {
            Self::Member(key) => value.member(key).map(opened).into_iter().collect(),
            Self::Entries => members(value).iter().map(|(id, inner)| Cow::Owned(entry(id, inner))).collect(),
            Self::Exchange => as_exchange(value).map(Cow::Owned).into_iter().collect(),
            Self::Frame => {
                table::frame(value).unwrap_or_default().into_iter().map(Cow::Owned).collect::<Vec<_>>()
            }
        })
    }
}

/// Whether the members of an object are records of one kind by their ids: lists of objects, or objects with the same members.
fn has_entries(value: &Json) -> bool {
    let all = members(value);
    let is_list =
        |(_, inner): &(String, Json)| inner.items().iter().any(|item| matches!(item, Json::Object(_)));
    let names = |inner: &Json| members(inner).iter().map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
    let first = all.first().map(|(_, inner)| names(inner)).unwrap_or_default();
    let is_same = |(_, inner): &(String, Json)| names(inner).intersection(&first).count() * 2 > first.len();
    !all.is_empty()
        && (all.iter().all(is_list) || !first.is_empty() && all.len() > 1 && all.iter().all(is_same))
}

/// A record of such an object, with its id.
fn entry(id: &str, inner: &Json) -> Json {
    let own = match inner {
        Json::Object(all) => all.clone(),
        list => vec![("messages".to_owned(), list.clone())],
    };
    let has_id = own.iter().any(|(key, _)| key == "id");
    let id = ("id".to_owned(), Json::String(id.to_owned()));
    Json::Object(Some(id).filter(|_| !has_id).into_iter().chain(own).collect())
}

/// Where the trace of each record stands.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    /// The arrangement of the records, if it is not that of the file.
    shape: Option<Shape>,
    /// The steps on the way to a trace.
    steps: Vec<Step>,
}

impl Envelope {
    /// The envelope of a file and the format within, the outermost member first.
    pub(crate) fn find(head: &Head, formats: &[&'static Format]) -> Option<(Self, &'static Format)> {
        let (shape, values) = match head.shape {
            Shape::Document | Shape::Lines => (None, head.records().take(RECORDS).cloned().collect()),
            Shape::Values => (Some(Shape::Values), head.values.clone()),
            Shape::Text => match head.values_below_text() {
                // The output of a program may begin before its first span.
                spans if spans.first().is_some_and(is_page) => (Some(Shape::Values), spans),
                _ => (Some(Shape::Text), table::first_records(&head.text, RECORDS)),
            },
            Shape::Zip | Shape::Events => return None,
        };
        let mut queue = VecDeque::from([(Self { shape, steps: Vec::new() }, values)]);
        while let Some((envelope, values)) = queue.pop_front() {
            let (is_outer, is_shaped) = (envelope.steps.is_empty(), envelope.shape.is_some());
            if (!is_outer || is_shaped)
                && let Some(format) = format(&values, head.is_whole, formats)
            {
                return Some((envelope, format));
            }
            // The first record tells where the trace stands.
            let first = values.iter().flat_map(items_or_one).find(|record| matches!(record, Json::Object(_)));
            let Some(first) = first.filter(|first| !is_outer || !is_report(first)) else { continue };
            let is_last = envelope.steps.len() == DEPTH || envelope.is_log();
            for step in Step::all(first).take_while(|_| !is_last) {
                let inner = values.iter().flat_map(|value| step.apply(value)).take(RECORDS);
                let inner = inner.map(Cow::into_owned).collect();
                let steps = envelope.steps.iter().cloned().chain([step]).collect();
                queue.push_back((Self { steps, ..envelope.clone() }, inner));
            }
        }
        None
    }

    fn is_log(&self) -> bool {
        matches!(self.steps.last(), Some(Step::Exchange))
    }

    /// The names of the members on the way to a trace.
    fn name(&self) -> String {
        let names = self.steps.iter().filter_map(|step| match step {
            Step::Member(name) => Some(name.as_str()),
            _ => None,
        });
        names.collect::<Vec<_>>().join(".")
    }

    /// What stands in a record at the end of all steps.
    fn inner<'j>(&self, record: &'j Json) -> Vec<Cow<'j, Json>> {
        let next = |all: Vec<Cow<'j, Json>>, step: &Step| {
            all.iter().flat_map(|value| step.apply(value)).map(|it| Cow::Owned(it.into_owned())).collect()
        };
        self.steps.iter().fold(vec![Cow::Borrowed(record)], next)
    }

    /// Calls `each` with every record of a file.
    fn records(
        &self,
        input: &Input<'_>,
        sink: &mut dyn Sink,
        mut each: impl FnMut(&mut dyn Sink, Option<u64>, &Json) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        let shape = self.shape.unwrap_or(input.head.shape);
        if shape == Shape::Text {
            return table::each_row(input.source, sink, |sink, At { line, .. }, row| {
                each(sink, line, &table::record(row))
            });
        }
        let head = Head { shape, ..input.head.clone() };
        Input::new(input.source, &head).values(sink, |sink, record| {
            items_or_one(&record.value).iter().try_for_each(|item| each(sink, record.line, item))
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
        let mut spool = Spool::new(source.temporary_file()?);
        let name = self.name();
        let missing = match &*name {
            _ if self.is_log() => {
                "a record without a request and a reply of this dialect is left out".to_owned()
            }
            name => format!("a record without `{name}` is left out"),
        };
        self.records(input, sink, |sink, line, record| {
            let mut all = self.inner(record);
            // A log may have replies of several dialects.
            let is_known = |value: &Json| (format.recognizes)(&Head::from_values(vec![value.clone()], true));
            all.retain(|inner| !self.is_log() || is_known(inner));
            if all.is_empty() {
                leave_out(sink, line, record, &missing)?;
            }
            let label = Label::find(record).filter(|_| all.len() == 1);
            spool.begin(line).map_err(failed)?;
            for some in all.chunks(AT_ONCE) {
                // A record may hold all of a file, and whoever reads it may want to stop.
                sink.progress(0, 1)?;
                spool.add(record, some).map_err(failed)?;
            }
            spool.labels.extend(label.map(|label| (spool.lines, label)));
            Ok(())
        })?;
        let Spool { file, labels, .. } = spool;
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        let source = source.converted_to(file)?;
        let head = Head::read(&source)?;
        let inner = Input::new(&source, &head);
        let mut is_read = false;
        let note = |sink: &mut dyn Sink, line: Option<u64>, mut trace: Trace| {
            is_read |= has_calls(&trace);
            if !name.is_empty() {
                trace.notes.add_named("read from the member", &name, "of a record");
            }
            let outer = match line {
                Some(line) => labels.get(&line),
                None => labels.values().next().filter(|_| labels.len() == 1),
            };
            trace.label = trace.label.take().or_else(|| outer.cloned());
            sink.trace(line, trace)
        };
        (format.read)(&inner, &mut TakingSink::new(sink, note))?;
        // Nobody else finds the calls in the cells of a table.
        if !is_read && self.shape == Some(Shape::Text) {
            inner.refuse_lost_calls()?;
        }
        if inner.is_checked() {
            input.set_checked();
        }
        Ok(())
    }
}

/// The temporary file with what stands in the records, a line each.
struct Spool {
    file: BufWriter<File>,
    lines: u64,
    /// Whether the last line is a reply.
    was_reply: bool,
    /// What records say of success, by the only line of each.
    labels: BTreeMap<u64, Label>,
}

impl Spool {
    fn new(file: File) -> Self {
        Self { file: BufWriter::new(file), lines: 0, was_reply: false, labels: BTreeMap::new() }
    }

    /// Begins what stands in a line of the file: a message about a line is one about the line of the file.
    fn begin(&mut self, line: Option<u64>) -> io::Result<()> {
        while line.is_some_and(|line| self.lines + 1 < line) {
            self.line("")?;
        }
        Ok(())
    }

    fn add(&mut self, record: &Json, all: &[Cow<'_, Json>]) -> io::Result<()> {
        let id = IDS.iter().find_map(|key| record.member(key).and_then(id));
        for inner in all {
            // Of Bedrock's Converse, a record with a reason to stop is a whole reply.
            if record.has("stopReason") && record.below(&["output", "message"]).is_some() {
                self.line(&Json::Array(vec![inner.clone().into_owned()]).to_text(Keys::AsRead))?;
                continue;
            }
            // Replies that stand in records of their own are several.
            let is_reply = inner.says("role", "assistant");
            if is_reply && self.was_reply {
                self.line(r#"{"role": "user", "content": ""}"#)?;
            }
            self.was_reply = is_reply;
            self.line(&with_id(inner, id.as_deref()).to_text(Keys::AsRead))?;
        }
        Ok(())
    }

    fn line(&mut self, text: &str) -> io::Result<()> {
        self.lines += 1;
        writeln!(self.file, "{text}")
    }
}

/// The format of these values. Texts alone are no sign: many files hold prompts.
fn format(values: &[Json], is_whole: bool, formats: &[&'static Format]) -> Option<&'static Format> {
    let head = Head::from_values(values.to_vec(), is_whole);
    let format = formats.iter().copied().find(|format| (format.recognizes)(&head))?;
    let mut signs = BTreeMap::new();
    for value in values {
        count_signs(value, &mut signs);
    }
    let is_sure = format.name != TEXTS || !signs.is_empty();
    is_sure.then_some(format)
}

/// A trace with the id that its record has, if that is surer.
fn with_id<'j>(inner: &'j Json, id: Option<&str>) -> Cow<'j, Json> {
    let (Some(id), Json::Object(all)) = (id, inner) else { return Cow::Borrowed(inner) };
    let others = all.iter().filter(|(key, _)| key != "id").cloned();
    let id = ("id".to_owned(), Json::String(id.to_owned()));
    Cow::Owned(Json::Object([id].into_iter().chain(others).collect()))
}

#[cfg(test)]
mod tests;
