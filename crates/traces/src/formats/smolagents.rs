//! The memory of an agent of smolagents: its task, and steps with calls and what was observed after them.

use crate::call_shapes::call;
use crate::formats::prelude::*;

/// The format of memories, recognized by their steps.
pub(super) const MEMORY: Format = Format {
    name: "smolagents",
    title: "smolagents: steps of an agent's memory",
    recognizes: |head| head.any(|record| is_step(record) || record.list("steps").iter().any(is_step)),
    read,
};

/// The tool with which an agent gives its answer.
const ANSWER: &str = "final_answer";

fn is_step(record: &Json) -> bool {
    record.has("step_number") && record.first(&["tool_calls", "observations", "action_output"]).is_some()
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let holds_steps = input.head.any(|record| record.list("steps").iter().any(is_step));
    let give = |sink: &mut dyn Sink, id, line, steps: &[Json]| {
        let mut it = Conversation::with_id(id);
        for record in steps {
            step(&mut it, record);
        }
        sink.trace(line, it.finish())
    };
    if holds_steps {
        return input.records(sink, |sink, at, value| {
            give(sink, at.id(value.id("id")), at.line, value.list("steps"))
        });
    }
    let all = input.list(sink)?;
    give(sink, None, None, &all)
}

fn step(it: &mut Conversation, record: &Json) {
    if let Some(task) = record.text("task") {
        return it.user(Content::of_text(task));
    }
    if !is_step(record) {
        return;
    }
    it.usage.add(record.member("token_usage").map(Usage::of_openai));
    it.new_reply();
    let mut answer = record.member("action_output").filter(|_| record.is("is_final_answer"));
    let mut count = 0;
    // A call that failed is only in what the model wrote.
    let own = record.list("tool_calls");
    let written = record.member("model_output_message").map(|message| message.list("tool_calls"));
    let failed = written.filter(|_| own.is_empty() && record.has("error")).unwrap_or_default();
    for value in own.iter().chain(failed) {
        match call(value) {
            Some(call) if call.tool == ANSWER => {
                answer = answer.or_else(|| value.below(&["function", "arguments", "answer"]));
            }
            Some(call) => {
                it.call(call);
                count += 1;
            }
            None => it.note("a call that names no tool is left out"),
        }
    }
    results(it, record, count);
    if let Some(answer) = answer {
        it.new_reply();
        it.say(&answer.to_plain_text());
    }
}

/// Adds what was observed: of several calls it is one text, which cannot be divided.
fn results(it: &mut Conversation, record: &Json, count: usize) {
    let error = record.member("error");
    let failure = error.map(|error| string(error.text("message").unwrap_or("error")));
    let observed = record.member("observations").filter(|text| !text.as_str().is_some_and(str::is_empty));
    match (count, failure.or_else(|| observed.cloned())) {
        (1, result @ Some(_)) => {
            it.result(Outcome { is_error: error.is_some(), ..Outcome::new(None, result) });
        }
        (2.., Some(_)) => it.note("a result of several calls together is left out"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};

    /// What smolagents 1.26 writes with `json.dumps(agent.memory.get_full_steps())`, without the members of no use.
    #[test]
    fn steps_have_calls_and_the_last_has_the_answer() {
        let text = r#"[{"task": "Q?", "task_images": null},
            {"step_number": 1, "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "a", "arguments": {"x": 1}}}],
             "error": null, "observations": "r", "action_output": null, "token_usage": {"input_tokens": 3, "output_tokens": 4}},
            {"step_number": 2, "tool_calls": [{"id": "c2", "type": "function", "function": {"name": "a", "arguments": {}}},
             {"id": "c3", "type": "function", "function": {"name": "b", "arguments": {}}}], "error": null, "observations": "s\nt"},
            {"step_number": 3, "tool_calls": [{"id": "c4", "type": "function", "function": {"name": "a", "arguments": {}}}],
             "error": {"type": "AgentExecutionError", "message": "no"}, "observations": null},
            {"step_number": 4, "tool_calls": [{"id": "c5", "type": "function", "function": {"name": "final_answer", "arguments":
             {"answer": "12"}}}], "action_output": "12", "observations": "12", "is_final_answer": true}]"#;
        let (format, kept) = read_text("steps.json", text).unwrap();
        let trace = &kept.traces[0];
        assert_eq!(format, "smolagents");
        assert_eq!(shown(trace), [r#"a({"x":1})=r"#, "a({})=- b({})=-", "a({})=no!"]);
        assert_eq!((trace.final_reply.as_deref(), trace.usage.input), (Some("12"), Some(3)));
        assert_eq!(trace.notes.iter().next(), Some(("a result of several calls together is left out", 1)));
    }
}
