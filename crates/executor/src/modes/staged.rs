//! The mode of the paper (M³-Bench, section 3.1): plan, call, decide, answer, each in a turn of its own with its own
//! instructions. The conversation goes on through all of them; the list of all tools is only in the instructions of
//! the plan.

use std::sync::Arc;

use m3_llm::Reply;
use m3_mcp::ToolName;
use m3_support::text::counted;

use super::{ReplyReading, ask, ask_twice, calls_of, ended, tell, used_up};
use crate::FinishReason;
use crate::attempt_state::AttemptState;
use crate::parse::{self, ParsedCall};
use crate::prompts::{
    AnswerCue, AnswerPrompt, CallsCue, CallsPrompt, DecisionCue, DecisionPrompt, LastCue, PlanCue,
    PlanPrompt, filled, in_words, quoted, with_schemas,
};
use crate::stop::Stop;

pub(crate) async fn staged(state: &mut AttemptState<'_>) -> Result<FinishReason, Stop> {
    state.begin()?;
    let steps = state.attempt.options.limits.steps;
    for step in 1..=steps {
        if used_up(state).is_some() {
            break;
        }
        state.say(filled(&PlanCue { step, steps }));
        // The last step may have added tools.
        let plan_prompt = filled(&PlanPrompt { tools: in_words(state.attempt.offered.catalog()) });
        let selected = plan(state, &plan_prompt).await?;
        state.check()?;
        if selected.as_ref().is_some_and(Vec::is_empty) {
            return answer(state).await;
        }
        let wanted = calls(state, selected).await?;
        state.check()?;
        if !wanted.is_empty() {
            let observations = state.run_step(wanted).await?;
            tell(state, "Result", observations);
        }
        state.say(filled(&DecisionCue));
        if is_complete(state).await? {
            state.check()?;
            return answer(state).await;
        }
        state.check()?;
    }
    // Steps without calls count as used, too.
    let limit = used_up(state).unwrap_or_else(|| {
        (FinishReason::MaxSteps, format!("the limit of {} is reached", counted(steps, "step")))
    });
    state.say(filled(&LastCue { reason: &limit.1 }));
    let text = last_words(state).await?;
    Ok(ended(state, limit, &text))
}

/// The tools that the model names for the next step; `None` if its plan cannot be read.
async fn plan(state: &mut AttemptState<'_>, prompt: &str) -> Result<Option<Vec<String>>, Stop> {
    let offered: Vec<String> =
        state.attempt.offered.catalog().tools().map(|(name, _)| name.to_string()).collect();
    let read = |reply: &Reply| {
        let planned = parse::plan(&reply.text, offered.iter().map(String::as_str));
        ReplyReading { problem: planned.as_ref().err().cloned(), value: planned.ok() }
    };
    let planned = ask(state, "plan", prompt, read).await?;
    Ok(planned.map(|planned| {
        state.note(planned.oddities);
        planned.tools.iter().map(|name| state.exact_name(name)).collect()
    }))
}

/// The calls of the step. Without a plan that could be read, the model may call any tool.
async fn calls(state: &mut AttemptState<'_>, selected: Option<Vec<String>>) -> Result<Vec<ParsedCall>, Stop> {
    let all = Arc::clone(&state.attempt.offered);
    let offered = all.catalog();
    let is_offered = |name: &String| ToolName::parse(name).is_some_and(|name| offered.get(&name).is_some());
    let selected = selected.unwrap_or_default();
    let unknown: Vec<String> = selected.iter().filter(|name| !is_offered(name)).cloned().collect();
    let is_any_offered = selected.len() > unknown.len();
    let is_wanted = |name: &ToolName| !is_any_offered || selected.contains(&name.to_string());
    let prompt = filled(&CallsPrompt {
        tools: with_schemas(offered, is_wanted),
        most_calls: state.attempt.options.limits.calls_per_step,
    });
    let images = quoted(state.pool.paths());
    state.say(filled(&CallsCue { unknown: quoted(&unknown), images }));
    let read = |reply: &Reply| calls_of(reply, parse::calls(&reply.text));
    let calls = ask(state, "calls", &prompt, read).await?;
    state.note(calls.oddities);
    Ok(calls.calls)
}

/// Whether the model says that the task is complete. A reply that is neither yes nor no counts as no.
async fn is_complete(state: &mut AttemptState<'_>) -> Result<bool, Stop> {
    let read = |reply: &Reply| {
        let decided = parse::decision(&reply.text);
        let problem = decided.is_none().then(|| "it is neither yes nor no".to_owned());
        ReplyReading { value: decided, problem }
    };
    let decided = ask(state, "decision", &filled(&DecisionPrompt), read).await?;
    Ok(decided.unwrap_or_else(|| {
        state.note(["taken for no".to_owned()]);
        false
    }))
}

async fn answer(state: &mut AttemptState<'_>) -> Result<FinishReason, Stop> {
    state.say(filled(&AnswerCue));
    let text = ask(state, "answer", &filled(&AnswerPrompt), read_answer).await?;
    text.trim().clone_into(&mut state.final_reply);
    Ok(FinishReason::Answered)
}

/// The model's last reply after a limit was reached; the limit stays the reason of the end, whatever the reply says.
async fn last_words(state: &mut AttemptState<'_>) -> Result<String, Stop> {
    Ok(ask_twice(state, "answer", &filled(&AnswerPrompt), read_answer).await?.0)
}

fn read_answer(reply: &Reply) -> ReplyReading<String> {
    let is_missing = reply.text.trim().is_empty();
    ReplyReading { value: reply.text.clone(), problem: is_missing.then(|| "it is empty".to_owned()) }
}
