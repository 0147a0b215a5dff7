//! Single calls, in whatever form programs and models write them.

use super::{Members, take};
use crate::json::Json;

/// Takes the call out of a step without `calls` whose own members are a tool's name and arguments, as some programs
/// write steps.
pub(super) fn flat_call(members: &mut Members) -> Option<Json> {
    const NAMES: [&str; 4] = ["tool", "name", "tool_name", "function"];
    const ARGUMENTS: [&str; 5] = ["arguments", "args", "input", "tool_input", "parameters"];
    let of = |keys: &[&'static str], is: fn(&Json) -> bool| {
        keys.iter().copied().find(|key| members.iter().any(|(name, value)| name == key && is(value)))
    };
    let name = of(&NAMES, |value| matches!(value, Json::String(_)))?;
    let arguments = of(&ARGUMENTS, |value| matches!(value, Json::Object(_) | Json::Null))?;
    let result = of(&["result", "output", "observation"], |_| true);
    let keys = [(Some(name), "name"), (Some(arguments), "arguments"), (result, "result")];
    let member = |(key, known): (Option<&str>, &str)| Some((known.to_owned(), take(members, key?)?));
    Some(Json::Object(keys.into_iter().filter_map(member).collect()))
}

/// A call in the form of OpenAI's interface, `{"type": "function", "function": {"name", "arguments"}}`, without its
/// wrapping.
pub(super) fn unwrapped(call: Json) -> Json {
    let is_wrapped = call.get("name").is_none()
        && call.get("function").and_then(|function| function.get("name")).is_some();
    match call {
        Json::Object(mut members) if is_wrapped => {
            if let Some(Json::Object(function)) = take(&mut members, "function") {
                members.extend(function);
            }
            Json::Object(members)
        }
        call => call,
    }
}

/// The tool of a call, which may be empty if `may_be_nameless`, and its other members. For an invalid call, the JSON
/// pointer within the call, the message, and the call itself.
pub(super) fn call_members(
    value: Json,
    may_be_nameless: bool,
) -> Result<(String, Members), (&'static str, String, Json)> {
    let Json::Object(mut members) = value else {
        let kind = value.kind();
        let reason = format!("a call should be an object with `name` and `arguments`, and is {kind}");
        return Err(("", reason, value));
    };
    match members.iter().position(|(key, _)| key == "name").map(|at| (at, &members[at].1)) {
        Some((at, Json::String(name))) if !name.is_empty() || may_be_nameless => {
            let name = name.clone();
            members.remove(at);
            Ok((name, members))
        }
        Some((_, Json::String(_))) | None => {
            let reason = "a call without a name; `name` should be `server/tool`".to_owned();
            Err(("", reason, Json::Object(members)))
        }
        Some((_, other)) => {
            let reason =
                format!("the name of a call should be a string `server/tool`, and is {}", other.kind());
            Err(("/name", reason, Json::Object(members)))
        }
    }
}
