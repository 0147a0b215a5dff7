//! Traces of other programs become files of trajectories.
//!
//! ```text
//! paths -> files -> in parallel: format -> traces -> trajectories, media in files -> a spool -> ids -> one file
//! ```
//!
//! Each file is read on its own; its trajectories wait in an unnamed temporary file, so that memory holds one
//! trajectory for each thread and a few bytes for each that is done.

mod media;
mod report;
mod spool;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use clap::ValueEnum;
use m3_support::files::is_plain;
pub(crate) use m3_traces::{FileToImport, walk};
use m3_traces::{Format, ReadError, Sink, Trace, TraceKind, recognize, recognize_among};
use m3_trajectory::json::Json;
use m3_trajectory::tool_names::Vocabulary;
use m3_trajectory::{SourceError, Trajectory};
pub(crate) use media::MediaFolder;
pub(crate) use report::{FileImport, ImportReport, OfferedTools};
pub(crate) use spool::{Role, Spool, SpoolReader, SpooledTrajectory};

/// What to do with the calls of agents that a call has run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SubAgents {
    /// Count them in a note
    LeaveOut,
    /// As trajectories of their own, ID/AGENT
    Separate,
}

/// The kind of trajectories that an import makes: with everything that was recorded, or only what should be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportAs {
    /// With results and answers
    Predictions,
    /// What should be called
    References,
}

/// Options of an import.
pub(crate) struct ImportOptions<'a> {
    /// The formats that files may have, whatever they look like: the first that fits, else the first.
    pub(crate) from: Option<&'a [&'static Format]>,
    /// What to do with the calls of sub-agents.
    pub(crate) sub_agents: SubAgents,
    /// The kind of trajectories to make.
    pub(crate) imported_as: ImportAs,
    /// Whether references have a file of their own.
    pub(crate) wants_references: bool,
    /// Whether tasks have a file of their own.
    pub(crate) wants_tasks: bool,
    /// Whether tools have a file of their own.
    pub(crate) wants_tools: bool,
    /// The folder for media; `None` if nothing is written.
    pub(crate) media: Option<&'a MediaFolder>,
    /// The number of files that are read at once.
    pub(crate) threads: usize,
}

/// The result of an import: everything that was read.
#[derive(Default)]
pub(crate) struct ImportedFiles {
    /// The files, in the order in which they were given.
    pub(crate) files: Vec<FileImport>,
    /// The trajectories of each file.
    pub(crate) spooled: Vec<Vec<SpooledTrajectory>>,
    /// The temporary files that hold the trajectories.
    pub(crate) spools: Vec<Spool>,
    /// The names of all tools.
    pub(crate) tools: Vocabulary,
    /// The tools that files say were offered.
    pub(crate) offered: OfferedTools,
    /// Whether the import was stopped before the end.
    pub(crate) is_stopped: bool,
}

/// A function that returns whether to stop.
pub(crate) type Stop<'s> = &'s (dyn Fn() -> bool + Sync);

/// Reads all files. `progress` gets the number of bytes that are read, and of all bytes.
///
/// # Errors
/// [`SourceError::Spool`] if the temporary files cannot be written. The errors of a file are in its report.
pub(crate) fn import(
    files: &[FileToImport],
    options: &ImportOptions<'_>,
    stop: Stop<'_>,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<ImportedFiles, SourceError> {
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    // A file without a size, such as a pipe, counts as one byte.
    let size = |found: &FileToImport| found.path.metadata().map_or(0, |it| it.len()).max(1);
    let total = files.iter().map(size).sum();
    let slots: Mutex<Vec<Option<FileResult>>> = Mutex::new((0..files.len()).map(|_| None).collect());
    let threads = options.threads.clamp(1, files.len().max(1));
    let worker = |number: usize| -> Result<(Spool, Vocabulary), SourceError> {
        let mut spool = Spool::new(number)?;
        let mut tools = Vocabulary::default();
        while !stop() {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(found) = files.get(at) else { break };
            let mut reading = Reading { done: &done, total, size: size(found), counted: 0, progress };
            let slot = import_file(found, options, (&mut spool, &mut tools), stop, &mut reading)?;
            slots.lock().unwrap_or_else(PoisonError::into_inner)[at] = Some(slot);
            reading.reached(1, 1);
        }
        Ok((spool, tools))
    };
    let ended = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|number| scope.spawn(move || worker(number))).collect();
        // A thread fails only by a bug, whose panic is passed on.
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        workers.into_iter().map(join).collect::<Result<Vec<_>, SourceError>>()
    })?;
    let mut imported = ImportedFiles { is_stopped: stop(), ..ImportedFiles::default() };
    for (spool, tools) in ended {
        imported.spools.push(spool);
        imported.tools.merge(tools);
    }
    let slots = slots.into_inner().unwrap_or_else(PoisonError::into_inner);
    for (file, spooled, offered) in slots.into_iter().flatten() {
        imported.files.push(file);
        imported.spooled.push(spooled);
        imported.offered.merge(offered);
    }
    Ok(imported)
}

/// The result of the import of a file: its report, its trajectories, and the tools that it says were offered.
type FileResult = (FileImport, Vec<SpooledTrajectory>, OfferedTools);

/// Reads one file.
fn import_file(
    found: &FileToImport,
    options: &ImportOptions<'_>,
    (spool, tools): (&mut Spool, &mut Vocabulary),
    stop: Stop<'_>,
    reading: &mut Reading<'_>,
) -> Result<FileResult, SourceError> {
    let (file, spooled, offered) = (FileImport::new(&found.path), Vec::new(), OfferedTools::default());
    let mut receiver = Receiver { options, spool, tools, stop, reading, file, spooled, offered, format: "" };
    match read(found, &mut receiver) {
        Ok(()) => {}
        Err(ReadError::Source(error @ SourceError::Spool { .. })) => return Err(error),
        Err(error @ ReadError::Source(SourceError::Growth { .. })) => {
            receiver.file.error = Some(format!("{error} (if it should: `--max-unpacked MIB`)"));
        }
        Err(error) => receiver.file.error = Some(error.to_string()),
    }
    let Receiver { mut file, spooled, offered, .. } = receiver;
    file.close();
    Ok((file, spooled, offered))
}

/// Reads the traces of a file, if it has one of the formats.
fn read(found: &FileToImport, receiver: &mut Receiver<'_, '_>) -> Result<(), ReadError> {
    let source = match found.open() {
        // A folder may have configurations beside its traces.
        Err(error @ SourceError::Yaml { .. }) if found.is_of_folder => {
            receiver.file.warn(None, &error.to_string());
            return Ok(());
        }
        source => source?.unhashed(),
    };
    let recognized = match receiver.options.from {
        Some(formats) => recognize_among(&source, formats)?,
        None => recognize(&source)?,
    };
    let Some(recognized) = recognized else {
        receiver.file.is_unknown = true;
        return Ok(());
    };
    receiver.format(recognized.format.name);
    match receiver.options.from {
        Some(_) => recognized.read(receiver)?,
        None => recognized.read_or_guess(receiver)?,
    }
    let is_empty = receiver.spooled.is_empty() && receiver.offered.is_empty();
    match (is_empty, found.is_of_folder) {
        (false, _) => Ok(()),
        // A file found in a folder may lack trajectories because it belongs to other files there.
        (true, true) => {
            receiver.file.warn(None, "it holds no trajectory of its own");
            Ok(())
        }
        (true, false) if receiver.file.tasks > 0 && receiver.options.media.is_none() => Ok(()),
        (true, false) if receiver.file.tasks > 0 => {
            Err(ReadError::Refused("it holds tasks without calls; `--tasks FILE` writes them".to_owned()))
        }
        (true, false) => Err(ReadError::Refused("it holds no trajectory".to_owned())),
    }
}

/// Receives the traces of one file.
struct Receiver<'r, 'p> {
    options: &'r ImportOptions<'r>,
    spool: &'r mut Spool,
    tools: &'r mut Vocabulary,
    stop: Stop<'r>,
    reading: &'r mut Reading<'p>,
    file: FileImport,
    spooled: Vec<SpooledTrajectory>,
    offered: OfferedTools,
    format: &'static str,
}

impl Sink for Receiver<'_, '_> {
    fn trace(&mut self, _: Option<u64>, mut trace: Trace) -> Result<(), ReadError> {
        if (self.stop)() {
            return Err(ReadError::Stopped);
        }
        if self.options.sub_agents == SubAgents::LeaveOut {
            trace.leave_out_agents();
        }
        let reference = trace.reference.take().map(|reference| *reference);
        self.beside(&trace, reference.as_ref())?;
        match trace.kind {
            TraceKind::Task => {
                self.file.tasks += u64::from(!self.options.wants_tasks);
                return Ok(());
            }
            TraceKind::Reference if self.options.wants_references => return Ok(()),
            _ => {}
        }
        if let Some(reference) = reference.filter(|_| self.options.imported_as == ImportAs::References) {
            trace = reference;
        }
        let nested = std::mem::take(&mut trace.nested);
        let sample = trace.id.clone();
        self.take(sample.clone(), trace)?;
        let above = sample.unwrap_or_else(|| self.file.stem.clone());
        nested.into_iter().try_for_each(|(name, inner)| self.agent(&above, &name, inner))
    }

    fn format(&mut self, name: &'static str) {
        self.format = name;
        self.file.format = Some(name.to_owned());
    }

    fn tool(&mut self, server: Option<&str>, tool: Json) {
        if self.options.wants_tools {
            self.offered.add(server.unwrap_or_default(), tool);
        }
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        self.file.warn(line, message);
    }

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.reading.reached(done, total);
        if (self.stop)() { Err(ReadError::Stopped) } else { Ok(()) }
    }
}

/// The progress of reading all files, for the bar.
struct Reading<'p> {
    /// The number of bytes that are read of all files, and of all bytes.
    done: &'p AtomicU64,
    total: u64,
    /// The bytes of this file, and how many of them are counted already.
    size: u64,
    counted: u64,
    progress: &'p (dyn Fn(u64, u64) + Sync),
}

impl Reading<'_> {
    /// Reports that `done` of `of` parts of this file are read.
    fn reached(&mut self, done: u64, of: u64) {
        let share = u128::from(self.size) * u128::from(done.min(of)) / u128::from(of.max(1));
        let counted = u64::try_from(share).unwrap_or(self.size).max(self.counted);
        let more = counted - self.counted;
        self.counted = counted;
        (self.progress)(self.done.fetch_add(more, Ordering::Relaxed) + more, self.total);
    }
}

impl Receiver<'_, '_> {
    /// Takes the trajectory of an agent, and those of the agents that it has run.
    fn agent(&mut self, above: &str, name: &str, mut trace: Trace) -> Result<(), ReadError> {
        let id = format!("{above}/{name}");
        let nested = std::mem::take(&mut trace.nested);
        self.take(Some(id.clone()), trace)?;
        nested.into_iter().try_for_each(|(name, inner)| self.agent(&id, &name, inner))
    }

    /// Keeps the records that have a file of their own: the reference and the task of a trace.
    fn beside(&mut self, trace: &Trace, reference: Option<&Trace>) -> Result<(), ReadError> {
        let own = Some(trace).filter(|trace| trace.kind == TraceKind::Reference);
        if let Some(reference) = reference.or(own).filter(|_| self.options.wants_references) {
            let mut reference = reference.clone().into_trajectory(String::new(), self.format);
            self.file.references += 1;
            if let Some(folder) = self.options.media {
                folder.take_out(&mut reference).map_err(ReadError::Refused)?;
            }
            as_reference(&mut reference);
            self.keep(trace.id.clone(), Role::Reference, &reference.into_json())?;
        }
        // References of another file are completed by their tasks.
        let completes = trace.kind == TraceKind::Task && self.options.wants_references;
        if let Some(task) = trace.task(String::new()).filter(|_| self.options.wants_tasks || completes) {
            self.file.tasks += u64::from(self.options.wants_tasks);
            self.keep(trace.id.clone(), Role::Task, &task.to_json())?;
        }
        Ok(())
    }

    /// Takes one trajectory: counts it, and keeps it for writing.
    fn take(&mut self, sample: Option<String>, trace: Trace) -> Result<(), ReadError> {
        let (steps, calls, notes) = (trace.steps.len(), trace.call_count(), trace.notes.clone());
        let mut trajectory = trace.into_trajectory(String::new(), self.format);
        if let Some(folder) = self.options.media {
            // Media that cannot be written are not the file's fault, but the trajectory is incomplete without them.
            folder.take_out(&mut trajectory).map_err(ReadError::Refused)?;
        }
        self.file.add(steps, calls, &notes);
        if self.options.imported_as == ImportAs::References {
            as_reference(&mut trajectory);
        }
        self.tools.learn(&trajectory);
        self.keep(sample, Role::Trajectory, &trajectory.into_json())
    }

    /// Keeps a record until its id is known.
    fn keep(&mut self, sample: Option<String>, role: Role, record: &Json) -> Result<(), ReadError> {
        let spooled = if self.options.media.is_some() {
            self.spool.add(sample, role, record)?
        } else {
            SpooledTrajectory::unwritten(sample, role)
        };
        self.spooled.push(spooled);
        Ok(())
    }
}

/// Removes the results and costs of the calls: a reference says only what should be called.
fn as_reference(trajectory: &mut Trajectory) {
    trajectory.extra.retain(|(key, _)| !matches!(key.as_str(), "model" | "usage" | "milliseconds"));
    for call in trajectory.steps.iter_mut().flat_map(|step| &mut step.calls) {
        call.result = None;
        call.extra.retain(|(key, _)| !matches!(key.as_str(), "is_error" | "error_type" | "milliseconds"));
    }
}

/// The folder of images beside a file; for a pipe or a device, `images` in the working folder.
pub(crate) fn images_beside(out: &Path) -> PathBuf {
    let beside = out.parent().filter(|_| is_plain(out)).unwrap_or(Path::new(""));
    beside.join("images")
}
