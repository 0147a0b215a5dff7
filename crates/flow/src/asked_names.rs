//! The names that a task asks for. A trajectory is not free to choose these.

use std::sync::OnceLock;

/// The words before a name that the task asks for.
const LEADS: [&str; 6] = ["named ", "called ", "name it ", "call it ", "save it as ", "saved as "];

/// The quotation marks around names.
const QUOTES: [(&str, &str); 5] = [("\"", "\""), ("'", "'"), ("`", "`"), ("“", "”"), ("‘", "’")];

/// The names that the text of a task asks for.
#[derive(Debug)]
pub struct AskedNames {
    text: String,
    /// The text in lower case, computed at the first use.
    lower: OnceLock<String>,
}

impl AskedNames {
    /// The names that a text asks for.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), lower: OnceLock::new() }
    }

    fn lower(&self) -> &str {
        self.lower.get_or_init(|| self.text.to_lowercase())
    }

    /// Whether the text asks for a file of this name. It does if it contains the file's name with its ending, or the
    /// name without the ending in quotes or after a word such as `named`.
    #[must_use]
    pub fn file(&self, path: &str) -> bool {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_lowercase();
        let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
        !name.is_empty()
            && self.lower().contains(stem)
            && (name.contains('.') && has_word(self.lower(), &name) || self.is_marked(stem))
    }

    /// Whether the text asks for a thing of this name, such as a node of a graph. It does if the name stands in quotes
    /// or after a word such as `named`. A name with a digit, a sign or a capital (`node-12`, `v2`, `orderBook`,
    /// `Alice`) only has to occur as a word.
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

    /// Whether a name, in lower case, stands in quotes or after a word of `LEADS`.
    fn is_marked(&self, name: &str) -> bool {
        if name.is_empty() || !self.lower().contains(name) {
            return false;
        }
        // Quotes mark a name only if it has two letters: `1` in quotes is a number.
        let has_letters = || name.chars().filter(|c| c.is_alphabetic()).count() >= 2;
        let is_quoted =
            || QUOTES.iter().any(|(open, close)| self.lower().contains(&format!("{open}{name}{close}")));
        LEADS.iter().any(|lead| has_word(self.lower(), &format!("{lead}{name}")))
            || has_letters() && is_quoted()
    }
}

fn has_word(text: &str, word: &str) -> bool {
    words_at(text, word).next().is_some()
}

/// Where a word stands in a text by itself.
fn words_at<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    text.match_indices(word).map(|(start, _)| start).filter(move |&start| {
        let before = text[..start].chars().next_back();
        let after = text[start + word.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
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
