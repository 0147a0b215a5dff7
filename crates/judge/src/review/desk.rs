//! Answers the requests of the page of `m3 review`: the list of references, one reference with everything known about
//! it, decisions.

use std::fmt;
use std::sync::Arc;

use m3_support::text::{json_without_hidden, shortened, visible};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arrangement::{Arrangement, EditProblem, Rules, arguments, change, normal, original};
use super::decision::{Action, DecideError, Decision};
use super::evidence::{cut, passage, shown, tree};
use super::links::{links, problems};
use super::page::{Mode, page};
use super::reviews::Reviews;
use super::server::{Ask, DeskMut, Page, Reply, body};

/// Arguments that are longer are shown in part and cannot be edited in the page, in bytes.
const LONGEST_EDITABLE: usize = 200_000;

/// Gives the image at a path of a reference: its media type and content, or why it is not shown. It must open nothing
/// outside of the folders that the user named.
pub type Images = Arc<dyn Fn(&str) -> Result<(&'static str, Vec<u8>), String> + Send + Sync>;

/// Serves the review of references.
pub struct ReviewDesk {
    reviews: Reviews,
    rules: Rules,
    images: Images,
    source: String,
    name: String,
}

impl fmt::Debug for ReviewDesk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ReviewDesk").field("source", &self.source).finish_non_exhaustive()
    }
}

/// A decision as the page sends it.
#[derive(Deserialize)]
struct Decide {
    index: usize,
    base: u64,
    name: String,
    #[serde(flatten)]
    action: Action,
}

impl ReviewDesk {
    /// The desk for the references of the file `source`; `name` is the person's name unless the page says another.
    #[must_use]
    pub fn new(reviews: Reviews, rules: Rules, images: Images, source: &str, name: &str) -> Self {
        Self { reviews, rules, images, source: visible(source, false).into_owned(), name: name.to_owned() }
    }

    /// The references that changed after this line of the file of decisions.
    fn list(&self, since: usize, is_whole: bool) -> Value {
        let references = self.reviews.references().iter().enumerate();
        let changed = references.filter(|(index, _)| is_whole || self.reviews.changed(*index) > since);
        let entry = |(index, reference): (usize, &Trajectory)| {
            let last = self.reviews.last(index);
            json!({
                "index": index,
                "id": shortened(&reference.id, 200),
                "type": shortened(reference.task_type.as_deref().unwrap_or_default(), 100),
                "question": shortened(reference.question.as_deref().unwrap_or_default(), 300),
                "state": self.reviews.state(index),
                "version": self.reviews.version(index),
                "name": last.map(|last| &last.name),
                "time": last.map(|last| &last.time),
            })
        };
        json!({ "sequence": self.reviews.len(), "references": changed.map(entry).collect::<Vec<_>>() })
    }

    fn reference(&self, index: usize) -> Option<Value> {
        let reference = self.reviews.references().get(index)?;
        let subject = self.reviews.subject(index);
        let before = original(reference);
        let arrangement = self.reviews.arrangement(index).unwrap_or(&before);
        let calls: Vec<(usize, &Call)> = reference.calls().collect();
        let call = |placed: &super::arrangement::PlacedCall| {
            let (step, call) = *calls.get(placed.call)?;
            let result = subject.result(placed.call).filter(|_| placed.arguments.is_none());
            Some(self.call((placed.call, step), call, arguments(call, placed), result))
        };
        let steps: Vec<Vec<Value>> =
            arrangement.iter().map(|step| step.iter().filter_map(call).collect()).collect();
        let is_placed = |number: usize| arrangement.iter().flatten().any(|placed| placed.call == number);
        let removed = calls.iter().enumerate().filter(|(number, _)| !is_placed(*number));
        let removed = removed.map(|(number, (step, call))| {
            self.call((number, *step), call, call.arguments.clone(), subject.result(number))
        });
        let history = self.reviews.history(index).map(|(decision, counts)| told(decision, counts));
        let evidence = reference.extra.iter().filter(|(key, _)| key == "judge" || key == "review");
        let evidence = evidence.map(|(key, value)| json!({"key": key, "value": tree(value)}));
        Some(json!({
            "index": index,
            "id": shortened(&reference.id, 1000),
            "type": reference.task_type.as_deref().map(|text| shortened(text, 200)),
            "question": reference.question.as_deref().map(passage),
            "reply": reference.final_reply.as_deref().map(passage),
            "image": reference.image.as_deref().map(|path| shortened(path, 300)),
            "state": self.reviews.state(index),
            "version": self.reviews.version(index),
            "has_catalog": self.rules.has_catalog(),
            "steps": steps,
            "removed": removed.collect::<Vec<_>>(),
            "links": links(subject, arrangement),
            "origin": subject.origin.said(),
            "evidence": evidence.collect::<Vec<_>>(),
            "history": history.collect::<Vec<_>>(),
        }))
    }

    /// A call by its number and its step in the file, with its current arguments. `result` is what it returned for
    /// these.
    fn call(
        &self,
        (number, step): (usize, usize),
        call: &Call,
        now: Option<Json>,
        result: Option<&Json>,
    ) -> Value {
        let is_changed = now != call.arguments;
        let now = now.unwrap_or_else(|| Json::Object(Vec::new()));
        let text = json_without_hidden(&now.to_text(Keys::AsRead)).into_owned();
        let found = self.rules.problems(number, &call.tool, &now);
        json!({
            "call": number,
            "was_in": step + 1,
            "tool": shortened(&call.tool, 200),
            "arguments": cut(&text, LONGEST_EDITABLE),
            "is_editable": text.len() <= LONGEST_EDITABLE,
            "is_changed": is_changed,
            "result": result.map(shown),
            "outcome": call.extra.iter().find(|(key, _)| key == "outcome" && !is_changed).map(|(_, value)| shown(value)),
            "problems": found,
            "remark": self.rules.remark(&call.tool),
        })
    }

    fn decide(&mut self, ask: &Ask<'_>) -> Result<Reply, Reply> {
        let decide: Decide = serde_json::from_value(body(ask)?)
            .map_err(|error| Reply::error(400, &shortened(&error.to_string(), 200)))?;
        let action = match decide.action {
            Action::Edit { steps, note, .. } => self.edit(decide.index, steps, note)?,
            action => action,
        };
        if decide.index >= self.reviews.references().len() {
            return Err(Reply::not_found());
        }
        match self.reviews.decide(decide.index, decide.base, &decide.name, action) {
            Ok(()) => Ok(Reply::json(&self.reference(decide.index))),
            Err(error @ (DecideError::Conflict { .. } | DecideError::Unseen { .. })) => {
                Err(Reply::with_status(
                    409,
                    &json!({ "error": error.to_string(), "reference": self.reference(decide.index) }),
                ))
            }
            Err(DecideError::Store(error)) => Err(Reply::error(500, &error.to_string())),
            Err(error) => Err(Reply::error(422, &error.to_string())),
        }
    }

    /// Makes an edit, if it keeps the rules.
    fn edit(&self, index: usize, steps: Arrangement, note: String) -> Result<Action, Reply> {
        let reference = self.reviews.references().get(index).ok_or_else(Reply::not_found)?;
        let refused = |problems: Vec<EditProblem>| {
            Reply::with_status(422, &json!({ "error": summary(&problems), "problems": problems }))
        };
        let steps = normal(reference, steps).map_err(refused)?;
        let found = problems(self.reviews.subject(index), &steps, &self.rules);
        if !found.is_empty() {
            return Err(refused(found));
        }
        let before = self.reviews.arrangement(index).cloned().unwrap_or_else(|| original(reference));
        let change = change(reference, &before, &steps);
        Ok(Action::Edit { steps, change, note })
    }

    fn image(&self, index: &str) -> Reply {
        let reference = index.parse().ok().and_then(|index: usize| self.reviews.references().get(index));
        image(reference, &self.images)
    }
}

/// The image of a reference.
pub(super) fn image(reference: Option<&Trajectory>, images: &Images) -> Reply {
    match reference.and_then(|reference| reference.image.as_deref()) {
        None => Reply::not_found(),
        Some(path) => match images(path) {
            Ok((kind, bytes)) => Reply::image(kind, bytes),
            Err(reason) => Reply::error(404, &reason),
        },
    }
}

/// Several problems in one line.
pub(super) fn summary(problems: &[EditProblem]) -> String {
    let said = |problem: &EditProblem| match problem.pointer.as_str() {
        "" => problem.message.clone(),
        pointer => format!("{pointer}: {}", problem.message),
    };
    problems.iter().take(5).map(said).collect::<Vec<_>>().join("; ")
}

fn told(decision: &Decision, counts: bool) -> Value {
    json!({
        "name": decision.name,
        "time": decision.time,
        "what": decision.action.summary(),
        "note": decision.action.note(),
        "counts": counts,
        "set_aside": decision.set_aside,
    })
}

impl DeskMut for ReviewDesk {
    fn page(&self) -> Page {
        page(Mode::Review, &self.source, &self.name)
    }

    fn answer(&mut self, ask: &Ask<'_>) -> Reply {
        if let Some(index) = ask.path.strip_prefix("image/") {
            return self.image(index);
        }
        if let Err(error) = self.reviews.refresh() {
            return Reply::error(500, &error.to_string());
        }
        match (ask.is_post, ask.path) {
            (false, "api/list") => Reply::json(&self.list(0, true)),
            (false, "api/changes") => Reply::json(&self.list(ask.number("since").unwrap_or(0), false)),
            (false, "api/reference") => {
                let found = ask.number("index").and_then(|index| self.reference(index));
                found.map_or_else(Reply::not_found, |found| Reply::json(&found))
            }
            (true, "api/decide") => self.decide(ask).unwrap_or_else(|refused| refused),
            _ => Reply::not_found(),
        }
    }
}
