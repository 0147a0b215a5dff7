//! Paths of files, and which of them may be the same.

use std::collections::HashSet;
use std::sync::LazyLock;

use unicode_normalization::UnicodeNormalization as _;

/// Endings that show that a word is the name of a file; those of `booking.com`, `U.S` and `json.loads` are not here.
static ENDINGS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| include_str!("file_endings.txt").split_whitespace().collect());

/// The longest text that can be a path, in bytes.
const LONGEST: usize = 4096;

/// A name in composed characters, as most systems write it; some write `é` as a letter and an accent.
fn composed(part: &str) -> String {
    if part.is_ascii() { part.to_owned() } else { part.nfc().collect() }
}

/// A file's or folder's path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FilePath {
    parts: Vec<String>,
    pub(crate) is_file: bool,
    is_absolute: bool,
}

impl FilePath {
    /// A path, if the text looks like one: it begins like a path (`./media`, `/tmp/x`) or ends like a file (`poster.png`).
    /// `media/crops` alone does not look like one.
    pub(crate) fn new(text: &str) -> Option<Self> {
        // Most texts are words, without a dot or a slash.
        if !text.bytes().take(LONGEST).any(|byte| matches!(byte, b'.' | b'/')) {
            return None;
        }
        let text = text.trim();
        let text = text.strip_prefix("file://").unwrap_or(text);
        if text.is_empty() || text.len() > LONGEST {
            return None;
        }
        let is_rooted = ["/", "./", "../", "~/", ".\\"].iter().any(|root| text.starts_with(root));
        // Most texts do not end like a file.
        let end = text.trim_end_matches(['/', '\\', '.']);
        if !is_rooted && !end.bytes().rev().take(6).any(|byte| byte == b'.') {
            return None;
        }
        let parts = || text.split(['/', '\\']).filter(|part| !part.is_empty() && *part != ".");
        let name = parts().next_back()?;
        let is_file = name.rsplit_once('.').is_some_and(|(stem, end)| {
            (1..=5).contains(&end.len())
                && end.bytes().all(|byte| byte.is_ascii_alphanumeric())
                && end.bytes().any(|byte| byte.is_ascii_alphabetic())
                && stem.chars().any(char::is_alphanumeric)
        });
        let is_path = is_file || is_rooted;
        let is_plain = || !text.contains("://") && !text.contains(['\n', '\0', '?', '*', '"']);
        (is_path && is_plain()).then(|| Self {
            parts: parts().map(composed).collect(),
            is_file,
            is_absolute: text.starts_with('/'),
        })
    }

    /// Whether both may be the same file, or one a folder that contains the other. A path and a shorter one that it
    /// ends with may be the same.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        let (short, long) = if self.parts.len() <= other.parts.len() { (self, other) } else { (other, self) };
        let is_end = !(short.is_absolute && long.is_absolute && short.parts.len() != long.parts.len())
            && long.parts.ends_with(&short.parts);
        is_end || (!short.is_file && long.parts.starts_with(&short.parts))
    }

    /// The path in a text that need not look like one, such as `crops` or `out/crops` for a folder; never taken for a file.
    pub(crate) fn of_word(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_word = !text.is_empty()
            && text.len() <= 255
            && !text.contains(|c: char| c.is_control() || "\\?*\":".contains(c));
        let parts: Vec<String> =
            text.split('/').filter(|part| !part.is_empty() && *part != ".").map(composed).collect();
        (is_word && !parts.is_empty()).then_some(Self {
            parts,
            is_file: false,
            is_absolute: text.starts_with('/'),
        })
    }

    /// Whether both paths are written the same way, or this one is absolute and ends with the other, which is relative.
    pub(crate) fn names_same_file(&self, other: &Self) -> bool {
        self.parts == other.parts
            || self.is_absolute && !other.is_absolute && self.parts.ends_with(&other.parts)
    }

    /// Whether the files have the same name, whatever their folders.
    pub(crate) fn has_name_of(&self, other: &Self) -> bool {
        self.is_file && self.parts.last() == other.parts.last()
    }

    /// Whether the name has a known ending of files, so that it is not a host or an abbreviation.
    pub(crate) fn has_known_ending(&self) -> bool {
        let ending = self.parts.last().and_then(|name| name.rsplit_once('.'));
        self.is_file && ending.is_some_and(|(_, ending)| ENDINGS.contains(&*ending.to_ascii_lowercase()))
    }

    /// Whether the path has a folder.
    pub(crate) fn has_folder(&self) -> bool {
        self.parts.len() > 1 || self.is_absolute
    }

    /// The file's name without its ending.
    pub(crate) fn stem(&self) -> &str {
        let name = self.parts.last().map_or("", String::as_str);
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }

    /// The folders and the name without its ending; `None` for a name that has none.
    pub(crate) fn without_ending(&self) -> Option<Vec<String>> {
        let (name, folders) = self.parts.split_last().filter(|_| self.is_file)?;
        let (stem, _) = name.rsplit_once('.')?;
        Some(folders.iter().cloned().chain([stem.to_owned()]).collect())
    }

    /// Whether a folder contains this path.
    pub(crate) fn is_within(&self, folder: &Self) -> bool {
        self.parts.len() > folder.parts.len() && self.parts.starts_with(&folder.parts)
    }

    /// The folders and the name.
    pub(crate) fn parts(&self) -> &[String] {
        &self.parts
    }
}

/// Whether two paths may be of one file: one of them ends with the other, or is a folder that contains it.
#[must_use]
pub fn may_be_same_file(a: &str, b: &str) -> bool {
    let path = |text: &str| FilePath::new(text).or_else(|| FilePath::of_word(text));
    path(a).zip(path(b)).is_some_and(|(a, b)| a.may_meet(&b))
}

/// Whether a text looks like the path of a file: `poster.png`, `out/a.csv`.
#[must_use]
pub fn is_file_path(text: &str) -> bool {
    FilePath::new(text).is_some_and(|path| path.is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_meet_where_they_may_be_the_same() {
        let meet = |a: &str, b: &str| FilePath::new(a).unwrap().may_meet(&FilePath::new(b).unwrap());
        assert!(meet("a.png", "./a.png") && meet("a.png", "media/a.png") && meet("./out", "out/a.png"));
        assert!(!meet("a.png", "b.png") && !meet("x/a.png", "y/a.png") && !meet("/a.png", "/x/a.png"));
        assert!(meet("images/größe.png", "gro\u{308}ße.png"));
        for text in ["Porto", "https://a.org/b.png", "en-US", "2510.08638v1", "", "1.5", "/"] {
            assert_eq!(FilePath::new(text), None, "{text}");
        }
    }
}
