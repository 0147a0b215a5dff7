//! A sample of a log of `inspect_ai`: its messages, and from its events the facts that messages do not hold.

use super::attachments::Attachments;
use super::events::{Events, is_submit};
use super::message::{of_model, reply, result};
use crate::content::Media;
use crate::formats::prelude::*;
use crate::occurrences::Occurrences;

/// The facts that a log has once for all its samples.
#[derive(Debug)]
pub(super) struct Log {
    model: Option<String>,
    origin: Vec<(&'static str, String)>,
    has_epochs: bool,
}

impl Log {
    /// The facts of a header. `has_epochs` tells whether samples occur more than once; the header may say so, too.
    pub(super) fn new(header: &Json, has_epochs: bool) -> Self {
        let text = |key: &str| header.member("eval").and_then(|eval| eval.text(key)).map(str::to_owned);
        let keys = ["task", "eval_id", "run_id"];
        let epochs = header.below(&["eval", "config", "epochs"]).and_then(crate::fields::count);
        Self {
            // Tasks whose agents choose models themselves have no model here.
            model: text("model").filter(|model| !model.is_empty() && model != "none/none"),
            origin: keys.into_iter().filter_map(|key| Some((key, text(key)?))).collect(),
            has_epochs: has_epochs || epochs.is_some_and(|epochs| epochs > 1),
        }
    }

    /// The trajectory of a sample; with several epochs, its id has the epoch.
    pub(super) fn sample(&self, sample: &Json) -> Trace {
        let attachments = Attachments::new(sample);
        let events = Events::new(sample, &attachments);
        let mut it = Conversation::default();
        it.origin.clone_from(&self.origin);
        it.id = sample.id("id").map(|id| match sample.count("epoch") {
            Some(epoch) if self.has_epochs => format!("{id}~{epoch}"),
            _ => id,
        });
        let messages = sample.list("messages");
        if events.has_more_than(messages) {
            it.note("messages are not whole; calls are taken from events");
            events.main(&mut it, messages);
        } else {
            let mut pictures = Pictures::default();
            for message in messages {
                self::message(&mut it, &attachments.resolved(message), &events, &mut pictures);
            }
            pictures.give(&mut it);
        }
        ask(&mut it, sample.member("input"), &attachments);
        events.nested(&mut it, messages);
        it.model = self.model.clone().or(it.model);
        it.usage = usage(sample);
        answer(&mut it, sample, &attachments);
        times(&mut it, sample);
        end(&mut it, sample);
        if attachments.is_missing() {
            it.note("an attachment is missing");
        }
        it.finish()
    }
}

/// Adds a message, in which attachments are resolved.
fn message(it: &mut Conversation, message: &Json, events: &Events<'_>, pictures: &mut Pictures) {
    let content = Content::of_member(message, "content");
    match message.text("role") {
        Some("user") => match message.member("tool_call_id") {
            Some(ids) => pictures.add(ids, &content),
            None => it.user(content),
        },
        Some("assistant") => {
            let calls = message.list("tool_calls");
            for id in calls.iter().filter_map(|call| call_id(call.member("id"))) {
                pictures.calls.next(&id);
            }
            reply(it, message, message.text("id"), calls.iter());
        }
        Some("tool") => {
            let mut outcome = result(call_id(message.member("tool_call_id")), message, content);
            outcome.seconds = message.text("id").and_then(|id| events.seconds(id));
            it.result(outcome);
        }
        Some("system") => {}
        role => it.note_named("a message of role", role.unwrap_or("none"), "is left out"),
    }
}

/// Pictures that results had, in messages after them that name the calls.
#[derive(Debug, Default)]
struct Pictures {
    calls: Occurrences,
    /// The pictures, by the id of the call and the number of calls with this id so far.
    of: HashMap<(String, usize), Vec<Json>>,
}

impl Pictures {
    fn add(&mut self, ids: &Json, content: &Content) {
        let first = match ids {
            Json::Array(ids) => ids.first(),
            one => Some(one),
        };
        if let Some(id) = call_id(first) {
            let count = self.calls.count(&id);
            self.of.entry((id, count)).or_default().extend(content.media().map(Media::to_json));
        }
    }

    /// Joins the pictures to the results of their calls.
    fn give(mut self, it: &mut Conversation) {
        let mut calls = Occurrences::default();
        for call in it.calls_mut() {
            let Some(id) = call.id.clone() else { continue };
            let count = calls.next(&id);
            let Some(pictures) = self.of.remove(&(id, count)) else { continue };
            let mut parts = match call.result.take() {
                Some(Json::Array(parts)) => parts,
                Some(text) => vec![object([("type", string("text")), ("text", text)])],
                None => Vec::new(),
            };
            parts.extend(pictures);
            call.result = Some(Json::Array(parts));
        }
    }
}

/// Adds the question of the sample, if no message has one.
fn ask(it: &mut Conversation, input: Option<&Json>, attachments: &Attachments<'_>) {
    let Some(input) = input.filter(|_| !it.has_question()).map(|input| attachments.resolved(input)) else {
        return;
    };
    match &input {
        Json::Array(messages) => {
            for message in messages.iter().filter(|message| message.says("role", "user")) {
                it.user(Content::of_member(message, "content"));
            }
        }
        text => it.user(Content::from_json(text)),
    }
}

/// The answer is the sample's output, unless its last message has calls.
fn answer(it: &mut Conversation, sample: &Json, attachments: &Attachments<'_>) {
    let assistant = |message: &&Json| message.says("role", "assistant");
    let last = sample.list("messages").iter().rev().find(assistant);
    let is_call = |message: &Json| message.list("tool_calls").iter().any(|call| !is_submit(call));
    if last.is_some_and(is_call) {
        it.answer = Answer::Stated(None);
        return;
    }
    let Some(output) = sample.member("output") else { return };
    let message = output.list("choices").first().and_then(|choice| choice.member("message"));
    let content = message.and_then(|message| message.member("content"));
    let completion =
        output.text("completion").filter(|text| !text.is_empty()).map(|text| attachments.text(text));
    let text = completion.or_else(|| Some(Content::from_json(&attachments.resolved(content?)).text()));
    if let Some(text) = text.filter(|text| !text.is_empty()) {
        it.answer = Answer::Stated(Some(text));
    }
}

/// Tokens of all models.
fn usage(sample: &Json) -> Usage {
    let mut all = Usage::default();
    for (_, usage) in sample.member("model_usage").map_or(&[][..], members) {
        all.add(of_model(usage));
    }
    all
}

/// Sets the time from the sample's beginning to its end.
fn times(it: &mut Conversation, sample: &Json) {
    let began = sample.member("started_at").and_then(time);
    let total = sample.number("total_time").map(|total| began.unwrap_or_default() + total);
    let ended = total.or_else(|| sample.member("completed_at").and_then(time));
    it.at(began.or_else(|| total.map(|_| 0.0)));
    it.at(ended);
}

/// Adds how the sample ended, and the values of its scorers.
fn end(it: &mut Conversation, sample: &Json) {
    if sample.has("error") {
        it.note("the sample ended with an error");
    }
    for _ in sample.list("error_retries") {
        it.note("an attempt at the sample ended with an error and was made again");
    }
    let limit = sample.text_below(&["limit", "type"]);
    it.origin.extend(limit.map(|limit| ("limit", limit.to_owned())));
    it.origin.extend(sample.text("uuid").map(|uuid| ("uuid", uuid.to_owned())));
    let scores = sample.member("scores").map_or(&[][..], members).iter();
    let scores: Vec<(String, Json)> =
        scores.filter_map(|(name, score)| Some((name.clone(), score.member("value")?.clone()))).collect();
    if !scores.is_empty() {
        it.origin.push(("scores", Json::Object(scores).to_plain_text()));
    }
}
