//! Pairs of calls that people label by how alike they are (M³-Bench, section 6.4): the file of labels, and the
//! answers to the page.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use m3_support::files::{lock_within, write_atomically};
use m3_support::text::{head, json_without_hidden, shortened, visible};
use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, Keys, is_same};
use serde::Deserialize;
use serde_json::json;

use super::checks::{beside, now, person};
use super::desk::{ImageSize, ImageSource, Images, failed, image, not_kept, sent};
use super::evidence::passage;
use super::page::{Mode, page};
use crate::labels::{Label, LabelledPair, Labels, LabelsError, PersonLabel};
use m3_web::{HandlerMut, Page, Request, Response};

/// The most bytes of arguments that are shown.
const LONGEST_ARGUMENTS: usize = 20_000;

/// How long another process may hold the file; it only holds it to write once.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Two calls that may be labelled.
#[derive(Debug, Clone, PartialEq)]
pub struct Candidate {
    /// The id of the pair, unique among the candidates.
    pub id: String,
    /// The index of its reference among those given to [`LabelDesk::new`].
    pub task: usize,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments of the reference's call.
    pub reference: Json,
    /// The arguments of the predicted call.
    pub predicted: Json,
}

/// Why a file of labels cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LabelFileError {
    /// The file cannot be read or written.
    #[error("failed to use `{path}`: {source}")]
    File {
        /// The file.
        path: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is not a file of labels.
    #[error(transparent)]
    Other(#[from] LabelsError),
}

/// The lock beside a file of labels, which lets only one process write at a time: `labels.json.lock`.
#[must_use]
pub fn lock_path(labels: &Path) -> PathBuf {
    beside(labels, ".lock")
}

/// A file of labels, which several people may fill at once.
#[derive(Debug)]
pub struct LabelFile {
    path: PathBuf,
}

impl LabelFile {
    /// The file at `path`, which need not exist.
    ///
    /// # Errors
    /// [`LabelFileError`] if the file cannot be read or is something else.
    pub fn open(path: &Path) -> Result<Self, LabelFileError> {
        let file = Self { path: path.to_owned() };
        file.read()?;
        Ok(file)
    }

    /// Reads the labels.
    ///
    /// # Errors
    /// [`LabelFileError`].
    pub fn read(&self) -> Result<Labels, LabelFileError> {
        // A missing file is created with the first label; a file that cannot be looked at gives an error when it is
        // read.
        if matches!(self.path.try_exists(), Ok(false)) {
            return Ok(Labels::empty());
        }
        Ok(Labels::read(&self.path)?.0)
    }

    /// Sets a person's label of a pair, replacing an earlier one. It is on disk on return.
    ///
    /// # Errors
    /// [`LabelFileError`]; the file is then as it was.
    pub fn set(&self, pair: &Candidate, label: PersonLabel) -> Result<(), LabelFileError> {
        // Each label replaces the file itself, so a separate file has to be locked.
        let lock = File::create(lock_path(&self.path)).map_err(|cause| self.error(cause))?;
        lock_within(&lock, LOCK_WAIT).map_err(|cause| self.error(cause))?;
        let mut labels = self.read()?;
        let index = labels.pairs.iter().position(|known| is_of(known, pair)).unwrap_or_else(|| {
            labels.pairs.push(LabelledPair {
                id: unused(&labels, &pair.id),
                tool: pair.tool.clone(),
                reference: pair.reference.clone(),
                predicted: pair.predicted.clone(),
                labels: Vec::new(),
            });
            labels.pairs.len() - 1
        });
        let pair_labels = &mut labels.pairs[index].labels;
        pair_labels.retain(|known| known.name != label.name);
        pair_labels.push(label);
        write_atomically(&self.path, json_without_hidden(&labels.to_text()).as_bytes())
            .map_err(|cause| self.error(cause))
    }

    fn error(&self, source: io::Error) -> LabelFileError {
        LabelFileError::File { path: shortened(&self.path.display().to_string(), 300), source }
    }
}

/// Whether a pair of the file is this one; [`unused`] may have added a number to its id.
fn is_of(known: &LabelledPair, pair: &Candidate) -> bool {
    let rest = known.id.strip_prefix(&pair.id);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('~'))
        && known.tool == pair.tool
        && is_same(&known.reference, &pair.reference)
        && is_same(&known.predicted, &pair.predicted)
}

/// An id that no pair of the file has yet: pairs of different files may have the same id.
fn unused(labels: &Labels, id: &str) -> String {
    let is_used = |id: &str| labels.pairs.iter().any(|pair| pair.id == id);
    let numbered = (2..).map(|number| format!("{id}~{number}"));
    std::iter::once(id.to_owned()).chain(numbered).find(|id| !is_used(id)).unwrap_or_default()
}

/// Serves pairs to be labelled.
pub struct LabelDesk {
    candidates: Vec<Candidate>,
    references: Vec<Trajectory>,
    file: LabelFile,
    images: Images,
    source: String,
    name: String,
}

/// A label as the page sends it.
#[derive(Deserialize)]
struct SentLabel {
    index: usize,
    name: String,
    label: Label,
}

impl LabelDesk {
    /// Creates the desk for these pairs of calls of `references`. The page shows `source` as the origin of the pairs.
    #[must_use]
    pub fn new(
        candidates: Vec<Candidate>,
        references: Vec<Trajectory>,
        file: LabelFile,
        images: Images,
        (source, name): (&str, &str),
    ) -> Self {
        let source = visible(source, false).into_owned();
        Self { candidates, references, file, images, source, name: name.to_owned() }
    }

    /// A person's label of each pair.
    fn labels_by(&self, name: &str) -> Result<Vec<Option<Label>>, Response> {
        let labels = self.file.read().map_err(failed)?;
        let label_of = |pair: &Candidate| {
            let known = labels.pairs.iter().find(|known| is_of(known, pair));
            known
                .and_then(|known| known.labels.iter().find(|label| label.name == name))
                .map(|label| label.label)
        };
        Ok(self.candidates.iter().map(label_of).collect())
    }

    fn list(&self, request: &Request<'_>) -> Result<Response, Response> {
        let labels = self.labels_by(&name_of(request)?)?;
        Ok(Response::json(&json!({ "labels": labels })))
    }

    fn pair(&self, request: &Request<'_>) -> Option<Response> {
        let pair = self.candidates.get(request.number("index")?)?;
        let reference = self.references.get(pair.task)?;
        let text = |value: &Json| {
            let text = value.to_text(Keys::AsRead);
            json_without_hidden(head(&text, LONGEST_ARGUMENTS)).into_owned()
        };
        Some(Response::json(&json!({
            "id": shortened(&pair.id, 200),
            "task": pair.task,
            "tool": shortened(&pair.tool, 200),
            "question": reference.question.as_deref().map(passage),
            "image": reference.image.as_deref().map(|path| shortened(path, 300)),
            "reference": text(&pair.reference),
            "predicted": text(&pair.predicted),
        })))
    }

    fn label(&self, request: &Request<'_>) -> Result<Response, Response> {
        let sent: SentLabel = sent(request)?;
        let pair = self.candidates.get(sent.index).ok_or_else(Response::not_found)?;
        let name = person(&sent.name).map_err(not_kept)?;
        let label = PersonLabel { name, label: sent.label, time: Some(now()) };
        self.file.set(pair, label).map_err(failed)?;
        Ok(Response::json(&json!({})))
    }
}

/// The name of the person who asks.
pub(super) fn name_of(request: &Request<'_>) -> Result<String, Response> {
    person(&request.parameter("name").unwrap_or_default()).map_err(not_kept)
}

impl HandlerMut for LabelDesk {
    fn page(&self) -> Page {
        page(Mode::Labels, &self.source, &self.name)
    }

    fn answer(&mut self, request: &Request<'_>) -> Response {
        if let Some(index) = request.path.strip_prefix("image/") {
            let reference = index.parse().ok().and_then(|index: usize| self.references.get(index));
            let path = reference.and_then(|reference| reference.image.clone());
            return image(path.map(ImageSource::File), &self.images, ImageSize::Whole);
        }
        match (request.is_post, request.path) {
            (false, "api/pairs") => self.list(request).unwrap_or_else(|refused| refused),
            (false, "api/pair") => self.pair(request).unwrap_or_else(Response::not_found),
            (true, "api/label") => self.label(request).unwrap_or_else(|refused| refused),
            _ => Response::not_found(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str, predicted: &str) -> Candidate {
        let [reference, predicted] = ["eel", predicted].map(|query| Json::from(&json!({ "q": query })));
        Candidate { id: id.to_owned(), task: 0, tool: "a/b".to_owned(), reference, predicted }
    }

    fn said(name: &str, label: Label) -> PersonLabel {
        PersonLabel { name: name.to_owned(), label, time: None }
    }

    #[test]
    fn labels_are_kept_one_of_each_person() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.json");
        let (one, two) = (LabelFile::open(&path).unwrap(), LabelFile::open(&path).unwrap());
        one.set(&candidate("x", "eels"), said("Ada", Label::Medium)).unwrap();
        two.set(&candidate("x", "eels"), said("Bob", Label::Strong)).unwrap();
        one.set(&candidate("x", "eels"), said("Ada", Label::Weak)).unwrap();
        // Another pair with the same id, as from another file of predictions.
        for label in [Label::Weak, Label::Medium] {
            two.set(&candidate("x", "carp"), said("Ada", label)).unwrap();
        }
        let labels = one.read().unwrap();
        let found: Vec<_> = labels.pairs.iter().map(|pair| (pair.id.as_str(), pair.labels.len())).collect();
        assert_eq!(found, [("x", 2), ("x~2", 1)]);
        let by_ada = labels.pairs[0].labels.iter().find(|label| label.name == "Ada").unwrap();
        assert_eq!(by_ada.label, Label::Weak);
    }

    #[test]
    fn another_file_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.json");
        for text in ["[]", r#"{"schema": "m3.score/1", "pairs": []}"#] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(LabelFile::open(&path).unwrap_err(), LabelFileError::Other(_)), "{text}");
        }
    }
}
