//! The command `m3 export`: writes trajectories in the formats of other programs.

use std::collections::HashMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;
use m3_images::task_image::image_folders;
use m3_report::json_without_hidden;
use m3_support::files::is_plain;
use m3_support::task_files::task_file_name;
use m3_support::text::counted;
use m3_traces::{Exporter, TARGETS, Target};
use m3_trajectory::json::Keys;
use m3_trajectory::{Trajectory, TrajectoryFile};

use crate::cli::common::{Failure, Output, PredictionsArg, Printer, Result, input, nearest};
use crate::export::{MediaFiles, put_out};
use crate::import::{MediaFolder, images_beside};

/// Options of `m3 export`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// Predictions, references, traces of other programs, or the folder of a run; `-` for standard input
    predictions: PredictionsArg,
    /// Who reads them: openai, anthropic, atif or otel
    #[arg(long, value_name = "TARGET", value_parser = parse_target)]
    to: &'static Target,
    /// File to write, of JSON Lines (atif: a document, or a list of several; a folder gets a file for each) [default:
    /// standard output, as `-`]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder of the tasks' images [default: the folder of the predictions and the one above it]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  m3 export runs/gpt-5 --to otel -o spans.jsonl
  m3 export predictions.json --to openai -o messages.jsonl
  m3 export predictions.json --to anthropic | jq .messages
  m3 export runs/gpt-5 --to atif -o atif/

Anything that the target format cannot hold is reported. `m3 import` reads what is written here as the same trajectories: docs/import.md.";

fn parse_target(name: &str) -> Result<&'static Target, String> {
    TARGETS.iter().find(|target| target.name == name).ok_or_else(|| {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.name).collect();
        let near = nearest(name, &names);
        let all: Vec<String> = TARGETS.iter().map(|it| format!("{}: {}", it.name, it.title)).collect();
        format!("no such target{near}\n{}", all.join("\n"))
    })
}

/// The layout of the trajectories in the output.
enum Form {
    /// A trajectory on each line.
    Lines,
    /// A single trajectory.
    Document,
    /// A list of trajectories.
    List,
    /// A folder with a file for each trajectory.
    Folder(PathBuf),
}

/// Exports trajectories.
pub(super) fn run(args: &ExportArgs, printer: Printer) -> Result {
    let further = args.predictions.further();
    let paths: Vec<&Path> =
        std::iter::once(args.predictions.path(printer)).chain(further.iter().map(PathBuf::as_path)).collect();
    let opened = paths.iter().map(|path| input::open_predicted(path, printer));
    let files = opened.collect::<Result<Vec<TrajectoryFile>>>()?;
    let total: usize = files.iter().map(TrajectoryFile::len).sum();
    if total == 0 {
        return Err(Failure::input("there is no trajectory to export"));
    }
    let mut writer = Writer::open(args, total, &paths, printer)?;
    let bar = printer.bar();
    let (mut done, mut missing) = (0, 0);
    for (path, file) in paths.iter().zip(&files) {
        let images = input::image_folders(args.images.as_ref(), || image_folders(path))?;
        let mut media = MediaFiles::beside(path, images);
        for index in 0..file.len() {
            let mut trajectory = file.read(index)?;
            media.put_in(&mut trajectory);
            writer.write(trajectory)?;
            done += 1;
            bar.set("writing", done, total as u64);
        }
        missing += media.missing;
    }
    drop(bar);
    let (exporter, calls) = writer.finish()?;
    conclude(args, &exporter, (total, calls), missing, printer);
    Ok(())
}

/// Writes trajectories in the target's form.
struct Writer {
    form: Form,
    exporter: Exporter,
    /// The folder for files of pictures, if the target needs them and there is a place.
    pictures: Option<MediaFolder>,
    /// The output; `None` for a folder, where each file has its own.
    output: Option<Output>,
    names: HashMap<String, u32>,
    inputs: Vec<PathBuf>,
    count: usize,
    calls: usize,
    printer: Printer,
}

impl Writer {
    fn open(args: &ExportArgs, total: usize, paths: &[&Path], printer: Printer) -> Result<Self> {
        let out = args.out.as_deref().filter(|out| *out != Path::new("-"));
        let form = form(args.to, out, total);
        let output = match &form {
            Form::Folder(folder) => {
                std::fs::create_dir_all(folder).map_err(Failure::at(folder))?;
                None
            }
            _ => Some(Output::open(out, paths, printer)?),
        };
        let beside = match &form {
            Form::Folder(folder) => Some(folder.join("x.json")),
            _ => out.filter(|out| is_plain(out)).map(Path::to_owned),
        };
        let pictures = beside.filter(|_| args.to.needs_files);
        let pictures = pictures.map(|beside| MediaFolder::new(&images_beside(&beside), &beside));
        let exporter = Exporter::new(args.to, time_of(paths.first().copied()));
        let inputs = paths.iter().map(|path| path.to_path_buf()).collect();
        let names = HashMap::new();
        Ok(Self { form, exporter, pictures, output, names, inputs, count: 0, calls: 0, printer })
    }

    fn write(&mut self, mut trajectory: Trajectory) -> Result {
        if let Some(pictures) = &self.pictures {
            put_out(&mut trajectory, pictures).map_err(Failure::unavailable)?;
        }
        self.calls += trajectory.call_count();
        let text = self.exporter.write(&trajectory).to_text(Keys::AsRead);
        let text = json_without_hidden(&text);
        self.count += 1;
        match (&self.form, &mut self.output) {
            (Form::Folder(folder), _) => {
                let times = self.names.entry(trajectory.id.clone()).or_default();
                *times += 1;
                let path = folder.join(format!("{}.json", task_file_name(&trajectory.id, *times)));
                let inputs: Vec<&Path> = self.inputs.iter().map(PathBuf::as_path).collect();
                let mut output = Output::open(Some(&path), &inputs, self.printer)?;
                output.write_all(text.as_bytes())?;
                output.commit()?;
            }
            (Form::List, Some(output)) => {
                write!(output, "{}{text}", if self.count == 1 { "[\n" } else { ",\n" })?;
            }
            (_, Some(output)) => writeln!(output, "{text}")?,
            (_, None) => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<(Exporter, usize)> {
        if let Some(mut output) = self.output {
            if matches!(self.form, Form::List) {
                output.write_all(b"\n]\n")?;
            }
            output.commit()?;
        }
        Ok((self.exporter, self.calls))
    }
}

fn form(target: &Target, out: Option<&Path>, total: usize) -> Form {
    let is_folder = |out: &Path| out.is_dir() || out.as_os_str().to_string_lossy().ends_with('/');
    let ends_in = |out: &Path, endings: &[&str]| {
        out.extension().is_some_and(|ending| endings.iter().any(|known| ending == *known))
    };
    match out {
        _ if target.is_lines => Form::Lines,
        Some(out) if is_folder(out) => Form::Folder(out.to_owned()),
        Some(out) if ends_in(out, &["jsonl", "ndjson"]) => Form::Lines,
        _ if total == 1 => Form::Document,
        _ => Form::List,
    }
}

/// The time when a file was written, in seconds, as trajectories record none; for standard input, now.
fn time_of(path: Option<&Path>) -> u64 {
    let written = path.and_then(|path| std::fs::metadata(path).ok()?.modified().ok());
    let since = written.unwrap_or_else(SystemTime::now).duration_since(UNIX_EPOCH);
    since.map_or(1, |since| since.as_secs().max(1))
}

/// Reports notes on the export, missing pictures and the number of trajectories that were written.
fn conclude(
    args: &ExportArgs,
    exporter: &Exporter,
    (total, calls): (usize, usize),
    missing: u64,
    printer: Printer,
) {
    for (note, count) in exporter.notes().iter() {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        printer.note(&format!("--to {}: {note}{times}", args.to.name));
    }
    if missing > 0 {
        printer.note(&format!(
            "{} that the trajectories name, not there or no picture; only the name is written",
            counted(missing, "file")
        ));
    }
    if let Some(out) = args.out.as_deref().filter(|out| *out != Path::new("-")) {
        let (total, calls) = (counted(total, "trajectory"), counted(calls, "call"));
        printer.note(&format!("wrote {total} with {calls} for {} into `{}`", args.to.name, out.display()));
    }
}
