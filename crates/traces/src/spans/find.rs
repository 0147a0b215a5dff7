//! Finds the spans and log records of a file by their traces, without parsing them: a file of any size is read in little
//! memory, since afterwards the spans of one trace are all that is parsed at once.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use m3_trajectory::json::{Json, parse};

use super::read::{DEEPEST, PAGES, RESOURCES, SCOPES};
use super::span_json::hex;
use crate::fields::Fields;
use crate::groups::{Names, Place};
use crate::head::Shape;
use crate::input::{Input, ReadError, Sink};
use crate::label::Label;
use crate::parallel::PART;
use crate::pieces::{Part, after_mark, stopped};
use crate::scan::{Scanner, Stop};

/// The spans and records of a file.
#[derive(Debug, Default)]
pub(crate) struct SpanIndex {
    /// What the file says of the success of a trace, by its number; `None` where it says several things.
    pub(super) labels: HashMap<u32, Option<Label>>,
    pub(super) traces: Names,
    pub(super) scopes: Names,
    /// The group is the trace; the mark tells the kind, and the scope.
    pub(super) places: Vec<Place>,
}

/// The kind of object at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A span of OTLP.
    Span,
    /// A log record.
    Record,
    /// An object that may be a span without OTLP around it.
    Bare,
}

/// The two lowest bits of a mark are the kind, the others the number of the scope.
fn mark(kind: Kind, scope: u32) -> u32 {
    scope.saturating_mul(4) | kind as u32
}

/// The kind and the number of the scope.
pub(super) fn marked(place: &Place) -> (Kind, u32) {
    let kind = match place.mark & 3 {
        0 => Kind::Span,
        1 => Kind::Record,
        _ => Kind::Bare,
    };
    (kind, place.mark >> 2)
}

/// The most bytes of an id, and of the scope: the name of the library that wrote the spans.
const ID: usize = 1 << 10;
const SCOPE: usize = 64 << 10;

/// The members beside spans, or of a span, that may say whether the trace succeeded, and the most bytes of one.
const LABELS: [&str; 3] = ["scores", "assessments", "info"];
const LABEL: usize = 64 << 10;

/// Finds the spans and records of a file. Lines that are not JSON are reported, and so is the place where a document
/// breaks off.
pub(crate) fn find(input: &Input<'_>, sink: &mut dyn Sink) -> Result<SpanIndex, ReadError> {
    let mut index = SpanIndex::default();
    if input.head.shape == Shape::Lines {
        let work = |part: Part| {
            let (mut index, mut wrong) = (SpanIndex::default(), Vec::new());
            for piece in part.pieces() {
                let before = index.places.len();
                let mut finder = Finder::new(Scanner::at(piece.text, piece.offset), &mut index);
                if finder.all().is_err() {
                    index.places.truncate(before);
                    wrong.push((piece.at.line, parse(piece.text).err()));
                }
            }
            (index, wrong)
        };
        input.lines(sink, work, |sink, (part, wrong)| {
            index.add(&part);
            for (line, error) in wrong {
                let message = error.map_or_else(|| "of another layout".to_owned(), |error| error.message);
                sink.warn(line, &format!("not JSON, left out: {message}"));
            }
            Ok(())
        })?;
    } else {
        let total = input.source.length();
        let reader =
            ProgressReader { reader: input.source.reader()?, sink: &mut *sink, done: 0, reported: 0, total };
        let ended = Finder::new(after_mark(input.source, reader)?, &mut index).all();
        match ended {
            Err(Stop::Text(offset, message)) if !index.places.is_empty() => {
                let (line, column) = input.source.position(offset);
                let message = format!(
                    "column {column}: the document breaks off or is no JSON ({message}); what comes after is left out"
                );
                sink.warn(Some(line), &message);
            }
            ended => ended.map_err(|stop| stopped(input.source, stop))?,
        }
    }
    index.traces.close();
    index.scopes.close();
    Ok(index)
}

impl SpanIndex {
    /// Adds the places of a later part.
    fn add(&mut self, part: &Self) {
        let traces: Vec<u32> = part.traces.all().map(|name| self.traces.number(name)).collect();
        let scopes: Vec<u32> = part.scopes.all().map(|name| self.scopes.number(name)).collect();
        let renumbered =
            |numbers: &[u32], number: u32| numbers.get(number as usize).copied().unwrap_or(u32::MAX);
        for (number, label) in &part.labels {
            self.add_label(renumbered(&traces, *number), label.as_ref());
        }
        self.places.extend(part.places.iter().map(|place| {
            let (kind, scope) = marked(place);
            let group = renumbered(&traces, place.group);
            Place { group, mark: mark(kind, renumbered(&scopes, scope)), ..*place }
        }));
    }
}

impl SpanIndex {
    /// Adds what is said of a trace.
    fn add_label(&mut self, number: u32, label: Option<&Label>) {
        let known = self.labels.entry(number).or_insert_with(|| label.cloned());
        if known.as_ref() != label {
            *known = None;
        }
    }
}

/// Follows a document or a line.
struct Finder<'f, R> {
    scanner: Scanner<R>,
    index: &'f mut SpanIndex,
    depth: usize,
}

/// The members that lead to spans, records, scopes and ids of traces.
enum Key {
    Resources,
    Scopes,
    Scope,
    Spans,
    Records,
    Page,
    Trace,
    Context,
    Label(&'static str),
    Other,
}

fn key(name: &[u8]) -> Key {
    match std::str::from_utf8(name).unwrap_or_default() {
        name if RESOURCES.contains(&name) => Key::Resources,
        name if SCOPES.contains(&name) => Key::Scopes,
        "scope" | "instrumentationLibrary" | "instrumentation_library" => Key::Scope,
        "spans" => Key::Spans,
        "logRecords" | "log_records" => Key::Records,
        "traceId" | "trace_id" | "traceID" | "context.trace_id" | "root_span_id" => Key::Trace,
        "context" => Key::Context,
        name if PAGES.contains(&name) => Key::Page,
        name => LABELS.into_iter().find(|label| *label == name).map_or(Key::Other, Key::Label),
    }
}

impl<'f, R: BufRead> Finder<'f, R> {
    fn new(scanner: Scanner<R>, index: &'f mut SpanIndex) -> Self {
        Self { scanner, index, depth: 0 }
    }

    /// Follows all values of a document or a line; mostly there is one.
    fn all(&mut self) -> Result<(), Stop> {
        while let Some(byte) = self.scanner.peek()? {
            match byte {
                b'[' => self.list(Self::holder)?,
                b'{' => self.holder()?,
                _ => return Err(Stop::Text(self.scanner.offset(), "expected a list or an object")),
            }
        }
        Ok(())
    }

    /// Calls `each` at every object of a list.
    fn list(&mut self, each: fn(&mut Self) -> Result<(), Stop>) -> Result<(), Stop> {
        if self.scanner.expect()? != b'[' {
            return self.scanner.value();
        }
        let mut is_more = self.scanner.enter()?;
        while is_more {
            match self.scanner.expect()? {
                b'{' => each(self)?,
                // Zipkin's traces are lists in a list.
                b'[' if self.depth < DEEPEST => {
                    self.depth += 1;
                    self.list(each)?;
                    self.depth -= 1;
                }
                _ => self.scanner.value()?,
            }
            is_more = self.scanner.more()?;
        }
        Ok(())
    }

    /// Calls `each` at the value of every member of an object; `each` has to pass the value.
    fn members(&mut self, mut each: impl FnMut(&mut Self, &Key) -> Result<(), Stop>) -> Result<(), Stop> {
        let mut is_more = self.scanner.enter()?;
        while is_more {
            let key = key(self.scanner.key()?);
            each(self, &key)?;
            is_more = self.scanner.more()?;
        }
        Ok(())
    }

    /// Follows a document or a page of spans, or adds a span without OTLP around it.
    fn holder(&mut self) -> Result<(), Stop> {
        let (start, before) = (self.scanner.offset(), self.index.places.len());
        let (mut own, mut of_context, mut labels) = (None, None, Vec::new());
        self.members(|it, key| match key {
            Key::Resources => it.list(Self::resource),
            Key::Page | Key::Spans if it.depth < DEEPEST => {
                it.depth += 1;
                match it.scanner.expect()? {
                    b'{' => it.holder()?,
                    _ => it.list(Self::holder)?,
                }
                it.depth -= 1;
                Ok(())
            }
            Key::Trace => it.id(&mut own),
            Key::Label(name) => {
                let value = parse(it.scanner.text(LABEL)?).ok();
                labels.extend(value.map(|(value, _)| ((*name).to_owned(), value)));
                Ok(())
            }
            Key::Context if it.scanner.expect()? == b'{' => it.members(|it, key| match key {
                Key::Trace => it.id(&mut of_context),
                _ => it.scanner.value(),
            }),
            _ => it.scanner.value(),
        })?;
        if let Some(trace) = of_context.or(own)
            && self.index.places.len() == before
        {
            self.add(&trace, Kind::Bare, start);
        }
        // What stands beside the spans of several traces is said of none of them.
        if let [first, others @ ..] = self.index.places.get(before..).unwrap_or_default()
            && others.iter().all(|place| place.group == first.group)
            && let number = first.group
            && let Some(label) = Label::find(&Json::Object(labels))
        {
            self.index.add_label(number, Some(&label));
        }
        Ok(())
    }

    fn resource(&mut self) -> Result<(), Stop> {
        self.members(|it, key| match key {
            Key::Scopes => it.list(Self::scope),
            _ => it.scanner.value(),
        })
    }

    fn scope(&mut self) -> Result<(), Stop> {
        let before = self.index.places.len();
        let mut library = String::new();
        self.members(|it, key| match key {
            Key::Spans => it.list(|it| it.one(Kind::Span)),
            Key::Records => it.list(|it| it.one(Kind::Record)),
            Key::Scope => {
                let scope = parse(it.scanner.text(SCOPE)?).ok();
                library =
                    scope.and_then(|(scope, _)| scope.text("name").map(str::to_owned)).unwrap_or_default();
                Ok(())
            }
            _ => it.scanner.value(),
        })?;
        // The scope may come after the spans.
        let scope = self.index.scopes.number(&library);
        for place in self.index.places.iter_mut().skip(before) {
            place.mark = mark(marked(place).0, scope);
        }
        Ok(())
    }

    /// Adds a span or a record.
    fn one(&mut self, kind: Kind) -> Result<(), Stop> {
        let start = self.scanner.offset();
        let mut trace = None;
        self.members(|it, key| match key {
            Key::Trace => it.id(&mut trace),
            _ => it.scanner.value(),
        })?;
        self.add(&trace.unwrap_or_default(), kind, start);
        Ok(())
    }

    /// Reads the id of a trace into `id`, unless it is null.
    fn id(&mut self, id: &mut Option<String>) -> Result<(), Stop> {
        let text = self.scanner.text(ID)?;
        if text != b"null" {
            *id = Some(hex(parse(text).ok().map(|(value, _)| value).as_ref(), 16));
        }
        Ok(())
    }

    fn add(&mut self, trace: &str, kind: Kind, start: u64) {
        let length = u32::try_from(self.scanner.offset() - start).unwrap_or(u32::MAX);
        let group = self.index.traces.number(trace);
        self.index.places.push(Place { offset: start, length, group, mark: mark(kind, 0) });
    }
}

/// A reader that reports the progress to a sink, and fails if the sink asks to stop.
struct ProgressReader<'s, R> {
    reader: R,
    sink: &'s mut dyn Sink,
    done: u64,
    reported: u64,
    total: u64,
}

impl<R: BufRead> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.reader.read(buffer)
    }
}

impl<R: BufRead> BufRead for ProgressReader<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.done - self.reported >= PART as u64 {
            self.reported = self.done;
            // Spans are read again when all are found.
            self.sink.progress(self.done, self.total.saturating_mul(2)).map_err(io::Error::other)?;
        }
        self.reader.fill_buf()
    }

    fn consume(&mut self, length: usize) {
        self.done += length as u64;
        self.reader.consume(length);
    }
}
