//! Berkeley Function-Calling Leaderboard: its tasks, the calls of models, and the accepted calls.

use super::bfcl_task::{TaskFacts, question};
use super::calls;
use super::types::Types;
use super::written::tagged;
use crate::fields::{count, names};
use crate::formats::prelude::*;

/// The format of BFCL's questions, results and possible answers, alone or joined.
pub(in super::super) const BFCL: Format = Format {
    name: "bfcl",
    title: "Berkeley Function-Calling Leaderboard: questions, results and possible answers",
    recognizes: |head| head.any(|value| is_result(value) || is_answer(value) || is_question(value)),
    read,
};

fn is_question(value: &Json) -> bool {
    value.has("id") && value.list("question").iter().any(|turn| matches!(turn, Json::Array(_)))
}

fn is_answer(value: &Json) -> bool {
    value.has("id") && matches!(value.member("ground_truth"), Some(Json::Array(_)))
}

/// Whether a record is a model's result. Other programs write an id with a result as well, so the result has to hold
/// calls or stand beside its tokens.
fn is_result(value: &Json) -> bool {
    if !value.has("id") || value.has("jsonrpc") || value.has("type") {
        return false;
    }
    let is_call = |item: &Json| match item {
        Json::Object(members) => {
            matches!(&members[..], [(_, Json::Object(_) | Json::String(_))])
        }
        _ => false,
    };
    match value.member("result") {
        Some(Json::Array(list)) => {
            let is_told = !list.is_empty() || value.has("input_token_count");
            is_told && list.iter().all(|item| is_call(item) || matches!(item, Json::Array(_)))
        }
        Some(Json::String(text)) => {
            value.has("input_token_count") || is_own_id(value) || calls::calls(text).is_some()
        }
        _ => false,
    }
}

/// The beginnings of the ids of BFCL's categories.
const CATEGORIES: &[&str] = names![
    simple_ multiple_ parallel_ irrelevance_ relevance_ java_ javascript_ rest_ sql_ exec_ executable_ live_
    multi_turn_ chatable_ memory_ web_search_
];

/// Whether a record has nothing but what BFCL's files have, and an id such as `simple_python_12`, so that a text without
/// calls, which a model may answer, is a result too.
fn is_own_id(value: &Json) -> bool {
    let is_own = |key: &str| {
        matches!(key, "id" | "result" | "inference_log" | "reasoning_content" | "traceback" | "latency")
            || key.ends_with("_token_count")
    };
    let category = |id: &&str| CATEGORIES.iter().any(|category| id.starts_with(category));
    let id = value.text("id").filter(category);
    let number = id.and_then(|id| id.split_once('_')).map(|(_, rest)| rest);
    let has_number = number
        .is_some_and(|rest| rest.rsplit('_').any(|part| part.starts_with(|it: char| it.is_ascii_digit())));
    has_number && members(value).iter().all(|(key, _)| is_own(key))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        // A record gets an id even if it is the only one.
        let at = At { index: at.index.or(Some(0)), ..at };
        let facts = TaskFacts::from_json(value);
        let (question, has_more) = question(value);
        let Some(mut trace) = calls_of(value, at.id(value.id("id")), &facts) else {
            return sink.skip(at.line, "a record of another layout is left out");
        };
        if has_more {
            sink.warn(
                at.line,
                "of a conversation, what the user says is the question; other messages are left out",
            );
        }
        let lost: Vec<&str> = [
            "initial_config",
            "path",
            "involved_classes",
            "excluded_function",
            "missed_function",
            "scenario",
        ]
        .into_iter()
        .filter(|key| value.has(key))
        .collect();
        if !lost.is_empty() {
            sink.warn(at.line, &format!("left out: `{}`", lost.join("`, `")));
        }
        trace.question = question.as_deref().map(Content::of_text);
        trace.task_type = facts.category;
        trace.extra = facts.extra;
        facts.tools.into_iter().for_each(|tool| sink.tool(None, tool));
        sink.trace(at.line, trace)
    })
}

/// The calls of a record: the accepted ones or those of a model. A question alone has no calls; where no offered
/// function fits, an empty list is the right answer.
fn calls_of(value: &Json, id: Option<String>, facts: &TaskFacts) -> Option<Trace> {
    let mut conversation = Conversation::with_id(id);
    if let Some(truth) = value.member("ground_truth") {
        conversation.is_reference = true;
        answer(&mut conversation, truth.items());
    } else if let Some(result) = value.member("result") {
        let tokens = |key| value.member(key).and_then(sum);
        conversation.usage.input = tokens("input_token_count");
        conversation.usage.output = tokens("output_token_count");
        self::result(&mut conversation, result);
    } else if is_question(value) {
        let kind = if facts.has_no_gold() { TraceKind::Reference } else { TraceKind::Task };
        return Some(Trace { kind, ..conversation.finish() });
    } else {
        return None;
    }
    Some(conversation.finish())
}

/// A number, or the sum of the numbers of all turns and steps.
fn sum(value: &Json) -> Option<u64> {
    match value {
        Json::Array(list) => list.iter().filter_map(sum).reduce(u64::saturating_add),
        one => count(one),
    }
}

/// The calls of a model: those of one reply, or a list of replies for each turn of the user.
fn result(conversation: &mut Conversation, result: &Json) {
    let list = result.items();
    if !list.iter().any(|turn| matches!(turn, Json::Array(_))) {
        return reply(conversation, result);
    }
    for turn in list {
        conversation.end_reply();
        match turn {
            Json::Array(replies) => replies.iter().for_each(|it| reply(conversation, it)),
            one => reply(conversation, one),
        }
    }
}

/// One reply: a list of {NAME: arguments}, or a text, which is calls in Python or the answer.
fn reply(conversation: &mut Conversation, reply: &Json) {
    conversation.new_reply();
    match reply {
        Json::String(text) => self::text(conversation, text),
        Json::Array(list) => {
            for item in list {
                match item {
                    Json::String(text) => python(conversation, text),
                    item => by_name(conversation, item),
                }
            }
        }
        Json::Object(_) => by_name(conversation, reply),
        _ => conversation.note("a reply of an unknown kind is left out"),
    }
}

/// The calls of an object: arguments by the names of their tools.
fn by_name(conversation: &mut Conversation, calls: &Json) {
    for (name, written) in members(calls) {
        add(conversation, TracedCall::new(None, tool(None, name), arguments(Some(written))));
    }
}

/// A reply that is a text: calls in Python, alone or before a text, calls between tags, or the answer.
fn text(conversation: &mut Conversation, text: &str) {
    // Some files have their line feeds escaped twice.
    let plain = if text.contains('\n') { text.to_owned() } else { text.replace("\\n", "\n") };
    for (open, close) in [("<tool_call>", "</tool_call>"), ("<function_call>", "</function_call>")] {
        if plain.contains(open) {
            let (outside, blocks) = tagged(&plain, open, close);
            conversation.say(outside.trim());
            for block in blocks {
                super::written::calls(conversation, block, &Types::default());
            }
            return;
        }
    }
    if let Some(calls) = calls::calls(text) {
        for call in calls {
            add(conversation, call);
        }
        return;
    }
    let (first, rest) = plain.trim_start().split_once('\n').unwrap_or((&plain, ""));
    match calls::calls(first.trim()).filter(|calls| first.starts_with('[') && !calls.is_empty()) {
        Some(calls) => {
            for call in calls {
                add(conversation, call);
            }
            conversation.say(rest.trim());
            conversation.note("calls with a text after them are read; BFCL itself takes them for no calls");
        }
        None => conversation.say(text),
    }
}

fn python(conversation: &mut Conversation, text: &str) {
    // A list in brackets may hold arguments without names.
    match calls::calls(&format!("[{}]", text.trim())).or_else(|| calls::calls(text)) {
        Some(calls) => calls.into_iter().for_each(|call| add(conversation, call)),
        None => add(conversation, super::written::unreadable(text)),
    }
}

fn add(conversation: &mut Conversation, call: TracedCall) {
    if matches!(call.arguments, Some(Json::String(_))) && !call.tool.is_empty() {
        conversation.note("arguments that are no object or have no names stay a text");
    }
    conversation.call(call);
}

/// Adds the accepted calls: {NAME: {ARGUMENT: allowed values}} of one reply, or calls in Python for each turn, without
/// a mark that tells which of them belong to one reply.
fn answer(conversation: &mut Conversation, truth: &[Json]) {
    for item in truth {
        match item {
            Json::Array(turn) => {
                for text in turn.iter().filter_map(Json::as_str) {
                    conversation.end_reply();
                    python(conversation, text);
                    conversation.note("whether a call is made together with others is unknown");
                }
            }
            Json::String(text) => python(conversation, text),
            item => members(item).iter().for_each(|(name, allowed)| {
                let arguments = Some(Json::Object(first_of_each(conversation, allowed)));
                let accepted = matches!(allowed, Json::Object(_)).then(|| allowed.clone());
                conversation.call(TracedCall {
                    extra: accepted.map(|accepted| ("accepted".to_owned(), accepted)).into_iter().collect(),
                    ..TracedCall::new(None, tool(None, name), arguments)
                });
            }),
        }
    }
}

/// The first allowed value of each argument.
fn first_of_each(conversation: &mut Conversation, allowed: &Json) -> Vec<(String, Json)> {
    let mut chosen = Vec::new();
    for (key, values) in members(allowed) {
        let values = items_or_one(values);
        if values.len() > 1 {
            conversation.note(
                "of several allowed values of an argument the first is taken; all are in the member `accepted`",
            );
        }
        // An empty text means that the argument may be left out.
        if let Some(first) = values.first().filter(|first| first.as_str() != Some("")) {
            chosen.push((key.clone(), inner(conversation, first)));
        }
    }
    chosen
}

/// A value with the first allowed values inside it: members of its objects have lists of allowed values, too.
fn inner(conversation: &mut Conversation, value: &Json) -> Json {
    match value {
        Json::Object(_) => Json::Object(first_of_each(conversation, value)),
        Json::Array(list) => Json::Array(list.iter().map(|item| inner(conversation, item)).collect()),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests;
