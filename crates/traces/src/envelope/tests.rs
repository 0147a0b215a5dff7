//! Files in the shape of other programs' exports, by their documentation.

use m3_trajectory::json::{Json, Keys};

use crate::content::{object, string};
use crate::testing::{CollectingSink, read_text, shown};

const REQUEST: &str = r#"{"model": "m", "messages": [{"role": "user", "content": "Q?"}]}"#;
const REPLY: &str = r#"{"object": "chat.completion", "choices": [{"message": {"role": "assistant", "tool_calls":
    [{"id": "1", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}}]}"#;

/// The text as a string of JSON.
fn quoted(text: &str) -> String {
    string(text).to_text(Keys::AsRead)
}

/// Whether the only trajectory has this call and the question `Q?`.
fn assert_is_read(name: &str, text: &str) -> (&'static str, CollectingSink) {
    let (format, kept) = read_text(name, text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let trace = kept.traces.first().unwrap();
    assert!(shown(trace)[0].starts_with(r#"f({"x":1})="#), "{text}: {:?}", shown(trace));
    assert_eq!(trace.question.as_ref().map(crate::Content::text).as_deref(), Some("Q?"), "{text}");
    assert_eq!(kept.traces.len(), 1);
    (format, kept)
}

#[test]
fn requests_and_replies_of_gateways() {
    let reply = REPLY.replace('\n', " ");
    let (request_text, reply_text) = (quoted(REQUEST), quoted(&reply));
    let chunk = reply.replace("message", "delta").replace("chat.completion", "chat.completion.chunk");
    let events = quoted(&format!("data: {chunk}\n\ndata: [DONE]\n"));
    for record in [
        format!(
            r#"{{"request": {{"url": "u", "body": {REQUEST}}}, "response": {{"status": 200, "body": {reply}}}}}"#
        ),
        format!(r#"{{"request_id": "r", "request_body": {REQUEST}, "response_body": {reply}}}"#),
        format!(r#"{{"request_body": {request_text}, "response_body": {reply_text}}}"#),
        format!(r#"{{"RequestBody": {request_text}, "ResponseBody": {events}}}"#),
        // A recording of a browser or a proxy.
        format!(
            r#"{{"log": {{"version": "1.2", "entries": [{{"request": {{"postData": {{"mimeType": "application/json", "text": {request_text}}}}}, "response": {{"content": {{"mimeType": "application/json", "text": {reply_text}}}}}}}]}}}}"#
        ),
        // A cassette of VCR.
        format!(
            r#"{{"version": 1, "interactions": [{{"request": {{"uri": "u", "body": {request_text}}}, "response": {{"status": {{"code": 200}}, "body": {{"string": {reply_text}}}}}}}]}}"#
        ),
        format!(
            r#"{{"messages": {}, "response": {reply_text}}}"#,
            quoted(r#"[{"role": "user", "content": "Q?"}]"#)
        ),
    ] {
        let (format, _) = assert_is_read("log.jsonl", &record);
        assert_eq!(format, "openai-chat", "{record}");
    }
}

#[test]
fn invocations_of_bedrock_also_in_events_of_its_logs() {
    let request = r#"{"messages": [{"role": "user", "content": [{"text": "Q?"}]}]}"#;
    let log = |reply: &str| {
        format!(
            r#"{{"modelId": "m", "input": {{"inputBodyJson": {request}}}, "output": {{"outputBodyJson": {reply}}}}}"#
        )
    };
    let converse = r#"{"output": {"message": {"role": "assistant", "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"x": 1}}}]}}}"#;
    let anthropic = r#"{"type": "message", "role": "assistant", "usage": {}, "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"x": 1}}]}"#;
    let streamed = r#"[{"messageStart": {"role": "assistant"}},
        {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "1", "name": "f"}}, "contentBlockIndex": 1}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": "{\"x\":"}}, "contentBlockIndex": 1}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": " 1}"}}, "contentBlockIndex": 1}},
        {"metadata": {"usage": {"inputTokens": 3}}}]"#;
    for reply in [converse, anthropic, streamed] {
        assert_is_read("bedrock.json", &log(reply));
        let events = format!(r#"{{"events": [{{"timestamp": 1, "message": {}}}]}}"#, quoted(&log(reply)));
        let (_, kept) = assert_is_read("cloudwatch.json", &events);
        let notes = &kept.traces[0].notes;
        assert!(format!("{notes:?}").contains("events.message"), "{notes:?}");
    }
    // The format is that of the first records: replies of another dialect are left out with a word.
    let mixed = [log(anthropic), log(converse)].join("\n");
    assert!(read_text("mixed.jsonl", &mixed).unwrap_err().contains("a record is left out"));
}

#[test]
fn a_state_that_repeats_the_request_is_one_conversation() {
    let answer = r#"{"role": "assistant", "content": "A"}"#;
    let calls = r#"{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}"#;
    let question = r#"{"role": "user", "content": "Q?"}"#;
    let result = r#"{"role": "tool", "tool_call_id": "1", "content": "r"}"#;
    for after in [format!("{calls}, {result}, {answer}"), format!("{question}, {calls}, {result}, {answer}")]
    {
        let record =
            format!(r#"{{"inputs": {{"messages": [{question}]}}, "outputs": {{"messages": [{after}]}}}}"#);
        let (_, kept) = assert_is_read("examples.json", &format!("[{record}]"));
        assert_eq!(kept.traces[0].final_reply.as_deref(), Some("A"));
        assert_eq!(shown(&kept.traces[0]), [r#"f({"x":1})=r"#]);
    }
}

#[test]
fn rows_of_tables_and_of_data_frames() {
    let rows = [["a", "t", "AGENT", "Q?", ""], ["b", "t", "TOOL", r#"{"x": 1}"#, "f"]];
    let names = [
        "context.span_id",
        "context.trace_id",
        "attributes.openinference.span.kind",
        "attributes.input.value",
        "attributes.tool.name",
    ];
    let json = |cell: &str| if cell.is_empty() { Json::Null } else { string(cell) };
    let list = |cells: &[&str]| Json::Array(cells.iter().map(|cell| json(cell)).collect());
    let split = object([
        ("columns", list(&names)),
        ("index", Json::Array(Vec::new())),
        ("data", Json::Array(rows.iter().map(|row| list(row)).collect())),
    ]);
    let column = |at: usize| {
        Json::Object(rows.iter().enumerate().map(|(row, cells)| (row.to_string(), json(cells[at]))).collect())
    };
    let columns =
        Json::Object(names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), column(at))).collect());
    for frame in [split, columns] {
        let (format, _) = assert_is_read("frame.json", &frame.to_text(Keys::AsRead));
        assert_eq!(format, "openinference");
    }
    for separator in [",", ";", "\t"] {
        let cell = |cell: &&str| format!("\"{}\"", cell.replace('"', "\"\""));
        let cells = |cells: &[&str]| cells.iter().map(cell).collect::<Vec<_>>().join(separator);
        let text = [cells(&names), cells(&rows[0]), cells(&rows[1])].join("\n");
        let (format, _) = assert_is_read("table.csv", &text);
        assert_eq!(format, "openinference");
    }
}

#[test]
fn conversations_in_cells_and_in_texts_are_those_of_records() {
    let list = r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}]"#;
    assert_is_read("texts.jsonl", &format!("{{\"id\": 1, \"messages\": {}}}\n", quoted(list)));
    let python = r#"[{'role': 'user', 'content': 'Q?'}, {'role': 'assistant', 'tool_calls': [{'id': '1', 'function': {'name': 'f', 'arguments': '{"x": 1}'}}]}]"#;
    for list in [list, python] {
        let text = format!("task,messages\nt,\"{}\"\n", list.replace('"', "\"\""));
        assert_is_read("table.csv", &text);
    }
    // A table whose calls nobody reads is no table of trajectories without calls.
    assert!(read_text("table.csv", "a,b\n1,\"{\"\"x\"\": 1}\"\n").is_err());
    assert!(read_text("table.csv", "a,b\n1,\"[{\n").is_err());
}

#[test]
fn spans_below_lines_of_text() {
    let span = r#"{"name": "execute_tool f", "context": {"trace_id": "0x1", "span_id": "0x2"}, "start_time": "2025-01-01T00:00:03Z",
        "attributes": {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.call.arguments": "{\"x\": 1}"}}"#;
    let (format, kept) =
        read_text("console.log", &format!("INFO: starts {{}}\n{span}\nINFO: goes on\n{span}\n")).unwrap();
    assert_eq!((format, shown(&kept.traces[0])), ("otel-genai", vec![r#"f({"x":1})=-"#.to_owned()]));
    // Examples in a document are no trace of it.
    let document = format!("# Title\n```json\n{{\"messages\": {REQUEST}}}\n```\n");
    assert!(read_text("README.md", &document).is_err());
}

#[test]
fn what_a_record_says_of_success_belongs_to_the_trace_in_it() {
    let messages = quoted(
        r#"[{"role": "user", "content": "Q?"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"x\": 1}"}}]}]"#,
    );
    let record = |resolved: bool| format!(r#"{{"resolved": {resolved}, "messages": {messages}}}"#);
    let (_, kept) = read_text("rows.jsonl", &format!("{}\n{}\n", record(true), record(false))).unwrap();
    let labels: Vec<_> =
        kept.traces.iter().map(|trace| trace.label.as_ref().and_then(|it| it.pass)).collect();
    assert_eq!(labels, [Some(true), Some(false)]);
    let (_, kept) = read_text("row.json", &record(true)).unwrap();
    assert_eq!(kept.traces[0].label.as_ref().map(|it| it.member.as_str()), Some("resolved"));
}
