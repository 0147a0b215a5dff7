//! A recorded result without what differs from run to run: names that the trajectory chose, times and durations.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use m3_embedding::text_key;
use m3_flow::{
    AskedNames, Lineage, Role, is_file_path, may_make_by_name, says_nothing, without_server, words_of_name,
};
use m3_support::name_cache::NameCache;
use m3_trajectory::json::{Json, parse};
use m3_trajectory::{Call, ResultPicture, Trajectory, result_parts, result_picture, sent_base64};

use super::{PictureProblem, RecordedPicture};

/// The most text of a result that is compared, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// The largest picture that is compared, in bytes of Base64.
const LARGEST_PICTURE: usize = 24 << 20;

/// The most pictures of one result.
const MOST_PICTURES: usize = 16;

/// 2^53: all whole numbers below it are doubles.
const WHOLE: f64 = 9_007_199_254_740_992.0;

/// The longest text that is a number, in bytes.
const LONGEST_NUMBER: usize = 24;

/// The most digits of a whole number: texts of more digits stay texts, because a double does not hold them.
const MOST_DIGITS: usize = 15;

/// The words for a name that the trajectory chose.
const A_FILE: &str = "(a file)";

/// The words for the task's picture, which has several names: `images/plan.png`, `plan.png`.
const TASK_IMAGE: &str = "(the task's picture)";

/// The greatest depth of values that are read.
const MAX_DEPTH: usize = 64;

/// A result that is not an error.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RecordedResult {
    /// A digest of the words of the result.
    pub(super) digest: [u8; 16],
    /// Whether its words say only what any result might say.
    pub(super) is_plain: bool,
    /// The files that it names, by their versions, whose names the trajectory chose; the names themselves are left out.
    pub(super) files: Vec<usize>,
    /// Whether the result names such files, of whatever version.
    pub(super) names_files: bool,
    /// Its pictures, in their order.
    pub(super) pictures: Vec<RecordedPicture>,
}

impl RecordedResult {
    /// The result of a call, the `index`-th of its trajectory; `None` if it has none, or is an error.
    pub(super) fn new((call, index): (&Call, usize), names: &TrajectoryNames<'_>) -> Option<Self> {
        let result = call.result.as_ref().filter(|result| **result != Json::Null && !has_failed(call))?;
        let mut text = Text::new((call, index), names);
        let mut pictures = Vec::new();
        match result_parts(result) {
            Some(parts) => {
                for part in parts {
                    match recorded_picture(part, names.id) {
                        Some(picture) if pictures.len() < MOST_PICTURES => pictures.push(picture),
                        Some(_) => {}
                        None => text.part(part),
                    }
                }
            }
            None => text.value(result, 0),
        }
        let is_plain = says_nothing(&text.words);
        let digest = text_key(&text.words);
        Some(Self { digest, is_plain, names_files: text.words.contains(A_FILE), files: text.files, pictures })
    }

    /// The memory that the result takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let picture = |picture: &RecordedPicture| match picture {
            RecordedPicture::Sent(data) => data.len(),
            RecordedPicture::File { path, .. } => path.len(),
            RecordedPicture::Unusable { id, .. } => id.len(),
        };
        64 + self.pictures.iter().map(picture).sum::<usize>()
    }
}

/// Whether the result of a call is recorded, and is an error.
pub(super) fn has_failed(call: &Call) -> bool {
    call.result.is_some() && call.has_failed()
}

/// The picture of a part of a result of the trajectory with this id; `None` if the part is not a picture.
#[must_use]
pub fn recorded_picture(part: &Json, id: &str) -> Option<RecordedPicture> {
    if part.get("type").and_then(Json::as_str) != Some("image") {
        return None;
    }
    let id = id.to_owned();
    let sent = |part| sent_base64(part).filter(|data| !data.is_empty());
    Some(match result_picture(part) {
        Some(ResultPicture::File(path)) => RecordedPicture::File { id, path: path.to_owned() },
        Some(ResultPicture::Sent(part)) if let Some(data) = sent(part) => {
            if data.len() <= LARGEST_PICTURE {
                RecordedPicture::Sent(Arc::from(data))
            } else {
                RecordedPicture::Unusable { id, problem: PictureProblem::TooLarge }
            }
        }
        _ => RecordedPicture::Unusable { id, problem: PictureProblem::NoData },
    })
}

/// The names that differ between trajectories which do the same.
#[derive(Debug)]
pub(super) struct TrajectoryNames<'t> {
    id: &'t str,
    lineage: &'t Lineage,
    /// For each name without folders of a file that the trajectory makes: the calls that write it, in their order, each with the
    /// version that it makes.
    chosen: HashMap<&'t str, Vec<(usize, usize)>>,
    /// The name of the task's picture without folders.
    image: Option<&'t str>,
    /// Names that the trajectory gives to other things, each with the number that stands for it.
    given: HashMap<String, usize>,
}

impl<'t> TrajectoryNames<'t> {
    /// Collects the names of a trajectory; `asked` are the names that the task asks for.
    pub(super) fn new(
        trajectory: &'t Trajectory,
        (lineage, image): (&'t Lineage, Option<&'t str>),
        asked: &AskedNames,
    ) -> Self {
        let mut chosen: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
        for (number, version) in lineage.versions.iter().enumerate() {
            chosen.entry(file_name(&version.path)).or_default().push((version.call, number));
        }
        for versions in chosen.values_mut() {
            versions.sort_unstable();
        }
        let image = image.map(file_name).filter(|name| !name.is_empty());
        let given = crate::flow::given_names_of(trajectory, asked);
        Self { id: &trajectory.id, lineage, chosen, image, given }
    }

    /// The last version under a name that is made before or by a call.
    fn version(&self, name: &str, call: usize) -> Option<usize> {
        let versions = self.chosen.get(name)?;
        let count = versions.partition_point(|(maker, _)| *maker <= call);
        Some(versions.get(count.checked_sub(1)?)?.1)
    }
}

/// The words of a result, while they are collected.
struct Text<'t> {
    words: String,
    /// The index of the call.
    index: usize,
    names: &'t TrajectoryNames<'t>,
    files: Vec<usize>,
    /// Whether the call makes a file that no argument names: then every path may be the name that its tool chose.
    names_are_the_tools: bool,
    /// Keys of members, each with whether its value differs between runs: large results have few keys, each a thousand times.
    known_keys: NameCache<bool>,
}

impl<'t> Text<'t> {
    fn new((call, index): (&Call, usize), names: &'t TrajectoryNames<'t>) -> Self {
        let mut mentions = names.lineage.mentions.get(index).into_iter().flatten();
        let names_output = mentions.any(|mention| matches!(mention.role, Role::Writes(_)));
        let names_are_the_tools = !names_output && may_make_by_name(without_server(&call.tool));
        let (words, files, known_keys) = (String::new(), Vec::new(), NameCache::default());
        Self { words, index, names, files, names_are_the_tools, known_keys }
    }

    fn has_room(&self) -> bool {
        self.words.len() < MOST_TEXT
    }

    /// Adds a part of an answer in the form of the Model Context Protocol.
    fn part(&mut self, part: &Json) {
        match part.get("text").or_else(|| part.get("resource")?.get("text")).and_then(Json::as_str) {
            Some(text) => self.text(text, 0),
            None => self.value(part, 0),
        }
    }

    fn value(&mut self, value: &Json, depth: usize) {
        if depth > MAX_DEPTH || !self.has_room() {
            return;
        }
        match value {
            Json::String(text) => self.text(text, depth),
            Json::Array(items) => self.items(items, depth),
            Json::Object(members) => {
                let mut is_stable =
                    |member: &&(String, Json)| !self.known_keys.of_name(&member.0, differs_between_runs);
                let mut members: Vec<&(String, Json)> = members.iter().filter(&mut is_stable).collect();
                members.sort_by(|a, b| a.0.cmp(&b.0));
                self.words.push('{');
                for (key, value) in members {
                    let _ = write!(self.words, " {key}: ");
                    self.value(value, depth + 1);
                }
                self.words.push('}');
            }
            Json::Integer(number) => {
                let _ = write!(self.words, "{number}");
            }
            Json::Float(number) => self.number(*number),
            Json::LongInteger(digits) => self.words.push_str(digits),
            Json::Bool(value) => self.words.push_str(if *value { "true" } else { "false" }),
            Json::Null => {}
        }
        self.words.push(' ');
    }

    /// Adds the items in sorted order: their own order may only show that of the request. Numbers keep their order:
    /// they are a point or a series.
    fn items(&mut self, items: &[Json], depth: usize) {
        let is_number =
            |item: &Json| matches!(item, Json::Integer(_) | Json::Float(_) | Json::LongInteger(_));
        let are_numbers = items.iter().all(is_number);
        let mut length = self.words.len();
        let mut parts: Vec<String> = Vec::new();
        for item in items {
            let before = self.words.len();
            self.value(item, depth + 1);
            parts.push(self.words.split_off(before));
            length += parts.last().map_or(0, String::len) + 1;
            if length >= MOST_TEXT {
                break;
            }
        }
        if !are_numbers {
            parts.sort_unstable();
        }
        self.words.push('[');
        self.words.extend(parts);
        self.words.push(']');
    }

    /// Adds a number: a whole number as it is, others with seven digits.
    fn number(&mut self, number: f64) {
        let whole = number.round();
        let _ = if whole.abs() < WHOLE && (number - whole).abs() <= whole.abs() * f64::EPSILON * 8.0 {
            write!(self.words, "{:.0}", if whole == 0.0 { 0.0 } else { whole })
        } else {
            write!(self.words, "{number:.6e}")
        };
    }

    fn text(&mut self, text: &str, depth: usize) {
        let text = text.trim();
        let is_json = text.starts_with(['{', '[']) && text.ends_with(['}', ']']);
        if let Some((value, _)) = is_json.then(|| parse(text.as_bytes()).ok()).flatten() {
            return self.value(&value, depth + 1);
        }
        let digits = text.trim_start_matches(['-', '+']);
        // `0012` is a code.
        let is_code = digits.starts_with('0') && digits[1..].starts_with(|c: char| c.is_ascii_digit())
            || digits.len() > MOST_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit());
        if let Ok(number) = text.parse::<f64>()
            && text.len() <= LONGEST_NUMBER
            && !is_code
            && !self.names.given.contains_key(text)
        {
            return self.number(number);
        }
        // Most results name nothing of the trajectory's own: then no word is looked up.
        let has_names =
            !self.names.chosen.is_empty() || !self.names.given.is_empty() || self.names_are_the_tools;
        let has_names = has_names || self.names.image.is_some_and(|image| text.contains(image));
        for word in text.split_whitespace() {
            if !self.has_room() {
                return;
            }
            if has_names {
                self.word(word);
            } else {
                self.words.push_str(word);
            }
            self.words.push(' ');
        }
    }

    /// Adds a word; a name that the trajectory chose is replaced.
    fn word(&mut self, word: &str) {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let name = file_name(bare);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let version = self.names.version(name, self.index).or_else(|| self.names.version(stem, self.index));
        self.files.extend(version);
        if version.is_some() || self.names_are_the_tools && is_file_path(bare) {
            self.words.push_str(A_FILE);
        } else if self.names.image == Some(name) {
            self.words.push_str(TASK_IMAGE);
        } else if let Some(place) = self.names.given.get(bare) {
            let _ = write!(self.words, "(name {place})");
        } else {
            self.words.push_str(word);
        }
    }
}

/// A path without its folders.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Whether the value of a member says when something was done, or how long that took.
fn differs_between_runs(key: &str) -> bool {
    const WORDS: [&str; 9] =
        ["duration", "elapsed", "took", "timestamp", "created", "updated", "modified", "uptime", "latency"];
    // A key such as `created_by` says who made something, not when.
    let words = words_of_name(key);
    words.iter().any(|word| WORDS.contains(&word.as_str())) && words.last().is_none_or(|last| last != "by")
}
