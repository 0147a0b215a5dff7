//! Calls of a gateway, a tool that calls another one: `call_tool({"name": "search", "arguments": {..}})`. The call within is
//! the one that a reference names.

use m3_trajectory::json::Json;

use crate::arguments::{arguments, tool};
use crate::call_shapes::pick;
use crate::fields::{members, names, plain};
use crate::trace::{Trace, TracedCall};

/// The names of gateways, without servers, case and punctuation.
const GATEWAYS: &[&str] = names![
    callmcptool calltool executemcptool executetool invokemcptool invoketool mcpcall mcpcalltool
    mcpexecutetool mcpinvoketool mcpruntool runmcptool runtool usemcptool usetool
];

/// Members with the name of the tool within.
const NAMES: &[&str] = &["toolname", "name", "tool"];

/// Members with the server of the tool within.
const SERVERS: &[&str] = &["servername", "server", "mcpserver"];

/// Members with the arguments of the call within.
const ARGUMENTS: &[&str] =
    &["arguments", "toolarguments", "toolargs", "toolinput", "args", "parameters", "params", "input"];

/// Members that say nothing about what is called.
const REMARKS: &[&str] =
    &["description", "explanation", "id", "reason", "reasoning", "requestid", "thought", "timeout"];

/// The most gateways around a call.
const DEPTH: usize = 4;

/// Reads the calls of gateways in a trace as the calls within, with a note for each kind.
pub(crate) fn unwrap(trace: &mut Trace) {
    for call in trace.steps.iter_mut().flatten() {
        for _ in 0..DEPTH {
            let Some((name, arguments)) = call_within(call) else { break };
            let gateway = std::mem::replace(&mut call.tool, name);
            call.arguments = Some(arguments);
            trace.notes.add_named("a call of the gateway", &gateway, "is read as the call within");
        }
    }
    trace.nested.iter_mut().for_each(|(_, inner)| unwrap(inner));
    if let Some(reference) = &mut trace.reference {
        unwrap(reference);
    }
}

/// The tool and the arguments within a call of a gateway; `None` if it is no such call, or if anything else of weight stands
/// beside them.
fn call_within(call: &TracedCall) -> Option<(String, Json)> {
    let is_gateway = GATEWAYS.contains(&&*plain(own_name(&call.tool)));
    let outer = call.arguments.as_ref().filter(|_| is_gateway)?;
    let name = pick(outer, NAMES)?.as_str().filter(|name| !name.trim().is_empty())?;
    let inner = arguments(pick(outer, ARGUMENTS)).filter(|inner| matches!(inner, Json::Object(_)))?;
    let has_weight = |(key, value): &(String, Json)| {
        let is_read = |names: &&[&str]| pick(outer, names).is_some_and(|picked| std::ptr::eq(picked, value));
        let is_known = [NAMES, SERVERS, ARGUMENTS].iter().any(is_read) || REMARKS.contains(&&*plain(key));
        let is_empty = match value {
            Json::Null | Json::Bool(false) => true,
            Json::String(text) => text.is_empty(),
            Json::Array(items) => items.is_empty(),
            Json::Object(inner) => inner.is_empty(),
            _ => false,
        };
        !is_known && !is_empty
    };
    if members(outer).iter().any(has_weight) {
        return None;
    }
    let server = pick(outer, SERVERS).and_then(Json::as_str).filter(|_| !name.contains('/'));
    Some((tool(server, name.trim()), inner))
}

/// A tool's name without the server, in whatever way that is separated.
fn own_name(tool: &str) -> &str {
    ["/", "__", ".", ":"].iter().fold(tool, |name, sign| name.rsplit_once(*sign).map_or(name, |(_, own)| own))
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{Keys, parse};

    use super::*;
    use crate::testing::{read_text, shown};

    fn unwrapped(tool: &str, arguments: &str) -> Option<String> {
        let arguments = Some(parse(arguments.as_bytes()).unwrap().0);
        let call = TracedCall::new(None, tool.to_owned(), arguments);
        call_within(&call).map(|(name, arguments)| format!("{name}{}", arguments.to_plain_text()))
    }

    #[test]
    fn a_call_within_a_call_is_read() {
        for (tool, arguments) in [
            ("execute-tool", r#"{"name": "s/t", "arguments": {"a": 1}}"#),
            ("hub/call_tool", r#"{"tool": "t", "server": "s", "args": {"a": 1}}"#),
            ("use_mcp_tool", r#"{"server_name": "s", "tool_name": "t", "arguments": "{\"a\": 1}"}"#),
            ("mcpCallTool", r#"{"toolName": "s/t", "params": {"a": 1}, "reason": "because", "dry": null}"#),
            ("hub.invoke_tool", r#"{"name": "mcp__s__t", "input": {"a": 1}, "stream": false}"#),
            ("hub__run_tool", r#"{"tool_name": "s/t", "tool_args": {"a": 1}}"#),
        ] {
            assert_eq!(unwrapped(tool, arguments).as_deref(), Some(r#"s/t{"a":1}"#), "{tool}");
        }
    }

    #[test]
    fn other_calls_stay_as_they_are() {
        for (tool, arguments) in [
            // A second name, further arguments and a flag have weight.
            ("call_tool", r#"{"tool_name": "t", "name": "My search", "arguments": {}}"#),
            ("call_tool", r#"{"name": "t", "arguments": {}, "params": {"page": 2}}"#),
            ("call_tool", r#"{"name": "t", "arguments": {}, "dry_run": true}"#),
            ("run", r#"{"name": "t", "arguments": {"a": 1}}"#),
            ("call_tool", r#"{"name": "t"}"#),
            ("call_tool", r#"{"arguments": {"a": 1}}"#),
            ("call_tool", r#"{"name": "t", "arguments": "not JSON"}"#),
            ("call_tool", r#"{"name": "t", "arguments": {}, "target": "host-3"}"#),
            ("call_tool", r#"{"name": "t", "arguments": {}, "retries": 3}"#),
            ("call_tool", "[]"),
        ] {
            assert_eq!(unwrapped(tool, arguments), None, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_note_says_which_gateways_there_were() {
        let call = |inner: &str| {
            format!(
                r#"{{"id": "1", "function": {{"name": "call_tool", "arguments": {}}}}}"#,
                Json::String(inner.to_owned()).to_text(Keys::AsRead)
            )
        };
        let inner = r#"{"name": "run_tool", "arguments": {"tool": "t", "args": {"a": 1}}}"#;
        let text = format!(r#"{{"messages": [{{"role": "assistant", "tool_calls": [{}]}}]}}"#, call(inner));
        let (_, kept) = read_text("a.json", &text).unwrap();
        assert_eq!(shown(&kept.traces[0]), [r#"t({"a":1})=-"#]);
        let notes: Vec<&str> = kept.traces[0].notes.iter().map(|(note, _)| note).collect();
        assert_eq!(
            notes.iter().filter(|note| note.starts_with("a call of the gateway")).count(),
            2,
            "{notes:?}"
        );
    }
}
