//! Answers the requests of the page of `m3 review`: the list of references, one reference with everything known about
//! it, decisions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use m3_support::text::{shortened, visible};
use m3_trajectory::Trajectory;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arrangement::{EditProblem, Revision, Rules, change, normal};
use super::decision::{Action, DecideError};
use super::document;
use super::links::problems;
use super::page::{Mode, page};
use super::reviews::Reviews;
use super::server::{Ask, Desk, Page, Reply, body};

/// Gives the image at a path of a reference: its media type and content, or why it is not shown. It must open nothing
/// outside of the folders that the user named.
pub type Images = Arc<dyn Fn(&str) -> Result<(&'static str, Vec<u8>), String> + Send + Sync>;

/// Serves the review of references.
pub struct ReviewDesk {
    /// Images are made without the lock.
    reviews: Mutex<Reviews>,
    rules: Rules,
    /// Tools that a person may want to call: those of the catalog, or without one those that references call.
    tools: Vec<String>,
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
        let tools = {
            let called = reviews.references().iter().flat_map(Trajectory::calls);
            let called = called.map(|(_, call)| call.tool.as_str());
            let tools = if rules.has_catalog() { rules.tools() } else { called.collect::<BTreeSet<_>>() };
            tools.into_iter().take(MOST_TOOLS).map(|tool| shortened(tool, 200)).collect()
        };
        let (source, name) = (visible(source, false).into_owned(), name.to_owned());
        Self { reviews: Mutex::new(reviews), rules, tools, images, source, name }
    }

    fn reviews(&self) -> MutexGuard<'_, Reviews> {
        self.reviews.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, reviews: &mut Reviews, ask: &Ask<'_>) -> Result<Reply, Reply> {
        let decide: Decide = serde_json::from_value(body(ask)?)
            .map_err(|error| Reply::error(400, &shortened(&error.to_string(), 200)))?;
        let action = match decide.action {
            Action::Edit { revision, note, .. } => self.edit(reviews, decide.index, revision, note)?,
            action => action,
        };
        if decide.index >= reviews.references().len() {
            return Err(Reply::not_found());
        }
        let decided = reviews.decide(decide.index, decide.base, &decide.name, action);
        let reference = document::reference(reviews, &self.rules, decide.index);
        match decided {
            Ok(()) => Ok(Reply::json(&reference)),
            Err(error @ (DecideError::Conflict { .. } | DecideError::Unseen { .. })) => {
                Err(Reply::with_status(409, &json!({ "error": error.to_string(), "reference": reference })))
            }
            Err(DecideError::Store(error)) => Err(Reply::error(500, &error.to_string())),
            Err(error) => Err(Reply::error(422, &error.to_string())),
        }
    }

    /// Makes an edit, if it keeps the rules. Without a new answer, the answer stays as it stands.
    fn edit(
        &self,
        reviews: &Reviews,
        index: usize,
        mut revision: Revision,
        note: String,
    ) -> Result<Action, Reply> {
        let reference = reviews.references().get(index).ok_or_else(Reply::not_found)?;
        let refused = |problems: Vec<EditProblem>| {
            Reply::with_status(422, &json!({ "error": summary(&problems), "problems": problems }))
        };
        let before = reviews.standing(index);
        revision.reply = revision.reply.or_else(|| before.reply.clone());
        let revision = normal(reference, revision).map_err(refused)?;
        let found = problems(reviews.subject(index), &revision.steps, &self.rules);
        if !found.is_empty() {
            return Err(refused(found));
        }
        let change = change(reference, &before, &revision);
        Ok(Action::Edit { revision, change, note })
    }

    fn image(&self, index: &str) -> Reply {
        let path = {
            let reviews = self.reviews();
            let reference = index.parse().ok().and_then(|index: usize| reviews.references().get(index));
            reference.and_then(|reference| reference.image.clone())
        };
        image(path.as_deref(), &self.images)
    }
}

/// The most tools that a page offers.
const MOST_TOOLS: usize = 10_000;

/// The references that changed after this line of the file of decisions.
fn list(reviews: &Reviews, since: usize, is_whole: bool) -> Value {
    let references = reviews.references().iter().enumerate();
    let changed = references.filter(|(index, _)| is_whole || reviews.changed(*index) > since);
    let entry = |(index, reference): (usize, &Trajectory)| {
        let last = reviews.last(index);
        json!({
            "index": index,
            "id": shortened(&reference.id, 200),
            "type": shortened(reference.task_type.as_deref().unwrap_or_default(), 100),
            "question": shortened(reference.question.as_deref().unwrap_or_default(), 300),
            "has_image": reference.image.is_some(),
            "state": reviews.state(index),
            "version": reviews.version(index),
            "name": last.map(|last| &last.name),
            "time": last.map(|last| &last.time),
        })
    };
    json!({ "sequence": reviews.len(), "references": changed.map(entry).collect::<Vec<_>>() })
}

/// The image at a path.
pub(super) fn image(path: Option<&str>, images: &Images) -> Reply {
    match path {
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

impl Desk for ReviewDesk {
    fn page(&self) -> Page {
        page(Mode::Review, &self.source, &self.name)
    }

    fn answer(&self, ask: &Ask<'_>) -> Reply {
        if let Some(index) = ask.path.strip_prefix("image/") {
            return self.image(index);
        }
        let mut reviews = self.reviews();
        if let Err(error) = reviews.refresh() {
            return Reply::error(500, &error.to_string());
        }
        match (ask.is_post, ask.path) {
            (false, "api/tools") => Reply::json(&json!({ "tools": self.tools })),
            (false, "api/list") => Reply::json(&list(&reviews, 0, true)),
            (false, "api/changes") => Reply::json(&list(&reviews, ask.number("since").unwrap_or(0), false)),
            (false, "api/reference") => {
                let index = ask.number("index");
                let found = index.and_then(|index| document::reference(&reviews, &self.rules, index));
                found.map_or_else(Reply::not_found, |found| Reply::json(&found))
            }
            (true, "api/decide") => self.decide(&mut reviews, ask).unwrap_or_else(|refused| refused),
            _ => Reply::not_found(),
        }
    }
}
