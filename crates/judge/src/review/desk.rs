//! Answers the requests of the page of `m3 review`: the list of references, one reference with everything known about
//! it, decisions.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_support::text::{shortened, visible};
use m3_trajectory::{Problems, ResultPicture, Trajectory, result_parts, result_picture, sent_base64};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::arrangement::{EditProblem, LONGEST_TOOL, Revision, Rules, change, normal, summary};
use super::decision::{Action, DecideError};
use super::document;
use super::findings::{findings, of_file};
use super::links::{CallLinks, problems};
use super::page::{Mode, page};
use super::reviews::Reviews;
use m3_web::{Handler, Page, Request, Response};

/// Gives an image in a size: its media type and content, or why it is not shown. It must open nothing outside of the
/// folders that the user named.
pub type Images =
    Arc<dyn Fn(ImageSource, ImageSize) -> Result<(&'static str, Vec<u8>), String> + Send + Sync>;

/// The source of an image.
#[derive(Debug)]
pub enum ImageSource {
    /// A file at the path that a reference gives.
    File(String),
    /// A file at the path that a result gives: in this workspace of its run, or else as any other path.
    Made(PathBuf, String),
    /// The bytes that a tool has sent.
    Sent(Vec<u8>),
}

/// The size in which an image is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageSize {
    /// The whole image, to be looked at.
    Whole,
    /// A small image, to be recognized in a list.
    Thumbnail,
}

/// Serves the review of references.
pub struct ReviewDesk {
    /// The references and their decisions. Images are made without this lock.
    reviews: Mutex<Reviews>,
    rules: Rules,
    /// For each reference the problems that were found in its file.
    file_problems: Vec<Vec<EditProblem>>,
    /// For each reference the version at which its findings were counted, and their number.
    counts: Mutex<Vec<Option<(u64, usize)>>>,
    /// Tools that a person may want to call: those of the catalog, or without one those that references call.
    tools: Vec<String>,
    images: Images,
    /// The file of references, and its stamp at the time when it was read.
    file: (PathBuf, Option<Stamp>),
    source: String,
    name: String,
}

/// The time of a file's last change, and its length in bytes.
type Stamp = (SystemTime, u64);

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = file.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// The error if the file of references has changed: decisions on other content would not count.
const CHANGED: &str = "the file of references has changed since it was opened: end this m3 review and start it again; what was \
                       decided before is kept";

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
    /// Creates the desk for the references of `file`, in which `problems` were found. `name` is the person's name
    /// unless the page sends another.
    #[must_use]
    pub fn new(
        reviews: Reviews,
        rules: Rules,
        images: Images,
        (file, problems): (&Path, &Problems),
        name: &str,
    ) -> Self {
        let tools = {
            let called = reviews.references().iter().flat_map(Trajectory::calls);
            let called = called.map(|(_, call)| call.tool.as_str());
            let tools = if rules.has_catalog() { rules.tools() } else { called.collect::<BTreeSet<_>>() };
            tools.into_iter().take(MOST_TOOLS).map(|tool| shortened(tool, LONGEST_TOOL)).collect()
        };
        let (source, name) = (visible(&file.display().to_string(), false).into_owned(), name.to_owned());
        let file_problems = of_file(&reviews, problems);
        let counts = Mutex::new(vec![None; file_problems.len()]);
        Self {
            reviews: Mutex::new(reviews),
            rules,
            file_problems,
            counts,
            tools,
            images,
            file: (file.to_owned(), stamp(file)),
            source,
            name,
        }
    }

    fn reviews(&self) -> MutexGuard<'_, Reviews> {
        self.reviews.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn decide(&self, reviews: &mut Reviews, request: &Request<'_>) -> Result<Response, Response> {
        let decide: Decide = sent(request)?;
        let action = match decide.action {
            Action::Edit { revision, note, .. } => {
                match self.edit(reviews, decide.index, revision, note)? {
                    Some(action) => action,
                    // An edit without a change would only take an acceptance back.
                    None => return Ok(Response::json(&self.reference(reviews, decide.index))),
                }
            }
            action => action,
        };
        if decide.index >= reviews.references().len() {
            return Err(Response::not_found());
        }
        let decided = reviews.decide(decide.index, decide.base, &decide.name, action);
        let reference = self.reference(reviews, decide.index);
        match decided {
            Ok(()) => Ok(Response::json(&reference)),
            Err(error @ (DecideError::Conflict { .. } | DecideError::Unseen { .. })) => Err(
                Response::with_status(409, &json!({ "error": error.to_string(), "reference": reference })),
            ),
            Err(DecideError::Store(error)) => Err(failed(error)),
            Err(error) => Err(Response::error(422, &error.to_string())),
        }
    }

    /// The action of an edit that keeps the rules; `None` if it changes nothing. Without a new answer, the present
    /// answer stays.
    fn edit(
        &self,
        reviews: &Reviews,
        index: usize,
        mut revision: Revision,
        note: String,
    ) -> Result<Option<Action>, Response> {
        let reference = reviews.references().get(index).ok_or_else(Response::not_found)?;
        let refused = |problems: Vec<EditProblem>| {
            Response::with_status(422, &json!({ "error": summary(&problems), "problems": problems }))
        };
        let before = reviews.current(index);
        revision.reply = revision.reply.or_else(|| before.reply.clone());
        let revision = normal(reference, revision).map_err(refused)?;
        if revision == before {
            return Ok(None);
        }
        let edit_problems = problems(reviews.subject(index), &revision.steps, &self.rules);
        if !edit_problems.is_empty() {
            return Err(refused(edit_problems));
        }
        let change = change(reference, &before, &revision);
        Ok(Some(Action::Edit { revision, change, note }))
    }

    fn reference(&self, reviews: &Reviews, index: usize) -> Option<Value> {
        let (made, count) = document::reference(reviews, &self.rules, index, self.file_problems.get(index)?)?;
        self.counts()[index] = Some((reviews.version(index), count));
        Some(made)
    }

    fn counts(&self) -> MutexGuard<'_, Vec<Option<(u64, usize)>>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of findings of a reference at its present version, if they were counted.
    fn counted(&self, reviews: &Reviews, index: usize) -> Option<usize> {
        let (version, count) = self.counts().get(index).copied().flatten()?;
        (version == reviews.version(index)).then_some(count)
    }

    /// Counts the findings of a few references from `from` on: index, version and count of each, and the index to go on
    /// with. The work is limited, so that other requests can wait for it.
    fn count(&self, reviews: &Reviews, from: usize) -> Value {
        let (mut counts, mut counted, mut calls, mut next) = (Vec::new(), 0, 0, from);
        while next < self.file_problems.len()
            && counts.len() < MOST_COUNTS_SENT
            && counted < MOST_COUNTED
            && calls < MOST_CALLS
        {
            let count = self.counted(reviews, next).unwrap_or_else(|| {
                let (subject, revision) = (reviews.subject(next), reviews.current(next));
                let linked = CallLinks::of(subject, &revision.steps);
                let findings_here =
                    findings(subject, (&revision, &linked), &self.rules, &self.file_problems[next]);
                let count = findings_here.count();
                self.counts()[next] = Some((reviews.version(next), count));
                counted += 1;
                calls += subject.reference.call_count();
                count
            });
            counts.push(json!([next, reviews.version(next), count]));
            next += 1;
        }
        json!({ "counts": counts, "next": (next < self.file_problems.len()).then_some(next) })
    }

    /// The references that changed after this line of the file of decisions, with findings where they were counted.
    fn list(&self, reviews: &Reviews, since: usize, is_whole: bool) -> Value {
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
                "findings": self.counted(reviews, index),
                "version": reviews.version(index),
                "name": last.map(|last| &last.name),
                "time": last.map(|last| &last.time),
            })
        };
        json!({ "sequence": reviews.len(), "references": changed.map(entry).collect::<Vec<_>>() })
    }

    /// The source of the picture at a path of the page: `image/INDEX`, or `result/INDEX/CALL/PART`. It is copied from
    /// the references, so that people can decide while the picture is made.
    fn picture(&self, path: &str) -> Option<ImageSource> {
        let (kind, numbers) = path.split_once('/')?;
        let numbers: Vec<usize> =
            numbers.split('/').map(|number| number.parse().ok()).collect::<Option<_>>()?;
        let reviews = self.reviews();
        match (kind, numbers.as_slice()) {
            ("image", [index]) => Some(ImageSource::File(reviews.references().get(*index)?.image.clone()?)),
            ("result", [index, call, part]) if *index < reviews.references().len() => {
                let subject = reviews.subject(*index);
                let result = subject.result(&subject.calls(), *call)?;
                match result_picture(result_parts(result)?.get(*part)?)? {
                    ResultPicture::File(path) => Some(match subject.origin.workspace() {
                        Some(workspace) => ImageSource::Made(workspace.to_owned(), path.to_owned()),
                        None => ImageSource::File(path.to_owned()),
                    }),
                    ResultPicture::Sent(part) => {
                        Some(ImageSource::Sent(STANDARD.decode(sent_base64(part)?.trim()).ok()?))
                    }
                }
            }
            _ => None,
        }
    }
}

/// The most references whose findings are counted at once, and the most whose counts one answer has.
const MOST_COUNTED: usize = 20;
const MOST_COUNTS_SENT: usize = 1000;

/// The number of calls in newly counted references after which one request counts no further reference.
const MOST_CALLS: usize = 1000;

/// The most tools that a page offers.
const MOST_TOOLS: usize = 10_000;

/// What the page sends.
pub(super) fn sent<T: DeserializeOwned>(request: &Request<'_>) -> Result<T, Response> {
    let sent = serde_json::from_value(request.json()?);
    sent.map_err(|error| Response::error(400, &shortened(&error.to_string(), 200)))
}

/// The response if the name of a person or a note is not one that is kept.
pub(super) fn not_kept(reason: &'static str) -> Response {
    Response::error(422, reason)
}

/// The response to a failure of this machine, such as a file that cannot be written.
pub(super) fn failed(error: impl Display) -> Response {
    Response::error(500, &error.to_string())
}

/// The response with the image of a source.
pub(super) fn image(source: Option<ImageSource>, images: &Images, size: ImageSize) -> Response {
    match source.map(|source| images(source, size)) {
        None => Response::not_found(),
        Some(Ok((kind, bytes))) => Response::image(kind, bytes),
        Some(Err(reason)) => Response::error(404, &reason),
    }
}

impl Handler for ReviewDesk {
    fn page(&self) -> Page {
        page(Mode::Review, &self.source, &self.name)
    }

    fn answer(&self, request: &Request<'_>) -> Response {
        if request.path.starts_with("image/") || request.path.starts_with("result/") {
            let size = if request.query == "small" { ImageSize::Thumbnail } else { ImageSize::Whole };
            return image(self.picture(request.path), &self.images, size);
        }
        if stamp(&self.file.0) != self.file.1 {
            return Response::error(410, CHANGED);
        }
        let mut reviews = self.reviews();
        if let Err(error) = reviews.refresh() {
            return failed(error);
        }
        match (request.is_post, request.path) {
            (false, "api/tools") => Response::json(&json!({ "tools": self.tools })),
            (false, "api/list") => Response::json(&self.list(&reviews, 0, true)),
            (false, "api/changes") => {
                Response::json(&self.list(&reviews, request.number("since").unwrap_or(0), false))
            }
            (false, "api/findings") => {
                Response::json(&self.count(&reviews, request.number("from").unwrap_or_default()))
            }
            (false, "api/reference") => {
                let reference = request.number("index").and_then(|index| self.reference(&reviews, index));
                reference.map_or_else(Response::not_found, |reference| Response::json(&reference))
            }
            (true, "api/decide") => self.decide(&mut reviews, request).unwrap_or_else(|refused| refused),
            _ => Response::not_found(),
        }
    }
}
