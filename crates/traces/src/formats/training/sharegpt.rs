//! Conversations of {`from`, `value`}: `ShareGPT` and Hermes, LLaMA-Factory, `APIGen` of several turns, `ToolACE`, `ToolBench`.

use super::types::Types;
use super::{calls, glaive, records, results, written};
use crate::formats::prelude::*;
use crate::literal::value;

/// The format of conversations of {`from`, `value`}.
pub(in super::super) const SHAREGPT: Format = Format {
    name: "sharegpt",
    title: "training data: conversations of from and value",
    recognizes: |head| head.any(is_record),
    read,
};

fn is_record(value: &Json) -> bool {
    value.list("conversations").iter().any(|turn| turn.first(&ROLE).is_some() && turn.first(&TEXT).is_some())
}

/// The members that may name the speaker.
const ROLE: [&str; 2] = ["from", "role"];

/// The members that may hold the text.
const TEXT: [&str; 2] = ["value", "content"];

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    records(input, sink, |conversation, value| {
        if value.has("conversations") {
            let mut reader = Reader {
                types: value.member("tools").map(Types::from_tools).unwrap_or_default(),
                ..Reader::default()
            };
            for turn in value.list("conversations") {
                reader.turn(conversation, turn);
            }
        }
        value.has("conversations")
    })
}

#[derive(Default)]
struct Reader {
    types: Types,
    /// Whether calls are written as `Action: ..`.
    is_react: bool,
    /// Whether the model has given up, so that its next message begins another attempt.
    has_given_up: bool,
    /// Whether the next result is that of `Finish`, which is not a call.
    has_finished: bool,
}

impl Reader {
    fn turn(&mut self, conversation: &mut Conversation, turn: &Json) {
        let text = turn
            .first(&TEXT)
            .map(|value| value.as_str().map_or_else(|| Content::from_json(value).text(), str::to_owned));
        let text = text.unwrap_or_default();
        match turn.first_text(&ROLE) {
            Some("system") => self.types.add_prompt(&text),
            Some("human" | "user") => conversation.user(Content::of_text(question_of(&text))),
            Some("gpt" | "assistant" | "chatgpt" | "model" | "bot") => {
                self.begin(conversation);
                self.reply(conversation, &text);
            }
            Some("function_call" | "tool_call") => {
                self.begin(conversation);
                conversation.reply(None);
                if text.contains("<tool_call>") {
                    written::reply(conversation, &text, &self.types);
                } else {
                    written::calls(conversation, written::without_thoughts(&text), &self.types);
                }
            }
            Some("tool" | "observation" | "function" | "function_response" | "tool_response") => {
                self.result(conversation, &text);
            }
            _ => conversation.note("a turn of an unknown role is left out"),
        }
    }

    /// Begins a reply; after a reply that gave up, it is the first of another attempt.
    fn begin(&mut self, conversation: &mut Conversation) {
        if std::mem::take(&mut self.has_given_up) {
            conversation.start_again();
            conversation.answer = Answer::FromMessages;
        }
        self.has_finished = false;
    }

    fn reply(&mut self, conversation: &mut Conversation, text: &str) {
        if text.contains("<tool_call>") {
            return written::reply(conversation, text, &self.types);
        }
        if text.contains("<functioncall>") {
            return glaive::reply(conversation, text);
        }
        if let Some((name, input)) = action(text) {
            return self.act(conversation, name, input);
        }
        conversation.reply(None);
        let text = written::without_thoughts(text);
        let calls = if text.starts_with('[') { calls::calls(text) } else { None };
        match calls.filter(|calls| !calls.is_empty()) {
            Some(calls) => conversation.calls(calls),
            None => conversation.say(text),
        }
    }

    /// A call of `ToolBench`. `Finish` is not a call: it gives the answer or gives up.
    fn act(&mut self, conversation: &mut Conversation, name: &str, input: &str) {
        self.is_react = true;
        let arguments = written::object(input);
        conversation.reply(None);
        if name != "Finish" {
            let call = TracedCall::new(None, tool(None, name), Some(arguments));
            return conversation.call(call);
        }
        self.has_finished = true;
        let kind = arguments.text("return_type").or_else(|| arguments.as_str()).unwrap_or_default();
        self.has_given_up = kind.contains("give_up_and_restart");
        let answer = arguments.text("final_answer").filter(|_| !self.has_given_up);
        conversation.answer = Answer::Stated(answer.map(str::to_owned));
        conversation.end_reply();
    }

    fn result(&mut self, conversation: &mut Conversation, text: &str) {
        if self.has_finished {
            return;
        }
        if self.is_react
            && let Some(value @ Json::Object(_)) = value(text)
            && members(&value).iter().all(|(key, _)| key == "error" || key == "response")
        {
            let is_error = value.member("error").is_some_and(|error| error.as_str() != Some(""));
            return conversation.result(Outcome { is_error, ..Outcome::new(None, Some(value)) });
        }
        results::results(conversation, text);
    }
}

/// A question without the word that `ToolBench` ends it with.
fn question_of(text: &str) -> &str {
    text.trim_end().strip_suffix("\nBegin!").unwrap_or(text).trim_end()
}

/// The name and the arguments of a call that is written as `Action: ..`, `Action Input: ..`, on lines of their own.
fn action(text: &str) -> Option<(&str, &str)> {
    let at_line = |marker: &str| {
        let mut places = text.match_indices(marker).map(|(place, _)| place);
        places.find(|&place| place == 0 || text.as_bytes().get(place - 1) == Some(&b'\n'))
    };
    let (name, input) = (at_line("Action:")?, at_line("Action Input:")?);
    let name = text.get(name..input)?.strip_prefix("Action:")?.trim();
    let input = text.get(input..)?.strip_prefix("Action Input:")?.trim();
    Some((name, input.strip_suffix("End Action").unwrap_or(input).trim_end()))
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{Keys, parse};

    use super::*;
    use crate::trace::Trace;

    fn trace(turns: &[(&str, &str)]) -> Trace {
        let mut conversation = Conversation::default();
        let mut reader = Reader::default();
        for (from, value) in turns {
            let turn = object([("from", string(from)), ("value", string(value))]);
            reader.turn(&mut conversation, &turn);
        }
        conversation.finish()
    }

    fn shown(trace: &Trace) -> Vec<Vec<String>> {
        let call = |call: &TracedCall| {
            let text =
                |value: &Option<Json>| value.as_ref().map_or("-".to_owned(), |it| it.to_text(Keys::AsRead));
            format!(
                "{}{}={}{}",
                call.tool,
                text(&call.arguments),
                text(&call.result),
                if call.is_error { "!" } else { "" }
            )
        };
        trace.steps.iter().map(|step| step.iter().map(call).collect()).collect()
    }

    #[test]
    fn placeholders_of_the_prompt_are_no_calls() {
        let form = "<tool_call>\n{\"name\": <function-name>}\n</tool_call>";
        let trace = trace(&[("system", form), ("human", form), ("gpt", "Hello!")]);
        assert_eq!((trace.call_count(), trace.final_reply.as_deref()), (0, Some("Hello!")));
    }

    #[test]
    fn llama_factory() {
        let trace = trace(&[
            ("human", "q"),
            (
                "function_call",
                r#"[{"name": "a", "arguments": "{\"x\": 1}"}, {"name": "b", "arguments": {}}]"#,
            ),
            ("observation", "1\n</tool_response>\n<tool_response>\n2"),
            ("function_call", "<function=a><parameter=x>1</parameter></function>"),
            ("observation", "{\"error\": \"no\", \"response\": \"\"}"),
            ("function_call", "{\"name\": "),
            ("gpt", "done"),
        ]);
        let expected = [
            vec!["a{\"x\":1}=\"1\"", "b{}=\"2\""],
            vec!["a{\"x\":\"1\"}=\"{\\\"error\\\": \\\"no\\\", \\\"response\\\": \\\"\\\"}\""],
            vec!["\"{\\\"name\\\":\"=-"],
        ];
        assert_eq!(shown(&trace), expected);
    }

    #[test]
    fn toolace() {
        let trace = trace(&[
            ("user", "q"),
            ("assistant", "[Get Weather(city=\"Oslo\"), market.trends(n=2, x=True)]"),
            (
                "tool",
                r#"[{"name": "market.trends", "results": [1]}, {"name": "Get Weather", "results": {"t": -3}}]"#,
            ),
            ("assistant", "[1] is a list, no call(x=1)."),
        ]);
        let expected = [vec![
            "Get Weather{\"city\":\"Oslo\"}={\"name\":\"Get Weather\",\"results\":{\"t\":-3}}",
            "market.trends{\"n\":2,\"x\":true}={\"name\":\"market.trends\",\"results\":[1]}",
        ]];
        assert_eq!(shown(&trace), expected);
        assert_eq!(trace.final_reply.as_deref(), Some("[1] is a list, no call(x=1)."));
    }

    #[test]
    fn an_attempt_that_was_given_up_is_dropped_once_another_follows() {
        let restart = "Thought: x\nAction: Finish\nAction Input: {\"return_type\": \"give_up_and_restart\"}";
        let first = [
            ("user", "q\nBegin!\n"),
            ("assistant", "Thought: \nAction: a\nAction Input: {}"),
            ("function", "{\"error\": \"no\", \"response\": \"\"}"),
            ("assistant", restart),
        ];
        let given_up = trace(&first);
        assert_eq!(shown(&given_up), [["a{}={\"error\":\"no\",\"response\":\"\"}!"]]);
        assert_eq!(given_up.final_reply, None);
        let finish = "\nThought: y\nAction: Finish\nAction Input: {\n \"return_type\": \"give_answer\", \"final_answer\": \"5\"\n}";
        let second =
            [("assistant", "Action: b\nAction Input: {\"x\""), ("function", "cut"), ("assistant", finish)];
        let both = trace(
            &[&first[..], &second[..], &[("function", "{\"error\": \"\", \"response\": \"ok\"}")]].concat(),
        );
        assert_eq!(shown(&both), [["b\"{\\\"x\\\"\"=\"cut\""]]);
        assert_eq!((both.final_reply.as_deref(), both.question.unwrap().text().as_str()), (Some("5"), "q"));
        assert_eq!(both.notes.iter().count(), 1);
    }

    #[test]
    fn wrong_types_are_no_turns() {
        let (value, _) = parse(br#"{"conversations": [1, {"from": 1, "value": {}}, {"from": "gpt"}, {"from": "gpt", "value": 5}]}"#).unwrap();
        let mut conversation = Conversation::default();
        let mut reader = Reader::default();
        for turn in value.list("conversations") {
            reader.turn(&mut conversation, turn);
        }
        assert_eq!(conversation.finish().call_count(), 0);
    }
}
