//! Paths that results tell: `Result save at out/q2/tvdi.tif`.

use m3_trajectory::json::Json;

use super::leaves::walk_result;
use super::paths::FilePath;

/// So much text of a result is searched for a path, in bytes.
const MAX_TEXT: usize = 1 << 16;

/// Longer texts hold no path that matters, in bytes.
const LONGEST: usize = 4096;

/// Whether a result names the file of this path, alone or as a word of a text.
pub(crate) fn tells_path(result: &Json, path: &FilePath) -> bool {
    let (mut budget, mut is_told) = (MAX_TEXT, false);
    walk_result(result, &mut budget, &mut |value, _| {
        if let Some(text) = value.as_str().filter(|text| !is_told && text.len() <= LONGEST) {
            let is_end = |c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | ',' | ';')
            };
            let mut words = std::iter::once(text).chain(text.split(is_end));
            is_told = words.any(|word| {
                let word = word.trim_end_matches(['.', ':', '!']);
                FilePath::new(word).is_some_and(|told| told.is_file && told.may_meet(path))
            });
        }
    });
    is_told
}
