//! Files under names that no argument says: `crop(input: "plan.png")` writes `plan_cropped.png`.

use super::lineage::{CallView, Lineage, Role};
use super::paths::FilePath;
use super::told::tells_path;
use super::tools::looks_by_name;

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
        let numbered = number_at_end(path.stem()).and_then(|number| makers.get(number.checked_sub(1)?));
        let maker = numbered.filter(|(_, call)| is_free(*call));
        maker.or_else(|| makers.iter().find(|(_, call)| is_free(*call))).map(|(_, call)| *call)
    }

    fn may_make(&self, call: usize) -> bool {
        let view = &self.calls[call];
        let tool = view.tool.split_once('/').map_or(view.tool, |(_, tool)| tool);
        let names_output = || {
            let mentions = self.lineage.mentions[call].iter();
            mentions.into_iter().any(|mention| matches!(mention.role, Role::Writes(_)))
        };
        !view.has_failed && !looks_by_name(tool) && !names_output()
    }

    /// The length of the longest name, without its ending, of a file that the call reads and that the path's name begins with.
    fn beginning(&self, call: usize, path: &FilePath) -> Option<usize> {
        let texts =
            self.lineage.mentions[call].iter().filter(|mention| !matches!(mention.role, Role::Writes(_)));
        let arguments = self.calls[call].arguments;
        let read =
            texts.filter_map(|mention| text_at(arguments?, &mention.pointer)).filter_map(FilePath::new);
        let begins = read.filter(|read| path.stem() != read.stem() && path.stem().starts_with(read.stem()));
        begins.map(|read| read.stem().len()).max()
    }
}

/// The number that a name ends with, after a sign.
fn number_at_end(stem: &str) -> Option<usize> {
    let digits = stem.trim_end_matches([')', ']']);
    let start = digits.rfind(|c: char| !c.is_ascii_digit())?;
    let (sign, number) =
        (digits[start..].chars().next()?, &digits[start + digits[start..].chars().next()?.len_utf8()..]);
    if matches!(sign, '_' | '-' | '(' | ' ' | '[') { number.parse().ok() } else { None }
}

/// The text that a JSON pointer leads to.
fn text_at<'a>(value: &'a m3_trajectory::json::Json, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}
