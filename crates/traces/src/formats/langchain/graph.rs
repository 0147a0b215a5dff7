//! `LangGraph`: states of a graph, their history, and the updates that its nodes make.

use super::message::{Kind, Message, add_all};
use super::{id, is_message};
use crate::formats::prelude::*;
use crate::head::Head;

/// States, recognized by the members of a checkpoint beside its values.
pub(in crate::formats) const STATES: Format = Format {
    name: "langgraph-states",
    title: "LangGraph: states and their history",
    recognizes: |head| head.any(is_state),
    read: read_states,
};

/// Updates, by the messages below the names of nodes.
pub(in crate::formats) const UPDATES: Format = Format {
    name: "langgraph-updates",
    title: "LangGraph: streams of updates",
    recognizes: |head: &Head| head.any(is_update),
    read: read_updates,
};

/// Members with messages below them that are not nodes.
const OTHERS: [&str; 8] =
    ["messages", "values", "request", "response", "input", "output", "inputs", "outputs"];

fn is_state(value: &Json) -> bool {
    let has_place = value.has("config") || value.has("checkpoint") || value.has("checkpoint_id");
    value.member("values").is_some_and(|values| matches!(values, Json::Object(_)))
        && value.has("next")
        && has_place
}

fn is_update(value: &Json) -> bool {
    // Messages that have roles alone are those of any program, unless one node wrote them, which asks nothing.
    let is_one = members(value).iter().filter(|(_, update)| *update != Json::Null).count() == 1;
    let is_reply =
        |message: &Json| is_one && matches!(message.text("role"), Some("assistant" | "ai" | "tool"));
    let has_messages = |update: &Json| {
        let all = messages(update);
        all.iter().any(is_message) || !all.is_empty() && all.iter().all(is_reply)
    };
    !OTHERS.iter().any(|key| value.has(key))
        && members(value)
            .iter()
            .all(|(_, update)| matches!(update, Json::Object(_) | Json::Array(_) | Json::Null))
        && members(value).iter().flat_map(|(_, update)| items_or_one(update)).any(has_messages)
}

/// The messages of a state or an update.
fn messages(value: &Json) -> &[Json] {
    match value.member("messages") {
        Some(Json::Array(messages)) => messages,
        Some(one @ Json::Object(_)) => std::slice::from_ref(one),
        _ => &[],
    }
}

fn records(input: &Input<'_>, sink: &mut dyn Sink) -> Result<Vec<Json>, ReadError> {
    let mut all = Vec::new();
    for value in input.all(sink)? {
        match value {
            Json::Array(items) => all.extend(items),
            other => all.push(other),
        }
    }
    Ok(all)
}

/// An id of a state's place in its thread.
fn place<'j>(state: &'j Json, keys: [&str; 2], id: &str) -> Option<&'j str> {
    let config = state.below(&[keys[0], "configurable"]).or_else(|| state.member(keys[1]))?;
    config.text(id)
}

fn read_states(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let states = records(input, sink)?;
    let mut threads: Vec<(Option<&str>, Vec<&Json>)> = Vec::new();
    let mut places = HashMap::new();
    for state in states.iter().filter(|state| is_state(state)) {
        let thread = place(state, ["config", "checkpoint"], "thread_id");
        let number = *places.entry(thread).or_insert_with(|| {
            threads.push((thread, Vec::new()));
            threads.len() - 1
        });
        threads[number].1.push(state);
    }
    for (thread, states) in threads {
        let mut it = Conversation::default();
        let Some(newest) = newest(&states) else { continue };
        let path = path(&states, newest);
        // Of several states with equally many messages, the newest counts.
        let longest = path.iter().rev().max_by_key(|state| count(state)).copied().unwrap_or(newest);
        if count(longest) > count(newest) {
            it.note("messages were taken out of the state; the state with the most is read");
        }
        for _ in path.len()..states.len() {
            it.note("a state of another branch is left out");
        }
        add_all(&mut it, longest.member("values").map_or(&[][..], messages).iter());
        it.id = thread.map(str::to_owned);
        let checkpoint = place(longest, ["config", "checkpoint"], "checkpoint_id");
        it.origin.extend(checkpoint.map(|id| ("checkpoint_id", id.to_owned())));
        sink.trace(None, it.finish())?;
    }
    Ok(())
}

fn count(state: &Json) -> usize {
    state.member("values").map_or(0, |values| messages(values).len())
}

/// The newest state: a history begins with it, unless its times say otherwise.
fn newest<'j>(states: &[&'j Json]) -> Option<&'j Json> {
    let time = |state: &Json| state.member("created_at").and_then(time);
    let first = *states.first()?;
    let later = states.iter().filter(|state| time(state) > time(first)).copied();
    Some(
        later
            .max_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal))
            .unwrap_or(first),
    )
}

/// The states that led to the newest one, newest first; all states if they do not say where they came from.
fn path<'j>(states: &[&'j Json], newest: &'j Json) -> Vec<&'j Json> {
    let own = |state: &'j Json| {
        place(state, ["config", "checkpoint"], "checkpoint_id").or_else(|| state.text("checkpoint_id"))
    };
    let parent = |state: &'j Json| place(state, ["parent_config", "parent_checkpoint"], "checkpoint_id");
    if states.iter().all(|state| parent(state).is_none()) {
        return states.to_vec();
    }
    let by_id: HashMap<&str, &Json> = states.iter().filter_map(|state| Some((own(state)?, *state))).collect();
    let (mut path, mut seen) = (vec![newest], HashSet::new());
    let mut at = newest;
    while let Some(parent) = parent(at).filter(|parent| seen.insert(*parent)) {
        let Some(next) = by_id.get(parent) else { break };
        path.push(*next);
        at = *next;
    }
    path
}

/// Reads all messages that nodes have written; a message replaces an earlier one with the same id.
fn read_updates(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let updates = records(input, sink)?;
    let mut all: Vec<&Json> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut it = Conversation::default();
    for (node, update) in updates.iter().flat_map(members) {
        if node == "__interrupt__" {
            it.note("the run was interrupted");
            continue;
        }
        for message in items_or_one(update).iter().flat_map(messages) {
            let known = Message::parse(message);
            if known.as_ref().is_some_and(|known| known.kind == Kind::Remove) {
                continue;
            }
            let id = id(message);
            if let Some(old) = id.and_then(|id| places.get(id)).and_then(|place| all.get_mut(*place)) {
                *old = message;
            } else {
                places.extend(id.map(|id| (id, all.len())));
                all.push(message);
            }
        }
    }
    add_all(&mut it, all.into_iter());
    sink.trace(None, it.finish())
}

#[cfg(test)]
mod tests {
    use super::*;
    use m3_trajectory::json::parse;

    #[test]
    fn updates_are_told_from_states_and_messages() {
        let value = |text: &str| parse(text.as_bytes()).unwrap().0;
        assert!(is_update(&value(r#"{"model": {"messages": [{"type": "ai", "content": ""}]}}"#)));
        assert!(is_update(&value(
            r#"{"tools": [{"messages": {"role": "tool", "content": ""}}], "x": null}"#
        )));
        for other in [
            r#"{"messages": [{"type": "ai", "content": ""}]}"#,
            r#"{"values": {"messages": [{"type": "ai", "content": ""}]}, "next": [], "config": {}}"#,
            r#"{"request": {"messages": [{"role": "user"}]}, "response": {}}"#,
            r#"{"inputs": {"messages": [{"role": "user"}]}, "outputs": {}}"#,
            "{}",
            "[]",
        ] {
            assert!(!is_update(&value(other)), "{other}");
        }
    }
}
