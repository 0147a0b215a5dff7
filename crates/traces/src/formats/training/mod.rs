//! Data that models are trained on or tested with, in the layouts that are published.

mod bfcl;
mod bfcl_task;
mod calls;
mod glaive;
mod rendered;
mod results;
mod sharegpt;
mod types;
mod written;
mod xlam;

pub(super) use bfcl::BFCL;
pub(super) use glaive::GLAIVE;
pub(super) use rendered::RENDERED;
pub(super) use sharegpt::SHAREGPT;
pub(super) use xlam::XLAM;

use crate::call_shapes;
use crate::formats::prelude::*;
use crate::literal;

/// What models write before calls.
const MARKS: [&str; 4] = ["[TOOL_CALLS]", "<|python_tag|>", "<functioncall>", "<function_call>"];

/// The calls of a text in the syntax of Python that holds nothing else.
pub(super) fn calls_in_text(text: &str) -> Option<Vec<TracedCall>> {
    calls::calls(text)
}

/// The calls of a text that is nothing but JSON or Python of calls, perhaps with a mark of a model before it.
pub(super) fn calls_of_whole_text(text: &str) -> Option<Vec<TracedCall>> {
    let text = text.trim().trim_start_matches("```json").trim_matches('`').trim();
    let text = MARKS.iter().find_map(|mark| text.strip_prefix(mark)).unwrap_or(text).trim();
    let value = if text.starts_with(['{', '[']) { literal::value(text) } else { None };
    let read = value.and_then(|value| match &value {
        Json::Array(items) => items.iter().map(call_shapes::call).collect(),
        one => call_shapes::call(one).map(|call| vec![call]),
    });
    let has_arguments = |call: &TracedCall| matches!(call.arguments, Some(Json::Object(_)));
    read.or_else(|| calls::calls(text)).filter(|all| !all.is_empty() && all.iter().all(has_arguments))
}

/// Adds a text with calls in elements such as `<invoke name="..">`; false if it has none.
pub(super) fn calls_in_elements(conversation: &mut Conversation, text: &str) -> bool {
    let Some(tags) = written::ELEMENTS.iter().find(|tags| text.contains(tags[0])) else { return false };
    let before = text.split(tags[0]).next().unwrap_or_default().trim_end();
    // The element around them.
    let before =
        before.rsplit_once('<').filter(|(_, tag)| tag.ends_with('>')).map_or(before, |(text, _)| text);
    conversation.say(before.trim());
    written::xml(conversation, text, tags, &types::Types::default());
    true
}

/// The calls of a text that has each in `<tool_call>`, and the text.
pub(super) fn tagged_reply(conversation: &mut Conversation, text: &str) {
    written::reply(conversation, text, &types::Types::default());
}

/// Reads records (items of a list, lines or the document) with `each`, which returns false for another layout.
fn records(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    each: impl Fn(&mut Conversation, &Json) -> bool + Sync,
) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        // A record gets an id even if it is the only one.
        let at = At { index: at.index.or(Some(0)), ..at };
        let mut conversation = Conversation::with_id(at.id(value.id("id")));
        if each(&mut conversation, value) {
            return sink.trace(at.line, conversation.finish());
        }
        sink.skip(at.line, "a record of another layout is left out")
    })
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Source;

    use super::*;
    use crate::recognize;
    use crate::trace::Trace;

    #[derive(Default)]
    struct CollectingSink(Vec<Trace>, Vec<String>);

    impl Sink for CollectingSink {
        fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
            self.0.push(trace);
            Ok(())
        }

        fn warn(&mut self, _: Option<u64>, message: &str) {
            self.1.push(message.to_owned());
        }
    }

    /// The format of a file, and the traces that are read from it.
    fn recognize_and_read(text: &str) -> (Option<&'static str>, Result<CollectingSink, String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, text).unwrap();
        let source = Source::open(&path).unwrap();
        let file = recognize(&source).unwrap();
        let mut sink = CollectingSink::default();
        let read = file.as_ref().map_or(Ok(()), |file| file.read(&mut sink));
        (file.map(|file| file.format.name), read.map(|()| sink).map_err(|error| error.to_string()))
    }

    #[test]
    fn layouts_are_told_apart() {
        for (text, name) in [
            (r#"{"conversations": [{"from": "human", "value": "q"}]}"#, Some("sharegpt")),
            (r#"{"conversations": [{"role": "user", "content": "q"}]}"#, Some("sharegpt")),
            (r#"{"conversations": ["q"]}"#, None),
            (r#"{"query": "q", "answers": "[]", "tools": "[]"}"#, Some("xlam")),
            (r#"{"query": "q", "answer": "a"}"#, None),
            (r#"{"id": "x", "result": [{"f": "{}"}]}"#, Some("bfcl")),
            (r#"{"id": "x", "ground_truth": [{"f": {"a": [1]}}]}"#, Some("bfcl")),
            (r#"{"id": "x", "result": "some text"}"#, None),
            (r#"{"system": "SYSTEM: s", "chat": "USER: q\n\n\nASSISTANT: a"}"#, Some("glaive")),
            (r#"{"text": "USER: q\n\nASSISTANT: a"}"#, Some("glaive")),
            (r#"{"text": "<|im_start|>user\nq<|im_end|>"}"#, Some("rendered-text")),
            (
                r#"{"text": "<|im_start|>user\nq<|im_end|>", "messages": [{"role": "user", "content": "q"}]}"#,
                None,
            ),
            (r#"{"text": "USER: q\n\nASSISTANT: a", "messages": [{"role": "user", "content": "q"}]}"#, None),
            (r#"{"text": "just words"}"#, None),
        ] {
            let ours = [SHAREGPT.name, XLAM.name, BFCL.name, GLAIVE.name, RENDERED.name];
            assert_eq!(recognize_and_read(text).0.filter(|name| ours.contains(name)), name, "{text}");
        }
    }

    #[test]
    fn records_have_their_own_ids_or_their_places() {
        let lines = "{\"query\": \"q\", \"answers\": \"[]\"}\n{\"id\": 7, \"query\": \"q\", \"answers\": []}\n{\"x\": 1}\n";
        let sink = recognize_and_read(lines).1.unwrap();
        assert_eq!(
            sink.0.iter().map(|trace| trace.id.as_deref()).collect::<Vec<_>>(),
            [Some("0"), Some("7")]
        );
        assert_eq!(sink.1, ["a record of another layout is left out"]);
    }

    #[test]
    fn records_of_bfcl_are_tasks_references_or_predictions() {
        let question = |id: &str| {
            let text = format!(
                r#"{{"id": "{id}", "question": [[{{"role": "user", "content": "q"}}]], "function": [{{"name": "f"}}]}}"#
            );
            recognize_and_read(&text).1.unwrap().0.remove(0)
        };
        let task = question("simple_python_1");
        assert_eq!((task.kind, task.task_type.as_deref()), (TraceKind::Task, Some("simple_python")));
        assert_eq!(task.extra.iter().map(|(key, _)| key.as_str()).collect::<Vec<_>>(), ["functions"]);
        let none = question("irrelevance_1");
        assert!(none.kind == TraceKind::Reference && none.call_count() == 0);
        let both = r#"{"id": "x", "question": [[{"role": "user", "content": "q"}]], "ground_truth": [{"f": {"a": [1, 2]}}]}"#;
        let trace = recognize_and_read(both).1.unwrap().0.remove(0);
        assert!(trace.kind == TraceKind::Reference && trace.question.is_some() && trace.call_count() == 1);
        let made = recognize_and_read(r#"{"id": "x", "result": [{"f": "{}"}], "input_token_count": 3}"#)
            .1
            .unwrap()
            .0
            .remove(0);
        assert!(made.kind == TraceKind::Prediction && made.usage.input == Some(3));
    }
}
