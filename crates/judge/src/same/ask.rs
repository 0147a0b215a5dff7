//! Asks a model about pairs of calls: [`SameAsker`].

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _};
use m3_llm::{Breaker, MAX_FAILED_TASKS, Message, Model, Part, Request, Retry, Scope, Settings, Usage};
use m3_support::redact::Redactor;
use tokio_util::sync::CancellationToken;

use super::question::{CallsToCompare, Question, instructions};
use super::reply::{PairReplies, PairReply, opinion};
use crate::asking::{AskedModel, NoReply, reason_of_failure};

/// Asks a model whether calls ask for the same.
pub struct SameAsker<'a> {
    /// The model.
    pub model: &'a Model,
    /// The settings of its replies.
    pub settings: &'a Settings,
    /// The most requests at once; the model's own limit may be lower.
    pub workers: usize,
    /// Once it is cancelled nothing more is asked, and replies under way are waited for a moment.
    pub stop: &'a CancellationToken,
    /// Receives each failed try of a request.
    pub told: &'a (dyn Fn(Retry) + Send + Sync),
    /// Receives the number of questions that are done, and the number of all questions.
    pub done: &'a (dyn Fn(usize, usize) + Sync),
}

/// The replies to the questions about all pairs.
#[derive(Debug, Default)]
pub struct AskedPairs {
    /// The replies to each pair, in the order of the pairs.
    pub replies: Vec<PairReplies>,
    /// The number of requests that were answered.
    pub answered: usize,
    /// The tokens of all requests.
    pub usage: Usage,
    /// Why requests got no reply or one that cannot be read, each reason once, in the order of the pairs.
    pub problems: Vec<String>,
    /// Whether asking was stopped before everything was asked.
    pub is_interrupted: bool,
}

/// The result of a question.
struct Outcome {
    reply: PairReply,
    usage: Usage,
    problem: Option<String>,
}

impl SameAsker<'_> {
    /// Asks about all pairs, each in both orders; equal questions are asked once. A question without a reply leaves its
    /// pair open and the rest goes on.
    pub async fn ask(&self, pairs: &[CallsToCompare<'_>]) -> AskedPairs {
        let mut questions = Questions::default();
        let places: Vec<Option<[usize; 2]>> = pairs.iter().map(|pair| questions.add(pair)).collect();
        let total = questions.all.len();
        // A reply may repeat the key, so the key is hidden before anything of the reply is kept.
        let redactor = match self.model.redactor_with([]) {
            Ok(redactor) => redactor,
            Err(error) => {
                let replies =
                    pairs.iter().map(|_| PairReplies::of([PairReply::Nothing, PairReply::Nothing])).collect();
                return AskedPairs { replies, problems: vec![error.to_string()], ..AskedPairs::default() };
            }
        };
        let (breaker, system, redactor) = (&Breaker::among_others(), &instructions(), &redactor);
        let replies = stream::iter(questions.all.iter().enumerate())
            .map(|(index, question)| async move {
                (index, self.outcome(question, system, breaker, redactor).await)
            })
            .buffer_unordered(self.workers.max(1));
        let mut replies = std::pin::pin!(replies);
        let mut outcomes: Vec<Option<Outcome>> = (0..total).map(|_| None).collect();
        let mut done = 0;
        while let Some((index, outcome)) = replies.next().await {
            outcomes[index] = outcome;
            done += 1;
            (self.done)(done, total);
        }
        let mut asked = AskedPairs { is_interrupted: self.stop.is_cancelled(), ..AskedPairs::default() };
        let mut known = HashSet::new();
        for outcome in outcomes.iter().flatten() {
            asked.answered += usize::from(outcome.reply != PairReply::Nothing);
            asked.usage = asked.usage.plus(outcome.usage);
            let problem = outcome.problem.as_ref().filter(|problem| known.insert(*problem));
            asked.problems.extend(problem.cloned());
        }
        let reply_to = |index: usize| {
            outcomes[index].as_ref().map_or(PairReply::Nothing, |outcome| outcome.reply.clone())
        };
        let replies = places.into_iter().map(|places| match places {
            Some(places) => PairReplies::of(places.map(reply_to)),
            None => PairReplies::TOO_LONG,
        });
        asked.replies = replies.collect();
        asked
    }

    /// The result of one question; `None` if asking was stopped.
    async fn outcome(
        &self,
        question: &Question,
        system: &str,
        breaker: &Breaker,
        redactor: &Redactor,
    ) -> Option<Outcome> {
        let name = self.model.name();
        let nothing = |reason: String| Outcome {
            reply: PairReply::Nothing,
            usage: Usage::default(),
            problem: Some(reason),
        };
        if breaker.is_given_up() {
            let reason = format!(
                "`{name}` is not asked any more: it cannot be asked, or failed at {MAX_FAILED_TASKS} questions in a row"
            );
            return Some(nothing(reason));
        }
        let request = Request {
            system: system.to_owned(),
            messages: vec![Arc::new(Message::User(vec![Part::Text(question.text.clone())]))],
            settings: self.settings.clone(),
            ..Request::default()
        };
        // The mark depends on the question's text, so a recording that is continued with other pairs keeps its earlier
        // ones.
        let scope = Scope { task: question.mark.clone(), repeat: 1, attempt: 1, workspace: None };
        let Self { model, stop, told: on_retry, .. } = *self;
        let model = AskedModel { model, breaker, on_retry, stop };
        match model.ask(&request, &scope, (&question.mark, true)).await {
            Ok(reply) => {
                let usage = reply.usage;
                Some(match opinion(&redactor.text(&reply.text)) {
                    Ok(opinion) => Outcome { reply: PairReply::Opinion(opinion), usage, problem: None },
                    Err(problem) => {
                        let problem = Some(format!("a reply of `{name}` cannot be read: {problem}"));
                        Outcome { reply: PairReply::Unreadable, usage, problem }
                    }
                })
            }
            Err(NoReply::Failed { cause, .. }) => Some(nothing(reason_of_failure(&cause))),
            Err(NoReply::Stopped) => None,
        }
    }
}

/// All questions, each once.
#[derive(Default)]
struct Questions {
    all: Vec<Question>,
    places: HashMap<Question, usize>,
}

impl Questions {
    /// The indices of the questions about a pair in both orders; `None` if they are too long.
    fn add(&mut self, pair: &CallsToCompare<'_>) -> Option<[usize; 2]> {
        let [first, second] = [pair.question(false)?, pair.question(true)?];
        Some([first, second].map(|question| {
            let next = self.all.len();
            let place = *self.places.entry(question.clone()).or_insert(next);
            if place == next {
                self.all.push(question);
            }
            place
        }))
    }
}
