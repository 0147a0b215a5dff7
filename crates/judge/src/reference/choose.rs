//! Chooses the reference among several runs of a task: the shortest. Reports where the others differ.

use std::collections::BTreeMap;

use m3_support::text::shortened;
use m3_trajectory::json::Keys;
use m3_trajectory::{Call, Trajectory};

use super::provenance::{Disagreement, DisagreementKind};

/// The most tools and arguments that one disagreement names.
const NAMED: usize = 5;

/// The longest arguments that are shown, in columns.
const SHOWN: usize = 120;

/// The order in which references are tried: fewest calls first, then fewest steps, then as in the files; those
/// without calls come last. `candidates` are runs by their places, with their references.
pub(super) fn in_order(mut candidates: Vec<(usize, &Trajectory)>) -> Vec<usize> {
    candidates.sort_by_key(|(run, reference)| {
        let calls = reference.call_count();
        (calls == 0, calls, reference.steps.len(), *run)
    });
    candidates.into_iter().map(|(run, _)| run).collect()
}

/// Where another reference differs from the chosen one: in tools, else in arguments, else in steps. If tools differ,
/// arguments of the tools in common may differ too.
pub(super) fn disagreements(chosen: &Trajectory, run: usize, other: &Trajectory) -> Vec<Disagreement> {
    let mut differences = Vec::new();
    let mut push = |kind, detail| differences.push(Disagreement { run, kind, detail });
    let (ours, theirs) = (by_tool(chosen), by_tool(other));
    let mut tools = Vec::new();
    let mut arguments = Vec::new();
    let names: std::collections::BTreeSet<&str> = ours.keys().chain(theirs.keys()).copied().collect();
    for tool in names {
        let empty = Vec::new();
        let (ours, theirs) = (ours.get(tool).unwrap_or(&empty), theirs.get(tool).unwrap_or(&empty));
        let name = shortened(tool, SHOWN);
        if ours.len() != theirs.len() {
            tools.push(format!(
                "`{name}` is called {} here, {} there",
                times(ours.len()),
                times(theirs.len())
            ));
        } else if let Some((one, another)) = ours.iter().zip(theirs).find(|(one, another)| one != another) {
            arguments.push(format!(
                "`{name}` has {} here, {} there",
                shortened(one, SHOWN),
                shortened(another, SHOWN)
            ));
        }
    }
    if !tools.is_empty() {
        push(DisagreementKind::Tools, listed(&tools));
    }
    if !arguments.is_empty() {
        push(DisagreementKind::Arguments, listed(&arguments));
    }
    if tools.is_empty() && arguments.is_empty() {
        let (ours, theirs) = (by_step(chosen), by_step(other));
        if ours != theirs {
            let sizes = |steps: &[Vec<String>]| {
                steps.iter().map(|step| step.len().to_string()).collect::<Vec<_>>().join(", ")
            };
            let detail = if sizes(&ours) == sizes(&theirs) {
                "the same calls in another order".to_owned()
            } else {
                format!("the same calls in steps of {} here, of {} there", sizes(&ours), sizes(&theirs))
            };
            push(DisagreementKind::Steps, detail);
        }
    }
    differences
}

/// The arguments of each tool's calls, sorted.
fn by_tool(trajectory: &Trajectory) -> BTreeMap<&str, Vec<String>> {
    let mut arguments_by_tool: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (_, call) in trajectory.calls() {
        arguments_by_tool.entry(&call.tool).or_default().push(arguments(call));
    }
    for arguments in arguments_by_tool.values_mut() {
        arguments.sort_unstable();
    }
    arguments_by_tool
}

/// The calls of each step, sorted, because their order does not matter.
fn by_step(trajectory: &Trajectory) -> Vec<Vec<String>> {
    let step = |step: &m3_trajectory::Step| {
        let mut calls: Vec<String> =
            step.calls.iter().map(|call| format!("{} {}", call.tool, arguments(call))).collect();
        calls.sort_unstable();
        calls
    };
    trajectory.steps.iter().map(step).collect()
}

fn arguments(call: &Call) -> String {
    call.arguments
        .as_ref()
        .map_or_else(|| "no arguments".to_owned(), |arguments| arguments.to_text(Keys::Sorted))
}

fn times(count: usize) -> String {
    match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    }
}

fn listed(all: &[String]) -> String {
    let mut text = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    if all.len() > NAMED {
        text.push_str("; and more");
    }
    text
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Step;

    use super::*;

    /// Steps of calls written as `tool argument`.
    fn trajectory(steps: &[&[&str]]) -> Trajectory {
        let call = |text: &&str| {
            let (tool, argument) = text.split_once(' ').unwrap();
            let arguments =
                m3_trajectory::json::parse(format!("{{\"x\": {argument}}}").as_bytes()).unwrap().0;
            Call { tool: tool.to_owned(), arguments: Some(arguments), result: None, extra: Vec::new() }
        };
        let step = |calls: &&[&str]| Step { calls: calls.iter().map(call).collect(), ..Step::default() };
        Trajectory { steps: steps.iter().map(step).collect(), ..Trajectory::default() }
    }

    #[test]
    fn the_shortest_is_first_then_that_of_fewest_steps_then_the_first() {
        let all = [
            trajectory(&[&["a 1", "a 2", "a 3"]]),
            trajectory(&[&["a 1"], &["a 2"]]),
            trajectory(&[&["a 1", "a 2"]]),
            trajectory(&[&["b 1", "b 2"]]),
        ];
        assert_eq!(in_order(all.iter().enumerate().collect()), [2, 3, 1, 0]);
    }

    #[test]
    fn differences_are_named_once_each() {
        let chosen = trajectory(&[&["a 1", "b 1"], &["c 1"]]);
        let said = |other: &[&[&str]]| -> Vec<(DisagreementKind, String)> {
            let found = disagreements(&chosen, 3, &trajectory(other));
            assert!(found.iter().all(|found| found.run == 3));
            found.into_iter().map(|found| (found.kind, found.detail)).collect()
        };
        assert_eq!(said(&[&["b 1", "a 1"], &["c 1"]]), []);
        let tools = "`b` is called once here, 2 times there; `c` is called once here, never there";
        assert_eq!(said(&[&["a 1", "b 1", "b 2"]]), [(DisagreementKind::Tools, tools.to_owned())]);
        let arguments = "`a` has {\"x\":1} here, {\"x\":2} there";
        assert_eq!(said(&[&["a 2", "b 1"], &["c 1"]]), [(DisagreementKind::Arguments, arguments.to_owned())]);
        let steps = "the same calls in steps of 2, 1 here, of 1, 2 there";
        assert_eq!(said(&[&["a 1"], &["b 1", "c 1"]]), [(DisagreementKind::Steps, steps.to_owned())]);
        let order = "the same calls in another order";
        assert_eq!(said(&[&["a 1", "c 1"], &["b 1"]]), [(DisagreementKind::Steps, order.to_owned())]);
        assert_eq!(said(&[&["a 2", "b 1"]]).len(), 2);
    }
}
