//! Google's Agent Development Kit: sessions, and sets of evaluation cases.

use m3_trajectory::json::Json;

use super::{Format, gemini};
use crate::arguments::{call_id, or_empty, tool};
use crate::content::Content;
use crate::conversation::{Answer, Conversation, Outcome};
use crate::fields::Fields;
use crate::input::{Input, ReadError, Sink};
use crate::time::time;
use crate::trace::TracedCall;
use crate::usage::Usage;

const CASES: [&str; 2] = ["eval_cases", "evalCases"];

/// Sets of evaluation cases.
pub(super) const EVAL_SET: Format = Format {
    name: "adk-eval-set",
    title: "Agent Development Kit: a set of evaluation cases",
    recognizes: |head| head.any(|value| value.first(&CASES).is_some()),
    read: read_cases,
};

/// Sessions.
pub(super) const SESSION: Format = Format {
    name: "adk",
    title: "Agent Development Kit: sessions",
    recognizes: |head| {
        head.any(|value| value.first(&["appName", "app_name"]).is_some() && value.has("events"))
    },
    read: |input, sink| input.records(sink, |sink, at, value| sink.trace(at.line, session(value).finish())),
};

/// A session: contents with their authors.
fn session(session: &Json) -> Conversation {
    let mut conversation = Conversation::default();
    conversation.id = session.id("id");
    let mut before: Option<(Option<&str>, Option<&str>)> = None;
    for event in session.list("events").iter().filter(|event| !event.is("partial")) {
        conversation.at(event.member("timestamp").and_then(time));
        // Agents that run at once, or one that has taken over, do not go on with a reply of another.
        let of = (event.text("author"), event.text("branch"));
        if before.is_some_and(|before| before != of) {
            conversation.end_reply();
        }
        before = Some(of);
        if let Some(usage) = event.first(&["usageMetadata", "usage_metadata"]) {
            conversation.usage.add(Usage::of_gemini(usage));
        }
        if let Some(model) = event.first(&["modelVersion", "model_version"]).and_then(Json::as_str) {
            conversation.model = Some(model.to_owned());
        }
        if let Some(content) = event.member("content") {
            gemini::content(&mut conversation, content);
        }
        gemini::finished(&mut conversation, event);
    }
    conversation
}

fn read_cases(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, _, set| {
        let cases = set.first(&CASES).map(crate::fields::items).unwrap_or_default();
        cases.iter().try_for_each(|case| {
            let mut conversation = Conversation::default();
            conversation.id = case.first(&["evalId", "eval_id"]).and_then(crate::fields::id);
            for invocation in case.list("conversation") {
                self::invocation(&mut conversation, invocation);
            }
            sink.trace(None, conversation.finish())
        })
    })
}

/// A turn of the user with all that came of it.
fn invocation(conversation: &mut Conversation, invocation: &Json) {
    if let Some(user) = invocation.first(&["userContent", "user_content"]) {
        conversation.user(Content::of(user.member("parts").unwrap_or(&Json::Null)));
    }
    if let Some(data) = invocation.first(&["intermediateData", "intermediate_data"]) {
        if let Some(events) = data.first(&["invocationEvents", "invocation_events"]) {
            for content in crate::fields::items(events).iter().filter_map(|event| event.member("content")) {
                gemini::content(conversation, content);
            }
        }
        flat(conversation, data);
    }
    conversation.end_reply();
    let answer = invocation.first(&["finalResponse", "final_response"]).map(gemini::text_of);
    conversation.answer = Answer::Told(answer.filter(|answer| !answer.is_empty()));
}

/// Calls and results in two lists: nothing tells what was called at once.
fn flat(conversation: &mut Conversation, data: &Json) {
    let list = |keys: [&str; 2]| data.first(&keys).map(crate::fields::items).unwrap_or_default();
    let responses = list(["toolResponses", "tool_responses"]);
    let mut is_used = vec![false; responses.len()];
    for call in list(["toolUses", "tool_uses"]) {
        let id = call_id(call.member("id"));
        let belongs = |response: &Json| match (&id, call_id(response.member("id"))) {
            (Some(id), Some(other)) => *id == other,
            _ => response.text("name") == call.text("name"),
        };
        conversation.end_reply();
        conversation.reply(None);
        conversation.call(TracedCall {
            id: id.clone(),
            tool: tool(None, call.text("name").unwrap_or_default()),
            arguments: or_empty(call.member("args")),
            ..TracedCall::default()
        });
        conversation.note("what was called at once is not known: a step for each call");
        if let Some(at) = (0..responses.len()).find(|at| !is_used[*at] && belongs(&responses[*at])) {
            is_used[at] = true;
            let found = gemini::outcome(&responses[at]);
            // The call before it is the one that waits.
            conversation.result(Outcome { id, ..found });
        }
    }
}
