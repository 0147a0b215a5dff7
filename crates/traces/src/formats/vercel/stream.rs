//! The stream that a chat application gets: a chunk a line, bare or as server-sent events.

use super::call;
use crate::events::events;
use crate::formats::prelude::*;

/// The format of UI message streams.
pub(in super::super) const STREAM: Format = Format {
    name: "vercel-ai-ui-stream",
    title: "Vercel AI SDK: UI message stream",
    recognizes: |head| match head.shape {
        Shape::Events => KINDS.iter().any(|kind| {
            head.text.contains(&format!("\"type\":\"{kind}\""))
                || head.text.contains(&format!("\"type\": \"{kind}\""))
        }),
        _ => head.any(|value| KINDS.iter().any(|kind| value.says("type", kind))),
    },
    read,
};

/// Types of chunks that no other format has.
const KINDS: [&str; 5] =
    ["start-step", "finish-step", "tool-input-start", "tool-input-available", "tool-output-available"];

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut stream = Stream::default();
    for chunk in &events(input, sink)? {
        stream.chunk(chunk);
    }
    sink.trace(None, stream.finish().finish())
}

#[derive(Default)]
struct Stream {
    conversation: Conversation,
    /// The id, name and input of each call that is still being written, in the order of the calls.
    open: BTreeMap<usize, (String, String, String)>,
    places: HashMap<String, usize>,
    begun: usize,
    /// Results of this step, with their places by the ids of calls: the last of several counts.
    outcomes: Vec<Outcome>,
    ended: HashMap<String, usize>,
}

impl Stream {
    fn chunk(&mut self, chunk: &Json) {
        let text = |key: &str| chunk.text(key).unwrap_or_default();
        // The ids and pieces of `fullStream` have other names than those of a UI's stream.
        let either = |keys: &[&str]| chunk.first_text(keys).unwrap_or_default();
        let call_id = || either(&["toolCallId", "id"]);
        match text("type") {
            "start-step" | "finish-step" => self.end_step(),
            "text-start" => self.conversation.reply(None),
            "text-delta" => self.conversation.say(either(&["delta", "text"])),
            "tool-input-start" => self.begin(call_id(), text("toolName")),
            "tool-input-delta" => {
                let place = self.places.get(call_id());
                if let Some((.., written)) = place.and_then(|place| self.open.get_mut(place)) {
                    written.push_str(either(&["inputTextDelta", "delta"]));
                }
            }
            "tool-input-available" | "tool-call" => self.call(chunk),
            "tool-input-error" => {
                self.call(chunk);
                self.outcome(chunk, chunk.member("errorText").cloned(), true);
            }
            "tool-output-error" => self.outcome(chunk, chunk.member("errorText").cloned(), true),
            "tool-error" => self.outcome(chunk, chunk.member("error").cloned(), true),
            "tool-output-available" | "tool-result" => {
                self.outcome(chunk, chunk.get("output").cloned(), false);
            }
            "tool-output-denied" => self.outcome(chunk, None, false),
            "start" | "finish" | "message-metadata" => {
                let metadata = chunk.member("messageMetadata");
                if let Some(usage) = metadata.and_then(|metadata| metadata.first(&["totalUsage", "usage"])) {
                    self.conversation.usage = Usage::of_ai_sdk(usage);
                }
            }
            "abort" => self.conversation.note("the stream was aborted"),
            "error" => self.conversation.note("the stream tells of an error"),
            "text-end"
            | "tool-input-end"
            | "reasoning-start"
            | "reasoning-delta"
            | "reasoning-end"
            | "source-url"
            | "source-document"
            | "file"
            | "tool-approval-request" => {}
            kind if kind.starts_with("data-") => {}
            _ => self.conversation.note("a chunk of an unknown type is left out"),
        }
    }

    fn begin(&mut self, id: &str, name: &str) {
        self.begun += 1;
        self.places.insert(id.to_owned(), self.begun);
        self.open.insert(self.begun, (id.to_owned(), name.to_owned(), String::new()));
    }

    fn call(&mut self, chunk: &Json) {
        if let Some(place) = chunk.text("toolCallId").and_then(|id| self.places.remove(id)) {
            self.open.remove(&place);
        }
        self.conversation.call(call(chunk));
    }

    fn outcome(&mut self, chunk: &Json, result: Option<Json>, is_error: bool) {
        let id = call_id(chunk.member("toolCallId"));
        let outcome = Outcome { is_error, ..Outcome::new(id.clone(), result) };
        // A call that the provider ran is done before the reply goes on.
        if chunk.is("providerExecuted") {
            if !chunk.is("preliminary") {
                self.conversation.result(outcome);
            }
            return;
        }
        let id = id.unwrap_or_default();
        if let Some(known) = self.ended.get(&id).and_then(|&place| self.outcomes.get_mut(place)) {
            *known = outcome;
        } else {
            self.ended.insert(id, self.outcomes.len());
            self.outcomes.push(outcome);
        }
    }

    fn end_step(&mut self) {
        for (id, name, written) in std::mem::take(&mut self.open).into_values() {
            self.conversation.note("a call was cut while it was written");
            let (id, arguments) = (Some(id).filter(|id| !id.is_empty()), arguments(Some(&string(&written))));
            self.conversation.call(TracedCall::new(id, tool(None, &name), arguments));
        }
        self.places.clear();
        self.ended.clear();
        self.conversation.results(self.outcomes.drain(..));
        self.conversation.end_reply();
    }

    fn finish(mut self) -> Conversation {
        self.end_step();
        self.conversation
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn a_step_goes_from_its_start_to_its_end() {
        let chunks = r#"[{"type": "start"}, {"type": "start-step"}, {"type": "text-start", "id": "t"},
            {"type": "text-delta", "id": "t", "delta": "I "}, {"type": "text-delta", "id": "t", "delta": "look"},
            {"type": "tool-input-start", "toolCallId": "a", "toolName": "x"},
            {"type": "tool-input-delta", "toolCallId": "a", "inputTextDelta": "{\"k\": 1}"},
            {"type": "tool-input-available", "toolCallId": "a", "toolName": "x", "input": {"k": 1}},
            {"type": "tool-output-available", "toolCallId": "a", "output": "half", "preliminary": true},
            {"type": "tool-output-available", "toolCallId": "a", "output": "whole"},
            {"type": "tool-input-error", "toolCallId": "b", "toolName": "x", "input": "{\"k\"", "errorText": "E"},
            {"type": "tool-output-error", "toolCallId": "b", "errorText": "F"}, {"type": "finish-step"},
            {"type": "start-step"}, {"type": "tool-input-start", "toolCallId": "c", "toolName": "y"},
            {"type": "tool-input-delta", "toolCallId": "c", "inputTextDelta": "{\"k"}]"#;
        let (chunks, _) = parse(chunks.as_bytes()).unwrap();
        let mut stream = Stream::default();
        for chunk in Json::items(&chunks) {
            stream.chunk(chunk);
        }
        let trace = stream.finish().finish();
        let [first, second] = &trace.steps[..] else { panic!("{trace:?}") };
        let [a, b] = &first[..] else { panic!("{trace:?}") };
        assert_eq!((&a.result, a.is_error), (&Some(string("whole")), false));
        assert_eq!(
            (&b.arguments, &b.result, b.is_error),
            (&Some(string("{\"k\"")), &Some(string("F")), true)
        );
        assert_eq!((second[0].tool.as_str(), &second[0].arguments), ("y", &Some(string("{\"k"))));
    }
}
