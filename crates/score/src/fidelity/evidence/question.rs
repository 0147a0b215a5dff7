//! The question of a pair of calls: its words, and the values that it quotes.

use std::collections::HashSet;

use super::super::language::fold;
use super::super::text;
use super::LONGEST;

/// The question of a pair of calls, as keys of its words and as folded text.
pub(in crate::fidelity) struct Question {
    keys: HashSet<String>,
    folded: String,
}

impl Question {
    pub(in crate::fidelity) fn new(text: &str) -> Self {
        let folded = format!(" {} ", fold(&text[..text.floor_char_boundary(LONGEST)]));
        Self { keys: text::keys(text).into_iter().map(|found| found.0).collect(), folded }
    }

    /// Whether the question has a value as it stands, not as a part of a longer word, path or number.
    pub(super) fn quotes(&self, text: &str) -> bool {
        let text = fold(text);
        let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "/\\_-@:".contains(c));
        !text.is_empty()
            && self.folded.match_indices(&text).any(|(start, _)| {
                let (before, after) = (&self.folded[..start], &self.folded[start + text.len()..]);
                let mut after = after.chars();
                let next = after.next();
                // A point ends a sentence unless something follows it.
                let next = if next == Some('.') { after.next() } else { next };
                !before.ends_with('.') && !is_part(before.chars().next_back()) && !is_part(next)
            })
    }

    /// The total weight of the words that the question has, too.
    pub(super) fn weight(&self, words: &[(String, f64)]) -> f64 {
        words.iter().filter(|(word, _)| self.keys.contains(&text::key(word))).map(|word| word.1).sum()
    }

    /// The share of a text's words that the question has, too, by weight.
    pub(super) fn share(&self, text: &str) -> f64 {
        let keys = text::keys(text);
        let all: f64 = keys.iter().map(|key| key.1).sum();
        keys.iter().filter(|key| self.keys.contains(&key.0)).map(|key| key.1).sum::<f64>() / all.max(1e-9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that stand in the question are distinguished from parts of something longer there.
    #[test]
    fn a_question_quotes_what_stands_in_it() {
        let question =
            Question::new("Speed up url/to/demo.mp3 by 1.2, post it on musicreviews.com. Then wait 30 s.");
        for text in ["url/to/demo.mp3", "1.2", "musicreviews.com", "30", "POST it", "30 s"] {
            assert!(question.quotes(text), "{text}");
        }
        for text in ["demo.mp3", "2", "musiceviews.com", "reviews.com", "3", "", "1"] {
            assert!(!question.quotes(text), "{text}");
        }
    }
}
