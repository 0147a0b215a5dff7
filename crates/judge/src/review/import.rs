//! Reads a table of reviews back: decisions and edits from a spreadsheet, by the rules of the page.

use std::collections::{BTreeMap, HashMap};
use std::io;

use m3_support::text::shortened;

use super::arrangement::{Arrangement, EditProblem, PlacedCall, Revision, Rules, change, normal, summary};
use super::checks::{SAYS_NOTHING, says_nothing};
use super::decision::{Action, DecideError, State};
use super::links::problems;
use super::reviews::Reviews;
use super::table::{COLUMNS, unguarded};
use crate::spreadsheet;

/// A problem in a line of a table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LineProblem {
    /// The line of the file, from 1; line 1 has the headings.
    pub line: u64,
    /// The problem in words.
    pub message: String,
}

/// The decisions in a table.
#[derive(Debug, Default)]
pub struct Changes {
    /// For each reference, by its index, the number of decisions that the table knew and the new ones in order.
    list: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    line: u64,
    index: usize,
    base: u64,
    actions: Vec<Action>,
}

/// The lines of one reference.
struct Group {
    line: u64,
    index: usize,
    calls: Vec<CallLine>,
    decision: String,
    note: String,
    version: Option<u64>,
}

/// A line with a call.
struct CallLine {
    line: u64,
    step: u64,
    /// The number of the call, from 0; `None` for a new call without a number.
    call: Option<usize>,
    /// The tool of a call that is not in the file of references.
    tool: Option<String>,
    arguments: Option<String>,
}

/// Reads a table and checks everything in it, before anything is decided.
///
/// # Errors
/// Every problem, with its line.
pub fn read_table(
    reviews: &Reviews,
    rules: &Rules,
    mut reader: impl io::Read,
) -> Result<Changes, Vec<LineProblem>> {
    let at = |line: u64, message: String| vec![LineProblem { line, message }];
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).map_err(|cause| at(1, cause.to_string()))?;
    let text = spreadsheet::decoded(&bytes).map_err(|message| at(1, message.to_owned()))?;
    let mut wrong = Vec::new();
    let groups = groups(reviews, &text, &mut wrong);
    let mut changes = Changes::default();
    for group in groups {
        match group.actions(reviews, rules) {
            Ok(actions) if actions.is_empty() => {}
            Ok(actions) => {
                let base = group.version.unwrap_or_else(|| reviews.version(group.index));
                changes.list.push(Change { line: group.line, index: group.index, base, actions });
            }
            Err(found) => wrong.extend(found),
        }
    }
    wrong.sort_by_key(|problem| problem.line);
    if wrong.is_empty() { Ok(changes) } else { Err(wrong) }
}

/// A line of the table, by columns.
struct Row<'a> {
    columns: &'a HashMap<&'static str, usize>,
    record: csv::StringRecord,
    line: u64,
}

impl Row<'_> {
    fn cell(&self, name: &str) -> &str {
        self.columns.get(name).and_then(|index| self.record.get(*index)).map_or("", unguarded)
    }
}

/// Groups the lines by reference, in the order of their first lines.
fn groups(reviews: &Reviews, text: &str, wrong: &mut Vec<LineProblem>) -> Vec<Group> {
    let mut table = csv::ReaderBuilder::new()
        .flexible(true)
        .delimiter(spreadsheet::delimiter(text))
        .from_reader(text.as_bytes());
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    let heads = table.headers().map_err(|error| shortened(&error.to_string(), 200));
    let columns = match heads.and_then(columns) {
        Ok(columns) => columns,
        Err(message) => {
            wrong.push(LineProblem { line: 1, message });
            return groups;
        }
    };
    let names = Names::of(reviews);
    let mut lines = spreadsheet::Lines::of(text);
    for record in table.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, |position| lines.at(position.byte()));
                wrong.push(LineProblem { line, message: shortened(&error.to_string(), 200) });
                continue;
            }
        };
        let line = record.position().map_or(0, |position| lines.at(position.byte()));
        let row = Row { columns: &columns, record, line };
        if let Err(message) = take(&row, reviews, &names, (&mut groups, &mut known)) {
            wrong.push(LineProblem { line, message });
        }
    }
    groups
}

/// The position of each column.
fn columns(heads: &csv::StringRecord) -> Result<HashMap<&'static str, usize>, String> {
    let column = |name: &str| heads.iter().position(|head| head.trim() == name);
    let columns: HashMap<&str, usize> =
        COLUMNS.iter().filter_map(|name| Some((*name, column(name)?))).collect();
    match ["id", "step", "call", "arguments", "decision"].iter().find(|name| !columns.contains_key(*name)) {
        None => Ok(columns),
        Some(missing) => Err(format!(
            "there is no column `{missing}`: the first line has the names that `--export` writes, between commas, \
             semicolons or tabs"
        )),
    }
}

/// Adds a line to the group of its reference.
fn take(
    row: &Row<'_>,
    reviews: &Reviews,
    names: &Names<'_>,
    (groups, known): (&mut Vec<Group>, &mut HashMap<usize, usize>),
) -> Result<(), String> {
    let index = names.find(reviews, row.cell("reference").trim(), row.cell("id"))?;
    let (decision, note) = (row.cell("decision").trim().to_lowercase(), row.cell("note").trim().to_owned());
    let version = Some(row.cell("version").trim()).filter(|text| !text.is_empty());
    let no_number = |text: &str| format!("the version `{}` is no number", shortened(text, 20));
    let version = version.map(|text| text.parse().map_err(|_| no_number(text))).transpose()?;
    let at = *known.entry(index).or_insert(groups.len());
    if at == groups.len() {
        let (decision, note) = (decision.clone(), note.clone());
        groups.push(Group { line: row.line, index, calls: Vec::new(), decision, note, version });
    }
    let group = &mut groups[at];
    let differs = (group.decision != decision).then(|| {
        format!(
            "the decision is `{}`, and `{}` in line {}",
            shortened(&decision, 20),
            shortened(&group.decision, 20),
            group.line
        )
    });
    if group.note.is_empty() {
        group.note = note;
    }
    group.calls.extend(call_line(row, reviews.references()[index].call_count())?);
    differs.map_or(Ok(()), Err)
}

/// The call in a line; `None` if the line has none. `of_file` is the number of calls of the reference.
fn call_line(row: &Row<'_>, of_file: usize) -> Result<Option<CallLine>, String> {
    const WRONG: &str =
        "step and call are numbers from 1; a call without a number is a new one, and needs a tool";
    let (step, call, tool) = (row.cell("step").trim(), row.cell("call").trim(), row.cell("tool").trim());
    if step.is_empty() && call.is_empty() && tool.is_empty() {
        return Ok(None);
    }
    let call = match (call, tool) {
        ("", "") => return Err(WRONG.to_owned()),
        ("", _) => None,
        (call, _) => Some(call.parse::<usize>().ok().and_then(|call| call.checked_sub(1)).ok_or(WRONG)?),
    };
    let step = step.parse().map_err(|_| WRONG)?;
    let is_of_file = call.is_some_and(|call| call < of_file);
    let tool = (!is_of_file && !tool.is_empty()).then(|| tool.to_owned());
    let text = row.cell("arguments");
    let arguments = (!text.trim().is_empty()).then(|| text.to_owned());
    Ok(Some(CallLine { line: row.line, step, call, tool, arguments }))
}

/// Finds the reference that a line names.
struct Names<'a> {
    keys: HashMap<String, usize>,
    /// References by their numeric ids without leading zeros; `None` if several ids become the same.
    numbers: HashMap<&'a str, Option<usize>>,
}

impl<'a> Names<'a> {
    fn of(reviews: &'a Reviews) -> Self {
        let mut numbers = HashMap::new();
        for (index, reference) in reviews.references().iter().enumerate() {
            if let Some(number) = number(&reference.id) {
                numbers.entry(number).and_modify(|known| *known = None).or_insert(Some(index));
            }
        }
        let keys = (0..reviews.references().len()).map(|index| (reviews.key(index), index));
        Self { keys: keys.collect(), numbers }
    }

    /// Finds a reference by its content first, then by its id; a spreadsheet may have removed leading zeros.
    fn find(&self, reviews: &Reviews, key: &str, id: &str) -> Result<usize, String> {
        let by_id = reviews.find(id);
        let shown = shortened(id, 60);
        match (self.keys.get(key), by_id) {
            (Some(index), None) => Ok(*index),
            (Some(index), Some(other)) if *index == other => Ok(other),
            (Some(index), Some(_)) => {
                let of = shortened(&reviews.references()[*index].id, 60);
                Err(format!("the id is `{shown}`, and `reference` is that of `{of}`"))
            }
            (None, _) if !key.is_empty() => {
                Err(format!("the reference `{shown}` was changed since the table was written"))
            }
            (None, Some(index)) => Ok(index),
            (None, None) => number(id)
                .and_then(|number| self.numbers.get(number).copied().flatten())
                .ok_or_else(|| format!("there is no reference `{shown}`")),
        }
    }
}

/// The digits of a number without leading zeros.
fn number(id: &str) -> Option<&str> {
    let is_number = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| id.trim_start_matches('0'))
}

impl Group {
    /// The calls by steps, and the line of each call. New calls are numbered after all others, in the order of their
    /// lines, so that the same table means the same when it is read again.
    fn arrangement(&self, of_file: usize) -> (Arrangement, HashMap<usize, u64>) {
        let known = self.calls.iter().filter_map(|line| line.call);
        let mut next = known.map(|call| call.saturating_add(1)).max().unwrap_or_default().max(of_file);
        let mut lines = HashMap::new();
        let mut steps: BTreeMap<u64, Vec<PlacedCall>> = BTreeMap::new();
        for CallLine { line, step, call, tool, arguments } in &self.calls {
            let call = call.unwrap_or(next);
            next = next.saturating_add(usize::from(call == next));
            lines.insert(call, *line);
            let (tool, arguments) = (tool.clone(), arguments.clone());
            steps.entry(*step).or_default().push(PlacedCall { call, tool, arguments });
        }
        (steps.into_values().collect(), lines)
    }

    /// The reference as the table has it; equal to `before` if the table changes nothing.
    fn revision(
        &self,
        reviews: &Reviews,
        rules: &Rules,
        before: &Revision,
    ) -> Result<Revision, Vec<LineProblem>> {
        let reference = &reviews.references()[self.index];
        let (steps, lines) = self.arrangement(reference.call_count());
        if steps.is_empty() && before.steps.iter().all(Vec::is_empty) {
            return Ok(before.clone());
        }
        let line_problems = |found: Vec<EditProblem>| -> Vec<LineProblem> {
            let line = |call: Option<usize>| call.and_then(|call| lines.get(&call)).copied();
            let problem = |problem: EditProblem| LineProblem {
                line: line(problem.call).unwrap_or(self.line),
                message: summary(&[problem]),
            };
            found.into_iter().map(problem).collect()
        };
        // A table has no answers, so the present answer stays.
        let revision =
            normal(reference, Revision { steps, reply: before.reply.clone() }).map_err(line_problems)?;
        if revision == *before {
            return Ok(revision);
        }
        let edit_problems = problems(reviews.subject(self.index), &revision.steps, rules);
        if edit_problems.is_empty() { Ok(revision) } else { Err(line_problems(edit_problems)) }
    }

    /// The decisions that bring the reference into the state of the table.
    fn actions(&self, reviews: &Reviews, rules: &Rules) -> Result<Vec<Action>, Vec<LineProblem>> {
        let reference = &reviews.references()[self.index];
        let at = |line: u64, message: String| vec![LineProblem { line, message }];
        let before = reviews.current(self.index);
        let revision = self.revision(reviews, rules, &before)?;
        let is_edited = revision != before;
        let is_nothing = says_nothing(reference, &revision);
        let state = reviews.state(self.index);
        let mut actions = Vec::new();
        if is_edited {
            let change = change(reference, &before, &revision);
            let note = if self.decision == "edited" { self.note.clone() } else { String::new() };
            actions.push(Action::Edit { revision, change, note });
        }
        match self.decision.as_str() {
            "accepted" | "accept" if is_nothing => {
                return Err(at(self.line, SAYS_NOTHING.to_owned()));
            }
            "accepted" | "accept" if is_edited || state != State::Accepted => {
                actions.push(Action::Accept { note: self.note.clone() });
            }
            "rejected" | "reject" if self.note.is_empty() => {
                return Err(at(self.line, "a rejection needs a note that says why".to_owned()));
            }
            "rejected" | "reject" if is_edited || state != State::Rejected => {
                actions.push(Action::Reject { note: self.note.clone() });
            }
            "accepted" | "accept" | "rejected" | "reject" | "edited" | "open" | "" => {}
            other => {
                let message = format!(
                    "the decision `{}` is none of open, accepted, edited, rejected",
                    shortened(other, 20)
                );
                return Err(at(self.line, message));
            }
        }
        Ok(actions)
    }
}

impl Changes {
    /// The number of references with changes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True if the table has no changes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Makes the decisions in the name of a person. References on which somebody else has decided since the table was
    /// written are left unchanged and returned.
    ///
    /// # Errors
    /// A decision cannot be written or is incomplete; the decisions before it have been made.
    pub fn decide(self, reviews: &mut Reviews, name: &str) -> Result<Vec<LineProblem>, DecideError> {
        let mut late = Vec::new();
        for Change { line, index, base, actions } in self.list {
            match reviews.decide_all(index, base, name, actions) {
                Ok(()) => {}
                Err(error @ (DecideError::Conflict { .. } | DecideError::Unseen { .. })) => {
                    late.push(LineProblem { line, message: error.to_string() });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(late)
    }
}
