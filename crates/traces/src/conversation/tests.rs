//! Replies, steps, and whose result is whose.

use m3_trajectory::json::Json;

use super::*;
use crate::content::string;
use crate::outcome::Outcome;

fn call(id: &str, tool: &str) -> TracedCall {
    let id = Some(id).filter(|id| !id.is_empty()).map(str::to_owned);
    TracedCall { id, tool: tool.to_owned(), ..TracedCall::default() }
}

fn outcome(id: &str, tool: &str, text: &str) -> Outcome {
    let some = |text: &str| Some(text).filter(|text| !text.is_empty()).map(str::to_owned);
    Outcome { id: some(id), tool: some(tool), result: Some(string(text)), ..Outcome::default() }
}

fn shown(trace: &Trace) -> Vec<Vec<String>> {
    let call = |call: &TracedCall| {
        format!("{}={}", call.tool, call.result.as_ref().and_then(Json::as_str).unwrap_or("-"))
    };
    trace.steps.iter().map(|step| step.iter().map(call).collect()).collect()
}

#[test]
fn ids_that_come_again_belong_to_the_latest_reply() {
    let mut it = Conversation::default();
    for text in ["1", "2"] {
        it.reply(None);
        it.call(call("call_0", "a"));
        it.result(outcome("call_0", "", text));
    }
    it.result(outcome("call_9", "", "stray"));
    let trace = it.finish();
    assert_eq!(shown(&trace), [["a=1"], ["a=2"]]);
    assert_eq!(trace.notes.iter().collect::<Vec<_>>(), [("a result without a call is left out", 1)]);
}

#[test]
fn without_ids_results_go_by_name_and_then_by_order() {
    let mut it = Conversation::default();
    it.reply(None);
    for tool in ["a", "b", "a"] {
        it.call(call("", tool));
    }
    it.result(outcome("", "b", "1"));
    it.result(outcome("", "a", "2"));
    it.result(outcome("", "", "3"));
    assert_eq!(shown(&it.finish()), [["a=2", "b=1", "a=3"]]);
}

#[test]
fn neighbours_are_one_reply_unless_ids_tell_otherwise() {
    let mut it = Conversation::default();
    for (id, tool) in [(None, "a"), (None, "b"), (Some("x"), "c"), (Some("y"), "d"), (Some("x"), "e")] {
        it.reply(id);
        it.call(call(tool, tool));
        if id.is_some() {
            it.result(outcome(tool, "", "r"));
        }
    }
    assert_eq!(shown(&it.finish()), [vec!["a=-", "b=-"], vec!["c=r", "e=r"], vec!["d=r"]]);
}

#[test]
fn reminders_are_no_questions_and_the_answer_is_the_last_reply_without_calls() {
    let mut it = Conversation::default();
    it.user(Content::of_text("<environment_context>\nx</environment_context>"));
    it.user(Content::of_text("<command-name>/model</command-name>\n<command-args></command-args>"));
    it.user(Content::of_text("<image>\nWhat is this?"));
    it.user(Content::of_text("And that?"));
    it.reply(None);
    it.say("It is ");
    it.say("a cat.");
    let trace = it.clone().finish();
    assert_eq!(trace.question.unwrap().text(), "<image>\nWhat is this?");
    assert_eq!(trace.final_reply.as_deref(), Some("It is a cat."));
    it.call(call("", "a"));
    assert_eq!(it.finish().final_reply, None);
}

#[test]
fn what_was_given_up_is_gone_and_results_of_later_calls_find_them() {
    let mut it = Conversation::default();
    for tool in ["a", "b"] {
        it.reply(Some(tool));
        it.call(call("", tool));
    }
    it.start_again();
    it.reply(Some("b"));
    it.call(call("", "c"));
    it.result(outcome("", "", "r"));
    let trace = it.finish();
    assert_eq!(shown(&trace), [["c=r"]]);
    assert_eq!(
        trace.notes.iter().collect::<Vec<_>>(),
        [("a call of an attempt that was given up is left out", 2)]
    );
}

#[test]
fn results_of_nested_calls_find_them() {
    let mut it = Conversation::default();
    it.call(call("1", "outer"));
    it.nested_call("agent", call("2", "inner"));
    it.result(outcome("2", "", "in"));
    it.result(outcome("1", "", "out"));
    let trace = it.finish();
    assert_eq!(
        (shown(&trace), shown(&trace.nested[0].1)),
        (vec![vec!["outer=out".to_owned()]], vec![vec!["inner=in".to_owned()]])
    );
}
