//! Reads what other programs write of their runs: message lists, logs, spans and sessions become trajectories. And writes
//! trajectories for other programs ([`Exporter`]).
//!
//! A file goes one way: [`Head`] tells how it begins, the first row of [`FORMATS`] that recognizes it reads it,
//! and what it finds goes through one core ([`Conversation`](conversation::Conversation)), which puts calls into steps and
//! results to calls. A format is one file below `formats` and one row.

#![forbid(unsafe_code)]

mod archive;
mod arguments;
mod content;
mod conversation;
mod events;
mod export;
mod fields;
mod formats;
mod groups;
mod head;
mod ids;
mod input;
mod logs;
mod occurrences;
mod overlap;
mod parallel;
mod pieces;
mod question;
mod scan;
mod sink;
mod spans;
#[cfg(test)]
mod testing;
mod time;
mod trace;
mod usage;
mod values;
mod waiting;

pub use content::{Content, Media, MediaPlace, Part, decode, encode};
pub use export::{Exporter, TARGETS, Target};
pub use formats::{FORMATS, Format};
pub use ids::{Ids, stem};
pub use sink::{ReadError, Sink};
pub use trace::{IMPORT_SCHEMA, Notes, Trace, TracedCall};
pub use usage::Usage;

use head::Head;
use input::Input;
use m3_trajectory::Source;
use m3_trajectory::SourceError;
use m3_trajectory::format::{Format as FileFormat, Output, ReadFormat, Start};
use m3_trajectory::{Place, Severity};

/// The format of a file; `None` if it has none of these.
///
/// # Errors
/// [`ReadError::Source`] if it cannot be read.
pub fn recognize(source: &Source) -> Result<Option<&'static Format>, ReadError> {
    recognize_among(source, &FORMATS.iter().collect::<Vec<_>>())
}

/// The first of these formats that a file has.
///
/// # Errors
/// [`ReadError::Source`] if it cannot be read.
pub fn recognize_among(
    source: &Source,
    formats: &[&'static Format],
) -> Result<Option<&'static Format>, ReadError> {
    let head = Head::read(source)?;
    Ok(formats.iter().copied().find(|format| (format.recognizes)(&head)))
}

/// Reads a file of a format: every trajectory and every problem goes to `sink`, in the order of the file.
///
/// # Errors
/// [`ReadError`] if it cannot be read, or has nothing that can be scored.
pub fn read(source: &Source, format: &Format, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let head = Head::read(source)?;
    (format.read)(&Input { source, head: &head }, sink)
}

/// All formats as one of [`m3_trajectory`]: what opens files with it reads traces directly.
pub const TRACES: &[FileFormat] = &[FileFormat {
    name: "traces",
    title: "traces of other programs",
    recognizes: |start| is_trace(start),
    read: ReadFormat::Converted(convert),
}];

/// Whether a file is a trace and not m3's own.
fn is_trace(start: &Start<'_>) -> bool {
    !head::is_own(start.bytes) && recognize(start.source).is_ok_and(|format| format.is_some())
}

/// Writes the trajectories of a file with their ids.
fn convert(source: &Source, output: &mut Output<'_>) -> Result<(), SourceError> {
    let Ok(Some(format)) = recognize(source) else { return Ok(()) };
    let mut converter = Converter { output, format, ids: Ids::default(), stem: stem(source.name()) };
    match read(source, format, &mut converter) {
        Ok(()) => Ok(()),
        Err(ReadError::Source(error)) => Err(error),
        Err(error) => {
            output.problem(Severity::Error, Place::default(), &format!("{error} ({})", format.title));
            Ok(())
        }
    }
}

/// Gives what is read to a file of trajectories.
struct Converter<'c, 'o> {
    output: &'c mut Output<'o>,
    format: &'static Format,
    ids: Ids,
    stem: String,
}

impl Sink for Converter<'_, '_> {
    fn trace(&mut self, line: Option<u64>, mut trace: Trace) -> Result<(), ReadError> {
        trace.leave_out_agents();
        let id = self.ids.unique(trace.id.clone().unwrap_or_else(|| self.stem.clone()));
        let trajectory = trace.into_trajectory(id, self.format.name);
        Ok(self.output.trajectory(line, &trajectory)?)
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.output.problem(Severity::Warning, Place { line, ..Place::default() }, message);
    }
}
