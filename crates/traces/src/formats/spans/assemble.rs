//! Makes a trajectory of replies and calls whose places in the trace are known.

use super::join::{JoinedReplies, join};
use super::reply_span::{ReplySpan, ToolSpan};
use super::roles::{Agent, AssistantMessage, MessagePart, Reply, Role, Turn};
use super::scopes::Scopes;
use crate::conversation::{Answer, Conversation};
use crate::spans::Span;

/// How deep agents may be nested; deeper ones are left out.
const DEEPEST: usize = 16;

/// The outer trajectory of a trace, with those of agents inside its calls.
pub(super) fn conversation(spans: &[Span], mut roles: Vec<Role>) -> Conversation {
    let mut scopes = Scopes::new(spans, &mut roles);
    scope(spans, &mut roles, &mut scopes, None, 0).1
}

/// The trajectory whose spans `holder` holds (the trace itself, a call or an agent), with the
/// agent's name if it has one.
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
                replies.push(ReplySpan {
                    id: format!("reply-{member}"),
                    start,
                    caller,
                    reply,
                    assistant: None,
                });
            }
            Role::Call(call) => ran.push(ToolSpan { span: member, start, end, caller, ran: call }),
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
        // Binary search works, since members, and so the calls, are sorted by their spans.
        let of_inside = ran.binary_search_by_key(&inside, |ran| ran.span).ok();
        let tool = || of_inside.and_then(|at| ran.get(at)).map(|ran| ran.ran.call.tool.clone());
        if !inner.is_empty() {
            conversation.nested.push((name.or_else(tool).unwrap_or_default(), inner));
        }
    }
    let name = agents.iter().find_map(|agent| agent.name.clone());
    if replies
        .iter()
        .all(|reply_span| reply_span.reply.input.is_none() && reply_span.reply.outputs.is_empty())
    {
        let turns =
            agents.iter_mut().map(|agent| std::mem::take(&mut agent.turns)).find(|turns| !turns.is_empty());
        replies.extend(of_turns(
            turns.unwrap_or_default(),
            replies.iter().map(|reply_span| reply_span.start).min().flatten(),
        ));
    }
    let joined = join(&mut conversation, replies, ran);
    emit(&mut conversation, joined, &agents);
    (name, conversation)
}

/// The replies of an agent that has all its messages in one attribute.
fn of_turns(turns: Vec<Turn>, start: Option<u64>) -> Vec<ReplySpan> {
    let mut replies = Vec::new();
    let mut before = Vec::new();
    let mut push = |before: &mut Vec<Turn>, assistant: Option<AssistantMessage>| {
        let reply = Reply {
            input: Some(std::mem::take(before)),
            outputs: assistant.into_iter().collect(),
            ..Reply::default()
        };
        let id = format!("message-{}", replies.len());
        replies.push(ReplySpan { id, start, caller: None, reply, assistant: None });
    };
    for turn in turns {
        match turn {
            Turn::Assistant(assistant) => push(&mut before, Some(assistant)),
            other => before.push(other),
        }
    }
    if !before.is_empty() {
        push(&mut before, None);
    }
    replies
}

/// Adds the joined replies to the conversation, in the order of time.
fn emit(conversation: &mut Conversation, joined: JoinedReplies, agents: &[Agent]) {
    let JoinedReplies { replies, steps } = joined;
    let mut steps = steps.into_iter().peekable();
    let mut has_answer = false;
    for (number, (reply_span, waiting)) in replies.into_iter().enumerate() {
        while let Some((_, calls)) = steps.next_if(|(start, _)| *start < reply_span.start) {
            conversation.step(calls);
        }
        let mut input = reply_span.reply.input.unwrap_or_default();
        if number == 0 {
            leave_out_before(conversation, &mut input);
        }
        for turn in input {
            if let Turn::User(content) = turn {
                conversation.user(content);
            }
        }
        conversation.usage.add(reply_span.reply.usage);
        conversation.model = reply_span.reply.model.or(conversation.model.take());
        if let Some(assistant) = reply_span.assistant {
            has_answer = say(conversation, &reply_span.id, assistant);
            conversation.results(waiting);
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
        conversation.answer = Answer::Stated(Some(answer));
    }
}

/// Leaves out the messages before the trace began: their calls are in another trace, and so is their question.
fn leave_out_before(conversation: &mut Conversation, input: &mut Vec<Turn>) {
    let Some(last) = input.iter().rposition(|turn| matches!(turn, Turn::Assistant(_))) else { return };
    if input[last..].iter().any(|turn| matches!(turn, Turn::User(_))) {
        conversation.note("turns of the conversation before this trace are left out");
        input.drain(..last);
    }
}

/// Adds one reply, and returns whether it ends with an answer. Parts after the result of a call that the provider ran
/// form a step of their own.
fn say(conversation: &mut Conversation, id: &str, assistant: AssistantMessage) -> bool {
    let (mut parts, mut is_closed) = (0, false);
    let (mut has_text, mut has_calls) = (false, false);
    conversation.reply(Some(id));
    for spoken in assistant {
        if is_closed && !matches!(spoken, MessagePart::Result(_)) {
            parts += 1;
            conversation.reply(Some(&format!("{id}/{parts}")));
            (is_closed, has_text, has_calls) = (false, false, false);
        }
        match spoken {
            MessagePart::Text(text) => {
                has_text |= !text.is_empty();
                conversation.reply(Some(&if parts == 0 { id.to_owned() } else { format!("{id}/{parts}") }));
                conversation.say(&text);
            }
            MessagePart::Call(call) => {
                has_calls = true;
                conversation.call(call);
            }
            MessagePart::Result(outcome) => {
                is_closed = true;
                conversation.result(outcome);
            }
        }
    }
    has_text && !has_calls
}
