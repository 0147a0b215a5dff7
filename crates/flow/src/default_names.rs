//! Files under names that no argument says: `crop(input: "plan.png")` writes `plan_cropped.png`.

use super::lineage::{CallView, Lineage, Role};
use super::named_paths::named_paths;
use super::paths::FilePath;
use super::told::tells_path;
use super::tools::{may_make_by_name, without_server};

/// So many of the calls before are looked at.
const LATEST: usize = 64;

/// Finds out which call made a file that no argument names.
pub(crate) struct DefaultNames<'a> {
    pub(crate) calls: &'a [CallView<'a>],
    pub(crate) lineage: &'a Lineage,
}

impl DefaultNames<'_> {
    /// The call of an earlier step that may have made the file which `reader` reads: the latest whose result tells the path
    /// or, where results are not known, one that reads a file whose name the path's name begins with. Only calls whose
    /// arguments name no output are asked, none that only looks, and none that made a file of another name. Of several the
    /// first counts, or the one whose number the name ends with (`plan_cropped_2.png`).
    pub(crate) fn maker(&self, reader: usize, path: &FilePath) -> Option<usize> {
        if !path.is_file {
            return None;
        }
        let step = self.calls[reader].step;
        let before = (0..reader).rev().filter(|&call| self.calls[call].step < step).take(LATEST);
        let makers: Vec<usize> = before.filter(|&call| self.may_make(call)).collect();
        if makers.iter().any(|&call| self.calls[call].result.is_some()) {
            let tells =
                |call: &usize| self.calls[*call].result.is_some_and(|result| tells_path(result, path));
            return makers.into_iter().find(tells);
        }
        let beginning = |call: usize| Some((self.beginning(call, path)?, call));
        let mut makers: Vec<(usize, usize)> = makers.into_iter().filter_map(beginning).collect();
        let longest = makers.iter().map(|(length, _)| *length).max()?;
        makers.retain(|(length, _)| *length == longest);
        makers.sort_unstable();
        let is_free = |call: usize| self.lineage.versions.iter().all(|version| version.call != call);
        let (plain, number) = numbered(path.stem());
        let numbered = number.and_then(|number| {
            // Some tools begin with the plain name, some with 1.
            let is_second = number == 1 && self.is_named(plain);
            makers.get(if is_second { 1 } else { number.checked_sub(1)? })
        });
        let maker = numbered.filter(|(_, call)| is_free(*call));
        maker.or_else(|| makers.iter().find(|(_, call)| is_free(*call))).map(|(_, call)| *call)
    }

    fn may_make(&self, call: usize) -> bool {
        let view = &self.calls[call];
        let names_output = || {
            let mentions = self.lineage.mentions[call].iter();
            mentions.into_iter().any(|mention| matches!(mention.role, Role::Writes(_)))
        };
        !view.has_failed && may_make_by_name(without_server(view.tool)) && !names_output()
    }

    /// Whether any call names a file like this, without its ending.
    fn is_named(&self, stem: &str) -> bool {
        let paths = self.calls.iter().flat_map(named_paths);
        paths.into_iter().any(|named| named.path.stem() == stem)
    }

    /// The length of the longest name, without its ending, of a file that the call reads and that the path's name begins with.
    fn beginning(&self, call: usize, path: &FilePath) -> Option<usize> {
        let texts =
            self.lineage.mentions[call].iter().filter(|mention| !matches!(mention.role, Role::Writes(_)));
        let arguments = self.calls[call].arguments;
        let read =
            texts.filter_map(|mention| text_at(arguments?, &mention.pointer)).filter_map(FilePath::new);
        // A number tells files apart that were made of the same.
        let (stem, _) = numbered(path.stem());
        let begins = read.filter(|read| stem != read.stem() && stem.starts_with(read.stem()));
        begins.map(|read| read.stem().len()).max()
    }
}

/// A name without the number that it ends with after a sign, and the number.
fn numbered(stem: &str) -> (&str, Option<usize>) {
    let digits = stem.trim_end_matches([')', ']']);
    let start = digits.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let plain = digits[..start].strip_suffix(['_', '-', '(', ' ', '[']);
    match (plain, digits[start..].parse().ok()) {
        (Some(plain), Some(number)) if !plain.is_empty() => (plain.trim_end(), Some(number)),
        _ => (stem, None),
    }
}

/// The text that a JSON pointer leads to.
fn text_at<'a>(value: &'a m3_trajectory::json::Json, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}
