//! The six categories (section 2.1.2): servers, and how calls depend on one another.

use std::collections::BTreeSet;

use m3_trajectory::Trajectory;

/// All categories.
const CATEGORIES: [&str; 6] = [
    "single_server_single_call",
    "single_server_parallel",
    "single_server_sequential",
    "multi_server_single_call",
    "multi_server_parallel",
    "multi_server_sequential",
];

/// The category that the task's type names, however it is written; else the category of the reference's calls. A single
/// call does not show whether other servers were offered, so without a type it counts as single-server.
pub(super) fn category(reference: &Trajectory) -> &'static str {
    let plain = |text: &str| text.to_lowercase().replace(['-', ' ', '/'], "_");
    let named = reference.task_type.as_deref().map(plain);
    if let Some(known) = CATEGORIES.into_iter().find(|category| named.as_deref() == Some(*category)) {
        return known;
    }
    let server = |tool: &str| tool.split_once('/').map(|(server, _)| server.to_owned());
    let servers: BTreeSet<_> = reference.calls().filter_map(|(_, call)| server(&call.tool)).collect();
    let steps = reference.steps.iter().filter(|step| !step.calls.is_empty()).count();
    let kind = match (reference.call_count(), steps) {
        (0 | 1, _) => 0,
        (_, 1) => 1,
        _ => 2,
    };
    CATEGORIES[if servers.len() > 1 { 3 + kind } else { kind }]
}

#[cfg(test)]
mod tests {
    use m3_trajectory::{Call, Step};

    use super::*;

    #[test]
    fn types_and_steps_tell_the_category() {
        let call =
            |tool: &str| Call { tool: tool.to_owned(), arguments: None, result: None, extra: Vec::new() };
        let task = |steps: &[&[&str]], task_type: Option<&str>| Trajectory {
            task_type: task_type.map(str::to_owned),
            steps: steps
                .iter()
                .map(|tools| Step { calls: tools.iter().map(|tool| call(tool)).collect(), ..Step::default() })
                .collect(),
            ..Trajectory::default()
        };
        for (steps, task_type, wanted) in [
            (&[&["a/x"][..]][..], None, "single_server_single_call"),
            (&[&["a/x"]], Some("Multi-Server Single Call"), "multi_server_single_call"),
            (&[&["a/x", "a/y"]], Some("weather"), "single_server_parallel"),
            (&[&["a/x"], &["b/y"]], None, "multi_server_sequential"),
            (&[&["a/x", "b/y"], &["b/y"]], None, "multi_server_sequential"),
            (&[], None, "single_server_single_call"),
        ] {
            assert_eq!(category(&task(steps, task_type)), wanted);
        }
    }
}
