//! Google's Agent Development Kit: sessions, and sets of evaluation cases.

use std::collections::VecDeque;

use super::gemini;
use crate::formats::prelude::*;

const CASES: [&str; 2] = ["eval_cases", "evalCases"];

/// The format of sets of evaluation cases.
pub(super) const EVAL_SET: Format = Format {
    name: "adk-eval-set",
    title: "Agent Development Kit: a set of evaluation cases",
    recognizes: |head| head.any(|value| value.first(&CASES).is_some() || is_invocation(value)),
    read: read_cases,
};

/// The format of sessions.
pub(super) const SESSION: Format = Format {
    name: "adk",
    title: "Agent Development Kit: sessions",
    recognizes: |head| head.any(|value| is_session(value) || is_event(value)),
    read: |input, sink| {
        if input.head.any(is_session) {
            return input.records(sink, |sink, at, value| sink.trace(at.line, session(value).finish()));
        }
        let events = Json::Array(input.list(sink)?);
        sink.trace(None, session(&object([("events", events)])).finish())
    },
};

fn is_session(value: &Json) -> bool {
    value.first(&["appName", "app_name"]).is_some() && value.has("events")
}

/// Whether a record is an event of a session.
fn is_event(value: &Json) -> bool {
    let has_ids = value.has("author") && value.first(&["invocationId", "invocation_id"]).is_some();
    has_ids && value.below(&["content", "parts"]).is_some()
}

/// Whether a record is a turn of an evaluation case.
fn is_invocation(value: &Json) -> bool {
    let has_result =
        value.first(&["finalResponse", "final_response", "intermediateData", "intermediate_data"]);
    value.first(&["userContent", "user_content"]).is_some() && has_result.is_some()
}

/// A session: contents with their authors.
fn session(session: &Json) -> Conversation {
    let mut conversation = Conversation::default();
    conversation.id = session.id("id");
    let mut before: Option<(Option<&str>, Option<&str>)> = None;
    for event in session.list("events").iter().filter(|event| !event.is("partial")) {
        conversation.at(event.member("timestamp").and_then(time));
        // Agents that run at once, or one that has taken over, do not continue a reply of another agent.
        let source = (event.text("author"), event.text("branch"));
        if before.is_some_and(|before| before != source) {
            conversation.end_reply();
        }
        before = Some(source);
        if let Some(usage) = event.first(&["usageMetadata", "usage_metadata"]) {
            conversation.usage.add(Usage::of_gemini(usage));
        }
        conversation.set_model(event.first_text(&["modelVersion", "model_version"]));
        if let Some(content) = event.member("content") {
            gemini::content(&mut conversation, content);
        }
        gemini::finished(&mut conversation, event);
    }
    conversation
}

fn read_cases(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if input.head.any(is_invocation) {
        let mut conversation = Conversation::default();
        input.list(sink)?.iter().for_each(|turn| invocation(&mut conversation, turn));
        return sink.trace(None, conversation.finish());
    }
    input.records(sink, |sink, _, set| {
        let cases = set.first_list(&CASES);
        cases.iter().try_for_each(|case| {
            let mut conversation = Conversation::default();
            conversation.id =
                case.first(&["evalId", "eval_id", "caseId", "case_id"]).and_then(crate::fields::id);
            for invocation in case.list("conversation") {
                self::invocation(&mut conversation, invocation);
            }
            sink.trace(None, conversation.finish())
        })
    })
}

/// Adds a turn of the user, with the calls, results and answer that followed.
fn invocation(conversation: &mut Conversation, invocation: &Json) {
    if let Some(user) = invocation.first(&["userContent", "user_content"]) {
        conversation.user(Content::from_json(user.member("parts").unwrap_or(&Json::Null)));
    }
    if let Some(data) = invocation.first(&["intermediateData", "intermediate_data"]) {
        if let Some(events) = data.first(&["invocationEvents", "invocation_events"]) {
            for content in events.items().iter().filter_map(|event| event.member("content")) {
                gemini::content(conversation, content);
            }
        }
        flat(conversation, data);
    }
    // Other programs write contents in place of the lists.
    let keys = ["intermediateData", "intermediate_data", "agentContent", "agent_content"];
    let mut contents = keys.iter().filter_map(|key| invocation.member(key));
    if let Some(content) = contents.find(|content| content.has("parts")) {
        gemini::content(conversation, content);
    }
    conversation.end_reply();
    let answer = invocation.first(&["finalResponse", "final_response"]).map(gemini::text_of);
    conversation.answer = Answer::Stated(answer.filter(|answer| !answer.is_empty()));
}

/// Adds calls and results from two lists: nothing shows which calls were made at once.
fn flat(conversation: &mut Conversation, data: &Json) {
    let list = |keys: [&str; 2]| data.first_list(&keys);
    let mut responses = Responses::new(list(["toolResponses", "tool_responses"]));
    for call in list(["toolUses", "tool_uses"]) {
        let id = call_id(call.member("id"));
        let name = call.text("name").unwrap_or_default();
        conversation.new_reply();
        conversation.call(TracedCall::new(id.clone(), tool(None, name), or_empty(call.member("args"))));
        conversation.note("what was called at once is not known: a step for each call");
        if let Some(response) = responses.take(id.as_deref(), name) {
            // The call that was just added waits for this result.
            conversation.result(Outcome { id, ..gemini::outcome(response) });
        }
    }
}

/// Results that are not joined to calls yet, by their ids and by the names of their tools.
#[derive(Default)]
struct Responses<'j> {
    all: Vec<Option<&'j Json>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<&'j str, VecDeque<usize>>,
    /// The results that have no id, by the names of their tools.
    nameless: HashMap<&'j str, VecDeque<usize>>,
}

impl<'j> Responses<'j> {
    fn new(list: &'j [Json]) -> Self {
        let mut it = Self { all: list.iter().map(Some).collect(), ..Self::default() };
        for (place, response) in list.iter().enumerate() {
            let name = response.text("name").unwrap_or_default();
            it.by_name.entry(name).or_default().push_back(place);
            match call_id(response.member("id")) {
                Some(id) => it.by_id.entry(id).or_default().push_back(place),
                None => it.nameless.entry(name).or_default().push_back(place),
            }
        }
        it
    }

    /// The first result that belongs to a call: by its id, or by the tool's name if either of them has no id.
    fn take(&mut self, id: Option<&str>, name: &str) -> Option<&'j Json> {
        let Self { all, by_id, by_name, nameless } = self;
        let queues = match id {
            Some(id) => [by_id.get_mut(id), nameless.get_mut(name)],
            None => [by_name.get_mut(name), None],
        };
        let mut places =
            queues.into_iter().flatten().flat_map(|queue| std::iter::from_fn(|| queue.pop_front()));
        places.find_map(|place| all.get_mut(place)?.take())
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    #[test]
    fn flat_lists_are_joined_by_ids_and_without_them_by_names() {
        let text = r#"{"eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "q"}]},
            "intermediate_data": {"tool_uses": [{"name": "a", "id": "1"}, {"name": "a"}, {"name": "b", "args": {"x": 1}}, {"name": "c", "id": "9"}],
                "tool_responses": [{"name": "b", "response": {"output": "B"}}, {"name": "a", "response": {"output": "second"}},
                    {"name": "a", "id": "1", "response": {"output": "first"}}, {"name": "c", "id": "8", "response": {"output": "none"}}]},
            "final_response": {"parts": [{"text": "done"}]}}]}]}"#;
        let (name, kept) = read_text("set.json", text).unwrap();
        let trace = &kept.traces[0];
        assert_eq!(
            (name, trace.id.as_deref(), trace.final_reply.as_deref()),
            ("adk-eval-set", Some("c"), Some("done"))
        );
        assert_eq!(shown(trace), ["a({})=first", "a({})=second", "b({\"x\":1})=B", "c({})=-"]);
    }
}
