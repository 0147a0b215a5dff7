//! Signs of calls in a record, whatever its format: members and types that are named like calls or results, and objects that can
//! only be calls.

use std::collections::BTreeMap;

use m3_trajectory::json::Json;

use crate::call_shapes::{
    ARGUMENTS, CallShape, call, objects, part_type, pick, shape_of_member, shape_of_type,
};
use crate::fields::{Fields, members, plain};
use crate::trace::TracedCall;

/// Members in which objects with names and arguments are no calls of the trace.
pub(crate) const OTHER: &[&str] =
    &["artifact", "functions", "metadata", "observation", "rewardinfo", "tooldefinitions", "tools"];

/// The deepest member in which names are looked for.
const DEEPEST: usize = 64;

/// The members and types within a value that are named like calls or results and hold something, with how often.
pub(crate) fn named_like_calls(value: &Json) -> BTreeMap<String, u64> {
    let mut names = BTreeMap::new();
    count(value, 0, &mut names);
    names
}

/// Adds the signs of calls within a value to those of others: members and types that are named like calls, else the
/// members that hold objects with a name and arguments.
pub(crate) fn count_signs(value: &Json, signs: &mut BTreeMap<String, u64>) {
    let mut names = named_like_calls(value);
    if names.is_empty() {
        for (member, _) in written_calls(value) {
            *names.entry(member).or_default() += 1;
        }
    }
    for (name, number) in names {
        *signs.entry(name).or_default() += number;
    }
}

fn count(value: &Json, depth: usize, names: &mut BTreeMap<String, u64>) {
    if depth > DEEPEST {
        return;
    }
    if let Json::Array(items) = value {
        return items.iter().for_each(|item| count(item, depth + 1, names));
    }
    let mut add = |name: &str| *names.entry(name.to_owned()).or_default() += 1;
    for kind in ["type", "kind", "role"].iter().filter_map(|key| value.text(key)) {
        if shape_of_member(kind).is_some() {
            add(kind);
        }
    }
    // A request may name the function that has to be called: `{"function_call": {"name": ..}}`.
    let is_choice = |inner: &Json| members(inner).len() == 1 && inner.has("name");
    for (key, inner) in members(value) {
        // A text such as `f(x=1)` is a call, too; `auto` is none.
        let is_written = matches!(inner, Json::String(text) if text.contains(['(', '{', '[']));
        let is_held = is_written || !objects(inner).is_empty() && !is_choice(inner);
        if shape_of_member(key).is_some() && is_held {
            add(key);
        }
    }
    for (_, inner) in members(value) {
        count(inner, depth + 1, names);
    }
}

/// The calls that are written within a value, each with the member that holds it: objects in members that are named like
/// calls, and objects with a name and arguments. Arguments and results are not looked into.
pub(crate) fn written_calls(value: &Json) -> Vec<(String, TracedCall)> {
    let mut calls = Vec::new();
    collect(value, "", 0, &mut calls);
    calls
}

fn collect(value: &Json, holder: &str, depth: usize, calls: &mut Vec<(String, TracedCall)>) {
    if depth > DEEPEST {
        return;
    }
    if let Json::Array(items) = value {
        return items.iter().for_each(|item| collect(item, holder, depth + 1, calls));
    }
    let is_result = |kind: &str| shape_of_type(kind) == Some(CallShape::Outcome);
    if value.says("role", "tool")
        || ["type", "kind", "role"].iter().filter_map(|key| value.text(key)).any(is_result)
    {
        return;
    }
    if let Some(call) = written_call(value) {
        calls.push((holder.to_owned(), call));
        return;
    }
    for (key, inner) in members(value) {
        // Tools that are offered have names and schemas, and results may be of any shape.
        let is_other = shape_of_member(key) == Some(CallShape::Outcome) || OTHER.contains(&&*plain(key));
        if !is_other {
            collect(inner, key, depth + 1, calls);
        }
    }
}

/// Whether an object can only be a call.
pub(crate) fn is_written_call(value: &Json) -> bool {
    matches!(value, Json::Object(_)) && written_call(value).is_some()
}

/// An object that can only be a call: by its type, or by a name and arguments, which are an object or its JSON.
fn written_call(value: &Json) -> Option<TracedCall> {
    if part_type(value).and_then(shape_of_type) == Some(CallShape::Call) && pick(value, ARGUMENTS).is_some() {
        return call(value);
    }
    let inner = pick(value, &["function"]).filter(|inner| matches!(inner, Json::Object(_))).unwrap_or(value);
    pick(inner, &["name", "toolname", "functionname"])?.as_str()?;
    let names =
        ["arguments", "args", "toolinput", "toolargs", "toolarguments", "toolkwargs", "inputparameters"];
    // An `input` is one of a tool only if a tool is named.
    let is_tool = pick(inner, &["toolname", "functionname"]).is_some();
    let arguments = pick(inner, &names).or_else(|| pick(inner, &["input"]).filter(|_| is_tool))?;
    let is_object = match arguments {
        Json::Object(_) => true,
        Json::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    };
    if is_object { call(value) } else { None }
}
