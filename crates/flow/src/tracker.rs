//! Follows a trajectory step by step: the files that each call finds under the paths that it names, and the files that
//! it writes.

use std::collections::HashSet;
use std::ops::Range;

use super::default_names::DefaultNames;
use super::known_files::{KnownFiles, LATEST};
use super::lineage::{CallView, Lineage, Mention, Role, Version};
use super::named_paths::{NamedPath, created, named_paths};
use super::paths::FilePath;
use super::texts::{MOST_OF_CALL, texts_of, whole_words};

/// The longest text that is searched for names of files, in bytes.
const LONGEST_TEXT: usize = 1 << 16;

/// The cost of the search for the maker of one file, in bytes of text.
const SEARCHED_BY_NAME: usize = 1 << 14;

/// The most bytes of texts of one trajectory that are searched; each search for one name counts.
const MOST_SEARCHED: usize = 8 << 20;

/// The most paths among the arguments of one trajectory that are followed: the first ones.
const MOST_NAMED: usize = 100_000;

impl Lineage {
    /// The lineage of calls that are sorted by step; `image` is the path of the task's own image.
    #[must_use]
    pub fn new(calls: &[CallView<'_>], image: Option<&str>) -> Self {
        let mut room = MOST_NAMED;
        let paths = |call: &CallView<'_>| {
            let mut paths = named_paths(call);
            paths.truncate(room);
            room -= paths.len();
            paths
        };
        let paths: Vec<Vec<NamedPath>> = calls.iter().map(paths).collect();
        let image = image.and_then(FilePath::new);
        if image.is_none() && paths.iter().all(Vec::is_empty) {
            return Self::default();
        }
        let mut tracker = Tracker::new(calls, image, &paths);
        let mut start = 0;
        for of_step in calls.chunk_by(|a, b| a.step == b.step) {
            let step = start..start + of_step.len();
            tracker.step(step.clone(), &paths);
            start = step.end;
        }
        tracker.lineage
    }
}

/// Follows the steps of a trajectory.
struct Tracker<'a> {
    calls: &'a [CallView<'a>],
    image: Option<FilePath>,
    /// The paths that creating tools write without naming them as outputs.
    created: HashSet<Vec<String>>,
    files: KnownFiles,
    default_names: DefaultNames<'a>,
    lineage: Lineage,
    searched: usize,
    /// Whether no call has named a file, nor returned anything.
    knows_nothing: bool,
}

impl<'a> Tracker<'a> {
    fn new(calls: &'a [CallView<'a>], image: Option<FilePath>, paths: &'a [Vec<NamedPath>]) -> Self {
        let lineage = Lineage { mentions: vec![Vec::new(); calls.len()], versions: Vec::new() };
        Self {
            calls,
            image,
            created: created(calls, paths),
            files: KnownFiles::default(),
            default_names: DefaultNames::new(calls, paths),
            lineage,
            searched: 0,
            knows_nothing: true,
        }
    }

    /// Follows a step. Its calls find the files of earlier steps first; the files that it makes exist for later steps.
    fn step(&mut self, step: Range<usize>, paths: &[Vec<NamedPath>]) {
        // The files that the step writes, in the order of its paths.
        let mut written: Vec<(&NamedPath, usize)> = Vec::new();
        for call in step.clone().filter(|&call| !self.calls[call].has_failed) {
            for path in paths[call].iter().filter(|path| path.is_written) {
                if let Some(version) = self.write(call, path) {
                    written.push((path, version));
                }
            }
        }
        let mut next = written.iter().peekable();
        for call in step.clone() {
            for path in &paths[call] {
                let made = next.next_if(|(made, _)| std::ptr::eq(*made, path)).map(|(_, version)| *version);
                let writes = made.map(|version| (Role::Writes(version), path.text.len()));
                let role = match path.is_output {
                    true => writes,
                    // A tool that changes a file in place reads the version before.
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
        self.default_names.add_step(&step);
        self.knows_nothing &=
            step.clone().all(|call| paths[call].is_empty() && self.calls[call].result.is_none());
        for (path, version) in written {
            let before = self.files.put(path, version);
            let versions = &mut self.lineage.versions;
            let maker = versions[version].call;
            // A file that is written into a folder replaces nothing.
            if let Some(before) = before.filter(|&before| path.path.is_file && versions[before].call != maker)
            {
                versions[before].replaced_by = Some(version);
            }
        }
    }

    /// The version that a call makes under a path that it writes. `None` if the call changes in place a file that is
    /// one version from its first mention to its last, or a file that was there before the trajectory.
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
        self.image.as_ref().is_some_and(|image| path.names_same_file(image))
    }

    fn add(&mut self, call: usize, named: &NamedPath) -> usize {
        self.default_names.add_file_of(call);
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

    /// The version that a path leads to when it is read, and where its name ends; `written` are the files of the step
    /// itself.
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
        let version = self.find_default(named)?;
        Some((reads(version, false), named.text.len()))
    }

    /// Finds names of files that were made, within the longer texts of a call.
    fn search_texts(&mut self, call: usize, paths: &[NamedPath]) {
        // Nothing is made yet, and nothing that a call has read could be the beginning of another file's name.
        if self.knows_nothing {
            return;
        }
        let knows_files = !self.files.is_empty();
        let is_of_interest = |text: &str| text.len() <= LONGEST_TEXT && (knows_files || text.contains('.'));
        let mut texts = texts_of(self.calls[call].arguments, &is_of_interest);
        texts.retain(|(pointer, _)| !paths.iter().any(|path| path.pointer == *pointer));
        for (pointer, text) in &texts {
            self.find_default_names(pointer, text);
        }
        let mut mentions = Vec::new();
        for (pointer, text) in &texts {
            for (name, version) in self.files.latest() {
                self.searched += text.len();
                if self.searched > MOST_SEARCHED {
                    return;
                }
                if name.len() > text.len() {
                    continue;
                }
                mentions.extend(whole_words(text, name).map(|span| (pointer.clone(), span, version)));
            }
        }
        // The longest of overlapping names counts.
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
    fn find_default_names(&mut self, pointer: &str, text: &str) {
        if !text.contains('.') {
            return;
        }
        let is_end = |c: char| c.is_whitespace() || "\"'`<>(),;".contains(c);
        let words = text.split(is_end).filter(|word| word.contains('.')).take(MOST_OF_CALL);
        for word in words.map(|word| word.trim_end_matches(['.', ':', '!'])) {
            let Some(path) = FilePath::new(word).filter(|path| path.is_file) else { continue };
            if self.files.exact(&path).is_some()
                || self.image.as_ref().is_some_and(|image| path.has_name_of(image))
            {
                continue;
            }
            let (pointer, text) = (pointer.to_owned(), word.to_owned());
            self.find_default(&NamedPath { pointer, path, text, is_output: false, is_written: false });
        }
    }

    /// The file under a name that no argument gave, if a call of an earlier step may have made it.
    fn find_default(&mut self, named: &NamedPath) -> Option<usize> {
        self.searched += SEARCHED_BY_NAME;
        if self.searched > MOST_SEARCHED {
            return None;
        }
        let maker = self.default_names.maker(&self.lineage, &named.path)?;
        let version = self.add(maker, named);
        self.lineage.versions[version].pointer = None;
        self.files.put(named, version);
        Some(version)
    }
}
