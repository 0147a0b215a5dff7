//! Reports as a single JSON document; `m3.score/1` also as JSON Lines.

use std::io::{self, Seek as _, Write};

use m3_support::text::json_without_hidden;
use serde::Serialize;
use tempfile::SpooledTempFile;

use super::{ScoreRenderer, ScoreSummary, TrajectoryReport};

/// How many bytes of trajectories are kept in memory; further ones are kept on disk.
const MEMORY: usize = 8 << 20;

/// A single document: the indented summary, then each trajectory on a line.
pub struct Json<W> {
    writer: W,
    /// The trajectories, kept because the summary comes first in the document but is known last.
    trajectories: SpooledTempFile,
    is_first: bool,
}

impl<W: Write> Json<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer, trajectories: SpooledTempFile::new(MEMORY), is_first: true }
    }

    /// Takes the next trajectory.
    ///
    /// # Errors
    /// The temporary file's reason.
    pub fn push(&mut self, report: &impl Serialize) -> io::Result<()> {
        let separator: &[u8] = if std::mem::take(&mut self.is_first) { b"\n    " } else { b",\n    " };
        self.trajectories.write_all(separator)?;
        self.trajectories.write_all(json_without_hidden(&serde_json::to_string(report)?).as_bytes())
    }

    /// Writes the summary and then the trajectories.
    ///
    /// # Errors
    /// The reason of the writer or the temporary file.
    pub fn close(&mut self, summary: &impl Serialize) -> io::Result<()> {
        let summary = json_without_hidden(&serde_json::to_string_pretty(summary)?).into_owned();
        let open = summary.strip_suffix("\n}").unwrap_or(&summary);
        write!(self.writer, "{open},\n  \"trajectories\": [")?;
        self.trajectories.rewind()?;
        io::copy(&mut self.trajectories, &mut self.writer)?;
        self.writer.write_all(b"\n  ]\n}\n")?;
        self.writer.flush()
    }
}

impl<W: Write> ScoreRenderer for Json<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        self.push(report)
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        self.close(summary)
    }
}

/// Each trajectory on a line as soon as it is scored; the summary on the last line.
pub struct JsonLines<W> {
    writer: W,
}

impl<W: Write> JsonLines<W> {
    /// Writes to `writer`.
    pub fn new(writer: W) -> Self {
        Self { writer }
    }
}

impl<W: Write> ScoreRenderer for JsonLines<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        writeln!(self.writer, "{}", json_without_hidden(&serde_json::to_string(report)?))
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        writeln!(self.writer, "{}", json_without_hidden(&serde_json::to_string(summary)?))?;
        self.writer.flush()
    }
}
