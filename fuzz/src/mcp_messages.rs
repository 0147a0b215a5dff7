//! What MCP servers write: messages, lists of tools, results of calls.
//!
//! An input is the standard output of a server.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use m3_mcp::names::{MAX_MODEL_NAME, ModelNames};
use m3_mcp::results::{result_text, save_files, shortened_text, structured_without_data};
use m3_mcp::{HostEvent, KeptOutput, ServerTools, Tool, ToolCatalog, ToolName, ToolResult, links_of};
use m3_support::redact::Redactor;
use serde_json::Value;

use crate::input::{Temporary, assert_line};

/// Holds what a server says against what the host keeps of it.
///
/// # Panics
/// If it does not keep it.
pub fn check(bytes: &[u8]) {
    let Ok(kept) = read(bytes) else { return };
    assert!(
        kept.messages.len() <= bytes.len() && kept.noise <= bytes.len() as u64,
        "{} messages",
        kept.messages.len()
    );
    let written: Vec<String> = kept.messages.iter().map(ToString::to_string).collect();
    let length = written.iter().map(String::len).sum::<usize>();
    assert!(length <= 1000 + 30 * bytes.len(), "{length} bytes of {}", bytes.len());
    let again = read((written.join("\n") + "\n").as_bytes()).unwrap_or_default();
    // In a batch, each of several answers is read as one to the handshake.
    if !bytes.split(|byte| *byte == b'\n').any(|line| line.trim_ascii_start().starts_with(b"[")) {
        assert_eq!(again, KeptOutput { noise: 0, ..kept.clone() }, "what is written is read again");
    }
    for message in kept.messages {
        if let Some(result) = message.get("result") {
            check_tools(result);
            check_result(result);
        }
    }
}

fn read(bytes: &[u8]) -> io::Result<KeptOutput> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let events = Arc::new(|event| match event {
        HostEvent::Noise { line, .. } => assert_line("a line that is no message", &line, 900),
        HostEvent::Oversized { .. } => {}
        other => unreachable!("{other:?}"),
    });
    Ok(runtime.block_on(KeptOutput::read(bytes, "s", events)))
}

/// Of a list each tool can be used or has a reason why not, and no two have one name.
fn check_tools(result: &Value) {
    let Some(listed) = result.get("tools").and_then(Value::as_array) else { return };
    let tools = ServerTools::from_wire("s", listed.clone());
    assert_eq!(tools.tools.len() + tools.rejected.len(), listed.len());
    for rejected in &tools.rejected {
        assert_line("why a tool is rejected", &rejected.reason, 1000);
    }
    let names: HashSet<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names.len(), tools.tools.len());
    for tool in &tools.tools {
        let _ = tool.is_read_only();
        let written = serde_json::to_value(tool).and_then(serde_json::from_value::<Tool>);
        assert_eq!(written.ok().as_ref(), Some(tool), "a tool is read as it is written");
    }
    let usable = ServerTools { rejected: Vec::new(), ..tools };
    let catalog = ToolCatalog { servers: vec![usable] };
    assert_eq!(ToolCatalog::from_json(&catalog.to_json()), catalog, "a catalog is read as it is written");
    let catalog = catalog.without_secrets(&Redactor::default());
    check_names(&catalog.tools().map(|(name, _)| name).collect::<Vec<_>>());
}

/// Models can call each tool by a name of its own.
fn check_names(tools: &[ToolName]) {
    let Ok(names) = ModelNames::new(tools.to_owned()) else { return };
    for tool in tools {
        let name = names.model_name(tool).unwrap_or_default();
        assert!(!name.is_empty() && name.len() <= MAX_MODEL_NAME, "{name:?}");
        assert_eq!(names.tool(&name), Some(tool));
    }
}

/// A result is kept whole, and its text acts on no terminal.
fn check_result(result: &Value) {
    let length = result.to_string().len();
    let read = ToolResult::from_wire(result.clone());
    assert_eq!(ToolResult::from_wire(read.to_wire()), read, "a result is read as it is written");
    assert!(links_of(&read).count() <= length);
    let folder = Temporary::folder("files");
    let saved = save_files(&read, folder.path(), "r", &Redactor::default());
    let (files, problems) = saved.unwrap_or_default();
    for problem in &problems {
        assert_line("what is wrong with a file", problem, 1000);
    }
    assert!(files.iter().map(|file| file.bytes).sum::<usize>() <= length);
    let text = result_text(&read, &files);
    let hidden = |c: &char| c.is_control() && !matches!(c, '\n' | '\t');
    assert_eq!(text.chars().find(hidden), None, "{text:?}");
    assert!(text.len() <= 1000 + 40 * length, "{} bytes of {length}", text.len());
    let _ = structured_without_data(&read, &files);
    let shortened = shortened_text(&text, 200, "r.json");
    assert!(shortened.chars().count() <= text.chars().count().clamp(200, 400), "{shortened:?}");
}
