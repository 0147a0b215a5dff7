//! Calls in JSON of no other format: what can only be a call or a result, by its members and types, in the order of the
//! file. Logs tell of a call several times, so only calls with ids are read, and each once.

use crate::call_shapes::{CallShape, call, objects, outcome, part_type, shape_of_member, shape_of_type};
use crate::call_signs::{OTHER, is_written_call};
use crate::conversation_rows::CONVERSATIONS;
use crate::fields::{id, plain};
use crate::formats::prelude::*;
use crate::head::is_report;
use crate::input::LONGEST;

/// Its name.
pub(crate) const NAME: &str = "signs";

/// The format that is tried after all others.
pub(super) const FORMAT: Format = Format {
    name: NAME,
    title: "JSON of any other program: what can only be calls and results, in the order of the file",
    recognizes: |head| {
        head.is_json() && !head.records().any(is_report) && head.records().any(|record| read_record(record).1)
    },
    read,
};

/// What is said of every such file.
const UNSURE: &str = "the format is not known: calls with a name and an id were read, each once; look whether they, their \
    steps, the question and the answer are right";

/// What is said of calls that nothing tells from a second report of another one.
const WITHOUT_ID: &str = "a call without an id is left out";

/// What is said of calls that are written with their results.
const ALONE: &str =
    "a call with its result is a step of its own: whether others were made at once is not known";

/// Members with the question, and with the answer, the surest first.
const QUESTIONS: [&str; 7] = ["question", "query", "prompt", "user_input", "input_content", "task", "input"];
const ANSWERS: [&str; 7] =
    ["final_answer", "final_output", "answer", "output", "response", "content", "text"];

/// The deepest member that is looked into.
const DEEPEST: usize = 64;

/// A conversation in the records of a file, and whether it has calls.
#[derive(Default)]
struct Reading {
    it: Conversation,
    has_calls: bool,
    /// The text of the model that is not followed by a call.
    last_text: Option<String>,
    /// The messages so far by author and text: logs and states repeat them.
    messages: HashSet<(bool, String)>,
    /// The first call of the list that a call stands in, by its id.
    lists: HashMap<String, String>,
    /// That of the last call.
    last_list: Option<String>,
}

/// The records of one trajectory.
#[derive(Default)]
struct Run<'r> {
    /// What the records call their conversation, if they do.
    name: Option<String>,
    line: Option<u64>,
    records: Vec<&'r Json>,
}

/// Reads a file. A record belongs to the run that has one of its calls or the name of its conversation; else it begins a
/// run, if it has a question and calls; else it belongs to the run before.
fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    // Runs are told by calls and names anywhere in the file, so all of it is in memory.
    if input.source.length() > LONGEST {
        return Err(ReadError::refused(
            "JSON of an unknown program is read up to 256 MB; split it, or export one of the formats of docs/import.md",
        ));
    }
    sink.warn(None, UNSURE);
    let mut records = Vec::new();
    input.values(sink, |_, record| {
        match record.value {
            Json::Array(items) => records.extend(items.into_iter().map(|item| (record.line, item))),
            value => records.push((record.line, value)),
        }
        Ok(())
    })?;
    let mut runs: Vec<Run<'_>> = Vec::new();
    let (mut by_name, mut by_call) = (HashMap::new(), HashMap::new());
    for (line, record) in &records {
        let (mut it, has_calls) = read_record(record);
        let name = record.first(CONVERSATIONS).and_then(id);
        let calls: Vec<String> = it.calls_mut().filter_map(|call| call.id.clone()).collect();
        let begins = runs.is_empty() || name.is_some() || has_calls && it.has_question();
        let known =
            calls.iter().find_map(|id| by_call.get(id)).or_else(|| by_name.get(name.as_ref()?)).copied();
        let place = known.unwrap_or(if begins { runs.len() } else { runs.len() - 1 });
        if place == runs.len() {
            runs.push(Run { name: name.clone(), line: *line, records: Vec::new() });
        }
        runs[place].records.push(record);
        by_name.extend(name.map(|name| (name, place)));
        by_call.extend(calls.into_iter().map(|id| (id, place)));
    }
    let is_one = runs.len() == 1;
    for (index, run) in (0..).zip(runs) {
        let mut all = Reading { lists: lists_of_calls(&run.records), ..Reading::default() };
        run.records.iter().for_each(|record| all.add(record, "", 0));
        // What stands before the first call of a log is no run of its own.
        if !all.has_calls && !is_one {
            continue;
        }
        let mut it = all.finish(run.records.last().copied());
        let at = At { index: Some(index), line: run.line };
        it.id = if is_one { run.name } else { at.id(run.name.or_else(|| run.records[0].id("id"))) };
        sink.trace(run.line.filter(|_| !is_one), it.finish())?;
    }
    Ok(())
}

fn read_record(record: &Json) -> (Conversation, bool) {
    let mut reading = Reading::default();
    reading.add(record, "", 0);
    let has_calls = reading.has_calls;
    (reading.finish(Some(record)), has_calls)
}

/// The first call of the list that each call stands in with others, by the call's id: calls of one list were made at once,
/// even if their results stand elsewhere. The shortest list counts, as a longer one may be of the whole run: a call that stands
/// in such a one and alone, as its first call never does, belongs to no other.
fn lists_of_calls(records: &[&Json]) -> HashMap<String, String> {
    let (mut shortest, mut alone) = (HashMap::<String, (usize, String)>::new(), HashSet::new());
    let mut queue: Vec<(&Json, usize)> = records.iter().map(|record| (*record, 0)).collect();
    while let Some((value, depth)) = queue.pop() {
        let inner = value.items().iter().chain(members(value).iter().map(|(_, inner)| inner));
        queue.extend(inner.filter(|_| depth < DEEPEST).map(|inner| (inner, depth + 1)));
        let ids: Vec<Option<String>> = value.items().iter().map(call_id).collect();
        for list in ids.split(Option::is_none) {
            let length = list.len();
            let Some(first) = list.iter().flatten().next() else { continue };
            if length == 1 {
                alone.insert(first.clone());
                continue;
            }
            for id in list.iter().flatten() {
                let known = shortest.entry(id.clone()).or_insert_with(|| (length, first.clone()));
                if length < known.0 {
                    *known = (length, first.clone());
                }
            }
        }
    }
    let is_of_run = |id: &String, length: usize, first: &String| {
        alone.contains(id)
            && !alone.contains(first)
            && shortest.get(first).is_some_and(|other| other.0 < length)
    };
    let list = |(id, (length, first)): (&String, &(usize, String))| {
        (id.clone(), if is_of_run(id, *length, first) { id.clone() } else { first.clone() })
    };
    shortest.iter().map(list).collect()
}

/// The id of a call; `None` for anything else.
fn call_id(value: &Json) -> Option<String> {
    let is_result =
        part_type(value).and_then(shape_of_type) == Some(CallShape::Outcome) || role(value) == Some("tool");
    if is_result { None } else { call(value)?.id }
}

/// The author of a message, in lower case: its role under any name that begins so, else its type (`UserMessage`), its source, or
/// the class of an object that was written with its class.
fn author(value: &Json) -> String {
    let named = |key: &str| value.text(key);
    let role_by_prefix = || {
        let all = members(value).iter();
        all.filter(|(key, _)| key.starts_with("role")).find_map(|(_, value)| value.as_str())
    };
    let class = || value.member("id")?.items().last()?.as_str();
    let author = role(value)
        .or_else(role_by_prefix)
        .or_else(|| part_type(value).filter(|kind| *kind != "constructor"));
    let author = author.or_else(|| named("source")).or_else(class).unwrap_or_default().to_lowercase();
    let author = author.strip_suffix("chunk").unwrap_or(&author);
    author.strip_suffix("message").unwrap_or(author).to_owned()
}

impl Reading {
    fn add(&mut self, value: &Json, holder: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        match value {
            // `["user", "text"]`.
            Json::Array(items) => match &items[..] {
                [Json::String(role), Json::String(text)] => self.message(role, text),
                _ => items.iter().for_each(|item| self.add(item, holder, depth + 1)),
            },
            Json::Object(_) => self.object(value, holder, depth),
            _ => {}
        }
    }

    fn object(&mut self, value: &Json, holder: &str, depth: usize) {
        let shape = part_type(value).and_then(shape_of_type).or_else(|| shape_of_member(holder));
        let is_result = shape == Some(CallShape::Outcome) || role(value) == Some("tool");
        let read =
            if is_result { None } else { call(value).filter(|_| shape.is_some() || is_written_call(value)) };
        if let Some(read) = read {
            return self.call(read);
        }
        let result = outcome(value);
        if is_result && result.id.is_some() && result.result.is_some() {
            if result.id.as_ref().is_some_and(|id| self.it.has_call(id) && !self.it.has_result(id)) {
                self.it.result(result);
            }
            return;
        }
        let role = author(value);
        let written = value.member("kwargs").unwrap_or(value);
        for text in ["content", "text"].iter().filter_map(|key| written.text(key)) {
            self.message(&role, text);
        }
        for (key, inner) in members(value).iter().filter(|(key, _)| !OTHER.contains(&&*plain(key))) {
            match inner {
                Json::String(_) if shape_of_member(key).is_some() => {
                    for inner in objects(inner) {
                        self.add(&inner, key, depth + 1);
                    }
                }
                // The parts of a message are texts of its author.
                Json::Array(parts) if !role.is_empty() && matches!(&**key, "content" | "parts") => {
                    for part in parts {
                        match part.text("text").filter(|_| part_type(part).and_then(shape_of_type).is_none())
                        {
                            Some(text) => self.message(&role, text),
                            None => self.add(part, key, depth + 1),
                        }
                    }
                }
                inner => self.add(inner, key, depth + 1),
            }
        }
    }

    /// Adds a call once; a later report of it may know more.
    fn call(&mut self, call: TracedCall) {
        let Some(id) = call.id.clone() else { return self.it.note(WITHOUT_ID) };
        self.has_calls = true;
        if !self.it.has_call(&id) {
            self.last_text = None;
            let is_alone = call.result.is_some();
            let list = self.lists.get(&id).cloned();
            if is_alone {
                self.it.note(ALONE);
            }
            if is_alone || list != self.last_list {
                self.it.end_reply();
            }
            self.last_list = list;
            self.it.reply(None);
            self.it.call(call);
            if is_alone {
                self.it.end_reply();
            }
            return;
        }
        if let Some(result) = call.result.clone().filter(|_| !self.it.has_result(&id)) {
            self.it
                .result(Outcome { is_error: call.is_error, ..Outcome::new(Some(id.clone()), Some(result)) });
        }
        // A stream tells the beginning of the arguments first.
        let is_more = |known: &TracedCall| {
            matches!(&known.arguments, None | Some(Json::String(_)))
                || known.arguments.as_ref().is_some_and(|known| members(known).is_empty())
        };
        let known = self.it.call_with_id(&id);
        if let Some(known) = known.filter(|known| is_more(known)) {
            known.arguments = call.arguments.or(known.arguments.take());
        }
    }

    fn message(&mut self, role: &str, text: &str) {
        let is_new =
            !text.is_empty() && self.messages.insert((matches!(role, "user" | "human"), text.to_owned()));
        match role {
            _ if !is_new => {}
            "user" | "human" => {
                // The first question may stand behind the replies.
                self.last_text = self.last_text.take().filter(|_| !self.it.has_question());
                self.it.user(Content::of_text(text));
            }
            "assistant" | "ai" | "model" | "agent" => {
                self.last_text = Some(text.to_owned());
            }
            _ => {}
        }
    }

    fn finish(mut self, last: Option<&Json>) -> Conversation {
        let text = |record: &Json, keys: &[&str]| record.first_text(keys).map(str::to_owned);
        if let Some(question) =
            last.and_then(|last| text(last, &QUESTIONS)).filter(|_| !self.it.has_question())
        {
            self.it.user(Content::of_text(&question));
        }
        // What a tool returned or the user wrote is no answer.
        let is_of_other = |last: &&Json| {
            let author = role(last).or_else(|| part_type(last)).unwrap_or_default();
            matches!(author, "user" | "human" | "tool") || shape_of_type(author) == Some(CallShape::Outcome)
        };
        let stated = last.filter(|last| !is_of_other(last)).and_then(|last| text(last, &ANSWERS));
        self.it.answer = Answer::Stated(self.last_text.or(stated));
        self.it
    }
}

#[cfg(test)]
mod tests;
