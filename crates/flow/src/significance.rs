//! Decides which equal values show that one call used the result of another, and which are likely to be equal by
//! chance.

use super::tokens::{Number, stands_alone};

/// Words that occur in any result.
const COMMON: [&str; 64] = [
    "true", "false", "none", "null", "yes", "no", "ok", "okay", "success", "error", "default", "auto", "all",
    "any", "other", "name", "title", "text", "type", "result", "results", "image", "images", "file", "files",
    "path", "data", "value", "content", "items", "item", "list", "string", "number", "object", "array",
    "status", "message", "and", "the", "for", "with", "from", "not", "new", "old", "png", "jpg", "jpeg",
    "json", "html", "pdf", "http", "https", "www", "com", "org", "left", "right", "center", "black", "white",
    "unknown", "untitled",
];

/// Whether a token, in lower case, occurs in any result.
pub(crate) fn is_common(token: &str) -> bool {
    COMMON.contains(&token)
}

/// Whether a text holds only words that occur in any result, such as `ok`.
#[must_use]
pub fn says_nothing(text: &str) -> bool {
    super::tokens::tokens(text).all(|token| is_common(&token.text.to_lowercase()))
}

/// How significant a text is when it is found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextWeight {
    /// The value is not significant, except in a field whose name is like the argument's.
    Nothing,
    /// The value is significant as a whole value or piece.
    Whole,
    /// The value is significant anywhere.
    Anywhere,
}

/// The weight of a text by its tokens, in lower case.
pub(crate) fn text_weight(tokens: &[String]) -> TextWeight {
    if tokens.iter().all(|token| is_common(token)) {
        return TextWeight::Nothing;
    }
    // A character of a script without spaces carries about as much as a short word.
    let length: usize = tokens
        .iter()
        .map(|token| if token.chars().next().is_some_and(stands_alone) { 3 } else { token.chars().count() })
        .sum();
    if let [token] = tokens {
        let has = |is: fn(&char) -> bool| token.chars().any(|c| is(&c));
        let is_mixed = has(|c| c.is_numeric()) && has(|c| c.is_alphabetic());
        return match length {
            5.. => TextWeight::Anywhere,
            4 if is_mixed => TextWeight::Anywhere,
            3..=4 => TextWeight::Whole,
            _ => TextWeight::Nothing,
        };
    }
    match length {
        6.. => TextWeight::Anywhere,
        4..=5 => TextWeight::Whole,
        _ => TextWeight::Nothing,
    }
}

/// Facts about a result as a whole.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResultSize {
    /// The number of different numbers.
    pub(crate) numbers: usize,
    /// The number of tokens, those of numbers included.
    pub(crate) tokens: usize,
}

impl ResultSize {
    /// Whether the result is one value and little else, so that it is the answer to the call.
    pub(crate) fn is_one_value(self) -> bool {
        self.numbers <= 1 && self.tokens <= 12
    }

    /// Whether a number found in the result is significant. Among `n` different numbers, one of `d` digits is found
    /// by chance in about `n / 10^d` of all cases; up to one in twenty is accepted. Numbers of one digit are
    /// significant only where the result is nothing else, those of two where it is little else.
    pub(crate) fn makes_telling(self, number: Number) -> bool {
        let is_zero_or_one = matches!(number, Number::Whole(0 | 1));
        match number.significant_digits() {
            1 | 2 if self.is_one_value() => !is_zero_or_one,
            1 => false,
            2 => self.numbers <= 3 && self.tokens <= 12,
            3 => self.numbers <= 5,
            digits => {
                let chances = 10_usize.saturating_pow(u32::try_from(digits).unwrap_or(u32::MAX));
                self.numbers <= chances / 20
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_common_texts_say_little() {
        let weight = |text: &str| {
            let tokens: Vec<String> =
                super::super::tokens::tokens(text).map(|token| token.text.to_lowercase()).collect();
            text_weight(&tokens)
        };
        for text in ["en", "us", "true", "OK", "", "no results", "1.5", "a b", "A1"] {
            assert_eq!(weight(text), TextWeight::Nothing, "{text}");
        }
        for text in ["zsh", "tree", "a.png", "BMW"] {
            assert_eq!(weight(text), TextWeight::Whole, "{text}");
        }
        for text in ["fastapi", "X4M0", "Barnegat Inlet", "out/a.png", "2025-01-03", "東京", "ChIJ-x_1"] {
            assert_eq!(weight(text), TextWeight::Anywhere, "{text}");
        }
    }

    #[test]
    fn numbers_say_more_the_longer_they_are_and_the_fewer_there_are() {
        let significant = |numbers: usize, value: f64| {
            ResultSize { numbers, tokens: numbers * 2 }.makes_telling(Number::from_double(value).unwrap())
        };
        assert!(significant(1, 19.0) && significant(1, 5.0) && !significant(1, 1.0) && !significant(2, 5.0));
        assert!(significant(3, 19.0) && !significant(4, 19.0));
        assert!(significant(5, 17.5) && !significant(6, 17.5));
        assert!(significant(500, 1520.3) && significant(400, 10.97) && !significant(600, 10.97));
        assert!(significant(100_000, 40.433_349_6));
    }
}
