//! Results are joined to the calls of a conversation, each once.

use m3_trajectory::json::Json;

use super::{Conversation, Entry};
use crate::content::{Content, Part};
use crate::outcome::Outcome;

impl Conversation {
    /// Adds the result of a call that was made before. A result without a call is reported and dropped.
    pub(crate) fn result(&mut self, outcome: Outcome) {
        self.keep(|| Entry::Result(outcome.clone()));
        self.in_texts.awaits_observation = false;
        if let Some(id) = &outcome.id
            && let Some(&place) = self.nested_calls.get(id)
        {
            return self.nested[place].1.result(outcome);
        }
        if self.current.is_some_and(|current| self.replies[current].id.is_none()) {
            self.end_reply();
        }
        let Some(place) = self.place(&outcome) else { return self.again(&outcome) };
        let timed = &mut self.replies[place.0].calls[place.1];
        self.waiting.remove(timed.call.id.as_deref(), place.0, place.1);
        let seconds = outcome.seconds.or(timed.call.seconds);
        timed.call.seconds = seconds.or_else(|| Some(self.now? - timed.started?));
        timed.call.result = outcome.result;
        timed.call.is_error |= outcome.is_error;
        timed.call.error_type = outcome.error_type;
    }

    /// Notes a result that no call waits for, unless it is one that its call has already.
    fn again(&mut self, outcome: &Outcome) {
        let place = outcome.id.as_ref().and_then(|id| self.calls_by_id.get(id));
        match place.and_then(|&(reply, place)| self.replies.get(reply)?.calls.get(place)) {
            Some(known) if known.call.result == outcome.result => {}
            Some(_) => self.notes.add("a second result of a call is left out"),
            None => self.notes.add("a result without a call is left out"),
        }
    }

    /// The call of a result: by its id, the latest reply first; without ids by the tool's name, then by order, in that reply.
    fn place(&mut self, outcome: &Outcome) -> Option<(usize, usize)> {
        if let Some(found) = outcome.id.as_ref().and_then(|id| self.waiting.with_id(id)) {
            return Some(found);
        }
        // The id is that of a call that has its result.
        if outcome.id.as_ref().is_some_and(|id| self.has_result(id)) {
            return None;
        }
        let (number, mut places) = self.waiting.latest(outcome.id.is_some())?;
        let calls = &self.replies[number].calls;
        let is_named = |place: &usize| {
            let named = outcome.tool.as_ref().zip(calls.get(*place));
            named.is_some_and(|(tool, timed)| *tool == timed.call.tool)
        };
        let first = places.next()?;
        let mut others = places.peekable();
        let is_sure = is_named(&first) || others.peek().is_none();
        let by_name = if is_sure || outcome.tool.is_none() { None } else { others.find(is_named) };
        if !is_sure && by_name.is_none() {
            self.notes.add("a result without an id is joined to a call by order");
        }
        Some((number, by_name.unwrap_or(first)))
    }

    /// Replaces the result of a call by a later one, for formats in which the last of several results counts.
    pub(crate) fn replace_result(&mut self, id: &str, result: Json, is_error: bool) {
        let Some(&(reply, place)) = self.calls_by_id.get(id) else { return };
        let call = &mut self.replies[reply].calls[place].call;
        (call.result, call.is_error) = (Some(result), is_error);
        self.waiting.remove(Some(id), reply, place);
    }

    /// Adds content to the result of a call.
    pub(crate) fn add_to_result(&mut self, id: &str, content: &Content) {
        let Some(&(reply, place)) = self.calls_by_id.get(id) else { return };
        let result = &mut self.replies[reply].calls[place].call.result;
        let mut parts = match result.take() {
            Some(Json::Array(parts)) => parts,
            Some(Json::String(text)) if !text.is_empty() => vec![Part::Text(text).to_json()],
            _ => Vec::new(),
        };
        parts.extend(content.parts.iter().map(Part::to_json));
        *result = Some(Json::Array(parts));
    }
}
