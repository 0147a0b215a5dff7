//! Hostile files through the front door: an error or a warning that says where, never a panic, never anything written.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test stops at the first surprise")]

use std::io::Write as _;
use std::path::Path;

use m3_traces::{FORMATS, ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::Keys;
use serde_json::{Value, json};
use zip::CompressionMethod;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Counts what comes, and keeps what was said.
#[derive(Debug, Default)]
struct Counts {
    traces: usize,
    steps: usize,
    calls: usize,
    results: usize,
    /// Bytes of all trajectories as JSON.
    bytes: usize,
    notes: Vec<(String, u64)>,
    warnings: Vec<String>,
}

impl Counts {
    fn add(&mut self, mut trace: Trace) {
        self.traces += 1;
        self.steps += trace.steps.len();
        self.calls += trace.call_count();
        self.results += trace.steps.iter().flatten().filter(|call| call.result.is_some()).count();
        for (_, inner) in &trace.nested {
            self.bytes += size(inner.clone());
        }
        trace.leave_out_agents();
        self.notes.extend(trace.notes.iter().map(|(note, count)| (note.to_owned(), count)));
        self.bytes += size(trace);
    }

    #[track_caller]
    fn warns(&self, text: &str) {
        assert!(self.warnings.iter().any(|warning| warning.contains(text)), "{text}: {:?}", self.warnings);
    }

    #[track_caller]
    fn notes(&self, text: &str, count: u64) {
        assert!(self.notes.contains(&(text.to_owned(), count)), "{text}: {:?}", self.notes);
    }
}

fn size(trace: Trace) -> usize {
    trace.into_trajectory("x".to_owned(), "x").to_json().to_text(Keys::AsRead).len()
}

impl Sink for Counts {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.add(trace);
        Ok(())
    }

    fn warn(&mut self, line: Option<u64>, message: &str) {
        let line = line.map(|line| format!("line {line}: ")).unwrap_or_default();
        self.warnings.push(format!("{line}{message}"));
    }
}

/// What a file is and holds, or why it is refused.
fn read_path(path: &Path) -> (&'static str, Result<Counts, String>) {
    let source = Source::open(path).unwrap();
    let Some(file) = recognize(&source).unwrap() else { return ("none", Ok(Counts::default())) };
    let mut counts = Counts::default();
    let read = file.read(&mut counts);
    (file.format.name, read.map(|()| counts).map_err(|error| error.to_string()))
}

/// Reads a file with these bytes in a folder of its own; nothing else is there afterwards.
fn read_bytes(bytes: &[u8]) -> (&'static str, Result<Counts, String>) {
    let folder = tempfile::tempdir().unwrap();
    let within = folder.path().join("a/b");
    std::fs::create_dir_all(&within).unwrap();
    let path = within.join("log.eval");
    std::fs::write(&path, bytes).unwrap();
    let outcome = read_path(&path);
    for (folder, only) in
        [(folder.path().to_owned(), "a"), (folder.path().join("a"), "b"), (within, "log.eval")]
    {
        let names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, [only]);
    }
    outcome
}

#[track_caller]
fn read_as(format: &str, text: impl AsRef<[u8]>) -> Counts {
    match read_bytes(text.as_ref()) {
        (name, Ok(counts)) if name == format => counts,
        (name, other) => panic!("{name}: {other:?} instead of {format}"),
    }
}

#[track_caller]
fn refused(format: &str, text: impl AsRef<[u8]>) -> String {
    match read_bytes(text.as_ref()) {
        (name, Err(error)) if name == format => error,
        (name, other) => panic!("{name}: {other:?} instead of {format}, refused"),
    }
}

fn lines(values: impl IntoIterator<Item = Value>) -> String {
    values.into_iter().flat_map(|value| [value.to_string(), "\n".to_owned()]).collect()
}

/// A sample of an inspect log with one call.
fn sample(id: &str) -> Vec<u8> {
    json!({"id": id, "epoch": 1, "messages": [{"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {}}]}]})
        .to_string()
        .into_bytes()
}

/// An archive with these entries, stored as they are.
fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, bytes) in entries {
        zip.start_file(*name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const HEADER: (&str, &[u8]) =
    ("header.json", br#"{"version": 2, "status": "success", "eval": {"task": "t"}}"#);

/// Replaces the first or all of some bytes by as many others.
fn patched(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut out = bytes.to_vec();
    let mut at = 0;
    while let Some(found) = out.get(at..).and_then(|rest| rest.windows(from.len()).position(|it| it == from))
    {
        out[at + found..at + found + to.len()].copy_from_slice(to);
        at += found + to.len();
    }
    out
}

#[test]
fn entries_that_grow_beyond_the_limit_are_left_out() {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Zstd);
    for (name, bytes) in [HEADER, ("samples/a_epoch_1.json", &*sample("a"))] {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.start_file("samples/b_epoch_1.json", options).unwrap();
    let block = vec![b' '; 1 << 20];
    for _ in 0..65 {
        zip.write_all(&block).unwrap();
    }
    let bytes = zip.finish().unwrap().into_inner();
    assert!(bytes.len() < 1 << 20);
    let counts = read_as("inspect-eval", bytes);
    assert_eq!(counts.calls, 1);
    counts.warns("when unpacked, the most that it may become; the sample is left out");
}

#[test]
fn what_an_entry_claims_of_its_size_is_not_believed() {
    let good = archive(&[HEADER, ("samples/a_epoch_1.json", &sample("a"))]);
    let size = u32::try_from(sample("a").len()).unwrap().to_le_bytes();
    for claimed in [1_u32, 10_000, 0x7fff_ffff, 0xffff_fffe] {
        let (_, read) = read_bytes(&patched(&good, &size, &claimed.to_le_bytes()));
        let is_told =
            |counts: Counts| counts.calls == 0 && counts.warnings.iter().any(|it| it.contains("entry 2"));
        assert!(read.map_or_else(|error| error.contains("not a whole zip archive"), is_told), "{claimed}");
    }
}

#[test]
fn entries_that_climb_out_are_left_out_and_nothing_is_written() {
    let names = [
        "samples/../../../evil_epoch_1.json",
        "samples/\0x_epoch_1.json",
        "samples/a/../../../b_epoch_1.json",
    ];
    let sample = sample("a");
    let entries: Vec<(&str, &[u8])> = [HEADER]
        .into_iter()
        .chain(names.map(|name| (name, &*sample)))
        .chain([("samples/a_epoch_1.json", &*sample)])
        .collect();
    let counts = read_as("inspect-eval", archive(&entries));
    assert_eq!(counts.calls, 1);
    for number in 2..=4 {
        counts.warns(&format!("entry {number} `samples/"));
    }
    counts.warns("its name leads out of the archive");
    // One that is no sample is not looked at at all.
    let absolute = archive(&[
        HEADER,
        ("/etc/cron.d/x", &sample),
        ("../../x", &sample),
        ("samples/a_epoch_1.json", &sample),
    ]);
    assert_eq!(read_as("inspect-eval", absolute).calls, 1);
}

#[test]
fn wrong_zstd_is_damage_with_its_place() {
    let broken = [&b"\x28\xb5\x2f\xfd"[..], &[0xff; 40]].concat();
    let good =
        archive(&[HEADER, ("samples/a_epoch_1.json", &broken), ("samples/b_epoch_1.json", &sample("b"))]);
    // The method of the second entry in its own head and in the list: 93 is zstd.
    let mut bytes = good.clone();
    for (signature, method, name) in [(&b"PK\x03\x04"[..], 8, 30), (&b"PK\x01\x02"[..], 10, 46)] {
        let places: Vec<usize> = (0..bytes.len().saturating_sub(name + 22))
            .filter(|at| bytes[*at..].starts_with(signature) && bytes[at + name..].starts_with(b"samples/a"))
            .collect();
        for at in places {
            bytes[at + method] = 93;
        }
    }
    assert_ne!(bytes, good);
    let counts = read_as("inspect-eval", bytes);
    assert_eq!(counts.calls, 1);
    counts.warns("entry 2 `samples/a_epoch_1.json`: damaged");
}

#[test]
fn archives_that_are_cut_or_have_a_byte_changed() {
    let good = archive(&[
        HEADER,
        ("samples/a_epoch_1.json", &sample("a")),
        ("samples/b_epoch_1.json", &sample("b")),
    ]);
    let cut = refused("inspect-eval", &good[..good.len() - 30]);
    assert!(cut.contains("not a whole zip archive") && cut.contains("copy the log again"), "{cut}");
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        let (_, read) = read_bytes(&bytes);
        assert!(read.map_or_else(|error| !error.is_empty(), |counts| counts.calls <= 2));
    }
}

/// A list in a list, and so on.
fn deep(depth: usize) -> String {
    ["[".repeat(depth), "]".repeat(depth)].concat()
}

#[test]
fn a_hundred_levels_are_read_and_more_than_two_hundred_are_an_error_with_its_place() {
    let call = |arguments: &str| {
        format!(
            r#"{{"role":"assistant","tool_calls":[{{"function":{{"name":"f","arguments":{arguments}}}}}]}}"#
        )
    };
    let hundred = format!(r#"{{"a": {}}}"#, deep(100));
    assert_eq!(read_as("openai-chat-messages", format!("[{}]", call(&hundred))).calls, 1);
    for depth in [300, 100_000] {
        let error = refused("openai-chat-messages", format!("[{},\n{}]", call("{}"), call(&deep(depth))));
        assert!(
            error.contains("line 2, column") && error.contains("nested deeper than 200 levels"),
            "{error}"
        );
        let counts = read_as(
            "openai-chat-messages",
            format!("{}\n{}\n{}\n", call("{}"), call(&deep(depth)), call("{}")),
        );
        assert_eq!(counts.calls, 2);
        counts.warns("line 2: not JSON, left out: nested deeper than 200 levels");
    }
    // A text of JSON that is too deep stays a text.
    let text = Value::String(deep(100_000)).to_string();
    assert_eq!(read_as("openai-chat-messages", format!("[{}]", call(&text))).calls, 1);
}

#[test]
fn agents_inside_agents_of_any_number() {
    let document = |inner: Value| {
        json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": [{"source": "agent", "tool_calls": [{"tool_call_id": "1", "function_name": "f", "arguments": {}}]}],
               "subagent_trajectories": [inner]})
    };
    let nested = (0..90).fold(json!({}), |inner, _| document(inner));
    read_as("atif", nested.to_string());
    // A tool below a tool, and so on.
    let run = |number: usize| json!({"id": number.to_string(), "trace_id": "t", "run_type": if number.is_multiple_of(2) { "tool" } else { "chain" }, "name": "f", "parent_run_id": number.checked_sub(1).map(|it| it.to_string())});
    read_as("langsmith", lines((0..4000).map(run)));
    let spans = (1..4000).map(|number| span(number, number - 1, "execute_tool", &format!("f{}", number % 3)));
    let counts = read_as("otel-genai", lines(spans));
    counts.notes("a call of a sub-agent is left out", 1);
    let events = (0..4000).flat_map(|number: u64| {
        let id = number.to_string();
        [
            json!({"event": "span_begin", "id": id, "parent_id": number.checked_sub(1).map(|it| it.to_string()), "type": "tool", "name": "f"}),
            json!({"event": "tool", "id": id, "span_id": id, "function": "f", "arguments": {}, "result": "r"}),
        ]
    });
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1, "messages": [], "events": events.collect::<Vec<_>>()}]});
    read_as("inspect-json", log.to_string());
}

/// A line of OTLP with one span.
fn span(id: usize, parent: usize, operation: &str, tool: &str) -> Value {
    let text = |key: &str, value: &str| json!({"key": key, "value": {"stringValue": value}});
    json!({"resourceSpans": [{"scopeSpans": [{"spans": [{
        "traceId": "00000000000000000000000000000001", "spanId": format!("{id:016x}"), "parentSpanId": format!("{parent:016x}"), "name": "x",
        "startTimeUnixNano": (1000 + id).to_string(), "endTimeUnixNano": (1_000_000 - id).to_string(),
        "attributes": [text("gen_ai.operation.name", operation), text("gen_ai.tool.name", tool), text("gen_ai.tool.call.id", &id.to_string())],
    }]}]}]})
}

#[test]
fn lines_that_are_cut_are_reported_and_the_others_read() {
    let files: [(&str, &str, &str); 6] = [
        (
            "openai-chat-messages",
            r#"{"role": "user", "content": "q"}"#,
            r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}"#,
        ),
        (
            "codex-rollout",
            r#"{"type": "session_meta", "payload": {"id": "s"}}"#,
            r#"{"type": "response_item", "payload": {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}}"#,
        ),
        (
            "claude-code-stream",
            r#"{"type": "system", "subtype": "init", "session_id": "s"}"#,
            r#"{"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}}"#,
        ),
        (
            "mcp",
            r#"{"jsonrpc": "2.0", "id": 0, "method": "initialize"}"#,
            r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}}"#,
        ),
        (
            "langsmith",
            r#"{"id": "r", "trace_id": "t", "run_type": "chain", "name": "c"}"#,
            r#"{"id": "s", "trace_id": "t", "parent_run_id": "r", "run_type": "tool", "name": "f"}"#,
        ),
        (
            "openai-agents",
            r#"{"object": "trace", "id": "t"}"#,
            r#"{"object": "trace.span", "id": "s", "trace_id": "t", "span_data": {"type": "function", "name": "f", "input": "{}"}}"#,
        ),
    ];
    for (format, first, second) in files {
        for end in [second.len() / 2, second.len() - 1] {
            let counts = read_as(format, format!("{first}\n{second}\n{}", &second[..end]));
            assert_eq!(counts.calls, 1, "{format}");
            counts.warns("line 3: not JSON");
        }
    }
    let counts = read_as(
        "openai-chat",
        "data: {\"object\":\"chat.completion.chunk\",\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\ndata: {\"object\":\"chat.comp",
    );
    assert_eq!(counts.calls, 1);
    counts.warns("line 3: ");
    // A document that is cut is refused with the place.
    let error =
        refused("atif", "{\"schema_version\": \"ATIF-v1.7\",\n\"steps\": [{\"source\": \"agent\"}, {\"sou");
    assert!(error.contains("line 2, column"), "{error}");
}

#[test]
fn base64_without_end() {
    let folder = tempfile::tempdir().unwrap();
    let call = r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}"#;
    // A line that is longer than what is read of it.
    let path = folder.path().join("log.jsonl");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    write!(file, "{call}\n{{\"role\": \"user\", \"content\": [{{\"type\": \"image_url\", \"image_url\": {{\"url\": \"data:image/png;base64,").unwrap();
    let block = vec![b'A'; 1 << 20];
    for _ in 0..257 {
        file.write_all(&block).unwrap();
    }
    write!(file, "\"}}}}]}}\n{call}\n").unwrap();
    file.into_inner().unwrap();
    let (name, read) = read_path(&path);
    assert_eq!(name, "openai-chat-messages");
    assert!(read.unwrap_err().contains("line 2 has more than 256 MB"));
    // A document of a gigabyte, of which nothing is read but its beginning.
    let path = folder.path().join("log.json");
    let mut file = std::fs::File::create(&path).unwrap();
    write!(file, "{{\"messages\": [{call}, {{\"role\": \"user\", \"content\": \"data:").unwrap();
    file.set_len(1 << 30).unwrap();
    let (name, read) = read_path(&path);
    assert_eq!(name, "openai-chat-messages");
    assert!(read.unwrap_err().contains("more than 256 MB"));
    // A picture is neither copied more than once nor lost: 8 MB.
    let data = "iVBO".repeat(2 << 20);
    let text = json!([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{data}")}}]}]);
    let counts = read_as("messages", text.to_string());
    assert!((data.len()..data.len() + 1000).contains(&counts.bytes), "{}", counts.bytes);
}

#[test]
fn more_values_than_memory_should_hold() {
    let call = r#"{"role": "assistant", "tool_calls": [{"function": {"name": "f"}}]}"#;
    let calls = format!("{call}\n").repeat(10);
    let counts = read_as("openai-chat-messages", format!("{calls}[0{}]\n{call}\n", ",[]".repeat(10_100_000)));
    assert_eq!(counts.calls, 11);
    counts.warns("line 11: not JSON, left out: more than 20 million values");
}

#[test]
fn attachments_that_are_named_often_do_not_fill_memory() {
    let message = json!({"role": "user", "content": "attachment://h"});
    let call = json!({"role": "assistant", "content": "", "tool_calls": [{"id": "1", "function": "f", "arguments": {"a": "attachment://h"}}]});
    let sample = json!({"id": 1, "epoch": 1, "attachments": {"h": "x".repeat(1 << 20)}, "messages": std::iter::once(message).chain(vec![call; 2000]).collect::<Vec<_>>()});
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [sample]});
    let counts = read_as("inspect-json", log.to_string());
    assert_eq!(counts.calls, 2000);
    assert!(counts.bytes < 300 << 20, "{}", counts.bytes);
}

#[test]
fn parents_in_a_circle() {
    let line = |uuid: &str, parent: &str, kind: &str, content: Value| json!({"type": kind, "sessionId": "s", "uuid": uuid, "parentUuid": parent, "isSidechain": false, "message": {"id": uuid, "role": kind, "content": content}});
    let call = json!([{"type": "tool_use", "id": "1", "name": "f", "input": {}}]);
    let session = [
        line("a", "c", "user", json!("q")),
        line("b", "a", "assistant", call.clone()),
        line("c", "b", "user", json!([{"type": "tool_result", "tool_use_id": "1", "content": "r"}])),
    ];
    let counts = read_as("claude-code", lines(session));
    assert_eq!((counts.calls, counts.results), (1, 1));
    assert_eq!(read_as("claude-code", lines([line("a", "a", "assistant", call)])).calls, 1);

    let circle = lines([
        span(1, 3, "execute_tool", "f"),
        span(2, 1, "execute_tool", "g"),
        span(3, 2, "execute_tool", "h"),
    ]);
    assert_eq!(read_as("otel-genai", circle).traces, 1);
    assert_eq!(read_as("otel-genai", lines([span(1, 1, "execute_tool", "f")])).calls, 1);

    let run = |id: &str, parent: &str| json!({"id": id, "trace_id": "t", "run_type": "tool", "name": "f", "parent_run_id": parent});
    let error = refused("langsmith", lines([run("a", "b"), run("b", "a")]));
    assert!(error.contains("each is below another"), "{error}");

    let events = json!([
        {"event": "span_begin", "id": "a", "parent_id": "b", "type": "tool", "name": "f"}, {"event": "span_begin", "id": "b", "parent_id": "a", "type": "agent", "name": "g"},
        {"event": "tool", "id": "1", "span_id": "a", "function": "f", "arguments": {}, "result": "r"}, {"event": "tool", "id": "2", "span_id": "b", "function": "f", "arguments": {}, "result": "r"},
    ]);
    let log = json!({"version": 2, "status": "success", "eval": {"task": "t"}, "samples": [{"id": 1, "epoch": 1, "messages": [], "events": events}]});
    assert_eq!(read_as("inspect-json", log.to_string()).traces, 1);

    let exchange = |id: &str, previous: &str| json!({"request": {"previous_response_id": previous, "input": "q"}, "response": {"object": "response", "id": id, "output": [{"type": "function_call", "call_id": id, "name": "f", "arguments": "{}"}]}});
    let counts =
        read_as("openai-responses", lines([exchange("a", "b"), exchange("b", "a"), exchange("c", "c")]));
    assert!(counts.calls <= 3);

    let state = |id: &str, parent: &str| {
        json!({"values": {"messages": [{"type": "ai", "content": "", "tool_calls": [{"id": "1", "name": "f", "args": {}}]}]}, "next": [],
               "config": {"configurable": {"thread_id": "t", "checkpoint_id": id}}, "parent_config": {"configurable": {"thread_id": "t", "checkpoint_id": parent}}})
    };
    assert_eq!(read_as("langgraph-states", json!([state("a", "b"), state("b", "a")]).to_string()).traces, 1);

    let item = |id: &str, caller: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", "caller": {"type": "program", "caller_id": caller}});
    read_as("openai-responses-items", json!([item("a", "b"), item("b", "a"), item("c", "c")]).to_string());
}

#[test]
fn spans_out_of_order() {
    let count = 40;
    let spans: Vec<Value> = std::iter::once(span(1, 0, "invoke_agent", ""))
        .chain((2..count).map(|number| span(number, 1, "execute_tool", "f")))
        .collect();
    let mut mixed = spans.clone();
    // 17 and 40 have no common divisor: every span is there once.
    mixed = (0..mixed.len()).map(|at| mixed[at * 17 % spans.len()].clone()).collect();
    let (sorted, mixed) = (read_as("otel-genai", lines(spans)), read_as("otel-genai", lines(mixed)));
    assert_eq!((sorted.calls, sorted.steps, sorted.bytes), (mixed.calls, mixed.steps, mixed.bytes));
    // An end before the beginning.
    let mut backwards = span(1, 0, "execute_tool", "f");
    backwards["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["endTimeUnixNano"] = json!("5");
    assert_eq!(read_as("otel-genai", lines([backwards])).calls, 1);
}

/// How often an element comes in the files that follow: enough that what grows with the square of it is felt.
const MANY: usize = 10_000;

#[test]
fn ids_that_repeat_and_results_without_end() {
    let call = |id: &str| json!({"role": "assistant", "tool_calls": [{"id": id, "function": {"name": "f", "arguments": "{}"}}]});
    let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
    // The same id again and again, with results in between, all at the end, or more of them than calls.
    let in_turns: Vec<Value> = (0..MANY).flat_map(|_| [call("x"), result("x")]).collect();
    assert_eq!(read_as("openai-chat-messages", json!(in_turns).to_string()).results, MANY);
    let at_the_end: Vec<Value> = vec![call("x"); MANY].into_iter().chain(vec![result("x"); MANY]).collect();
    assert_eq!(read_as("openai-chat-messages", json!(at_the_end).to_string()).results, MANY);
    let strays: Vec<Value> = std::iter::once(call("x")).chain(vec![result("y"); MANY]).collect();
    read_as("openai-chat-messages", json!(strays).to_string())
        .notes("a result without a call is left out", MANY as u64);
    let nameless: Vec<Value> =
        vec![call(""); MANY].into_iter().chain(vec![json!({"role": "tool", "content": "r"}); MANY]).collect();
    assert_eq!(read_as("openai-chat-messages", json!(nameless).to_string()).results, MANY);

    let block =
        |number: usize| json!({"type": "tool_use", "id": "x", "name": format!("f{number}"), "input": {}});
    let blocks: Vec<Value> = (0..MANY).map(block).collect();
    let results: Vec<Value> = vec![json!({"type": "tool_result", "tool_use_id": "x", "content": "r"}); MANY];
    let messages = json!([{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]);
    assert_eq!(read_as("anthropic-messages", messages.to_string()).results, MANY);

    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "f"}});
    let counts = read_as(
        "mcp",
        lines(
            vec![request; MANY]
                .into_iter()
                .chain(vec![json!({"jsonrpc": "2.0", "id": 1, "result": {"content": []}}); MANY]),
        ),
    );
    assert_eq!(counts.calls, MANY);

    let same = vec![span(1, 0, "execute_tool", "f"); MANY];
    assert_eq!(read_as("otel-genai", lines(same)).calls, 1);
    let run =
        json!({"id": "r", "trace_id": "t", "run_type": "tool", "name": "f", "outputs": {"output": "r"}});
    assert_eq!(read_as("langsmith", lines(vec![run; MANY])).calls, 1);
    let line = json!({"type": "assistant", "sessionId": "s", "uuid": "u", "parentUuid": null, "isSidechain": false, "message": {"id": "m", "role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]}});
    assert!(read_as("claude-code", lines(vec![line; MANY])).calls <= MANY);
}

#[test]
fn many_of_everything_take_a_time_by_their_size() {
    // Conversations of which none goes on with another, though all begin alike.
    let exchange = |number: usize| {
        json!({"request": {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": number.to_string()}]},
               "response": {"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]}}]}})
    };
    assert_eq!(read_as("openai-chat", lines((0..MANY).map(exchange))).traces, MANY);
    let exchange = |number: usize| {
        json!({"request": {"input": number.to_string(), "previous_response_id": format!("r{}", number + 1)},
               "response": {"object": "response", "id": format!("r{number}"), "output": [{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}]}})
    };
    assert!(read_as("openai-responses", lines((0..MANY).map(exchange))).traces > 0);
    // Programs that make calls, each another.
    let item = |number: usize| json!({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}", "caller": {"type": "program", "caller_id": number.to_string()}});
    let counts =
        read_as("openai-responses-items", json!((0..MANY).map(item).collect::<Vec<_>>()).to_string());
    counts.notes("a call of a sub-agent is left out", MANY as u64);
    // Types that nobody knows, each another.
    let item = |number: usize| json!({"type": format!("\u{1b}[31m{number}"), "role": "x", "content": "y"});
    let call = json!({"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"});
    let items = std::iter::once(call).chain((0..MANY).map(item));
    let counts = read_as("openai-responses-items", json!(items.collect::<Vec<_>>()).to_string());
    assert!(
        counts.notes.len() <= 101 && counts.notes.iter().all(|(note, _)| !note.contains('\u{1b}')),
        "{:?}",
        counts.notes
    );
    // Spans in a row, beside one another, and each in a trace of its own.
    let spans = |of: &dyn Fn(usize) -> Value| lines((1..MANY).map(of));
    assert_eq!(read_as("otel-genai", spans(&|number| span(number, 0, "execute_tool", "f"))).calls, MANY - 1);
    let traces = spans(&|number| {
        let mut span = span(number, 0, "execute_tool", "f");
        span["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!(format!("{number:032x}"));
        span
    });
    assert_eq!(read_as("otel-genai", traces).traces, MANY - 1);
    let alternating =
        spans(&|number| span(number, 0, if number.is_multiple_of(2) { "chat" } else { "execute_tool" }, "f"));
    assert!(read_as("otel-genai", alternating).calls > 0);
    // Lines of a session that all hang below the first, and that are a chain.
    let line = |number: usize, parent: usize, is_side: bool| {
        json!({"type": "assistant", "sessionId": "s", "uuid": number.to_string(), "parentUuid": parent.to_string(), "isSidechain": is_side,
               "message": {"id": number.to_string(), "role": "assistant", "content": [{"type": "tool_use", "id": number.to_string(), "name": "f", "input": {}}]}})
    };
    assert_eq!(
        read_as("claude-code", lines((1..MANY).map(|number| line(number, number - 1, false)))).calls,
        MANY - 1
    );
    read_as("claude-code", lines((1..MANY).map(|number| line(number, 1, false))));
    read_as("claude-code", lines((1..MANY).map(|number| line(number, 0, number > 1))));
    // Chunks of a stream, each of another call.
    let chunk = |number: usize| {
        format!(
            "data: {}\n\n",
            json!({"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": number, "id": number.to_string(), "function": {"name": "f", "arguments": "{}"}}]}}]})
        )
    };
    assert_eq!(read_as("openai-chat", (0..MANY).map(chunk).collect::<String>()).calls, MANY);
    // Marks of a template without end.
    let text = |text: String| json!({"text": text}).to_string();
    for mark in [
        "<|im_start|>",
        "<|im_start|>assistant\n<tool_call>",
        "<|start_header_id|>",
        "USER: ASSISTANT: <functioncall> ",
    ] {
        read_bytes(text(mark.repeat(MANY)).as_bytes()).1.unwrap();
    }
    for part in [
        "<tool_call>",
        "<tool_call>{",
        "<tool_response>",
        "<function=f>",
        "<parameter=a>",
        "[f(",
        "f(a=[",
        "{'a': '",
    ] {
        let turns = json!({"conversations": [{"from": "human", "value": "q"}, {"from": "gpt", "value": part.repeat(MANY)}, {"from": "tool", "value": part.repeat(MANY)}]});
        read_bytes(turns.to_string().as_bytes()).1.unwrap();
    }
    let reminders = json!([{"role": "user", "content": "<a></a>".repeat(MANY)}, {"role": "user", "content": "<a>".repeat(MANY)}]);
    read_as("messages", reminders.to_string());
}

/// The files that the fuzzer keeps.
fn corpus() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/traces");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// Reads a file that may be anything: what is said of it is short and clean, and what is made of it is not without end.
fn read_any(name: &str, bytes: &[u8]) -> &'static str {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    let (format, read) = read_path(file.path());
    let is_clean = |text: &String| text.len() < 1000 && !text.contains(char::is_control);
    match read {
        Ok(counts) => {
            assert!(
                counts.bytes <= 100_000 + 300 * bytes.len(),
                "{name}: {} bytes of {}",
                counts.bytes,
                bytes.len()
            );
            assert!(
                counts.warnings.iter().chain(counts.notes.iter().map(|(note, _)| note)).all(is_clean),
                "{name}: {counts:?}"
            );
        }
        Err(error) => assert!(is_clean(&error), "{name}: {error}"),
    }
    format
}

#[test]
fn what_the_fuzzer_keeps() {
    let corpus = corpus();
    assert!((100..=320).contains(&corpus.len()), "{} files", corpus.len());
    let formats: std::collections::BTreeSet<&str> =
        corpus.iter().map(|(name, bytes)| read_any(name, bytes)).collect();
    let missing: Vec<&str> =
        FORMATS.iter().map(|format| format.name).filter(|name| !formats.contains(name)).collect();
    assert!(missing.is_empty(), "no file of {missing:?}");
}

/// Values in the order of the text, each below its place.
fn value_at(value: &mut Value, place: &mut usize, new: &Value) -> bool {
    if *place == 0 {
        *value = new.clone();
        return true;
    }
    *place -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| value_at(item, place, new)),
        Value::Object(members) => members.values_mut().any(|value| value_at(value, place, new)),
        _ => false,
    }
}

#[test]
fn values_of_wrong_types_everywhere() {
    let others = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(""),
        json!("x"),
        json!([]),
        json!([{"type": "text"}]),
        json!({}),
        json!({"a": null}),
    ];
    // What the fuzzer made has wrong types already.
    for (name, bytes) in corpus().into_iter().filter(|(name, _)| !name.starts_with("found-")) {
        let text = String::from_utf8_lossy(&bytes);
        let values: Option<Vec<Value>> = match serde_json::from_str(&text) {
            Ok(value) => Some(vec![value]),
            Err(_) => text.lines().map(|line| serde_json::from_str(line).ok()).collect(),
        };
        let Some(values) = values.filter(|_| bytes.len() < 1500) else { continue };
        let mut turn = 0;
        for line in 0..values.len() {
            for place in 0.. {
                let mut values = values.clone();
                turn += 1;
                // Some of the values for each place: in the end all of them have stood in all kinds of places.
                if !value_at(&mut values[line], &mut place.clone(), &others[turn % others.len()]) {
                    break;
                }
                read_any(&name, lines(values).trim().as_bytes());
            }
        }
    }
}
