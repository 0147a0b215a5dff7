//! A member `m3` beside the messages, for facts that messages cannot hold exactly: other programs ignore it, the
//! importers read it.
//!
//! Names of tools are limited to letters, digits, `_` and `-`; arguments have to be objects; results have to be texts.

use std::collections::{HashMap, HashSet};

use m3_trajectory::json::{Json, parse};

use super::trajectory::{ExportCall, ExportResult};
use crate::arguments::{arguments, call_id, tool};
use crate::content::{object, string};
use crate::conversation::Conversation;
use crate::fields::{Fields, members};

/// The member beside the messages.
pub(super) const MEMBER: &str = "m3";

/// The longest name of a tool that all providers take.
const LONGEST: usize = 64;

/// The content of the member `m3` beside the messages of a trajectory.
#[derive(Debug, Default)]
pub(super) struct Exact {
    written: HashMap<String, String>,
    taken: HashSet<String>,
    names: Vec<(String, Json)>,
    arguments: Vec<(String, Json)>,
    values: Vec<Json>,
    without_result: Vec<Json>,
}

impl Exact {
    /// A tool's name in letters, digits, `_` and `-`: `server/tool` is `mcp__server__tool`.
    pub(super) fn name(&mut self, exact: &str) -> String {
        if let Some(written) = self.written.get(exact) {
            return written.clone();
        }
        let candidate = match exact.split_once('/') {
            Some((server, name)) => format!("mcp__{server}__{name}"),
            None => exact.to_owned(),
        };
        let mut plain: String =
            candidate.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST).collect();
        if plain.is_empty() {
            plain.push('_');
        }
        let mut written = plain.clone();
        let mut number = 1_usize;
        while self.taken.contains(&written) {
            number += 1;
            let end = format!("_{number}");
            let kept: String = plain.chars().take(LONGEST.saturating_sub(end.len())).collect();
            written = kept + &end;
        }
        if tool(None, &written) != exact {
            self.names.push((written.clone(), string(exact)));
        }
        self.taken.insert(written.clone());
        self.written.insert(exact.to_owned(), written.clone());
        written
    }

    /// Keeps arguments that an importer would read as another value: `read` is the value that it would read.
    pub(super) fn arguments(&mut self, call: &ExportCall<'_>, read: Option<&Json>) {
        if read != call.arguments {
            self.arguments.push((call.id.clone(), call.arguments.cloned().unwrap_or(Json::Null)));
        }
    }

    /// Keeps that a result is a JSON value, or that there is no result although one is written.
    pub(super) fn result(&mut self, call: &ExportCall<'_>) {
        match call.result {
            Some(ExportResult::Value(_)) => self.values.push(string(&call.id)),
            None => self.without_result.push(string(&call.id)),
            _ => {}
        }
    }

    /// The member, if there is anything in it.
    pub(super) fn into_member(self) -> Option<(String, Json)> {
        let members = [
            ("tool_names", Json::Object(self.names)),
            ("arguments", Json::Object(self.arguments)),
            ("json_results", Json::Array(self.values)),
            ("no_results", Json::Array(self.without_result)),
        ];
        let is_empty = |value: &Json| match value {
            Json::Object(members) => members.is_empty(),
            Json::Array(items) => items.is_empty(),
            _ => false,
        };
        let members = members.into_iter().filter(|(_, value)| !is_empty(value));
        let members: Vec<(String, Json)> = members.map(|(key, value)| (key.to_owned(), value)).collect();
        (!members.is_empty()).then(|| (MEMBER.to_owned(), Json::Object(members)))
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

/// Restores the exact values of calls from the member `m3` of a record.
pub(crate) fn restore(conversation: &mut Conversation, record: &Json) {
    let Some(kept) = record.member(MEMBER) else { return };
    let object_of = |key: &str| kept.member(key).map(members).unwrap_or_default();
    let names: HashMap<String, &str> = object_of("tool_names")
        .iter()
        .filter_map(|(written, exact)| Some((tool(None, written), exact.as_str()?)))
        .collect();
    let arguments: HashMap<&str, &Json> =
        object_of("arguments").iter().map(|(id, it)| (id.as_str(), it)).collect();
    let ids = |key: &str| kept.list(key).iter().filter_map(|id| call_id(Some(id))).collect::<HashSet<_>>();
    let (values, without_result) = (ids("json_results"), ids("no_results"));
    for call in conversation.calls_mut() {
        if let Some(exact) = names.get(&call.tool) {
            (*exact).clone_into(&mut call.tool);
        }
        let Some(id) = &call.id else { continue };
        if let Some(exact) = arguments.get(id.as_str()) {
            call.arguments = Some((*exact).clone()).filter(|exact| *exact != Json::Null);
        }
        if without_result.contains(id) {
            call.result = None;
        }
        if values.contains(id)
            && let Some(Json::String(text)) = &call.result
            && let Ok((value, _)) = parse(text.as_bytes())
        {
            call.result = Some(value);
        }
    }
}

/// Arguments as an object: any other value is put into the object that providers use for invalid JSON.
pub(super) fn as_object(written: Option<&Json>) -> Json {
    match written {
        Some(Json::Object(_)) => written.cloned().unwrap_or(Json::Null),
        Some(Json::String(text)) => object([(crate::arguments::INVALID, string(text))]),
        Some(other) => object([(crate::arguments::INVALID, string(&other.to_plain_text()))]),
        None => Json::Object(Vec::new()),
    }
}

/// The arguments that an importer reads from a text.
pub(super) fn read_of_text(text: &str) -> Option<Json> {
    arguments(Some(&string(text)))
}
