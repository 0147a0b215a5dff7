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
    /// The latest call of an earlier step that may have made the file which `reader` reads: its result tells the path or,
    /// where no result is known, the name of what it reads is the beginning of the name. Only calls whose arguments name no
    /// output are asked, and none that only looks.
    pub(crate) fn maker(&self, reader: usize, path: &FilePath) -> Option<usize> {
        if !path.is_file {
            return None;
        }
        let step = self.calls[reader].step;
        let before = (0..reader).rev().filter(|&call| self.calls[call].step < step).take(LATEST);
        let mut makers = before.filter(|&call| self.may_make(call));
        makers.find(|&call| match self.calls[call].result {
            Some(result) => tells_path(result, path),
            None => self.reads_beginning(call, path),
        })
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

    /// Whether the call reads a file whose name without its ending is what the path's name begins with.
    fn reads_beginning(&self, call: usize, path: &FilePath) -> bool {
        let texts =
            self.lineage.mentions[call].iter().filter(|mention| !matches!(mention.role, Role::Writes(_)));
        let arguments = self.calls[call].arguments;
        let read =
            texts.filter_map(|mention| text_at(arguments?, &mention.pointer)).filter_map(FilePath::new);
        read.into_iter().any(|read| path.stem() != read.stem() && path.stem().starts_with(read.stem()))
    }
}

/// The text that a JSON pointer leads to.
fn text_at<'a>(value: &'a m3_trajectory::json::Json, pointer: &str) -> Option<&'a str> {
    value.pointer(pointer)?.as_str()
}
