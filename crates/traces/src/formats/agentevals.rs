//! Cases of `agentevals`: an agent's trajectory beside the reference. Its graph trajectories name nodes, not calls.

use std::sync::atomic::{AtomicBool, Ordering};

use super::langchain::message::{Message, add_all};
use crate::formats::prelude::*;

/// The format of cases, recognized by their two lists.
pub(super) const CASES: Format = Format {
    name: "agentevals",
    title: "agentevals: cases",
    recognizes: |head| head.any(|value| is_list(value, "outputs") && is_list(value, "reference_outputs")),
    read: read_cases,
};

/// The format of graph trajectories, recognized by their lists of nodes.
pub(super) const GRAPHS: Format = Format {
    name: "agentevals-graph",
    title: "agentevals: graph trajectories, if they hold messages with calls",
    recognizes: |head| head.any(|value| graph(value).is_some()),
    read: read_graphs,
};

/// Whether a member is a list of messages.
fn is_list(value: &Json, key: &str) -> bool {
    value
        .member(key)
        .and_then(messages)
        .is_some_and(|list| list.iter().all(|it| it.has("role") || Message::parse(it).is_some()))
}

/// The graph trajectory of a value or of its outputs.
fn graph(value: &Json) -> Option<&Json> {
    let is_nodes =
        |step: &Json| !step.items().is_empty() && step.items().iter().all(|node| node.as_str().is_some());
    let is_graph = |value: &&Json| value.has("results") && value.list("steps").iter().any(is_nodes);
    Some(value).filter(is_graph).or_else(|| value.member("outputs").filter(is_graph))
}

fn id(value: &Json) -> Option<String> {
    value.id("id").or_else(|| value.id("example_id")).or_else(|| value.id("key"))
}

fn conversation(value: Option<&Json>) -> Conversation {
    let mut it = Conversation::default();
    add_all(&mut it, value.and_then(messages).unwrap_or_default().iter());
    it
}

fn read_cases(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        if !value.has("outputs") {
            return sink.skip(at.line, "a case without `outputs` is left out");
        }
        let mut it = conversation(value.member("outputs"));
        ask(&mut it, value.member("inputs"));
        it.id = at.id(id(value));
        let mut trace = it.finish();
        let reference =
            value.member("reference_outputs").map(|reference| conversation(Some(reference)).finish());
        trace.reference = reference.map(|reference| Box::new(Trace { id: trace.id.clone(), ..reference }));
        sink.trace(at.line, trace)
    })
}

/// Adds the question of the inputs, if the outputs do not have one.
fn ask(it: &mut Conversation, inputs: Option<&Json>) {
    if it.has_question() {
        return;
    }
    match inputs {
        Some(Json::String(text)) => it.user(Content::of_text(text)),
        Some(inputs) => {
            let users = |message: &&Json| {
                message.says("role", "user") || Message::parse(message).is_some_and(|it| it.is_human())
            };
            add_all(it, messages(inputs).unwrap_or_default().iter().filter(users));
            if let Some(text) = inputs.first_text(&["question", "query"]).filter(|_| !it.has_question()) {
                it.user(Content::of_text(text));
            }
        }
        None => {}
    }
}

fn read_graphs(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let is_any = AtomicBool::new(false);
    input.records(sink, |sink, at, value| {
        let Some(graph) = graph(value) else {
            return sink.skip(at.line, "no graph trajectory, left out");
        };
        let mut it = Conversation::default();
        let inputs = graph.list("inputs");
        let inputs = if inputs.is_empty() { value.list("inputs") } else { inputs };
        let results = graph.list("results");
        for turn in 0..inputs.len().max(results.len()) {
            for part in [inputs, results] {
                add_all(&mut it, part.get(turn).map(below).unwrap_or_default().iter());
            }
        }
        if it.calls_mut().next().is_none() {
            return sink.skip(at.line, "a graph trajectory without calls is left out");
        }
        is_any.store(true, Ordering::Relaxed);
        it.id = at.id(id(value));
        sink.trace(at.line, it.finish())
    })?;
    if is_any.into_inner() {
        return Ok(());
    }
    Err(ReadError::refused(
        "a graph trajectory of agentevals, which names the nodes of a graph and not the calls; export the messages of the \
         thread instead (the state's `messages`, with convert_to_openai_messages)",
    ))
}

/// The messages of a turn, bare or below its start node.
fn below(value: &Json) -> &[Json] {
    messages(value).or_else(|| value.member("__start__").and_then(messages)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::testing::read_text;

    #[test]
    fn a_case_has_a_prediction_and_a_reference_under_one_id() {
        let case = r#"{"id": "c", "inputs": {"question": "Q?"}, "outputs": [{"role": "assistant", "tool_calls":
            [{"id": "1", "function": {"name": "a", "arguments": "{}"}}]}], "reference_outputs": {"messages":
            [{"type": "human", "content": "Q?"}, {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "b", "args": {}}]}]}}"#;
        let (format, kept) = read_text("case.json", case).unwrap();
        assert_eq!(format, "agentevals");
        let trace = &kept.traces[0];
        assert_eq!((trace.id.as_deref(), trace.steps[0][0].tool.as_str()), (Some("c"), "a"));
        assert_eq!(trace.question.as_ref().unwrap().text(), "Q?");
        let reference = trace.reference.as_ref().unwrap();
        assert_eq!((reference.id.as_deref(), reference.steps[0][0].tool.as_str()), (Some("c"), "b"));
    }

    #[test]
    fn graphs_are_refused_unless_they_hold_calls() {
        let with = |results: &str| {
            format!(r#"{{"inputs": [], "results": {results}, "steps": [["__start__", "model"]]}}"#)
        };
        let error = read_text("a.json", &with(r#"[{"messages": [{"role": "assistant", "content": "x"}]}]"#))
            .unwrap_err();
        assert!(error.contains("names the nodes"), "{error}");
        let call = r#"[{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": "{}"}}]}]}]"#;
        let (format, kept) = read_text("a.json", &with(call)).unwrap();
        assert_eq!((format, kept.traces[0].steps[0][0].tool.as_str()), ("agentevals-graph", "a"));
    }
}
