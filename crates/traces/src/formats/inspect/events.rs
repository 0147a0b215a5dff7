//! The events of a sample: a tree of spans, with the replies of models and the runs of tools. The reader takes from
//! them what the messages lack: times of calls, calls of agents that a call started, and calls that were cut from the
//! messages.

use super::attachments::Attachments;
use super::message::{call, of_model, reply, result};
use crate::fields::count;
use crate::formats::prelude::*;

/// The deepest nesting of agents within agents that is read.
const DEPTH: usize = 32;

/// The place of an event in the tree of spans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Place<'j> {
    /// The span of the nearest call above the event.
    call: Option<&'j str>,
    /// The span of the nearest agent between that call and the event.
    agent: Option<&'j str>,
    /// Whether the event belongs to a scorer, which runs after the trajectory.
    is_scorer: bool,
}

/// The events of a sample.
#[derive(Debug)]
pub(super) struct Events<'j> {
    attachments: &'j Attachments<'j>,
    spans: HashMap<&'j str, &'j Json>,
    /// The replies and the runs of tools, each with its place.
    all: Vec<(Place<'j>, &'j Json)>,
    /// The indices in `all` of the replies and runs below the span of each call, without those below further calls;
    /// under `None`, those below no call.
    below: HashMap<Option<&'j str>, Vec<usize>>,
    /// The spans of calls with something below them, by the span of the call around them.
    children: HashMap<Option<&'j str>, Vec<&'j str>>,
    /// The calls for which a tool ran, with the span of the call around them.
    ran: HashSet<(Option<&'j str>, &'j str)>,
    /// The duration of calls in seconds, by the ids of the messages with their results.
    seconds: HashMap<&'j str, f64>,
    /// The messages that requests refer to by their places.
    listed: &'j [Json],
    /// All messages that requests contain, by id.
    pool: HashMap<&'j str, &'j Json>,
}

/// Whether this is the call with which an agent of inspect submits its answer.
pub(super) fn is_submit(call: &Json) -> bool {
    call.says("function", "submit")
}

impl<'j> Events<'j> {
    /// The events of a sample.
    pub(super) fn new(sample: &'j Json, attachments: &'j Attachments<'j>) -> Self {
        let events = sample.list("events");
        let mut it = Self {
            attachments,
            spans: HashMap::new(),
            all: Vec::new(),
            below: HashMap::new(),
            children: HashMap::new(),
            ran: HashSet::new(),
            seconds: HashMap::new(),
            listed: sample.member("events_data").map_or(&[][..], |data| data.list("messages")),
            pool: HashMap::new(),
        };
        for event in events.iter().filter(|event| event.says("event", "span_begin")) {
            it.spans.extend(event.text("id").map(|id| (id, event)));
        }
        let inputs = events.iter().flat_map(|event| event.list("input"));
        it.pool.extend(
            it.listed.iter().chain(inputs).filter_map(|message| Some((message.text("id")?, message))),
        );
        it.place_all(events);
        it
    }

    /// Finds the place of each reply and run of a tool.
    fn place_all(&mut self, events: &'j [Json]) {
        let (mut known, mut linked) = (HashMap::new(), HashSet::new());
        for event in events.iter().filter(|event| event.says("event", "model") || event.says("event", "tool"))
        {
            if let Some(id) = event.text("message_id") {
                self.seconds.extend(seconds(event).map(|seconds| (id, seconds)));
            }
            let place = self.place(event.text("span_id"), &mut known);
            if place.is_scorer {
                continue;
            }
            if event.says("event", "tool") {
                self.ran.extend(event.text("id").map(|id| (place.call, id)));
            }
            self.below.entry(place.call).or_default().push(self.all.len());
            self.all.push((place, event));
            let mut at = place.call;
            while let Some(call) = at
                && linked.insert(call)
            {
                at =
                    self.place(self.spans.get(call).and_then(|span| span.text("parent_id")), &mut known).call;
                self.children.entry(at).or_default().push(call);
            }
        }
    }

    /// How long a call took, by the id of the message with its result.
    pub(super) fn seconds(&self, message: &str) -> Option<f64> {
        self.seconds.get(message).copied()
    }

    /// The place of the events in a span.
    fn place(&self, span: Option<&'j str>, known: &mut HashMap<&'j str, Place<'j>>) -> Place<'j> {
        let mut path = Vec::new();
        let mut place = Place { call: None, agent: None, is_scorer: false };
        let mut at = span;
        // A span that is its own ancestor ends the walk, since it is in `known` by then.
        while let Some(id) = at {
            if let Some(found) = known.get(id) {
                place = *found;
                break;
            }
            known.insert(id, place);
            path.push(id);
            at = self.spans.get(id).and_then(|span| span.text("parent_id"));
        }
        for id in path.into_iter().rev() {
            match self.spans.get(id).and_then(|span| span.text("type")) {
                Some("tool") => place = Place { call: Some(id), agent: None, ..place },
                Some("agent") => place.agent = Some(id),
                Some("scorer" | "scorers") => place.is_scorer = true,
                _ => {}
            }
            known.insert(id, place);
        }
        place
    }

    /// The agents that are not below a call. For each: whether any of its replies with calls is among the messages, and
    /// whether all of them are.
    fn agents(&self, messages: &[Json]) -> HashMap<Option<&'j str>, (bool, bool)> {
        let ids: HashSet<&str> = messages.iter().filter_map(|message| message.text("id")).collect();
        let key = |call: &Json| Some((call.id("id")?, call.text("function")?.to_owned()));
        let calls: HashSet<(String, String)> =
            messages.iter().flat_map(|message| message.list("tool_calls")).filter_map(key).collect();
        let mut agents = HashMap::new();
        for &number in self.below.get(&None).into_iter().flatten() {
            let (place, event) = self.all[number];
            let Some(message) = output(event) else { continue };
            let made = message.list("tool_calls");
            let is_in = message.text("id").is_some_and(|id| ids.contains(id))
                || made.iter().filter_map(key).any(|made| calls.contains(&made));
            if is_in || made.iter().any(|call| !is_submit(call)) && !self.is_dropped(place, message) {
                let (any, all) = agents.entry(place.agent).or_insert((false, true));
                *any |= is_in;
                *all &= is_in;
            }
        }
        agents
    }

    /// Whether a reply was dropped: no later request repeats it, and none of its calls ran.
    fn is_dropped(&self, place: Place<'j>, message: &Json) -> bool {
        let is_repeated =
            message.text("id").is_none_or(|id| self.pool.is_empty() || self.pool.contains_key(id));
        let has_run = |call: &Json| call.text("id").is_some_and(|id| self.ran.contains(&(place.call, id)));
        !is_repeated && !message.list("tool_calls").iter().any(has_run)
    }

    /// Whether the messages lack replies with calls of an agent, although they have others of the same agent.
    pub(super) fn has_more_than(&self, messages: &[Json]) -> bool {
        let agents = self.agents(messages);
        let has_calls = messages.iter().any(|message| !message.list("tool_calls").is_empty());
        agents.values().any(|(any, all)| *any && !*all)
            || !has_calls && !agents.is_empty() && !agents.values().any(|(any, _)| *any)
    }

    /// The calls of the trajectory itself.
    pub(super) fn main(&self, it: &mut Conversation, messages: &[Json]) {
        let agents = self.agents(messages);
        let is_any = agents.values().any(|(any, _)| *any);
        let is_main = |place: &Place<'j>| agents.get(&place.agent).is_some_and(|(any, _)| *any || !is_any);
        let numbers = self.below.get(&None).into_iter().flatten().copied();
        let numbers: Vec<usize> = numbers.filter(|number| is_main(&self.all[*number].0)).collect();
        self.replay(it, &numbers, Some(messages));
    }

    /// Adds the trajectories of agents that a call started, or that ran beside the agent of the messages.
    pub(super) fn nested(&self, it: &mut Conversation, messages: &[Json]) {
        self.below_of(it, None, 0);
        let agents = self.agents(messages);
        if !agents.values().any(|(any, _)| *any) {
            return;
        }
        let mut others: Vec<(&'j str, Vec<usize>)> = Vec::new();
        for &number in self.below.get(&None).into_iter().flatten() {
            let Some(agent) = self.all[number].0.agent else { continue };
            if agents.get(&Some(agent)).is_some_and(|(any, _)| !any) {
                match others.iter_mut().find(|(other, _)| *other == agent) {
                    Some((_, numbers)) => numbers.push(number),
                    None => others.push((agent, vec![number])),
                }
            }
        }
        for (agent, numbers) in others {
            self.add(it, agent, &numbers, None, 0);
        }
    }

    /// Adds the trajectories that ran below the calls of a trajectory.
    fn below_of(&self, it: &mut Conversation, call: Option<&'j str>, depth: usize) {
        for &child in self.children.get(&call).into_iter().flatten() {
            let numbers = self.below.get(&Some(child)).map_or(&[][..], Vec::as_slice);
            let parent = self.spans.get(child).and_then(|span| self.spans.get(span.text("parent_id")?));
            let is_hand_over = parent.is_some_and(|parent| parent.says("type", "handoff"));
            let outer = self.below.get(&call).map_or(&[][..], Vec::as_slice);
            let mut later = outer.iter().rev().take_while(|number| Some(*number) > numbers.last());
            if is_hand_over && !later.any(|number| output(self.all[*number].1).is_some()) {
                self.replay(it, numbers, None);
                continue;
            }
            self.add(it, child, numbers, Some(child), depth);
        }
    }

    /// Adds the trajectory of an agent, if it has calls.
    fn add(
        &self,
        it: &mut Conversation,
        span: &'j str,
        numbers: &[usize],
        call: Option<&'j str>,
        depth: usize,
    ) {
        if depth == DEPTH {
            it.note("agents of agents deeper than 32 are left out");
            return;
        }
        let agent = numbers.iter().find_map(|number| self.all[*number].0.agent);
        let name = self
            .spans
            .get(agent.unwrap_or(span))
            .map_or("agent", |span| span.text("name").unwrap_or_default());
        let mut inner = Conversation::default();
        self.ask(&mut inner, numbers);
        self.replay(&mut inner, numbers, None);
        if call.is_some() {
            self.below_of(&mut inner, call, depth + 1);
        }
        if inner.calls_mut().next().is_some() || !inner.nested.is_empty() {
            it.nested.push((name.to_owned(), inner));
        }
    }

    /// The question of an agent: the first message of the user in its first request.
    fn ask(&self, it: &mut Conversation, numbers: &[usize]) {
        /// More messages of a first request are not looked at.
        const MOST: usize = 1000;
        let first =
            numbers.iter().map(|number| self.all[*number].1).find(|event| event.says("event", "model"));
        let Some(first) = first else { return };
        let range = |range: &Json| match range.items() {
            [from, to] => {
                self.listed.get(usize::try_from(count(from)?).ok()?..usize::try_from(count(to)?).ok()?)
            }
            _ => None,
        };
        let listed = first.list("input_refs").iter().filter_map(range).flatten();
        let mut asked = first
            .list("input")
            .iter()
            .chain(listed)
            .take(MOST)
            .filter(|message| message.says("role", "user"));
        if let Some(content) = asked.find_map(|message| message.member("content")) {
            it.user(Content::from_json(&self.attachments.resolved(content)));
        }
    }

    /// Adds replies and runs of tools in their order. A message in `messages` replaces the one in the event of its
    /// reply, because agents remove the call with which they submit from the messages.
    fn replay(&self, it: &mut Conversation, numbers: &[usize], messages: Option<&[Json]>) {
        let known = messages.unwrap_or_default();
        let known: HashMap<&str, &Json> = known.iter().filter_map(|it| Some((it.text("id")?, it))).collect();
        let calls = known.values().flat_map(|message| message.list("tool_calls"));
        let has_submit = messages.is_none() || calls.into_iter().any(is_submit);
        let last = numbers.iter().rposition(|number| output(self.all[*number].1).is_some());
        let (mut made, mut seen) = (HashSet::new(), HashSet::new());
        for (position, (place, event)) in numbers.iter().map(|number| self.all[*number]).enumerate() {
            if let Some(message) = output(event) {
                if Some(position) != last && self.is_dropped(place, message) {
                    it.note("a reply that nothing continues is left out");
                    continue;
                }
                let id = message.text("id").or_else(|| event.text("uuid"));
                // Each branch of a run has the replies before it again: skip those that were read.
                if !id.is_none_or(|id| seen.insert(id)) {
                    continue;
                }
                let whole = id.and_then(|id| known.get(id)).map_or(message, |whole| *whole);
                let whole = self.attachments.resolved(whole);
                let calls = whole.list("tool_calls").iter().filter(|call| has_submit || !is_submit(call));
                made.extend(message.list("tool_calls").iter().filter_map(|call| call_id(call.member("id"))));
                reply(it, &whole, id, calls);
                it.usage.add(event.below(&["output", "usage"]).map(of_model).unwrap_or_default());
            } else if event.says("event", "tool") {
                let is_made = call_id(event.member("id")).is_some_and(|id| made.contains(&id));
                if has_submit || !is_submit(event) {
                    self.run(it, event, is_made);
                }
            }
        }
    }

    /// A run of a tool: the result of a call, or a call that no model is known to have made.
    fn run(&self, it: &mut Conversation, event: &Json, is_made: bool) {
        let event = self.attachments.resolved(event);
        let content = match event.member("result") {
            Some(value @ (Json::String(_) | Json::Array(_) | Json::Object(_))) => Content::from_json(value),
            // For other values, the message has the text that the model saw.
            Some(value) => {
                let message = event.text("message_id").and_then(|id| self.pool.get(id));
                let text = message
                    .and_then(|message| message.text("content"))
                    .map(|text| self.attachments.text(text));
                Content::of_text(&text.unwrap_or_else(|| value.to_plain_text()))
            }
            None => Content::default(),
        };
        let mut outcome = result(call_id(event.member("id")), &event, content);
        outcome.seconds = seconds(&event);
        outcome.is_error |= event.is("failed");
        if !is_made {
            it.step(vec![TracedCall {
                result: outcome.result,
                is_error: outcome.is_error,
                error_type: outcome.error_type,
                seconds: outcome.seconds,
                ..call(&event)
            }]);
        } else if !event.is("pending") {
            it.result(outcome);
        }
    }
}

/// The message that a model replied with, the first of several choices. Requests that failed have none.
fn output(event: &Json) -> Option<&Json> {
    event
        .member("output")
        .filter(|_| event.says("event", "model"))?
        .list("choices")
        .first()?
        .member("message")
}

/// The duration of a run in seconds, from its beginning to its end.
fn seconds(event: &Json) -> Option<f64> {
    Some(event.member("completed").and_then(time)? - event.member("timestamp").and_then(time)?)
}
