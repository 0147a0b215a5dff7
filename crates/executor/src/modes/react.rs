//! The `react` mode: thought, action and observation, in text (MCP-AgentBench, appendix C.1).

use m3_llm::{Reply, ToolDefinitions};

use super::{ReplyReading, ask, calls_of, ended, tell, used_up};
use crate::FinishReason;
use crate::attempt_state::AttemptState;
use crate::parse::{self, Act, Calls, ParsedCall};
use crate::prompts::{LastReactCue, PoolCue, ReactPrompt, filled, quoted, with_schemas};
use crate::stop::Stop;

/// The request of a reply in this mode.
enum Turn {
    Answer(String),
    /// Calls, and the reply cut off where the model went on to invent what only tools can say.
    Calls(Calls, Option<String>),
}

pub(crate) async fn react(state: &mut AttemptState<'_>) -> Result<FinishReason, Stop> {
    state.begin()?;
    loop {
        // The last step may have added tools.
        let prompt = filled(&ReactPrompt {
            tools: with_schemas(state.attempt.offered.catalog(), |_| true),
            most_calls: state.attempt.options.limits.calls_per_step,
        });
        let (calls, cut) = match ask(state, "turn", &prompt, read).await? {
            Turn::Answer(text) => {
                state.final_reply = text;
                return Ok(FinishReason::Answered);
            }
            Turn::Calls(calls, cut) => (calls, cut),
        };
        state.note(calls.oddities);
        state.check()?;
        if let Some(cut) = cut {
            state.cut_last_reply(&cut);
        }
        if let Some(limit) = used_up(state) {
            state.say(filled(&LastReactCue { reason: &limit.1 }));
            let reply = state.ask("answer", &prompt, ToolDefinitions::default()).await?;
            let text = match parse::react(&reply.text).act {
                Act::Answer(text) => text,
                Act::Calls(_) | Act::Neither(_) => reply.text,
            };
            return Ok(ended(state, limit, &text));
        }
        let observations = state.run_step(calls.calls).await?;
        tell(state, "Observation", observations);
        if state.has_new_images {
            let images = quoted(state.pool.paths());
            state.say(filled(&PoolCue { images }));
        }
    }
}

fn read(reply: &Reply) -> ReplyReading<Turn> {
    let parse::ReactReply { act, cut } = parse::react(&reply.text);
    let calls = match act {
        Act::Answer(text) => return ReplyReading { value: Turn::Answer(text), problem: None },
        Act::Calls(calls) => calls,
        Act::Neither(reason) => Calls {
            calls: vec![ParsedCall::illegal(&reply.text, &reason)],
            oddities: Vec::new(),
            problem: Some(reason),
        },
    };
    let ReplyReading { mut value, mut problem } = calls_of(reply, calls);
    if value.calls.is_empty() {
        let reason = "the action has no calls";
        value.calls.push(ParsedCall::illegal(&reply.text, reason));
        problem = Some(reason.to_owned());
    }
    ReplyReading { value: Turn::Calls(value, cut), problem }
}
