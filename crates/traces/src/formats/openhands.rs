//! Histories of `OpenHands` before its SDK: events that are actions or observations. Events of the SDK have types, and are
//! read as events of any dialect.

use crate::call_shapes::call;
use crate::fields::names;
use crate::formats::prelude::*;

/// The format of histories, recognized by actions with arguments and observations.
pub(super) const HISTORY: Format = Format {
    name: "openhands",
    title: "OpenHands: histories of actions and observations",
    recognizes: |head| head.any(|record| is_event(record) || history(record).is_some()),
    read,
};

/// Actions of an agent that are no calls: what it says, and what it does with itself.
const SILENT: [&str; 6] = ["change_agent_state", "message", "null", "recall", "system", "think"];

/// Members of an action that are about it, and no arguments.
const ABOUT: &[&str] = names![
    blocking confirmation_state hidden is_confirmed is_input security_risk task_completed thought
];

fn is_event(record: &Json) -> bool {
    let is_action = record.text("action").is_some() && matches!(record.member("args"), Some(Json::Object(_)));
    is_action && record.text("source").is_some()
        || record.text("observation").is_some() && record.has("extras")
}

/// The events of an instance of a benchmark; old histories have pairs of them.
fn history(record: &Json) -> Option<Vec<&Json>> {
    let events: Vec<&Json> = record.list("history").iter().flat_map(items_or_one).collect();
    events.iter().any(|event| is_event(event)).then_some(events)
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    if !input.head.any(|record| history(record).is_some()) {
        return input.conversations(sink, |sink, at, value| {
            let events = items_or_one(value);
            give(sink, at, value, &events.iter().collect::<Vec<_>>())
        });
    }
    input.records(sink, |sink, at, value| {
        if let Some(events) = history(value) {
            return give(sink, at, value, &events);
        }
        crate::lost::leave_out(sink, at.line, value, "a record without a history is left out")
    })
}

fn give(sink: &mut dyn Sink, at: At, record: &Json, events: &[&Json]) -> Result<(), ReadError> {
    let mut it = Conversation::default();
    let mut reading = History::default();
    for event in events {
        reading.event(&mut it, event);
    }
    if !it.has_question()
        && let Some(text) = record.text("instruction")
    {
        it.user(Content::of_text(text));
    }
    it.id = at.id(record.id("instance_id").or_else(|| record.id("id")));
    sink.trace(at.line, it.finish())
}

/// A history that is being read.
#[derive(Default)]
struct History {
    /// The ids of calls by those of the events that made them.
    causes: HashMap<String, String>,
}

impl History {
    fn event(&mut self, it: &mut Conversation, event: &Json) {
        it.at(event.member("timestamp").and_then(time));
        let is_user = event.says("source", "user");
        match event.text("action") {
            Some("message") => {
                let args = event.member("args").unwrap_or(event);
                let text = args.text("content").or_else(|| event.text("message")).unwrap_or_default();
                if is_user {
                    it.user(Content::of_text(text));
                } else {
                    it.new_reply();
                    it.say(text);
                }
            }
            Some(action) if !is_user => self.action(it, event, action),
            None if event.text("observation").is_some() => self.observation(it, event),
            _ => {}
        }
    }

    /// Adds the call of an action: as the model wrote it, else as the program ran it.
    fn action(&mut self, it: &mut Conversation, event: &Json, action: &str) {
        let written = written(event);
        let args = event.member("args").unwrap_or(&Json::Null);
        if action == "finish" {
            let answer = args.first_text(&["final_thought", "thought", "message"]);
            it.new_reply();
            it.say(answer.unwrap_or_default());
            return;
        }
        if written.is_none() && SILENT.contains(&action) {
            return;
        }
        let metadata = event.member("tool_call_metadata").unwrap_or(&Json::Null);
        it.reply(metadata.text_below(&["model_response", "id"]));
        let mut own = written.unwrap_or_else(|| own_call(action, args));
        let cause = event.id("id");
        own.id = own.id.or_else(|| metadata.id("tool_call_id")).or_else(|| cause.clone());
        self.causes.extend(cause.zip(own.id.clone()));
        it.call(own);
    }

    fn observation(&self, it: &mut Conversation, event: &Json) {
        let own = event.member("tool_call_metadata").and_then(|metadata| metadata.id("tool_call_id"));
        let caused = || event.id("cause").and_then(|cause| self.causes.get(&cause).cloned());
        let Some(id) = own.or_else(caused) else { return };
        if !it.has_call(&id) {
            return;
        }
        let code = event.below(&["extras", "metadata", "exit_code"]).and_then(crate::fields::number);
        let is_error = event.says("observation", "error") || code.is_some_and(|code| code > 0.0);
        let result = event.member("content").map(crate::content::result_of);
        it.result(Outcome { is_error, ..Outcome::new(Some(id), result) });
    }
}

/// The call among those of the reply that an action belongs to.
fn written(event: &Json) -> Option<TracedCall> {
    let metadata = event.member("tool_call_metadata")?;
    let id = metadata.id("tool_call_id");
    let choices = metadata.list_below(&["model_response", "choices"]);
    let calls =
        choices.iter().filter_map(|choice| choice.member("message")).flat_map(|it| it.list("tool_calls"));
    let call = calls.filter_map(call).find(|call| call.id == id);
    call.or_else(|| {
        let name = metadata.text("function_name")?;
        let args = event.member("args").unwrap_or(&Json::Null);
        Some(TracedCall { id, ..own_call(name, args) })
    })
}

/// The call of an action, from what the program ran: of a tool of MCP, its name and arguments.
fn own_call(action: &str, args: &Json) -> TracedCall {
    if let (Some(name), Some(inner)) = (args.text("name"), args.member("arguments")) {
        return TracedCall::new(None, tool(None, name), arguments(Some(inner)));
    }
    let own = members(args).iter().filter(|(key, value)| !ABOUT.contains(&&**key) && *value != Json::Null);
    let own = Json::Object(own.cloned().collect());
    TracedCall::new(None, tool(None, action), Some(own))
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The members of events are those of `OpenHands` 0.9 (`event_to_dict`), and of its later `tool_call_metadata`.
    #[test]
    fn actions_are_calls_and_observations_their_results() {
        let events = r#"[{"id": 0, "source": "user", "action": "message", "args": {"content": "Q?"}},
            {"id": 1, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "t", "hidden": false}},
            {"id": 2, "source": "agent", "observation": "run", "content": "a", "cause": 1, "extras": {"metadata": {"exit_code": 1}}},
            {"id": 3, "source": "agent", "action": "call_tool_mcp", "args": {"name": "x"}, "tool_call_metadata":
                {"function_name": "f", "tool_call_id": "c", "model_response": {"id": "r", "choices": [{"message": {"tool_calls":
                [{"id": "c", "function": {"name": "f", "arguments": "{\"b\":1}"}}]}}]}}},
            {"id": 4, "source": "agent", "observation": "mcp", "content": "B", "extras": {}, "tool_call_metadata": {"tool_call_id": "c"}},
            {"id": 5, "source": "agent", "action": "finish", "args": {"final_thought": "Done."}}]"#;
        let instance = format!(r#"{{"instance_id": "i", "history": {events}}}"#).replace('\n', "");
        for (name, text) in
            [("a.json", events.to_owned()), ("output.jsonl", format!("{instance}\n{instance}"))]
        {
            let (format, kept) = read_text(name, &text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(format, "openhands");
            assert_eq!(shown(trace), [r#"run({"command":"ls"})=a!"#, r#"f({"b":1})=B"#]);
            assert_eq!(trace.final_reply.as_deref(), Some("Done."));
            assert!(trace.question.is_some() && kept.traces.len() == name.len() / 6);
        }
    }
}
