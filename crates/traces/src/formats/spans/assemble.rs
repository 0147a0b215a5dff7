//! Makes a trajectory of replies and calls whose places in the trace are known.

use super::join::{Joined, join};
use super::placed::{Placed, PlacedCall};
use super::roles::{Agent, Reply, Role, Said, Spoken, Turn};
use super::scopes::Scopes;
use crate::conversation::{Answer, Conversation};
use crate::spans::Span;

/// How deep agents may be in one another; what is deeper is left out.
const DEEPEST: usize = 16;

/// The outer trajectory of a trace, with those of agents inside its calls.
pub(super) fn conversation(spans: &[Span], mut roles: Vec<Role>) -> Conversation {
    let mut scopes = Scopes::of(spans, &mut roles);
    scope(spans, &mut roles, &mut scopes, None, 0).1
}

/// The trajectory of what is directly in the trace, or in a call, with the agent's name.
fn scope(
    spans: &[Span],
    roles: &mut [Role],
    scopes: &mut Scopes,
    holder: Option<usize>,
    depth: usize,
) -> (Option<String>, Conversation) {
    let (mut replies, mut ran, mut agents) = (Vec::new(), Vec::new(), Vec::new());
    let mut conversation = Conversation::default();
    for member in scopes.take(holder) {
        let (start, end) = (spans[member].start, spans[member].end);
        let caller = scopes.caller(member);
        match std::mem::replace(&mut roles[member], Role::Other) {
            Role::Reply(reply) => {
                replies.push(Placed { id: format!("reply-{member}"), start, caller, reply, said: None });
            }
            Role::Call(call) => ran.push(PlacedCall { span: member, start, end, caller, ran: call }),
            Role::Agent(agent) => agents.push(agent),
            Role::Aside | Role::Other => {}
        }
    }
    for inside in scopes.insides(holder, ran.iter().map(|ran| ran.span)) {
        if depth >= DEEPEST {
            conversation.note("agents inside agents are left out from a certain depth on");
            break;
        }
        let (name, inner) = scope(spans, roles, scopes, Some(inside), depth + 1);
        // Members are in the order of their spans.
        let of_inside = ran.binary_search_by_key(&inside, |ran| ran.span).ok();
        let tool = || of_inside.and_then(|at| ran.get(at)).map(|ran| ran.ran.call.tool.clone());
        if !inner.is_empty() {
            conversation.nested.push((name.or_else(tool).unwrap_or_default(), inner));
        }
    }
    let name = agents.iter().find_map(|agent| agent.name.clone());
    if replies.iter().all(|placed| placed.reply.input.is_none() && placed.reply.outputs.is_empty()) {
        let told =
            agents.iter_mut().map(|agent| std::mem::take(&mut agent.turns)).find(|turns| !turns.is_empty());
        replies.extend(of_turns(
            told.unwrap_or_default(),
            replies.iter().map(|placed| placed.start).min().flatten(),
        ));
    }
    let joined = join(&mut conversation, replies, ran);
    emit(&mut conversation, joined, &agents);
    (name, conversation)
}

/// The replies of an agent whose messages are told as a whole.
fn of_turns(turns: Vec<Turn>, start: Option<u64>) -> Vec<Placed> {
    let mut replies = Vec::new();
    let mut before = Vec::new();
    let mut push = |before: &mut Vec<Turn>, said: Option<Said>| {
        let reply = Reply {
            input: Some(std::mem::take(before)),
            outputs: said.into_iter().collect(),
            ..Reply::default()
        };
        let id = format!("message-{}", replies.len());
        replies.push(Placed { id, start, caller: None, reply, said: None });
    };
    for turn in turns {
        match turn {
            Turn::Said(said) => push(&mut before, Some(said)),
            other => before.push(other),
        }
    }
    if !before.is_empty() {
        push(&mut before, None);
    }
    replies
}

/// Tells the core what was joined, in the order of time.
fn emit(conversation: &mut Conversation, joined: Joined, agents: &[Agent]) {
    let Joined { replies, steps } = joined;
    let mut steps = steps.into_iter().peekable();
    let mut has_answer = false;
    for (number, (placed, waiting)) in replies.into_iter().enumerate() {
        while let Some((_, calls)) = steps.next_if(|(start, _)| *start < placed.start) {
            conversation.step(calls);
        }
        let mut input = placed.reply.input.unwrap_or_default();
        if number == 0 {
            leave_out_before(conversation, &mut input);
        }
        for turn in input {
            if let Turn::User(content) = turn {
                conversation.user(content);
            }
        }
        conversation.usage.add(placed.reply.usage);
        conversation.model = placed.reply.model.or(conversation.model.take());
        if let Some(said) = placed.said {
            has_answer = say(conversation, &placed.id, said);
            for outcome in waiting {
                conversation.result(outcome);
            }
        }
    }
    for (_, calls) in steps {
        has_answer = false;
        conversation.step(calls);
    }
    if !conversation.has_question() {
        agents
            .iter()
            .find_map(|agent| agent.question.clone())
            .into_iter()
            .for_each(|asked| conversation.user(asked));
    }
    let answer = agents.iter().find_map(|agent| agent.answer.clone());
    if !has_answer && let Some(answer) = answer {
        conversation.answer = Answer::Told(Some(answer));
    }
}

/// Leaves out what was said before the trace began: its calls are of another trace, and so is its question.
fn leave_out_before(conversation: &mut Conversation, input: &mut Vec<Turn>) {
    let Some(last) = input.iter().rposition(|turn| matches!(turn, Turn::Said(_))) else { return };
    if input[last..].iter().any(|turn| matches!(turn, Turn::User(_))) {
        conversation.note("turns of the conversation before this trace are left out");
        input.drain(..last);
    }
}

/// One reply; whether it ends with an answer. What follows the result of a call that the provider ran is a step of its own.
fn say(conversation: &mut Conversation, id: &str, said: Said) -> bool {
    let (mut parts, mut is_closed) = (0, false);
    let (mut has_text, mut has_calls) = (false, false);
    conversation.reply(Some(id));
    for spoken in said {
        if is_closed && !matches!(spoken, Spoken::Result(_)) {
            parts += 1;
            conversation.reply(Some(&format!("{id}/{parts}")));
            (is_closed, has_text, has_calls) = (false, false, false);
        }
        match spoken {
            Spoken::Text(text) => {
                has_text |= !text.is_empty();
                conversation.reply(Some(&if parts == 0 { id.to_owned() } else { format!("{id}/{parts}") }));
                conversation.say(&text);
            }
            Spoken::Call(call) => {
                has_calls = true;
                conversation.call(call);
            }
            Spoken::Result(outcome) => {
                is_closed = true;
                conversation.result(outcome);
            }
        }
    }
    has_text && !has_calls
}
