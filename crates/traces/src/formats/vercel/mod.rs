//! The Vercel AI SDK: the messages that a model gets, those that chat applications keep, results and streams.

mod model;
mod result;
mod stream;
mod ui;

pub(super) use model::{MESSAGES, all as add_messages};
pub(super) use result::RESULT;
pub(super) use stream::STREAM;
pub(super) use ui::UI_MESSAGES;

use crate::formats::prelude::*;

/// The beginnings of errors that quote the model's text in place of an object.
const QUOTES: [&str; 2] = ["JSON parsing failed: Text: ", "Type validation failed: Value: "];

/// A call in any version: the arguments are `input`, `args` up to version 4.
fn call(part: &Json) -> TracedCall {
    let id = call_id(part.member("toolCallId"));
    TracedCall::new(id, named_tool(part, "toolName"), arguments(part.first(&["input", "args"])))
}

/// Restores the model's text in place of `{}`, which messages hold instead of a broken input: only the error quotes it.
fn restore_inputs(conversation: &mut Conversation) {
    for call in conversation.calls_mut().filter(|call| call.is_error) {
        let is_empty = matches!(&call.arguments, Some(Json::Object(members)) if members.is_empty());
        if let (true, Some(Json::String(error))) = (is_empty, &call.result)
            && let Some((_, rest)) = QUOTES.iter().find_map(|quote| error.split_once(quote))
        {
            let written = rest.rsplit_once(".\nError message:").map_or(rest, |(written, _)| written);
            call.arguments = Some(Json::String(written.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Source;

    use crate::recognize;

    #[test]
    fn layouts_are_told_apart() {
        for (text, name) in [
            (
                r#"[{"role": "assistant", "content": [{"type": "tool-call", "toolName": "t", "toolCallId": "a"}]}]"#,
                Some("vercel-ai-messages"),
            ),
            (r#"[{"role": "assistant", "content": [{"type": "tool_use", "name": "t", "id": "a"}]}]"#, None),
            (r#"[{"role": "assistant", "parts": [{"type": "step-start"}]}]"#, Some("vercel-ai-ui-messages")),
            (
                r#"{"id": "c", "messages": [{"role": "assistant", "toolInvocations": [{"toolName": "t"}]}]}"#,
                Some("vercel-ai-ui-messages"),
            ),
            (r#"[{"role": "model", "parts": [{"functionCall": {"name": "t"}}]}]"#, None),
            (r#"{"steps": [{"toolCalls": [], "finishReason": "stop"}]}"#, Some("vercel-ai-result")),
            (r#"{"steps": [{"tool_calls": []}]}"#, None),
            (r#"{"steps": ["a"]}"#, None),
            ("{\"type\": \"start\"}\n{\"type\": \"start-step\"}\n", Some("vercel-ai-ui-stream")),
            (
                "data: {\"type\":\"start\"}\n\ndata: {\"type\":\"start-step\"}\n\ndata: [DONE]\n",
                Some("vercel-ai-ui-stream"),
            ),
            ("event: message_start\ndata: {\"type\": \"message_start\"}\n", None),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("file");
            std::fs::write(&path, text).unwrap();
            let source = Source::open(&path).unwrap();
            let file = recognize(&source).unwrap();
            let name_found = file.map(|file| file.format.name).filter(|name| name.starts_with("vercel-ai"));
            assert_eq!(name_found, name, "{text}");
        }
    }
}
