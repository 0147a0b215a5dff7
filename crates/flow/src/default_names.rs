//! Files whose names tools choose by default: `crop(input: "plan.png")` writes `plan_cropped.png`.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ops::Range;

use super::lineage::{CallView, Lineage, Mention, Role};
use super::named_paths::NamedPath;
use super::paths::FilePath;
use super::result_paths::result_paths;
use super::tools::{may_make_by_name, without_server};

/// The most calls that are tried as the maker of a file, the latest first.
const LATEST: usize = 64;

/// Finds out which call made a file that no argument names.
pub(crate) struct DefaultNames<'a> {
    calls: &'a [CallView<'a>],
    paths: &'a [Vec<NamedPath>],
    /// The names that calls use for files, without their endings, read at the first use.
    stems: OnceCell<HashSet<&'a str>>,
    /// The number of calls of earlier steps.
    earlier: usize,
    /// For each call: the files that its result names, read at the first use.
    result_paths: Vec<OnceCell<Vec<FilePath>>>,
    /// For each call: whether it makes a file.
    has_made: Vec<bool>,
}

impl<'a> DefaultNames<'a> {
    pub(crate) fn new(calls: &'a [CallView<'a>], paths: &'a [Vec<NamedPath>]) -> Self {
        let (stems, result_paths) = (OnceCell::new(), vec![OnceCell::new(); calls.len()]);
        Self { calls, paths, stems, earlier: 0, result_paths, has_made: vec![false; calls.len()] }
    }

    /// Makes the calls of a step known to later ones.
    pub(crate) fn add_step(&mut self, step: &Range<usize>) {
        self.earlier = step.end;
    }

    /// Whether a call may have made a file that no argument names.
    fn may_have_made(&self, call: usize, lineage: &Lineage) -> bool {
        let view = &self.calls[call];
        let mut mentions = lineage.mentions[call].iter();
        let names_output = mentions.any(|mention| matches!(mention.role, Role::Writes(_)));
        !view.has_failed && !names_output && may_make_by_name(without_server(view.tool))
    }

    /// Notes that a call makes a file.
    pub(crate) fn add_file_of(&mut self, call: usize) {
        self.has_made[call] = true;
    }

    /// The call of an earlier step that may have made a file which is read now. If results are known, it is the latest
    /// call whose result names the path. Else it is a call that reads a file whose name the path's name begins with.
    /// Calls that failed, that name an output or that only look are left out. Of several calls that read such a file,
    /// the first that has made no other file counts, or the one whose number the name ends with (`plan_cropped_2.png`).
    pub(crate) fn maker(&self, lineage: &Lineage, path: &FilePath) -> Option<usize> {
        if !path.has_known_ending() {
            return None;
        }
        let may_have_made = |call: &usize| self.may_have_made(*call, lineage);
        let makers: Vec<usize> = (0..self.earlier).rev().filter(may_have_made).take(LATEST).collect();
        if makers.iter().any(|&call| self.calls[call].result.is_some()) {
            let tells = |call: &usize| self.told_by(*call).iter().any(|file| file.may_meet(path));
            return makers.into_iter().find(tells);
        }
        let beginning = |call: usize| Some((self.beginning(&lineage.mentions[call], call, path)?, call));
        let mut makers: Vec<(usize, usize)> = makers.into_iter().filter_map(beginning).collect();
        let longest = makers.iter().map(|(length, _)| *length).max()?;
        makers.retain(|(length, _)| *length == longest);
        makers.sort_unstable();
        let is_free = |call: usize| !self.has_made[call];
        let (plain, number) = numbered(path.stem());
        let numbered = number.and_then(|number| {
            // Some tools number their files from the plain name on, some from 1 on.
            let is_second = number == 1 && self.is_named(plain);
            makers.get(if is_second { 1 } else { number.checked_sub(1)? })
        });
        let maker = numbered.filter(|(_, call)| is_free(*call));
        maker.or_else(|| makers.iter().find(|(_, call)| is_free(*call))).map(|(_, call)| *call)
    }

    /// The files that the result of a call names.
    fn told_by(&self, call: usize) -> &[FilePath] {
        self.result_paths[call].get_or_init(|| self.calls[call].result.map(result_paths).unwrap_or_default())
    }

    /// Whether any call names a file like this, without its ending.
    fn is_named(&self, stem: &str) -> bool {
        let stems = || self.paths.iter().flatten().map(|named| named.path.stem()).collect();
        self.stems.get_or_init(stems).contains(stem)
    }

    /// The length of the longest name, without its ending, among the files that the call reads and that the path's name
    /// begins with.
    fn beginning(&self, mentions: &[Mention], call: usize, path: &FilePath) -> Option<usize> {
        let texts = mentions.iter().filter(|mention| !matches!(mention.role, Role::Writes(_)));
        let arguments = self.calls[call].arguments;
        let read = texts
            .filter_map(|mention| arguments?.pointer(&mention.pointer)?.as_str())
            .filter_map(FilePath::new);
        // A number distinguishes files that were made from the same file.
        let (stem, _) = numbered(path.stem());
        let begins = read.filter(|read| stem != read.stem() && stem.starts_with(read.stem()));
        begins.map(|read| read.stem().len()).max()
    }
}

/// A name without the number at its end, and the number.
fn numbered(stem: &str) -> (&str, Option<usize>) {
    let digits = stem.trim_end_matches([')', ']']);
    let start = digits.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let plain = digits[..start].strip_suffix(['_', '-', '(', ' ', '[']);
    match (plain, digits[start..].parse().ok()) {
        (Some(plain), Some(number)) if !plain.is_empty() => (plain.trim_end(), Some(number)),
        _ => (stem, None),
    }
}
