//! `MCPAgentBench`: the results of its program, a prediction and its reference each, and its tasks.

use crate::formats::prelude::*;
use crate::trace::RunCost;

/// Results of a run.
pub(super) const RESULTS: Format = Format {
    name: "mcpagentbench",
    title: "MCPAgentBench: results of its program",
    recognizes: |head| head.any(|value| value.list("detailed_results").iter().any(is_result)),
    read: read_results,
};

/// Tasks with the calls that should be made.
pub(super) const TASKS: Format = Format {
    name: "mcpagentbench-tasks",
    title: "MCPAgentBench: tasks",
    recognizes: |head| {
        head.any(|value| value.has("id") && value.has("content") && has_steps(value, "tools", "inputs"))
    },
    read: read_tasks,
};

fn is_result(value: &Json) -> bool {
    value.has("task_id") && has_steps(value, "tools_used", "inputs_used")
}

/// Whether two members are lists of steps: of names and of arguments.
fn has_steps(value: &Json, tools: &str, inputs: &str) -> bool {
    let is_list = |key: &str| matches!(value.member(key), Some(Json::Array(_)));
    let names =
        |step: &Json| matches!(step, Json::Array(names) if names.iter().all(|name| name.as_str().is_some()));
    is_list(tools) && is_list(inputs) && value.list(tools).iter().all(names)
}

fn read_results(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.values(sink, |sink, record| {
        let summary = record.value.member("evaluation_summary");
        let run = summary.map(|summary| RunCost {
            output_tokens: summary.count("total_completion_tokens"),
            seconds: summary.number("total_test_time"),
        });
        for result in record.value.list("detailed_results") {
            if !is_result(result) {
                sink.warn(record.line, "a result without `task_id` and calls is left out");
                continue;
            }
            let id = result.id("task_id");
            let question = result.text("task_content");
            let steps = steps(result, "expected_tools", "expected_inputs");
            let reference = Trace { kind: TraceKind::Reference, ..trace(id.as_deref(), question, steps) };
            let mut trace = trace(id.as_deref(), question, self::steps(result, "tools_used", "inputs_used"));
            if question.is_some_and(|question| question.ends_with("...")) {
                trace.notes.add("the question was truncated by the program that exported it");
            }
            trace.run = run;
            trace.reference = Some(Box::new(reference));
            sink.trace(record.line, trace)?;
        }
        Ok(())
    })
}

fn read_tasks(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        if !has_steps(value, "tools", "inputs") {
            return sink.skip(at.line, "a task without `tools` and `inputs` is left out");
        }
        let id = at.id(value.id("id"));
        let mut task = trace(id.as_deref(), value.text("content"), steps(value, "tools", "inputs"));
        task.kind = TraceKind::Reference;
        task.notes.add("calls that should be made, not those of a model");
        sink.trace(at.line, task)
    })
}

/// A trajectory whose type is the domain that the prefix of its id tells.
fn trace(id: Option<&str>, question: Option<&str>, steps: Vec<Vec<TracedCall>>) -> Trace {
    let domains = [("daytask", "daily"), ("protask", "professional")];
    let domain = domains.into_iter().find(|(prefix, _)| id.is_some_and(|id| id.starts_with(prefix)));
    Trace {
        id: id.map(str::to_owned),
        question: question.map(Content::of_text),
        task_type: domain.map(|(_, domain)| domain.to_owned()),
        steps,
        ..Trace::default()
    }
}

/// The steps from parallel lists of names and arguments; empty steps stay, and a call may have no arguments.
fn steps(value: &Json, tools: &str, inputs: &str) -> Vec<Vec<TracedCall>> {
    let inputs = value.list(inputs);
    let step = |(at, names): (usize, &Json)| {
        let arguments = inputs.get(at).map(Json::items).unwrap_or_default();
        let call = |(at, name): (usize, &Json)| {
            TracedCall::new(None, tool(None, name.as_str().unwrap_or_default()), arguments.get(at).cloned())
        };
        names.items().iter().enumerate().map(call).collect()
    };
    value.list(tools).iter().enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::{read_text, shown};
    use crate::trace::TraceKind;

    #[test]
    fn results_have_references_and_empty_steps() {
        let text = r#"{"evaluation_summary": {"total_completion_tokens": 70, "total_test_time": 1.5}, "detailed_results": [
            {"task_id": "daytask_1", "task_content": "q...", "expected_tools": [["a", "b"]], "expected_inputs": [[{"x": 1}]],
             "tools_used": [[], ["a"]], "inputs_used": [[], [{"x": 1}]], "score": 0}, {"task_id": "x"}]}"#;
        let (name, kept) = read_text("run.json", text).unwrap();
        let trace = &kept.traces[0];
        assert_eq!((name, kept.traces.len(), kept.warnings.len()), ("mcpagentbench", 1, 1));
        assert_eq!(shown(trace), ["", r#"a({"x":1})=-"#]);
        let reference = trace.reference.as_deref().unwrap();
        assert_eq!(shown(reference), [r#"a({"x":1})=- b(-)=-"#]);
        assert_eq!((trace.kind, reference.kind), (TraceKind::Prediction, TraceKind::Reference));
        assert_eq!(trace.task_type.as_deref(), Some("daily"));
        assert_eq!(trace.run.unwrap().output_tokens, Some(70));
    }

    #[test]
    fn tasks_are_references() {
        let text = r#"[{"id": "protask_1", "content": "q", "tools": [["a"]], "inputs": [[{}]]}, {"id": "x", "content": "y"}]"#;
        let (name, kept) = read_text("tasks.json", text).unwrap();
        assert_eq!((name, kept.traces.len(), kept.warnings.len()), ("mcpagentbench-tasks", 1, 1));
        assert_eq!(
            (kept.traces[0].kind, shown(&kept.traces[0])),
            (TraceKind::Reference, vec!["a({})=-".to_owned()])
        );
    }
}
