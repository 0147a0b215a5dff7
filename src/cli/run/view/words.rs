//! Events in words, short and safe: texts of models, tools and providers are shortened and made visible.

use std::time::Duration;

use m3_executor::{Event, FinishReason, TaskEvent};
use m3_llm::Usage;
use m3_support::text::{counted, duration, on_one_line, shortened};
use m3_trajectory::NO_NAME;

/// The longest id of a task, in columns.
const ID: usize = 24;

/// The longest name of a tool, and the longest reason for a further try, in columns.
const TEXT: usize = 120;

/// The longest reason why a task failed, in columns.
const ERROR: usize = 400;

/// A task's name with its repetition.
pub(super) fn name(told: &TaskEvent) -> String {
    let id = shortened(&told.task, ID);
    if told.repeat == 1 { id } else { format!("{id} ({})", told.repeat) }
}

/// What happened in a task, in words.
pub(super) fn what(event: &Event, attempt: u32) -> String {
    let text = |text: &str| shortened(&on_one_line(text), TEXT);
    match event {
        Event::Started if attempt > 1 => format!("started, try {attempt}"),
        Event::Started => "started".to_owned(),
        Event::Asked { turn, purpose } => format!("turn {turn}: asks the model ({})", text(purpose)),
        Event::Answered { turn, usage, milliseconds, tries } => {
            let tries = if *tries > 1 { format!(" after {}", counted(*tries, "try")) } else { String::new() };
            format!("turn {turn}: answered in {}{tries}, {}", time(*milliseconds), tokens(*usage))
        }
        Event::Retried { turn, reason, milliseconds } => {
            format!("turn {turn}: asks again in {}: {}", time(*milliseconds), text(reason))
        }
        Event::Called { step, tool, .. } => format!("step {step}: calls {}", text(named(tool))),
        Event::Returned { step, tool, outcome, milliseconds, .. } => {
            let outcome = text(outcome).replace('_', " ");
            format!("step {step}: {}, {outcome}, {}", text(named(tool)), time(*milliseconds))
        }
        Event::Malformed { turn, reason } => format!("turn {turn}: cannot be used: {}", text(reason)),
        Event::Finished { finish, steps, calls, .. } => {
            format!("{} after {} and {}", said(*finish), counted(*steps, "step"), counted(*calls, "call"))
        }
        Event::WorkspaceLeft { reason } => format!("its workspace cannot be removed: {}", text(reason)),
        Event::Interrupted => "interrupted".to_owned(),
    }
}

/// The name of a tool, or a replacement for a call without a name.
fn named(tool: &str) -> &str {
    if tool.is_empty() { NO_NAME } else { tool }
}

/// Input and output tokens; `?` for a number that was not reported.
fn tokens(usage: Usage) -> String {
    let count = |tokens: Option<u64>| tokens.map_or_else(|| "?".to_owned(), |tokens| tokens.to_string());
    match (usage.input_tokens, usage.output_tokens) {
        (None, None) => "unknown tokens".to_owned(),
        (input, output) => format!("tokens: {} in, {} out", count(input), count(output)),
    }
}

/// The reason why a task failed, shortened and on one line.
pub(super) fn reason(error: &str) -> String {
    shortened(&on_one_line(error), ERROR)
}

fn said(finish: FinishReason) -> &'static str {
    match finish {
        FinishReason::Answered => "answered",
        FinishReason::MaxSteps => "used all steps",
        FinishReason::Budget => "used its budget",
        FinishReason::ContextOverflow => "did not fit the model's context",
        FinishReason::Error => "failed",
        FinishReason::Interrupted => "interrupted",
    }
}

fn time(milliseconds: u64) -> String {
    duration(Duration::from_millis(milliseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_from_models_cannot_move_the_cursor() {
        let event = Event::Returned {
            step: 1,
            call: 0,
            tool: "a/\u{1b}[2Jb".to_owned(),
            outcome: "unknown_tool".to_owned(),
            milliseconds: 1500,
        };
        let told = TaskEvent { task: "x\ny".to_owned(), repeat: 2, attempt: 1, event };
        assert_eq!(name(&told), "x\\ny (2)");
        assert_eq!(what(&told.event, 1), "step 1: a/\\u{1b}[2Jb, unknown tool, 1.5 s");
        assert_eq!(reason("no\u{1b}[2J\nhint: wait"), "no\\u{1b}[2J (hint: wait)");
    }
}
