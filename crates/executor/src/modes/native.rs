//! The `native` mode: the provider's own tool calling. A reply without calls is the answer (MCP-AgentBench, appendix
//! C.2).

use m3_llm::{Reply, ReplyCall, ToolAnswer, ToolDefinition};
use m3_mcp::ToolName;
use m3_trajectory::FailureClass;
use serde_json::{Map, Value};

use super::{blocked, ended, silence, silent, used_up, wanted};
use crate::FinishReason;
use crate::attempt_state::AttemptState;
use crate::observation::Observation;
use crate::parse;
use crate::prompts::{AgainCue, LastCue, NativePrompt, PoolCue, filled, quoted};
use crate::stop::Stop;

/// The marks of chat templates in front of calls: Hermes and Qwen, Qwen3-Coder, Mistral, Llama, DeepSeek, GLM and Kimi.
const CALL_MARKS: [&str; 6] = [
    "<tool_call>",
    "<function=",
    "[TOOL_CALLS]",
    "<|python_tag|>",
    "<\u{ff5c}tool\u{2581}calls\u{2581}begin\u{ff5c}>",
    "<|tool_calls_section_begin|>",
];

/// The note on an answer that was meant as a call.
const CALL_IN_TEXT: &str = "the answer has a call in its text, which was not made: the server does not read the calls \
                            of its model (vLLM does with `--enable-auto-tool-choice` and `--tool-call-parser`; \
                            `--mode react` and `--mode staged` need no such parser)";

/// The note on a first turn in which the model seems not to have received the tools.
pub const TOOLS_UNREAD: &str = "the provider reports fewer tokens than the prompt has words with its tools: \
    the server, or the model's chat template, seems to leave the tools out (`--mode react` and `--mode staged` put them \
    into the text)";

/// Whether the provider reports fewer tokens than the prompt has words. No usual tokenizer makes one token of two
/// separate words, and images only add tokens; so a large part of the prompt was not read. If the tools have fewer
/// words than the rest has tokens, nothing can be concluded.
fn tools_are_unread(reply: &Reply, texts: [&str; 2], tools: &[ToolDefinition]) -> bool {
    let words = |text: &str| text.split_whitespace().count() as u64;
    let of_tools: u64 =
        tools.iter().map(|tool| 1 + words(&tool.description) + schema_words(&tool.schema)).sum();
    let all = texts.into_iter().map(words).sum::<u64>() + of_tools;
    reply.usage.input_tokens.is_some_and(|read| read > 0 && read < all)
}

/// Counts the words that every notation of a schema contains: the names and descriptions of properties.
fn schema_words(schema: &Map<String, Value>) -> u64 {
    let of = |(key, value): (&String, &Value)| match (key.as_str(), value) {
        ("description", Value::String(text)) => text.split_whitespace().count() as u64,
        ("properties", Value::Object(properties)) => {
            properties.values().map(|property| 1 + property.as_object().map_or(0, schema_words)).sum()
        }
        ("items", Value::Object(items)) => schema_words(items),
        _ => 0,
    };
    schema.iter().map(of).sum()
}

pub(crate) async fn native(state: &mut AttemptState<'_>) -> Result<FinishReason, Stop> {
    state.begin()?;
    let instruction = state.instruction()?;
    let prompt = filled(&NativePrompt { most_calls: state.attempt.options.limits.calls_per_step });
    let mut is_again = false;
    loop {
        // The last step may have added tools.
        let tools = state.attempt.offered.definitions();
        let tools = tools.map_err(|collision| Stop::Error(FailureClass::Other, collision.to_string()))?;
        let is_first = state.steps_done() == 0 && !is_again;
        let reply = state.ask("turn", &prompt, tools.clone()).await?;
        if is_first && tools_are_unread(&reply, [&prompt, instruction], &tools) {
            state.note([TOOLS_UNREAD.to_owned()]);
        }
        if reply.calls.is_empty() {
            if let Some(reason) = blocked(&reply) {
                return Err(Stop::no_reply(reason));
            }
            let Some(reason) = silence(&reply) else {
                if has_call(state, &reply.text) {
                    state.note([CALL_IN_TEXT.to_owned()]);
                }
                reply.text.trim().clone_into(&mut state.final_reply);
                return Ok(FinishReason::Answered);
            };
            state.tell_malformed(&reason);
            if is_again {
                return Err(silent(&reason));
            }
            is_again = true;
            state.check()?;
            state.say(filled(&AgainCue { reason: &reason }));
            continue;
        }
        is_again = false;
        state.check()?;
        if let Some(limit) = used_up(state) {
            let refused =
                |call: &ReplyCall| Observation::error(call.name.clone(), &format!("not made: {}", limit.1));
            let observations = reply.calls.iter().map(refused).collect();
            answer(state, &reply.calls, observations);
            state.say(filled(&LastCue { reason: &limit.1 }));
            let last = state.ask("answer", &prompt, tools).await?;
            return Ok(ended(state, limit, &last.text));
        }
        let (wanted, problem) = wanted(&reply.calls);
        if let Some(reason) = problem {
            state.tell_malformed(&reason);
        }
        let mut observations = state.run_step(wanted).await?;
        if state.has_new_images
            && let Some(last) = observations.last_mut()
        {
            let images = filled(&PoolCue { images: quoted(state.pool.paths()) });
            last.text.push_str("\n\n");
            last.text.push_str(&images);
        }
        answer(state, &reply.calls, observations);
    }
}

/// Whether a text has a call in it, in the form of a chat template or as JSON that names an offered tool.
fn has_call(state: &AttemptState<'_>, text: &str) -> bool {
    let is_offered = |name: &str| {
        let name = ToolName::parse(&state.exact_name(name));
        name.is_some_and(|name| state.attempt.offered.catalog().get(&name).is_some())
    };
    CALL_MARKS.iter().any(|mark| text.contains(mark))
        || parse::calls(text).calls.iter().any(|call| is_offered(&call.name))
}

/// Answers every call exactly once, in the order of the calls.
fn answer(state: &mut AttemptState<'_>, calls: &[ReplyCall], observations: Vec<Observation>) {
    let (mut answers, mut paths) = (Vec::new(), Vec::new());
    for (call, observation) in calls.iter().zip(observations) {
        let (names, images) = observation.pictures.into_iter().unzip();
        paths.push(names);
        answers.push(ToolAnswer {
            call_id: call.id.clone(),
            name: call.name.clone(),
            text: observation.text,
            images,
            is_error: observation.is_error,
        });
    }
    state.answer_calls(answers, &paths);
}
