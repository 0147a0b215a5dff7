//! What a prediction records about its run, in a few lines.

use std::time::Duration;

use m3_support::text::{counted, duration};
use m3_trajectory::json::Json;
use m3_trajectory::{RunFacts, Trajectory, Usage};

use super::{Row, bounded};

/// The longest reason that is shown, in characters.
const REASON: usize = 1_000;

/// The most characters of a name.
const NAME: usize = 200;

/// The lines; empty if the trajectory was not recorded by a run.
pub(super) fn rows(trajectory: &Trajectory) -> Vec<Row> {
    let extra = |key: &str| trajectory.get(key);
    let run = trajectory.run();
    let lines = [
        ("Model", extra("model").and_then(model)),
        ("Run", place(extra("mode"), run.as_ref())),
        ("Finish", finish(extra("finish"), extra("reason"))),
        ("Tokens", tokens(trajectory)),
        (
            "Time",
            run.as_ref()
                .filter(|run| run.milliseconds > 0)
                .map(|run| duration(Duration::from_millis(run.milliseconds))),
        ),
    ];
    lines.into_iter().filter_map(|(label, text)| Some(Row { label, text: text? })).collect()
}

fn name(value: &Json) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(|text| bounded(text, NAME))
}

fn model(model: &Json) -> Option<String> {
    let requested = name(model).or_else(|| model.get("requested").and_then(name))?;
    Some(match model.get("reported").and_then(name) {
        // `openai:gpt-5` may report itself as `gpt-5`.
        Some(reported) if !requested.ends_with(&reported) => format!("{requested}, answered by {reported}"),
        _ => requested,
    })
}

fn place(mode: Option<&Json>, run: Option<&RunFacts>) -> Option<String> {
    let parts = [
        mode.and_then(name),
        run.filter(|run| run.repeat > 0).map(|run| format!("repeat {}", run.repeat)),
        run.filter(|run| run.attempt > 1).map(|run| format!("attempt {}", run.attempt)),
    ];
    joined(parts)
}

fn finish(finish: Option<&Json>, reason: Option<&Json>) -> Option<String> {
    let finish = finish.and_then(name)?;
    let reason = reason.and_then(Json::as_str).map(|reason| bounded(reason, REASON));
    Some(reason.map_or_else(|| finish.clone(), |reason| format!("{finish}: {reason}")))
}

fn tokens(trajectory: &Trajectory) -> Option<String> {
    let usage = trajectory.usage().unwrap_or_default();
    let part = |count: Option<u64>, what: &str| {
        let count = count.filter(|count| *count > 0);
        count.map(|count| format!(" ({count} {what})")).unwrap_or_default()
    };
    let (mut turns, mut silent) = (0, 0);
    for turn in trajectory.turns() {
        turns += 1;
        // A turn without `usage` tells nothing; a `usage` without a number means that the provider did not report it.
        let is_silent = |usage: Usage| usage.input_tokens.is_none() || usage.output_tokens.is_none();
        silent += usize::from(turn.usage.is_some_and(is_silent));
    }
    let of_turns = match (turns, silent) {
        (0, _) => None,
        (all, 0) => Some(counted(all, "turn")),
        (all, silent) => Some(format!("partial: {silent} of {} without", counted(all, "turn"))),
    };
    let parts = [
        usage.input_tokens.map(|read| format!("{read} in{}", part(usage.cached_input_tokens, "cached"))),
        usage
            .output_tokens
            .map(|written| format!("{written} out{}", part(usage.reasoning_tokens, "reasoning"))),
        of_turns,
    ];
    joined(parts)
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
