//! Joins the calls of replies with the spans of tools that ran them and with the results in later messages.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use m3_trajectory::json::is_same;

use super::placed::{Placed, PlacedCall, calls_mut};
use super::roles::{Said, Spoken, Turn, calls};
use super::scopes::bare;
use crate::arguments::tool;
use crate::content::string;
use crate::conversation::{Conversation, Outcome};
use crate::trace::TracedCall;

/// Replies with their calls, and calls that no reply is known to have made.
#[derive(Debug)]
pub(super) struct Joined {
    /// Each reply with results whose calls only the order tells.
    pub(super) replies: Vec<(Placed, Vec<Outcome>)>,
    /// Steps of calls of other spans, with their times, by time.
    pub(super) steps: Vec<(Option<u64>, Vec<TracedCall>)>,
}

/// Joins them. Replies and calls are by time.
pub(super) fn join(
    conversation: &mut Conversation,
    mut replies: Vec<Placed>,
    ran: Vec<PlacedCall>,
) -> Joined {
    choose(conversation, &mut replies, &ran);
    fill(conversation, &mut replies);
    let mut said: Vec<Option<Said>> = replies.iter_mut().map(|placed| placed.said.take()).collect();
    let results = Results::of(&replies, &said);
    let mut tools = Tools::of(ran);
    let ends = ends(&replies);
    let mut all_waiting = Vec::new();
    for (number, said) in said.iter_mut().enumerate() {
        for call in calls_mut(said) {
            let ran = tools.take(call, replies[number].start, ends[number]);
            let told = call.id.as_deref().and_then(|id| results.after(id, number));
            complete(call, ran, told);
        }
        all_waiting.push(results.waiting(number, said.as_ref()));
    }
    for (placed, said) in replies.iter_mut().zip(said) {
        placed.said = said;
    }
    let steps = loose(conversation, tools.rest(), &replies);
    Joined { replies: replies.into_iter().zip(all_waiting).collect(), steps }
}

/// Of several alternatives takes the one that the later messages or spans go on with, else the first.
fn choose(conversation: &mut Conversation, replies: &mut [Placed], ran: &[PlacedCall]) {
    let mut known: HashSet<&str> = ran.iter().filter_map(|ran| ran.ran.call.id.as_deref()).collect();
    for turn in replies.iter().filter_map(|placed| placed.reply.input.as_ref()).flatten() {
        match turn {
            Turn::Result(outcome) => known.extend(outcome.id.as_deref()),
            Turn::Said(said) => known.extend(calls(said).filter_map(|call| call.id.as_deref())),
            Turn::User(_) => {}
        }
    }
    let known = Known(known);
    let chosen: Vec<Chosen> = replies.iter().map(|placed| known.chosen(&placed.reply.outputs)).collect();
    let dropped = abandoned(replies, &known);
    for ((placed, chosen), is_dropped) in replies.iter_mut().zip(chosen).zip(dropped) {
        let outputs = std::mem::take(&mut placed.reply.outputs);
        if is_dropped {
            conversation.note("a reply that was not gone on with is left out");
            placed.said = Some(Said::new());
            continue;
        }
        placed.said = match chosen {
            Chosen::All => Some(outputs.into_iter().flatten().collect()),
            Chosen::One(number) => {
                for _ in 1..outputs.len() {
                    conversation.note("another choice of the same reply is left out");
                }
                outputs.into_iter().nth(number)
            }
        };
    }
}

/// What of several messages of a reply counts.
enum Chosen {
    /// They are one message, written as several.
    All,
    /// They are alternatives.
    One(usize),
}

/// The ids of calls that later messages or spans know.
struct Known<'k>(HashSet<&'k str>);

impl Known<'_> {
    fn has(&self, said: &Said) -> bool {
        calls(said).any(|call| call.id.as_deref().is_some_and(|id| self.0.contains(id)))
    }

    /// Of alternatives no more than one is gone on with; so if several are, they are none.
    fn chosen(&self, outputs: &[Said]) -> Chosen {
        let mut known = outputs.iter().enumerate().filter(|(_, said)| self.has(said));
        let first = known.next().map(|(number, _)| number);
        let mut ids = outputs.iter().flat_map(calls).filter_map(|call| call.id.as_deref());
        let mut seen = HashSet::new();
        if known.next().is_some() && ids.all(|id| seen.insert(id)) {
            return Chosen::All;
        }
        Chosen::One(first.unwrap_or_default())
    }
}

/// Which replies were tried again: nothing knows their calls, and the next request of the same caller is the same.
fn abandoned(replies: &[Placed], known: &Known<'_>) -> Vec<bool> {
    let mut next: HashMap<Option<usize>, &[Turn]> = HashMap::new();
    let mut dropped = vec![false; replies.len()];
    for (number, placed) in replies.iter().enumerate().rev() {
        let input = placed.reply.input.as_deref().unwrap_or_default();
        let later = next.insert(placed.caller, input).unwrap_or_default();
        let outputs = &placed.reply.outputs;
        let mut ids = outputs.iter().flat_map(calls).map(|call| call.id.as_deref()).peekable();
        dropped[number] = ids.peek().is_some()
            && ids.all(|id| id.is_some_and(|id| !known.0.contains(id)))
            && is_same_request(input, later);
    }
    dropped
}

/// Whether two requests ask the same.
fn is_same_request(one: &[Turn], other: &[Turn]) -> bool {
    let is_same = |(one, other): (&Turn, &Turn)| match (one, other) {
        (Turn::User(one), Turn::User(other)) => one == other,
        (Turn::Said(one), Turn::Said(other)) => one.len() == other.len(),
        (Turn::Result(one), Turn::Result(other)) => one.id == other.id && one.result == other.result,
        _ => false,
    };
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(is_same)
}

/// What a reply said, if it is not recorded, from the messages of the next request of the same caller.
fn fill(conversation: &mut Conversation, replies: &mut [Placed]) {
    let mut next: HashMap<Option<usize>, usize> = HashMap::new();
    for number in (0..replies.len()).rev() {
        let placed = &replies[number];
        let later = next.get(&placed.caller).and_then(|later| replies.get(*later)?.reply.input.as_deref());
        let known = placed.reply.input.as_ref().map_or(0, Vec::len);
        let filled = match later {
            Some(later) if placed.said.is_none() && !placed.reply.is_failed => last_said(later, known),
            _ => None,
        };
        if placed.said.is_none() && placed.reply.is_failed {
            conversation.note("a request to the model that failed is left out");
        } else if placed.said.is_none() && filled.is_none() && placed.reply.input.is_some() && later.is_some()
        {
            conversation.note("what a reply said is not recorded");
        }
        next.insert(placed.caller, number);
        if filled.is_some() {
            replies[number].said = filled;
        }
    }
}

/// The last neighbouring messages of the model, as one, if they come after what was known.
fn last_said(turns: &[Turn], known: usize) -> Option<Said> {
    let last = turns.iter().rposition(|turn| matches!(turn, Turn::Said(_)))?;
    let first =
        turns[..last].iter().rposition(|turn| !matches!(turn, Turn::Said(_))).map_or(0, |before| before + 1);
    let said = turns.get(first.max(known)..=last)?.iter().filter_map(|turn| match turn {
        Turn::Said(said) => Some(said.clone()),
        _ => None,
    });
    let said: Said = said.flatten().collect();
    (!said.is_empty()).then_some(said)
}

/// When the next reply of the same caller begins.
fn ends(replies: &[Placed]) -> Vec<Option<u64>> {
    let mut next: HashMap<Option<usize>, Option<u64>> = HashMap::new();
    let mut ends = vec![None; replies.len()];
    for (number, placed) in replies.iter().enumerate().rev() {
        ends[number] =
            next.insert(placed.caller, placed.start).flatten().filter(|end| Some(*end) > placed.start);
    }
    ends
}

/// Adds to a call what its span and the messages know of it.
fn complete(call: &mut TracedCall, ran: Option<PlacedCall>, told: Option<&Outcome>) {
    let (ran, seconds) = match ran {
        Some(placed) => {
            let seconds = placed.end.zip(placed.start).and_then(|(end, start)| end.checked_sub(start));
            (placed.ran, seconds.map(crate::spans::seconds))
        }
        None => Default::default(),
    };
    let (own, told_result) = (ran.call.result, told.and_then(|told| told.result.clone()));
    let result = if ran.is_second { told_result.or(own) } else { own.or(told_result) };
    // A call that the provider ran has its result beside it.
    call.result =
        result.or(call.result.take()).or(ran.message.filter(|_| ran.call.is_error).map(|text| string(&text)));
    call.arguments = call.arguments.take().or(ran.call.arguments);
    call.is_error |= ran.call.is_error || told.is_some_and(|told| told.is_error);
    call.error_type = call.error_type.take().or(ran.call.error_type);
    call.seconds = call.seconds.or(seconds);
    if call.tool.is_empty() {
        call.tool = ran.call.tool;
    }
    with_server(call, ran.server.as_deref());
}

fn with_server(call: &mut TracedCall, server: Option<&str>) {
    if let Some(server) = server.filter(|_| !call.tool.contains('/')) {
        call.tool = tool(Some(server), &call.tool);
    }
}

/// The results in the messages of requests.
struct Results<'r> {
    /// By the ids of their calls: in which request, the last one of each.
    by_id: HashMap<&'r str, BTreeMap<usize, &'r Outcome>>,
    /// Those at the end of a request that have no id, or one that no call has.
    last: Vec<Vec<Outcome>>,
}

impl<'r> Results<'r> {
    fn of(replies: &'r [Placed], said: &[Option<Said>]) -> Self {
        let mut by_id: HashMap<&str, BTreeMap<usize, &Outcome>> = HashMap::new();
        let mut ids: HashSet<&str> =
            said.iter().flatten().flat_map(calls).filter_map(|call| call.id.as_deref()).collect();
        for (number, placed) in replies.iter().enumerate() {
            for turn in placed.reply.input.iter().flatten() {
                match turn {
                    Turn::Result(outcome) => {
                        if let Some(id) = outcome.id.as_deref() {
                            by_id.entry(id).or_default().insert(number, outcome);
                        }
                    }
                    Turn::Said(said) => ids.extend(calls(said).filter_map(|call| call.id.as_deref())),
                    Turn::User(_) => {}
                }
            }
        }
        // Each for the request before it, of the same caller.
        let mut last = vec![Vec::new(); replies.len()];
        let mut before: HashMap<Option<usize>, usize> = HashMap::new();
        for (number, placed) in replies.iter().enumerate() {
            let input = placed.reply.input.as_deref().unwrap_or_default();
            let new = input.iter().rev().take_while(|turn| !matches!(turn, Turn::Said(_)));
            let new = new.filter_map(|turn| match turn {
                Turn::Result(outcome) if outcome.id.as_ref().is_none_or(|id| !ids.contains(id.as_str())) => {
                    Some(outcome)
                }
                _ => None,
            });
            let mut new: Vec<Outcome> = new.cloned().collect();
            new.reverse();
            if let Some(before) = before.insert(placed.caller, number) {
                last[before] = new;
            }
        }
        Self { by_id, last }
    }

    /// The result of a call of this reply: in the first request after it that has one, the last of this id.
    fn after(&self, id: &str, number: usize) -> Option<&'r Outcome> {
        self.by_id.get(id)?.range(number + 1..).next().map(|(_, outcome)| *outcome)
    }

    /// The results that only their order joins to the calls of this reply; none if all of these have one.
    fn waiting(&self, number: usize, said: Option<&Said>) -> Vec<Outcome> {
        let mut spoken = said.into_iter().flatten();
        let waits = spoken.any(|spoken| matches!(spoken, Spoken::Call(call) if call.result.is_none()));
        if waits { self.last[number].clone() } else { Vec::new() }
    }
}

/// The spans of tools that no reply's call has taken yet.
struct Tools {
    all: Vec<Option<PlacedCall>>,
    starts: Vec<Option<u64>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
}

impl Tools {
    fn of(ran: Vec<PlacedCall>) -> Self {
        let mut tools =
            Self { all: Vec::new(), starts: Vec::new(), by_id: HashMap::new(), by_name: HashMap::new() };
        for (number, placed) in ran.into_iter().enumerate() {
            if let Some(id) = &placed.ran.call.id {
                tools.by_id.entry(id.clone()).or_default().push_back(number);
            }
            tools.by_name.entry(bare(&placed.ran.call.tool).to_owned()).or_default().push_back(number);
            tools.starts.push(placed.start);
            tools.all.push(Some(placed));
        }
        tools
    }

    /// The span that ran a call: by its id; else of those of its name between its reply and the next one, the first with
    /// the same arguments, then the first.
    fn take(&mut self, call: &TracedCall, start: Option<u64>, end: Option<u64>) -> Option<PlacedCall> {
        if let Some(waiting) = call.id.as_ref().and_then(|id| self.by_id.get_mut(id)) {
            while let Some(number) = waiting.pop_front() {
                let is_later = self.starts[number].is_none() || self.starts[number] >= start;
                if is_later && self.all[number].is_some() {
                    return self.all[number].take();
                }
            }
        }
        let (all, starts) = (&mut self.all, &self.starts);
        let named = self.by_name.get_mut(bare(&call.tool))?;
        let first = named.partition_point(|number| starts[*number] < start);
        while named.get(first).is_some_and(|number| all[*number].is_none()) {
            named.remove(first);
        }
        let window = named.range(first..).copied().enumerate();
        let window = window.take_while(|(_, number)| end.is_none() || starts[*number] < end).take(WINDOW);
        let can_be = |placed: &PlacedCall| placed.ran.call.id.is_none() || call.id.is_none();
        let window: Vec<(usize, usize)> =
            window.filter(|(_, number)| all[*number].as_ref().is_some_and(can_be)).collect();
        let is_alike = |(_, number): &&(usize, usize)| {
            let own = all[*number].as_ref().and_then(|placed| placed.ran.call.arguments.as_ref());
            own.zip(call.arguments.as_ref()).is_some_and(|(own, said)| is_same(own, said))
        };
        let (place, number) = *window.iter().find(is_alike).or(window.first())?;
        named.remove(first + place);
        all[number].take()
    }

    fn rest(self) -> impl Iterator<Item = PlacedCall> {
        self.all.into_iter().flatten()
    }
}

/// How many spans are looked at for a call without an id.
const WINDOW: usize = 256;

/// Calls of spans that no reply's call has taken: those of one caller between two of its replies whose times overlap are a
/// step.
fn loose(
    conversation: &mut Conversation,
    rest: impl Iterator<Item = PlacedCall>,
    replies: &[Placed],
) -> Vec<(Option<u64>, Vec<TracedCall>)> {
    let mut starts: HashMap<Option<usize>, Vec<Option<u64>>> = HashMap::new();
    for placed in replies {
        starts.entry(placed.caller).or_default().push(placed.start);
    }
    let has_calls = replies.iter().any(|placed| placed.said.iter().flat_map(calls).next().is_some());
    let mut steps: Vec<(Option<u64>, Vec<TracedCall>)> = Vec::new();
    let mut open: HashMap<(Option<usize>, usize), (usize, u64)> = HashMap::new();
    for placed in rest {
        let gap =
            starts.get(&placed.caller).map_or(0, |starts| starts.partition_point(|at| *at <= placed.start));
        let key = (placed.caller, gap);
        let (start, end) = (placed.start, placed.end.or(placed.start));
        let mut call = TracedCall { tool: placed.ran.call.tool.clone(), ..TracedCall::default() };
        complete(&mut call, Some(placed), None);
        conversation.note(match (has_calls, start) {
            (true, _) => "a call that no reply is known to have made",
            (false, Some(_)) => "a call whose step is judged by its time",
            (false, None) => "a call without a time is a step of its own",
        });
        let overlaps = |(_, until): &&mut (usize, u64)| start.is_some_and(|start| start < *until);
        if let Some((step, until)) = open.get_mut(&key).filter(overlaps) {
            steps[*step].1.push(call);
            *until = (*until).max(end.unwrap_or_default());
        } else {
            open.insert(key, (steps.len(), end.unwrap_or_default()));
            steps.push((start, vec![call]));
        }
    }
    steps
}
