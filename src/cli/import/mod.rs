//! The command `m3 import`: reads traces of other programs into trajectories.

mod write;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use m3_support::text::{counted, shortened};
use m3_traces::{FORMATS, Format, why_unknown};
use m3_trajectory::{Source, SourceError};

use crate::cli::common::{
    Failure, Output, Printer, Result, Signals, ToolNamesArg, code, commit_all, interrupted, nearest,
    refuse_equal, runtime, write_json,
};
use crate::import::{
    FileImport, FileToImport, ImportAs, ImportOptions, ImportReport, ImportedFiles, MediaFolder, Role,
    SubAgents, images_beside, import, walk,
};
use write::{IdTemplate, write};

/// Options of `m3 import`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ImportArgs {
    /// Traces of other programs: files, or folders with all files in them; `-` for standard input
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// File of trajectories to write; as JSON Lines if its name ends in .jsonl
    #[arg(short, long, value_name = "FILE", required_unless_present_any = ["list", "references", "tasks", "tools"])]
    out: Option<PathBuf>,
    /// File for the calls that should be made, if the files have them
    #[arg(long, value_name = "FILE")]
    references: Option<PathBuf>,
    /// File for the tasks: questions without calls
    #[arg(long, value_name = "FILE")]
    tasks: Option<PathBuf>,
    /// File for the tools that were offered, as a catalog; with --tool-names auto the catalog that is read instead
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Say what each file is and holds, and write nothing
    #[arg(long, conflicts_with_all = ["out", "references", "tasks", "images"])]
    list: bool,
    /// Format of all files, whatever they look like: a name of docs/import.md, such as openai-chat; where several begin
    /// with it, the one that fits
    #[arg(long, value_name = "FORMAT", value_parser = parse_format)]
    from: Option<Formats>,
    /// Write what was read, guessed, skipped and lost of each file as JSON; `-` for standard output
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Folder for pictures, by their hash [default: images, beside the file that is written]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// What to write: everything as predictions, or question, image, calls and answer as references
    #[arg(long = "as", value_enum, default_value_t = ImportAs::Predictions)]
    imported_as: ImportAs,
    /// Calls of agents that a call has run
    #[arg(long, value_enum, default_value_t = SubAgents::LeaveOut)]
    sub_agents: SubAgents,
    /// Ids of trajectories: text with {sample}, the id in the file, {file} and {format}
    #[arg(long, value_name = "TEMPLATE", default_value = "{sample}")]
    id: IdTemplate,
    /// How tools are named: off as they are, auto as in --tools where that is clear, or a JSON file of names
    #[arg(long, value_name = "off|auto|FILE", default_value = "off")]
    tool_names: ToolNamesArg,
    /// Files that are read at once [default: one for each core]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
}

const EXAMPLES: &str = "\
Examples:
  m3 import logs/2026-11-20_shop.eval -o predictions.json
  m3 import traces/ --list
  m3 import ~/.claude/projects/shop --id '{file}' -o shop.json
  m3 import good-run.jsonl --as references -o references.json
  m3 import results/run1.json -o predictions.json --references references.json

What each format keeps and loses: docs/import.md. m3 score, audit, show and others read the same files directly.";

/// The formats that `--from` names.
#[derive(Debug, Clone)]
struct Formats(Vec<&'static Format>);

fn parse_format(name: &str) -> Result<Formats, String> {
    let is_named = |format: &&Format| {
        format.name.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let formats: Vec<&Format> = FORMATS.iter().filter(is_named).collect();
    if !formats.is_empty() {
        return Ok(Formats(formats));
    }
    let names: Vec<&str> = FORMATS.iter().map(|format| format.name).collect();
    Err(format!("no such format{}\nthere are: {}", nearest(name, &names), names.join(", ")))
}

/// Imports traces.
pub(super) fn run(args: &ImportArgs, printer: Printer) -> Result {
    let files = walk(&args.paths)
        .map_err(|(path, cause)| SourceError::Read { path: path.display().to_string(), cause })?;
    let inputs: Vec<&Path> = files.iter().map(|file| file.path.as_path()).chain(args.catalog()).collect();
    let written = args.written();
    let all: Vec<&Path> = written.iter().map(|(_, path)| *path).chain(args.report.as_deref()).collect();
    refuse_equal(&inputs, &all)?;
    for (at, path) in all.iter().enumerate() {
        refuse_equal(&[*path], &all[..at])?;
    }
    let open = |path: &Path| Output::open(Some(path), &[], printer);
    let mut outputs = written.iter().map(|(_, path)| open(path)).collect::<Result<Vec<_>, _>>()?;
    let report_out = args.report.as_deref().map(open).transpose()?;
    let beside = args.out.as_deref().or(written.first().map(|(_, path)| *path));
    let media =
        beside.map(|out| MediaFolder::new(&args.images.clone().unwrap_or_else(|| images_beside(out)), out));
    let imported = read_all(args, &files, media.as_ref(), printer)?;
    let mut report = ImportReport::new(imported.files.clone(), media.as_ref().map_or(0, MediaFolder::count));
    let counts = write(args, &written, imported, &mut outputs, printer)?;
    for ((what, _), count) in written.iter().zip(&counts) {
        match what {
            Role::Reference => report.references = *count,
            Role::Task => report.tasks = *count,
            Role::Trajectory | Role::Tools => {}
        }
    }
    // A file that would hold nothing is not written.
    let mut kept = counts.iter().map(|count| *count > 0);
    outputs.retain(|_| kept.next().unwrap_or_default());
    if let Some(mut out) = report_out {
        write_json(&report, &mut out)?;
        outputs.push(out);
    }
    // A report on standard output takes the place of the list.
    if args.list && args.report.as_deref() != Some(Path::new("-")) {
        list(&report, &files, printer)?;
    }
    commit_all(outputs)?;
    let concluded = conclude(&report, counts.iter().sum(), &files, printer);
    for ((what, path), count) in written.iter().zip(counts) {
        tell_written(*what, path, count, &report, printer);
    }
    concluded
}

impl ImportArgs {
    /// The catalog that is read, for `--tool-names auto`.
    fn catalog(&self) -> Option<&Path> {
        self.tools.as_deref().filter(|_| matches!(self.tool_names, ToolNamesArg::Auto))
    }

    /// The files that are written, besides the report.
    fn written(&self) -> Vec<(Role, &Path)> {
        let tools = self.tools.as_ref().filter(|_| self.catalog().is_none());
        let all = [
            (Role::Trajectory, self.out.as_ref()),
            (Role::Reference, self.references.as_ref()),
            (Role::Task, self.tasks.as_ref()),
            (Role::Tools, tools),
        ];
        all.into_iter().filter_map(|(what, path)| Some((what, path?.as_path()))).collect()
    }
}

/// Reads all files with a progress bar, until a signal comes.
fn read_all(
    args: &ImportArgs,
    found: &[FileToImport],
    media: Option<&MediaFolder>,
    printer: Printer,
) -> Result<ImportedFiles> {
    // A pipe may block for ever. So with pipes, signals are not handled, and end the program as usual.
    let runtime = if found.iter().all(|found| found.path.is_file() || !found.parts.is_empty()) {
        Some(runtime()?)
    } else {
        None
    };
    let signals = runtime.as_ref().map(Signals::listen);
    let options = ImportOptions {
        from: args.from.as_ref().map(|formats| formats.0.as_slice()),
        sub_agents: args.sub_agents,
        imported_as: args.imported_as,
        wants_references: args.references.is_some(),
        wants_tasks: args.tasks.is_some(),
        wants_tools: args.tools.is_some() && args.catalog().is_none(),
        media,
        threads: args.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
    };
    let bar = printer.byte_bar();
    let progress = |done: u64, total: u64| bar.set("reading", done, total);
    let stop = || signals.as_ref().is_some_and(|signals| signals.first.is_cancelled());
    let imported = import(found, &options, &stop, &progress)?;
    if signals.is_some_and(Signals::release) || imported.is_stopped {
        printer.note("interrupted; no trajectories were written");
        return Err(interrupted());
    }
    Ok(imported)
}

/// Prints the format and the counts of each file; the name of the file is last, so that it is never cut.
fn list(report: &ImportReport, found: &[FileToImport], printer: Printer) -> Result {
    let mut out = Output::open(None, &[], printer)?;
    let rows =
        report.files.iter().zip(found).filter(|(file, found)| !(file.is_unknown && found.is_of_folder));
    let format = |file: &FileImport| file.format.clone().unwrap_or_else(|| "unknown".to_owned());
    let width = report.files.iter().map(|file| format(file).len()).max().unwrap_or_default();
    writeln!(out, "{:width$}  trajectories  calls  notes  file", "format")?;
    for (file, _) in rows {
        let notes = file.notes.iter().map(|note| note.count).sum::<u64>() + file.warnings.len() as u64;
        let (format, FileImport { trajectories, calls, .. }) = (format(file), file);
        writeln!(out, "{format:width$}  {trajectories:>12}  {calls:>5}  {notes:>5}  {}", file.file)?;
    }
    out.commit()
}

/// The most notes, and the most files that failed, that are reported one by one.
const TOLD: usize = 8;

/// Reports notes, warnings and failed files; fails if a file failed or nothing was imported.
fn conclude(report: &ImportReport, records: u64, found: &[FileToImport], printer: Printer) -> Result {
    let mut notes: BTreeMap<&str, u64> = BTreeMap::new();
    for note in report.files.iter().flat_map(|file| &file.notes) {
        *notes.entry(&note.note).or_default() += note.count;
    }
    let mut notes: Vec<(&str, u64)> = notes.into_iter().collect();
    notes.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (note, count) in notes.iter().take(TOLD) {
        printer.note(&format!(
            "{} {note}",
            if *count == 1 { "once:".to_owned() } else { format!("{count} times:") }
        ));
    }
    let warnings = report.files.iter().flat_map(|file| file.warnings.iter().map(move |it| (&file.file, it)));
    for (file, warning) in warnings.take(TOLD) {
        printer.warn(&format!("{}: {warning}", shortened(file, 200)));
    }
    let others = report.files.iter().zip(found).filter(|(file, _)| file.is_unknown);
    let (in_folders, named): (Vec<_>, Vec<_>) = others.partition(|(_, found)| found.is_of_folder);
    if !in_folders.is_empty() {
        printer.note(&format!("{} of no known format left out", counted(in_folders.len(), "file")));
    }
    let unknown = named.iter().map(|(file, found)| (&file.file, unknown_reason(&found.path)));
    let failed = report.files.iter().filter_map(|file| Some((&file.file, file.error.as_deref()?)));
    let failed: Vec<(&String, &str)> = failed.chain(unknown).collect();
    for (file, why) in failed.iter().take(TOLD) {
        Printer::error(&format!("{}: {}", shortened(file, 200), shortened(why, 600)));
    }
    if failed.len() > TOLD {
        Printer::error(&format!(
            "and {} more; `--report FILE` lists them",
            counted(failed.len() - TOLD, "file")
        ));
    }
    match (failed.is_empty(), records + report.trajectories + report.tasks) {
        (true, 0) => Err(Failure::input("there is nothing to import in what was given")),
        (true, _) => Ok(()),
        (false, 0) => Err(Failure::silent(code::INPUT)),
        (false, _) => Err(Failure::silent(code::FAILED)),
    }
}

/// Why no format recognizes a file.
fn unknown_reason(path: &Path) -> &'static str {
    let reason = Source::open(path).and_then(|source| why_unknown(&source)).ok().flatten();
    reason.unwrap_or(
        "it has none of the formats of docs/import.md; `--from` can name one (m3's own trajectories need no import)",
    )
}

/// Reports the content that was written into a file.
fn tell_written(what: Role, path: &Path, count: u64, report: &ImportReport, printer: Printer) {
    let number = |count: u64, noun: &str| counted(usize::try_from(count).unwrap_or(usize::MAX), noun);
    let place = if path == Path::new("-") {
        "to standard output".to_owned()
    } else {
        format!("into `{}`", path.display())
    };
    let description = match what {
        Role::Trajectory => {
            let media = if report.media > 0 {
                format!(" and {}", counted(report.media, "picture"))
            } else {
                String::new()
            };
            let files = report.files.iter().filter(|file| file.trajectories > 0).count();
            let calls = number(report.calls, "call");
            format!("{} with {calls}{media}, from {},", number(count, "trajectory"), counted(files, "file"))
        }
        Role::Reference => number(count, "reference"),
        Role::Task => number(count, "task"),
        Role::Tools => number(count, "tool"),
    };
    match count {
        0 => printer.warn(&format!("`{}` was not written: the input has nothing for it", path.display())),
        _ => printer.note(&format!("wrote {description} {place}")),
    }
}
