//! The three ways in which a model and the executor work together, and what they have in common.

mod native;
mod react;
mod staged;

use m3_llm::{Arguments, NO_NAME, Reply, ReplyCall, StopReason, ToolDefinitions};
use m3_support::text::counted;
pub use native::TOOLS_UNREAD;
pub(super) use native::native;
pub(super) use react::react;
pub(super) use staged::staged;

use super::FinishReason;
use super::attempt_state::AttemptState;
use super::observation::Observation;
use super::parse::{Calls, ParsedCall};
use super::prompts::{AgainCue, ObservationCue, filled};
use super::stop::Stop;

/// The value that could be read from a reply.
struct ReplyReading<T> {
    value: T,
    /// Why the reply cannot be used; `None` if it can.
    problem: Option<String>,
}

/// The reason why a reply is empty.
enum Silence {
    /// The model has said nothing at all.
    Empty(String),
    /// The provider has held back the whole reply.
    Blocked(String),
}

impl Silence {
    /// How a task ends because of this silence.
    fn stop(self) -> Stop {
        match self {
            Self::Empty(reason) => silent(&reason),
            Self::Blocked(reason) => Stop::no_reply(reason),
        }
    }
}

/// Asks for a reply in text, and once more with the reason if the reply cannot be used.
///
/// # Errors
/// [`Stop::Error`] if the model says nothing at all, twice, or the provider blocks its reply.
async fn ask<T>(
    state: &mut AttemptState<'_>,
    purpose: &str,
    system: &str,
    read: impl Fn(&Reply) -> ReplyReading<T>,
) -> Result<T, Stop> {
    let (value, silence) = ask_twice(state, purpose, system, read).await?;
    silence.map_or(Ok(value), |silence| Err(silence.stop()))
}

/// Asks, and asks once more if the reply is of no use. A model that says nothing twice is not an error here: the
/// reason is returned with the value.
async fn ask_twice<T>(
    state: &mut AttemptState<'_>,
    purpose: &str,
    system: &str,
    read: impl Fn(&Reply) -> ReplyReading<T>,
) -> Result<(T, Option<Silence>), Stop> {
    let (first, first_silence) = ask_once(state, purpose, system, &read).await?;
    if let Some(Silence::Blocked(_)) = first_silence {
        return Ok((first.value, first_silence));
    }
    let Some(reason) = first.problem else { return Ok((first.value, None)) };
    state.check()?;
    state.say(filled(&AgainCue { reason: &reason }));
    let (second, silence) = ask_once(state, purpose, system, &read).await?;
    let is_silent = |silence: &Silence| first_silence.is_some() || matches!(silence, Silence::Blocked(_));
    Ok((second.value, silence.filter(is_silent)))
}

async fn ask_once<T>(
    state: &mut AttemptState<'_>,
    purpose: &str,
    system: &str,
    read: &impl Fn(&Reply) -> ReplyReading<T>,
) -> Result<(ReplyReading<T>, Option<Silence>), Stop> {
    let reply = state.ask(purpose, system, ToolDefinitions::default()).await?;
    let mut read = read(&reply);
    if let Some(reason) = blocked(&reply) {
        return Ok((read, Some(Silence::Blocked(reason))));
    }
    if let Some(reason) = &mut read.problem {
        reason.push_str(why(&reply.stop));
        state.tell_malformed(reason);
    }
    Ok((read, silence(&reply).map(Silence::Empty)))
}

/// Why a reply says nothing at all; `None` if it says something.
fn silence(reply: &Reply) -> Option<String> {
    is_empty(reply).then(|| format!("it has neither text nor calls{}", why(&reply.stop)))
}

/// Why the provider has held back all of a reply; `None` if it has not. Asking again would give the same: the task
/// ends.
fn blocked(reply: &Reply) -> Option<String> {
    let block = reply.block.as_ref().filter(|_| is_empty(reply))?;
    Some(format!("the provider blocked the reply: `{block}`"))
}

fn is_empty(reply: &Reply) -> bool {
    reply.text.trim().is_empty() && reply.calls.is_empty()
}

/// How a task ends when its model has said nothing twice.
fn silent(reason: &str) -> Stop {
    Stop::no_reply(format!("the model has said nothing, and nothing again when it was told: {reason}"))
}

/// An explanation of a malformed reply by the way it ended; empty if that explains nothing.
fn why(stop: &StopReason) -> &'static str {
    match stop {
        StopReason::Length => "; it ended at the limit of tokens",
        StopReason::Refused => "; it was held back by the provider",
        _ => "",
    }
}

/// The calls that a reply has in its text. If there are none and the model has used the provider's tool calling
/// instead, those calls.
fn calls_of(reply: &Reply, calls: Calls) -> ReplyReading<Calls> {
    let calls = if calls.problem.is_some() && !reply.calls.is_empty() {
        let (calls, problem) = wanted(&reply.calls);
        let oddities =
            vec!["the calls came by the provider's tool calling, which was not offered".to_owned()];
        Calls { calls, oddities, problem }
    } else {
        calls
    };
    ReplyReading { problem: calls.problem.clone(), value: calls }
}

/// The calls made by the provider's tool calling, and why one of them is illegal.
fn wanted(calls: &[ReplyCall]) -> (Vec<ParsedCall>, Option<String>) {
    let wanted = |call: &ReplyCall| {
        let is_malformed = matches!(call.arguments, Arguments::Malformed(_));
        let mut illegal = is_malformed.then(|| "the arguments of a call are no JSON object".to_owned());
        if call.name.trim().is_empty() {
            illegal = Some(NO_NAME.to_owned());
        }
        ParsedCall { name: call.name.clone(), arguments: call.arguments.to_value(), illegal }
    };
    let wanted: Vec<ParsedCall> = calls.iter().map(wanted).collect();
    let problem = wanted.iter().find_map(|call| call.illegal.clone());
    (wanted, problem)
}

/// Gives the model the results of calls as text, and shows their pictures.
fn tell(state: &mut AttemptState<'_>, heading: &str, observations: Vec<Observation>) {
    for (index, observation) in observations.into_iter().enumerate() {
        let Observation { tool, text, pictures, is_error } = observation;
        let tool = if tool.is_empty() { "no tool" } else { &tool };
        state.say(filled(&ObservationCue { heading, number: index + 1, tool, is_error, text: &text }));
        for (path, picture) in pictures {
            state.show(&path, picture);
        }
    }
}

/// The limit that forbids another step, in the words for the model and the record.
fn used_up(state: &AttemptState<'_>) -> Option<(FinishReason, String)> {
    let limits = &state.attempt.options.limits;
    if state.calls_left() == 0 {
        let reason = format!("calls: the limit of {} is reached", limits.calls.unwrap_or_default());
        return Some((FinishReason::Budget, reason));
    }
    (state.steps_done() >= limits.steps).then(|| {
        (FinishReason::MaxSteps, format!("the limit of {} is reached", counted(limits.steps, "step")))
    })
}

/// Ends the task with the model's last reply, after a limit was reached.
fn ended(state: &mut AttemptState<'_>, (finish, reason): (FinishReason, String), text: &str) -> FinishReason {
    text.trim().clone_into(&mut state.final_reply);
    state.used_up = (finish == FinishReason::Budget).then_some(reason);
    finish
}
