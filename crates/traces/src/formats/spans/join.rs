//! Joins the calls of replies with the spans of tools that ran them and with the results in later messages.

use std::collections::VecDeque;

use m3_trajectory::json::is_same;

use super::dispatchers;
use super::reply_span::{ReplySpan, ToolSpan, calls_mut};
use super::roles::{AssistantMessage, MessagePart, Turn, calls};
use super::scopes::bare;
use crate::formats::prelude::*;

/// Replies with their calls, and calls that no reply is known to have made.
#[derive(Debug)]
pub(super) struct JoinedReplies {
    /// Each reply, with the results that only their order joins to its calls.
    pub(super) replies: Vec<(ReplySpan, Vec<Outcome>)>,
    /// Steps of the calls that no reply made, with their start times, in the order of time.
    pub(super) steps: Vec<(Option<u64>, Vec<TracedCall>)>,
}

/// Joins replies with the tool spans that ran their calls. Both lists are in the order of time.
pub(super) fn join(
    conversation: &mut Conversation,
    mut replies: Vec<ReplySpan>,
    mut ran: Vec<ToolSpan>,
) -> JoinedReplies {
    choose(conversation, &mut replies, &ran);
    fill(conversation, &mut replies);
    let mut assistant: Vec<Option<AssistantMessage>> =
        replies.iter_mut().map(|reply_span| reply_span.assistant.take()).collect();
    dispatchers::name(conversation, &mut ran, &assistant);
    let results = Results::new(&replies, &assistant);
    let mut tools = Tools::new(ran);
    let ends = ends(&replies);
    let mut all_waiting = Vec::new();
    for (number, assistant) in assistant.iter_mut().enumerate() {
        for call in calls_mut(assistant) {
            let ran = tools.take(call, replies[number].start, ends[number]);
            let outcome = call.id.as_deref().and_then(|id| results.after(id, number));
            complete(call, ran, outcome);
        }
        all_waiting.push(results.waiting(number, assistant.as_ref()));
    }
    for (reply_span, assistant) in replies.iter_mut().zip(assistant) {
        reply_span.assistant = assistant;
    }
    let steps = loose(conversation, tools.rest(), &replies);
    JoinedReplies { replies: replies.into_iter().zip(all_waiting).collect(), steps }
}

/// Chooses among alternative outputs the one that later messages or spans continue, else the first.
fn choose(conversation: &mut Conversation, replies: &mut [ReplySpan], ran: &[ToolSpan]) {
    let mut known: HashSet<&str> = ran.iter().filter_map(|ran| ran.ran.call.id.as_deref()).collect();
    for turn in replies.iter().filter_map(|reply_span| reply_span.reply.input.as_ref()).flatten() {
        match turn {
            Turn::Result(outcome) => known.extend(outcome.id.as_deref()),
            Turn::Assistant(assistant) => {
                known.extend(calls(assistant).filter_map(|call| call.id.as_deref()));
            }
            Turn::User(_) | Turn::Unknown => {}
        }
    }
    let known = KnownIds(known);
    let chosen: Vec<Option<usize>> =
        replies.iter().map(|reply_span| known.chosen(&reply_span.reply.outputs)).collect();
    let dropped = abandoned(replies, &known);
    for ((reply_span, chosen), is_dropped) in replies.iter_mut().zip(chosen).zip(dropped) {
        let outputs = std::mem::take(&mut reply_span.reply.outputs);
        if is_dropped {
            conversation.note("a reply that was not gone on with is left out");
            reply_span.assistant = Some(AssistantMessage::new());
            continue;
        }
        reply_span.assistant = match chosen {
            None => Some(outputs.into_iter().flatten().collect()),
            Some(number) => {
                for _ in 1..outputs.len() {
                    conversation.note("another choice of the same reply is left out");
                }
                outputs.into_iter().nth(number)
            }
        };
    }
}

/// The ids of calls that later messages or spans know.
struct KnownIds<'k>(HashSet<&'k str>);

impl KnownIds<'_> {
    fn has(&self, assistant: &AssistantMessage) -> bool {
        calls(assistant).any(|call| call.id.as_deref().is_some_and(|id| self.0.contains(id)))
    }

    /// Chooses the messages that count. A conversation continues only one of several alternatives, so messages are not
    /// alternatives if it continues several of them: `None` if all count, as one message written in several.
    fn chosen(&self, outputs: &[AssistantMessage]) -> Option<usize> {
        let mut known = outputs.iter().enumerate().filter(|(_, assistant)| self.has(assistant));
        let first = known.next().map(|(number, _)| number);
        let mut ids = outputs.iter().flat_map(calls).filter_map(|call| call.id.as_deref());
        let mut seen = HashSet::new();
        if known.next().is_some() && ids.all(|id| seen.insert(id)) {
            return None;
        }
        Some(first.unwrap_or_default())
    }
}

/// For each reply, whether it was tried again: no later message or span has its calls, and the caller's next request is
/// the same.
fn abandoned(replies: &[ReplySpan], known: &KnownIds<'_>) -> Vec<bool> {
    let mut next: HashMap<Option<usize>, &[Turn]> = HashMap::new();
    let mut dropped = vec![false; replies.len()];
    for (number, reply_span) in replies.iter().enumerate().rev() {
        let input = reply_span.reply.input.as_deref().unwrap_or_default();
        let later = next.insert(reply_span.caller, input).unwrap_or_default();
        let outputs = &reply_span.reply.outputs;
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
        (Turn::Assistant(one), Turn::Assistant(other)) => one.len() == other.len(),
        (Turn::Result(one), Turn::Result(other)) => one.id == other.id && one.result == other.result,
        (Turn::Unknown, Turn::Unknown) => true,
        _ => false,
    };
    !one.is_empty() && one.len() == other.len() && one.iter().zip(other).all(is_same)
}

/// Fills in the message of a reply that is not recorded, from the messages of the next request of the same caller.
fn fill(conversation: &mut Conversation, replies: &mut [ReplySpan]) {
    let mut next: HashMap<Option<usize>, usize> = HashMap::new();
    for number in (0..replies.len()).rev() {
        let reply_span = &replies[number];
        let later =
            next.get(&reply_span.caller).and_then(|later| replies.get(*later)?.reply.input.as_deref());
        let known = reply_span.reply.input.as_ref().map_or(0, Vec::len);
        let filled = match later {
            Some(later) if reply_span.assistant.is_none() && !reply_span.reply.is_failed => {
                last_said(later, known)
            }
            _ => None,
        };
        if reply_span.assistant.is_none() && reply_span.reply.is_failed {
            conversation.note("a request to the model that failed is left out");
        } else if reply_span.assistant.is_none()
            && filled.is_none()
            && reply_span.reply.input.is_some()
            && later.is_some()
        {
            conversation.note("what a reply said is not recorded");
        }
        next.insert(reply_span.caller, number);
        if filled.is_some() {
            replies[number].assistant = filled;
        }
    }
}

/// The last consecutive messages of the model, joined into one, without the first `known` turns.
fn last_said(turns: &[Turn], known: usize) -> Option<AssistantMessage> {
    let last = turns.iter().rposition(|turn| matches!(turn, Turn::Assistant(_)))?;
    let first = turns[..last]
        .iter()
        .rposition(|turn| !matches!(turn, Turn::Assistant(_)))
        .map_or(0, |before| before + 1);
    let assistant = turns.get(first.max(known)..=last)?.iter();
    let assistant: AssistantMessage = assistant.cloned().filter_map(Turn::assistant).flatten().collect();
    (!assistant.is_empty()).then_some(assistant)
}

/// For each reply, the time at which the next reply of the same caller begins.
fn ends(replies: &[ReplySpan]) -> Vec<Option<u64>> {
    let mut next: HashMap<Option<usize>, Option<u64>> = HashMap::new();
    let mut ends = vec![None; replies.len()];
    for (number, reply_span) in replies.iter().enumerate().rev() {
        ends[number] = next
            .insert(reply_span.caller, reply_span.start)
            .flatten()
            .filter(|end| Some(*end) > reply_span.start);
    }
    ends
}

/// Completes a call with the facts of its span and of the messages.
fn complete(call: &mut TracedCall, ran: Option<ToolSpan>, outcome: Option<&Outcome>) {
    let (ran, seconds) = match ran {
        Some(tool_span) => {
            let seconds = tool_span.end.zip(tool_span.start).and_then(|(end, start)| end.checked_sub(start));
            (tool_span.ran, seconds.map(crate::spans::seconds))
        }
        None => Default::default(),
    };
    let (own, told_result) = (ran.call.result, outcome.and_then(|outcome| outcome.result.clone()));
    let result = if ran.is_second { told_result.or(own) } else { own.or(told_result) };
    // A call that the provider ran has its result beside it.
    call.result =
        result.or(call.result.take()).or(ran.message.filter(|_| ran.call.is_error).map(|text| string(&text)));
    call.arguments = call.arguments.take().or(ran.call.arguments);
    call.is_error |= ran.call.is_error || outcome.is_some_and(|outcome| outcome.is_error);
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
    /// By the id of the call, then by the number of the request: the last result with this id in this request.
    by_id: HashMap<&'r str, BTreeMap<usize, &'r Outcome>>,
    /// For each reply, the results at the end of its caller's next request that have no id, or an id that no call has.
    last: Vec<Vec<Outcome>>,
}

impl<'r> Results<'r> {
    fn new(replies: &'r [ReplySpan], assistant: &[Option<AssistantMessage>]) -> Self {
        let mut by_id: HashMap<&str, BTreeMap<usize, &Outcome>> = HashMap::new();
        let mut ids: HashSet<&str> =
            assistant.iter().flatten().flat_map(calls).filter_map(|call| call.id.as_deref()).collect();
        for (number, reply_span) in replies.iter().enumerate() {
            for turn in reply_span.reply.input.iter().flatten() {
                match turn {
                    Turn::Result(outcome) => {
                        if let Some(id) = outcome.id.as_deref() {
                            by_id.entry(id).or_default().insert(number, outcome);
                        }
                    }
                    Turn::Assistant(assistant) => {
                        ids.extend(calls(assistant).filter_map(|call| call.id.as_deref()));
                    }
                    Turn::User(_) | Turn::Unknown => {}
                }
            }
        }
        // The results at the end of a request belong to the previous reply of the same caller.
        let mut last = vec![Vec::new(); replies.len()];
        let mut before: HashMap<Option<usize>, usize> = HashMap::new();
        for (number, reply_span) in replies.iter().enumerate() {
            let input = reply_span.reply.input.as_deref().unwrap_or_default();
            let new = input.iter().rev().take_while(|turn| !matches!(turn, Turn::Assistant(_)));
            let new = new.filter_map(|turn| match turn {
                Turn::Result(outcome) if outcome.id.as_ref().is_none_or(|id| !ids.contains(id.as_str())) => {
                    Some(outcome)
                }
                _ => None,
            });
            let mut new: Vec<Outcome> = new.cloned().collect();
            new.reverse();
            if let Some(before) = before.insert(reply_span.caller, number) {
                last[before] = new;
            }
        }
        Self { by_id, last }
    }

    /// The result of a call of this reply: the last one with this id in the first later request that has one.
    fn after(&self, id: &str, number: usize) -> Option<&'r Outcome> {
        self.by_id.get(id)?.range(number + 1..).next().map(|(_, outcome)| *outcome)
    }

    /// The results that only their order joins to the calls of this reply; empty if all these calls have results.
    fn waiting(&self, number: usize, assistant: Option<&AssistantMessage>) -> Vec<Outcome> {
        let mut spoken = assistant.into_iter().flatten();
        let waits = spoken.any(|spoken| matches!(spoken, MessagePart::Call(call) if call.result.is_none()));
        if waits { self.last[number].clone() } else { Vec::new() }
    }
}

/// The spans of tools that no reply's call has taken yet.
struct Tools {
    all: Vec<Option<ToolSpan>>,
    starts: Vec<Option<u64>>,
    by_id: HashMap<String, VecDeque<usize>>,
    by_name: HashMap<String, VecDeque<usize>>,
}

impl Tools {
    fn new(ran: Vec<ToolSpan>) -> Self {
        let mut tools =
            Self { all: Vec::new(), starts: Vec::new(), by_id: HashMap::new(), by_name: HashMap::new() };
        for (number, tool_span) in ran.into_iter().enumerate() {
            if let Some(id) = &tool_span.ran.call.id {
                tools.by_id.entry(id.clone()).or_default().push_back(number);
            }
            tools.by_name.entry(bare(&tool_span.ran.call.tool).to_owned()).or_default().push_back(number);
            tools.starts.push(tool_span.start);
            tools.all.push(Some(tool_span));
        }
        tools
    }

    /// The span that ran a call: by its id; else among the spans with its name between its reply and the next one, the
    /// first with the same arguments, or the first of all.
    fn take(&mut self, call: &TracedCall, start: Option<u64>, end: Option<u64>) -> Option<ToolSpan> {
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
        let can_be = |tool_span: &ToolSpan| tool_span.ran.call.id.is_none() || call.id.is_none();
        let window: Vec<(usize, usize)> =
            window.filter(|(_, number)| all[*number].as_ref().is_some_and(can_be)).collect();
        let is_alike = |(_, number): &&(usize, usize)| {
            let own = all[*number].as_ref().and_then(|tool_span| tool_span.ran.call.arguments.as_ref());
            own.zip(call.arguments.as_ref()).is_some_and(|(own, assistant)| is_same(own, assistant))
        };
        let (place, number) = *window.iter().find(is_alike).or(window.first())?;
        named.remove(first + place);
        all[number].take()
    }

    fn rest(self) -> impl Iterator<Item = ToolSpan> {
        self.all.into_iter().flatten()
    }
}

/// The most spans of the same name that are compared with a call whose id finds no span.
const WINDOW: usize = 256;

/// Makes steps of the spans that no reply's call has taken. Calls of one caller between two of its replies form one
/// step if their times overlap.
fn loose(
    conversation: &mut Conversation,
    rest: impl Iterator<Item = ToolSpan>,
    replies: &[ReplySpan],
) -> Vec<(Option<u64>, Vec<TracedCall>)> {
    let mut starts: HashMap<Option<usize>, Vec<Option<u64>>> = HashMap::new();
    for reply_span in replies {
        starts.entry(reply_span.caller).or_default().push(reply_span.start);
    }
    let has_calls =
        replies.iter().any(|reply_span| reply_span.assistant.iter().flat_map(calls).next().is_some());
    let mut steps: Vec<(Option<u64>, Vec<TracedCall>)> = Vec::new();
    let mut open: HashMap<(Option<usize>, usize), (usize, u64)> = HashMap::new();
    for tool_span in rest {
        let gap = starts
            .get(&tool_span.caller)
            .map_or(0, |starts| starts.partition_point(|at| *at <= tool_span.start));
        let key = (tool_span.caller, gap);
        let (start, end) = (tool_span.start, tool_span.end.or(tool_span.start));
        let mut call = TracedCall::new(None, tool_span.ran.call.tool.clone(), None);
        complete(&mut call, Some(tool_span), None);
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
