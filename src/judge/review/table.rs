//! Reviews as a table: a line for each call, to be edited in a spreadsheet and read back by the same rules.
//!
//! Spreadsheets take a cell that begins with `=`, `+`, `-` or `@` (or a tab or a carriage return) for a formula. Such a
//! cell gets an apostrophe before it, and so does one that begins with an apostrophe; reading takes one apostrophe away.

use std::collections::HashMap;
use std::io;

use super::arrangement::{Arrangement, PlacedCall, Rules, arguments, change, normal, original, problems};
use super::decision::{Action, DecideError, Reviews, State};
use super::desk::summary;
use crate::text::{json_without_hidden, shortened};
use crate::trajectory::Call;
use crate::trajectory::json::Keys;

/// The columns. `call` counts the calls of the reference in the file of references from 1, whatever step they are in
/// now; `name` and `time` say who decided and when, and `version` how many decisions there had been.
pub const COLUMNS: [&str; 10] =
    ["id", "step", "call", "tool", "arguments", "decision", "note", "name", "time", "version"];

/// Something wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct LineProblem {
    /// The line of the file, from 1; the heads are line 1.
    pub line: u64,
    /// What is wrong.
    pub message: String,
}

/// What a table asks for.
#[derive(Debug, Default)]
pub struct Changes {
    /// By the reference's index and the number of decisions that the table knew: what is to be decided, in order.
    list: Vec<Change>,
}

#[derive(Debug)]
struct Change {
    line: u64,
    index: usize,
    base: u64,
    actions: Vec<Action>,
}

/// Writes all references.
///
/// # Errors
/// The writer's reason.
pub fn write_table(reviews: &Reviews, writer: impl io::Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(writer);
    table.write_record(COLUMNS)?;
    for (index, reference) in reviews.references().iter().enumerate() {
        let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
        let before = original(reference);
        let arrangement = reviews.arrangement(index).unwrap_or(&before);
        let last = reviews.last(index);
        let decided = [
            reviews.state(index).name().to_owned(),
            last.map(|last| last.action.note().to_owned()).unwrap_or_default(),
            last.map(|last| last.name.clone()).unwrap_or_default(),
            last.map(|last| last.time.clone()).unwrap_or_default(),
            reviews.version(index).to_string(),
        ];
        let mut row = |place: [String; 4]| {
            let texts = std::iter::once(&reference.id).chain(&place).chain(&decided);
            table.write_record(texts.map(|text| guarded(text)))
        };
        for (step, placed) in arrangement
            .iter()
            .zip(1..)
            .flat_map(|(calls, step)| calls.iter().map(move |placed| (step, placed)))
        {
            let Some(call) = calls.get(placed.call) else { continue };
            let arguments =
                arguments(call, placed).map(|found| found.to_text(Keys::AsRead)).unwrap_or_default();
            let arguments = json_without_hidden(&arguments).into_owned();
            let step: i32 = step;
            row([step.to_string(), (placed.call + 1).to_string(), call.tool.clone(), arguments])?;
        }
        if arrangement.iter().all(Vec::is_empty) {
            row([const { String::new() }; 4])?;
        }
    }
    table.flush()
}

/// A cell that no spreadsheet takes for a formula.
fn guarded(cell: &str) -> String {
    if cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\'']) {
        format!("'{cell}")
    } else {
        cell.to_owned()
    }
}

/// What was guarded.
fn unguarded(cell: &str) -> &str {
    cell.strip_prefix('\'').unwrap_or(cell)
}

/// The lines of one reference.
struct Group {
    line: u64,
    index: usize,
    steps: Vec<(u64, PlacedCall)>,
    /// The line of each call.
    lines: HashMap<usize, u64>,
    decision: String,
    note: String,
    version: Option<u64>,
}

/// Reads a table and checks everything in it, before anything is decided.
///
/// # Errors
/// Every problem, with its line.
pub fn read_table(
    reviews: &Reviews,
    rules: &Rules,
    reader: impl io::Read,
) -> Result<Changes, Vec<LineProblem>> {
    let mut wrong = Vec::new();
    let groups = groups(reviews, reader, &mut wrong);
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

/// Gathers the lines of each reference, in the order of its first one.
fn groups(reviews: &Reviews, reader: impl io::Read, wrong: &mut Vec<LineProblem>) -> Vec<Group> {
    let mut table = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
    let mut groups: Vec<Group> = Vec::new();
    let mut known: HashMap<usize, usize> = HashMap::new();
    let heads = match table.headers() {
        Ok(heads) => heads.clone(),
        Err(error) => {
            wrong.push(LineProblem { line: 1, message: shortened(&error.to_string(), 200) });
            return groups;
        }
    };
    let column =
        |name: &str| heads.iter().position(|head| head.trim_start_matches('\u{feff}').trim() == name);
    let columns: HashMap<&str, usize> =
        COLUMNS.iter().filter_map(|name| Some((*name, column(name)?))).collect();
    if let Some(missing) =
        ["id", "step", "call", "arguments", "decision"].iter().find(|name| !columns.contains_key(*name))
    {
        wrong.push(LineProblem { line: 1, message: format!("there is no column `{missing}`") });
        return groups;
    }
    for record in table.records() {
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                wrong.push(LineProblem { line, message: shortened(&error.to_string(), 200) });
                continue;
            }
        };
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |name: &str| columns.get(name).and_then(|index| record.get(*index)).map_or("", unguarded);
        let mut problem = |message: String| wrong.push(LineProblem { line, message });
        let Some(index) = reviews.find(cell("id")) else {
            problem(format!("there is no reference `{}`", shortened(cell("id"), 60)));
            continue;
        };
        let (decision, note) = (cell("decision").trim().to_lowercase(), cell("note").trim().to_owned());
        let version = match cell("version").trim() {
            "" => None,
            text => {
                let Ok(version) = text.parse() else {
                    problem(format!("the version `{}` is no number", shortened(text, 20)));
                    continue;
                };
                Some(version)
            }
        };
        let at = *known.entry(index).or_insert_with(|| {
            let (steps, lines) = (Vec::new(), HashMap::new());
            groups.push(Group {
                line,
                index,
                steps,
                lines,
                decision: decision.clone(),
                note: note.clone(),
                version,
            });
            groups.len() - 1
        });
        let group = &mut groups[at];
        if group.decision != decision {
            problem(format!(
                "the decision is `{}`, and `{}` in line {}",
                shortened(&decision, 20),
                shortened(&group.decision, 20),
                group.line
            ));
        }
        if group.note.is_empty() {
            group.note = note;
        }
        if cell("step").trim().is_empty() && cell("call").trim().is_empty() {
            continue;
        }
        match (cell("step").trim().parse(), cell("call").trim().parse::<usize>()) {
            (Ok(step), Ok(number)) if number > 0 => {
                group.lines.insert(number - 1, line);
                let text = cell("arguments");
                let arguments = (!text.trim().is_empty()).then(|| text.to_owned());
                group.steps.push((step, PlacedCall { call: number - 1, arguments }));
            }
            _ => problem("step and call are numbers from 1".to_owned()),
        }
    }
    groups
}

impl Group {
    /// What has to be decided so that the reference stands as the table says.
    fn actions(&self, reviews: &Reviews, rules: &Rules) -> Result<Vec<Action>, Vec<LineProblem>> {
        let reference = &reviews.references()[self.index];
        let at = |line: u64, message: String| vec![LineProblem { line, message }];
        let before = reviews.arrangement(self.index).cloned().unwrap_or_else(|| original(reference));
        let told = |found: Vec<super::arrangement::EditProblem>| -> Vec<LineProblem> {
            let line = |call: Option<usize>| call.and_then(|call| self.lines.get(&call)).copied();
            let problem = |problem: super::arrangement::EditProblem| LineProblem {
                line: line(problem.call).unwrap_or(self.line),
                message: summary(&[problem]),
            };
            found.into_iter().map(problem).collect()
        };
        let mut steps = self.steps.clone();
        steps.sort_by_key(|(step, _)| *step);
        let mut arrangement = Arrangement::new();
        let mut last = None;
        for (step, placed) in steps {
            if last != Some(step) {
                arrangement.push(Vec::new());
                last = Some(step);
            }
            if let Some(step) = arrangement.last_mut() {
                step.push(placed);
            }
        }
        let is_empty = arrangement.is_empty() && before.iter().all(Vec::is_empty);
        let arrangement =
            if is_empty { before.clone() } else { normal(reference, arrangement).map_err(told)? };
        let is_edited = arrangement != before;
        let state = reviews.state(self.index);
        let mut actions = Vec::new();
        if is_edited {
            let found = problems(reference, &arrangement, rules);
            if !found.is_empty() {
                return Err(told(found));
            }
            let change = change(reference, &before, &arrangement);
            let note = if self.decision == "edited" { self.note.clone() } else { String::new() };
            actions.push(Action::Edit { steps: arrangement, change, note });
        }
        match self.decision.as_str() {
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
    /// How many references they are about.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// True where the table says what is known already.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Decides them in the name of a person. References that somebody else has decided on since the table was written are
    /// left as they are, and told.
    ///
    /// # Errors
    /// What cannot be written or is not complete; what came before it has been decided.
    pub fn decide(self, reviews: &mut Reviews, name: &str) -> Result<Vec<LineProblem>, DecideError> {
        let mut late = Vec::new();
        for Change { line, index, mut base, actions } in self.list {
            for action in actions {
                match reviews.decide(index, base, name, action) {
                    Ok(()) => base += 1,
                    Err(error @ DecideError::Conflict { .. }) => {
                        late.push(LineProblem { line, message: error.to_string() });
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(late)
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
