//! Different spellings of tool names. M³-Bench has `server/tool`; model interfaces allow no slash, so the same tool
//! becomes `server__tool`, and clients put their own prefix in front: `mcp__server__tool`.
//!
//! Names in predictions are matched with those in references and perhaps in a catalog.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use m3_support::names::words;

use super::json::Json;
use super::model::{Call, Step, Trajectory};
use super::whole::{WholeFile, WholeFileError};

/// A mapping of names: from a prediction's to the reference's.
pub type NameMapping = BTreeMap<String, String>;

impl Trajectory {
    /// Renames tools according to `names`.
    pub fn rename_tools(&mut self, names: &NameMapping) {
        for call in self.steps.iter_mut().flat_map(|step| &mut step.calls) {
            if let Some(name) = names.get(&call.tool) {
                call.tool.clone_from(name);
            }
        }
    }
}

impl Trajectory {
    /// Leaves out the calls of these tools, and the steps that have no other calls.
    pub fn leave_out(&mut self, tools: &HashSet<String>) {
        let calls_any = |step: &Step| step.calls.iter().any(|call| tools.contains(&call.tool));
        self.steps.retain_mut(|step| {
            let had_any = calls_any(step);
            step.calls.retain(|call| !tools.contains(&call.tool));
            !had_any || !step.calls.is_empty() || !step.malformed.is_empty()
        });
    }
}

/// Whether two names are of one tool. m3's names are `server/tool`, those of other programs mostly the tool alone: if
/// only one of the two names has a server, the names without it are compared.
#[must_use]
pub fn is_same_tool(a: &str, b: &str) -> bool {
    let has_server = |name: &str| name.contains('/');
    if has_server(a) == has_server(b) { a == b } else { bare_name(a) == bare_name(b) }
}

/// A tool's name without its server.
#[must_use]
pub fn bare_name(name: &str) -> &str {
    name.rsplit_once('/').map_or(name, |(_, bare)| bare)
}

/// The tools that are as good as that of a reference's call: its member `similar_tools`, a list of names or of objects with
/// `name` and perhaps `mcp_server`, as MCPToolBench++ has it.
#[must_use]
pub fn similar_tools(call: &Call) -> Vec<String> {
    let list = call.get("similar_tools");
    let Some(Json::Array(list)) = list else { return Vec::new() };
    let name = |item: &Json| {
        let text = |key: &str| item.get(key).and_then(Json::as_str);
        let name = item.as_str().or_else(|| text("name"))?;
        Some(match text("mcp_server").filter(|_| !name.contains('/')) {
            Some(server) => format!("{server}/{name}"),
            None => name.to_owned(),
        })
    };
    list.iter().filter_map(name).collect()
}

/// The names of tools that a set of trajectories calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Vocabulary {
    /// The number of calls of each name.
    calls: BTreeMap<String, u64>,
}

/// The meaning of names in predictions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecognizedNames {
    /// Each name that the references do not have, with the only name that it can stand for. Two names map to the same one
    /// only if they are writings of the same server and tool.
    pub mapping: NameMapping,
    /// Names whose meaning is unclear: those with several candidates, of which the first five are listed, and those
    /// whose candidate other names could stand for too.
    pub ambiguous: BTreeMap<String, Vec<String>>,
}

/// Why a file of names cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum NamesError {
    /// The file cannot be read, or is not JSON.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The file is JSON of another form.
    #[error(
        "`{path}`: {message}\nhint: an object of names, the prediction's before the reference's: \
         {{\"image__crop\": \"image/crop\"}}"
    )]
    Shape {
        /// The path of the file.
        path: String,
        /// The problem in words.
        message: String,
    },
}

/// The most different names that are kept from a file. Real sets have hundreds; a file with more is crafted.
const MOST_NAMES: usize = 100_000;

/// The longest name that is kept, in bytes. Model interfaces allow 64 to 128.
const LONGEST_NAME: usize = 512;

/// The largest file of names, in MiB.
const MAX_MEBIBYTES: u64 = 16;

/// The most candidates of one name that are kept.
const MOST_CANDIDATES: usize = 5;

/// Signs that separate the parts of a name, like white space.
const BETWEEN: [char; 5] = ['_', '-', '.', '/', ':'];

/// Prefixes that clients put in front of tool names, as parts: `mcp__` (Claude Code), `functions.` (OpenAI's
/// templates), `default_api.` (Gemini's code), `tools.`.
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

    /// Adds the calls of other trajectories.
    pub fn merge(&mut self, other: Self) {
        for (name, count) in other.calls {
            if self.calls.len() < MOST_NAMES || self.calls.contains_key(&name) {
                *self.calls.entry(name).or_default() += count;
            }
        }
    }

    /// Adds a name that may be called.
    pub fn add(&mut self, name: &str) {
        self.calls.entry(name.to_owned()).or_default();
    }

    /// Whether this name is known.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.calls.contains_key(name)
    }

    /// All names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.calls.keys()
    }

    /// The number of calls of these names.
    pub fn calls_of<'n>(&self, names: impl Iterator<Item = &'n String>) -> u64 {
        names.filter_map(|name| self.calls.get(name)).sum()
    }
}

/// Matches every name of `predicted` that `references` do not have with their names and those of `catalog`. Names
/// match if they have the same parts, whatever separates them, ignoring case; else without the prefixes of clients;
/// else, if one of the two names no server, by the tool alone.
#[must_use]
pub fn recognize(predicted: &Vocabulary, references: &Vocabulary, catalog: &Vocabulary) -> RecognizedNames {
    // Only calls of tools in the references can be matched, so the references' spelling counts.
    let of_theirs: HashSet<Option<String>> = references.calls.keys().map(|name| unmarked(name)).collect();
    let catalog: BTreeSet<&str> = catalog
        .calls
        .keys()
        .map(String::as_str)
        .filter(|name| !of_theirs.contains(&unmarked(name)))
        .collect();
    let of_references: BTreeSet<&str> = references.calls.keys().map(String::as_str).collect();
    let mut of_both = Index::new(of_references.union(&catalog).copied());
    let mut of_references = Index::new(of_references.into_iter());
    let mut matches: BTreeMap<&str, (Way, Vec<&str>)> = BTreeMap::new();
    for name in predicted.calls.keys().filter(|name| !references.has(name)) {
        // A name in the catalog cannot mean another tool of the catalog.
        let index = if catalog.contains(name.as_str()) { &mut of_references } else { &mut of_both };
        matches.extend(index.meet(name).map(|candidates| (name.as_str(), candidates)));
    }
    let is_clear = |way: Way, candidate: &str| match way {
        Way::AllParts | Way::Unmarked => {
            !of_both.is_disputed(candidate) && !of_references.is_disputed(candidate)
        }
        // By the tool alone, several servers may be meant.
        Way::ToolOfKnown | Way::ToolOfPredicted => {
            of_both.claims(candidate) + of_references.claims(candidate) == 1 && !predicted.has(candidate)
        }
    };
    let mut recognized = RecognizedNames::default();
    for (name, (way, candidates)) in matches {
        match candidates.as_slice() {
            [only] if is_clear(way, only) => {
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

/// How two names match, the surest way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Way {
    AllParts,
    Unmarked,
    /// The known name has a server, the predicted one none. If both have one, the servers differ.
    ToolOfKnown,
    /// The predicted name has a server, the known one none.
    ToolOfPredicted,
}

/// A way of matching, and the text that matching names have in common.
type Meeting = (Way, String);

/// Known names by the ways in which they match. Many names may match in one way, so the pairs are only counted.
struct Index<'a> {
    /// The first [`MOST_CANDIDATES`] known names for each way and text.
    known: HashMap<Meeting, Vec<&'a str>>,
    /// The predicted names for each way and text.
    predicted: HashMap<Meeting, Claims>,
}

/// The predicted names that match in one way.
#[derive(Debug, Default)]
struct Claims {
    count: usize,
    /// The tool that the first name with a server has.
    tool: Option<String>,
    /// Whether names put the border between server and tool in different places: `a_b/c` and `a/b_c` are two tools.
    is_disputed: bool,
}

impl Claims {
    fn add(&mut self, name: &str) {
        self.count += 1;
        if let Some(tool) = tool_alone(name) {
            self.is_disputed |= self.tool.as_ref().is_some_and(|known| *known != tool);
            self.tool.get_or_insert(tool);
        }
    }
}

impl<'a> Index<'a> {
    fn new(names: impl Iterator<Item = &'a str>) -> Self {
        let mut known: HashMap<Meeting, Vec<&str>> = HashMap::new();
        for name in names {
            for meeting in meetings(name, [Way::ToolOfKnown, Way::ToolOfPredicted]) {
                let candidates = known.entry(meeting).or_default();
                if candidates.len() < MOST_CANDIDATES {
                    candidates.push(name);
                }
            }
        }
        Self { known, predicted: HashMap::new() }
    }

    /// The known names that match a predicted one in the surest way that gives any.
    fn meet(&mut self, name: &str) -> Option<(Way, Vec<&'a str>)> {
        let mut ways = meetings(name, [Way::ToolOfPredicted, Way::ToolOfKnown]);
        let (candidates, meeting) =
            ways.find_map(|meeting| Some((self.known.get(&meeting)?.clone(), meeting)))?;
        let way = meeting.0;
        self.predicted.entry(meeting).or_default().add(name);
        Some((way, candidates))
    }

    /// How many predicted names could stand for this known one.
    fn claims(&self, known: &str) -> usize {
        self.claims_of(known).map(|claims| claims.count).sum()
    }

    /// Whether the whole names that could stand for this known one are those of different tools.
    fn is_disputed(&self, known: &str) -> bool {
        let tools: HashSet<&String> =
            self.claims_of(known).filter_map(|claims| claims.tool.as_ref()).collect();
        tools.len() > 1 || self.claims_of(known).any(|claims| claims.is_disputed)
    }

    fn claims_of(&self, known: &str) -> impl Iterator<Item = &Claims> {
        let ways = meetings(known, [Way::ToolOfKnown, Way::ToolOfPredicted]);
        ways.filter_map(|meeting| self.predicted.get(&meeting))
    }
}

/// The ways in which a name can match others, the surest first. The way by the tool alone is `with_server` if the
/// name has a server, else `without`.
fn meetings(name: &str, [with_server, without]: [Way; 2]) -> impl Iterator<Item = Meeting> {
    let unmarked = unmarked(name);
    let by_tool = match tool_alone(name) {
        Some(tool) => Some((with_server, tool)),
        None => unmarked.clone().map(|tool| (without, tool)),
    };
    let all_parts = all_parts(name).map(|parts| (Way::AllParts, parts));
    [all_parts, unmarked.map(|parts| (Way::Unmarked, parts)), by_tool].into_iter().flatten()
}

/// The parts of a name in lower case, joined uniformly; `None` if there are none.
fn all_parts(name: &str) -> Option<String> {
    join(&parts(name))
}

/// The parts of a name in lower case without the prefixes of clients, joined uniformly.
fn unmarked(name: &str) -> Option<String> {
    let parts = parts(name);
    let unmarked = without_marks(&parts);
    join(if unmarked.is_empty() { &parts } else { unmarked })
}

/// The parts of the tool in a name that has a server, joined uniformly; a prefix of clients is not a server.
fn tool_alone(name: &str) -> Option<String> {
    let (server, tool) =
        name.split_once('/').or_else(|| name.rsplit_once("__")).or_else(|| name.rsplit_once('.'))?;
    if without_marks(&parts(server)).is_empty() { None } else { all_parts(tool) }
}

fn join(parts: &[String]) -> Option<String> {
    (!parts.is_empty()).then(|| parts.join("_"))
}

/// The words of a name. Only the signs in which spellings differ separate them; other signs are part of the name:
/// `c++` is not `c`.
fn parts(name: &str) -> Vec<String> {
    words(name, |c| c.is_whitespace() || BETWEEN.contains(&c))
}

/// The parts after the prefixes of clients.
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
mod tests;
