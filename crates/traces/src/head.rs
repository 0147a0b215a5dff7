//! How a file begins: enough to tell which format it has, whatever its size.

use std::io::BufRead as _;

use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Source, SourceError};

use crate::archive::Archive;
use crate::call_signs::written_calls;
use crate::fields::{Fields, items_or_one, members, names, plain, role};
use crate::lines::each_sign;
use crate::message_events::is_conversation_event;

/// How a file is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A zip archive.
    Zip,
    /// Server-sent events.
    Events,
    /// A JSON value on every line.
    Lines,
    /// One JSON value.
    Document,
    /// JSON values one after another, which may have several lines each.
    Values,
    /// Anything else.
    Text,
}

/// The beginning of a file.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    /// The arrangement of the file.
    pub(crate) shape: Shape,
    /// The values of the first lines, or the beginning of the document as a whole value.
    pub(crate) values: Vec<Json>,
    /// The first kilobytes as text; of a zip archive the names of its entries, a line each.
    pub(crate) text: String,
    /// Whether the file ends within the bytes that were read.
    pub(crate) is_whole: bool,
}

/// The most lines that are looked at: first lines are often headers.
const LINES: usize = 10;

/// The most bytes that are looked at.
const MOST: u64 = 16 << 20;

/// The most values that are looked at, of all lists and objects: each takes many times the memory of its bytes.
const VALUES: usize = 4_000_000;

/// The most items of a list that are looked at: each format may look at all of them.
const ITEMS: usize = 10_000;

/// The most bytes that are kept as text.
const TEXT: usize = 64 << 10;

/// The members that hold the messages of a conversation.
const MESSAGES: [&str; 4] = ["messages", "input", "contents", "items"];

/// The members that hold the events of a conversation, which have no roles.
const EVENTS: [&str; 3] = ["events", "history", "trajectory"];

/// Plain names of lists that are a side of one conversation, or all of it.
const SIDES: &[&str] = names![
    choices completion contents conversation dialogue history input messages output prompt query reference
    reply response trajectory userinput
];

impl Head {
    /// Reads the beginning of a file.
    pub(crate) fn read(source: &Source) -> Result<Self, SourceError> {
        let mut bytes = source.start(MOST)?;
        let mut is_whole = (bytes.len() as u64) < MOST;
        if let Some(end) = end_of_values(&bytes) {
            bytes.truncate(end);
            is_whole = false;
        }
        let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let mut head = Self::from_bytes(start, is_whole);
        // A line may be longer than the bytes that are read, for example a line with pictures.
        let is_cut = !is_whole && !bytes.contains(&b'\n');
        if head.shape == Shape::Document && is_cut && has_lines(source)? {
            head.shape = Shape::Lines;
        }
        // An archive that is cut has no list of its entries, but their names stand before their bytes as well.
        if head.shape == Shape::Zip
            && let Ok(archive) = Archive::open(source)
        {
            head.text = archive.names().collect::<Vec<_>>().join("\n");
        }
        Ok(head)
    }

    fn from_bytes(bytes: &[u8], is_whole: bool) -> Self {
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(TEXT)]).into_owned();
        let start = bytes.trim_ascii_start();
        let (shape, values) = if start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06") {
            (Shape::Zip, Vec::new())
        } else if is_event(start) {
            (Shape::Events, events(start))
        } else if let Some(values) = lines(start) {
            (Shape::Lines, values)
        } else if start.starts_with(b"{") || start.starts_with(b"[") {
            let whole = if is_whole { parse(start).ok().map(|(value, _)| value) } else { None };
            let values = if whole.is_none() { first_values(start) } else { Vec::new() };
            if values.len() > 1 {
                return Self { shape: Shape::Values, values, text, is_whole };
            }
            let value = whole.or_else(|| parse(&closed(start)).ok().map(|(value, _)| value));
            (Shape::Document, value.into_iter().collect())
        } else {
            (Shape::Text, Vec::new())
        };
        let mut values = values;
        values.iter_mut().for_each(shorten);
        Self { shape, values, text, is_whole }
    }

    /// The beginning of a file with these values, for the formats to recognize.
    pub(crate) fn from_values(values: Vec<Json>, is_whole: bool) -> Self {
        let shape = if values.len() == 1 { Shape::Document } else { Shape::Lines };
        Self { shape, values, text: String::new(), is_whole }
    }

    /// The items that are whole: if the file goes on, the last item may be cut.
    pub(crate) fn whole<'j>(&self, items: &'j [Json]) -> &'j [Json] {
        match items.split_last() {
            Some((_, before)) if !self.is_whole && !before.is_empty() => before,
            _ => items,
        }
    }

    /// The values one after another that begin on a line of their own, below lines of text.
    pub(crate) fn values_below_text(&self) -> Vec<Json> {
        let begin = self.text.find("\n{").or_else(|| self.text.find("\n["));
        begin
            .and_then(|begin| self.text.get(begin..))
            .map_or_else(Vec::new, |text| first_values(text.as_bytes()))
    }

    /// Whether the file is one JSON value, or has a JSON value on every line.
    pub(crate) fn is_json(&self) -> bool {
        matches!(self.shape, Shape::Document | Shape::Lines)
    }

    /// The values that records are made of: the items of a list, else the values.
    pub(crate) fn records(&self) -> impl Iterator<Item = &Json> {
        self.values.iter().flat_map(items_or_one)
    }

    /// Whether the file is JSON and `is` holds for any record.
    pub(crate) fn any(&self, is: impl Fn(&Json) -> bool) -> bool {
        self.is_json() && self.records().any(is)
    }

    /// The messages or items of a conversation, wherever they are.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &Json> {
        self.records().flat_map(|record| messages(record).unwrap_or(std::slice::from_ref(record)))
    }

    /// Whether the file is JSON and `is` holds for any message.
    pub(crate) fn any_message(&self, is: impl Fn(&Json) -> bool) -> bool {
        self.is_json() && self.messages().any(is)
    }
}

/// Where the last value ends that is looked at; `None` if all are.
fn end_of_values(bytes: &[u8]) -> Option<usize> {
    let (mut commas, mut end) = (0, None);
    each_sign(bytes, |place, sign| {
        commas += usize::from(sign == b',');
        end = end.or((commas == VALUES).then_some(place + 1));
    });
    end
}

/// Leaves the first items of all lists of a value.
fn shorten(value: &mut Json) {
    match value {
        Json::Array(items) => {
            items.truncate(ITEMS);
            items.iter_mut().for_each(shorten);
        }
        Json::Object(members) => members.iter_mut().for_each(|(_, inner)| shorten(inner)),
        _ => {}
    }
}

/// Whether a file with this beginning holds m3's own trajectories: objects whose steps have calls.
pub(crate) fn is_own(start: &[u8]) -> bool {
    // A run that made no call has no steps, but its dialogue is a list of messages.
    let is_run =
        |value: &Json| value.text_below(&["versions", "schema"]).is_some_and(|it| it.starts_with("m3."));
    let is_trajectory =
        |value: &Json| is_run(value) || value.list("steps").iter().any(|step| step.has("calls"));
    let head = Head::from_bytes(start, false);
    head.any(|value| is_trajectory(value) || members(value).iter().any(|(_, value)| is_trajectory(value)))
}

/// The messages or items of a conversation: a list, or the list in a member of an object: one that most programs name so,
/// else one whose items have roles or are events.
pub(crate) fn messages(value: &Json) -> Option<&[Json]> {
    // A message holds its own parts under these names.
    let keys = if role(value).is_some() { &MESSAGES[..1] } else { &MESSAGES };
    let known = || {
        let mut lists = keys.iter().filter_map(|key| match value.member(key)? {
            Json::Array(items) => Some(items.as_slice()),
            _ => None,
        });
        let first = lists.next()?;
        Some(if first.is_empty() { lists.find(|items| !items.is_empty()).unwrap_or(first) } else { first })
    };
    let with_roles = || {
        // The dialogue of m3's own predictions is no trace, also where their steps stand behind it.
        let others = members(value).iter().filter(|(key, _)| key != "dialogue");
        let lists = others.map(|(_, value)| value.items());
        let is_object = |item: &Json| matches!(item, Json::Object(_));
        let mut lists = lists.into_iter();
        if is_by_id(value) {
            return None;
        }
        lists.find(|items| items.iter().any(|item| role(item).is_some()) && items.iter().all(is_object))
    };
    let with_events = || {
        let mut lists = EVENTS.iter().map(|key| value.list(key));
        lists.find(|items| items.iter().any(is_conversation_event))
    };
    let all = match value {
        Json::Array(items) => Some(items.as_slice()),
        _ if is_report(value) => None,
        _ => {
            // Datasets keep what a model is given apart from what it made of it.
            let has_messages = |key: &str| value.member(key).is_some_and(|inner| inner.has("messages"));
            let is_given = has_messages("inputs") && !has_messages("outputs");
            let given = || value.member("inputs").filter(|_| is_given).and_then(messages);
            let own = known().filter(|items| !items.is_empty()).or_else(with_roles).or_else(with_events);
            own.or_else(given).or_else(known)
        }
    };
    all.map(without_repetition)
}

/// Whether an object has several lists of messages by the ids of their conversations, and nothing else. A request and its
/// reply are two lists as well.
fn is_by_id(value: &Json) -> bool {
    let is_reply = |item: &Json| matches!(role(item), Some("assistant" | "ai" | "model"));
    let is_list = |(_, inner): &(String, Json)| inner.items().iter().any(is_reply);
    let is_name = |(key, _): &(String, Json)| SIDES.contains(&plain(key).as_str());
    let all = members(value);
    all.len() > 1 && all.iter().all(is_list) && !all.iter().any(is_name)
}

/// A list without the history at its beginning that it repeats: a session that is resumed is often written again from its
/// start, with what the user asked. The ids of its calls show that they were not made twice.
fn without_repetition(list: &[Json]) -> &[Json] {
    let mut rest = list;
    while let Some(first) = rest.first() {
        let Some(length) = rest.iter().skip(2).position(|item| item == first).map(|place| place + 2) else {
            break;
        };
        let (history, again) = rest.split_at(length);
        let has_ids = |history: &[Json]| {
            let calls = history.iter().flat_map(written_calls);
            calls.into_iter().any(|(_, call)| call.id.is_some())
        };
        let is_start =
            matches!(role(first).or_else(|| first.text("type")), Some("user" | "system" | "human"));
        if !is_start || !again.starts_with(history) || !has_ids(history) {
            break;
        }
        rest = again;
    }
    rest
}

/// Whether a value is what m3 writes about trajectories, such as a score: no trace stands in it.
pub(crate) fn is_report(value: &Json) -> bool {
    value.text("schema").is_some_and(|schema| schema.starts_with("m3."))
}

/// Whether a value is a conversation, and not one message of it.
pub(crate) fn is_conversation(value: &Json) -> bool {
    messages(value).is_some_and(|list| list.iter().all(|item| matches!(item, Json::Object(_))))
}

/// The data of the first events.
fn events(start: &[u8]) -> Vec<Json> {
    let data = start.split(|&byte| byte == b'\n').filter_map(|line| line.strip_prefix(b"data:"));
    data.take(LINES).filter_map(|data| Some(parse(data.trim_ascii()).ok()?.0)).collect()
}

/// Whether the beginning of a file is that of server-sent events.
fn is_event(start: &[u8]) -> bool {
    [&b"event:"[..], b"data:", b": "].iter().any(|sign| start.starts_with(sign))
}

/// The values of the first lines, if the first line is an object or a list and another line follows.
fn lines(start: &[u8]) -> Option<Vec<Json>> {
    let mut lines = start.split(|&byte| byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let first = parse(lines.next()?).ok()?.0;
    if !matches!(first, Json::Object(_) | Json::Array(_)) {
        return None;
    }
    let second = lines.next()?;
    let mut values = vec![first];
    // A line that cannot be read was cut, by the end of the bytes that are read or by the end of the program.
    values.extend(
        [second].into_iter().chain(lines).take(LINES - 1).filter_map(|line| Some(parse(line).ok()?.0)),
    );
    Some(values)
}

/// The first values of a text in which one stands after another. An item of a list that was cut begins one as well, but
/// none stands before it.
fn first_values(start: &[u8]) -> Vec<Json> {
    let (mut depth, mut begin, mut values) = (0_usize, 0, Vec::new());
    each_sign(start, |place, sign| match sign {
        _ if values.len() >= LINES => {}
        b'[' | b'{' => {
            begin = if depth == 0 { place } else { begin };
            depth += 1;
        }
        b']' | b'}' if depth > 0 => {
            depth -= 1;
            let text = start.get(begin..=place).filter(|_| depth == 0);
            values.extend(text.and_then(|text| parse(text).ok()).map(|(value, _)| value));
        }
        _ => {}
    });
    values
}

/// Whether a value ends with the first line of a file, and another begins after it.
fn has_lines(source: &Source) -> Result<bool, SourceError> {
    let mut reader = source.reader()?;
    let (mut last, mut is_after) = (b' ', false);
    loop {
        let bytes = reader.fill_buf().map_err(|cause| source.error(cause))?;
        let end = bytes.iter().position(|byte| *byte == b'\n' && !is_after).unwrap_or(bytes.len());
        let mut visible = bytes.iter().take(end).filter(|byte| !byte.is_ascii_whitespace());
        if is_after && let Some(first) = visible.next() {
            return Ok(matches!(last, b'}' | b']') && matches!(first, b'{' | b'['));
        }
        last = visible.next_back().copied().unwrap_or(last);
        is_after |= end < bytes.len();
        let read = bytes.len().min(end + 1);
        if read == 0 {
            return Ok(false);
        }
        reader.consume(read);
    }
}

/// The beginning of a document with its open brackets closed after the last whole item.
fn closed(start: &[u8]) -> Vec<u8> {
    let mut last = 0;
    each_sign(start, |place, sign| last = if sign == b',' { place } else { last });
    let mut open = Vec::new();
    let whole = start.get(..last).unwrap_or_default();
    each_sign(whole, |_, sign| match sign {
        b'[' => open.push(b']'),
        b'{' => open.push(b'}'),
        b']' | b'}' => {
            open.pop();
        }
        _ => {}
    });
    whole.iter().chain(open.iter().rev()).copied().collect()
}

#[cfg(test)]
mod tests;
