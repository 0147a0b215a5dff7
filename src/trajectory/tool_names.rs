//! Names of one tool that are written in different ways. M³-Bench has `server/tool`; model interfaces allow no slash,
//! so the same tool becomes `server__tool`, and clients put their own mark before it: `mcp__server__tool`.
//!
//! Names of predictions are found again among those that references, and perhaps a catalog, have.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::json::Json;
use super::model::Trajectory;
use super::whole::{WholeFile, WholeFileError};

/// Names in place of names: from a prediction's to the reference's.
pub type NameMapping = BTreeMap<String, String>;

/// The tools that a set of trajectories calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// How often each is called.
    calls: BTreeMap<String, u64>,
}

/// What the names of predictions can be read as.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecognizedNames {
    /// Each name that is not the references', with the only one that it can stand for. No two have the same.
    pub mapping: NameMapping,
    /// Names with several candidates, or with one that stands for another name too: nobody knows what they mean.
    pub ambiguous: BTreeMap<String, Vec<String>>,
}

/// A file of names cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// It cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// It is JSON of another shape.
    #[error(
        "`{path}`: {message}\nhint: an object of names, the prediction's before the reference's: \
         {{\"image__crop\": \"image/crop\"}}"
    )]
    Shape {
        /// The file.
        path: String,
        /// What is wrong.
        message: String,
    },
}

/// Different names that are kept of a file. Real sets have hundreds; a file that makes them up is not worth more memory.
const MOST_NAMES: usize = 100_000;

/// Longer names are none, in bytes. Model interfaces allow 64 to 128.
const LONGEST_NAME: usize = 512;

/// A file of names is not larger, in MiB.
const MAX_MEBIBYTES: u64 = 16;

/// What clients put before the names of tools, as parts: `mcp__` (Claude Code), `functions.` (OpenAI's templates),
/// `default_api.` (Gemini's code), `tools.`.
const MARKS: [&[&str]; 4] = [&["mcp"], &["functions"], &["default", "api"], &["tools"]];

impl Vocabulary {
    /// Counts the calls of a trajectory.
    pub fn learn(&mut self, trajectory: &Trajectory) {
        for (_, call) in trajectory.calls() {
            if let Some(count) = self.calls.get_mut(&call.tool) {
                *count += 1;
            } else if self.calls.len() < MOST_NAMES && call.tool.len() <= LONGEST_NAME {
                self.calls.insert(call.tool.clone(), 1);
            }
        }
    }

    /// Adds a name that may be called.
    pub fn add(&mut self, name: &str) {
        self.calls.entry(name.to_owned()).or_default();
    }

    /// Whether this name is in it.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.calls.contains_key(name)
    }

    /// How many calls there are of these tools.
    pub fn calls_of<'n>(&self, names: impl Iterator<Item = &'n String>) -> u64 {
        names.filter_map(|name| self.calls.get(name)).sum()
    }
}

/// Looks for every name of `predicted` that `known` does not have. Names meet if they have the same parts, whatever
/// stands between them, in upper or lower case; else without the marks that clients put before them; else, where one
/// of the two names no server, by the tool alone.
#[must_use]
pub fn recognize(predicted: &Vocabulary, known: &Vocabulary) -> RecognizedNames {
    let index = Index::new(known);
    let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for name in predicted.calls.keys().filter(|name| !known.has(name)) {
        let candidates = index.candidates(name);
        if !candidates.is_empty() {
            found.insert(name, candidates);
        }
    }
    let mut claims: HashMap<&str, usize> = HashMap::new();
    for candidate in found.values().flatten() {
        *claims.entry(candidate).or_default() += 1;
    }
    let mut recognized = RecognizedNames::default();
    for (name, candidates) in found {
        let is_free = |candidate: &str| claims.get(candidate) == Some(&1) && !predicted.has(candidate);
        match candidates.first() {
            Some(only) if candidates.len() == 1 && is_free(only) => {
                recognized.mapping.insert(name.to_owned(), (*only).to_owned());
            }
            _ => {
                let candidates = candidates.into_iter().map(str::to_owned).collect();
                recognized.ambiguous.insert(name.to_owned(), candidates);
            }
        }
    }
    recognized
}

/// Reads a file of names: a JSON object.
///
/// # Errors
/// [`NamesError`].
pub fn read_names(path: &Path) -> Result<NameMapping, NamesError> {
    let file = WholeFile::read(path, MAX_MEBIBYTES)?;
    let wrong = |message: String| NamesError::Shape { path: file.name.clone(), message };
    let Json::Object(members) = &file.value else {
        return Err(wrong(format!("it should be an object, and is {}", file.value.kind())));
    };
    if let Some(oddity) = file.oddities.first() {
        return Err(wrong(format!("{}: {}", oddity.pointer, oddity.message)));
    }
    let pair = |(from, to): &(String, Json)| match to {
        Json::String(to) if !to.is_empty() => Ok((from.clone(), to.clone())),
        other => Err(wrong(format!("the name for `{from}` should be text, and is {}", other.kind()))),
    };
    members.iter().map(pair).collect()
}

/// The ways to meet, the surest first.
const WAYS: [fn(&str) -> Option<String>; 3] = [all_parts, unmarked, tool_alone];

/// Known names by what they meet by.
struct Index<'a> {
    by_way: [HashMap<String, BTreeSet<&'a str>>; WAYS.len()],
}

impl<'a> Index<'a> {
    fn new(known: &'a Vocabulary) -> Self {
        let by_way = WAYS.map(|way| {
            let mut names: HashMap<String, BTreeSet<&str>> = HashMap::new();
            for name in known.calls.keys() {
                if let Some(key) = way(name) {
                    names.entry(key).or_default().insert(name);
                }
            }
            names
        });
        Self { by_way }
    }

    /// All known names that a name meets in the surest way in which it meets any.
    fn candidates(&self, name: &str) -> BTreeSet<&'a str> {
        let [whole, unmarked_names, tools] = &self.by_way;
        let get = |names: &HashMap<String, BTreeSet<&'a str>>, key: Option<String>| {
            key.and_then(|key| names.get(&key).cloned()).unwrap_or_default()
        };
        let found = get(whole, all_parts(name));
        if !found.is_empty() {
            return found;
        }
        let found = get(unmarked_names, unmarked(name));
        if !found.is_empty() {
            return found;
        }
        // Where both name a server, they name different ones.
        let mut found = get(tools, unmarked(name));
        found.extend(
            get(unmarked_names, tool_alone(name)).into_iter().filter(|name| tool_alone(name).is_none()),
        );
        found
    }
}

/// The parts of a name in lower case, joined in one way; `None` without any.
fn all_parts(name: &str) -> Option<String> {
    join(&parts(name))
}

/// The same without the marks of clients.
fn unmarked(name: &str) -> Option<String> {
    let parts = parts(name);
    let unmarked = without_marks(&parts);
    join(if unmarked.is_empty() { &parts } else { unmarked })
}

/// The same of the tool of a name that has a server; what is nothing but a mark is none.
fn tool_alone(name: &str) -> Option<String> {
    let (server, tool) =
        name.split_once('/').or_else(|| name.rsplit_once("__")).or_else(|| name.rsplit_once('.'))?;
    if without_marks(&parts(server)).is_empty() { None } else { all_parts(tool) }
}

fn join(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join("_"))
}

/// What stands between signs that are neither letters nor digits, and between a small and a capital letter.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_small && c.is_uppercase()) {
            parts.push(String::new());
        }
        was_small = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(part) = parts.last_mut()
        {
            part.extend(c.to_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// The parts behind the marks.
fn without_marks(mut parts: &[String]) -> &[String] {
    while let Some(rest) = MARKS.iter().find_map(|mark| {
        let (head, rest) = parts.split_at_checked(mark.len())?;
        head.iter().eq(mark.iter()).then_some(rest)
    }) {
        parts = rest;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(names: &[&str]) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for name in names {
            vocabulary.add(name);
        }
        vocabulary
    }

    fn recognized(predicted: &[&str], known: &[&str]) -> RecognizedNames {
        recognize(&vocabulary(predicted), &vocabulary(known))
    }

    #[test]
    fn one_tool_is_found_in_every_writing() {
        for writing in [
            "image__crop",
            "image.crop",
            "image-crop",
            "image:crop",
            "image_crop",
            "Image/Crop",
            "imageCrop",
            " image/crop",
            "mcp__image__crop",
            "mcp.image.crop",
            "functions.image__crop",
            "functions.mcp__image__crop",
            "default_api.image_crop",
            "functions.crop",
            "crop",
            "mcp__crop",
        ] {
            let found = recognized(&[writing], &["image/crop", "image/rotate", "video/cut"]);
            assert_eq!(found.mapping.get(writing).map(String::as_str), Some("image/crop"), "{writing}");
            assert!(found.ambiguous.is_empty());
            // The references may have the other writing.
            let found = recognized(&["image/crop"], &[writing, "rotate"]);
            assert_eq!(found.mapping.get("image/crop").map(String::as_str), Some(writing), "{writing}");
        }
    }

    #[test]
    fn other_tools_and_other_servers_stay_what_they_are() {
        for (name, known) in [
            ("image/crops", "image/crop"),
            ("video/crop", "image/crop"),
            ("mcp__video__crop", "image/crop"),
            ("image/v1-1", "image/v11"),
            ("image", "image/crop"),
            ("///", "image/crop"),
            ("", "image/crop"),
            ("mcp", "image/crop"),
        ] {
            assert_eq!(recognized(&[name], &[known]), RecognizedNames::default(), "{name}");
        }
        // A name that is known means itself, whatever else looks like it.
        assert_eq!(recognized(&["image_crop"], &["image_crop", "image/crop"]), RecognizedNames::default());
    }

    #[test]
    fn what_could_mean_several_or_is_meant_twice_is_listed_and_not_mapped() {
        let found = recognized(&["crop"], &["image/crop", "video/crop"]);
        assert!(found.mapping.is_empty());
        assert_eq!(found.ambiguous["crop"], ["image/crop", "video/crop"]);
        for predicted in
            [["image__crop", "image.crop"], ["image__crop", "image/crop"], ["image__crop", "crop"]]
        {
            let found = recognized(&predicted, &["image/crop"]);
            assert!(found.mapping.is_empty(), "{predicted:?}");
            assert_eq!(found.ambiguous["image__crop"], ["image/crop"]);
        }
        // The whole name is surer than the tool alone.
        let found = recognized(&["image_crop"], &["image/crop", "fs/image_crop"]);
        assert_eq!(found.mapping["image_crop"], "image/crop");
        // A server may be called like a mark.
        let found = recognized(&["mcp__fetch"], &["mcp/fetch", "web/fetch"]);
        assert_eq!(found.mapping["mcp__fetch"], "mcp/fetch");
    }
}
