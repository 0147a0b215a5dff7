//! Reads traces of other programs (message lists, logs, spans and sessions) as trajectories, and writes trajectories
//! for other programs ([`Exporter`]).
//!
//! All files take the same way: [`Head`] reads the beginning, the first row of [`FORMATS`] that recognizes it reads the
//! file, and the messages go through one core ([`Conversation`](conversation::Conversation)), which puts calls into
//! steps and joins results to calls. A format is one file below `formats` and one row. If no row recognizes a file, the
//! members that usually hold a trace are tried ([`Envelope`]).

#![forbid(unsafe_code)]

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod archive;
mod arguments;
mod call_shapes;
mod call_signs;
mod content;
mod conversation;
mod conversation_rows;
mod envelope;
mod events;
mod export;
mod fields;
mod folder;
mod formats;
mod gateways;
mod groups;
mod guess;
mod head;
mod ids;
mod input;
mod label;
mod lines;
mod literal;
mod logs;
mod lost;
mod message_events;
mod occurrences;
mod outcome;
mod overlap;
mod parallel;
mod pieces;
mod question;
mod replies;
mod scan;
mod sink;
mod sink_buffer;
mod spans;
mod table;
#[cfg(test)]
mod testing;
mod time;
mod trace;
mod unknown;
mod usage;
mod values;
mod waiting;
mod walk;

pub use content::{Content, Media, MediaPlace, Part, decode, encode};
pub use export::{Exporter, SpanIds, TARGETS, Target};
pub use formats::{FORMATS, Format};
pub use ids::{Ids, stem};
pub use label::Label;
pub use sink::{ReadError, Sink};
pub use trace::{IMPORT_SCHEMA, Notes, RunCost, Trace, TraceKind, TracedCall};
pub use unknown::why_unknown;
pub use usage::Usage;
pub use walk::{FileToImport, walk};

use envelope::Envelope;
use head::Head;
use input::Input;
use m3_support::text::shortened;
use m3_trajectory::Source;
use m3_trajectory::SourceError;
use m3_trajectory::format::{Format as FileFormat, Output, ReadFormat, Start};
use m3_trajectory::{Place, Severity};
use replies::ReplyList;
use sink::TakingSink;

/// A file whose format is known.
#[derive(Debug)]
pub struct RecognizedFile<'s> {
    /// The format.
    pub format: &'static Format,
    source: &'s Source,
    head: Head,
    envelope: Option<Envelope>,
}

/// Tells which format a file has; `None` if it has none of [`FORMATS`].
///
/// # Errors
/// [`ReadError::Source`] if it cannot be read.
pub fn recognize(source: &Source) -> Result<Option<RecognizedFile<'_>>, ReadError> {
    let head = Head::read(source)?;
    // A known format within an envelope is better than what can be told by signs alone.
    let (signs, known): (Vec<&Format>, Vec<_>) = FORMATS.iter().partition(|it| it.name == formats::SIGNS);
    let find = |formats: &[&'static Format]| formats.iter().copied().find(|it| (it.recognizes)(&head));
    if let Some(format) = find(&known) {
        return Ok(Some(RecognizedFile { format, source, head, envelope: None }));
    }
    if let Some((envelope, format)) = Envelope::find(&head, &known) {
        return Ok(Some(RecognizedFile { format, source, head, envelope: Some(envelope) }));
    }
    Ok(find(&signs).map(|format| RecognizedFile { format, source, head, envelope: None }))
}

/// Treats a file as one of these formats: the first that recognizes it, else the first of the list; `None` without
/// formats.
///
/// # Errors
/// [`ReadError::Source`] if it cannot be read.
pub fn recognize_among<'s>(
    source: &'s Source,
    formats: &[&'static Format],
) -> Result<Option<RecognizedFile<'s>>, ReadError> {
    let head = Head::read(source)?;
    let plain = formats.iter().copied().find(|format| (format.recognizes)(&head));
    let within = if plain.is_none() { Envelope::find(&head, formats) } else { None };
    if let Some((envelope, format)) = within {
        return Ok(Some(RecognizedFile { format, source, head, envelope: Some(envelope) }));
    }
    let format = plain.or(formats.first().copied());
    Ok(format.map(|format| RecognizedFile { format, source, head, envelope: None }))
}

/// The most trajectories without calls that wait for one with calls.
const HELD: usize = 1_000;

impl RecognizedFile<'_> {
    /// Reads the file: every trajectory and every problem goes to `sink`, in the order of the file.
    ///
    /// # Errors
    /// [`ReadError`] if it cannot be read, or has nothing that can be scored.
    pub fn read(&self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        let input = Input::new(self.source, &self.head);
        let (mut held, mut has_calls) = (Vec::new(), false);
        let mut replies = ReplyList::new(self.format.name, self.envelope.is_some());
        // Trajectories without calls wait until it is known whether the file has some that were not read.
        let wait = |sink: &mut dyn Sink, line: Option<u64>, mut trace: Trace| {
            gateways::unwrap(&mut trace);
            has_calls |= lost::has_calls(&trace);
            held.push((line, trace));
            let is_over = has_calls || input.is_checked() || held.len() > HELD;
            let given = if is_over { held.len() } else { 0 };
            held.drain(..given).try_for_each(|(line, trace)| replies.take(sink, line, trace))
        };
        let mut holding = TakingSink::new(&mut *sink, wait);
        match &self.envelope {
            Some(envelope) => envelope.read(self.format, &input, &mut holding)?,
            None => (self.format.read)(&input, &mut holding)?,
        }
        let lost = holding.lost_records();
        if !held.is_empty() {
            input.refuse_lost_calls()?;
        }
        held.into_iter().try_for_each(|(line, trace)| replies.take(sink, line, trace))?;
        replies.finish(sink)?;
        lost::refuse_lost_records(lost)
    }
}

/// All trace formats as one format of [`m3_trajectory`]: programs that open files with it read traces directly.
pub const TRACES: &[FileFormat] = &[FileFormat {
    name: "traces",
    title: "traces of other programs",
    recognizes: |start| is_trace(start),
    read: ReadFormat::Converted(convert),
}];

/// Whether a file is a trace of another program, or a folder that may hold some, and does not hold m3's own trajectories.
fn is_trace(start: &Start<'_>) -> bool {
    start.source.is_folder()
        || !head::is_own(start.bytes)
            && recognize(start.source)
                .is_ok_and(|file| file.is_some_and(|file| file.format.name != formats::SIGNS))
}

/// Writes the trajectories of a file, or of all files in a folder, with their ids.
fn convert(source: &Source, output: &mut Output<'_>) -> Result<(), SourceError> {
    let mut converter =
        Converter { output, format: "", ids: Ids::default(), stem: String::new(), file: None };
    if source.is_folder() {
        return folder::convert(source, &mut converter);
    }
    converter.convert(source).map(|_| ())
}

/// Passes the traces on to a file of trajectories.
struct Converter<'c, 'o> {
    output: &'c mut Output<'o>,
    format: &'static str,
    ids: Ids,
    stem: String,
    /// The file in a folder that is read, for messages.
    file: Option<String>,
}

impl Converter<'_, '_> {
    /// Writes the trajectories of a file; returns whether it has any of the formats.
    fn convert(&mut self, source: &Source) -> Result<bool, SourceError> {
        let Ok(Some(recognized)) = recognize(source) else { return Ok(false) };
        self.format = recognized.format.name;
        self.stem = stem(source.name());
        if self.format == formats::EXPECTED_CALLS {
            self.problem(Severity::Note, None, CALLS_OF_OTHERS);
        }
        match recognized.read(self) {
            Ok(()) => {}
            Err(ReadError::Source(error)) => return Err(error),
            Err(error) => {
                self.problem(Severity::Error, None, &format!("{error} ({})", recognized.format.title));
            }
        }
        Ok(true)
    }

    /// The id of the next trajectory. Files of a folder may be runs of the same tasks, which nobody can tell apart by then.
    fn unique(&mut self, id: &str) -> String {
        let unique = self.ids.unique(id.to_owned());
        if unique != id && self.file.is_some() {
            let message = format!(
                "the id `{}` stands in another file too; this one is `{}`",
                shortened(id, 100),
                shortened(&unique, 100)
            );
            self.problem(Severity::Warning, None, &message);
        }
        unique
    }

    fn problem(&mut self, severity: Severity, line: Option<u64>, message: &str) {
        let place = Place { line, ..Place::default() };
        match &self.file {
            // The line is one of the file, not of the folder.
            Some(file) => {
                let line = line.map_or_else(String::new, |line| format!(":{line}"));
                self.output.problem(severity, Place::default(), &format!("{file}{line}: {message}"));
            }
            None => self.output.problem(severity, place, message),
        }
    }
}

/// The note on a file that holds calls as teams write them down.
const CALLS_OF_OTHERS: &str = "tasks with calls in another program's shape, which are read as trajectories; `m3 import --as \
    references FILE -o references.json` writes them as m3's references";

/// The warning about a file that has the calls of a model and those that should be made.
const HAS_REFERENCES: &str = "the calls that should be made stand beside those of a model, which are read; `m3 import --as \
    references FILE -o references.json` writes the others";

impl Sink for Converter<'_, '_> {
    fn trace(&mut self, line: Option<u64>, mut trace: Trace) -> Result<(), ReadError> {
        if trace.reference.is_some() && self.format == formats::EXPECTED_CALLS {
            self.problem(Severity::Warning, line, HAS_REFERENCES);
        }
        trace.leave_out_agents();
        let id = self.unique(&trace.id.clone().unwrap_or_else(|| self.stem.clone()));
        let trajectory = trace.into_trajectory(id, self.format);
        Ok(self.output.trajectory(line.filter(|_| self.file.is_none()), &trajectory)?)
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.problem(Severity::Warning, line, message);
    }
}
