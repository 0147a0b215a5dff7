//! Paths in results: `Result save at out/q2/tvdi.tif`.

use m3_trajectory::json::Json;

use super::leaves::walk_result;
use super::paths::FilePath;

/// The most bytes of a result that are searched for a path.
const MAX_TEXT: usize = 1 << 16;

/// The longest text that is searched for paths, in bytes.
const LONGEST: usize = 4096;

/// The files that a result names, alone or as words of a text.
pub(crate) fn result_paths(result: &Json) -> Vec<FilePath> {
    let (mut budget, mut paths) = (MAX_TEXT, Vec::new());
    walk_result(result, &mut budget, &mut |value, _| {
        if let Some(text) = value.as_str().filter(|text| text.len() <= LONGEST) {
            let is_end = |c: char| {
                c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | ',' | ';')
            };
            let words = std::iter::once(text).chain(text.split(is_end));
            let path = |word: &str| FilePath::new(word.trim_end_matches(['.', ':', '!']));
            paths.extend(words.filter_map(path).filter(FilePath::has_known_ending));
        }
    });
    paths
}
