//! The calls of a reference in other steps, with other arguments, or without some of them.

use std::collections::{HashMap, HashSet};

use m3_mcp::ToolCatalog;
use m3_mcp::arguments::ArgumentSchema;
use m3_support::text::{head, shortened};
use m3_trajectory::json::{self, Json, Keys};
use m3_trajectory::{Call, Step, Trajectory};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Steps of calls.
pub type Arrangement = Vec<Vec<PlacedCall>>;

/// A call of the reference, and what its arguments are now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlacedCall {
    /// Which call, counted from 0 through all steps of the reference as the file has it.
    pub call: usize,
    /// The new arguments as JSON text, so that the order of keys and long numbers stay as they were written; absent
    /// where they are those of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
}

/// An objection to an arrangement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EditProblem {
    /// The call, counted as in [`PlacedCall::call`]; `None` for the whole.
    pub call: Option<usize>,
    /// JSON pointer into the call's arguments; empty for all of them, or where the problem is not in them.
    pub pointer: String,
    /// The objection in words.
    pub message: String,
}

/// The rules that edits are checked against.
#[derive(Debug, Default)]
pub struct Rules {
    schemas: HashMap<String, Result<ArgumentSchema, String>>,
    has_catalog: bool,
}

/// The longest arguments that are accepted, in bytes.
pub const LONGEST_ARGUMENTS: usize = 1 << 20;

impl Rules {
    /// The rules with a catalog of tools; without one, arguments only have to be an object.
    #[must_use]
    pub fn new(catalog: Option<&ToolCatalog>) -> Self {
        let Some(catalog) = catalog else { return Self::default() };
        let schema = |(name, tool): (m3_mcp::ToolName, &m3_mcp::Tool)| {
            let schema = ArgumentSchema::new(&tool.input_schema).map_err(|error| error.to_string());
            (name.to_string(), schema)
        };
        Self { schemas: catalog.tools().map(schema).collect(), has_catalog: true }
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
        match self.schemas.get(tool) {
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
        let Some(Ok(schema)) = self.schemas.get(tool) else { return Vec::new() };
        let found = schema.problems(&value).into_iter();
        found.map(|found| problem(shortened(&found.pointer, 200), found.message)).collect()
    }
}

/// The calls as the file has them.
#[must_use]
pub fn original(reference: &Trajectory) -> Arrangement {
    let mut next = 0..;
    let steps = reference.steps.iter();
    let steps = steps.map(|step| {
        let calls = step.calls.iter().zip(&mut next);
        calls.map(|(_, call)| PlacedCall { call, arguments: None }).collect()
    });
    steps.collect()
}

/// An arrangement as it is kept: without empty steps, and with new arguments only where they differ.
///
/// # Errors
/// Its form is wrong: a call is not in the reference or occurs twice, arguments are not a JSON object, or there is no
/// call at all.
pub fn normal(reference: &Trajectory, arrangement: Arrangement) -> Result<Arrangement, Vec<EditProblem>> {
    let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
    let (mut seen, mut problems) = (HashSet::new(), Vec::new());
    let whole =
        |message: &str| EditProblem { call: None, pointer: String::new(), message: message.to_owned() };
    let mut steps = Vec::new();
    for step in arrangement {
        let mut kept = Vec::new();
        for mut placed in step {
            let Some(call) = calls.get(placed.call) else {
                return Err(vec![whole("a call is not one of the reference")]);
            };
            if !seen.insert(placed.call) {
                return Err(vec![whole("a call stands twice")]);
            }
            match placed.arguments.as_deref().map(parsed).transpose() {
                Ok(arguments) => {
                    let is_same = arguments == call.arguments;
                    let text = arguments.map(|arguments| arguments.to_text(Keys::AsRead));
                    placed.arguments = text.filter(|_| !is_same);
                }
                Err(message) => {
                    problems.push(EditProblem { call: Some(placed.call), pointer: String::new(), message });
                }
            }
            kept.push(placed);
        }
        if !kept.is_empty() {
            steps.push(kept);
        }
    }
    if steps.is_empty() {
        problems.push(whole("no call is left: reject the reference instead"));
    }
    if problems.is_empty() { Ok(steps) } else { Err(problems) }
}

/// Reads arguments that a person wrote.
fn parsed(text: &str) -> Result<Json, String> {
    if text.len() > LONGEST_ARGUMENTS {
        return Err(format!("arguments have at most {} KiB", LONGEST_ARGUMENTS >> 10));
    }
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

/// The arguments that a call has in an arrangement.
#[must_use]
pub fn arguments(call: &Call, placed: &PlacedCall) -> Option<Json> {
    let edited = placed.arguments.as_deref();
    let edited = edited.and_then(|text| json::parse(text.as_bytes()).ok()).map(|(value, _)| value);
    edited.or_else(|| call.arguments.clone())
}

/// The reference with its calls arranged anew. A result belongs to its arguments: a call with changed arguments loses
/// its result and everything else that was recorded about it.
#[must_use]
pub fn arranged(reference: &Trajectory, arrangement: &Arrangement) -> Trajectory {
    let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
    let before = original(reference);
    let is_kept = |step: &Vec<PlacedCall>| {
        let numbers = |step: &[PlacedCall]| step.iter().map(|placed| placed.call).collect::<Vec<_>>();
        before.iter().position(|old| numbers(old) == numbers(step))
    };
    let steps = arrangement.iter().zip(1..).map(|(step, number)| {
        let placed = step.iter().filter_map(|placed| {
            let call = *calls.get(placed.call)?;
            Some(match placed.arguments {
                None => call.clone(),
                Some(_) => Call {
                    tool: call.tool.clone(),
                    arguments: arguments(call, placed),
                    result: None,
                    extra: Vec::new(),
                },
            })
        });
        let extra = is_kept(step).map(|index| reference.steps[index].extra.clone()).unwrap_or_default();
        Step { number: Some(number), calls: placed.collect(), malformed: Vec::new(), extra }
    });
    Trajectory { steps: steps.collect(), ..reference.clone() }
}

/// The change between two arrangements, in a few words.
#[must_use]
pub fn change(reference: &Trajectory, before: &Arrangement, after: &Arrangement) -> String {
    let calls: Vec<&Call> = reference.calls().map(|(_, call)| call).collect();
    let at = |arrangement: &Arrangement, call: usize| {
        let mut steps = arrangement.iter().enumerate();
        steps.find_map(|(step, calls)| {
            Some((step, calls.iter().find(|placed| placed.call == call)?.arguments.clone()))
        })
    };
    let mut parts = Vec::new();
    for (number, call) in calls.iter().enumerate() {
        let tool = shortened(&call.tool, 60);
        match (at(before, number), at(after, number)) {
            (Some(_), None) => parts.push(format!("removed {tool}")),
            (None, Some(_)) => parts.push(format!("put {tool} back")),
            (Some((_, old)), Some((_, new))) if old != new => parts.push(format!("arguments of {tool}")),
            _ => {}
        }
    }
    let numbers = |arrangement: &Arrangement| -> Vec<Vec<usize>> {
        let kept = |call: &usize| at(before, *call).is_some() && at(after, *call).is_some();
        let step = |step: &Vec<PlacedCall>| step.iter().map(|placed| placed.call).filter(kept).collect();
        arrangement.iter().map(step).filter(|step: &Vec<usize>| !step.is_empty()).collect()
    };
    let (old, new) = (numbers(before), numbers(after));
    if old != new {
        let moved = |call: &usize| {
            let find = |steps: &[Vec<usize>]| steps.iter().position(|step| step.contains(call));
            find(&old) != find(&new)
        };
        let mut moved: Vec<String> = (0..calls.len())
            .filter(|call| new.iter().flatten().any(|kept| kept == call) && moved(call))
            .map(|call| shortened(&calls[call].tool, 60))
            .collect();
        let more = moved.len().saturating_sub(3);
        moved.truncate(3);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        parts.push(if moved.is_empty() {
            "order in a step".to_owned()
        } else {
            format!("moved {}{more}", moved.join(", "))
        });
    }
    if parts.is_empty() { "nothing".to_owned() } else { shortened(&parts.join("; "), 300) }
}

#[cfg(test)]
pub(super) mod tests;
