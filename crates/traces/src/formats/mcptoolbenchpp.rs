//! `MCPToolBench++`: each record is a task, with the calls that should be made and the tools that are offered.

use crate::formats::prelude::*;

/// The format of records, recognized by their label.
pub(super) const RECORDS: Format = Format {
    name: "mcptoolbenchpp",
    title: "MCPToolBench++: tasks with their calls and tools",
    recognizes: |head| head.any(is_record),
    read: read_records,
};

/// Members of a label that have no place of their own, and that the suite `mcptoolbenchpp` reads.
const KEPT: [&str; 2] = ["id", "similar_tools"];

fn is_record(value: &Json) -> bool {
    value.has("query") && matches!(value.member("function_call_label"), Some(Json::Array(_)))
}

fn read_records(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    input.records(sink, |sink, at, value| {
        if !is_record(value) {
            return sink.skip(at.line, "a record without `query` and `function_call_label` is left out");
        }
        give_tools(value, sink);
        let mut task = Trace {
            id: at.id(value.id("uuid")),
            question: value.text("query").map(Content::of_text),
            task_type: value.text("category").map(str::to_owned),
            kind: TraceKind::Reference,
            ..Trace::default()
        };
        task.notes.add("calls that should be made, not those of a model");
        add_calls(&mut task, value.list("function_call_label"));
        sink.trace(at.line, task)
    })
}

/// Adds the calls of a label. Calls with the same `step` form one step, at the place of its first call.
fn add_calls(task: &mut Trace, label: &[Json]) {
    let mut places: HashMap<String, usize> = HashMap::new();
    for item in label {
        let Some(name) = item.text("name") else {
            task.notes.add("a call without a name is left out");
            continue;
        };
        // Every published label says the same: a status of 200 and an empty result.
        let output = item.below(&["output", "result"]);
        if output.is_some_and(|output| !output.items().is_empty() || !members(output).is_empty()) {
            task.notes.add("the expected output of a call is left out");
        }
        let kept = KEPT.iter().filter_map(|key| Some(((*key).to_owned(), item.member(key)?.clone())));
        let call = TracedCall {
            extra: kept.collect(),
            ..TracedCall::new(
                None,
                tool(item.text("mcp_server"), name),
                or_empty(item.first(&["input", "arguments"])),
            )
        };
        let next = task.steps.len();
        let place = item.id("step").map_or(next, |number| *places.entry(number).or_insert(next));
        match task.steps.get_mut(place) {
            Some(step) => step.push(call),
            None => task.steps.push(vec![call]),
        }
    }
}

/// Gives the sink the offered tools, each with the first server that lists its name.
fn give_tools(value: &Json, sink: &mut dyn Sink) {
    let mut servers: HashMap<&str, &str> = HashMap::new();
    for (server, names) in value.member("mcp_tools_dict").map(members).unwrap_or_default() {
        for name in names.items().iter().filter_map(Json::as_str) {
            servers.entry(name).or_insert(server);
        }
    }
    for offered in value.list("tools") {
        let Some(name) = offered.text("name") else { continue };
        let mut tool = vec![("name".to_owned(), Json::String(name.to_owned()))];
        let text = offered.member("description").map(|text| ("description".to_owned(), text.clone()));
        let schema = offered.first(&["input_schema", "inputSchema"]);
        tool.extend(text);
        tool.extend(schema.map(|schema| ("inputSchema".to_owned(), schema.clone())));
        sink.tool(servers.get(name).copied(), Json::Object(tool));
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::Json;

    use crate::testing::{read_text, shown};
    use crate::trace::TraceKind;

    #[test]
    fn records_are_references_with_tools() {
        let text = r#"[{"uuid": "u", "category": "search", "call_type": "multiple", "query": "Q?",
            "tools": [{"name": "find", "description": "d", "input_schema": {"type": "object"}}, {"name": "alone"}],
            "mcp_tools_dict": {"a": ["look"], "b": ["find"]},
            "function_call_label": [
              {"name": "find", "step": "1", "id": "1", "mcp_server": "b", "similar_tools": [{"name": "look", "mcp_server": "a"}],
               "input": {"x": 1}, "output": {"status_code": 200, "result": {}}},
              {"name": "look", "step": "1", "id": "2", "mcp_server": "a"},
              {"name": "look", "step": "2", "id": "3", "mcp_server": "a", "arguments": {"y": "<1_result>"},
               "output": {"status_code": 200, "result": {"data": [1]}}}, {"step": "3"}]}, {"query": "no label"}]"#;
        let (name, kept) = read_text("records.json", text).unwrap();
        assert_eq!((name, kept.traces.len(), kept.warnings.len()), ("mcptoolbenchpp", 1, 1));
        let task = &kept.traces[0];
        assert_eq!((task.id.as_deref(), task.task_type.as_deref()), (Some("u"), Some("search")));
        assert_eq!(
            (task.kind, task.question.as_ref().unwrap().text().as_str()),
            (TraceKind::Reference, "Q?")
        );
        assert_eq!(shown(task), [r#"b/find({"x":1})=- a/look({})=-"#, r#"a/look({"y":"<1_result>"})=-"#]);
        let extra: Vec<&str> = task.steps[0][0].extra.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(extra, ["id", "similar_tools"]);
        let tools: Vec<_> =
            kept.tools.iter().map(|(server, tool)| (server.as_deref(), tool.to_plain_text())).collect();
        let find = r#"{"name":"find","description":"d","inputSchema":{"type":"object"}}"#.to_owned();
        assert_eq!(tools, [(Some("b"), find), (None, r#"{"name":"alone"}"#.to_owned())]);
        assert_eq!(task.steps[0][1].extra, [("id".to_owned(), Json::String("2".to_owned()))]);
    }
}
