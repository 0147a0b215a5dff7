//! Decides on one run: the judge's verdict, its proposal, and whether the proposal keeps the rules.

use std::sync::Arc;

use m3_llm::Picture;
use m3_support::text::{on_one_line, shortened};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::JudgeError;
use super::ask::{Asker, Conversation, QuestionCost};
use super::material;
use super::prompts::{self, Wish};
use super::provenance::{JudgedRun, Refusal, RefusalKind};
use super::reply::{self, Verdict};
use crate::reconstruct::{Proposal, Reconstruction, by_rules, check};
use crate::{CallStatus, Chain};
use m3_flow::{Dependency, dependencies};

/// The longest name of a model, of a file or of a reason that is kept, in columns.
pub(super) const NAME: usize = 300;

/// The longest problem of a reply that is kept and shown, in columns.
const PROBLEM: usize = 500;

/// The most broken rules of a proposal that are kept and shown.
const VIOLATIONS: usize = 20;

/// The reason why a run without recorded results gives no reference.
pub const NO_RESULTS: &str = "no results of its calls are recorded";

/// A run to decide on, with its chain of calls and its picture.
pub(super) struct Case<'a> {
    pub(super) run: &'a Trajectory,
    pub(super) chain: &'a Arc<Chain>,
    pub(super) picture: Option<Arc<Picture>>,
    /// The tokens and models of the questions so far.
    pub(super) asked: QuestionCost,
}

impl JudgedRun {
    /// Records why the run gives no reference.
    pub(super) fn refuse(&mut self, kind: RefusalKind, reason: impl Into<String>) {
        self.refusal = Some(Refusal { kind, reason: reason.into() });
    }
}

/// The refusal of a run for which the judge need not be asked; `None` if the run may still give a reference.
pub(super) fn refusal_beforehand(run: &Trajectory, chain: &Chain, has_judge: bool) -> Option<Refusal> {
    let refusal = |kind, reason: String| Some(Refusal { kind, reason });
    let has_reply = run.final_reply.as_ref().is_some_and(|reply| !reply.trim().is_empty());
    if chain.calls.is_empty() && has_reply {
        // Only a reader of the answer can tell whether the task rightly needs no call.
        let reason = "it has no calls, and rules alone cannot tell whether the task needs none";
        return if has_judge { None } else { refusal(RefusalKind::NoSuccessfulCall, reason.to_owned()) };
    }
    if !chain.calls.iter().any(|call| call.standing == CallStatus::Succeeded) {
        let is_recorded = chain.calls.iter().any(|call| call.standing != CallStatus::NotRecorded);
        let reason = match (chain.calls.is_empty(), is_recorded) {
            (true, _) => "it has no calls",
            (false, true) => "none of its calls succeeded",
            (false, false) => NO_RESULTS,
        };
        return refusal(RefusalKind::NoSuccessfulCall, reason.to_owned());
    }
    let finish = run.get("finish").and_then(Json::as_str);
    match finish {
        Some(finish) if !has_judge && finish != "answered" => {
            let reason = format!("it ended with `{}`, without an answer", shortened(finish, 40));
            refusal(RefusalKind::NotAnswered, reason)
        }
        _ => None,
    }
}

/// Runs slow work on another thread: the rules need time for a long run, and signals must still be handled.
async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JudgeError> {
    // The work does not panic; its result is lost only when the program is being stopped.
    tokio::task::spawn_blocking(work).await.map_err(|_| JudgeError::Interrupted)
}

/// Decides by rules alone.
pub(super) async fn by_rules_alone(chain: &Arc<Chain>, judged: &mut JudgedRun) -> Result<(), JudgeError> {
    let chain = Arc::clone(chain);
    let reconstruction = beside(move || by_rules(&chain, &dependencies(&chain))).await?;
    if reconstruction.steps.iter().all(Vec::is_empty) {
        judged.refuse(RefusalKind::NothingLeft, "the rules leave no call");
    } else {
        judged.reconstruction = Some(reconstruction);
    }
    Ok(())
}

/// Asks the judge for its verdict and for a trajectory, which the rules check.
pub(super) async fn by_judge(
    asker: &Asker,
    mut case: Case<'_>,
    judged: &mut JudgedRun,
) -> Result<(), JudgeError> {
    if verdict(asker, &mut case, judged).await? {
        if case.chain.calls.is_empty() {
            // There is nothing to propose, and no rule to break.
            judged.reconstruction = Some(Reconstruction::default());
        } else {
            let chain = Arc::clone(case.chain);
            let dependencies = Arc::new(beside(move || dependencies(&chain)).await?);
            proposal(asker, &mut case, &dependencies, judged).await?;
        }
    }
    judged.answered_by = case.asked.models.iter().map(|name| shortened(name, NAME)).collect();
    judged.usage = case.asked.usage;
    Ok(())
}

/// Asks for the judge's verdict; true if it is a success.
async fn verdict(asker: &Asker, case: &mut Case<'_>, judged: &mut JudgedRun) -> Result<bool, JudgeError> {
    let record = material::dialogue(case.run, case.chain);
    let wish = if case.chain.calls.is_empty() { Wish::VerdictWithoutCalls } else { Wish::Verdict };
    let mut conversation = begin(asker, case, wish, &record);
    let mut may_ask_again = true;
    loop {
        let Some(reply) = next(&mut conversation, &mut case.asked, judged).await? else { return Ok(false) };
        match reply::opinion(&reply) {
            Ok(opinion) => {
                let is_success = opinion.verdict == Verdict::Success;
                if !is_success {
                    judged.refuse(RefusalKind::VerdictFail, opinion.reason.clone());
                }
                judged.verdict = Some(opinion);
                return Ok(is_success);
            }
            Err(problem) => {
                let problem = shortened(&problem, PROBLEM);
                let text = prompts::unreadable(&problem);
                judged.problems.push(format!("verdict: {problem}"));
                if !std::mem::take(&mut may_ask_again) {
                    conversation.withdraw(&problem)?;
                    judged.refuse(RefusalKind::UnreadableVerdict, problem);
                    return Ok(false);
                }
                conversation.reply_to(reply, text);
            }
        }
    }
}

/// Asks for the judge's proposal. A reply that cannot be read is sent back once, and so is one that breaks rules.
async fn proposal(
    asker: &Asker,
    case: &mut Case<'_>,
    dependencies: &Arc<Vec<Dependency>>,
    judged: &mut JudgedRun,
) -> Result<(), JudgeError> {
    let record = material::chain(case.run, case.chain, dependencies);
    let mut conversation = begin(asker, case, Wish::Proposal, &record);
    let (mut may_be_unreadable, mut may_break_rules) = (true, true);
    loop {
        let Some(reply) = next(&mut conversation, &mut case.asked, judged).await? else { return Ok(()) };
        let text = match reply::proposal(&reply) {
            Ok(None) => {
                judged.refuse(RefusalKind::NoProposal, "the judge found no sound trajectory in it");
                return Ok(());
            }
            Ok(Some(proposal)) => match checked(case.chain, dependencies, proposal).await? {
                Ok(reconstruction) => {
                    judged.reconstruction = Some(reconstruction);
                    return Ok(());
                }
                Err(violations) => {
                    let all = violations.join("; ");
                    judged
                        .problems
                        .extend(violations.iter().map(|violation| format!("proposal: {violation}")));
                    if !std::mem::take(&mut may_break_rules) {
                        judged.refuse(RefusalKind::BreaksRules, all);
                        return Ok(());
                    }
                    prompts::violations(&violations)
                }
            },
            Err(problem) => {
                let problem = shortened(&problem, PROBLEM);
                judged.problems.push(format!("proposal: {problem}"));
                if !std::mem::take(&mut may_be_unreadable) {
                    conversation.withdraw(&problem)?;
                    judged.refuse(RefusalKind::UnreadableProposal, problem);
                    return Ok(());
                }
                prompts::unreadable(&problem)
            }
        };
        conversation.reply_to(reply, text);
    }
}

/// Checks a proposal. The inner error lists the first broken rules in words.
async fn checked(
    chain: &Arc<Chain>,
    dependencies: &Arc<Vec<Dependency>>,
    proposal: Proposal,
) -> Result<Result<Reconstruction, Vec<String>>, JudgeError> {
    let (chain, dependencies) = (Arc::clone(chain), Arc::clone(dependencies));
    let checked = beside(move || check(&chain, &dependencies, &proposal)).await?;
    Ok(checked.map_err(|violations| {
        let words =
            violations.iter().map(|violation| shortened(&on_one_line(&violation.to_string()), PROBLEM));
        words.take(VIOLATIONS).collect()
    }))
}

fn begin<'a>(asker: &'a Asker, case: &Case<'_>, wish: Wish, record: &str) -> Conversation<'a> {
    let text = wish.message(&material::task(case.run), record, case.picture.is_some());
    asker.begin(&case.run.id, wish.system(), text, case.picture.clone())
}

/// The next reply; `None` if this question gets no reply, which then becomes the refusal.
async fn next(
    conversation: &mut Conversation<'_>,
    asked: &mut QuestionCost,
    judged: &mut JudgedRun,
) -> Result<Option<String>, JudgeError> {
    let reply = conversation.next(asked).await?;
    let refuse = |reason: String| {
        judged.refuse(RefusalKind::NoReply, shortened(&on_one_line(&reason), PROBLEM));
    };
    Ok(reply.map_err(refuse).ok())
}

#[cfg(test)]
mod tests {
    use m3_outcomes::KnownTools;
    use m3_trajectory::{Call, Step};

    use super::*;
    use crate::chain_of_run;

    #[test]
    fn a_run_without_a_successful_call_is_refused_before_anybody_is_asked() {
        let run = |result: Option<&str>, outcome: Option<&str>, finish: &str| {
            let call = Call {
                tool: "a/b".to_owned(),
                arguments: Some(Json::Object(Vec::new())),
                result: result.map(|result| Json::String(result.to_owned())),
                extra: outcome
                    .map(|name| ("outcome".to_owned(), Json::String(name.to_owned())))
                    .into_iter()
                    .collect(),
            };
            Trajectory {
                steps: vec![Step { calls: vec![call], ..Step::default() }],
                extra: vec![("finish".to_owned(), Json::String(finish.to_owned()))],
                ..Trajectory::default()
            }
        };
        let found = |run: &Trajectory, has_judge| {
            let chain = chain_of_run(run, &KnownTools::default());
            refusal_beforehand(run, &chain, has_judge).map(|refusal| (refusal.kind, refusal.reason))
        };
        let good = run(Some("7"), Some("success"), "answered");
        assert_eq!(found(&good, false), None);
        let failed = run(Some("no"), Some("resource_not_found"), "answered");
        let no_call = RefusalKind::NoSuccessfulCall;
        assert_eq!(found(&failed, true), Some((no_call, "none of its calls succeeded".to_owned())));
        let unknown = run(None, None, "answered");
        assert_eq!(found(&unknown, true), Some((no_call, "no results of its calls are recorded".to_owned())));
        assert_eq!(found(&Trajectory::default(), true), Some((no_call, "it has no calls".to_owned())));
        let silent = Trajectory { final_reply: Some("Seven.".to_owned()), ..Trajectory::default() };
        assert_eq!(found(&silent, true), None);
        assert!(found(&silent, false).unwrap().1.contains("rules alone cannot tell"));
        // The judge may judge a run without an answer, rules alone may not.
        let cut = run(Some("7"), Some("success"), "max_steps");
        assert_eq!(found(&cut, true), None);
        assert_eq!(found(&cut, false).unwrap().0, RefusalKind::NotAnswered);
    }
}
