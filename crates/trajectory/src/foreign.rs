//! Recognizes files of other programs by their beginnings or keys, so that a message can name the kind of file.

use m3_support::unpack::unpacked_name;

/// What to do with a file that does not hold trajectories.
const REMEDY: &str = "m3 reads trajectories, {\"id\": .., \"steps\": [{\"calls\": [{\"name\": \"server/tool\", \
    \"arguments\": {..}}]}]}, and the traces that docs/import.md lists";

/// The beginnings of files that are not JSON, and what these are.
const BEGINNINGS: [(&[u8], &str); 12] = [
    (
        b"PK\x03\x04",
        "a zip archive, as Inspect's `.eval` logs are (`inspect log dump FILE` prints them as JSON)",
    ),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"BZh", "compressed with bzip2: decompress it, or use gzip"),
    (b"\xfd7zXZ", "compressed with xz: decompress it, or use gzip"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"data:", "a stream of server-sent events"),
    (b"event:", "a stream of server-sent events"),
    (b"<", "XML or HTML"),
    (b"---\n", "YAML"),
];

/// Combinations of keys that objects of other programs have, or scores of m3, but no trajectory; and what these are.
const OBJECTS: [(&[&str], &str); 30] = [
    (&["aggregate", "ledger", "profile"], "a score of `m3 score`"),
    (&["eval", "status"], "an Inspect log"),
    (&["resourceSpans"], "OpenTelemetry traces"),
    (&["resourceLogs"], "OpenTelemetry logs"),
    (&["trace_id", "span_id"], "spans of a trace"),
    (&["traceId", "spanId"], "spans of a trace"),
    (&["context", "attributes"], "spans of a trace"),
    (&["conversations"], "ShareGPT conversations"),
    (&["run_type", "inputs"], "LangSmith runs"),
    (&["appName", "events"], "a session of the Agent Development Kit"),
    (&["eval_cases"], "an evaluation set of the Agent Development Kit"),
    (&["evalId", "results"], "results of promptfoo"),
    (&["jsonrpc"], "JSON-RPC messages"),
    (&["request", "response"], "a log of a model's requests"),
    (&["choices"], "replies of OpenAI's Chat Completions"),
    (&["object", "output"], "replies of OpenAI's Responses"),
    (&["messages"], "conversations of chat messages (OpenAI, Anthropic, LangChain)"),
    (&["contents"], "conversations of chat messages (Gemini)"),
    (&["type", "sessionId"], "a session of Claude Code"),
    (&["type", "session_id"], "a session of Claude Code"),
    (&["type", "payload"], "a session of Codex"),
    (&["type", "item"], "a session of Codex"),
    (&["object", "workflow_name"], "traces of OpenAI's Agents SDK"),
    (&["data", "next_cursor"], "spans of a trace"),
    (&["role", "content"], "chat messages (OpenAI, Anthropic)"),
    (&["role", "tool_calls"], "chat messages (OpenAI)"),
    (&["role", "parts"], "chat messages (Gemini, Vercel AI SDK)"),
    (&["type", "call_id"], "items of OpenAI's Responses"),
    (&["type", "content"], "chat messages (LangChain)"),
    (&["type", "data"], "chat messages (LangChain)"),
];

/// Keys by which an object is recognized as another program's although it has `steps`, as trajectories do.
const OBJECTS_WITH_STEPS: [(&[&str], &str); 2] = [
    (&["schema_version", "agent"], "a trajectory in the format ATIF"),
    (&["finishReason"], "a result of the Vercel AI SDK"),
];

/// The message about a file that is not JSON, by its beginning and its name; `None` if it is JSON or of unknown kind.
pub(super) fn of_bytes(start: &[u8], name: &str) -> Option<String> {
    let start = start.trim_ascii_start();
    if start.starts_with(b"[") || start.starts_with(b"{") {
        return None;
    }
    let known = BEGINNINGS.iter().find(|(beginning, _)| start.starts_with(beginning));
    let table = || {
        is_table(start, name).then_some("a table (CSV) without a column of calls such as `expected_tools`")
    };
    let what = known.map(|(_, what)| *what).or_else(table)?;
    Some(format!("this is {what}, and no JSON; {REMEDY}"))
}

/// The kind of an object with these keys, if another program wrote it.
pub(super) fn of_keys(has: impl Fn(&str) -> bool) -> Option<&'static str> {
    let table: &[(&[&str], &str)] = if has("steps") { &OBJECTS_WITH_STEPS } else { &OBJECTS };
    table.iter().find(|(keys, _)| keys.iter().all(|key| has(key))).map(|(_, what)| *what)
}

/// The message about a file that holds `what`.
pub(super) fn refused(what: &str) -> String {
    format!("this holds {what}, and no trajectories; {REMEDY}")
}

/// Whether text is a table: by the file's name, or because its first line has several fields and its second line at least
/// as many.
fn is_table(start: &[u8], name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    if [".csv", ".tsv"].iter().any(|ending| unpacked_name(&name).ends_with(ending)) {
        return true;
    }
    let mut lines = start.split(|&byte| byte == b'\n');
    let (Some(first), Some(second)) = (lines.next(), lines.next()) else { return false };
    let fields = |line: &[u8], sign: u8| line.split(|&byte| byte == sign).count();
    [b',', b'\t', b';'].into_iter().any(|sign| {
        let count = fields(first, sign);
        count > 1 && fields(second, sign) >= count
    })
}
