//! Events of the Realtime API, of both sides, and streams of Responses that were logged as JSON: the same item comes in
//! several events, and counts once.

use super::item;
use crate::formats::prelude::*;

/// Whether a record is an event that holds an item or a response.
pub(super) fn is_event(record: &Json) -> bool {
    let kind = record.text("type").unwrap_or_default();
    let is_kind = kind.starts_with("response.") || kind.starts_with("conversation.item.");
    let is_arguments = kind == "response.function_call_arguments.done";
    is_kind && (record.has("response") || record.has("item") || is_arguments)
}

/// Reads all events of a log.
pub(super) fn read_events(events: &[Json]) -> Conversation {
    let mut conversation = Conversation::default();
    let mut items = Items::default();
    for event in events {
        if let Some(response) = event.member("response") {
            conversation.usage.add(response.member("usage").map(Usage::of_openai));
            conversation.model = response.text("model").map(str::to_owned).or(conversation.model.take());
            response.list("output").iter().for_each(|item| items.add(item));
        }
        conversation.set_model(event.text_below(&["session", "model"]));
        event.member("item").into_iter().for_each(|item| items.add(item));
        match event.text("type") {
            Some("response.function_call_arguments.done") => items.add_arguments(event),
            Some("conversation.item.input_audio_transcription.completed") => items.add_transcript(event),
            _ => {}
        }
    }
    items.list.iter().for_each(|one| item(&mut conversation, &with_texts(one)));
    conversation
}

/// The items of a log, each once.
#[derive(Default)]
struct Items {
    list: Vec<Json>,
    places: HashMap<String, usize>,
}

impl Items {
    fn add(&mut self, item: &Json) {
        // A client's item may get its id from the server, but a call has an id of its own.
        let kind = item.text("type").unwrap_or_default();
        let calls = item.id("call_id").map(|id| format!("{kind} {id}"));
        let keys: Vec<String> = calls.into_iter().chain(item.id("id")).collect();
        let known = keys.iter().find_map(|key| self.places.get(key).copied());
        // Some servers give the same id to every item.
        let is_other = |earlier: &Json| earlier.id("call_id") != item.id("call_id") && item.has("call_id");
        let known = known.filter(|place| !self.list.get(*place).is_some_and(is_other));
        let place = known.unwrap_or(self.list.len());
        match self.list.get_mut(place) {
            Some(earlier) if size(item) >= size(earlier) => *earlier = item.clone(),
            Some(_) => {}
            None => self.list.push(item.clone()),
        }
        self.places.extend(keys.into_iter().map(|key| (key, place)));
    }

    /// Completes a call whose item came before its arguments.
    fn add_arguments(&mut self, event: &Json) {
        let known = event.id("item_id").and_then(|id| self.places.get(&id).copied());
        let earlier = known.and_then(|place| self.list.get(place));
        let name = event.text("name").or_else(|| earlier?.text("name")).unwrap_or_default();
        // Only the Realtime API repeats the call's id here.
        let member = |key| Some((key, event.member(key).or_else(|| earlier?.member(key))?.clone()));
        let own = ["call_id", "arguments"].into_iter().filter_map(member);
        let id = event.member("item_id").map(|id| ("id", id.clone()));
        let call = [("type", string("function_call")), ("name", string(name))];
        self.add(&object(call.into_iter().chain(own).chain(id)));
    }

    /// Adds what was heard to a message of the user.
    fn add_transcript(&mut self, event: &Json) {
        let place = event.id("item_id").and_then(|id| self.places.get(&id).copied());
        let Some(item) = place.and_then(|place| self.list.get_mut(place)) else { return };
        let text = object([
            ("type", string("input_text")),
            ("text", string(event.text("transcript").unwrap_or_default())),
        ]);
        if let Json::Object(all) = item {
            all.retain(|(key, _)| key != "content");
            all.push(("content".to_owned(), Json::Array(vec![text])));
        }
    }
}

/// How much an item holds: an item that is still being written has no arguments and no content.
fn size(item: &Json) -> usize {
    let arguments = item.text("arguments").map_or(0, str::len);
    arguments + item.list("content").len() + item.text("output").map_or(0, str::len)
}

/// An item whose sounds are the texts that were spoken.
fn with_texts(item: &Json) -> Json {
    let part = |part: &Json| match part.text("transcript") {
        Some(text) => object([("type", string("output_text")), ("text", string(text))]),
        None => part.clone(),
    };
    let member = |(key, value): &(String, Json)| match value {
        Json::Array(parts) if key == "content" => {
            (key.clone(), Json::Array(parts.iter().map(part).collect()))
        }
        other => (key.clone(), other.clone()),
    };
    Json::Object(members(item).iter().map(member).collect())
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// The events are those of the Realtime API's reference: the client's carry `create`, the server's repeat the item.
    #[test]
    fn an_item_that_comes_in_several_events_counts_once() {
        let log = r#"{"type": "session.created", "session": {"model": "gpt-realtime"}}
{"type": "conversation.item.created", "item": {"id": "u", "type": "message", "role": "user", "content": [{"type": "input_audio"}]}}
{"type": "conversation.item.input_audio_transcription.completed", "item_id": "u", "transcript": "Q?"}
{"type": "response.output_item.added", "item": {"id": "i", "type": "function_call", "call_id": "c", "name": "a", "arguments": ""}}
{"type": "response.function_call_arguments.done", "item_id": "i", "call_id": "c", "arguments": "{\"x\":1}"}
{"type": "response.function_call_arguments.done", "item_id": "i", "name": "a", "arguments": "{\"x\":1}"}
{"type": "response.function_call_arguments.done", "item_id": "j", "call_id": "d", "name": "a", "arguments": "{\"x\":1}"}
{"type": "response.output_item.done", "item": {"id": "i", "type": "function_call", "call_id": "c", "name": "a", "arguments": "{\"x\":1}"}}
{"type": "response.done", "response": {"output": [{"id": "i", "type": "function_call", "call_id": "c", "name": "a", "arguments": "{\"x\":1}"}], "usage": {"input_tokens": 3, "output_tokens": 2}}}
{"type": "conversation.item.create", "item": {"type": "function_call_output", "call_id": "c", "output": "r"}}
{"type": "conversation.item.created", "item": {"id": "o", "type": "function_call_output", "call_id": "c", "output": "r"}}
{"type": "response.done", "response": {"output": [{"id": "m", "type": "message", "role": "assistant", "content": [{"type": "audio", "transcript": "A."}]}]}}"#;
        for (name, text) in [("a.jsonl", log.to_owned()), ("a.json", format!("[{}]", log.replace('\n', ",")))]
        {
            let (format, kept) = read_text(name, &text).unwrap();
            let trace = &kept.traces[0];
            assert_eq!(format, "openai-responses");
            assert_eq!(shown(trace), [r#"a({"x":1})=r a({"x":1})=-"#]);
            assert_eq!(
                (trace.final_reply.as_deref(), trace.model.as_deref()),
                (Some("A."), Some("gpt-realtime"))
            );
            assert_eq!(
                (trace.question.as_ref().unwrap().text(), trace.usage.input),
                ("Q?".to_owned(), Some(3))
            );
        }
    }
}
