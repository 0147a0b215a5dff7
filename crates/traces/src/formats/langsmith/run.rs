//! A run of `LangSmith`: its inputs and outputs, in the shapes of the libraries that were traced.

use std::cmp::Ordering;

use super::super::langchain::message::{Kind, Message, outcome};
use crate::formats::prelude::*;

/// A run of `LangSmith`, with the members that place it in its trace.
#[derive(Debug)]
pub(super) struct Run<'j> {
    pub(super) value: &'j Json,
    pub(super) id: Option<&'j str>,
    pub(super) parent: Option<&'j str>,
    pub(super) trace: Option<&'j str>,
    pub(super) name: &'j str,
    pub(super) start: Option<f64>,
    pub(super) end: Option<f64>,
    order: Option<&'j str>,
}

impl<'j> Run<'j> {
    /// Reads a run; `parent` is the id of the run that contains it, if it is nested.
    pub(super) fn new(value: &'j Json, parent: Option<&'j str>) -> Self {
        Self {
            value,
            id: value.text("id"),
            parent: value.text("parent_run_id").or(parent),
            trace: value.text("trace_id"),
            name: value.text("name").unwrap_or_default(),
            start: value.member("start_time").and_then(time),
            end: value.member("end_time").and_then(time),
            order: value.text("dotted_order"),
        }
    }

    /// Compares two runs by their `dotted_order`, then by their start times.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        // Runs with and without an order are separated first, so that the sort is consistent.
        let by_order = self.order.is_none().cmp(&other.order.is_none()).then(self.order.cmp(&other.order));
        by_order.then(self.start.unwrap_or_default().total_cmp(&other.start.unwrap_or_default()))
    }

    /// Whether the run is of this type, such as `llm` or `tool`.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.value.says("run_type", kind)
    }

    /// The duration of the run, in seconds.
    pub(super) fn seconds(&self) -> Option<f64> {
        Some(self.end? - self.start?)
    }

    /// The messages in the outputs of a run that is not of a model or a tool, if one of them is a reply.
    pub(super) fn messages(&self) -> Option<&'j [Json]> {
        let outputs = self.value.member("outputs").filter(|_| !self.is("llm") && !self.is("tool"))?;
        let messages =
            outputs.member("messages").or_else(|| outputs.below(&["output", "messages"])).map(Json::items)?;
        let is_reply = |message: &Json| ai(message).is_some() || message.says("role", "assistant");
        Some(messages).filter(|messages| messages.iter().any(is_reply))
    }

    /// The question to the run.
    pub(super) fn question(&self) -> Option<Content> {
        let inputs = self.value.member("inputs")?;
        if let Some(message) = inputs.list("messages").iter().find(|message| is_human(message)) {
            return data(message).map_or(message, |(_, data)| data).member("content").map(Content::from_json);
        }
        let keys = ["question", "query", "input", "text"];
        inputs.first_text(&keys).map(Content::of_text)
    }

    /// The messages of a request to a model: a list, or a list of lists.
    pub(super) fn request(&self) -> Vec<&'j Json> {
        let messages = self.value.member("inputs").map_or(&[][..], |inputs| inputs.list("messages"));
        match messages {
            [Json::Array(first), ..] => first.iter().collect(),
            flat => flat.iter().collect(),
        }
    }

    /// The message that a model replied with.
    pub(super) fn reply(&self) -> Option<&'j Json> {
        let outputs = self.value.member("outputs")?;
        let first = |list: &'j Json| match list {
            Json::Array(items) => items.first(),
            _ => None,
        };
        let generation = outputs.member("generations").and_then(first);
        let generation =
            generation.and_then(|it| if matches!(it, Json::Array(_)) { first(it) } else { Some(it) });
        generation
            .and_then(|generation| generation.member("message"))
            .or_else(|| outputs.member("message"))
            .or_else(|| outputs.member("choices").and_then(first).and_then(|choice| choice.member("message")))
            .or_else(|| outputs.member("output").filter(|it| ai(it).is_some()))
            .or_else(|| Some(outputs).filter(|it| it.says("role", "assistant") || ai(it).is_some()))
    }

    /// The model of a reply, from the most exact of the members that may name it.
    pub(super) fn model(&self, message: &Json) -> Option<String> {
        let about = ai(message).and_then(|data| data.member("response_metadata"));
        let name = about.and_then(|about| about.first(&["model_name", "model"]));
        let name = name.or_else(|| self.value.below(&["outputs", "model"]));
        let name = name.or_else(|| self.value.below(&["extra", "metadata", "ls_model_name"]));
        let name = name.or_else(|| self.value.below(&["extra", "invocation_params", "model"]));
        name.and_then(Json::as_str).map(str::to_owned)
    }

    /// The arguments of a tool's run; a Python literal instead of JSON stays text.
    pub(super) fn arguments(&self) -> Option<Json> {
        let inputs = self.value.member("inputs")?;
        match members(inputs) {
            [(key, text @ Json::String(written))]
                if key == "input" && written.trim_start().starts_with('{') =>
            {
                arguments(Some(text))
            }
            _ => arguments(Some(inputs)),
        }
    }
}

/// The members of a model's reply, in `LangChain`'s shape or with its calls in content blocks.
pub(super) fn ai(value: &Json) -> Option<&Json> {
    let blocks = || Message::of_blocks(value).map(|_| value);
    data(value).filter(|(kind, _)| *kind == Kind::Ai).map(|(_, data)| data).or_else(blocks)
}

/// Whether a value is a message of the user.
pub(super) fn is_human(value: &Json) -> bool {
    value.says("role", "user") || data(value).is_some_and(|(kind, _)| kind == Kind::Human)
}

/// The ids of the calls of a reply.
pub(super) fn call_ids(message: &Json) -> impl Iterator<Item = String> {
    let message = ai(message).unwrap_or(message);
    let lists = [message.list("tool_calls"), message.list("invalid_tool_calls"), message.list("content")];
    let given = message.member("additional_kwargs").map_or(&[][..], |given| given.list("tool_calls"));
    lists.into_iter().chain([given]).flatten().filter_map(|call| call_id(call.member("id")))
}

/// Whether a message has calls.
pub(super) fn has_calls(message: &Json) -> bool {
    let message = ai(message).unwrap_or(message);
    ["tool_calls", "invalid_tool_calls"].iter().any(|key| !message.list(key).is_empty())
        || call_ids(message).next().is_some()
}

/// The id of the call whose result a tool message holds, with the members of the message.
pub(super) fn tool_message(value: &Json) -> Option<(String, &Json)> {
    let data = match data(value) {
        Some((Kind::Tool, data)) => data,
        None if value.says("role", "tool") => value,
        _ => return None,
    };
    Some((call_id(data.member("tool_call_id"))?, data))
}

fn data(value: &Json) -> Option<(Kind, &Json)> {
    let message = Message::parse(value)?;
    match message.data {
        Cow::Borrowed(data) => Some((message.kind, data)),
        Cow::Owned(_) => None,
    }
}

/// The result of a run of a tool.
pub(super) fn tool_result(run: &Run<'_>) -> Outcome {
    let outputs = run.value.member("outputs");
    let output = outputs.map(|outputs| match members(outputs) {
        [(key, output)] if key == "output" => output,
        _ => outputs,
    });
    let message = output.and_then(data).filter(|(kind, _)| *kind == Kind::Tool).map(|(_, data)| data);
    let id = call_id(run.value.below(&["extra", "tool_call_id"]));
    let id = id.or_else(|| call_id(message.and_then(|message| message.member("tool_call_id"))));
    let mut outcome = match (message, output) {
        (Some(message), _) => outcome(id, message),
        (None, Some(value)) => Outcome::new(id, Some(super::super::langchain::message::result(value))),
        (None, None) => Outcome { id, ..Outcome::default() },
    };
    outcome.tool = Some(tool(None, run.name));
    outcome.seconds = run.seconds();
    if let Some(error) = run.value.text("error") {
        outcome.is_error = true;
        // The text before the stack trace is the error itself.
        let text = error.split("Traceback (most recent call last)").next().unwrap_or_default().trim();
        outcome.result = outcome.result.or_else(|| Some(string(text)));
    }
    outcome
}
