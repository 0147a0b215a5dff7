//! The members of a record, or the columns of a table, that hold calls, the id, the question and the answer. Names are
//! compared without case and punctuation.

use super::calls::CallsReading;
use crate::fields::{id, names, plain};
use crate::formats::prelude::*;
use crate::literal::literal;

/// Whose calls a member holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Whose {
    /// Those that should be made.
    Expected,
    /// Those that a model made.
    Made,
    /// The name does not say.
    Unsaid,
}

/// Words before or after the noun that say that calls should be made.
const EXPECTED: &[&str] = names![
    correct desired expected gold golden groundtruth gt ideal label labeled reference required solution target
];

/// Those of them that name calls without a noun, if their values are calls. Others also name labels and accepted values.
const ALONE: &[&str] = &["expected", "gold", "golden", "groundtruth", "ideal", "reference", "solution"];

/// Words before or after the noun that say that a model made the calls.
const MADE: &[&str] = &["actual", "called", "executed", "invoked", "made", "observed", "predicted", "used"];

/// Nouns that name calls without any other word.
const CALLS: &[&str] = names![
    calls functioncall functioncalls toolcall toolcalls toolpath toolsequence tooltrajectory tooluse tooluses
];

/// Nouns that name calls together with a word of [`EXPECTED`] or [`MADE`]. Alone, they mostly name what is offered.
const TOOLS: &[&str] = names![
    action actions call function functionname functions steps tool toolname toolnames tools trajectory
];

/// Nouns that name calls only if their values are calls; they may as well name prose.
const MAYBE: &[&str] = &["action", "actions", "steps", "trajectory"];

/// Nouns for one call, whose arguments stand in a member of their own.
const ONE: &[&str] = &["action", "call", "function", "functionname", "tool", "toolname"];

/// Nouns for the arguments of a call.
const ARGUMENTS: &[&str] = names![
    args arguments functionargs functionarguments inputparameters kwargs parameters params toolargs
    toolarguments toolinput toolparameters toolparams
];

/// Names of the id, the surest first.
const IDS: &[&str] = names![
    id taskid caseid testid testcaseid sampleid exampleid questionid queryid itemid rowid uid uuid qid case
    testcase scenario key number name title
];

/// Those of them that only tasks have.
const TASK_IDS: &[&str] = names![
    id taskid caseid testid testcaseid sampleid exampleid questionid queryid qid case testcase scenario
];

/// Names of the question, the surest first.
const QUESTIONS: &[&str] = names![
    question query userquery userinput usermessage userprompt prompt input inputs instruction request
    userrequest utterance task goal text
];

/// Names of the answer that should be given, or that a model gave.
const EXPECTED_ANSWERS: &[&str] = names![
    expectedoutput expectedanswer expectedresponse referenceanswer referenceoutput goldanswer answer
    finalanswer finalreply
];
const MADE_ANSWERS: &[&str] =
    &["actualoutput", "actualanswer", "finalreply", "finalanswer", "answer", "output", "response"];

/// Names of the type of the task.
const TYPES: &[&str] = &["tasktype", "category", "type"];

/// Names of the step that a row with one call belongs to.
const STEPS: &[&str] = &["step", "stepid", "stepnumber", "turn", "order"];

/// Names of the server of a tool.
const SERVERS: &[&str] = &["server", "servername", "mcpserver"];

/// A member with calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallsMember<'j> {
    pub(super) key: &'j str,
    pub(super) value: &'j Json,
    pub(super) whose: Whose,
    /// Whether the member names one call, with its arguments beside it.
    pub(super) is_one: bool,
    /// Whether the name alone says that there are calls.
    is_named: bool,
}

impl<'j> CallsMember<'j> {
    /// The members with calls, of each kind the first: what should be called, what was called, what is only named.
    pub(super) fn all(record: &'j Json) -> Vec<Self> {
        let mut all: Vec<Self> =
            members(record).iter().filter_map(|(key, value)| Self::new(record, key, value)).collect();
        // A member without a value says less than one with calls.
        all.sort_by_key(|member| (member.whose, is_empty(member.value), !member.is_named));
        all.dedup_by_key(|member| member.whose);
        all
    }

    /// The member that says most.
    pub(super) fn find(record: &'j Json) -> Option<Self> {
        Self::all(record).into_iter().next()
    }

    fn new(record: &'j Json, key: &'j str, value: &'j Json) -> Option<Self> {
        // What was not run yet made no calls.
        if *value == Json::Null && MADE.iter().any(|word| plain(key).contains(word)) {
            return None;
        }
        // A number or a flag counts calls.
        if matches!(value, Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) | Json::Bool(_)) {
            return None;
        }
        let name = plain(key);
        let member = |whose, is_one, is_named| Some(Self { key, value, whose, is_one, is_named });
        let maybe = |whose| {
            let are_calls = CallsReading::new(value).are_whole();
            (are_calls || is_empty(value)).then(|| member(whose, false, are_calls)).flatten()
        };
        for (words, whose) in [(EXPECTED, Whose::Expected), (MADE, Whose::Made)] {
            match words.iter().find_map(|word| noun_beside(&name, word)) {
                Some(noun) if MAYBE.contains(&noun) => return maybe(whose),
                Some(noun) => return member(whose, ONE.contains(&noun), true),
                // `{"expected": [{"name": .., "arguments": ..}]}`
                None if ALONE.contains(&&*name) && words.contains(&&*name) && holds_whole_calls(value) => {
                    return member(whose, false, true);
                }
                None => {}
            }
        }
        match () {
            () if CALLS.contains(&&*name) => member(Whose::Unsaid, false, true),
            // An event has one `action`, a task has several.
            () if MAYBE.contains(&&*name) && !ONE.contains(&&*name) => maybe(Whose::Unsaid),
            () if is_name_of_one(record, &name, value) => {
                member(Whose::Unsaid, true, has_any(record, IDS) || has_any(record, QUESTIONS))
            }
            () => None,
        }
    }

    /// Whether a file with such a record has this format. Where the name does not say whose calls these are, the record has to
    /// be a task: logs have the calls of each step in a record.
    pub(super) fn is_sure(self, record: &Json) -> bool {
        // Where nothing is listed, only the name of what is expected says that nothing should be called.
        let is_filled =
            !is_empty(self.value) || (self.whose == Whose::Expected && matches!(self.value, Json::Array(_)));
        let is_task = self.whose != Whose::Unsaid || has_any(record, TASK_IDS) || question(record).is_some();
        self.is_named && is_filled && is_task
    }
}

/// Whether a member names one call: with its arguments, or its step, beside it. A record with a result is one of a log.
fn is_name_of_one(record: &Json, name: &str, value: &Json) -> bool {
    let is_tool = ["functionname", "tool", "toolname"].contains(&name);
    let is_log = || ["result", "output", "error"].iter().any(|key| record.has(key));
    let is_text = value.as_str().is_some();
    is_text && is_tool && !is_log() && (has_any(record, STEPS) || arguments(record, Whose::Unsaid).is_some())
}

/// Whether a value is a list of calls with arguments. Tools that are offered have a schema in the place
/// of arguments.
pub(super) fn holds_whole_calls(value: &Json) -> bool {
    let is_schema = |arguments: &Json| ["type", "properties", "$schema"].iter().any(|key| arguments.has(key));
    let is_whole = |call: &TracedCall| call.arguments.as_ref().is_some_and(|arguments| !is_schema(arguments));
    let is_list =
        !value.items().is_empty() && value.items().iter().all(|item| matches!(item, Json::Object(_)));
    let reading = if is_list { CallsReading::new(value) } else { CallsReading::default() };
    reading.are_whole() && reading.steps.iter().flatten().all(is_whole)
}

/// The noun that a word stands before or after.
fn noun_beside<'n>(name: &'n str, word: &str) -> Option<&'n str> {
    let is_noun = |noun: &&str| CALLS.contains(noun) || TOOLS.contains(noun);
    [name.strip_prefix(word), name.strip_suffix(word)].into_iter().flatten().find(is_noun)
}

/// Whether a table with these columns has one with calls: one whose name says whose they are, or one beside an id or a
/// question.
pub(super) fn has_column_of_calls(names: &[String]) -> bool {
    let row = Json::Object(names.iter().map(|name| (name.clone(), Json::String("x".to_owned()))).collect());
    let is_task = has_any(&row, IDS) || has_any(&row, QUESTIONS);
    CallsMember::all(&row).iter().any(|member| member.is_named && (is_task || member.whose != Whose::Unsaid))
}

/// Whether a value holds nothing.
pub(super) fn is_empty(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::String(text) => text.trim().is_empty(),
        Json::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// The arguments that stand beside the name of a call: those whose name says whose they are, else plain ones.
pub(super) fn arguments(record: &Json, whose: Whose) -> Option<&Json> {
    let words = match whose {
        Whose::Expected => EXPECTED,
        Whose::Made => MADE,
        Whose::Unsaid => &[],
    };
    let is_behind = |name: &str| {
        words.iter().any(|word| name.strip_prefix(word).is_some_and(|noun| ARGUMENTS.contains(&noun)))
    };
    let with_name = |is_one: &dyn Fn(&str) -> bool| {
        let mut all = members(record).iter();
        all.find(|(key, value)| *value != Json::Null && is_one(&plain(key))).map(|(_, value)| value)
    };
    // Beside a call that was made, plain arguments are those of that call.
    let is_of_other = whose == Whose::Expected
        && members(record)
            .iter()
            .any(|(key, value)| value.as_str().is_some() && ["tool", "toolname"].contains(&&*plain(key)));
    let plain_ones = || with_name(&|name| ARGUMENTS.contains(&name));
    with_name(&is_behind).or_else(|| if is_of_other { None } else { plain_ones() })
}

/// The first member with one of these names that holds something.
fn first<'j>(record: &'j Json, names: &[&str]) -> Option<&'j Json> {
    let with_name = |name: &&str| {
        members(record)
            .iter()
            .find(|(key, value)| plain(key) == **name && !is_empty(value))
            .map(|(_, value)| value)
    };
    names.iter().find_map(with_name)
}

fn has_any(record: &Json, names: &[&str]) -> bool {
    first(record, names).is_some()
}

/// The id of a record.
pub(super) fn record_id(record: &Json) -> Option<String> {
    IDS.iter().find_map(|name| first(record, &[*name]).and_then(id)).map(|id| id.trim().to_owned())
}

/// The question of a record: a text, the text in an object, or the first message of the user.
pub(super) fn question(record: &Json) -> Option<Content> {
    let value = first(record, QUESTIONS).or_else(|| record.member("messages"))?;
    match value {
        // A cell of a table may hold the messages.
        Json::String(text) if text.starts_with("[{") => match literal(text) {
            Some(Json::Array(messages)) => {
                question(&Json::Object(vec![("input".to_owned(), Json::Array(messages))]))
            }
            _ => Some(Content::of_text(text)),
        },
        Json::String(text) => Some(Content::of_text(text)),
        Json::Array(messages) => {
            let is_user = |message: &&Json| {
                role(message)
                    .or_else(|| message.text("type"))
                    .is_some_and(|it| matches!(it, "user" | "human"))
            };
            messages.iter().find(is_user)?.member("content").map(Content::from_json)
        }
        inner => first(inner, QUESTIONS).and_then(Json::as_str).map(Content::of_text).or_else(|| {
            let messages = inner.member("messages")?.clone();
            question(&Json::Object(vec![("input".to_owned(), messages)]))
        }),
    }
}

/// The answer that should be given, or that a model gave.
pub(super) fn answer(record: &Json, whose: Whose) -> Option<String> {
    let names = if whose == Whose::Expected { EXPECTED_ANSWERS } else { MADE_ANSWERS };
    first(record, names).and_then(Json::as_str).map(str::to_owned)
}

/// The type of the task.
pub(super) fn task_type(record: &Json) -> Option<String> {
    first(record, TYPES).and_then(Json::as_str).map(str::to_owned)
}

/// The task's image, as m3's own files name it.
pub(super) fn image(record: &Json) -> Option<(String, Json)> {
    record.text("image").map(|image| ("image".to_owned(), Json::String(image.to_owned())))
}

/// The server of the one tool that a row names.
pub(super) fn server(record: &Json) -> Option<&str> {
    first(record, SERVERS).and_then(Json::as_str).map(str::trim)
}

/// The step that a row with one call belongs to.
pub(super) fn step(record: &Json) -> Option<String> {
    first(record, STEPS).and_then(id)
}
