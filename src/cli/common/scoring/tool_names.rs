//! `--tool-names`: tools whose names differ between predictions and references.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use m3_report::ToolNamesReport;
use m3_support::text::{counted, shortened};
use m3_trajectory::TrajectoryFile;
use m3_trajectory::tool_names::{NameMapping, RecognizedNames, Vocabulary, read_names, recognize};

use crate::cli::common::failure::{Failure, code};
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

/// The names that predictions' names may stand for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KnownNames<'a> {
    pub(crate) references: &'a Vocabulary,
    /// The names of the catalog of `--tools`.
    pub(crate) catalog: &'a Vocabulary,
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
        known: KnownNames<'_>,
        printer: Printer,
    ) -> Result<ToolNamesReport, Failure> {
        let (mode, RecognizedNames { mapping, ambiguous }) = match self {
            Self::Off => {
                // Names in the catalog alone are not matched with anything.
                let recognized = recognize(predicted, known.references, &Vocabulary::default());
                warn_of_writing(&recognized, predicted, printer);
                ("off", RecognizedNames::default())
            }
            Self::Auto => ("auto", recognize(predicted, known.references, known.catalog)),
            Self::File(path) => {
                let names = read_names(path).map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
                let mapping = used(names, predicted, known, path, printer);
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
    known: KnownNames<'_>,
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
    let is_unknown = |to: &&String| !known.references.has(to) && !known.catalog.has(to);
    warn("that no reference has", names.values().filter(is_unknown).collect());
    names.into_iter().filter(|(from, _)| predicted.has(from)).collect()
}
