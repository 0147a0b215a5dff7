//! The conversation as it is recorded: images by name, size and hash.

use m3_llm::{Picture, Reply, ToolAnswer};
use serde_json::{Map, Value, json};

pub(super) fn system(purpose: &str, text: &str) -> Value {
    json!({"role": "system", "purpose": purpose, "content": text})
}

pub(super) fn user_text(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub(super) fn user_image(image: &Value) -> Value {
    json!({"role": "user", "content": image})
}

/// The model's reply as a message; thoughts and calls are left out if there are none.
pub(super) fn assistant(purpose: &str, reply: &Reply) -> Value {
    let mut message = Map::new();
    message.insert("role".to_owned(), json!("assistant"));
    message.insert("purpose".to_owned(), json!(purpose));
    if !reply.thoughts.is_empty() {
        message.insert("thoughts".to_owned(), json!(reply.thoughts));
    }
    message.insert("content".to_owned(), json!(reply.text));
    if !reply.calls.is_empty() {
        let calls = reply.calls.iter().map(|call| {
            let arguments = call.arguments.to_value();
            json!({"id": call.id, "name": call.name, "arguments": arguments})
        });
        message.insert("tool_calls".to_owned(), calls.collect());
    }
    message.insert("stop".to_owned(), json!(reply.stop));
    Value::Object(message)
}

pub(super) fn tool_answer(answer: &ToolAnswer, paths: &[String]) -> Value {
    let mut message = json!({
        "role": "tool", "tool_call_id": answer.call_id, "name": answer.name, "content": answer.text,
    });
    if let Value::Object(members) = &mut message {
        if answer.is_error {
            members.insert("is_error".to_owned(), Value::Bool(true));
        }
        if !answer.images.is_empty() {
            let images = paths.iter().zip(&answer.images).map(|(path, picture)| image(path, picture));
            members.insert("images".to_owned(), images.collect());
        }
    }
    message
}

/// An image in the dialogue.
pub(super) fn image(path: &str, picture: &Picture) -> Value {
    json!({
        "image": path, "sha256": picture.sha256, "width": picture.width, "height": picture.height,
        "mime_type": picture.mime_type,
    })
}

/// An image among those that were sent, with the changes made to it.
pub(super) fn sent_image(path: &str, picture: &Picture) -> Value {
    let mut sent = image(path, picture);
    if let Value::Object(members) = &mut sent {
        members.insert("bytes".to_owned(), json!(picture.bytes.len()));
        members.insert("changes".to_owned(), json!(picture.changes));
    }
    sent
}
