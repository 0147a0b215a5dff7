//! `--roles`: tools whose calls do not count, and a warning of patterns that fit no called tool.

use std::collections::{BTreeSet, HashSet};

use m3_report::ToolNamesReport;
use m3_score::{RoleRule, RoleRules};
use m3_support::text::{counted, shortened};
use m3_trajectory::tool_names::Vocabulary;

use crate::cli::common::printer::Printer;

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
