//! Keys that are planted where programs keep prompts, settings and headers do not reach a trajectory.

#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test stops at the first surprise, and tables are long"
)]

use std::path::{Path, PathBuf};

use m3_testkit::shared;
use m3_traces::{FORMATS, ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::Keys;
use serde_json::{Value, json};
use zip::write::{SimpleFileOptions, ZipWriter};

/// What every planted key begins with.
const PLANTED: &str = "sk-PLANTED";

/// Everything that a file tells, as text.
#[derive(Debug, Default)]
struct TextCollector {
    calls: usize,
    texts: Vec<String>,
}

impl TextCollector {
    fn add(&mut self, name: &str, trace: &Trace) {
        self.calls += trace.call_count();
        self.texts.push(name.to_owned());
        self.texts.extend(trace.notes.iter().map(|(note, _)| note.to_owned()));
        self.texts.extend(trace.origin.iter().map(|(_, text)| text.clone()));
        // What is not written as JSON, such as the ids of calls, is looked at as well.
        self.texts.push(format!("{trace:?}"));
        self.texts.push(trace.clone().into_trajectory(name.to_owned(), "x").to_json().to_text(Keys::AsRead));
        for (name, inner) in &trace.nested {
            self.add(name, inner);
        }
        if let Some(reference) = &trace.reference {
            self.add("reference", reference);
        }
    }
}

impl Sink for TextCollector {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.add("outer", &trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, message: &str) {
        self.texts.push(message.to_owned());
    }
}

/// Reads a file: its format, its calls and the planted keys that came through, with what stands around them.
fn leaks(path: &Path) -> (&'static str, usize, Vec<String>) {
    let source = Source::open(path).unwrap();
    let Some(file) = recognize(&source).unwrap() else { return ("none", 0, Vec::new()) };
    let mut collector = TextCollector::default();
    if let Err(error) = file.read(&mut collector) {
        collector.texts.push(error.to_string());
    }
    let leaks = collector.texts.iter().filter_map(|text| {
        let at = text.find(PLANTED)?;
        Some(
            text[..at]
                .chars()
                .rev()
                .take(150)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .chain(text[at..].chars().take(40))
                .collect(),
        )
    });
    (file.format.name, collector.calls, leaks.collect())
}

/// Checks files of a format whose texts have `KEY` in places that are not to be copied.
#[track_caller]
fn check(format: &str, files: &[&str]) {
    assert!(FORMATS.iter().any(|it| it.name == format), "{format}");
    for text in files {
        assert!(text.contains("KEY"));
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text.replace("KEY", PLANTED)).unwrap();
        let (name, calls, found) = leaks(file.path());
        assert!(name == format && calls > 0, "{name}, {calls} calls: {text}");
        assert!(found.is_empty(), "{format}: {found:#?}\n{text}");
    }
}

#[test]
fn expected_calls() {
    check(
        "expected-calls",
        &[
            r#"{"id": "a", "question": "q", "system_prompt": "KEY", "metadata": {"x": "KEY"}, "tools": [{"name": "g", "description": "KEY"}], "expected_tool_calls": [{"name": "f", "arguments": {}, "description": "KEY", "reasoning": "KEY"}]}"#,
            "id,question,api_key,expected_tools\n1,q,KEY,f\n",
        ],
    );
}

#[test]
fn messages() {
    check(
        "openai-chat-messages",
        &[
            r#"{"model": "m", "messages": [{"role": "system", "content": "KEY"}, {"role": "developer", "content": [{"type": "text", "text": "KEY"}]}, {"role": "user", "content": "q"},
            {"role": "assistant", "reasoning_content": "KEY", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}", "env": "KEY"}}]}, {"role": "tool", "tool_call_id": "1", "content": "r", "headers": "KEY"}],
            "tools": [{"type": "function", "function": {"name": "f", "description": "KEY"}}], "metadata": {"a": "KEY"}, "user": "KEY", "extra_headers": {"Authorization": "KEY"}}"#,
            "{\"role\": \"system\", \"content\": \"KEY\"}\n{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\"}}]}\n",
        ],
    );
    check(
        "openai-chat",
        &[
            r#"{"request": {"headers": {"Authorization": "Bearer KEY"}, "messages": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}], "tools": [{"function": {"description": "KEY"}}], "metadata": {"a": "KEY"}},
            "response": {"object": "chat.completion", "system_fingerprint": "KEY", "headers": {"x": "KEY"}, "metadata": {"a": "KEY"}, "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}]}, "env": "KEY"}"#,
        ],
    );
    check(
        "openai-responses",
        &[
            r#"{"request": {"instructions": "KEY", "input": [{"role": "system", "content": "KEY"}, {"role": "developer", "content": [{"type": "input_text", "text": "KEY"}]}, {"role": "user", "content": "q"}], "tools": [{"type": "mcp", "server_label": "s", "authorization": "KEY", "headers": {"a": "KEY"}}], "metadata": {"a": "KEY"}, "prompt": {"variables": {"a": "KEY"}}},
            "response": {"object": "response", "id": "r", "instructions": "KEY", "metadata": {"a": "KEY"}, "tools": [{"description": "KEY"}], "output": [{"type": "mcp_list_tools", "server_label": "s", "tools": [{"description": "KEY"}]}, {"type": "reasoning", "encrypted_content": "KEY", "summary": [{"type": "summary_text", "text": "KEY"}]}, {"type": "mcp_approval_request", "arguments": "KEY"}, {"type": "mcp_call", "server_label": "s", "name": "f", "arguments": "{}", "output": "r", "headers": "KEY"}]}}"#,
        ],
    );
    check(
        "openai-responses-items",
        &[
            r#"{"instructions": "KEY", "input": [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "KEY"}]}, {"type": "additional_tools", "tools": ["KEY"]}, {"type": "compaction", "encrypted_content": "KEY"}, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "x": "KEY"}], "tools": ["KEY"]}"#,
        ],
    );
    check(
        "anthropic-messages",
        &[
            r#"{"system": [{"type": "text", "text": "KEY"}], "messages": [{"role": "user", "content": [{"type": "text", "text": "<system-reminder>KEY</system-reminder>"}, {"type": "text", "text": "q"}]}, {"role": "assistant", "content": [{"type": "thinking", "thinking": "KEY", "signature": "KEY"}, {"type": "tool_use", "id": "1", "name": "f", "input": {}, "x": "KEY"}]}],
            "tools": [{"description": "KEY"}], "metadata": {"user_id": "KEY"}, "mcp_servers": [{"authorization_token": "KEY"}]}"#,
        ],
    );
    check(
        "anthropic",
        &[
            r#"{"request": {"system": "KEY", "headers": {"x-api-key": "KEY"}, "messages": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}], "tools": [{"description": "KEY"}]}, "response": {"type": "message", "role": "assistant", "stop_reason": "tool_use", "container": {"id": "KEY"}, "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[],\"container\":\"KEY\"}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}}\n\n: KEY\n\nevent: ping\ndata: {\"type\":\"KEY\"}\n\n",
        ],
    );
    check(
        "gemini",
        &[
            r#"{"request": {"systemInstruction": {"parts": [{"text": "KEY"}]}, "contents": [{"role": "system", "parts": [{"text": "KEY"}]}, {"role": "user", "parts": [{"text": "q"}]}], "tools": [{"functionDeclarations": [{"description": "KEY"}]}], "config": {"system_instruction": "KEY", "http_options": {"headers": {"x": "KEY"}}}},
            "response": {"sdkHttpResponse": {"headers": {"x": "KEY"}}, "candidates": [{"content": {"role": "model", "parts": [{"text": "KEY", "thought": true}, {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "KEY"}]}, "groundingMetadata": {"x": "KEY"}}]}}"#,
        ],
    );
    check(
        "gemini-contents",
        &[
            r#"{"systemInstruction": {"parts": [{"text": "KEY"}]}, "contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}]}], "tools": ["KEY"]}"#,
        ],
    );
    check(
        "langchain",
        &[
            r#"[{"type": "system", "content": "KEY"}, {"type": "human", "content": "q", "additional_kwargs": {"x": "KEY"}}, {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}], "additional_kwargs": {"x": "KEY"}, "response_metadata": {"headers": {"x": "KEY"}}}, {"type": "tool", "tool_call_id": "1", "content": "r", "artifact": "KEY"}]"#,
            r#"[{"type": "system", "data": {"content": "KEY"}}, {"type": "developer", "data": {"content": "KEY"}}, {"type": "chat", "data": {"role": "system", "content": "KEY"}}, {"type": "ai", "data": {"content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}}]"#,
            r#"[{"lc": 1, "type": "constructor", "id": ["SystemMessage"], "kwargs": {"content": "KEY"}}, {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": [{"type": "reasoning", "reasoning": "KEY"}], "tool_calls": [{"id": "1", "name": "f", "args": {}}], "openai_api_key": {"lc": 1, "type": "secret", "id": ["KEY"]}}}]"#,
        ],
    );
    check(
        "langgraph-states",
        &[
            r#"{"values": {"messages": [{"type": "system", "content": "KEY"}, {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}], "secret": "KEY"}, "next": [], "metadata": {"x": "KEY"}, "config": {"configurable": {"thread_id": "t", "api_key": "KEY"}}, "tasks": [{"x": "KEY"}]}"#,
        ],
    );
    check(
        "langgraph-updates",
        &[
            r#"{"model": {"messages": [{"type": "system", "content": "KEY"}, {"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}], "secret": "KEY"}, "__metadata__": {"x": "KEY"}}"#,
        ],
    );
    check(
        "agentevals",
        &[
            r#"{"inputs": {"system": "KEY", "question": "q"}, "outputs": [{"role": "system", "content": "KEY"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}], "reference_outputs": [{"role": "system", "content": "KEY"}], "metadata": {"x": "KEY"}}"#,
        ],
    );
    check(
        "agentevals-graph",
        &[
            r#"{"inputs": [{"system": "KEY"}], "results": [{"messages": [{"role": "system", "content": "KEY"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}], "secret": "KEY"}], "steps": [["__start__", "KEY"]]}"#,
        ],
    );
}

#[test]
fn sessions() {
    check(
        "adk",
        &[
            r#"{"id": "s", "appName": "a", "userId": "KEY", "state": {"x": "KEY"}, "events": [{"author": "a", "actions": {"stateDelta": {"x": "KEY"}}, "customMetadata": {"x": "KEY"}, "content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}}]}"#,
        ],
    );
    check(
        "adk-eval-set",
        &[
            r#"{"evalSetId": "s", "description": "KEY", "evalCases": [{"evalId": "c", "sessionInput": {"state": {"x": "KEY"}, "userId": "KEY"}, "conversation": [{"userContent": {"parts": [{"text": "q"}]}, "intermediateData": {"toolUses": [{"name": "f"}], "intermediateResponses": [["a", [{"text": "KEY"}]]]}, "rubrics": ["KEY"]}]}]}"#,
        ],
    );
    check(
        "atif",
        &[
            r#"{"schema_version": "ATIF-v1.7", "session_id": "s", "agent": {"name": "a", "extra": {"env": "KEY"}, "tool_definitions": [{"description": "KEY"}]}, "notes": "KEY", "extra": {"x": "KEY"}, "steps": [{"source": "system", "message": "KEY"}, {"source": "user", "message": "q", "extra": {"x": "KEY"}}, {"source": "agent", "reasoning_content": "KEY", "extra": {"x": "KEY"}, "tool_calls": [{"tool_call_id": "1", "function_name": "f", "arguments": {}, "extra": {"x": "KEY"}}]}]}"#,
        ],
    );
    check(
        "claude-code",
        &[concat!(
            r#"{"type": "system", "sessionId": "s", "uuid": "0", "parentUuid": null, "isSidechain": false, "content": "KEY"}"#,
            "\n",
            r#"{"type": "attachment", "sessionId": "s", "uuid": "9", "parentUuid": "0", "isSidechain": false, "attachment": {"env": "KEY"}}"#,
            "\n",
            r#"{"type": "user", "sessionId": "s", "uuid": "1", "parentUuid": "9", "isSidechain": false, "isMeta": true, "cwd": "KEY", "gitBranch": "KEY", "message": {"role": "user", "content": "KEY"}}"#,
            "\n",
            r#"{"type": "user", "sessionId": "s", "uuid": "2", "parentUuid": "1", "isSidechain": false, "message": {"role": "user", "content": [{"type": "text", "text": "<system-reminder>KEY</system-reminder>"}]}}"#,
            "\n",
            r#"{"type": "user", "sessionId": "s", "uuid": "3", "parentUuid": "2", "isSidechain": false, "message": {"role": "user", "content": "q"}}"#,
            "\n",
            r#"{"type": "assistant", "sessionId": "s", "uuid": "4", "parentUuid": "3", "isSidechain": false, "requestId": "KEY", "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
            "\n",
            r#"{"type": "user", "sessionId": "s", "uuid": "5", "parentUuid": "4", "isSidechain": false, "toolUseResult": {"stdout": "KEY"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]}}"#,
            "\n",
        )],
    );
    check(
        "claude-code-stream",
        &[concat!(
            r#"{"type": "system", "subtype": "init", "session_id": "s", "apiKeySource": "KEY", "mcp_servers": [{"env": "KEY"}], "tools": ["KEY"], "cwd": "KEY"}"#,
            "\n",
            r#"{"type": "system", "subtype": "hook_response", "session_id": "s", "stdout": "KEY"}"#,
            "\n",
            r#"{"type": "user", "session_id": "s", "message": {"role": "user", "content": "<environment_context>KEY</environment_context>"}}"#,
            "\n",
            r#"{"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
            "\n",
            r#"{"type": "user", "session_id": "s", "tool_use_result": {"env": "KEY"}, "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]}}"#,
            "\n",
            r#"{"type": "result", "subtype": "success", "session_id": "s", "result": "a", "permission_denials": ["KEY"]}"#,
            "\n",
        )],
    );
    check(
        "codex-rollout",
        &[concat!(
            r#"{"type": "session_meta", "payload": {"id": "s", "cwd": "KEY", "instructions": "KEY", "base_instructions": {"text": "KEY"}, "git": {"repository_url": "https://KEY@x"}}}"#,
            "\n",
            r#"{"type": "turn_context", "payload": {"model": "m", "user_instructions": "KEY", "developer_instructions": "KEY", "env": {"x": "KEY"}}}"#,
            "\n",
            r#"{"type": "world_state", "payload": {"env": "KEY"}}"#,
            "\n",
            r#"{"type": "event_msg", "payload": {"type": "session_configured", "env": "KEY"}}"#,
            "\n",
            r#"{"type": "response_item", "payload": {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "KEY"}]}}"#,
            "\n",
            r##"{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "# AGENTS.md instructions\n\nKEY"}, {"type": "input_text", "text": "<environment_context>\nKEY\n</environment_context>"}]}}"##,
            "\n",
            r#"{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<user_instructions>KEY</user_instructions>"}]}}"#,
            "\n",
            r#"{"type": "response_item", "payload": {"type": "reasoning", "encrypted_content": "KEY", "summary": [{"type": "summary_text", "text": "KEY"}]}}"#,
            "\n",
            r#"{"type": "response_item", "payload": {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}}"#,
            "\n",
            r#"{"type": "compacted", "payload": {"message": "KEY"}}"#,
            "\n",
        )],
    );
    check(
        "codex-exec",
        &[concat!(
            r#"{"type": "thread.started", "thread_id": "t", "env": "KEY"}"#,
            "\n",
            r#"{"type": "item.completed", "item": {"id": "0", "type": "reasoning", "text": "KEY"}}"#,
            "\n",
            r#"{"type": "item.completed", "item": {"id": "1", "type": "command_execution", "command": "ls", "aggregated_output": "", "exit_code": 0, "status": "completed", "env": "KEY"}}"#,
            "\n",
            r#"{"type": "item.completed", "item": {"id": "2", "type": "todo_list", "items": ["KEY"]}}"#,
            "\n",
        )],
    );
    check(
        "mcp",
        &[
            concat!(
                r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"clientInfo": {"name": "c"}, "_meta": {"authorization": "KEY"}}, "headers": {"x": "KEY"}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {"name": "s", "env": "KEY"}, "instructions": "KEY"}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "f", "description": "KEY"}]}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 2, "method": "prompts/get", "params": {"name": "KEY"}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 2, "result": {"messages": ["KEY"]}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"name": "f", "arguments": {}, "_meta": {"authorization": "KEY", "progressToken": "KEY"}}}"#,
                "\n",
                r#"{"jsonrpc": "2.0", "id": 3, "result": {"content": [{"type": "text", "text": "r"}], "_meta": {"x": "KEY"}}}"#,
                "\n",
            ),
            concat!(
                r#"{"ts": 1, "dir": "out", "headers": {"Authorization": "KEY"}, "url": "https://KEY@x", "msg": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}}}"#,
                "\n",
                r#"{"ts": 2, "env": "KEY"}"#,
                "\n",
            ),
        ],
    );
    check(
        "mcp-log",
        &[
            "2025-05-01T10:00:00.000Z [shop] [info] Server started with env { API_KEY: 'KEY' }\n2025-05-01T10:00:00.000Z [shop] [info] Message from client: {\"method\":\"tools/call\",\"params\":{\"name\":\"f\",\"_meta\":{\"a\":\"KEY\"}},\"jsonrpc\":\"2.0\",\"id\":1} { metadata: KEY }\n",
        ],
    );
    check(
        "inspect-json",
        &[
            r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m", "model_args": {"api_key": "KEY"}, "task_args": {"x": "KEY"}, "metadata": {"x": "KEY"}, "config": {"x": "KEY"}, "model_generate_config": {"extra_headers": {"x": "KEY"}}}, "plan": {"steps": [{"params": {"prompt": "KEY"}}], "config": {"system_message": "KEY"}},
            "samples": [{"id": 1, "epoch": 1, "input": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}], "target": "KEY", "metadata": {"x": "KEY"}, "store": {"x": "KEY"}, "sandbox": ["docker", "KEY"], "setup": "KEY", "files": {"x": "KEY"},
              "scores": {"match": {"value": 1, "answer": "KEY", "explanation": "KEY", "metadata": {"x": "KEY"}}}, "error": {"message": "KEY", "traceback": "KEY"},
              "messages": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q", "metadata": {"x": "KEY"}}, {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "KEY"}], "tool_calls": [{"id": "1", "function": "f", "arguments": {}, "view": {"content": "KEY"}}]}],
              "events": [{"event": "sample_init", "state": {"x": "KEY"}}, {"event": "model", "span_id": "a", "tools": [{"description": "KEY"}], "config": {"extra_headers": {"x": "KEY"}}, "input": [{"role": "system", "content": "KEY"}], "call": {"request": {"headers": "KEY"}, "response": {"x": "KEY"}}, "output": {"choices": [{"message": {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]}}]}}, {"event": "state", "changes": ["KEY"]}, {"event": "sandbox", "cmd": "KEY"}]}]}"#,
        ],
    );
}

#[test]
fn spans() {
    let otlp = |attributes: &str| {
        format!(
            r#"{{"resourceSpans": [{{"resource": {{"attributes": [{{"key": "process.environment", "value": {{"stringValue": "KEY"}}}}, {{"key": "service.name", "value": {{"stringValue": "KEY"}}}}]}}, "scopeSpans": [{{"scope": {{"name": "x", "attributes": [{{"key": "k", "value": {{"stringValue": "KEY"}}}}]}}, "spans": [{{"traceId": "01", "spanId": "02", "name": "c", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{attributes}, {{"key": "http.request.header.authorization", "value": {{"stringValue": "KEY"}}}}, {{"key": "metadata", "value": {{"stringValue": "{{\"x\": \"KEY\"}}"}}}}], "events": [{{"name": "x", "attributes": [{{"key": "k", "value": {{"stringValue": "KEY"}}}}]}}], "links": [{{"attributes": [{{"key": "k", "value": {{"stringValue": "KEY"}}}}]}}]}}]}}]}}]}}"#
        )
    };
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}}).to_string();
    let texts = |all: &[(&str, &str)]| {
        otlp(&all.iter().map(|(key, value)| text(key, value)).collect::<Vec<_>>().join(", "))
    };
    let system = r#"[{"role":"system","parts":[{"type":"text","content":"KEY"}]},{"role":"developer","content":"KEY"},{"role":"user","parts":[{"type":"text","content":"q"}]}]"#;
    let reply = r#"[{"role":"assistant","parts":[{"type":"reasoning","content":"KEY"},{"type":"tool_call","id":"1","name":"f","arguments":{}}]}]"#;
    check(
        "otel-genai",
        &[
            &texts(&[
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.system_instructions", r#"[{"type":"text","content":"KEY"}]"#),
                ("gen_ai.tool.definitions", "KEY"),
                ("gen_ai.input.messages", system),
                ("gen_ai.output.messages", reply),
            ]),
            &texts(&[
                ("gen_ai.operation.name", "execute_tool"),
                ("gen_ai.tool.name", "f"),
                ("gen_ai.tool.description", "KEY"),
                ("mcp.session.id", "KEY"),
            ]),
            &texts(&[
                ("gen_ai.operation.name", "chat"),
                ("gen_ai.prompt.0.role", "system"),
                ("gen_ai.prompt.0.content", "KEY"),
                ("gen_ai.prompt.1.role", "user"),
                ("gen_ai.prompt.1.content", "q"),
                ("llm.request.functions.0.description", "KEY"),
                ("llm.headers", "KEY"),
                ("gen_ai.completion.0.role", "assistant"),
                ("gen_ai.completion.0.tool_calls.0.name", "f"),
                ("gen_ai.completion.0.tool_calls.0.arguments", "{}"),
            ]),
            &texts(&[
                ("gen_ai.operation.name", "invoke_agent"),
                ("gen_ai.agent.description", "KEY"),
                (
                    "pydantic_ai.all_messages",
                    r#"[{"role":"system","parts":[{"type":"text","content":"KEY"}]},{"role":"user","parts":[{"type":"text","content":"q"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"1","name":"f","arguments":"{}"}]}]"#,
                ),
            ]),
        ],
    );
    check(
        "openinference",
        &[
            &texts(&[
                ("openinference.span.kind", "LLM"),
                ("llm.input_messages.0.message.role", "system"),
                ("llm.input_messages.0.message.content", "KEY"),
                ("llm.input_messages.1.message.role", "user"),
                ("llm.input_messages.1.message.content", "q"),
                ("llm.invocation_parameters", "KEY"),
                ("llm.tools.0.tool.json_schema", "KEY"),
                ("llm.prompt_template.template", "KEY"),
                ("llm.prompt_template.variables", "KEY"),
                ("input.value", r#"{"messages":[{"role":"system","content":"KEY"}]}"#),
                ("user.id", "KEY"),
                ("tag.tags", "KEY"),
                ("llm.output_messages.0.message.role", "assistant"),
                ("llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "f"),
                ("output.value", r#"{"headers":"KEY"}"#),
            ]),
            r#"{"data": [{"context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "name": "c", "attributes": {"metadata": {"x": "KEY"}, "llm.input_messages.0.message.role": "system", "llm.input_messages.0.message.content": "KEY", "llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f"}}], "next_cursor": "KEY"}"#,
        ],
    );
    let messages = r#"[{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}]"#;
    let called = r#"{"role": "assistant", "reasoning_content": "KEY", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}"#;
    check(
        "langfuse",
        &[
            &texts(&[
                ("langfuse.observation.type", "generation"),
                ("langfuse.observation.model.parameters", "KEY"),
                ("langfuse.trace.metadata.x", "KEY"),
                ("langfuse.observation.input", messages),
                ("langfuse.observation.output", called),
            ]),
            r#"{"trace": {"id": "t", "metadata": "KEY", "scores": [{"comment": "KEY"}]}, "observations": [{"id": "1", "traceId": "t", "type": "TOOL", "name": "f", "startTime": "2026-01-01T00:00:00Z", "input": {}, "metadata": {"resourceAttributes": {"x": "KEY"}, "scope": {"attributes": {"public_key": "KEY"}}}, "modelParameters": {"x": "KEY"}}]}"#,
        ],
    );
    check(
        "observations",
        &[
            r#"[{"id": "1", "trace_id": "t", "parent_span_id": null, "type": "tool", "name": "f", "start_time": "2026-01-01T00:00:00Z", "input": {}, "metadata": {"x": "KEY"}, "created_by": "KEY"}]"#,
            r#"{"events": [{"span_id": "1", "root_span_id": "t", "input": {}, "metrics": {"start": 1.5}, "context": {"x": "KEY"}, "span_attributes": {"name": "f", "type": "tool"}}]}"#,
        ],
    );
    check(
        "mlflow",
        &[
            &texts(&[
                ("mlflow.spanType", r#""CHAT_MODEL""#),
                ("mlflow.chat.tools", "KEY"),
                ("mlflow.spanInputs", messages),
                ("mlflow.spanOutputs", called),
            ]),
            r#"{"info": {"trace_metadata": {"mlflow.user": "KEY"}, "tags": {"x": "KEY"}}, "data": {"spans": [{"trace_id": "t", "span_id": "s", "name": "f", "attributes": {"mlflow.spanType": "\"TOOL\"", "mlflow.spanInputs": "{}", "x": "KEY"}}]}}"#,
        ],
    );
    check(
        "vercel-ai-telemetry",
        &[&texts(&[
            ("ai.operationId", "ai.generateText.doGenerate"),
            (
                "ai.prompt.messages",
                r#"[{"role":"system","content":"KEY"},{"role":"user","content":[{"type":"text","text":"q"}]}]"#,
            ),
            ("ai.prompt", r#"{"system":"KEY"}"#),
            ("ai.prompt.tools", "KEY"),
            ("ai.request.headers.authorization", "KEY"),
            ("ai.response.providerMetadata", "KEY"),
            ("ai.settings.context", "KEY"),
            ("ai.telemetry.metadata.secret", "KEY"),
            ("ai.response.toolCalls", r#"[{"toolCallId":"1","toolName":"f","input":"{}"}]"#),
        ])],
    );
    let part = r#"[{"role":"system","parts":[{"type":"text","content":"KEY"}]},{"role":"assistant","parts":[{"type":"reasoning","content":"KEY"},{"type":"tool_call","id":"1","name":"f","arguments":{}}]}]"#;
    check("otel-genai-messages", &[part]);
    check(
        "langsmith",
        &[
            r#"[{"id": "r", "trace_id": "t", "run_type": "llm", "name": "m", "tags": ["KEY"], "serialized": {"kwargs": {"api_key": "KEY"}}, "extra": {"invocation_params": {"tools": ["KEY"]}, "metadata": {"x": "KEY"}, "runtime": {"env": "KEY"}}, "events": [{"kwargs": "KEY"}], "inputs": {"messages": [[{"lc": 1, "type": "constructor", "id": ["SystemMessage"], "kwargs": {"content": "KEY"}}, {"lc": 1, "type": "constructor", "id": ["HumanMessage"], "kwargs": {"content": "q"}}]]}, "outputs": {"llm_output": {"headers": "KEY"}, "generations": [[{"message": {"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "", "response_metadata": {"x": "KEY"}, "tool_calls": [{"id": "1", "name": "f", "args": {}}]}}}]]}}]"#,
        ],
    );
    check(
        "openai-agents",
        &[concat!(
            r#"{"object": "trace", "id": "t", "workflow_name": "w", "metadata": {"x": "KEY"}}"#,
            "\n",
            r#"{"object": "trace.span", "id": "0", "trace_id": "t", "span_data": {"type": "agent", "name": "a", "tools": ["KEY"]}}"#,
            "\n",
            r#"{"object": "trace.span", "id": "1", "trace_id": "t", "span_data": {"type": "generation", "model_config": {"headers": "KEY"}, "input": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}], "output": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}]}}"#,
            "\n",
            r#"{"object": "trace.span", "id": "2", "trace_id": "t", "span_data": {"type": "mcp_tools", "server": "s", "result": ["KEY"]}}"#,
            "\n",
            r#"{"object": "trace.span", "id": "3", "trace_id": "t", "span_data": {"type": "custom", "name": "x", "data": {"env": "KEY"}}}"#,
            "\n",
        )],
    );
}

#[test]
fn results_of_programs_and_training_data() {
    check(
        "vercel-ai-messages",
        &[
            r#"[{"role": "system", "content": "KEY", "providerOptions": {"x": "KEY"}}, {"role": "assistant", "content": [{"type": "reasoning", "text": "KEY"}, {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}, "providerOptions": {"x": "KEY"}}]}]"#,
        ],
    );
    check(
        "vercel-ai-result",
        &[
            r#"{"system": "KEY", "instructions": "KEY", "headers": {"x": "KEY"}, "steps": [{"request": {"headers": {"x": "KEY"}, "body": {"instructions": "KEY", "messages": [{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}], "tools": ["KEY"]}}, "response": {"headers": {"x": "KEY"}, "body": {"x": "KEY"}}, "providerMetadata": {"x": "KEY"}, "reasoning": [{"text": "KEY"}], "finishReason": "tool-calls", "content": [{"type": "reasoning", "text": "KEY"}, {"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}}]}]}"#,
        ],
    );
    check(
        "vercel-ai-ui-messages",
        &[
            r#"[{"id": "m", "role": "system", "parts": [{"type": "text", "text": "KEY"}]}, {"id": "n", "role": "assistant", "metadata": {"x": "KEY"}, "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "KEY"}, {"type": "data-x", "data": {"x": "KEY"}}, {"type": "tool-f", "toolCallId": "1", "state": "input-available", "input": {}, "callProviderMetadata": {"x": "KEY"}}]}]"#,
        ],
    );
    check(
        "vercel-ai-ui-stream",
        &[
            "data: {\"type\":\"start\",\"messageMetadata\":{\"x\":\"KEY\"}}\n\ndata: {\"type\":\"start-step\"}\n\ndata: {\"type\":\"reasoning-delta\",\"id\":\"0\",\"delta\":\"KEY\"}\n\ndata: {\"type\":\"data-x\",\"data\":\"KEY\"}\n\ndata: {\"type\":\"tool-input-available\",\"toolCallId\":\"1\",\"toolName\":\"f\",\"input\":{},\"providerMetadata\":{\"x\":\"KEY\"}}\n\n",
        ],
    );
    check(
        "promptfoo",
        &[
            r#"{"evalId": "e", "config": {"env": {"x": "KEY"}, "providers": [{"config": {"apiKey": "KEY"}}]}, "results": {"version": 3, "results": [{"testIdx": 0, "promptIdx": 0, "provider": {"id": "m", "label": "KEY", "config": {"apiKey": "KEY"}}, "prompt": {"raw": "[{\"role\": \"system\", \"content\": \"KEY\"}, {\"role\": \"user\", \"content\": \"q\"}]", "label": "KEY"}, "vars": {"x": "KEY"}, "metadata": {"x": "KEY"}, "testCase": {"options": {"x": "KEY"}, "metadata": {"secret": "KEY"}, "assert": ["KEY"]}, "gradingResult": {"reason": "KEY"}, "response": {"metadata": {"headers": {"x": "KEY"}}, "output": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}}"#,
        ],
    );
    check(
        "sharegpt",
        &[
            r#"{"system": "KEY", "tools": "KEY", "conversations": [{"from": "system", "value": "KEY <tool_call>{\"name\": \"KEY\", \"arguments\": {}}</tool_call>"}, {"from": "human", "value": "q"}, {"from": "gpt", "value": "<think>KEY</think><tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"}]}"#,
        ],
    );
    check(
        "xlam",
        &[
            r#"{"id": 1, "query": "q", "answers": "[{\"name\": \"f\", \"arguments\": {}}]", "tools": "[{\"description\": \"KEY\"}]", "x": "KEY"}"#,
        ],
    );
    check(
        "bfcl",
        &[
            r#"{"id": "simple_0", "question": [[{"role": "system", "content": "KEY"}, {"role": "user", "content": "q"}]], "function": [{"description": "KEY"}], "initial_config": {"x": "KEY"}, "ground_truth": [{"f": {"a": [1]}}]}"#,
            r#"{"id": "simple_0", "result": [{"f": "{}"}], "inference_log": [{"content": "KEY"}], "input_token_count": 1}"#,
        ],
    );
    check(
        "glaive",
        &[
            r#"{"system": "KEY", "chat": "SYSTEM: KEY\n\n\nUSER: q\n\n\nASSISTANT: <functioncall> {\"name\": \"f\", \"arguments\": '{}'} <|endoftext|>"}"#,
        ],
    );
    check(
        "rendered-text",
        &[
            r#"{"text": "<|im_start|>system\nKEY<|im_end|>\n<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>\nKEY\n</think>\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><|im_end|>"}"#,
            r#"{"text": "<|start_header_id|>system<|end_header_id|>\n\nKEY<|eot_id|><|start_header_id|>user<|end_header_id|>\n\nq<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n{\"name\": \"f\", \"parameters\": {}}<|eot_id|>"}"#,
        ],
    );
    // Texts alone: the answer counts as read.
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(
        file.path(),
        format!(r#"[{{"role": "system", "content": "{PLANTED}"}}, {{"role": "user", "content": "q"}}]"#),
    )
    .unwrap();
    assert_eq!(leaks(file.path()), ("messages", 0, Vec::new()));
}

/// Members whose values are what was said and done, which is what a trajectory is made of.
const KEPT: [&str; 19] = [
    "arguments",
    "args",
    "result",
    "response",
    "output",
    "outputs",
    "structuredContent",
    "structured_content",
    "parameters",
    "raw_arguments",
    "rawInput",
    "value",
    "ground_truth",
    "answers",
    "action",
    "operation",
    "results",
    "source",
    "image_url",
];

/// Members that hold settings, prompts or surroundings; a key takes the place of each text in them.
const SECRET: [&str; 22] = [
    "instructions",
    "system",
    "system_instruction",
    "systemInstruction",
    "base_instructions",
    "user_instructions",
    "tools",
    "tool_definitions",
    "headers",
    "env",
    "metadata",
    "state",
    "store",
    "config",
    "resource",
    "runtime",
    "invocation_params",
    "model_args",
    "plan",
    "providerMetadata",
    "additional_kwargs",
    "serialized",
];

/// Attributes of spans that hold the same, by the ends of their names.
const SECRET_ATTRIBUTES: [&str; 6] = [
    "system_instructions",
    "tool.definitions",
    "invocation_parameters",
    "prompt.tools",
    ".metadata",
    "json_schema",
];

/// Attributes that hold messages as a text of JSON.
const MESSAGES: [&str; 5] =
    ["input.messages", "output.messages", "prompt.messages", "all_messages", "inputMessages"];

/// Plants a key into every object, into what is secret, and into the texts of system messages.
fn plant(value: &mut Value, planted: &mut usize) {
    let members = match value {
        Value::Array(items) => return items.iter_mut().for_each(|item| plant(item, planted)),
        Value::Object(members) => members,
        _ => return,
    };
    // What a tool of the provider gave back is kept as it is.
    let kind = members.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind.ends_with("_tool_result") && kind != "mcp_tool_result" {
        return;
    }
    let says = |key: &str, text: &str| members.get(key).and_then(Value::as_str) == Some(text);
    let is_system =
        ["role", "type", "from", "source"].iter().any(|key| says(key, "system") || says(key, "developer"))
            && !members.contains_key("subtype");
    let attribute = members.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
    for (key, value) in members.iter_mut() {
        let key = key.as_str();
        let is_text = matches!(key, "content" | "value" | "parts" | "message" | "text");
        let ends = |names: &[&str]| names.iter().any(|name| key.ends_with(name) || attribute.ends_with(name));
        // A node of a graph may be called `tools`.
        let is_secret = SECRET.contains(&key) && !(key == "tools" && value.is_object());
        if is_secret || is_system && is_text || ends(&SECRET_ATTRIBUTES) && key != "key" {
            overwrite(value, planted);
        } else if ends(&MESSAGES) && key != "key" {
            plant_into_texts(value, planted);
        } else if has_more(key, value) {
            plant(value, planted);
        }
    }
    *planted += 1;
    members.insert("x_secret".to_owned(), json!({"key": PLANTED}));
}

/// Whether keys are planted below a member: what a call was given or gave back may be anything, also when it looks like a
/// message.
fn has_more(key: &str, value: &Value) -> bool {
    let is_message = |item: &Value| item.get("role").is_some() || item.get("type").is_some();
    match key {
        "input" => value.as_array().is_some_and(|list| list.iter().any(is_message)),
        "response" | "output" | "outputs" | "results" => value.get("messages").is_some(),
        key => !KEPT.contains(&key),
    }
}

/// Plants keys into texts of JSON.
fn plant_into_texts(value: &mut Value, planted: &mut usize) {
    match value {
        Value::String(text) => {
            if let Ok(mut inner) = serde_json::from_str::<Value>(text) {
                plant(&mut inner, planted);
                *text = inner.to_string();
            }
        }
        Value::Object(members) => members.values_mut().for_each(|value| plant_into_texts(value, planted)),
        _ => {}
    }
}

/// Puts keys in the place of all texts but ids, which say what belongs together.
fn overwrite(value: &mut Value, planted: &mut usize) {
    match value {
        Value::String(text) => {
            *planted += 1;
            PLANTED.clone_into(text);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| overwrite(item, planted)),
        Value::Object(members) => {
            let is_kept = |key: &str| {
                key == "type"
                    || key == "configurable"
                    || key.to_lowercase().ends_with("id")
                    || key.to_lowercase().contains("task")
                    || key.starts_with("model")
                    || key == "ls_model_name"
            };
            members
                .iter_mut()
                .filter(|(key, _)| !is_kept(key))
                .for_each(|(_, value)| overwrite(value, planted));
        }
        _ => {}
    }
}

/// A text of JSON or JSON Lines with keys in it; other texts have none.
fn planted(bytes: &[u8], count: &mut usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(mut value) = serde_json::from_str::<Value>(&text) {
        plant(&mut value, count);
        return value.to_string().into_bytes();
    }
    let line = |line: &str| {
        let (mark, data) = line.strip_prefix("data: ").map_or(("", line), |data| ("data: ", data));
        match serde_json::from_str::<Value>(data) {
            Ok(mut value) => {
                plant(&mut value, count);
                format!("{mark}{value}\n")
            }
            Err(_) => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect::<String>().into_bytes()
}

/// An archive whose entries have keys in them.
fn planted_archive(bytes: &[u8], count: &mut usize) -> Vec<u8> {
    let mut from = zip::ZipArchive::new(std::io::Cursor::new(bytes)).unwrap();
    let mut to = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for number in 0..from.len() {
        let mut entry = from.by_index(number).unwrap();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).unwrap();
        let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        to.start_file(entry.name().unwrap(), options).unwrap();
        std::io::Write::write_all(&mut to, &planted(&bytes, count)).unwrap();
    }
    to.finish().unwrap().into_inner()
}

#[test]
fn samples_of_real_programs_with_keys_everywhere() {
    let Some(folder) = shared("traces") else { return };
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let files =
        below(&folder).into_iter().flat_map(|format| below(&format)).flat_map(|sample| below(&sample));
    let mut wrong = Vec::new();
    let mut read = 0;
    for path in files.filter(|path| path.is_file()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name == "NOTE.md" || name.starts_with("expected") {
            continue;
        }
        let (format, calls, _) = leaks(&path);
        let bytes = std::fs::read(&path).unwrap();
        let mut count = 0;
        let bytes = if bytes.starts_with(b"PK") {
            planted_archive(&bytes, &mut count)
        } else {
            planted(&bytes, &mut count)
        };
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(&name);
        std::fs::write(&copy, bytes).unwrap();
        // The agents of a session are in files beside it.
        let named = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
        for agent in below(path.parent().unwrap()).iter().filter(|beside| named(beside).starts_with("agent-"))
        {
            let bytes = planted(&std::fs::read(agent).unwrap(), &mut 0);
            if **agent != path {
                std::fs::write(folder.path().join(named(agent)), bytes).unwrap();
            }
        }
        let (now, still, found) = leaks(&copy);
        read += usize::from(count > 0);
        if !found.is_empty() {
            wrong.push(format!(
                "{}: {} keys came through: {:#?}",
                path.display(),
                found.len(),
                found.iter().take(2).collect::<Vec<_>>()
            ));
        } else if (format, calls) != (now, still) {
            wrong.push(format!("{}: {now}, {still} calls instead of {format}, {calls}", path.display()));
        }
    }
    assert!(read > 60, "{read} samples");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
