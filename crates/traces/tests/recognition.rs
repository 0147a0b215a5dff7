//! Files that could be taken for one another, each with the format that it has, and files that are refused, with the reason.

#![expect(
    clippy::unwrap_used,
    clippy::too_many_lines,
    reason = "a test stops at the first surprise, and tables are long"
)]

use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;

/// Counts what comes.
#[derive(Default)]
struct Counts {
    traces: usize,
    steps: Vec<usize>,
}

impl Sink for Counts {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.traces += 1;
        self.steps.extend(trace.steps.iter().map(Vec::len));
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {}
}

/// The format of a file with this text, and the calls of its steps, or why it is refused.
fn recognize_and_count(text: &[u8]) -> (&'static str, Result<Counts, String>) {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    let source = Source::open(file.path()).unwrap();
    let Some(file) = recognize(&source).unwrap() else { return ("none", Ok(Counts::default())) };
    let mut counts = Counts::default();
    let read = file.read(&mut counts);
    (file.format.name, read.map(|()| counts).map_err(|error| error.to_string()))
}

/// A pair of files that look alike: the format, the calls of each step, and the text of each.
type Pair = (&'static str, [(&'static str, &'static [usize], &'static str); 2]);

/// Checks both files of each pair.
#[track_caller]
fn check(pairs: &[Pair]) {
    let mut wrong = Vec::new();
    for (why, files) in pairs {
        for (format, steps, text) in files {
            match recognize_and_count(text.as_bytes()) {
                (name, Ok(counts)) if name == *format && counts.steps == *steps => {}
                (name, Ok(counts)) => wrong
                    .push(format!("{why}: {name} {:?} instead of {format} {steps:?}: {text}", counts.steps)),
                (name, Err(error)) => {
                    wrong.push(format!("{why}: {name} refused ({error}) instead of {format}: {text}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tasks_with_calls_and_messages_with_calls() {
    check(&[
        (
            "a member of a task, and a member of a message",
            [
                (
                    "expected-calls",
                    &[1],
                    r#"[{"id": "a", "question": "q", "tool_calls": [{"name": "f", "args": {}}]}]"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"[{"role": "user", "content": "q"}, {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}]"#,
                ),
            ],
        ),
        (
            "a question of one text, and of turns",
            [
                (
                    "expected-calls",
                    &[1],
                    r#"[{"id": "a", "question": "q", "ground_truth_calls": [{"f": {"a": 1}}]}]"#,
                ),
                ("bfcl", &[1], r#"{"id": "a", "ground_truth": [{"f": {"a": [1]}}]}"#),
            ],
        ),
    ]);
}

#[test]
fn lists_of_messages_with_parts() {
    check(&[
        (
            "Gemini and OTel: both have `parts`",
            [
                (
                    "gemini-contents",
                    &[1],
                    r#"[{"role": "user", "parts": [{"text": "q"}]}, {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]}]"#,
                ),
                (
                    "otel-genai-messages",
                    &[1],
                    r#"[{"role": "user", "parts": [{"type": "text", "content": "q"}]}, {"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "f", "arguments": {}}]}]"#,
                ),
            ],
        ),
        (
            "Gemini in snake case and UI messages: both have `parts`",
            [
                (
                    "gemini-contents",
                    &[1],
                    r#"[{"role": "model", "parts": [{"function_call": {"name": "f", "args": {"type": "tool-f"}}}]}]"#,
                ),
                (
                    "vercel-ai-ui-messages",
                    &[1],
                    r#"[{"id": "m", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "tool-f", "toolCallId": "1", "state": "output-available", "input": {}, "output": "r"}]}]"#,
                ),
            ],
        ),
        (
            "OTel and UI messages: both have `parts` with `type` and text",
            [
                (
                    "otel-genai-messages",
                    &[],
                    r#"[{"role": "user", "parts": [{"type": "text", "content": "q"}]}]"#,
                ),
                (
                    "vercel-ai-ui-messages",
                    &[1],
                    r#"[{"role": "user", "parts": [{"type": "text", "text": "q"}]}, {"role": "assistant", "parts": [{"type": "dynamic-tool", "toolName": "f", "toolCallId": "1", "state": "input-available", "input": {}}]}]"#,
                ),
            ],
        ),
        (
            "A result of Gemini and one of OTel",
            [
                (
                    "gemini-contents",
                    &[1],
                    r#"[{"role": "model", "parts": [{"functionCall": {"name": "f"}}]}, {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": 1}}}]}]"#,
                ),
                (
                    "otel-genai-messages",
                    &[1],
                    r#"[{"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "f"}]}, {"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "r"}]}]"#,
                ),
            ],
        ),
        (
            "Contents below a member, and those of an ADK session",
            [
                (
                    "gemini-contents",
                    &[1],
                    r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "f"}}]}]}"#,
                ),
                (
                    "adk",
                    &[1],
                    r#"{"id": "s", "appName": "a", "events": [{"author": "a", "content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}}]}"#,
                ),
            ],
        ),
        (
            "An ADK session and an ADK eval set",
            [
                (
                    "adk",
                    &[1],
                    r#"{"id": "s", "app_name": "a", "events": [{"author": "a", "content": {"role": "model", "parts": [{"function_call": {"name": "f"}}]}}]}"#,
                ),
                (
                    "adk-eval-set",
                    &[1],
                    r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "c", "conversation": [{"user_content": {"parts": [{"text": "q"}]}, "intermediate_data": {"tool_uses": [{"name": "f", "args": {}}]}}]}]}"#,
                ),
            ],
        ),
    ]);
}

#[test]
fn lists_of_messages_with_content() {
    check(&[
        (
            "Anthropic and AI SDK: both have content parts of calls",
            [
                (
                    "anthropic-messages",
                    &[1],
                    r#"[{"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {"type": "tool-call"}}]}]"#,
                ),
                (
                    "vercel-ai-messages",
                    &[1],
                    r#"[{"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {"type": "tool_use"}}]}]"#,
                ),
            ],
        ),
        (
            "LangChain's content may hold Anthropic's blocks",
            [
                (
                    "langchain",
                    &[1],
                    r#"[{"type": "ai", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}], "tool_calls": [{"id": "1", "name": "f", "args": {}}]}]"#,
                ),
                (
                    "anthropic-messages",
                    &[1],
                    r#"[{"role": "user", "content": "ai"}, {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}]"#,
                ),
            ],
        ),
        (
            "LangChain's four shapes and Chat: both have `tool_calls`",
            [
                (
                    "langchain",
                    &[1],
                    r#"[{"type": "ai", "data": {"content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}}]"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"[{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}]"#,
                ),
            ],
        ),
        (
            "LangChain's constructors and LangSmith's runs, whose outputs hold them",
            [
                (
                    "langchain",
                    &[1],
                    r#"[{"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": {"content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}}]"#,
                ),
                (
                    "langsmith",
                    &[1],
                    r#"[{"id": "r", "trace_id": "t", "run_type": "chain", "name": "x", "outputs": {"messages": [{"lc": 1, "type": "constructor", "id": ["AIMessage"], "kwargs": {"content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}}]}}]"#,
                ),
            ],
        ),
        (
            "Responses items and Chat: items have `type`, messages `tool_calls`",
            [
                (
                    "openai-responses-items",
                    &[1],
                    r#"[{"role": "user", "content": "q"}, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"[{"role": "user", "content": "q"}, {"role": "assistant", "function_call": {"name": "f", "arguments": "{}"}}]"#,
                ),
            ],
        ),
        (
            "Responses items of text alone and Anthropic's blocks with thoughts",
            [
                (
                    "openai-responses-items",
                    &[],
                    r#"[{"role": "user", "content": [{"type": "input_text", "text": "q"}]}]"#,
                ),
                (
                    "anthropic-messages",
                    &[],
                    r#"[{"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "text", "text": "a"}]}]"#,
                ),
            ],
        ),
        (
            "An Agents session and Responses items are read the same",
            [
                (
                    "openai-responses-items",
                    &[2],
                    r#"{"items": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, {"type": "function_call", "call_id": "2", "name": "g", "arguments": "{}"}]}"#,
                ),
                (
                    "openai-responses-items",
                    &[2],
                    r#"{"input": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}, {"type": "function_call", "call_id": "2", "name": "g", "arguments": "{}"}]}"#,
                ),
            ],
        ),
        (
            "Texts alone are any of them, with calls Chat",
            [
                (
                    "messages",
                    &[],
                    r#"[{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}]"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"{"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]}"#,
                ),
            ],
        ),
        (
            "A request that holds a list and a list are read the same; a text that is no message is none",
            [
                (
                    "messages",
                    &[],
                    r#"{"model": "m", "messages": [{"role": "user", "content": "tool_use functionCall"}]}"#,
                ),
                ("none", &[], r#"{"model": "m", "text": "tool_use functionCall"}"#),
            ],
        ),
    ]);
}

#[test]
fn replies_and_logs() {
    check(&[
        (
            "Replies: Chat and Responses both have `object`",
            [
                (
                    "openai-chat",
                    &[1],
                    r#"{"object": "chat.completion", "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}]}"#,
                ),
                (
                    "openai-responses",
                    &[1],
                    r#"{"object": "response", "output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}"#,
                ),
            ],
        ),
        (
            "Replies: Anthropic and Gemini in a log",
            [
                (
                    "anthropic",
                    &[1],
                    r#"{"request": {"messages": []}, "response": {"type": "message", "stop_reason": "tool_use", "role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
                ),
                (
                    "gemini",
                    &[1],
                    r#"{"request": {"contents": []}, "response": {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}}]}}"#,
                ),
            ],
        ),
        (
            "Replies: Chat and Anthropic in a log",
            [
                (
                    "openai-chat",
                    &[1],
                    r#"{"request": {"messages": [{"role": "user", "content": "type: message"}]}, "response": {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}]}}"#,
                ),
                (
                    "anthropic",
                    &[1],
                    r#"{"request": {"messages": [{"role": "user", "content": "choices"}]}, "response": {"type": "message", "stop_reason": "tool_use", "role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
                ),
            ],
        ),
        (
            "A reply of Anthropic, and an item of Responses: both are of the type `message`",
            [
                (
                    "anthropic",
                    &[1],
                    r#"{"type": "message", "usage": {}, "role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}"#,
                ),
                (
                    "openai-responses-items",
                    &[1],
                    r#"[{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}, {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]"#,
                ),
            ],
        ),
        (
            "Streams: Chat and Anthropic",
            [
                (
                    "openai-chat",
                    &[1],
                    "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\ndata: [DONE]\n",
                ),
                (
                    "anthropic",
                    &[1],
                    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[]}}\n\nevent: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"1\",\"name\":\"f\",\"input\":{}}}\n\n",
                ),
            ],
        ),
        (
            "Streams: Responses and the AI SDK's user interface",
            [
                (
                    "openai-responses",
                    &[1],
                    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"object\":\"response\",\"output\":[]}}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"object\":\"response\",\"output\":[{\"type\":\"function_call\",\"call_id\":\"1\",\"name\":\"f\",\"arguments\":\"{}\"}]}}\n\n",
                ),
                (
                    "vercel-ai-ui-stream",
                    &[1],
                    "data: {\"type\":\"start-step\"}\n\ndata: {\"type\":\"tool-input-available\",\"toolCallId\":\"1\",\"toolName\":\"f\",\"input\":{}}\n\ndata: {\"type\":\"finish-step\"}\n\n",
                ),
            ],
        ),
        (
            "Steps: a result of the AI SDK, and ATIF",
            [
                (
                    "vercel-ai-result",
                    &[1],
                    r#"{"steps": [{"content": [{"type": "tool-call", "toolCallId": "1", "toolName": "f", "input": {}}], "toolCalls": [], "finishReason": "tool-calls"}]}"#,
                ),
                (
                    "atif",
                    &[1],
                    r#"{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "1", "function_name": "f", "arguments": {}}]}]}"#,
                ),
            ],
        ),
        (
            "A case of agentevals, and a record with outputs that are no messages",
            [
                (
                    "agentevals",
                    &[1],
                    r#"{"outputs": [{"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}], "reference_outputs": []}"#,
                ),
                ("none", &[], r#"{"outputs": ["a"], "reference_outputs": ["b"]}"#),
            ],
        ),
        (
            "LangGraph's states and updates",
            [
                (
                    "langgraph-states",
                    &[1],
                    r#"{"values": {"messages": [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}]}, "next": [], "config": {"configurable": {"thread_id": "t"}}}"#,
                ),
                (
                    "langgraph-updates",
                    &[1],
                    r#"{"model": {"messages": [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}]}}"#,
                ),
            ],
        ),
        (
            "LangGraph's updates, and a thread with the messages themselves",
            [
                (
                    "langgraph-updates",
                    &[1],
                    "{\"model\": {\"messages\": [{\"type\": \"ai\", \"content\": \"\", \"tool_calls\": [{\"id\": \"1\", \"name\": \"f\", \"args\": {}}]}]}}\n{\"tools\": {\"messages\": [{\"type\": \"tool\", \"tool_call_id\": \"1\", \"content\": \"r\"}]}}\n",
                ),
                (
                    "langchain",
                    &[1],
                    r#"{"messages": [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}]}"#,
                ),
            ],
        ),
        (
            "An inspect log has messages like Chat's, whose `function` is the name",
            [
                (
                    "inspect-json",
                    &[1],
                    r#"{"version": 2, "status": "success", "eval": {"task": "t", "model": "m"}, "samples": [{"id": 1, "epoch": 1, "messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]}]}]}"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"{"version": 2, "status": "success", "messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}]}"#,
                ),
            ],
        ),
        (
            "promptfoo's results, and a log of Chat",
            [
                (
                    "promptfoo",
                    &[1],
                    r#"{"evalId": "e", "results": {"version": 3, "results": [{"testIdx": 0, "promptIdx": 0, "prompt": {"raw": "q"}, "response": {"output": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}}"#,
                ),
                (
                    "openai-chat",
                    &[1],
                    r#"{"request": {"messages": []}, "response": {"object": "chat.completion", "choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]}}]}}"#,
                ),
            ],
        ),
    ]);
}

#[test]
fn spans() {
    check(&[
        (
            "OpenInference's spans may carry `gen_ai.*` as well: then OpenInference, once",
            [
                (
                    "openinference",
                    &[1],
                    r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "c", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{"key": "openinference.span.kind", "value": {"stringValue": "LLM"}}, {"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"1\",\"name\":\"f\",\"arguments\":{}}]}]"}}, {"key": "llm.output_messages.0.message.role", "value": {"stringValue": "assistant"}}, {"key": "llm.output_messages.0.message.tool_calls.0.tool_call.function.name", "value": {"stringValue": "f"}}]}]}]}]}"#,
                ),
                (
                    "otel-genai",
                    &[1],
                    r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "c", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"tool_call\",\"id\":\"1\",\"name\":\"f\",\"arguments\":{}}]}]"}}]}]}]}]}"#,
                ),
            ],
        ),
        (
            "The AI SDK's spans carry `gen_ai.*` as well",
            [
                (
                    "vercel-ai-telemetry",
                    &[1],
                    r#"{"resourceSpans": [{"scopeSpans": [{"scope": {"name": "ai"}, "spans": [{"traceId": "00000000000000000000000000000001", "spanId": "0000000000000001", "name": "ai.generateText.doGenerate", "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": [{"key": "ai.operationId", "value": {"stringValue": "ai.generateText.doGenerate"}}, {"key": "gen_ai.system", "value": {"stringValue": "openai"}}, {"key": "ai.response.toolCalls", "value": {"stringValue": "[{\"toolCallId\":\"1\",\"toolName\":\"f\",\"input\":\"{}\"}]"}}]}]}]}]}"#,
                ),
                (
                    "otel-genai",
                    &[1],
                    r#"{"resource_spans": [{"scope_spans": [{"scope": {"name": "ai"}, "spans": [{"trace_id": "00000000000000000000000000000001", "span_id": "0000000000000001", "name": "execute_tool f", "start_time_unix_nano": 1, "end_time_unix_nano": 2, "attributes": [{"key": "gen_ai.operation.name", "value": {"string_value": "execute_tool"}}, {"key": "gen_ai.tool.name", "value": {"string_value": "f"}}]}]}]}]}"#,
                ),
            ],
        ),
        (
            "Phoenix's export, and another list below `data`",
            [
                (
                    "openinference",
                    &[1],
                    r#"{"data": [{"context": {"trace_id": "t", "span_id": "s"}, "span_kind": "LLM", "name": "c", "attributes": {"llm.output_messages.0.message.role": "assistant", "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "f"}}]}"#,
                ),
                ("none", &[], r#"{"data": [{"trace_id": "t", "name": "c"}]}"#),
            ],
        ),
        (
            "Agents traces and OTel: both have spans with `trace_id`",
            [
                (
                    "openai-agents",
                    &[1],
                    "{\"object\": \"trace\", \"id\": \"trace_1\", \"workflow_name\": \"w\"}\n{\"object\": \"trace.span\", \"id\": \"span_1\", \"trace_id\": \"trace_1\", \"span_data\": {\"type\": \"function\", \"name\": \"f\", \"input\": \"{}\", \"output\": \"r\"}}\n",
                ),
                (
                    "otel-genai",
                    &[1],
                    r#"{"data": [{"trace_id": "t", "span_id": "s", "name": "execute_tool f", "attributes": [{"key": "gen_ai.operation.name", "value": {"string_value": "execute_tool"}}, {"key": "gen_ai.tool.name", "value": {"string_value": "f"}}]}]}"#,
                ),
            ],
        ),
        (
            "LangSmith's runs, and spans of OTel: both have `trace_id`",
            [
                (
                    "langsmith",
                    &[1],
                    r#"{"id": "r", "trace_id": "t", "dotted_order": "1", "run_type": "tool", "name": "f", "inputs": {"input": "{}"}, "outputs": {"output": "r"}}"#,
                ),
                ("none", &[], r#"{"id": "r", "trace_id": "t", "run_type_of": "tool", "name": "f"}"#),
            ],
        ),
        (
            "Observations of Langfuse that OpenInference wrote first, and rows with the same ids of another program",
            [
                (
                    "langfuse",
                    &[1],
                    r#"[{"id": "1", "traceId": "t", "type": "TOOL", "name": "f", "startTime": "2026-01-01T00:00:00Z", "input": {}, "metadata": {"attributes": {"openinference.span.kind": "TOOL"}}}]"#,
                ),
                (
                    "none",
                    &[],
                    r#"[{"id": "1", "traceId": "t", "type": "click", "name": "f", "startTime": "2026-01-01T00:00:00Z", "input": {}}]"#,
                ),
            ],
        ),
        (
            "Rows with the ids of Opik and of Langfuse",
            [
                (
                    "observations",
                    &[1],
                    r#"[{"id": "1", "trace_id": "t", "parent_span_id": null, "type": "tool", "name": "f", "start_time": "2026-01-01T00:00:00Z", "input": {}}]"#,
                ),
                (
                    "langfuse",
                    &[1],
                    r#"[{"id": "1", "trace_id": "t", "parent_observation_id": null, "type": "TOOL", "name": "f", "start_time": "2026-01-01T00:00:00Z", "input": {}}]"#,
                ),
            ],
        ),
        (
            "A table with conversations in its cells, and a frame of them; texts alone are no sign",
            [
                (
                    "openai-chat-messages",
                    &[1],
                    "task,messages\nt,\"[{\"\"role\"\": \"\"assistant\"\", \"\"tool_calls\"\": [{\"\"id\"\": \"\"1\"\", \"\"function\"\": {\"\"name\"\": \"\"f\"\", \"\"arguments\"\": \"\"{}\"\"}}]}]\"\n",
                ),
                (
                    "none",
                    &[],
                    "task,messages\nt,\"[{\"\"role\"\": \"\"user\"\", \"\"content\"\": \"\"hi\"\"}]\"\n",
                ),
            ],
        ),
        (
            "Pages of spans: of MLflow in an object `data`, of Jaeger in a list",
            [
                (
                    "mlflow",
                    &[1],
                    r#"{"info": {}, "data": {"spans": [{"trace_id": "t", "span_id": "s", "name": "f", "attributes": {"mlflow.spanType": "\"TOOL\"", "gen_ai.operation.name": "execute_tool"}}]}}"#,
                ),
                (
                    "otel-genai",
                    &[1],
                    r#"{"data": [{"traceID": "t", "spans": [{"traceID": "t", "spanID": "s", "operationName": "f", "tags": [{"key": "gen_ai.operation.name", "value": "execute_tool"}]}]}]}"#,
                ),
            ],
        ),
        (
            "Values one after another: of the console exporter, and messages of a chat",
            [
                (
                    "otel-genai",
                    &[1],
                    "{\n\"name\": \"execute_tool f\",\n\"context\": {\"trace_id\": \"0x1\", \"span_id\": \"0x2\"}, \"attributes\": {\"gen_ai.operation.name\": \"execute_tool\"}\n}\n{\n\"name\": \"x\",\n\"context\": {\"trace_id\": \"0x1\", \"span_id\": \"0x1\"}, \"attributes\": {}\n}\n",
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    "{\n\"role\": \"user\",\n\"content\": \"q\"\n}\n{\n\"role\": \"assistant\",\n\"tool_calls\": [{\"function\": {\"name\": \"f\"}}]\n}\n",
                ),
            ],
        ),
        (
            "Tempo's batches, and batches of another program",
            [
                (
                    "otel-genai",
                    &[1],
                    r#"{"batches": [{"scopeSpans": [{"spans": [{"traceId": "t", "spanId": "s", "name": "execute_tool f", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}]}]}]}"#,
                ),
                ("none", &[], r#"{"batches": [{"spans": [{"name": "execute_tool f"}]}]}"#),
            ],
        ),
    ]);
}

#[test]
fn lines() {
    check(&[
        (
            "Codex's rollout holds Responses items below `payload`",
            [
                (
                    "codex-rollout",
                    &[1],
                    "{\"timestamp\": \"2026-01-01T00:00:00Z\", \"type\": \"session_meta\", \"payload\": {\"id\": \"s\"}}\n{\"timestamp\": \"2026-01-01T00:00:00Z\", \"type\": \"response_item\", \"payload\": {\"type\": \"function_call\", \"call_id\": \"1\", \"name\": \"f\", \"arguments\": \"{}\"}}\n",
                ),
                (
                    "openai-responses-items",
                    &[1],
                    "{\"type\": \"message\", \"role\": \"user\", \"content\": \"q\"}\n{\"type\": \"function_call\", \"call_id\": \"1\", \"name\": \"f\", \"arguments\": \"{}\"}\n",
                ),
            ],
        ),
        (
            "Codex's exec stream, and its rollout",
            [
                (
                    "codex-exec",
                    &[1],
                    "{\"type\": \"thread.started\", \"thread_id\": \"t\"}\n{\"type\": \"item.completed\", \"item\": {\"id\": \"i\", \"type\": \"command_execution\", \"command\": \"ls\", \"aggregated_output\": \"\", \"exit_code\": 0, \"status\": \"completed\"}}\n",
                ),
                (
                    "codex-rollout",
                    &[1],
                    "{\"type\": \"event_msg\", \"payload\": {\"type\": \"token_count\", \"info\": null}}\n{\"type\": \"response_item\", \"payload\": {\"type\": \"custom_tool_call\", \"call_id\": \"1\", \"name\": \"apply_patch\", \"input\": \"p\"}}\n",
                ),
            ],
        ),
        (
            "Claude Code's session and stream hold Anthropic's messages, with other names of the session",
            [
                (
                    "claude-code",
                    &[1],
                    "{\"type\": \"user\", \"sessionId\": \"s\", \"uuid\": \"1\", \"parentUuid\": null, \"isSidechain\": false, \"message\": {\"role\": \"user\", \"content\": \"q\"}}\n{\"type\": \"assistant\", \"sessionId\": \"s\", \"uuid\": \"2\", \"parentUuid\": \"1\", \"isSidechain\": false, \"message\": {\"id\": \"m\", \"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}}\n",
                ),
                (
                    "claude-code-stream",
                    &[1],
                    "{\"type\": \"system\", \"subtype\": \"init\", \"session_id\": \"s\"}\n{\"type\": \"assistant\", \"session_id\": \"s\", \"parent_tool_use_id\": null, \"message\": {\"id\": \"m\", \"type\": \"message\", \"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}}\n",
                ),
            ],
        ),
        (
            "Claude Code's stream, and the messages alone",
            [
                (
                    "claude-code-stream",
                    &[1],
                    "{\"type\": \"assistant\", \"session_id\": \"s\", \"message\": {\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}}\n{\"type\": \"result\", \"subtype\": \"success\", \"session_id\": \"s\", \"result\": \"a\"}\n",
                ),
                (
                    "anthropic-messages",
                    &[1],
                    "{\"role\": \"user\", \"content\": \"q\"}\n{\"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}\n",
                ),
            ],
        ),
        (
            "A session of Claude Code that begins with a summary, and LangChain's messages of type `system`",
            [
                (
                    "claude-code",
                    &[1],
                    "{\"type\": \"summary\", \"summary\": \"x\", \"leafUuid\": \"2\"}\n{\"type\": \"assistant\", \"sessionId\": \"s\", \"uuid\": \"2\", \"parentUuid\": null, \"isSidechain\": false, \"message\": {\"id\": \"m\", \"role\": \"assistant\", \"content\": [{\"type\": \"tool_use\", \"id\": \"1\", \"name\": \"f\", \"input\": {}}]}}\n",
                ),
                (
                    "langchain",
                    &[1],
                    "{\"type\": \"system\", \"content\": \"x\"}\n{\"type\": \"ai\", \"content\": \"\", \"tool_calls\": [{\"id\": \"1\", \"name\": \"f\", \"args\": {}}]}\n",
                ),
            ],
        ),
        (
            "MCP's traffic, and BFCL's results: both have `id` and `result`",
            [
                (
                    "mcp",
                    &[1],
                    "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": \"tools/call\", \"params\": {\"name\": \"f\", \"arguments\": {}}}\n{\"jsonrpc\": \"2.0\", \"id\": 1, \"result\": {\"content\": []}}\n",
                ),
                (
                    "bfcl",
                    &[1],
                    "{\"id\": \"simple_0\", \"result\": [{\"f\": \"{}\"}]}\n{\"id\": \"simple_1\", \"result\": []}\n",
                ),
            ],
        ),
        (
            "MCP in an envelope, and a log of messages below `message`",
            [
                (
                    "mcp",
                    &[1],
                    r#"{"ts": 1, "msg": {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}}}"#,
                ),
                (
                    "none",
                    &[],
                    r#"{"ts": 1, "message": {"id": 1, "method": "tools/call", "params": {"name": "f"}}}"#,
                ),
            ],
        ),
        (
            "A desktop client's log, and a text that quotes one",
            [
                (
                    "mcp-log",
                    &[1],
                    "2025-05-01T10:00:00.000Z [shop] [info] Message from client: {\"method\":\"tools/call\",\"params\":{\"name\":\"f\"},\"jsonrpc\":\"2.0\",\"id\":1} { metadata: undefined }\n",
                ),
                (
                    "none",
                    &[],
                    "He said: Message from client: {\"method\":\"tools/call\",\"params\":{\"name\":\"f\"},\"jsonrpc\":\"2.0\",\"id\":1}\n",
                ),
            ],
        ),
        (
            "Chunks of the AI SDK's user interface, and its messages",
            [
                (
                    "vercel-ai-ui-stream",
                    &[1],
                    "{\"type\": \"start-step\"}\n{\"type\": \"tool-input-available\", \"toolCallId\": \"1\", \"toolName\": \"f\", \"input\": {}}\n",
                ),
                (
                    "vercel-ai-ui-messages",
                    &[1],
                    "{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"text\": \"q\"}]}\n{\"role\": \"assistant\", \"parts\": [{\"type\": \"step-start\"}, {\"type\": \"tool-f\", \"toolCallId\": \"1\", \"state\": \"input-available\", \"input\": {}}]}\n",
                ),
            ],
        ),
    ]);
}

#[test]
fn training_data() {
    check(&[
        (
            "ShareGPT, and an ADK case: both have `conversation`",
            [
                (
                    "sharegpt",
                    &[1],
                    r#"{"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"}]}"#,
                ),
                (
                    "adk-eval-set",
                    &[1],
                    r#"{"evalCases": [{"evalId": "c", "conversation": [{"intermediateData": {"toolUses": [{"name": "f"}]}}]}]}"#,
                ),
            ],
        ),
        (
            "xLAM, and a record of questions and answers without calls",
            [
                (
                    "xlam",
                    &[1],
                    r#"{"query": "q", "answers": "[{\"name\": \"f\", \"arguments\": {}}]", "tools": "[]"}"#,
                ),
                ("none", &[], r#"{"query": "q", "answers": 3}"#),
            ],
        ),
        (
            "BFCL's answers, and inspect's samples with a target",
            [
                ("bfcl", &[1], r#"{"id": "simple_0", "ground_truth": [{"f": {"a": [1]}}]}"#),
                ("none", &[], r#"{"id": "simple_0", "target": [{"f": {"a": [1]}}]}"#),
            ],
        ),
        (
            "Glaive's texts, and those that a template rendered",
            [
                (
                    "glaive",
                    &[1],
                    r#"{"chat": "USER: q\n\n\nASSISTANT: <functioncall> {\"name\": \"f\", \"arguments\": '{}'} <|endoftext|>"}"#,
                ),
                (
                    "rendered-text",
                    &[1],
                    r#"{"text": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call><|im_end|>\n"}"#,
                ),
            ],
        ),
        (
            "A rendered text, and the messages beside it, which are better",
            [
                (
                    "rendered-text",
                    &[1],
                    r#"{"text": "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call><|im_end|>"}"#,
                ),
                (
                    "openai-chat-messages",
                    &[1],
                    r#"{"text": "<|im_start|>user\nq<|im_end|>", "messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]}]}"#,
                ),
            ],
        ),
        (
            "m3's own trajectories, and a result of the AI SDK: both have `steps`",
            [
                ("none", &[], r#"{"id": "t", "steps": [{"calls": [{"name": "f", "arguments": {}}]}]}"#),
                (
                    "vercel-ai-result",
                    &[1],
                    r#"{"steps": [{"toolCalls": [{"toolCallId": "1", "toolName": "f", "input": {}}]}]}"#,
                ),
            ],
        ),
    ]);
}

#[test]
fn what_is_refused_says_why_and_what_to_use_instead() {
    let claude = r#"{"debug": "Calling MCP tool: f", "timestamp": "2026-01-01T00:00:00Z", "sessionId": "s", "cwd": "/"}"#;
    let cases: [(&str, &str, &[&str]); 13] = [
        (
            "agentevals-graph",
            r#"{"inputs": [{"input": "q"}], "results": [{}], "steps": [["__start__", "agent"]]}"#,
            &["names the nodes of a graph", "export the messages"],
        ),
        (
            "mcp-log",
            "2026-02-01T10:00:00.000Z [info] [shop] Message from client: method=\"tools/call\" id=3 params\n",
            &["no arguments and no results", "record the JSON-RPC messages"],
        ),
        ("mcp-log", claude, &["not with what arguments", "take the session itself"]),
        (
            "mcp",
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}"#,
            &["no request `tools/call`", "record the traffic"],
        ),
        (
            "claude-code-stream",
            r#"{"type": "result", "subtype": "success", "session_id": "s", "result": "a"}"#,
            &["no calls", "--output-format stream-json"],
        ),
        ("claude-code", r#"{"type": "summary", "summary": "x", "leafUuid": "1"}"#, &["without messages"]),
        (
            "inspect-json",
            r#"{"version": 2, "status": "started", "eval": {"task": "t"}}"#,
            &["without samples"],
        ),
        (
            "langsmith",
            r#"[{"id": "a", "trace_id": "t", "run_type": "tool", "name": "f", "parent_run_id": "b"}, {"id": "b", "trace_id": "t", "run_type": "tool", "name": "g", "parent_run_id": "a"}]"#,
            &["each is below another", "export whole traces"],
        ),
        (
            "otel-genai",
            r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "01", "spanId": "02", "name": "GET /"}]}]}]}"#,
            &["without any of a model or a tool", "export those of an instrumentation"],
        ),
        (
            "otel-genai",
            r#"{"resourceMetrics": [], "resourceSpans": []}"#,
            &["without any of a model or a tool"],
        ),
        ("inspect-eval", "PK\x03\x04header.json", &["not a whole zip archive"]),
        (
            "atif",
            "{\"schema_version\": \"ATIF-v1.7\",\n \"agent\": {\"name\": \"a\"}, \"steps\": [}",
            &["line 2, column", "not JSON"],
        ),
        (
            "openai-chat-messages",
            "[{\"role\": \"assistant\", \"tool_calls\": [{\"function\": {\"name\": \"f\"}}]},\n {\"role\": ",
            &["line 2, column", "not JSON"],
        ),
    ];
    let mut wrong = Vec::new();
    for (format, text, says) in cases {
        match recognize_and_count(text.as_bytes()) {
            (name, Err(error)) if name == format && says.iter().all(|it| error.contains(it)) => {}
            (name, Err(error)) => wrong.push(format!("{name}: {error}: {text}")),
            (name, Ok(counts)) => wrong.push(format!("{name}, {} trajectories: {text}", counts.traces)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn marks_and_compression_are_taken_off_first() {
    let text = br#"[{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}]"#;
    let marked = [b"\xef\xbb\xbf \n", &text[..]].concat();
    assert_eq!(recognize_and_count(&marked).0, "openai-chat-messages");
    let lines =
        [b"\xef\xbb\xbf", &text[1..text.len() - 1], b"\r\n", &text[1..text.len() - 1], b"\r\n"].concat();
    let (name, read) = recognize_and_count(&lines);
    assert_eq!((name, read.unwrap().steps), ("openai-chat-messages", vec![2]));
}

#[test]
fn the_first_lines_may_be_headers_and_a_line_may_be_cut() {
    let header = "{\"a\": 1}\n".repeat(9);
    let call = "{\"type\": \"response_item\", \"payload\": {\"type\": \"function_call\", \"call_id\": \"1\", \"name\": \"f\", \"arguments\": \"{}\"}}\n";
    assert_eq!(recognize_and_count(format!("{header}{call}").as_bytes()).0, "codex-rollout");
    assert_eq!(recognize_and_count(format!("{header}{{\"a\": 1}}\n{call}").as_bytes()).0, "none");
    let (name, read) = recognize_and_count(format!("{call}{}", &call[..60]).as_bytes());
    assert_eq!((name, read.unwrap().steps), ("codex-rollout", vec![1]));
}
