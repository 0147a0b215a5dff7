//! What a prediction records about its run, in a few lines.

use m3_support::text::counted;
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::{Row, bounded, milliseconds};

/// The longest reason that is shown, in characters.
const REASON: usize = 1_000;

/// The most characters of a name.
const NAME: usize = 200;

/// The lines; empty if the trajectory was not recorded by a run.
pub(super) fn rows(trajectory: &Trajectory) -> Vec<Row> {
    let extra = |key: &str| trajectory.get(key);
    let lines = [
        ("Model", extra("model").and_then(model)),
        ("Run", run(extra("mode"), extra("run"))),
        ("Finish", finish(extra("finish"), extra("reason"))),
        ("Tokens", tokens(extra("usage"), extra("turns"))),
        ("Time", extra("run").and_then(|run| run.get("milliseconds")).and_then(milliseconds)),
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

fn run(mode: Option<&Json>, run: Option<&Json>) -> Option<String> {
    let number = |key: &str| run.and_then(|run| run.get(key)).and_then(Json::as_count);
    let parts = [
        mode.and_then(name),
        number("repeat").map(|repeat| format!("repeat {repeat}")),
        number("attempt").filter(|attempt| *attempt > 1).map(|attempt| format!("attempt {attempt}")),
    ];
    joined(parts)
}

fn finish(finish: Option<&Json>, reason: Option<&Json>) -> Option<String> {
    let finish = finish.and_then(name)?;
    let reason = reason.and_then(Json::as_str).map(|reason| bounded(reason, REASON));
    Some(reason.map_or_else(|| finish.clone(), |reason| format!("{finish}: {reason}")))
}

fn tokens(usage: Option<&Json>, turns: Option<&Json>) -> Option<String> {
    let count = |key: &str| usage.and_then(|usage| usage.get(key)).and_then(Json::as_count);
    let of_which = |key: &str, what: &str| {
        let part = count(key).filter(|part| *part > 0);
        part.map(|part| format!(" ({part} {what})")).unwrap_or_default()
    };
    let turns = turns.map(Json::items).unwrap_or_default();
    // A turn without `usage` gives no information; a `usage` without a number means that the provider did not report
    // it.
    let lacks = |usage: &Json| usage.get("input_tokens").is_none() || usage.get("output_tokens").is_none();
    let is_silent = |turn: &&Json| turn.get("usage").is_some_and(lacks);
    let silent = turns.iter().filter(is_silent).count();
    let of_turns = match (turns.len(), silent) {
        (0, _) => None,
        (all, 0) => Some(counted(all, "turn")),
        (all, silent) => Some(format!("partial: {silent} of {} without", counted(all, "turn"))),
    };
    let parts = [
        count("input_tokens").map(|read| format!("{read} in{}", of_which("cached_input_tokens", "cached"))),
        count("output_tokens")
            .map(|written| format!("{written} out{}", of_which("reasoning_tokens", "reasoning"))),
        of_turns,
    ];
    joined(parts)
}

fn joined<const N: usize>(parts: [Option<String>; N]) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}
