//! Which names a task asks for: those are no choice of the trajectory.

use std::ops::Range;
use std::sync::OnceLock;

/// What words stand before a name that is asked for.
const LEADS: [&str; 6] = ["named ", "called ", "name it ", "call it ", "save it as ", "saved as "];

/// What names are quoted with.
const QUOTES: [(&str, &str); 5] = [("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

/// The names that the text of a task asks for.
#[derive(Debug)]
pub struct AskedNames {
    text: String,
    /// The text in small letters, once it is asked for.
    lower: OnceLock<String>,
}

impl AskedNames {
    /// Those of a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), lower: OnceLock::new() }
    }

    fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.text.to_lowercase())
    }

    /// Whether the text asks for a file of this name: it has the name with its ending, or the name without it in quotes or after a
    /// word such as `named`.
    #[must_use]
    pub fn file(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        !name.is_empty()
            && self.lower().contains(stem)
            && (name.contains('.') && has_word(self.lower(), &name) || self.is_marked(stem))
    }

    /// Whether the text asks for something of this name, such as a node of a graph: it has the name in quotes or after a word such
    /// as `named`, or as it stands if it is no plain word: `node-12`, `v2`, `orderBook`, `Alice`.
    #[must_use]
    pub fn name(&self, name: &str) -> bool {
        let is_plain = name.chars().all(|c| c.is_alphabetic() && !c.is_uppercase());
        !is_plain && has_word(&self.text, name) || self.is_marked(&name.to_lowercase())
    }

    /// Whether the text names a kind of file, such as `jpg`, other than as the ending of a file's name.
    #[must_use]
    pub fn kind_of_file(&self, ending: &str) -> bool {
        let ending = ending.to_lowercase();
        let is_of_name =
            |before: &str| before.strip_suffix('.').is_some_and(|name| name.ends_with(char::is_alphanumeric));
        !ending.is_empty() && words_at(self.lower(), &ending).any(|start| !is_of_name(&self.lower()[..start]))
    }

    /// Whether a name, in lower case, stands in quotes or after a word that says so.
    fn is_marked(&self, name: &str) -> bool {
        // `1` in quotes is a number.
        let has_letters = || name.chars().filter(|c| c.is_alphabetic()).count() >= 2;
        let text = self.lower();
        !name.is_empty()
            && text.match_indices(name).any(|(start, _)| {
                let (before, after) = (&text[..start], &text[start + name.len()..]);
                let is_word = |lead: &&str| is_word(text, start - lead.len()..start + name.len());
                LEADS.iter().filter(|lead| before.ends_with(**lead)).any(is_word)
                    || QUOTES.iter().any(|(open, close)| before.ends_with(open) && after.starts_with(close))
                        && has_letters()
            })
    }
}

fn has_word(text: &str, word: &str) -> bool {
    words_at(text, word).next().is_some()
}

/// Where a word stands in a text by itself.
fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let starts = text.match_indices(word).map(|(start, _)| start);
    starts.filter(move |&start| is_word(text, start..start + word.len()))
}

/// Whether a part of a text is no part of a longer word.
fn is_word(text: &str, part: Range<usize>) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    !text[..part.start].ends_with(goes_on) && !text[part.end..].starts_with(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_quotes_and_names_that_are_no_words_are_asked_for() {
        let asked = AskedNames::new(
            "Remember the kitchen as node-12, call it Home, and the bath as `wet`, for Alice; save plan.png as a JPG.",
        );
        assert!(["node-12", "home", "wet", "Alice"].iter().all(|name| asked.name(name)));
        assert!(
            !["kitchen", "bath", "node-1", "node", "1", "", "remember"].iter().any(|name| asked.name(name))
        );
        assert!(asked.file("out/plan.png") && asked.file("wet.png") && asked.file("Home.jpg"));
        assert!(
            !asked.file("kitchen.png")
                && !asked.file("")
                && !asked.kind_of_file("PNG")
                && asked.kind_of_file("jpg")
        );
    }
}
