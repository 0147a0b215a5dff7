//! The tools that files call: names that differ between predictions and references, tools whose calls do not count, and
//! other facts that are collected while files are read.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use m3_report::ToolNamesReport;
use m3_score::{RoleRule, RoleRules};
use m3_support::text::{counted, shortened};
use m3_trajectory::tool_names::{NameMapping, RecognizedNames, Vocabulary, read_names, recognize};
use m3_trajectory::{Trajectory, TrajectoryFile};

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::printer::Printer;

/// How the names of the predictions' tools are read.
#[derive(Debug, Clone)]
pub(crate) enum ToolNamesArg {
    Off,
    Auto,
    File(PathBuf),
}

impl From<OsString> for ToolNamesArg {
    fn from(text: OsString) -> Self {
        match text.to_str() {
            Some("off") => Self::Off,
            Some("auto") => Self::Auto,
            _ => Self::File(text.into()),
        }
    }
}

/// The most names that are listed one by one.
const LISTED: usize = 20;

impl ToolNamesArg {
    /// The file of names, if there is one.
    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Off | Self::Auto => None,
        }
    }

    /// Renames the tools of `predictions` and reports it; `predicted` has the tools that they call.
    pub(crate) fn apply<'a>(
        &self,
        predictions: impl Iterator<Item = &'a mut TrajectoryFile>,
        predicted: &Vocabulary,
        [references, catalog]: [&Vocabulary; 2],
        printer: Printer,
    ) -> Result<ToolNamesReport> {
        let (mode, RecognizedNames { mapping, ambiguous }) = match self {
            Self::Off => {
                // Names in the catalog alone are not matched with anything.
                let recognized = recognize(predicted, references, &Vocabulary::default());
                warn_of_writing(&recognized, predicted, printer);
                ("off", RecognizedNames::default())
            }
            Self::Auto => ("auto", recognize(predicted, references, catalog)),
            Self::File(path) => {
                let names = read_names(path).map_err(Failure::input)?;
                let mapping = used(names, predicted, [references, catalog], path, printer);
                ("file", RecognizedNames { mapping, ..RecognizedNames::default() })
            }
        };
        let report = ToolNamesReport { mode: mode.to_owned(), mapping, ambiguous };
        predictions.for_each(|file| file.rename_tools(report.mapping.clone()));
        say(&report, printer);
        Ok(report)
    }
}

/// Reports what was renamed.
fn say(report: &ToolNamesReport, printer: Printer) {
    let renamed = report.mapping.len();
    if renamed > 0 {
        let more = renamed.saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("and {more} more, which `--format json` lists"));
        let lines: Vec<String> = report.pairs().take(LISTED).chain(more).collect();
        let names = counted(renamed, "tool name");
        printer
            .note(&format!("{names} of the predictions read as the references':\n  {}", lines.join("\n  ")));
    }
    say_open(report, printer);
}

/// Warns of names whose meaning is unclear, each with its candidates.
pub(crate) fn warn_of_open(ambiguous: BTreeMap<String, Vec<String>>, printer: Printer) {
    say_open(&ToolNamesReport { mode: "auto".to_owned(), mapping: NameMapping::new(), ambiguous }, printer);
}

fn say_open(report: &ToolNamesReport, printer: Printer) {
    let open = report.ambiguous.len();
    if open == 0 {
        return;
    }
    let questions = report.questions().take(LISTED).collect::<Vec<_>>().join("; ");
    let more = if open > LISTED { format!("; and {} more", open - LISTED) } else { String::new() };
    printer.warn(&format!(
        "{} of the predictions not mapped: {questions}{more}\n\
         hint: `--tool-names FILE` takes a JSON object that says what they are: {{\"crop\": \"image/crop\"}}",
        counted(open, "tool name")
    ));
}

/// Warns of names that remain unmatched only because of their spelling.
fn warn_of_writing(found: &RecognizedNames, predicted: &Vocabulary, printer: Printer) {
    // A name that shares its only candidate with a name in use is the model's mistake.
    let open = found.ambiguous.iter().filter(|(_, candidates)| candidates.len() > 1);
    let open: Vec<(&String, &Vec<String>)> = open.collect();
    let first = found.mapping.iter().next();
    let first = first.or_else(|| open.first().and_then(|(from, to)| Some((*from, to.first()?))));
    let Some((from, to)) = first else { return };
    let names = found.mapping.keys().chain(open.iter().map(|(name, _)| *name));
    let (tools, calls) = (found.mapping.len() + open.len(), predicted.calls_of(names));
    printer.warn(&format!(
        "{} of {} match nothing, as the references write the tool differently: `{}` may be `{}`\n\
         hint: `--tool-names auto` reads such names as the references'",
        counted(calls, "predicted call"),
        counted(tools, "tool"),
        shortened(from, 60),
        shortened(to, 60)
    ));
}

/// The names of a file that predictions use; warns of those without effect.
fn used(
    names: NameMapping,
    predicted: &Vocabulary,
    [references, catalog]: [&Vocabulary; 2],
    path: &Path,
    printer: Printer,
) -> NameMapping {
    let path = path.display();
    let warn = |what: &str, wrong: Vec<&String>| {
        if let Some(first) = wrong.first() {
            let first = shortened(first, 60);
            printer.warn(&format!("`{path}`: {} {what}, such as `{first}`", counted(wrong.len(), "name")));
        }
    };
    warn("that no prediction calls", names.keys().filter(|from| !predicted.has(from)).collect());
    let is_unknown = |to: &&String| !references.has(to) && !catalog.has(to);
    warn("that no reference has", names.values().filter(is_unknown).collect());
    names.into_iter().filter(|(from, _)| predicted.has(from)).collect()
}

/// The most patterns that a warning names.
const NAMED: usize = 3;

/// The longest pattern in a warning, in columns.
const PATTERN: usize = 60;

/// Tools whose calls do not count.
#[derive(Debug, Default)]
pub(crate) struct IgnoredTools {
    /// The names of these tools as they are scored.
    pub(crate) tools: HashSet<String>,
    /// The names of these tools as they are scored, and as the files write them.
    pub(crate) names: BTreeSet<String>,
    /// The number of calls of these tools.
    pub(crate) calls: u64,
}

impl IgnoredTools {
    /// Finds the ignored tools of predictions (names mapped by `names`) and references; warns of unused patterns.
    pub(crate) fn new(
        roles: &RoleRules,
        [predicted, references]: [&Vocabulary; 2],
        names: &ToolNamesReport,
        printer: Printer,
    ) -> Self {
        let scored = |name: &String| names.mapping.get(name).unwrap_or(name).clone();
        let is_ignored = |name: &str| roles.of_tool(name) == Some(RoleRule::Ignored);
        let of_predictions: Vec<&String> =
            predicted.names().filter(|name| is_ignored(&scored(name))).collect();
        let of_references: Vec<&String> = references.names().filter(|name| is_ignored(name)).collect();
        let calls = predicted.calls_of(of_predictions.iter().copied())
            + references.calls_of(of_references.iter().copied());
        let known: Vec<String> = predicted.names().map(scored).chain(references.names().cloned()).collect();
        warn_of_unused(roles, &known.iter().map(String::as_str).collect::<Vec<_>>(), printer);
        let tools = of_predictions.iter().copied().map(scored).chain(of_references.into_iter().cloned());
        let tools: HashSet<String> = tools.collect();
        let names = tools.iter().chain(of_predictions).cloned().collect();
        Self { tools, names, calls }
    }
}

fn warn_of_unused(roles: &RoleRules, tools: &[&str], printer: Printer) {
    let unused: Vec<&str> = roles.unused(tools).collect();
    if unused.is_empty() {
        return;
    }
    let fits = if unused.len() == 1 { "fits" } else { "fit" };
    let named: Vec<String> =
        unused.iter().take(NAMED).map(|pattern| format!("`{}`", shortened(pattern, PATTERN))).collect();
    let more = if unused.len() > NAMED { ", .." } else { "" };
    printer.warn(&format!(
        "`--roles`: {} {fits} no tool that is called: {}{more}",
        counted(unused.len(), "name"),
        named.join(", ")
    ));
}

/// Facts about one file.
#[derive(Debug, Default)]
pub(crate) struct FileFacts {
    pub(crate) tools: Vocabulary,
    trajectories: usize,
    /// The number of predictions of `m3 run`.
    predictions: usize,
    /// The number of references of `m3 judge` or `m3 review`.
    references: usize,
    /// The number of predictions of a model that was shown no images.
    blind: usize,
}

impl FileFacts {
    pub(crate) fn learn(&mut self, trajectory: &Trajectory) {
        self.tools.learn(trajectory);
        self.trajectories += 1;
        self.predictions += usize::from(trajectory.is_prediction());
        self.references += usize::from(trajectory.is_reference());
        self.blind += usize::from(trajectory.run().is_some_and(|run| run.no_images));
    }

    /// Whether every prediction records that its model was shown no images (`m3 run --no-images`).
    pub(crate) fn are_blind(&self) -> bool {
        self.blind > 0 && self.blind == self.trajectories
    }
}

/// Fails if both files record that their order is wrong, and warns if only one of them does.
pub(crate) fn check_order(
    files: [&TrajectoryFile; 2],
    [predictions, references]: [&FileFacts; 2],
    printer: Printer,
) -> Result {
    const HINT: &str = "hint: predictions come first, references second";
    let [predicted, expected] = files.map(TrajectoryFile::name);
    let are_references = predictions.references > 0 && references.references == 0;
    let are_predictions = references.predictions > 0;
    let are_all = predictions.references == predictions.trajectories
        && references.predictions == references.trajectories;
    if are_references && are_predictions && are_all {
        return Err(Failure::input(format!(
            "the files are in the wrong order: `{expected}` holds predictions of `m3 run`, and `{predicted}` references \
             of `m3 judge` or `m3 review`\n{HINT}"
        )));
    }
    if are_predictions {
        let (count, all) = (references.predictions, references.trajectories);
        printer.warn(&format!(
            "{count} of {all} trajectories in `{expected}` are predictions of `m3 run`, and are taken as references\n{HINT}"
        ));
    }
    if are_references {
        let (count, all) = (predictions.references, predictions.trajectories);
        printer.warn(&format!(
            "{count} of {all} trajectories in `{predicted}` are references of `m3 judge` or `m3 review`, and are scored as \
             predictions\n{HINT}"
        ));
    }
    Ok(())
}
