//! Events as messages: logs of agents name the author of a record in its type (`user.message`, `tool_return_message`,
//! `ToolCallRequestEvent`) in place of a role, and often keep its content in a member such as `data` or `part`.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use m3_trajectory::json::Json;

use crate::call_shapes::{CallShape, call, objects, part_type, shape_of_member, shape_of_type};
use crate::call_signs::is_written_call;
use crate::content::{object, string};
use crate::fields::{Fields, members, plain, role};

/// Members with the kind of an event.
const KINDS: [&str; 5] = ["type", "message_type", "kind", "event", "event_type"];

/// Members with the content of an event.
const PAYLOADS: [&str; 7] = ["data", "detail", "part", "item", "payload", "llm_message", "step_details"];

/// Endings of names that say only that it is an event.
const ENDINGS: [&str; 2] = ["message", "event"];

/// Kinds that are calls or results, beside those that members and parts are named by.
const CALLS: [&str; 2] = ["action", "approvalrequest"];
const RESULTS: [&str; 5] =
    ["agenterror", "functionexecutionresult", "observation", "toolcallexecution", "userrejectobservation"];

/// What the name of an event of a tool begins with, and how it ends if it is a call or a result: `tool_start`,
/// `tool_execution_complete`.
const TOOLS: [&str; 5] = ["tool", "toolcall", "toolexecution", "tooluse", "toolusage"];
const BEGINS: [&str; 4] = ["request", "start", "started", "begin"];
const ENDS: [&str; 8] = ["complete", "completed", "end", "ended", "error", "finish", "finished", "result"];

/// Members with an id that all events of one reply have in common.
const REPLY_IDS: [&str; 2] = ["messageID", "llm_response_id"];

/// The deepest object of a message that is a part of it.
const DEEPEST_PART: usize = 4;

/// What an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    User,
    Model,
    Call,
    Outcome,
    /// A text, whose author another member names.
    Text,
    /// The beginning or the end of a reply.
    Border,
    /// A second report of calls and results that other events hold.
    Summary,
}

/// The kind of a record without a role, by its type.
pub(crate) fn kind(event: &Json) -> Option<EventKind> {
    let name = plain(KINDS.iter().find_map(|key| event.text(key))?);
    let bare = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    match bare {
        "user" | "human" => Some(EventKind::User),
        "agent" | "ai" | "assistant" | "gemini" | "model" => Some(EventKind::Model),
        "" | "handoff" | "message" | "multimodal" | "stop" | "text" => Some(EventKind::Text),
        "stepstart" | "stepfinish" => Some(EventKind::Border),
        // A message that begins or grows is told once more at its end.
        "messagestart" | "messageupdate" | "toolcallsummary" | "turnend" => Some(EventKind::Summary),
        // A message of a tool, or a part that is a call.
        "tool" if call(payload(event).unwrap_or(event)).is_none() => Some(EventKind::Outcome),
        _ if CALLS.contains(&bare) || is_of_tool(bare, &BEGINS) => Some(EventKind::Call),
        _ if RESULTS.contains(&bare) || is_of_tool(bare, &ENDS) => Some(EventKind::Outcome),
        // Whatever the event is called, what it holds can only be a call.
        _ if shape_of_type(bare).is_none() && is_written_call(payload(event).unwrap_or(event)) => {
            Some(EventKind::Call)
        }
        _ => Some(match shape_of_type(bare)? {
            CallShape::Call => EventKind::Call,
            CallShape::Outcome => EventKind::Outcome,
        }),
    }
}

/// Whether a name is that of an event of a tool with one of these endings.
fn is_of_tool(name: &str, endings: &[&str]) -> bool {
    let rest = |begin: &str| name.strip_prefix(begin).is_some_and(|rest| endings.contains(&rest));
    TOOLS.iter().any(|begin| rest(begin))
}

/// Whether a record is surely an event of a conversation: it speaks for someone, or makes a call.
pub(crate) fn is_conversation_event(event: &Json) -> bool {
    let holds_content = |inner: &Json| inner.has("content") || inner.has("text");
    role(event).is_none()
        && match kind(event) {
            Some(EventKind::User | EventKind::Model) => {
                holds_content(event) || payload(event).is_some_and(holds_content)
            }
            Some(EventKind::Text) => event.text("source").is_some() && event.has("content"),
            Some(EventKind::Call) => {
                calls(payload(event).unwrap_or(event)).iter().any(|value| call(value).is_some())
            }
            _ => turn(event).is_some(),
        }
}

/// The id that all events of one reply have in common.
pub(crate) fn reply_id(event: &Json) -> Option<&str> {
    [Some(event), payload(event)].into_iter().flatten().find_map(|holder| holder.first(&REPLY_IDS)?.as_str())
}

/// The member that holds the content of an event.
fn payload(event: &Json) -> Option<&Json> {
    event.first(&PAYLOADS).filter(|inner| matches!(inner, Json::Object(_)))
}

/// A message with a role for a record that names its author in another way; other records as they are.
pub(crate) fn as_message(record: &Json) -> Cow<'_, Json> {
    if record.below(&["Role", "Label"]).is_some() {
        return Cow::Owned(with_role(role(record).unwrap_or_default(), &in_lower_case(record, 0)));
    }
    // Sessions keep their own facts beside a message.
    if let Some(message) =
        record.member("message").filter(|inner| role(inner).is_some() && !record.has("role"))
    {
        let is_shaped = |(key, _): &&(String, Json)| shape_of_member(key).is_some();
        let beside: Vec<(String, Json)> = members(record).iter().filter(is_shaped).cloned().collect();
        if beside.is_empty() {
            return Cow::Borrowed(message);
        }
        return Cow::Owned(Json::Object(members(message).iter().cloned().chain(beside).collect()));
    }
    if let Some(is_user) = record.member("isCreatedByUser") {
        let role = if *is_user == Json::Bool(true) { "user" } else { "assistant" };
        return Cow::Owned(with_role(role, record));
    }
    if role(record).is_some() {
        return Cow::Borrowed(record);
    }
    if let Some(message) = turn(record) {
        return Cow::Owned(message);
    }
    let Some(kind) = kind(record) else { return Cow::Borrowed(record) };
    let inner = payload(record).unwrap_or(record);
    if role(inner).is_some() {
        return Cow::Borrowed(inner);
    }
    Cow::Owned(match kind {
        EventKind::User => with_role("user", inner),
        EventKind::Model => with_role("assistant", inner),
        EventKind::Text => {
            let is_user = matches!(record.text("source"), Some("user" | "human"));
            with_role(if is_user { "user" } else { "assistant" }, inner)
        }
        // OpenHands ends a conversation with an action that holds the answer.
        EventKind::Call
            if record.below(&["action", "kind"]).is_some_and(|it| it.as_str() == Some("FinishAction")) =>
        {
            let answer = record.below(&["action", "message"]).cloned().unwrap_or(Json::Null);
            object([("role", string("assistant")), ("content", answer)])
        }
        EventKind::Call => {
            // What the call came to may stand beside what it was.
            let state = record.member("state").filter(|_| !inner.has("state"));
            let with_state = |call: Json| match (&state, call) {
                (Some(state), Json::Object(all)) => {
                    let state = ("state".to_owned(), (*state).clone());
                    Json::Object(all.into_iter().chain([state]).collect())
                }
                (_, call) => call,
            };
            let calls = calls(inner).into_iter().map(with_state).collect();
            object([("role", string("assistant")), ("tool_calls", Json::Array(calls))])
        }
        EventKind::Outcome => results(inner),
        EventKind::Border | EventKind::Summary => return Cow::Borrowed(record),
    })
}

/// A message of .NET with names as other programs write them. Arguments and results keep theirs.
fn in_lower_case(value: &Json, depth: usize) -> Json {
    let lower = |key: &str| {
        let mut signs = key.chars();
        signs.next().into_iter().flat_map(char::to_lowercase).chain(signs).collect::<String>()
    };
    match value {
        Json::Array(items) => Json::Array(items.iter().map(|item| in_lower_case(item, depth + 1)).collect()),
        Json::Object(all) if depth < DEEPEST_PART => {
            let each = all.iter().filter(|(key, _)| key != "Role").map(|(key, value)| {
                let is_own = matches!(&**key, "Arguments" | "Result" | "Metadata");
                (lower(key), if is_own { value.clone() } else { in_lower_case(value, depth + 1) })
            });
            Json::Object(each.collect())
        }
        other => other.clone(),
    }
}

/// A record with a role of its own in place of its type.
pub(crate) fn with_role(role: &str, record: &Json) -> Json {
    let others = members(record).iter().filter(|(key, _)| !matches!(&**key, "type" | "kind" | "sender"));
    Json::Object([("role".to_owned(), string(role))].into_iter().chain(others.cloned()).collect())
}

/// The calls of an event: those of its content, those of members that are named like calls, or the event itself.
fn calls(event: &Json) -> Vec<Json> {
    let content = event.list("content");
    if content.iter().any(|item| call(item).is_some()) {
        return content.to_vec();
    }
    let held = members(event).iter().filter(|(key, _)| shape_of_member(key) == Some(CallShape::Call));
    let held: Vec<Json> = held.flat_map(|(_, value)| objects(value)).collect();
    match &held[..] {
        [] => vec![event.clone()],
        // The id may stand beside the member.
        [one] if call(one).is_some_and(|call| call.id.is_none()) => {
            let id = members(event).iter().filter(|(key, _)| plain(key) == "callid");
            vec![Json::Object(id.chain(members(one)).cloned().collect())]
        }
        _ => held,
    }
}

/// A message with the results of an event: those of a list, or its own.
fn results(event: &Json) -> Json {
    let is_result = |item: &Json| matches!(item, Json::Object(_)) && !item.has("text");
    let content = event.list("content");
    if !content.is_empty() && content.iter().all(is_result) {
        return object([
            ("role", string("tool")),
            ("tool_results", event.member("content").cloned().unwrap_or(Json::Null)),
        ]);
    }
    let is_outcome = |key: &str| shape_of_member(key) == Some(CallShape::Outcome);
    let lists = || members(event).iter().filter(|(key, value)| is_outcome(key) && !value.items().is_empty());
    if lists().next().is_some() {
        let results = lists().flat_map(|(_, value)| value.items().to_vec()).collect();
        return object([("role", string("tool")), ("tool_results", Json::Array(results))]);
    }
    let renamed = |(key, value): &(String, Json)| {
        let key = if is_outcome(key) { "content" } else { key };
        (key.to_owned(), value.clone())
    };
    let mut own = with_role("tool", event);
    if let Json::Object(all) = &mut own {
        *all = all.iter().map(renamed).collect();
    }
    own
}

/// A message for a turn of Pydantic AI, whose kind is `request` or `response` and whose parts have a `part_kind`.
fn turn(record: &Json) -> Option<Json> {
    let role = match record.text("kind")? {
        "request" => "user",
        "response" => "assistant",
        _ => return None,
    };
    let parts = record.list("parts");
    parts.iter().any(|part| part.has("part_kind")).then_some(())?;
    let part = |part: &Json| {
        let is_of_user = part.says("part_kind", "user-prompt");
        let is_refusal = part.says("part_kind", "retry-prompt");
        match part.member("content").filter(|_| is_of_user) {
            Some(Json::Array(items)) => items.clone(),
            Some(content) => vec![content.clone()],
            None if is_refusal && part.has("tool_name") => {
                let others = members(part).iter().filter(|(key, _)| key != "part_kind").cloned();
                let marks = [("type", string("tool_result")), ("is_error", Json::Bool(true))];
                let marks = marks.map(|(key, value)| (key.to_owned(), value));
                vec![Json::Object(marks.into_iter().chain(others).collect())]
            }
            None => vec![part.clone()],
        }
    };
    let texts = |part: &&Json| !matches!(part_type(part), Some("system-prompt" | "instructions"));
    let parts = parts.iter().filter(texts).flat_map(part).collect();
    let model = record.text("model_name").map(|name| ("model", string(name)));
    Some(object([("role", string(role)), ("content", Json::Array(parts))].into_iter().chain(model)))
}

/// The records of a list as they are at its end: a record that is written again, with the same id and more members,
/// takes the place of the first; `$set` adds messages; `$rewindTo` takes the later ones back.
pub(crate) fn last_versions(records: &[Json]) -> Vec<&Json> {
    let mut last: Vec<&Json> = Vec::new();
    let mut places = HashMap::<String, usize>::new();
    let ids: HashSet<_> = records.iter().map(|record| record.id("id")).collect();
    for record in records {
        if let Some(id) = record.id("$rewindTo") {
            if let Some(place) = places.get(&id).copied() {
                for gone in last.drain(place.min(last.len())..) {
                    gone.id("id").and_then(|id| places.remove(&id));
                }
            }
            continue;
        }
        let inner = if record.has("$set") {
            record.list_below(&["$set", "messages"])
        } else {
            std::slice::from_ref(record)
        };
        for record in inner {
            // An id that all records share is that of the conversation.
            let id = record.id("id").filter(|_| ids.len() > 1);
            let known = id.as_ref().and_then(|id| places.get(id).copied());
            let is_again = known.and_then(|at| last.get(at)).is_some_and(|first| is_more(record, first));
            if let Some(at) = known.filter(|_| is_again) {
                last.splice(at..=at, [record]).for_each(drop);
            } else {
                places.extend(id.map(|id| (id, last.len())));
                last.push(record);
            }
        }
    }
    last
}

/// Whether a record has all that an earlier one has.
fn is_more(record: &Json, earlier: &Json) -> bool {
    members(earlier).iter().all(|(key, value)| record.get(key) == Some(value))
}
