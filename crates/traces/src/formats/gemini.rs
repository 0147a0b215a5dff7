//! Google's Gemini: lists of contents, requests, replies and logs, as REST or Python spells them.

use crate::call_signs::named_like_calls;
use crate::content::Part;
use crate::events::events;
use crate::formats::prelude::*;
use crate::logs::{Exchange, each_chain, is_exchange};
use crate::lost::leave_out;

/// Replies and logs, recognized by members that only they have.
pub(super) const REPLIES: Format = Format {
    name: "gemini",
    title: "Gemini: replies and logs",
    recognizes: |head| {
        let is_reply = |value: &Json| value.has("candidates");
        if head.shape == Shape::Events {
            return head.values.iter().any(is_reply);
        }
        head.any(|value| {
            is_reply(value) || is_exchange(value) && value.member("response").is_some_and(is_reply)
        })
    },
    read,
};

/// Lists of contents, by their parts.
pub(super) const CONTENTS: Format = Format {
    name: "gemini-contents",
    title: "Gemini: contents",
    recognizes: |head| {
        head.any_message(|content| {
            let is_part = |part: &Json| {
                !part.has("type") && part.first(&CALL).or_else(|| part.first(&RESPONSE)).is_some()
            };
            content.list("parts").iter().any(is_part)
        })
    },
    read,
};

const CALL: [&str; 2] = ["functionCall", "function_call"];
const RESPONSE: [&str; 2] = ["functionResponse", "function_response"];

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.any(is_exchange) {
        return each_chain(input, sink, |request| request.list("contents"), logged);
    }
    let is_stream = input.head.shape == Shape::Events;
    if is_stream || input.head.any(|value| value.has("candidates")) {
        // Several responses are the pieces of streamed replies, recognized by their ids.
        let responses = events(input, sink)?;
        // Records of a batch have ids of their own, and so have whole replies. Pieces of one share it.
        let has_ids = |id: &dyn Fn(&Json) -> Option<String>| {
            let ids: HashSet<Option<String>> = responses.iter().map(id).collect();
            ids.len() == responses.len() && !ids.contains(&None)
        };
        let is_whole = |response: &Json| {
            let ends = |candidate: &Json| candidate.first(&["finishReason", "finish_reason"]).is_some();
            response.list("candidates").iter().any(ends)
        };
        let reply_id =
            |response: &Json| response.first(&["responseId", "response_id"]).and_then(crate::fields::id);
        if has_ids(&|response| response.id("id"))
            || responses.len() > 1 && responses.iter().all(is_whole) && has_ids(&reply_id)
        {
            return responses.iter().try_for_each(|response| {
                let mut conversation =
                    Conversation::with_id(response.id("id").or_else(|| reply_id(response)));
                reply(&mut conversation, response);
                conversation.usage.add(usage(response).unwrap_or_default());
                sink.trace(None, conversation.finish())
            });
        }
        let mut conversation = Conversation::default();
        let (mut latest, mut before) = (Usage::default(), None);
        for response in &responses {
            if !response.has("candidates") && !named_like_calls(response).is_empty() {
                leave_out(sink, None, response, "no reply of Gemini, left out")?;
                continue;
            }
            let id = reply_id(response);
            if before.is_some() && id.is_some() && id != before {
                conversation.usage.add(std::mem::take(&mut latest));
                conversation.end_reply();
            }
            before = id.or(before);
            // The calls that the SDK has run by itself.
            let history = ["automaticFunctionCallingHistory", "automatic_function_calling_history"];
            for each in response.first_list(&history) {
                content(&mut conversation, each);
            }
            reply(&mut conversation, response);
            latest = usage(response).unwrap_or(latest);
        }
        conversation.usage.add(latest);
        return sink.trace(None, conversation.finish());
    }
    input.conversations(sink, |sink, at, value| {
        let mut conversation = Conversation::default();
        for content in messages(value).unwrap_or_default() {
            self::content(&mut conversation, content);
        }
        conversation.id = at.id(value.id("id"));
        sink.trace(at.line, conversation.finish())
    })
}

fn usage(response: &Json) -> Option<Usage> {
    response.first(&["usageMetadata", "usage_metadata"]).map(Usage::of_gemini)
}

/// The whole conversation of a log: the contents of the last request, and the last reply.
fn logged(chain: &[Exchange<'_>]) -> Conversation {
    let mut conversation = Conversation::default();
    let Some(last) = chain.last() else { return conversation };
    conversation.model = last.request.text("model").map(str::to_owned);
    for content in last.request.list("contents") {
        self::content(&mut conversation, content);
    }
    for exchange in chain {
        conversation.usage.add(usage(exchange.response).unwrap_or_default());
    }
    conversation.end_reply();
    reply(&mut conversation, last.response);
    conversation
}

/// Adds a reply: the first of several candidates, which are alternatives.
pub(super) fn reply(conversation: &mut Conversation, response: &Json) {
    conversation.set_model(response.first_text(&["modelVersion", "model_version"]));
    let candidates = response.list("candidates");
    let first = candidates.iter().min_by_key(|candidate| candidate.count("index").unwrap_or_default());
    let Some(candidate) = first else { return };
    if let Some(content) = candidate.member("content") {
        self::content(conversation, content);
    }
    finished(conversation, candidate);
    for _ in candidates.iter().skip(1) {
        conversation.note("another choice of the same reply is left out");
    }
}

/// Adds a call without a name if a reply ends with one that Gemini could not parse: its text is lost.
pub(super) fn finished(conversation: &mut Conversation, candidate: &Json) {
    let reason = candidate.first_text(&["finishReason", "finish_reason"]);
    if reason.is_some_and(|reason| reason.ends_with("MALFORMED_FUNCTION_CALL")) {
        conversation.reply(None);
        conversation.call(TracedCall::default());
        conversation.note("a call could not be read by the provider, and is not in the file");
    }
}

/// Adds a content: of the user, with results, or of the model, with calls.
pub(super) fn content(conversation: &mut Conversation, content: &Json) {
    let parts = content.list("parts");
    if content.says("role", "model") || parts.iter().any(|part| part.first(&CALL).is_some()) {
        conversation.reply_goes_on();
        for part in parts {
            self::part(conversation, part);
        }
        return;
    }
    let mut own = Content::default();
    for part in parts {
        match part.first(&RESPONSE).or_else(|| part.first(&["toolResponse", "tool_response"])) {
            Some(response) => result(conversation, response),
            None => own.add(part),
        }
    }
    // Prompts of the system have a place of their own in requests, but older programs put them here.
    if !own.is_empty() && !content.says("role", "system") {
        conversation.user(own);
    }
}

/// Adds a part of the model's reply.
fn part(conversation: &mut Conversation, part: &Json) {
    if let Some(call) = part.first(&CALL) {
        // A call that is streamed has its name in the first piece alone.
        if !call.has("name")
            && (call.has("partialArgs") || call.has("willContinue") || members(call).is_empty())
        {
            return go_on(conversation, call);
        }
        let id = call_id(call.member("id"));
        conversation.call(TracedCall::new(id, named_tool(call, "name"), or_empty(call.member("args"))));
        if call.has("partialArgs") {
            go_on(conversation, call);
        }
    } else if let Some(code) = part.first(&["executableCode", "executable_code"]) {
        conversation.new_reply();
        let id = call_id(code.member("id"));
        conversation.call(TracedCall::new(id, "code_execution".to_owned(), or_empty(Some(code))));
    } else if let Some(done) = part.first(&["codeExecutionResult", "code_execution_result"]) {
        conversation.result(Outcome {
            tool: Some("code_execution".to_owned()),
            is_error: done.text("outcome").is_some_and(|outcome| outcome != "OUTCOME_OK"),
            ..Outcome::new(call_id(done.member("id")), done.member("output").cloned())
        });
    } else if let Some(call) = part.first(&["toolCall", "tool_call"]) {
        let name = call.first_text(&["toolType", "tool_type"]).unwrap_or_default();
        conversation.new_reply();
        let id = call_id(call.member("id"));
        conversation.call(TracedCall::new(id, name.to_owned(), or_empty(call.member("args"))));
    } else if let Some(response) =
        part.first(&["toolResponse", "tool_response"]).or_else(|| part.first(&RESPONSE))
    {
        result(conversation, response);
    } else if !part.is("thought") {
        conversation.say(part.text("text").unwrap_or_default());
    }
}

/// The most names and indexes of a place of streamed arguments.
const DEEPEST: usize = 32;

/// Adds a piece of streamed arguments to the last call. Each part has its place as a JSON path: `$.city`, `$.days[0]`.
fn go_on(conversation: &mut Conversation, piece: &Json) {
    let parts = piece.list("partialArgs");
    let Some(call) = conversation.last_calls_mut().last() else {
        return conversation.note("a piece of arguments without its call is left out");
    };
    let arguments = call.arguments.get_or_insert_with(|| Json::Object(Vec::new()));
    let mut lost = 0;
    for part in parts {
        // A part may only say that more follows.
        let value =
            ["stringValue", "numberValue", "boolValue", "nullValue"].iter().find_map(|key| part.get(key));
        let Some(value) = value else { continue };
        let value = if part.get("nullValue").is_some() { Json::Null } else { value.clone() };
        match (part.text("jsonPath").and_then(|path| place(arguments, path)), value) {
            (Some(Json::String(before)), Json::String(more)) => before.push_str(&more),
            (Some(place), value) => *place = value,
            (None, _) => lost += 1,
        }
    }
    for _ in 0..lost {
        conversation.note("a piece of arguments has a place that cannot be read, and is left out");
    }
}

/// The place of a JSON path in arguments, made if missing; `None` if the path has more than names and indexes.
fn place<'j>(arguments: &'j mut Json, path: &str) -> Option<&'j mut Json> {
    let path =
        path.strip_prefix('$')?.replace("['", ".").replace("']", "").replace('[', ".[").replace(']', "");
    if path.split('.').count() > DEEPEST {
        return None;
    }
    path.split('.').skip(1).try_fold(arguments, |at, name| {
        if let Some(index) = name.strip_prefix('[') {
            return item(at, index.parse().ok()?);
        }
        if !matches!(at, Json::Object(_)) {
            *at = Json::Object(Vec::new());
        }
        let Json::Object(members) = at else { return None };
        let known = members.iter().position(|(key, _)| key == name);
        let index = known.unwrap_or(members.len());
        if known.is_none() {
            members.push((name.to_owned(), Json::Null));
        }
        members.get_mut(index).map(|(_, value)| value)
    })
}

/// The item of a list at this place, which may be the next one.
fn item(at: &mut Json, index: usize) -> Option<&mut Json> {
    if !matches!(at, Json::Array(_)) {
        *at = Json::Array(Vec::new());
    }
    let Json::Array(items) = at else { return None };
    if index == items.len() {
        items.push(Json::Null);
    }
    items.get_mut(index)
}

/// Adds the result of an earlier call. A tool that continues sends several responses: the last one counts.
fn result(conversation: &mut Conversation, response: &Json) {
    let outcome = outcome(response);
    match &outcome.id {
        Some(id) if conversation.has_result(id) => {
            let result = outcome.result.unwrap_or_else(|| string(""));
            conversation.replace_result(id, result, outcome.is_error);
        }
        _ => conversation.result(outcome),
    }
}

/// A result: `output` alone is the value; with `error` the call failed; anything else is the whole value.
pub(super) fn outcome(response: &Json) -> Outcome {
    let value = response.member("response");
    let error = value.and_then(|value| value.member("error"));
    let alone = value.filter(|value| members(value).len() == 1).and_then(|value| value.member("output"));
    let mut result = error.or(alone).or(value).cloned();
    let mut media = Content::default();
    response.list("parts").iter().for_each(|part| media.add(part));
    if !media.is_empty() {
        let text = result.map(|result| match result {
            Json::String(text) => text,
            other => other.to_text(m3_trajectory::json::Keys::AsRead),
        });
        media.parts.splice(0..0, text.filter(|text| !text.is_empty()).map(Part::Text));
        result = Some(media.to_json());
    }
    let name = response.first_text(&["name", "toolType", "tool_type"]);
    Outcome {
        tool: name.map(|name| tool(None, name)),
        is_error: error.is_some(),
        ..Outcome::new(call_id(response.member("id")), result)
    }
}

/// The texts of a content, without thoughts.
pub(super) fn text_of(content: &Json) -> String {
    let parts = content.member("parts").map(Json::items).unwrap_or_default();
    parts.iter().filter(|part| !part.is("thought")).filter_map(|part| part.text("text")).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    #[test]
    fn results_without_ids_go_by_name_and_failures_are_told_by_their_key() {
        let text = r#"{"contents": [{"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"text": "thinking", "thought": true}, {"functionCall": {"name": "a", "args": {"x": 1}}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "b"}}]},
            {"role": "function", "parts": [{"functionResponse": {"name": "b", "response": {"output": {"n": 2}}}},
                {"functionResponse": {"name": "a", "response": {"error": "broken"}}}]},
            {"role": "model", "parts": [{"text": "It "}]}, {"role": "model", "parts": [{"text": "is."}]}]}"#;
        let (name, kept) = read_text("contents.json", text).unwrap();
        assert_eq!(
            (name, shown(&kept.traces[0])),
            ("gemini-contents", vec!["a({\"x\":1})=broken! b({})={\"n\":2}".to_owned()])
        );
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("It is."));
    }

    #[test]
    fn the_last_of_several_responses_counts_and_code_is_a_call() {
        let text = r#"[{"role": "model", "parts": [{"function_call": {"name": "slow", "id": "1", "args": {}}}]},
            {"role": "user", "parts": [{"function_response": {"id": "1", "name": "slow", "will_continue": true, "response": {"output": "half"}}},
                {"function_response": {"id": "1", "name": "slow", "response": {"output": "all"}}}]},
            {"role": "model", "parts": [{"executable_code": {"language": "PYTHON", "code": "1/0"}},
                {"code_execution_result": {"outcome": "OUTCOME_FAILED", "output": "zero"}}, {"text": "No."}]}]"#;
        let (_, kept) = read_text("contents.json", text).unwrap();
        let code = "code_execution({\"language\":\"PYTHON\",\"code\":\"1/0\"})=zero!";
        assert_eq!(shown(&kept.traces[0]), ["slow({})=all", code]);
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("No."));
    }

    #[test]
    fn a_call_that_could_not_be_read_has_no_name() {
        let text = r#"{"candidates": [{"content": {"role": "model", "parts": []}, "finishReason": "MALFORMED_FUNCTION_CALL"}]}"#;
        let (name, kept) = read_text("reply.json", text).unwrap();
        assert_eq!((name, shown(&kept.traces[0])), ("gemini", vec!["(-)=-".to_owned()]));
    }
}
