//! Names that people and programs use: the words in them, and which known names a mistyped one may mean.

use crate::text::shortened;

/// The most known names that are suggested for a mistyped one.
const NEAREST: usize = 3;

/// Only this many characters of longer names are compared, because comparing takes quadratic time.
const COMPARED: usize = 80;

/// The words of a name in lower case: `paperId`, `paper_id` and `paper-id` have the same words. A word ends where
/// `is_between` says so, and before a capital letter that follows a small letter or a digit.
pub fn words(name: &str, is_between: impl Fn(char) -> bool) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_open, mut was_small) = (false, false);
    for c in name.chars() {
        if is_between(c) {
            is_open = false;
            continue;
        }
        if !is_open || (c.is_uppercase() && was_small) {
            words.push(String::new());
            is_open = true;
        }
        was_small = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words
}

/// A name without case, `_` and `-`: `maxConcurrent`, `max_concurrent` and `max-concurrent` are the same.
#[must_use]
pub fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}

/// At most three of the `known` names, those most similar to `name`, the most similar first. Each comes with its
/// similarity in [0, 1] (Jaro and Winkler's). Case, `_` and `-` do not count.
pub fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Vec<(f64, &'k str)> {
    let start = |name: &str| plain(&name.chars().take(COMPARED).collect::<String>());
    let wanted = start(name);
    let likeness = |known: &'k str| (strsim::jaro_winkler(&wanted, &start(known)), known);
    let mut ranked: Vec<(f64, &str)> = known.into_iter().map(likeness).collect();
    // The sort is stable: equally similar names stay in the order of `known`.
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    ranked.truncate(NEAREST);
    ranked
}

/// The names of [`nearest`] as a text, each in at most `width` columns: `` `image/crop`, `image/zoom` ``. Empty if no
/// name is known.
pub fn list_of_nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>, width: usize) -> String {
    let nearest = nearest(name, known).into_iter().map(|(_, known)| format!("`{}`", shortened(known, width)));
    nearest.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_words() {
        let words = |name| words(name, |c| !c.is_alphanumeric());
        for name in ["paperId", "paper_id", "Paper-ID", "--paper.id"] {
            assert_eq!(words(name), ["paper", "id"], "{name}");
        }
        assert_eq!(words("s3Upload"), words("s3_upload"));
        assert_eq!(words("HTTPServer"), ["httpserver"]);
        assert!(words("_-").is_empty());
    }

    #[test]
    fn the_likest_name_comes_first() {
        let known = ["image/crop", "image/zoom", "maps/find", "math/add"];
        assert_eq!(nearest("image_corp", known)[0].1, "image/crop");
        assert_eq!(nearest("Maps/Find", known)[0], (1.0, "maps/find"));
        assert_eq!(nearest("x", known).len(), 3);
        assert!(nearest("x", []).is_empty());
    }
}
