//! The run that a reference was made of, by the provenance that `m3 judge` wrote: its dependencies, and where its
//! results are.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use m3_support::files::folder_of;
use m3_support::task_files::task_file_name;
use m3_support::text::{hash_of_bytes, shortened};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Member as _, Trajectory, TrajectoryFile};
use serde::{Deserialize, Serialize};

use crate::CallPlace;
use crate::reference::Provenance;
use m3_flow::{Dependency, SharedValue};

/// A dependency between calls, counted as in [`PlacedCall::call`](super::arrangement::PlacedCall::call).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link {
    /// The call whose result is used.
    pub from: usize,
    /// The call that uses it.
    pub to: usize,
    /// The values that are used.
    pub values: Vec<SharedValue>,
}

/// The most dependencies that are read from a file.
const MOST_LINKS: usize = 5000;

/// The most values of one dependency.
const MOST_VALUES: usize = 50;

/// The longest pointer that is kept, in columns.
const LONGEST_POINTER: usize = 300;

/// What is known about the run that a reference was made of. Calls are counted from 0 through all steps of the
/// reference.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Origin {
    run: Option<Run>,
    /// The places of the calls in the run, if they fit the reference.
    places: Option<Vec<CallPlace>>,
    links: Vec<Link>,
    results: Vec<Option<Json>>,
    /// The folder in which the run worked on this task, if it is a run of `m3 run`: pictures that tools made are there.
    workspace: Option<PathBuf>,
    search: Search,
}

/// Identifies the run's trajectory.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Run {
    file: String,
    index: usize,
    content: String,
}

/// The state of the search for the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Search {
    /// The search has not been made.
    #[default]
    NotYet,
    Found,
    Missing,
}

/// The parts of a run's provenance that are read; the rest may be anything.
#[derive(Deserialize)]
struct RecordedOrigin {
    #[serde(flatten)]
    run: Run,
    #[serde(default)]
    reconstruction: Option<Rebuilt>,
}

#[derive(Deserialize)]
struct Rebuilt {
    steps: Vec<Vec<CallPlace>>,
    dependencies: Vec<Dependency>,
}

/// A reference with what is known about its run.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The reference as in its file.
    pub reference: &'a Trajectory,
    /// What is known about its run.
    pub origin: &'a Origin,
}

impl<'a> Subject<'a> {
    /// The calls of the file, in order.
    #[must_use]
    pub fn calls(self) -> Vec<&'a Call> {
        self.reference.calls().map(|(_, call)| call).collect()
    }

    /// The result of one of [its calls](Self::calls), from the reference's file or else from its run.
    #[must_use]
    pub fn result(self, calls: &[&'a Call], call: usize) -> Option<&'a Json> {
        let recorded = calls.get(call).and_then(|call| call.result.as_ref());
        recorded.or_else(|| self.origin.results.get(call)?.as_ref())
    }
}

impl Subject<'_> {
    /// Where results and dependencies come from, in words; `None` if the reference names no run.
    #[must_use]
    pub fn origin_in_words(self) -> Option<String> {
        let Origin { run, search, places, .. } = self.origin;
        let run = run.as_ref()?;
        let (file, number) = (shortened(&run.file, 300), run.index + 1);
        let results = if self.calls().iter().any(|call| call.result.is_some()) {
            "its results are those that the reference has kept"
        } else {
            "its results are not shown"
        };
        match (search, places) {
            (Search::NotYet, _) => None,
            (Search::Found, _) => Some(format!(
                "Results are those of the run that it was made of: trajectory {number} of {file}."
            )),
            (Search::Missing, Some(_)) => Some(format!(
                "The run that it was made of is no longer trajectory {number} of {file}, and {results}. Dependencies \
                 are those that m3 judge recorded, and those that arguments show."
            )),
            (Search::Missing, None) => Some(format!(
                "The run that it was made of, trajectory {number} of {file}, does not fit it: {results}, and \
                 dependencies are those that arguments show."
            )),
        }
    }
}

impl Origin {
    /// Reads what the provenance in a reference records about its run. Parts that do not fit the reference are ignored.
    #[must_use]
    pub fn of(reference: &Trajectory) -> Self {
        let Some(recorded) = chosen(reference) else { return Self::default() };
        let mut origin = Self { run: Some(recorded.run), ..Self::default() };
        let Some(Rebuilt { steps, dependencies }) = recorded.reconstruction else { return origin };
        let sizes = reference.steps.iter().map(|step| step.calls.len());
        if !steps.iter().map(Vec::len).eq(sizes) {
            return origin;
        }
        let places: Vec<CallPlace> = steps.concat();
        let numbers: HashMap<CallPlace, usize> = places.iter().copied().zip(0..).collect();
        let link = |found: Dependency| {
            let (from, to) = (*numbers.get(&found.from)?, *numbers.get(&found.to)?);
            let values = found.values.into_iter().take(MOST_VALUES).map(made_safe).collect();
            Some(Link { from, to, values })
        };
        origin.links = dependencies.into_iter().take(MOST_LINKS).filter_map(link).collect();
        origin.links.retain(|link| link.from != link.to && !link.values.is_empty());
        origin.places = Some(places);
        origin
    }

    /// The folder in which the run worked on this task; it may not be there any more.
    #[must_use]
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }

    /// The dependencies that `m3 judge` recorded.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// `sha256:` and the hash of the run, by [`content`].
    #[must_use]
    pub fn content(&self) -> Option<&str> {
        self.run.as_ref().map(|run| run.content.as_str())
    }

    /// Takes the results from a run, if it is the right one and has the calls of the reference.
    fn take(&mut self, reference: &Trajectory, run: &Trajectory) {
        let Some(places) = &self.places else { return };
        if self.content() != Some(&content(run)) {
            return;
        }
        let result = |(place, call): (&CallPlace, &Call)| {
            let ran = run.steps.get(place.step)?.calls.get(place.call)?;
            let is_same = ran.tool == call.tool && ran.arguments == call.arguments;
            is_same.then(|| ran.result.clone())
        };
        let calls = reference.calls().map(|(_, call)| call);
        let results: Option<Vec<Option<Json>>> = places.iter().zip(calls).map(result).collect();
        if let Some(results) = results {
            self.results = results;
            self.search = Search::Found;
        }
    }
}

/// Identifies a run by a hash of its content, as `m3 judge` does.
#[must_use]
pub fn content(run: &Trajectory) -> String {
    hash_of_bytes(run.to_json().to_text(Keys::Sorted).as_bytes())
}

/// The run that `m3 judge` chose.
fn chosen(reference: &Trajectory) -> Option<RecordedOrigin> {
    let judge = reference.get(Provenance::KEY)?;
    let Json::Integer(chosen) = judge.get("chosen")? else { return None };
    let Json::Array(runs) = judge.get("runs")? else { return None };
    serde_json::from_value(runs.get(usize::try_from(*chosen).ok()?)?.to_value()?).ok()
}

/// A value that is safe to show: anybody may have written the file.
fn made_safe(value: SharedValue) -> SharedValue {
    let mut made = value;
    made.value = shortened(&made.value, 100);
    made.in_result = shortened(&made.in_result, LONGEST_POINTER);
    made.in_arguments = shortened(&made.in_arguments, LONGEST_POINTER);
    made
}

/// Looks for the results of all references. Opens only files that a reference names, and takes results only from a
/// trajectory with the hash in the reference.
pub(super) fn find_runs(references: &[Trajectory], origins: &mut [Origin], folder: &Path) {
    let mut files: HashMap<String, Vec<TrajectoryFile>> = HashMap::new();
    for (reference, origin) in references.iter().zip(origins) {
        let Some(Run { file, index, .. }) = origin.run.clone() else { continue };
        origin.search = Search::Missing;
        for opened in files.entry(file).or_insert_with_key(|name| opened(name, folder)) {
            if origin.search == Search::Missing
                && index < opened.len()
                && let Ok(run) = opened.read(index)
            {
                origin.take(reference, &run);
                if origin.search == Search::Found {
                    origin.workspace = opened.path().map(|path| workspace(path, &run));
                }
            }
        }
    }
}

/// The folder in which a run of `m3 run` works on a task.
fn workspace(predictions: &Path, run: &Trajectory) -> PathBuf {
    let repeat = run.repeat().and_then(|repeat| u32::try_from(repeat).ok()).unwrap_or(1);
    folder_of(predictions).join("workspaces").join(task_file_name(&run.id, repeat))
}

/// The files that a name may stand for: in the working folder and in `folder`.
fn opened(name: &str, folder: &Path) -> Vec<TrajectoryFile> {
    if name == "-" {
        return Vec::new();
    }
    let mut paths: Vec<PathBuf> = [PathBuf::from(name), folder.join(name)]
        .iter()
        .filter_map(|path| path.canonicalize().ok())
        // Opening a pipe would wait for its other end.
        .filter(|path| path.is_file())
        .collect();
    paths.dedup();
    let open = |path: &PathBuf| TrajectoryFile::open_all(path, &mut |_, _| {}).ok();
    paths.iter().filter_map(open).collect()
}

#[cfg(test)]
mod tests;
