//! One question to one grader and its answer, and further requests if the answer cannot be read.

use std::sync::Arc;

use m3_llm::{Assistant, Message, Model, Part, Pictures, Reply, Request, Retry, Scope, Settings, Usage};
use m3_support::text::head;

use super::answer::{Answer, ReadReply};
use super::question::{Question, again};
use crate::asking::{AskedModel, NoReply, reason, reason_of_failure};

/// How often a grader is asked again if its reply cannot be read.
const ASKED_AGAIN: u32 = 2;

/// The longest reply that is kept, in bytes.
const REPLY_KEPT: usize = 20_000;

/// The functions that are called while graders are asked.
pub struct Listeners<'a> {
    /// Gets the number of requests that are answered.
    pub done: &'a (dyn Fn(usize) + Sync),
    /// Gets each failed try, with the grader's name.
    pub retry: &'a (dyn Fn(&str, Retry) + Send + Sync),
}

/// A question to a grader.
pub(super) struct Conversation<'a> {
    pub(super) question: &'a Question,
    /// The id of the task.
    pub(super) id: &'a str,
    /// The number of the pass, from 1.
    pub(super) pass: u32,
    pub(super) model: AskedModel<'a>,
    pub(super) settings: &'a Settings,
}

/// The evidence and the image, as this grader takes them.
pub(super) async fn parts(
    question: &Question,
    model: &Model,
    pictures: &Arc<Pictures>,
) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    if let Some(picture) = &question.picture {
        let (picture, pictures, limits) = (picture.clone(), Arc::clone(pictures), model.image_limits());
        let read = tokio::task::spawn_blocking(move || pictures.get(picture.source(), &limits)).await;
        let picture = read.map_err(|error| reason(&error))?.map_err(|error| reason(&error))?;
        parts.push(Part::Image(picture));
    }
    parts.push(Part::Text(question.evidence.clone()));
    Ok(parts)
}

impl Conversation<'_> {
    /// Asks, and asks again if the reply cannot be read. Gives the answer with the reply that has it, or why there is
    /// none; `None` if the work was stopped. Adds the number of replies and their usage to `requests` and `usage`.
    pub(super) async fn hold(
        self,
        parts: Vec<Part>,
        requests: &mut usize,
        usage: &mut Usage,
    ) -> Option<Result<(Answer, String), String>> {
        let Self { question, id, pass, model, settings } = self;
        let mut request = Request {
            system: question.system.clone(),
            messages: vec![Arc::new(Message::User(parts))],
            settings: settings.clone(),
            ..Request::default()
        };
        let scope = Scope {
            task: format!("{id}/{}", question.aspect.main()),
            repeat: pass,
            attempt: 1,
            workspace: None,
        };
        let mut last = Err("it said nothing".to_owned());
        for round in 0..=ASKED_AGAIN {
            let reply = match model.ask(&request, &scope, (id, round == 0)).await {
                Ok(reply) => reply,
                Err(NoReply::Failed { cause, .. }) => return Some(Err(reason_of_failure(&cause))),
                Err(NoReply::Stopped) => return None,
            };
            *requests += 1;
            *usage = usage.plus(reply.usage);
            let text = &reply.text;
            let problem = match question.aspect.read(question.matrix, text) {
                Ok(ReadReply::Whole(answer)) => return Some(Ok((answer, kept(text)))),
                Ok(ReadReply::WithoutMatrix(answer, problem)) => {
                    last = Ok((answer, kept(text)));
                    problem
                }
                Err(problem) => {
                    // A score that could be read once is kept.
                    if last.is_err() {
                        last = Err(problem.clone());
                    }
                    problem
                }
            };
            request.messages.push(Arc::new(Message::Assistant(as_message(&reply))));
            request.messages.push(Arc::new(Message::User(vec![Part::Text(again(&problem))])));
        }
        Some(last.map_err(|problem| format!("its reply cannot be read: {problem}")))
    }
}

/// The judge's reply as a message to send back. Providers accept no empty message.
fn as_message(reply: &Reply) -> Assistant {
    let message = reply.to_assistant();
    if message.text.trim().is_empty() {
        return Assistant { text: "(nothing)".to_owned(), ..Assistant::default() };
    }
    // No tool was offered, and a call without its result would be refused.
    Assistant { calls: Vec::new(), raw: message.raw.filter(|_| message.calls.is_empty()), ..message }
}

fn kept(reply: &str) -> String {
    head(reply, REPLY_KEPT).to_owned()
}
