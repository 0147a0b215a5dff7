//! The command `m3 show`: shows one trajectory.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use clap::{Args, ValueEnum};
use m3_images::task_image::{image_folders, locate};
use m3_report::{
    ListedTrajectory, ShowOptions, ShownTrajectory, json_without_hidden, shortened, write_list,
    write_list_as_markdown,
};
use m3_support::text::counted;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{SourceError, Trajectory, TrajectoryFile};

use crate::cli::common::{Failure, Output, PredictionsArg, Printer, Result, input, nearest, write_json};

/// Options of `m3 show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// Predictions or references: JSON, JSON Lines, either in gzip or zstd; the folder of a run; a trace of another program
    /// (docs/import.md), or a folder of traces; `-` for standard input
    predictions: PredictionsArg,
    /// The trajectory to show; without it, a file of several is listed
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Which repetition of the task, from 1 [default: the first in the file]
    #[arg(long, value_name = "K")]
    repeat: Option<u64>,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    format: FormatArg,
    /// List the images that the model was sent, with what was done to them
    #[arg(long)]
    images: bool,
    /// Show all messages between executor and model
    #[arg(long)]
    dialogue: bool,
    /// Width of the text, in columns [default: the terminal's, else 80]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(i64::from(NARROWEST)..=i64::from(WIDEST)))]
    width: Option<u16>,
}

/// The width of text that is not for a terminal, in columns.
const WIDTH: u16 = 80;

/// The smallest width of text, in columns.
const NARROWEST: u16 = 40;

/// The largest width of text, in columns.
const WIDEST: u16 = 400;

const EXAMPLES: &str = "\
Examples:
  m3 show trajectories/predictions.json
  m3 show trajectories/predictions.json --id 00010000
  m3 show predictions.json --id 00050000 --repeat 2 --dialogue | less -R
  m3 show predictions.json --id 00050000 --format markdown > 00050000.md
  m3 show predictions.json --id 00050000 --format json | jq .turns

Long texts are shortened, saying by how much; --format json has everything that the file has.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people at a terminal
    Text,
    /// For a pull request or a report
    Markdown,
    /// As the file has it
    Json,
}

/// The most ids that a message names if no id, or an unknown one, was given.
const NAMED_IDS: usize = 5;

/// The longest id that is shown or compared, in characters.
const LONGEST_ID: usize = 100;

/// Shows one trajectory of a file, or lists them.
pub(super) fn run(args: &ShowArgs, printer: Printer) -> Result {
    let file = input::open_predicted(args.predictions.only_path(printer), printer)?;
    let all = entries(&file)?;
    if args.lists(&all) {
        return args.list(&file, &all, printer);
    }
    let trajectory = args.choose(&file, &all, printer)?;
    let mut output = Output::open(None, &[], printer)?;
    if args.format == FormatArg::Json {
        write_as_read(&trajectory.into_json(), &mut output)?;
        return output.commit();
    }
    let options = ShowOptions { images: args.images, dialogue: args.dialogue };
    let shown = ShownTrajectory::new(&trajectory, options, |image| size(image, args.predictions.as_path()));
    let (columns, is_styled) = (args.columns(), output.is_styled());
    match args.format {
        FormatArg::Markdown => shown.write_markdown(&mut output),
        _ => shown.write_text(&mut output, columns, is_styled),
    }?;
    output.commit()
}

/// Writes the whole trajectory, including values that standard JSON cannot express.
fn write_as_read(trajectory: &Json, output: &mut Output) -> std::io::Result<()> {
    use std::io::Write as _;
    match trajectory.to_value() {
        Some(value) => write_json(&value, output),
        None => writeln!(output, "{}", json_without_hidden(&trajectory.to_text(Keys::AsRead))),
    }
}

/// Width and height of an image that is beside the file or in the folder above it.
fn size(image: &str, predictions: &Path) -> Option<(u32, u32)> {
    let folders = image_folders(predictions);
    let path = locate(image, &folders)?;
    let facts = m3_images::facts(&path).ok()?;
    Some((facts.width, facts.height))
}

/// A trajectory of the file: its index, its id, its repetition.
struct Entry {
    index: usize,
    id: String,
    repeat: u64,
}

impl ShowArgs {
    /// Whether the trajectories are listed: there are several, and no option asks for a single one.
    fn lists(&self, all: &[Entry]) -> bool {
        let is_about_one = self.id.is_some() || self.repeat.is_some() || self.images || self.dialogue;
        let has_several = all.iter().any(|entry| Some(&entry.id) != all.first().map(|first| &first.id));
        has_several && !is_about_one && self.format != FormatArg::Json
    }

    fn list(&self, file: &TrajectoryFile, all: &[Entry], printer: Printer) -> Result {
        let listed = |entry: &Entry| -> Result<ListedTrajectory, SourceError> {
            Ok(ListedTrajectory::new(&*file.look_at(entry.index)?, entry.repeat))
        };
        let list = all.iter().map(listed).collect::<Result<Vec<_>, _>>()?;
        let mut output = Output::open(None, &[], printer)?;
        let (count, is_styled) = (counted(all.len(), "trajectory"), output.is_styled());
        match self.format {
            FormatArg::Markdown => {
                write_list_as_markdown(&format!("{count} of {}", file.name()), &list, &mut output)
            }
            _ => write_list(&list, self.columns(), is_styled, &mut output),
        }?;
        output.commit()?;
        printer.note(&format!("{count}; --id ID shows one"));
        Ok(())
    }

    fn columns(&self) -> usize {
        usize::from(self.width.or_else(Printer::columns).unwrap_or(WIDTH).clamp(NARROWEST, WIDEST))
    }

    fn choose(&self, file: &TrajectoryFile, all: &[Entry], printer: Printer) -> Result<Trajectory> {
        let mut ids: Vec<&str> = all.iter().map(|entry| entry.id.as_str()).collect();
        let mut seen = HashSet::new();
        ids.retain(|id| seen.insert(*id));
        let id = match (&self.id, ids.as_slice()) {
            (Some(id), _) => id.as_str(),
            (None, [id]) => id,
            (None, _) => {
                return Err(failed(
                    &format!("{} has {}", file.name(), counted(all.len(), "trajectory")),
                    &ids,
                ));
            }
        };
        let with_id: Vec<&Entry> = all.iter().filter(|entry| entry.id == id).collect();
        let Some(first) = with_id.first() else {
            let start = |id: &str| id.chars().take(LONGEST_ID).collect::<String>();
            let what = format!("{} has no trajectory `{}`", file.name(), shortened(id, LONGEST_ID));
            let known: Vec<String> = ids.iter().map(|id| start(id)).collect();
            let near = nearest(&start(id), &known.iter().map(String::as_str).collect::<Vec<_>>());
            let failure = || failed(&what, &ids);
            return Err(if near.is_empty() { failure() } else { Failure::input(what.clone() + &near) });
        };
        let Some(repeat) = self.repeat else {
            if with_id.len() > 1 {
                let id = shortened(id, LONGEST_ID);
                let count = with_id.len();
                printer.note(&format!("`{id}` stands {count} times; --repeat K shows another one"));
            }
            return Ok(file.read(first.index)?);
        };
        if let Some(found) = with_id.iter().find(|entry| entry.repeat == repeat) {
            return Ok(file.read(found.index)?);
        }
        let named = with_id.iter().take(NAMED_IDS).map(|entry| entry.repeat.to_string());
        let named = named.collect::<Vec<_>>().join(", ");
        let id = shortened(id, LONGEST_ID);
        Err(Failure::input(format!("`{id}` has no repetition {repeat}\nhint: it has {named}")))
    }
}

/// All trajectories of a file. Those that do not record their repetition are numbered.
fn entries(file: &TrajectoryFile) -> Result<Vec<Entry>> {
    let mut seen = HashMap::new();
    let mut entries = Vec::with_capacity(file.len());
    for index in 0..file.len() {
        let trajectory = file.read(index)?;
        let count: &mut u64 = seen.entry(trajectory.id.clone()).or_default();
        *count += 1;
        let repeat = trajectory.repeat().unwrap_or(*count);
        entries.push(Entry { index, id: trajectory.id, repeat });
    }
    Ok(entries)
}

/// A failure that names the first ids.
fn failed(what: &str, ids: &[&str]) -> Failure {
    let named = ids.iter().take(NAMED_IDS).map(|id| format!("`{}`", shortened(id, LONGEST_ID)));
    let more = if ids.len() > NAMED_IDS { ", .." } else { "" };
    let named = named.collect::<Vec<_>>().join(", ");
    Failure::input(format!("{what}\nhint: name one with --id: {named}{more}"))
}
