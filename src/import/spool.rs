//! Temporary files in which imported trajectories wait until all ids are known: an unnamed one for each thread.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write};

use m3_trajectory::SourceError;
use m3_trajectory::json::{Json, Keys, parse};
use m3_trajectory::tool_names::NameMapping;

/// A temporary file to which trajectories are written.
pub(crate) struct Spool {
    number: usize,
    file: BufWriter<File>,
    length: u64,
}

/// A temporary file whose trajectories are read again.
pub(crate) struct SpoolReader {
    file: BufReader<File>,
    /// The position in the file where reading goes on.
    at: u64,
}

/// The bytes that are written and read at once: most trajectories are far smaller.
const BUFFER: usize = 1 << 18;

/// The kind of record that is written of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The calls of a model; or, with [`ImportAs::References`](super::ImportAs), calls that should be made.
    Trajectory,
    /// Calls that should be made, in a file of their own.
    Reference,
    /// A task: the question, and other members of the task.
    Task,
    /// The tools that were offered, which make one record for all traces.
    Tools,
}

/// A record that waits in a spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SpooledTrajectory {
    /// The id of the trajectory in its file, if it has one.
    pub(crate) sample: Option<String>,
    /// The kind of record.
    pub(crate) role: Role,
    /// The number of the spool, the offset in it and the length; `None` if nothing was written.
    place: Option<(usize, u64, u64)>,
}

/// The beginning of every record that has no id yet.
const BEGINNING: &str = r#"{"id":"""#;

impl Spool {
    /// An empty spool; the number distinguishes it from others.
    ///
    /// # Errors
    /// [`SourceError::Spool`].
    pub(crate) fn new(number: usize) -> Result<Self, SourceError> {
        let file = tempfile::tempfile().map_err(error)?;
        Ok(Self { number, file: BufWriter::with_capacity(BUFFER, file), length: 0 })
    }

    /// Adds a record that begins with an empty id.
    ///
    /// # Errors
    /// [`SourceError::Spool`].
    pub(crate) fn add(
        &mut self,
        sample: Option<String>,
        role: Role,
        record: &Json,
    ) -> Result<SpooledTrajectory, SourceError> {
        let text = record.to_text(Keys::AsRead);
        let rest = text.strip_prefix(BEGINNING).unwrap_or(&text);
        self.file.write_all(rest.as_bytes()).map_err(error)?;
        let place = Some((self.number, self.length, rest.len() as u64));
        self.length += rest.len() as u64;
        Ok(SpooledTrajectory { sample, role, place })
    }

    /// Turns the spool into a reader that starts at its beginning.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn into_reader(self) -> io::Result<SpoolReader> {
        let mut file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(SpoolReader { file: BufReader::with_capacity(BUFFER, file), at: 0 })
    }
}

impl SpoolReader {
    /// Writes the trajectory with this id, as JSON on one line. This is fast if trajectories are written in the order
    /// in which they were added.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn write(
        spools: &mut [Self],
        spooled: &SpooledTrajectory,
        id: &str,
        names: &NameMapping,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Some((number, offset, length)) = spooled.place else { return Ok(()) };
        let Some(Self { file, at }) = spools.get_mut(number) else { return Ok(()) };
        // Offsets fit into a signed number, as the length of a file does.
        file.seek_relative(offset.wrapping_sub(*at).cast_signed())?;
        *at = offset + length;
        let mut rest = file.take(length);
        if names.is_empty() {
            out.write_all(br#"{"id":"#)?;
            serde_json::to_writer(&mut *out, id)?;
            return io::copy(&mut rest, out).map(drop);
        }
        let id = serde_json::to_string(id).map_err(io::Error::from)?;
        let mut text = format!(r#"{{"id":{id}"#).into_bytes();
        rest.read_to_end(&mut text)?;
        out.write_all(&renamed(text, names))
    }
}

impl SpooledTrajectory {
    /// A record that is counted, but not written.
    pub(crate) fn unwritten(sample: Option<String>, role: Role) -> Self {
        Self { sample, role, place: None }
    }
}

/// A trajectory with other names of its tools.
fn renamed(text: Vec<u8>, names: &NameMapping) -> Vec<u8> {
    let Ok((mut trajectory, _)) = parse(&text) else { return text };
    rename(&mut trajectory, names);
    trajectory.to_text(Keys::AsRead).into_bytes()
}

/// Renames the tools below a trajectory's steps.
fn rename(trajectory: &mut Json, names: &NameMapping) {
    for step in list_mut(trajectory, "steps") {
        for call in list_mut(step, "calls") {
            let Json::Object(members) = call else { continue };
            for (_, name) in members.iter_mut().filter(|(key, _)| key == "name") {
                if let Some(other) = name.as_str().and_then(|name| names.get(name)) {
                    *name = Json::String(other.clone());
                }
            }
        }
    }
}

/// The items of a member that is a list.
fn list_mut<'j>(value: &'j mut Json, key: &str) -> &'j mut [Json] {
    let Json::Object(members) = value else { return &mut [] };
    match members.iter_mut().find(|(name, _)| name == key) {
        Some((_, Json::Array(items))) => items,
        _ => &mut [],
    }
}

fn error(cause: io::Error) -> SourceError {
    SourceError::Spool { path: "the imported trajectories".to_owned(), cause }
}
