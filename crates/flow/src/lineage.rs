//! The files of a trajectory: which call makes each, in which version, and where arguments name them.
//!
//! Every writing makes a version. A call reads the latest version that an earlier step made; where only calls of its own
//! step make the file, one of those. `docs/flow.md` has the rules with examples.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use m3_trajectory::json::{Json, pointer_to};

use super::default_names::DefaultNames;
use super::names::{is_input, is_output, names_path};
use super::paths::FilePath;
use super::tools::{changes_by_name, creates_by_name};

/// A call as its lineage needs it.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// Its step, from 0; calls are in the order of their steps.
    pub step: usize,
    /// The tool as `server/tool`.
    pub tool: &'a str,
    /// Its arguments.
    pub arguments: Option<&'a Json>,
    /// Its result, where results are evidence.
    pub result: Option<&'a Json>,
    /// Whether it is recorded as failed: then it makes nothing.
    pub has_failed: bool,
}

/// What the task itself gives.
#[derive(Debug, Clone, Copy, Default)]
pub struct GivenFiles<'a> {
    /// The path of its image.
    pub image: Option<&'a str>,
}

/// Which calls make and read which files.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lineage {
    /// Where the arguments of each call name files of interest, in the order of the arguments.
    pub mentions: Vec<Vec<Mention>>,
    /// All files that calls make, in the order of their making.
    pub versions: Vec<Version>,
}

/// A file named in arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct Mention {
    /// The argument: a JSON pointer to a text.
    pub pointer: String,
    /// The bytes of the text that name it: all, those of a folder that a path begins with, or a name within a longer text.
    pub span: Range<usize>,
    /// What the call does with it.
    pub role: Role,
}

/// What a call does with a file that it names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Makes this version, an index into [`Lineage::versions`].
    Writes(usize),
    /// Uses this version; `is_of_step` where only a call of the same step makes it, which may be too late.
    Reads {
        /// An index into [`Lineage::versions`].
        version: usize,
        /// Whether its maker is of the same step.
        is_of_step: bool,
    },
    /// Changes this version in place, or is the first to make it so.
    Changes(usize),
    /// Uses the task's own image.
    ReadsTaskImage,
}

impl Role {
    /// The version that the call finds, if it finds one: what it reads, or changes in place.
    #[must_use]
    pub fn used_version(self) -> Option<usize> {
        match self {
            Self::Reads { version, .. } | Self::Changes(version) => Some(version),
            Self::Writes(_) | Self::ReadsTaskImage => None,
        }
    }
}

/// A file, or a folder, as one call makes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Version {
    /// The call that makes it.
    pub call: usize,
    /// The argument that names it; `None` where no argument does: a default name.
    pub pointer: Option<String>,
    /// The path, as the arguments of its maker or of its first reader have it.
    pub path: String,
    /// Whether calls change it in place: then it is one file from its first mention to its last, whoever changed it when.
    pub is_changed_in_place: bool,
    /// Whether it takes the place of the task's own image.
    pub replaces_task_image: bool,
    /// Whether a later call reads it.
    pub is_read: bool,
    /// The version that takes its place, if any does.
    pub replaced_by: Option<usize>,
}

/// Texts longer than this are not searched for names of files, in bytes.
const LONGEST_TEXT: usize = 1 << 16;

/// So many bytes of texts of one trajectory are searched, each time for one name.
const MOST_SEARCHED: usize = 8 << 20;

/// So many of the latest names are looked for in texts, and compared where names differ in their folders.
const LATEST: usize = 64;

/// The most files named in one call.
const MOST_OF_CALL: usize = 256;

/// Values nested deeper are not looked at.
const MAX_DEPTH: usize = 64;

/// A path among arguments.
struct NamedPath {
    pointer: String,
    path: FilePath,
    text: String,
    /// Whether its name says that the call makes it, as `output_path` does.
    is_output: bool,
    /// Whether the call writes it, of itself or because its tool changes what it is given.
    is_written: bool,
}

impl Lineage {
    /// The lineage of calls that are sorted by step.
    #[must_use]
    pub fn new(calls: &[CallView<'_>], given: GivenFiles<'_>) -> Self {
        let paths: Vec<Vec<NamedPath>> = calls.iter().map(named_paths).collect();
        let mut tracker = Tracker {
            calls,
            image: given.image.and_then(FilePath::new),
            created: created(calls, &paths),
            files: Files::default(),
            lineage: Self { mentions: vec![Vec::new(); calls.len()], versions: Vec::new() },
            searched: 0,
        };
        if tracker.image.is_none() && paths.iter().all(Vec::is_empty) {
            return Self::default();
        }
        let mut start = 0;
        for of_step in calls.chunk_by(|a, b| a.step == b.step) {
            let step = start..start + of_step.len();
            tracker.step(step.clone(), &paths);
            start = step.end;
        }
        tracker.lineage
    }

    /// Whether no call names a file of interest.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.mentions.iter().all(Vec::is_empty)
    }

    /// Whether this version is what is left of the trajectory: nothing reads it and nothing takes its place.
    #[must_use]
    pub fn is_left(&self, version: usize) -> bool {
        self.versions.get(version).is_some_and(|version| !version.is_read && version.replaced_by.is_none())
    }
}

/// The paths that calls of creating tools write without naming them as outputs.
fn created(calls: &[CallView<'_>], paths: &[Vec<NamedPath>]) -> HashSet<Vec<String>> {
    let creating = calls.iter().zip(paths).filter(|(call, paths)| {
        paths.iter().any(|path| path.is_written && !path.is_output) && creates_by_name(tool_of(call))
    });
    let written =
        creating.flat_map(|(_, paths)| paths.iter().filter(|path| path.is_written && !path.is_output));
    written.map(|path| path.path.parts().to_vec()).collect()
}

/// The tool's name without its server.
fn tool_of<'a>(call: &CallView<'a>) -> &'a str {
    call.tool.split_once('/').map_or(call.tool, |(_, tool)| tool)
}

/// The paths among the arguments of a call.
fn named_paths(call: &CallView<'_>) -> Vec<NamedPath> {
    let mut found = Vec::new();
    if let Some(arguments) = call.arguments {
        let mut changes = None;
        let mut is_written = |name: &str| {
            is_output(name)
                || *changes.get_or_insert_with(|| changes_by_name(tool_of(call)))
                    && names_path(name)
                    && !is_input(name)
        };
        collect(arguments, "", (String::new(), 0), &mut is_written, &mut found);
    }
    found
}

fn collect(
    value: &Json,
    name: &str,
    (pointer, depth): (String, usize),
    is_written: &mut dyn FnMut(&str) -> bool,
    found: &mut Vec<NamedPath>,
) {
    match value {
        _ if depth > MAX_DEPTH || found.len() >= MOST_OF_CALL => {}
        Json::String(text) => {
            let strict = FilePath::new(text);
            if strict.is_none() && !names_path(name) {
                return;
            }
            let is_written = is_written(name);
            let path = strict.or_else(|| names_path(name).then(|| FilePath::of_word(text)).flatten());
            found.extend(path.map(|path| {
                let is_output = is_output(name);
                NamedPath { pointer, path, text: text.clone(), is_output, is_written }
            }));
        }
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate().filter(|(_, item)| may_hold_text(item)) {
                collect(item, name, (pointer_to(&pointer, index), depth + 1), is_written, found);
            }
        }
        Json::Object(members) => {
            for (key, item) in members.iter().filter(|(_, item)| may_hold_text(item)) {
                collect(item, key, (pointer_to(&pointer, key), depth + 1), is_written, found);
            }
        }
        _ => {}
    }
}

fn may_hold_text(value: &Json) -> bool {
    matches!(value, Json::String(_) | Json::Array(_) | Json::Object(_))
}

/// Follows the steps of a trajectory.
struct Tracker<'a> {
    calls: &'a [CallView<'a>],
    image: Option<FilePath>,
    /// Paths that tools create which change files in place.
    created: HashSet<Vec<String>>,
    files: Files,
    lineage: Lineage,
    searched: usize,
}

impl Tracker<'_> {
    /// Reads first what earlier steps made; what the step makes exists for later ones.
    fn step(&mut self, step: Range<usize>, paths: &[Vec<NamedPath>]) {
        let mut written: Vec<(&NamedPath, usize)> = Vec::new();
        for call in step.clone().filter(|&call| !self.calls[call].has_failed) {
            for path in paths[call].iter().filter(|path| path.is_written) {
                if let Some(version) = self.write(call, path) {
                    written.push((path, version));
                }
            }
        }
        for call in step {
            for path in &paths[call] {
                let made =
                    written.iter().find(|(made, _)| std::ptr::eq(*made, path)).map(|(_, version)| *version);
                let writes = made.map(|version| (Role::Writes(version), path.text.len()));
                let role = match path.is_output {
                    true => writes,
                    // A tool that changes a file in place reads what was there.
                    false if made.is_some() => self.read(call, path, &[]).or(writes),
                    false => self.read(call, path, &written).map(|(role, end)| match role {
                        Role::Reads { version, .. }
                            if path.is_written && self.is_changed_in_place(version) =>
                        {
                            (Role::Changes(version), end)
                        }
                        role => (role, end),
                    }),
                };
                if let Some((role, end)) = role {
                    self.mention(call, &path.pointer, 0..end, role);
                }
            }
            self.search_texts(call, &paths[call]);
        }
        for (path, version) in written {
            let before = self.files.put(path, version);
            let versions = &mut self.lineage.versions;
            let maker = versions[version].call;
            if let Some(before) = before.filter(|&before| versions[before].call != maker) {
                versions[before].replaced_by = Some(version);
            }
        }
    }

    /// The version that a call makes under a path that it writes; `None` where it changes in place a file that is one from
    /// its first mention to its last, or one that was there before the trajectory.
    fn write(&mut self, call: usize, named: &NamedPath) -> Option<usize> {
        if named.is_output {
            return Some(self.add(call, named));
        }
        let known =
            self.files.exact(&named.path).or_else(|| self.files.met(named).map(|(version, _)| version));
        match known {
            Some(version) => {
                (!self.lineage.versions[version].is_changed_in_place).then(|| self.add(call, named))
            }
            None if self.is_task_image(&named.path) => Some(self.add(call, named)),
            None => {
                if self.created.contains(named.path.parts()) {
                    let version = self.add(call, named);
                    self.lineage.versions[version].is_changed_in_place = true;
                    self.files.put(named, version);
                }
                None
            }
        }
    }

    fn is_changed_in_place(&self, version: usize) -> bool {
        self.lineage.versions[version].is_changed_in_place
    }

    fn is_task_image(&self, path: &FilePath) -> bool {
        self.image.as_ref().is_some_and(|image| path.is_exactly(image))
    }

    fn add(&mut self, call: usize, named: &NamedPath) -> usize {
        self.lineage.versions.push(Version {
            call,
            pointer: Some(named.pointer.clone()),
            path: named.text.clone(),
            is_changed_in_place: false,
            replaces_task_image: self.is_task_image(&named.path),
            is_read: false,
            replaced_by: None,
        });
        self.lineage.versions.len() - 1
    }

    fn mention(&mut self, call: usize, pointer: &str, span: Range<usize>, role: Role) {
        if let Some(version) = role.used_version() {
            self.lineage.versions[version].is_read = true;
        }
        let mentions = &mut self.lineage.mentions[call];
        if mentions.len() < MOST_OF_CALL {
            mentions.push(Mention { pointer: pointer.to_owned(), span, role });
        }
    }

    /// What a path that is read leads to, and where its name ends; `written` is what the step itself makes.
    fn read(
        &mut self,
        call: usize,
        named: &NamedPath,
        written: &[(&NamedPath, usize)],
    ) -> Option<(Role, usize)> {
        let path = &named.path;
        let reads = |version, is_of_step| Role::Reads { version, is_of_step };
        let image = self.image.as_ref();
        if let Some(version) = self.files.exact(path) {
            return Some((reads(version, false), named.text.len()));
        }
        if self.is_task_image(path) {
            return Some((Role::ReadsTaskImage, named.text.len()));
        }
        if let Some((version, end)) = self.files.met(named) {
            return Some((reads(version, false), end.unwrap_or(named.text.len())));
        }
        if image.is_some_and(|image| path.has_name_of(image)) {
            return Some((Role::ReadsTaskImage, named.text.len()));
        }
        let of_others = written.iter().filter(|(_, version)| self.lineage.versions[*version].call != call);
        let mut of_others = of_others.rev().take(LATEST);
        if let Some((_, version)) = of_others.find(|(made, _)| made.path.may_meet(path)) {
            return Some((reads(*version, true), named.text.len()));
        }
        let maker = DefaultNames { calls: self.calls, lineage: &self.lineage }.maker(call, path)?;
        let version = self.add_default(maker, named);
        Some((reads(version, false), named.text.len()))
    }

    /// Names of files that were made, within longer texts.
    fn search_texts(&mut self, call: usize, paths: &[NamedPath]) {
        let mut texts = Vec::new();
        texts_of(self.calls[call].arguments, &mut texts);
        texts.retain(|(pointer, text)| {
            text.len() <= LONGEST_TEXT && !paths.iter().any(|path| path.pointer == *pointer)
        });
        for (pointer, text) in &texts {
            self.find_default_names(call, pointer, text);
        }
        let names = self.files.latest();
        let mut mentions = Vec::new();
        for (pointer, text) in &texts {
            for (name, version) in &names {
                self.searched += text.len();
                if self.searched > MOST_SEARCHED {
                    return;
                }
                mentions.extend(whole_words(text, name).map(|span| (pointer.clone(), span, *version)));
            }
        }
        // Of names that overlap the longest counts.
        mentions.sort_by(|a, b| (&a.0, a.1.start, b.1.end).cmp(&(&b.0, b.1.start, a.1.end)));
        let mut last: Option<(String, usize)> = None;
        for (pointer, span, version) in mentions {
            if last.as_ref().is_some_and(|(at, end)| *at == pointer && span.start < *end) {
                continue;
            }
            last = Some((pointer.clone(), span.end));
            self.mention(call, &pointer, span, Role::Reads { version, is_of_step: false });
        }
    }

    /// Learns names that no argument gave from the words of a text.
    fn find_default_names(&mut self, call: usize, pointer: &str, text: &str) {
        let is_end = |c: char| c.is_whitespace() || "\"'`<>(),;".contains(c);
        let words = text.split(is_end).filter(|word| word.contains('.')).take(MOST_OF_CALL);
        for word in words.map(|word| word.trim_end_matches(['.', ':', '!'])) {
            let Some(path) = FilePath::new(word).filter(|path| path.is_file) else { continue };
            if self.files.exact(&path).is_some()
                || self.image.as_ref().is_some_and(|image| path.has_name_of(image))
            {
                continue;
            }
            let Some(maker) = (DefaultNames { calls: self.calls, lineage: &self.lineage }).maker(call, &path)
            else {
                continue;
            };
            let (pointer, text) = (pointer.to_owned(), word.to_owned());
            let named = NamedPath { pointer, path, text, is_output: false, is_written: false };
            self.add_default(maker, &named);
        }
    }

    /// A file of a call whose name no argument gives.
    fn add_default(&mut self, maker: usize, named: &NamedPath) -> usize {
        let version = self.add(maker, named);
        self.lineage.versions[version].pointer = None;
        self.files.put(named, version);
        version
    }
}

/// The texts of arguments with their places.
fn texts_of<'a>(arguments: Option<&'a Json>, texts: &mut Vec<(String, &'a str)>) {
    fn walk<'a>(value: &'a Json, pointer: &str, depth: usize, texts: &mut Vec<(String, &'a str)>) {
        match value {
            _ if depth > MAX_DEPTH || texts.len() >= MOST_OF_CALL => {}
            Json::String(text) => texts.push((pointer.to_owned(), text)),
            Json::Array(items) => {
                for (index, item) in items.iter().enumerate().filter(|(_, item)| may_hold_text(item)) {
                    walk(item, &pointer_to(pointer, index), depth + 1, texts);
                }
            }
            Json::Object(members) => {
                for (key, item) in members.iter().filter(|(_, item)| may_hold_text(item)) {
                    walk(item, &pointer_to(pointer, key), depth + 1, texts);
                }
            }
            _ => {}
        }
    }
    if let Some(arguments) = arguments {
        walk(arguments, "", 0, texts);
    }
}

/// The length of the ending that a tool has added to a name that has none.
fn ending_after(name: &str, rest: &str) -> usize {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let Some(ending) = rest.strip_prefix('.').filter(|_| !file.contains('.')) else { return 0 };
    let length = ending.bytes().take_while(u8::is_ascii_alphanumeric).count();
    if (1..=5).contains(&length) { length + 1 } else { 0 }
}

/// Where a name stands in a text as a word of its own.
fn whole_words<'t>(text: &'t str, name: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '\\');
    text.match_indices(name).filter_map(move |(start, found)| {
        let end = start + found.len() + ending_after(name, &text[start + found.len()..]);
        let before = text[..start].chars().next_back();
        let mut after = text[end..].chars();
        // A dot ends a sentence, or goes on with the name.
        let goes_on = match after.next() {
            Some('.') => after.next().is_some_and(char::is_alphanumeric),
            next => next.is_some_and(is_part),
        };
        (!before.is_some_and(is_part) && !goes_on).then_some(start..end)
    })
}

/// Where so many parts of a path end in its text, in bytes.
fn end_of_parts(text: &str, count: usize) -> Option<usize> {
    let (mut seen, mut at) = (0, 0);
    for part in text.split(['/', '\\']) {
        at += part.len();
        seen += usize::from(!part.is_empty() && part != ".");
        if seen == count {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Files that exist, by their paths: the latest version of each.
#[derive(Debug, Default)]
struct Files {
    exact: HashMap<Vec<String>, usize>,
    by_name: HashMap<String, Vec<(FilePath, usize)>>,
    folders: Vec<(FilePath, usize)>,
    order: Vec<(String, usize)>,
}

impl Files {
    /// Puts a version in the place of what is there; says what was.
    fn put(&mut self, named: &NamedPath, version: usize) -> Option<usize> {
        let path = &named.path;
        let before = self.exact.insert(path.parts().to_vec(), version);
        let entry = (path.clone(), version);
        if let Some(name) = path.parts().last() {
            let same_name = self.by_name.entry(name.clone()).or_default();
            same_name.retain(|(known, _)| known.parts() != path.parts());
            same_name.push(entry.clone());
        }
        if !path.is_file {
            self.folders.push(entry);
        }
        self.order.push((named.text.clone(), version));
        before
    }

    fn exact(&self, path: &FilePath) -> Option<usize> {
        self.exact.get(path.parts()).copied()
    }

    /// The latest version whose path may be the same, or whose folder contains this path; then where the name of the
    /// folder ends in the text.
    fn met(&self, named: &NamedPath) -> Option<(usize, Option<usize>)> {
        let path = &named.path;
        let same_name = path.parts().last().and_then(|name| self.by_name.get(name));
        let same = same_name.into_iter().flatten().rev().take(LATEST);
        if let Some((_, version)) = same.clone().find(|(known, _)| known.may_meet(path)) {
            return Some((*version, None));
        }
        // A tool adds the ending that a name lacks.
        if let Some(version) = path.without_ending().and_then(|parts| self.exact.get(&parts)) {
            return Some((*version, None));
        }
        let mut folders = self.folders.iter().rev().take(LATEST);
        let (folder, version) = folders.find(|(known, _)| path.is_within(known))?;
        Some((*version, end_of_parts(&named.text, folder.parts().len())))
    }

    /// The latest names, each once, with their versions.
    fn latest(&self) -> Vec<(String, usize)> {
        let mut latest: Vec<(String, usize)> = Vec::new();
        for (name, version) in self.order.iter().rev() {
            if latest.len() >= LATEST {
                break;
            }
            if name.len() >= 3 && !latest.iter().any(|(known, _)| known == name) {
                latest.push((name.clone(), *version));
            }
        }
        latest
    }
}
