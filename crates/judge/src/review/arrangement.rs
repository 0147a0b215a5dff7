//! A reference after edits: its calls in other steps, with other arguments, without some of them or with new ones, and
//! its answer.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

use m3_mcp::ToolCatalog;
use m3_mcp::arguments::ArgumentSchema;
use m3_support::text::{head, shortened};
use m3_trajectory::catalog::ToolLookup;
use m3_trajectory::json::{self, Json, Keys};
use m3_trajectory::{Call, Step, Trajectory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps of calls.
pub type Arrangement = Vec<Vec<PlacedCall>>;

/// The parts of a reference that edits may change, after the edits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Revision {
    /// All steps with all calls that are left or were added.
    pub steps: Arrangement,
    /// The new answer, empty if it was removed; absent if the answer of the file stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
}

/// A call of the reference or an added one, with its present arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedCall {
    /// The number of the call, from 0 through all steps of the reference in the file. Higher numbers are those of added
    /// calls.
    pub call: usize,
    /// The tool of a call that was added; absent for a call of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The new arguments as JSON text, so that the order of keys and long numbers stay as they were written; absent if
    /// the arguments of the file stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

impl PlacedCall {
    /// The call after its edits. A result belongs to its arguments: with changed arguments, a call has no result and
    /// nothing else that was recorded about it. `None` if the call is neither in `calls`, those of the file, nor an
    /// added one.
    #[must_use]
    pub fn as_it_stands<'a>(&self, calls: &[&'a Call]) -> Option<Cow<'a, Call>> {
        let of_file = calls.get(self.call).copied();
        let tool = of_file.map(|call| &call.tool).or(self.tool.as_ref())?;
        let Some(text) = &self.arguments else { return of_file.map(Cow::Borrowed) };
        let written = json::parse(text.as_bytes()).ok().map(|(value, _)| value);
        let arguments = written.or_else(|| of_file?.arguments.clone());
        Some(Cow::Owned(Call { tool: tool.clone(), arguments, result: None, extra: Vec::new() }))
    }
}

/// An objection to an arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditProblem {
    /// The call, counted as in [`PlacedCall::call`]; `None` for the whole arrangement.
    pub call: Option<usize>,
    /// JSON pointer into the call's arguments; empty for all of them, or where the problem is not in them.
    pub pointer: String,
    /// The objection in words.
    pub message: String,
}

/// Several problems in one line.
pub(super) fn summary(problems: &[EditProblem]) -> String {
    let in_words = |problem: &EditProblem| match problem.pointer.as_str() {
        "" => problem.message.clone(),
        pointer => format!("{pointer}: {}", problem.message),
    };
    problems.iter().take(5).map(in_words).collect::<Vec<_>>().join("; ")
}

/// The rules that edits are checked against.
#[derive(Debug, Default)]
pub struct Rules {
    schemas: HashMap<String, Result<ArgumentSchema, String>>,
    /// Tools of which the catalog names no server.
    lookup: ToolLookup,
    has_catalog: bool,
}

/// The longest arguments and the longest answer that are accepted, in bytes.
pub const LONGEST_TEXT: usize = 1 << 20;

/// The most calls that may be added to a reference.
const MOST_ADDED: usize = 1000;

/// The longest name of a tool that a page shows, in columns. The page sends it back, so it also limits added calls.
pub(super) const LONGEST_TOOL: usize = 200;

impl Rules {
    /// The rules with a catalog of tools; without one, arguments only have to be an object.
    #[must_use]
    pub fn new(catalog: Option<&ToolCatalog>) -> Self {
        let Some(catalog) = catalog else { return Self::default() };
        let schema = |(name, tool): (m3_mcp::ToolName, &m3_mcp::Tool)| {
            let schema = ArgumentSchema::new(&tool.input_schema).map_err(|error| error.to_string());
            (name.to_string(), schema)
        };
        let mut lookup = ToolLookup::default();
        catalog
            .tools()
            .filter(|(name, _)| name.server.is_empty())
            .for_each(|(name, _)| lookup.add(&name.tool));
        Self { schemas: catalog.tools().map(schema).collect(), lookup, has_catalog: true }
    }

    /// The schema of the tool that a call with this name means.
    fn schema(&self, tool: &str) -> Option<&Result<ArgumentSchema, String>> {
        self.schemas.get(tool).or_else(|| self.schemas.get(self.lookup.find(tool)?))
    }

    /// The tools of the catalog, in order.
    #[must_use]
    pub fn tools(&self) -> BTreeSet<&str> {
        self.schemas.keys().map(String::as_str).collect()
    }

    /// The problem if the catalog has no such tool, for an added call. An edit cannot change the tools of other calls.
    #[must_use]
    pub fn unknown(&self, placed: &PlacedCall) -> Option<EditProblem> {
        let tool = placed.tool.as_ref().filter(|tool| self.has_catalog && self.schema(tool).is_none())?;
        let message = format!("the catalog has no tool `{}`", shortened(tool, 100));
        Some(EditProblem { call: Some(placed.call), pointer: String::new(), message })
    }

    /// Whether there is a catalog.
    #[must_use]
    pub fn has_catalog(&self) -> bool {
        self.has_catalog
    }

    /// A note on how the arguments of a tool are checked; `None` if its schema is known, or if there is no catalog at
    /// all.
    #[must_use]
    pub fn remark(&self, tool: &str) -> Option<String> {
        match self.schema(tool) {
            Some(Err(error)) => Some(shortened(error, 200)),
            None if self.has_catalog => Some("the catalog has no such tool: nothing is checked".to_owned()),
            Some(Ok(_)) | None => None,
        }
    }

    /// Problems with the arguments of a call, by its tool's schema.
    #[must_use]
    pub fn problems(&self, call: usize, tool: &str, arguments: &Json) -> Vec<EditProblem> {
        let problem = |pointer: String, message: String| EditProblem { call: Some(call), pointer, message };
        let value = match arguments.to_value() {
            Some(value) if value.is_object() => value,
            Some(_) => {
                let message = format!("arguments are an object, and this is {}", arguments.kind());
                return vec![problem(String::new(), message)];
            }
            None => return vec![problem(String::new(), "NaN and infinities are no JSON".to_owned())],
        };
        let Some(Ok(schema)) = self.schema(tool) else { return Vec::new() };
        match schema.problems(&value) {
            Ok(found) => found
                .into_iter()
                .map(|found| problem(shortened(&found.pointer, 200), found.message))
                .collect(),
            Err(error) => vec![problem(String::new(), error.to_string())],
        }
    }
}

/// The calls as the file has them.
#[must_use]
pub fn original(reference: &Trajectory) -> Arrangement {
    let mut next = 0..;
    let steps = reference.steps.iter();
    let steps = steps.map(|step| {
        let calls = step.calls.iter().zip(&mut next);
        calls.map(|(_, call)| PlacedCall { call, tool: None, arguments: None }).collect()
    });
    steps.collect()
}

impl Revision {
    /// The reference as the file has it.
    #[must_use]
    pub fn of(reference: &Trajectory) -> Self {
        let steps = original(reference).into_iter().filter(|step| !step.is_empty());
        Self { steps: steps.collect(), reply: None }
    }

    /// The answer, if there is one.
    #[must_use]
    pub fn answer<'a>(&'a self, reference: &'a Trajectory) -> Option<&'a str> {
        let answer = self.reply.as_deref().or(reference.final_reply.as_deref());
        answer.filter(|answer| !answer.trim().is_empty())
    }
}

fn whole(message: &str) -> EditProblem {
    EditProblem { call: None, pointer: String::new(), message: message.to_owned() }
}

/// A revision as it is kept: without empty steps, and with new arguments and a new answer only where they differ.
///
/// # Errors
/// The [`EditProblem`]s of its form: a call is not in the reference or occurs twice, arguments are not a JSON object,
/// or nothing is left of the reference.
pub fn normal(reference: &Trajectory, revision: Revision) -> Result<Revision, Vec<EditProblem>> {
    let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
    let (mut seen, mut problems) = (HashSet::new(), Vec::new());
    let mut steps = Vec::new();
    for step in revision.steps {
        let mut kept = Vec::new();
        for placed in step {
            if !seen.insert(placed.call) {
                return Err(vec![whole("a call stands twice")]);
            }
            match normal_call(&calls, placed) {
                Ok(placed) => kept.push(placed),
                Err(problem) => problems.push(problem),
            }
        }
        if !kept.is_empty() {
            steps.push(kept);
        }
    }
    let reply = revision.reply.as_deref().and_then(|reply| normal_reply(reference, reply));
    if reply.as_ref().is_some_and(|reply| reply.len() > LONGEST_TEXT) {
        problems.push(whole(&format!("an answer has at most {} KiB", LONGEST_TEXT >> 10)));
    }
    let revision = Revision { steps, reply };
    if problems.is_empty() && revision.steps.is_empty() {
        if !calls.is_empty() {
            problems.push(whole("no call is left: reject the reference instead"));
        } else if revision.answer(reference).is_none() {
            problems.push(whole("neither a call nor an answer is left"));
        }
    }
    if problems.is_empty() { Ok(revision) } else { Err(problems) }
}

/// The call as it is kept: with a tool only if it was added, and with arguments only if they differ from the file's.
fn normal_call(calls: &[&Call], placed: PlacedCall) -> Result<PlacedCall, EditProblem> {
    let PlacedCall { call, tool, arguments } = placed;
    let wrong = |message| EditProblem { call: Some(call), pointer: String::new(), message };
    let of_file = calls.get(call);
    let tool = match (of_file, tool) {
        (None, Some(tool)) if call < calls.len() + MOST_ADDED => Some(tool.trim().to_owned()),
        (None, _) => return Err(whole("a call is not one of the reference")),
        (Some(of_file), Some(tool)) if of_file.tool != tool => {
            return Err(wrong("a call of the file keeps its tool".to_owned()));
        }
        (Some(_), _) => None,
    };
    if let Some(tool) = &tool {
        let is_name = !tool.is_empty() && shortened(tool, LONGEST_TOOL) == *tool;
        if !is_name {
            return Err(wrong(format!("a tool has a name of 1 to {LONGEST_TOOL} visible characters")));
        }
    }
    let none = || tool.is_some().then(|| "{}".to_owned());
    let arguments = arguments.or_else(none).as_deref().map(parsed).transpose().map_err(wrong)?;
    let is_same = of_file.is_some_and(|of_file| arguments == of_file.arguments);
    let text = arguments.map(|arguments| arguments.to_text(Keys::AsRead)).filter(|_| !is_same);
    // The kept text is read again, and may be longer than the text that was written.
    text.as_deref().map(check_length).transpose().map_err(wrong)?;
    Ok(PlacedCall { call, tool, arguments: text })
}

/// The answer, if it differs from that of the file. Blanks alone are no answer, and CRLF equals LF, which a page sends.
fn normal_reply(reference: &Trajectory, reply: &str) -> Option<String> {
    let lines = |text: &str| if text.trim().is_empty() { String::new() } else { text.replace("\r\n", "\n") };
    let reply = lines(reply);
    (reply != lines(reference.final_reply.as_deref().unwrap_or_default())).then_some(reply)
}

fn check_length(text: &str) -> Result<(), String> {
    let is_short = text.len() <= LONGEST_TEXT;
    is_short.then_some(()).ok_or_else(|| format!("arguments have at most {} KiB", LONGEST_TEXT >> 10))
}

/// Reads arguments that a person wrote.
fn parsed(text: &str) -> Result<Json, String> {
    check_length(text)?;
    let (value, oddities) = json::parse(text.as_bytes()).map_err(|error| {
        let (line, column) = place(text, error.offset);
        format!("this is not JSON: {}, in line {line}, column {column}", error.message)
    })?;
    match oddities.first() {
        Some(oddity) => Err(format!("this is not plain JSON: {}", shortened(&oddity.message, 200))),
        None => Ok(value),
    }
}

/// Line and column of an offset in bytes, from 1, the column in characters.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = head(text, offset);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// The reference with the revision applied.
#[must_use]
pub fn arranged(reference: &Trajectory, revision: &Revision) -> Trajectory {
    let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
    let before = original(reference);
    let is_kept = |step: &Vec<PlacedCall>| {
        let numbers = |step: &[PlacedCall]| step.iter().map(|placed| placed.call).collect::<Vec<_>>();
        before.iter().position(|old| numbers(old) == numbers(step))
    };
    let steps = revision.steps.iter().zip(1..).map(|(step, number)| {
        let placed = step.iter().filter_map(|placed| placed.as_it_stands(&calls).map(Cow::into_owned));
        let extra = is_kept(step).map(|index| reference.steps[index].extra.clone()).unwrap_or_default();
        Step { number: Some(number), calls: placed.collect(), malformed: Vec::new(), extra }
    });
    let steps = steps.collect();
    let final_reply = match &revision.reply {
        None => reference.final_reply.clone(),
        Some(_) => revision.answer(reference).map(str::to_owned),
    };
    Trajectory { steps, final_reply, ..reference.clone() }
}

/// The change between two revisions, in a few words.
#[must_use]
pub fn change(reference: &Trajectory, before: &Revision, after: &Revision) -> String {
    let of_file: Vec<&str> = reference.calls().map(|(_, call)| call.tool.as_str()).collect();
    let of = |revision: &'_ Revision| -> HashMap<usize, PlacedCall> {
        revision.steps.iter().flatten().map(|placed| (placed.call, placed.clone())).collect()
    };
    let (old, new) = (of(before), of(after));
    let tool = |number: usize| {
        let added = || [&new, &old].into_iter().find_map(|calls| calls.get(&number)?.tool.as_deref());
        shortened(of_file.get(number).copied().or_else(added).unwrap_or_default(), 60)
    };
    let numbers: BTreeSet<usize> = old.keys().chain(new.keys()).copied().collect();
    let mut parts = Vec::new();
    for number in numbers {
        let name = tool(number);
        match (old.get(&number), new.get(&number)) {
            (Some(_), None) => parts.push(format!("removed {name}")),
            (None, Some(placed)) if placed.tool.is_some() => parts.push(format!("added {name}")),
            (None, Some(_)) => parts.push(format!("put {name} back")),
            (Some(old), Some(new)) if old.tool != new.tool => parts.push(format!("{name} for another tool")),
            (Some(old), Some(new)) if old.arguments != new.arguments => {
                parts.push(format!("arguments of {name}"));
            }
            _ => {}
        }
    }
    let is_in_both = |call: &usize| old.contains_key(call) && new.contains_key(call);
    let numbers = |revision: &Revision| -> Vec<Vec<usize>> {
        let numbers =
            |step: &Vec<PlacedCall>| step.iter().map(|placed| placed.call).filter(is_in_both).collect();
        revision.steps.iter().map(numbers).filter(|step: &Vec<usize>| !step.is_empty()).collect()
    };
    parts.extend(moved(&numbers(before), &numbers(after), tool));
    if before.reply != after.reply {
        parts.push("answer changed".to_owned());
    }
    if parts.is_empty() { "nothing".to_owned() } else { shortened(&parts.join("; "), 300) }
}

/// Which of the calls in both arrangements were moved, in words; the names of three at most.
fn moved(old: &[Vec<usize>], new: &[Vec<usize>], tool: impl Fn(usize) -> String) -> Option<String> {
    let step = |steps: &[Vec<usize>], call: &usize| steps.iter().position(|step| step.contains(call));
    let calls: BTreeSet<&usize> = new.iter().flatten().collect();
    let moved: Vec<String> =
        calls.into_iter().filter(|call| step(old, call) != step(new, call)).map(|call| tool(*call)).collect();
    let more = moved.len().saturating_sub(3);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    match (old == new, moved.is_empty()) {
        (true, _) => None,
        (false, true) => Some("order in a step".to_owned()),
        (false, false) => Some(format!("moved {}{more}", moved[..moved.len().min(3)].join(", "))),
    }
}

#[cfg(test)]
pub(super) mod tests;
