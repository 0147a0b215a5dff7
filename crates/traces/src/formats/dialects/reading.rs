//! A message that is being read: its parts, its calls and its results.

use m3_trajectory::json::Keys;

use super::{Author, text_calls};
use crate::call_shapes::{CallShape, call, objects, outcome, part_type, shape_of_member, shape_of_type};
use crate::fields::plain;
use crate::formats::prelude::*;

/// Types of parts that hold neither content nor calls.
const SILENT: [&str; 7] =
    ["instructions", "reasoning", "redacted_thinking", "snapshot", "system-prompt", "thinking", "thought"];

/// A message that is being read.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each says another thing of the message")]
pub(super) struct MessageReading {
    /// Its calls by ids, tools and arguments: some programs write a call as a part and as a member.
    known: HashSet<String>,
    /// Whether members of the message are read, after its parts.
    is_member: bool,
    /// Results that wait until all calls that were made together are there.
    outcomes: Vec<Outcome>,
    /// Whether it holds results.
    has_results: bool,
    /// Whether its calls stand apart from its texts, which then only tell of them.
    has_calls_apart: bool,
    /// Whether it is one of several events, which may report a call again.
    is_event: bool,
    /// Whether the client's results stand among its parts: then what follows is another reply.
    is_divided: bool,
    /// Whether calls have their results beside them: then the next message is another reply.
    is_closed: bool,
}

impl MessageReading {
    /// Begins a message; `has_calls_apart` says whether members of it hold calls.
    pub(super) fn new(is_event: bool, has_calls_apart: bool) -> Self {
        Self { has_calls_apart, is_event, ..Self::default() }
    }

    /// Whether it holds results.
    pub(super) fn has_results(&self) -> bool {
        self.has_results || !self.outcomes.is_empty()
    }

    /// Whether it holds calls.
    pub(super) fn has_calls(&self) -> bool {
        !self.known.is_empty()
    }

    pub(super) fn add_outcome(&mut self, outcome: Outcome) {
        self.outcomes.push(outcome);
    }

    /// Reads the calls and results in members that are named like them.
    pub(super) fn members<'j>(
        &mut self,
        conversation: &mut Conversation,
        author: Author,
        all: impl Iterator<Item = &'j (String, Json)>,
    ) {
        self.is_member = true;
        for (key, value) in all {
            match shape_of_member(key) {
                // The user of a simulation has tools of its own.
                Some(CallShape::Call) if author == Author::User => {
                    for _ in objects(value) {
                        conversation.note("a call of the user is left out");
                    }
                }
                Some(CallShape::Call) => {
                    for value in objects(value) {
                        self.call(conversation, &value);
                    }
                }
                Some(CallShape::Outcome) => self.outcomes.extend(objects(value).iter().map(outcome)),
                None => {}
            }
        }
    }

    /// Reads the parts of a message, or its text.
    pub(super) fn parts(&mut self, conversation: &mut Conversation, content: &Json, author: Author) {
        let mut own = Content::default();
        let list = items_or_one(content);
        self.has_calls_apart |=
            list.iter().flat_map(shapes_of_part).any(|(shape, _)| shape == CallShape::Call);
        for part in list {
            let shapes = shapes_of_part(part);
            if shapes.is_empty() {
                self.other(conversation, &mut own, part, author);
            }
            for (shape, value) in shapes {
                if shape == CallShape::Call {
                    self.say(conversation, &mut own, author);
                    if author == Author::Model && self.is_divided {
                        self.end_round(conversation);
                    }
                    self.call(conversation, &value);
                } else {
                    // The id of a result may stand outside of the member that holds it.
                    let (outer, inner) = (outcome(part), outcome(&value));
                    let is_error = inner.is_error || outer.is_error;
                    // What the provider runs is done before the reply goes on.
                    let kind = part_type(part).map(plain).unwrap_or_default();
                    self.is_divided |=
                        !["builtin", "server", "search"].iter().any(|word| kind.contains(word));
                    self.outcomes.push(Outcome { id: inner.id.or(outer.id), is_error, ..inner });
                }
            }
        }
        match author {
            Author::Model => self.say(conversation, &mut own, author),
            Author::User if !own.is_empty() => {
                // Results belong to the calls before what the user says next.
                self.give_results(conversation);
                asked(conversation, own);
            }
            _ => {}
        }
    }

    /// Gives what the model says, in its place among the calls. A text after results begins another reply.
    fn say(&mut self, conversation: &mut Conversation, own: &mut Content, author: Author) {
        let text = std::mem::take(own).joined_text();
        if author != Author::Model || text.is_empty() {
            return;
        }
        self.end_round(conversation);
        if self.has_calls_apart {
            conversation.say(&text);
        } else {
            text_calls::add(conversation, &text);
        }
    }

    /// Ends the reply if results stand before what follows: the model made that in another reply.
    fn end_round(&mut self, conversation: &mut Conversation) {
        self.is_divided = false;
        if self.is_closed || !self.outcomes.is_empty() {
            self.give_results(conversation);
            conversation.new_reply();
        }
    }

    /// Reads a part that is neither a call nor a result: content, the end of a reply, or an unknown one.
    fn other(&mut self, conversation: &mut Conversation, own: &mut Content, part: &Json, author: Author) {
        let before = own.parts.len();
        let kind = part_type(part);
        if kind.is_some_and(|kind| SILENT.contains(&kind)) {
            return;
        }
        // What opencode adds to a question by itself.
        if part.is("synthetic") {
            return;
        }
        own.add(part);
        let kind = kind.or_else(|| members(part).first().map(|(key, _)| key.as_str()));
        match kind {
            Some("step-start" | "step-finish" | "step_start" | "step_finish") => {
                self.say(conversation, own, author);
                self.give_results(conversation);
                conversation.end_reply();
            }
            Some(kind) if own.parts.len() == before && !SILENT.contains(&kind) => {
                conversation.note_named("a block of type", kind, "is left out");
            }
            _ => {}
        }
    }

    pub(super) fn call(&mut self, conversation: &mut Conversation, value: &Json) {
        let Some(call) = call(value) else {
            return conversation.note("a call that names no tool is left out");
        };
        let arguments = call.arguments.as_ref().map(|arguments| arguments.to_text(Keys::AsRead));
        let is_new = self.known.insert(format!("{:?} {} {arguments:?}", call.id, call.tool));
        // Two equal calls without ids are two, unless one of them is a part and the other a member.
        if !is_new && (call.id.is_some() || self.is_member) {
            return;
        }
        if self.is_event && conversation.is_waiting_call(&call) {
            // The event that ends a call repeats it.
            if let Some(result) = call.result {
                let (id, is_error) = (call.id, call.is_error);
                self.outcomes.push(Outcome { is_error, ..Outcome::new(id, Some(result)) });
            }
            return;
        }
        if call.arguments.is_none() {
            conversation.note("a call has no arguments in the file");
        }
        self.is_closed |= call.result.is_some();
        conversation.call(call);
    }

    pub(super) fn give_results(&mut self, conversation: &mut Conversation) {
        self.has_results |= !self.outcomes.is_empty();
        conversation.results(self.outcomes.drain(..));
        if std::mem::take(&mut self.is_closed) {
            conversation.end_reply();
        }
    }
}

/// The calls among the parts of a content.
pub(in crate::formats) fn calls_in_parts(parts: &[Json]) -> impl Iterator<Item = TracedCall> {
    let calls = parts.iter().flat_map(shapes_of_part).filter(|(shape, _)| *shape == CallShape::Call);
    calls.filter_map(|(_, value)| call(&value))
}

/// The calls and results in a part, by its type or by its members.
fn shapes_of_part(part: &Json) -> Vec<(CallShape, Json)> {
    let kind = part_type(part);
    match kind.and_then(shape_of_type) {
        Some(CallShape::Call) if call(part).is_some() => return vec![(CallShape::Call, part.clone())],
        Some(CallShape::Outcome) => return vec![(CallShape::Outcome, part.clone())],
        // A call without a type: `{"id": .., "name": .., "arguments": ..}`.
        None if kind.is_none() && part.has("name") && part.has("arguments") => {
            return vec![(CallShape::Call, part.clone())];
        }
        // Its result: `{"call_id": .., "name": .., "content": ..}`.
        None if kind.is_none() && part.first(&["call_id", "tool_call_id"]).is_some() => {
            return vec![(CallShape::Outcome, part.clone())];
        }
        _ => {}
    }
    let held = |(key, value): &(String, Json)| {
        let shape = shape_of_member(key);
        shape.map(|shape| objects(value).into_iter().map(move |value| (shape, value)))
    };
    members(part).iter().filter_map(held).flatten().collect()
}

/// A text of the user, in which results may stand between tags, or which is what a call in a text came to.
fn asked(conversation: &mut Conversation, content: Content) {
    let text = content.text();
    if std::mem::take(&mut conversation.in_texts.awaits_observation) {
        return conversation.result(Outcome::new(None, Some(content.to_json())));
    }
    if !text.trim_start().starts_with("<tool_response>") {
        return conversation.user(content);
    }
    for result in text.split("<tool_response>").skip(1) {
        let result = result.split("</tool_response>").next().unwrap_or_default().trim();
        conversation.result(Outcome::new(None, Some(string(result))));
    }
}
