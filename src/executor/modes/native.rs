//! The provider's own tool calling. A reply without calls is the answer (MCP-AgentBench, appendix C.2).

use super::{ended, silence, silent, used_up, wanted};
use crate::executor::FinishReason;
use crate::executor::course::{Course, Stop};
use crate::executor::observation::Observation;
use crate::executor::prompts::{AgainCue, LastCue, NativePrompt, PoolCue, filled, quoted};
use crate::llm::{ReplyCall, ToolAnswer};

pub(in crate::executor) async fn native(course: &mut Course<'_>) -> Result<FinishReason, Stop> {
    course.begin()?;
    let tools = course.attempt.offered.definitions();
    let tools = tools.map_err(|collision| Stop::Error(collision.to_string()))?;
    let prompt = filled(&NativePrompt { most_calls: course.attempt.options.limits.calls_per_step });
    let mut is_again = false;
    loop {
        let reply = course.ask("turn", &prompt, tools.clone()).await?;
        if reply.calls.is_empty() {
            let Some(reason) = silence(&reply) else {
                reply.text.trim().clone_into(&mut course.final_reply);
                return Ok(FinishReason::Answered);
            };
            course.tell_malformed(&reason);
            if is_again {
                return Err(silent(&reason));
            }
            is_again = true;
            course.check()?;
            course.say(filled(&AgainCue { reason: &reason }));
            continue;
        }
        is_again = false;
        course.check()?;
        if let Some(limit) = used_up(course) {
            let refused =
                |call: &ReplyCall| Observation::error(call.name.clone(), &format!("not made: {}", limit.1));
            let observations = reply.calls.iter().map(refused).collect();
            answer(course, &reply.calls, observations);
            course.say(filled(&LastCue { reason: &limit.1 }));
            let last = course.ask("answer", &prompt, tools).await?;
            return Ok(ended(course, limit, &last.text));
        }
        let (wanted, problem) = wanted(&reply.calls);
        if let Some(reason) = problem {
            course.tell_malformed(&reason);
        }
        let mut observations = course.run_step(wanted).await?;
        if course.has_new_images
            && let Some(last) = observations.last_mut()
        {
            let images = filled(&PoolCue { images: quoted(course.pool.paths()) });
            last.text.push_str("\n\n");
            last.text.push_str(&images);
        }
        answer(course, &reply.calls, observations);
    }
}

/// Answers every call exactly once, in the order of the calls.
fn answer(course: &mut Course<'_>, calls: &[ReplyCall], observations: Vec<Observation>) {
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
    course.answer_calls(answers, &paths);
}
