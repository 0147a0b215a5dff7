//! Asks a language model about the calls for which no rule is sure (M³-Bench, section 5.4, leaves these to a reader).

use std::sync::Arc;

use askama::Template;
use futures_util::stream::{self, StreamExt as _};
use m3_llm::{Message, Model, ModelError, Part, Request, Retry, Scope};
use m3_support::text::shortened;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};

use super::check::ClassifiedCall;
use super::outcome::{Confidence, Outcome, Rule, Verdict};
use super::rules::ANSWERS_BY_MODEL;

/// The longest answer of a tool that the model is shown, in characters; longer ones are cut.
const ANSWER_SHOWN: usize = 6_000;

/// The longest arguments that the model is shown, in characters.
const ARGUMENTS_SHOWN: usize = 2_000;

/// The longest reason that is kept, in characters.
const REASON_KEPT: usize = 200;

/// The most questions at once; the model's own limit may be lower.
const AT_ONCE: usize = 16;

/// A trajectory whose calls were judged by rules.
#[derive(Debug)]
pub struct ClassifiedTrajectory {
    /// The trajectory, with the answers that the rules looked at.
    pub trajectory: Trajectory,
    /// The calls of the trajectory, in order.
    pub calls: Vec<ClassifiedCall>,
}

/// Counts of the model's decisions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AskSummary {
    /// Calls that the model decided.
    pub decided: usize,
    /// Calls whose reply did not begin with exactly one outcome; they keep the rule's outcome.
    pub unclear: usize,
}

/// A question for the model.
#[derive(Template)]
#[template(path = "decide.txt", escape = "none")]
struct Question<'a> {
    tool: &'a str,
    arguments: String,
    answer: String,
    is_error: bool,
}

/// Whether the model may be asked about a call: it has an answer, and the rule is not sure.
#[must_use]
pub fn is_open(call: &ClassifiedCall) -> bool {
    call.classification.has_answer && call.classification.rule.confidence == Confidence::Unsure
}

/// Lets the model decide all open calls of these trajectories, several at once. `on_retry` gets each failed try.
///
/// # Errors
/// [`ModelError`] of the first question that was not answered; earlier decisions are kept.
pub async fn ask(
    model: &Model,
    classified: &mut [ClassifiedTrajectory],
    on_retry: &(dyn Fn(Retry) + Send + Sync),
) -> Result<AskSummary, ModelError> {
    let mut questions = Vec::new();
    for (index, classified) in classified.iter().enumerate() {
        for (place, call) in classified.calls.iter().enumerate().filter(|(_, call)| is_open(call)) {
            if let Some(request) = request(&classified.trajectory, call) {
                questions.push((index, place, classified.trajectory.id.clone(), request));
            }
        }
    }
    let mut asked = AskSummary::default();
    let replies = stream::iter(questions).map(|(index, place, task, request)| async move {
        let scope = Scope { task, repeat: 1, attempt: 1, workspace: None };
        (index, place, model.ask(&request, &scope, on_retry).await)
    });
    let mut replies = std::pin::pin!(replies.buffer_unordered(AT_ONCE));
    while let Some((index, place, answered)) = replies.next().await {
        match (decision(&answered?.reply.text), classified[index].calls.get_mut(place)) {
            (Some((rule, reason)), Some(call)) => {
                let classification = &mut call.classification;
                classification.evidence =
                    format!("{reason} (not sure by rule: {})", classification.rule.name);
                classification.rule = rule;
                asked.decided += 1;
            }
            _ => asked.unclear += 1,
        }
    }
    Ok(asked)
}

/// The request for one call.
fn request(trajectory: &Trajectory, classified: &ClassifiedCall) -> Option<Request> {
    let place = classified.place?;
    let call = trajectory.steps.get(place.step)?.entries().nth(place.call)?.ok()?;
    let arguments = call.arguments.as_ref().map(|arguments| arguments.to_text(Keys::AsRead));
    let question = Question {
        tool: &call.tool,
        arguments: shortened(&arguments.unwrap_or_default(), ARGUMENTS_SHOWN),
        answer: shortened(&answer_text(call), ANSWER_SHOWN),
        is_error: call.is_error(),
    };
    let messages = vec![Arc::new(Message::User(vec![Part::Text(question.render().ok()?)]))];
    Some(Request { messages, ..Request::default() })
}

fn answer_text(call: &Call) -> String {
    call.result.as_ref().map(Json::to_plain_text).unwrap_or_default()
}

/// The outcome that a reply names, with its reason. The text before the first colon must be exactly one name, apart
/// from markup around it: within a sentence, the name may be denied.
fn decision(reply: &str) -> Option<(&'static Rule, String)> {
    let is_markup = |c: char| c.is_whitespace() || matches!(c, '*' | '`' | '"' | '\'');
    let (before, reason) = reply.split_once(':').unwrap_or((reply, ""));
    let name = before.trim_matches(is_markup);
    let rule = ANSWERS_BY_MODEL.iter().find(|rule| is_name(rule, name))?;
    // Removes the rest of the markup around the name.
    Some((rule, shortened(reason.trim_start_matches(is_markup).trim_end(), REASON_KEPT)))
}

fn is_name(rule: &Rule, word: &str) -> bool {
    matches!(rule.verdict, Verdict::Outcome(outcome) if Outcome::name(outcome).eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_is_read_from_the_reply_and_never_guessed() {
        for (reply, outcome) in [
            ("success: it returned the list", Some("success")),
            ("Resource_Not_Found: no such fish", Some("resource_not_found")),
            ("**invalid_arguments**: the measure is unknown", Some("invalid_arguments")),
            ("**invalid_arguments:** the measure is unknown", Some("invalid_arguments")),
            (" `unknown_tool` : there is none", Some("unknown_tool")),
            ("\"success\"", Some("success")),
            ("success", Some("success")),
            ("This is not a success: the page is missing", None),
            ("This is not a success", None),
            ("success? no: the page is missing", None),
            ("I would say: unknown_tool", None),
            ("Reason: it is a success", None),
            (": success", None),
            ("success or resource_not_found: hard to say", None),
            ("It worked.", None),
            ("unsuccessful", None),
            ("", None),
        ] {
            let actual = decision(reply).and_then(|(rule, _)| rule.verdict.outcome());
            assert_eq!(actual.map(Outcome::name), outcome, "{reply}");
        }
        for reply in ["success:  it is there. ", "**success:** it is there."] {
            assert_eq!(decision(reply).unwrap().1, "it is there.");
        }
    }
}
