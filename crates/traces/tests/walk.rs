//! A walk over the samples of all formats: a member of a file is dropped, renamed or added, and no call may be lost without
//! a word. A call is lost if its name still stands in the changed file, but fewer calls of its name are read.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use m3_testkit::shared;
use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::{Json, Keys, parse};

/// The most members of a file that are changed in each way.
const MEMBERS: usize = 8;

/// The largest sample.
const LARGEST: usize = 60_000;

/// Members whose change may lose a call without a word: format (or its beginning), member, and why.
const KNOWN: &[(&str, &str, &str)] = &[
    ("codex", "type", "events of unknown types are not looked into"),
    ("codex", "item", "events of unknown types are not looked into"),
    ("codex", "payload", "events of unknown types are not looked into"),
    ("openai-agents", "span_data", "events of unknown types are not looked into"),
    ("openai-agents", "type", "events of unknown types are not looked into"),
    ("openai-agents", "id", "events of unknown types are not looked into"),
    ("openinference", "key", "attributes of spans have any name"),
    ("openinference", "stringValue", "attributes of spans have any name"),
    ("openinference", "value", "attributes of spans have any name"),
    ("inspect-json", "content", "events of unknown types are not looked into"),
    ("inspect-json", "events", "events of unknown types are not looked into"),
    ("gemini", "content", "a name without arguments may be a tool that has to be chosen"),
    ("gemini", "functionCall", "a name without arguments may be a tool that has to be chosen"),
    ("gemini", "parts", "a name without arguments may be a tool that has to be chosen"),
    ("adk", "content", "a name without arguments may be a tool that has to be chosen"),
    ("adk", "functionCall", "a name without arguments may be a tool that has to be chosen"),
    ("adk", "function_call", "a name without arguments may be a tool that has to be chosen"),
    ("adk-eval-set", "conversation", "a name without arguments may be a tool that has to be chosen"),
    ("adk-eval-set", "toolUses", "a name without arguments may be a tool that has to be chosen"),
    ("adk-eval-set", "tool_uses", "a name without arguments may be a tool that has to be chosen"),
    ("sharegpt", "value", "texts with tags are looked for where texts stand"),
    ("mcpagentbench", "expected_tools", "expected calls that are not there are no expectation"),
    ("expected-calls", "expected_tools", "names alone, under any other name, are no calls"),
    ("expected-calls", "tool_name", "a record without a name of a tool has no call"),
    ("langchain", "tool_calls", "the call stands among the parts of the content, too"),
    ("openai-responses", "type", "events of unknown types are not looked into"),
    // Open: these should be noted.
    ("openai-chat-messages", "tool_calls", "not looked into yet"),
    ("vercel-ai-ui-messages", "parts", "not looked into yet"),
    ("vercel-ai-ui-messages", "role", "not looked into yet"),
];

/// What was read of a file.
#[derive(Default)]
struct Reading {
    /// How often a tool is called, by its name without the server.
    calls: BTreeMap<String, usize>,
    /// What was said about it, with the number of times.
    notes: BTreeMap<String, u64>,
}

impl Reading {
    fn add(&mut self, trace: &Trace) {
        for call in trace.steps.iter().flatten() {
            let name = call.tool.rsplit('/').next().unwrap_or_default();
            *self.calls.entry(name.to_owned()).or_default() += 1;
        }
        for (note, count) in trace.notes.iter() {
            *self.notes.entry(note.to_owned()).or_default() += count;
        }
        trace.nested.iter().for_each(|(_, inner)| self.add(inner));
        trace.reference.iter().for_each(|inner| self.add(inner));
    }
}

impl Sink for Reading {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.add(&trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, message: &str) {
        *self.notes.entry(message.to_owned()).or_default() += 1;
    }
}

/// The format of a file, and what was read; `None` if it is refused, which is a word.
fn read(text: &str) -> Option<(&'static str, Reading)> {
    let source = Source::of_bytes("sample", text.as_bytes()).unwrap();
    let file = recognize(&source).unwrap()?;
    let mut reading = Reading::default();
    file.read(&mut reading).ok()?;
    Some((file.format.name, reading))
}

/// A file of JSON: one value, or one on each line.
struct Sample {
    values: Vec<Json>,
}

impl Sample {
    fn parse(bytes: &[u8]) -> Option<Self> {
        if let Ok((value, _)) = parse(bytes) {
            return Some(Self { values: vec![value] });
        }
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let values: Option<Vec<Json>> = lines.map(|line| Some(parse(line).ok()?.0)).collect();
        values.filter(|values| !values.is_empty()).map(|values| Self { values })
    }

    fn text(values: &[Json]) -> String {
        values.iter().map(|value| value.to_text(Keys::AsRead)).collect::<Vec<_>>().join("\n")
    }

    /// The file with the last member of this name changed; `None` if a tool's name goes with it.
    fn changed(&self, key: &str, way: &str, names: &BTreeSet<&str>) -> Option<String> {
        let mut values = self.values.clone();
        let mut lost = false;
        let is_changed = values.iter_mut().rev().any(|value| change(value, key, way, names, &mut lost));
        (is_changed && !lost).then(|| Self::text(&values))
    }
}

/// Changes the last member of this name within a value.
fn change(value: &mut Json, key: &str, way: &str, names: &BTreeSet<&str>, lost: &mut bool) -> bool {
    match value {
        Json::Array(items) => items.iter_mut().rev().any(|item| change(item, key, way, names, lost)),
        Json::Object(members) => {
            let place = members.iter().rposition(|(name, _)| name == key);
            match (place, way) {
                (Some(place), "drop") => {
                    let (name, dropped) = members.remove(place);
                    *lost |= names.contains(name.as_str()) || holds_name(&dropped, names);
                    true
                }
                (Some(place), "rename") => {
                    *lost |= names.contains(key);
                    members[place].0 = format!("{key}Other");
                    true
                }
                (Some(place), _) => {
                    let added = parse(br#"{"type": "other", "value": [{"a": 1}]}"#).unwrap().0;
                    members.insert(place, ("addedMember".to_owned(), added));
                    true
                }
                (None, _) => members.iter_mut().rev().any(|(_, inner)| change(inner, key, way, names, lost)),
            }
        }
        _ => false,
    }
}

/// Whether a tool's name stands within a value, or within a text of JSON.
fn holds_name(value: &Json, names: &BTreeSet<&str>) -> bool {
    let text = value.to_text(Keys::AsRead);
    names.iter().any(|name| text.contains(name))
}

/// The names of all members within a value.
fn keys(value: &Json, all: &mut BTreeSet<String>) {
    match value {
        Json::Array(items) => items.iter().for_each(|item| keys(item, all)),
        Json::Object(members) => members.iter().for_each(|(key, inner)| {
            all.insert(key.clone());
            keys(inner, all);
        }),
        _ => {}
    }
}

/// What happened to the changed files.
#[derive(Debug, Default)]
struct Counts {
    all_read: usize,
    noted: usize,
    refused: usize,
    lost: BTreeMap<String, usize>,
}

fn walk(bytes: &[u8], counts: &mut Counts) -> Option<&'static str> {
    let sample = Sample::parse(bytes)?;
    let (format, original) = read(&Sample::text(&sample.values))?;
    let names: BTreeSet<&str> =
        original.calls.keys().map(String::as_str).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        return None;
    }
    let mut all = BTreeSet::new();
    sample.values.iter().for_each(|value| keys(value, &mut all));
    let stride = all.len().div_ceil(MEMBERS).max(1);
    // The first member differs from file to file, so that samples of one format cover different members.
    let start = bytes.len() % stride;
    for key in all.iter().skip(start).step_by(stride) {
        for way in ["drop", "rename", "add"] {
            let Some(text) = sample.changed(key, way, &names) else { continue };
            let Some((_, reading)) = read(&text) else {
                counts.refused += 1;
                continue;
            };
            let is_missing = |(name, count): (&String, &usize)| reading.calls.get(name).unwrap_or(&0) < count;
            let is_noted = reading.notes.iter().any(|(note, count)| original.notes.get(note) != Some(count));
            match original.calls.iter().any(is_missing) {
                false => counts.all_read += 1,
                true if is_noted => counts.noted += 1,
                true => *counts.lost.entry(format!("{format} {way} {key}")).or_default() += 1,
            }
        }
    }
    Some(format)
}

/// All files below a folder.
fn files(folder: &Path, all: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() { files(&path, all) } else { all.push(path) }
    }
}

#[test]
fn no_call_is_lost_without_a_word_when_a_member_changes() {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/traces"), &mut paths);
    if let Some(folder) = shared("traces") {
        files(&folder, &mut paths);
    }
    let mut counts = Counts::default();
    let mut formats = BTreeSet::new();
    for path in &paths {
        let bytes = std::fs::read(path).unwrap();
        if bytes.len() <= LARGEST {
            formats.extend(walk(&bytes, &mut counts));
        }
    }
    let is_known = |lost: &str| {
        let parts: Vec<&str> = lost.splitn(3, ' ').collect();
        let [format, _, key] = parts[..] else { return false };
        KNOWN.iter().any(|row| format.starts_with(row.0) && key == row.1)
    };
    let unknown: Vec<String> = counts
        .lost
        .iter()
        .filter(|(lost, _)| !is_known(lost))
        .map(|(lost, count)| format!("{lost} ({count})"))
        .collect();
    assert!(formats.len() >= 30 && counts.all_read > 1_000 && counts.noted > 20 && counts.refused > 50);
    assert!(unknown.is_empty(), "{} lost without a word:\n{}", unknown.len(), unknown.join("\n"));
}
