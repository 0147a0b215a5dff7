//! The messages between clients and servers: requests for tools and their answers become calls.

use crate::formats::prelude::*;
use crate::overlap::Overlap;

/// Facts about a message that are recorded beside it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Message<'a> {
    /// The line of the message.
    pub(super) line: Option<u64>,
    /// The time in seconds.
    pub(super) time: Option<f64>,
    /// The sender, in any words.
    pub(super) from: Option<&'a str>,
    /// The server, as the log calls it.
    pub(super) server: Option<&'a str>,
}

/// The most requests that wait under one id: each of the two sides may wait for a call and for something else.
const MOST: usize = 4;

/// A request that waits for its answer.
#[derive(Debug)]
struct Waiting {
    /// The call, if the request asks for one.
    call: Option<usize>,
    /// Whether the request is `initialize`, which begins a connection.
    is_initialize: bool,
    from: Option<String>,
    time: Option<f64>,
}

/// A connection of a client and a server.
#[derive(Debug, Default)]
struct Session {
    line: Option<u64>,
    conversation: Conversation,
    calls: Overlap,
    /// The requests that wait, by id; both sides may use the same id.
    waiting: HashMap<String, Vec<Waiting>>,
    server: Option<String>,
    has_initialized: bool,
}

/// All connections of a file.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    all: Vec<Session>,
    /// The place in `all` of the latest connection with each server, by the server's name in the log.
    current: HashMap<String, usize>,
    /// The number of messages read so far, which serves as the clock of the calls.
    moment: u64,
    skipped: u64,
}

impl Sessions {
    /// Counts a value that is not a message.
    pub(super) fn skipped(&mut self) {
        self.skipped += 1;
    }

    /// Adds a message, or a batch of messages.
    pub(super) fn messages(&mut self, value: &Json, about: &Message<'_>) {
        if let Json::Array(batch) = value {
            // The messages of a batch have one moment: all are sent before any of them is answered.
            return batch.iter().for_each(|message| self.message(message, about));
        }
        self.message(value, about);
    }

    fn message(&mut self, message: &Json, about: &Message<'_>) {
        self.moment += 1;
        let name = about.server.unwrap_or_default();
        let is_initialize = message.says("method", "initialize");
        let known = self.current.get(name).copied();
        let goes_on = known
            .filter(|place| !is_initialize || self.all.get(*place).is_some_and(|it| !it.has_initialized));
        let place = goes_on.unwrap_or_else(|| {
            self.all.push(Session { line: about.line, ..Session::default() });
            self.current.insert(name.to_owned(), self.all.len() - 1);
            self.all.len() - 1
        });
        let Some(session) = self.all.get_mut(place) else { return };
        session.has_initialized |= is_initialize;
        session.server = session.server.take().or_else(|| about.server.map(str::to_owned));
        session.conversation.at(about.time);
        session.message(message, about, self.moment);
    }

    /// Gives the trajectories of the sessions in which tools were called.
    pub(super) fn finish(self, sink: &mut dyn Sink) -> Result<(), ReadError> {
        if self.skipped > 0 {
            sink.warn(None, &format!("lines without a JSON-RPC message, left out: {}", self.skipped));
        }
        let all: Vec<Session> = self.all.into_iter().filter(|session| !session.calls.is_empty()).collect();
        if all.is_empty() {
            return Err(ReadError::refused(
                "MCP messages without a call: no request `tools/call` is in the file, and so there is nothing to score; \
                 record the traffic while tools are used",
            ));
        }
        let are_several = all.len() > 1;
        for (index, session) in all.into_iter().enumerate() {
            let line = session.line;
            let mut conversation = session.finish();
            conversation.id = are_several.then(|| index.to_string());
            sink.trace(line, conversation.finish())?;
        }
        Ok(())
    }
}

impl Session {
    fn message(&mut self, message: &Json, about: &Message<'_>, moment: u64) {
        let id = message.member("id").and_then(key);
        match (message.text("method"), id) {
            (Some(method), Some(id)) => self.request(method, id, message, about, moment),
            (Some("notifications/cancelled"), None) => self.cancelled(message, about, moment),
            (None, Some(id)) => self.answer(&id, message, about, moment),
            // Other notifications do not concern calls.
            _ => {}
        }
    }

    fn request(&mut self, method: &str, id: String, message: &Json, about: &Message<'_>, moment: u64) {
        let call = (method == "tools/call").then(|| {
            let params = message.member("params").unwrap_or(&Json::Null);
            self.trace_id(params);
            let call = TracedCall::new(
                None,
                params.text("name").unwrap_or_default().to_owned(),
                or_empty(params.member("arguments")),
            );
            self.calls.begin(call, moment)
        });
        let from = about.from.map(str::to_owned);
        let asked = Waiting { call, is_initialize: method == "initialize", from, time: about.time };
        let list = self.waiting.entry(id).or_default();
        // A side that uses an id again no longer waits for the answer to its earlier request with this id.
        list.retain(|it| it.from != asked.from || it.call.is_some() != asked.call.is_some());
        if list.len() >= MOST {
            list.remove(0);
        }
        list.push(asked);
    }

    /// Notes the trace id in the `traceparent` of a call, which has W3C's form: version, trace, span, flags.
    fn trace_id(&mut self, params: &Json) {
        let parent = params.text_below(&["_meta", "traceparent"]);
        if let Some(trace) = parent.and_then(|parent| parent.split('-').nth(1))
            && self.conversation.origin.is_empty()
        {
            self.conversation.origin.push(("trace_id", trace.to_owned()));
        }
    }

    fn answer(&mut self, id: &str, message: &Json, about: &Message<'_>, moment: u64) {
        let result = message.member("result");
        let error = message.member("error");
        let Some(waiting) = self.take(id, about, result, false) else {
            if result.is_some_and(is_result_of_call) {
                self.conversation.note("a result without a call is left out");
            }
            return;
        };
        if waiting.is_initialize
            && let Some(name) = result.and_then(|result| result.below(&["serverInfo", "name"])?.as_str())
            && !name.is_empty()
        {
            self.server = Some(name.to_owned());
        }
        let Some(call) = waiting.call.and_then(|number| self.calls.end(number, moment)) else { return };
        call.seconds = about.time.zip(waiting.time).map(|(end, start)| end - start);
        if let Some(error) = error {
            call.is_error = true;
            call.error_type = error.id("code");
            call.result = error.text("message").map(|text| Json::String(text.to_owned()));
        } else if let Some(result) = result {
            call.is_error = result.is("isError");
            let content = result.member("content").map(Content::from_json);
            let value =
                result.member("structuredContent").filter(|_| content.as_ref().is_none_or(Content::is_empty));
            call.result = value.cloned().or_else(|| content.map(|content| content.to_json()));
        }
    }

    /// Ends the call of a cancelled request, without a result.
    fn cancelled(&mut self, message: &Json, about: &Message<'_>, moment: u64) {
        let Some(id) = message.below(&["params", "requestId"]).and_then(key) else { return };
        if let Some(call) = self.take(&id, about, None, true).and_then(|waiting| waiting.call) {
            self.calls.end(call, moment);
            self.conversation.note("a call was cancelled");
        }
    }

    /// Takes the waiting request that a message answers (a request of the other side) or cancels (`is_own`: of the same
    /// side). Requests that agree with the result on being a call come first, which helps if the file names no senders.
    fn take(
        &mut self,
        id: &str,
        about: &Message<'_>,
        result: Option<&Json>,
        is_own: bool,
    ) -> Option<Waiting> {
        let list = self.waiting.get_mut(id)?;
        let can_be = |it: &Waiting| match (it.from.as_deref(), about.from) {
            (Some(asked), Some(now)) => (asked == now) == is_own,
            _ => true,
        };
        let fits = |it: &Waiting| result.is_none_or(|result| it.call.is_some() == is_result_of_call(result));
        // Both sides number their requests by themselves, so an id can be ambiguous: the latest request is answered
        // first.
        let place =
            list.iter().rposition(|it| can_be(it) && fits(it)).or_else(|| list.iter().rposition(can_be))?;
        let waiting = list.remove(place);
        if list.is_empty() {
            self.waiting.remove(id);
        }
        Some(waiting)
    }

    fn finish(mut self) -> Conversation {
        if let Some(server) = &self.server {
            self.calls.calls_mut().for_each(|call| call.tool = tool(Some(server), &call.tool));
        }
        self.conversation.note("which calls a model made together is told by their times alone");
        self.calls.steps(&mut self.conversation);
        self.conversation
    }
}

/// Whether a result is one of `tools/call`.
fn is_result_of_call(result: &Json) -> bool {
    matches!(result.member("content"), Some(Json::Array(_)))
        || result.has("isError")
        || result.has("structuredContent")
}

/// An id as a key: the text `1` and the number 1 are two ids.
fn key(id: &Json) -> Option<String> {
    match id {
        Json::String(text) => Some(format!("\"{text}")),
        Json::Integer(_) | Json::LongInteger(_) | Json::Float(_) => Some(id.to_plain_text()),
        _ => None,
    }
}
