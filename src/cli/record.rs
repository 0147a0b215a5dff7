//! The command `m3 record`: makes the calls of trajectories and writes what they return.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use m3_outcomes::{ClassifiedCall, Outcome, ReplayedTrajectory, Verdict};
use m3_support::files::is_plain;
use m3_support::text::{counted, shortened};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Keys;

use super::Common;
use crate::cli::common::{
    Failure, Inputs, Output, PredictionsArg, Printer, ReplayArgs, Result, code, input, print_rows,
};
use crate::result_files::ResultFiles;

/// Options of `m3 record`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RecordArgs {
    /// References or predictions: JSON, JSON Lines, either in gzip or zstd; a trace of another program (docs/import.md); the
    /// folder of a run; `-` for standard input
    trajectories: PredictionsArg,
    /// Configuration of MCP servers: every trajectory gets fresh instances of those that it calls
    #[arg(long, value_name = "CONFIG")]
    servers: PathBuf,
    /// File of the trajectories with the results of their calls; `-` for standard output
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Leave pictures and other files in the results, as Base64 [default: files in the folder `results` beside the
    /// output]
    #[arg(long)]
    inline_pictures: bool,
    #[command(flatten)]
    replay: ReplayArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 record references.json --servers servers.json -o recorded.json
  m3 record references.json --servers servers.json --images images \\
      -o recorded/references.json
  m3 record predictions.json --servers servers.json -o - --inline-pictures

Makes the calls again, step by step, and writes the same trajectories with each call's `result`, `outcome`, and \
`is_error` where it failed. docs/record.md explains what is written.

Exits with 0 if every call was answered, also by an error, with 3 if some were not, with 4 if none was.";

/// The most failed calls that are named.
const NAMED: usize = 5;

/// The longest reason of a failure that is shown, in columns.
const REASON: usize = 120;

/// Makes the calls of trajectories and records what they return.
pub(super) fn run(args: &RecordArgs, common: &Common, printer: Printer) -> Result {
    let has_place = args.out != Path::new("-") && is_plain(&args.out);
    if !has_place && !args.inline_pictures {
        return Err(Failure::input(format!(
            "pictures are written beside the output, and `{}` is no place\nhint: name a file with `-o`, or \
             `--inline-pictures` leaves them in the results",
            args.out.display()
        )));
    }
    let path = args.trajectories.path(printer);
    let inputs = [path, &args.servers];
    let file = input::open_predicted(path, printer)?;
    let output = Output::open(Some(&args.out), &inputs, printer)?;
    let files = if args.inline_pictures { ResultFiles::inside() } else { ResultFiles::beside(&args.out) };
    let mut recording = Recording { output, has_any: false, files, counts: RecordCounts::default() };
    let inputs = Inputs { path, file: &file, tools: None, action: "recording" };
    args.replay.run(&args.servers, &inputs, &mut |found| recording.push(found), (common, printer))?;
    let (files, counts) = recording.finish()?;
    counts.say(&files, !has_place, printer)?;
    counts.check()
}

/// The trajectories with their results, as a list with one on each line.
struct Recording {
    output: Output,
    has_any: bool,
    files: ResultFiles,
    counts: RecordCounts,
}

impl Recording {
    fn push(&mut self, found: ReplayedTrajectory) -> Result {
        let ReplayedTrajectory { mut trajectory, calls, unavailable, .. } = found;
        self.counts.unavailable.extend(unavailable);
        self.files.take(&mut trajectory, None).map_err(Failure::unavailable)?;
        self.counts.add(&trajectory, &calls);
        let separator = if std::mem::replace(&mut self.has_any, true) { ",\n" } else { "[\n" };
        let text = trajectory.into_json().to_text(Keys::AsRead);
        write!(self.output, "{separator}{text}").map_err(Failure::from)
    }

    fn finish(mut self) -> Result<(ResultFiles, RecordCounts)> {
        let start = if self.has_any { "" } else { "[" };
        write!(self.output, "{start}\n]\n")?;
        self.output.commit()?;
        Ok((self.files, self.counts))
    }
}

/// The number of calls by their result.
#[derive(Debug, Default)]
struct RecordCounts {
    trajectories: usize,
    calls: usize,
    succeeded: usize,
    failed: usize,
    /// Calls that nobody could make: of unknown tools, or not calls of the protocol.
    not_made: usize,
    /// Calls without an answer, and those that failed because the trajectory's image was missing.
    unanswered: usize,
    /// Descriptions of the first calls without success.
    named: Vec<String>,
    /// Servers that could not be used, with the reason.
    unavailable: BTreeMap<String, String>,
}

impl RecordCounts {
    fn add(&mut self, trajectory: &Trajectory, classified: &[ClassifiedCall]) {
        self.trajectories += 1;
        let has_result: Vec<bool> = trajectory.calls().map(|(_, call)| call.result.is_some()).collect();
        let mut has_result = has_result.into_iter();
        // A call within the final reply is not a call of the trajectory.
        for call in classified.iter().filter(|call| call.place.is_some()) {
            let has_result = call.tool.is_some() && has_result.next().unwrap_or_default();
            self.calls += 1;
            match call.classification.verdict() {
                Verdict::Outcome(Outcome::Success) => {
                    self.succeeded += 1;
                    continue;
                }
                Verdict::Outcome(_) if has_result => self.failed += 1,
                Verdict::Outcome(_) => self.not_made += 1,
                Verdict::NotExecuted | Verdict::NotJudged(_) => self.unanswered += 1,
            }
            self.name(trajectory, call);
        }
    }

    fn name(&mut self, trajectory: &Trajectory, call: &ClassifiedCall) {
        let Some(place) = call.place.filter(|_| self.named.len() < NAMED) else { return };
        let tool = call.tool.as_deref().unwrap_or("(no name)");
        let verdict = call.classification.verdict().name().replace('_', " ");
        let evidence = match call.classification.evidence.as_str() {
            "" => String::new(),
            evidence => format!(" ({})", shortened(evidence, REASON)),
        };
        let (id, tool) = (shortened(&trajectory.id, 100), shortened(tool, 100));
        self.named.push(format!("`{id}` step {}: {tool}: {verdict}{evidence}", place.step + 1));
    }

    /// Prints what was recorded, on standard error if the trajectories are on standard output.
    fn say(&self, files: &ResultFiles, is_standard: bool, printer: Printer) -> Result {
        for (server, reason) in &self.unavailable {
            let (server, reason) = (shortened(server, 100), shortened(reason, 300));
            printer.warn(&format!("the server `{server}` is not available: {reason}"));
        }
        self.named.iter().for_each(|named| printer.warn(named));
        let others = self.calls - self.succeeded - self.named.len();
        if others > 0 {
            printer.warn(&format!("{} without success", counted(others, "more call")));
        }
        files.problem().iter().for_each(|problem| printer.warn(problem));
        let mut rows = vec![("trajectories", self.trajectories.to_string()), ("calls", self.in_words())];
        rows.extend(files.rows());
        if !is_standard {
            return print_rows(&rows, 0);
        }
        let rows: Vec<String> = rows.into_iter().map(|(label, value)| format!("{label}: {value}")).collect();
        printer.note(&rows.join("; "));
        Ok(())
    }

    fn in_words(&self) -> String {
        let counts = [
            (self.succeeded + self.failed, "recorded"),
            (self.failed, "of them failed"),
            (self.not_made, "not made"),
            (self.unanswered, "not answered"),
        ];
        let counts = counts.iter().filter(|(count, what)| *count > 0 || *what == "recorded");
        let counts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
        format!("{}: {}", self.calls, counts.join(", "))
    }

    /// Fails if calls were not answered.
    fn check(&self) -> Result {
        let code = match (self.unanswered, self.succeeded + self.failed) {
            (0, _) => return Ok(()),
            (_, 0) => code::UNAVAILABLE,
            _ => code::FAILED,
        };
        let calls = counted(self.calls, "call");
        let message = format!("{} of {calls} got no answer, and have no result", self.unanswered);
        Err(Failure::new(code, message))
    }
}
