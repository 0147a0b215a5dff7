//! Splits a text into words and numbers, each with its weight.

use super::super::constants::{FUNCTION_WORD, MAX_WORDS, REQUEST_WORD};
use super::super::language::numerals::merged;
use super::super::language::{fold, lexicon};
use super::super::name::NamedThing;
use super::super::readers::number::without_thousands;
use super::Manner;

/// A word or a number.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Token {
    /// The word as the text has it, folded.
    pub(super) word: String,
    /// The key, equal for forms and spellings of one word, and for writings of one number.
    pub(super) key: String,
    pub(super) number: Option<f64>,
    /// The weight of its content, in [0, 1].
    pub(super) weight: f64,
    /// The side of a pair of opposite prepositions that it stands after: from or to.
    pub(super) role: Option<Role>,
    /// The part of the text between commas that it is in.
    pub(super) part: usize,
}

impl Token {
    /// The word for the thesaurus, with numbers in digits.
    pub(super) fn lemma(&self) -> &str {
        if self.number.is_some() { &self.key } else { &self.word }
    }

    /// Whether the token only holds a text together.
    pub(super) fn is_function_word(&self) -> bool {
        self.number.is_none() && self.weight <= FUNCTION_WORD
    }
}

/// A direction: where something comes from, or where it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    From,
    To,
}

/// The words of a text, the first [`MAX_WORDS`] of them, and whether there are more.
pub(super) fn tokens(text: &str, manner: Manner) -> (Vec<Token>, bool) {
    let folded = fold(text);
    let mut runs = merged(runs(&folded));
    let is_cut = runs.len() > MAX_WORDS;
    runs.truncate(MAX_WORDS);
    let mut all: Vec<Token> = Vec::with_capacity(runs.len());
    let mut role = None;
    let mut before: Option<String> = None;
    for (run, part) in runs {
        let is_ordinal = before.as_deref().is_some_and(|before| is_end_of_ordinal(&run, before));
        if !is_ordinal {
            role = match run.as_str() {
                "from" => Some(Role::From),
                "to" => Some(Role::To),
                word if lexicon::PREPOSITIONS.contains_key(word) => None,
                _ => role,
            };
            let (word, number, mut key) = read(&run);
            if manner.named == NamedThing::Places
                && let Some(abbreviation) = lexicon::IN_ADDRESSES.get(word.as_str())
            {
                (*abbreviation).clone_into(&mut key);
            }
            // In `No. 5` and `number five` the word hardly counts, so that both are like `#5`.
            if number.is_some()
                && let Some(sign) = all.last_mut()
                && matches!(sign.word.as_str(), "no" | "nr" | "num" | "number")
            {
                (sign.weight, sign.key) = (REQUEST_WORD, "number".to_owned());
            }
            let is_content = number.is_some() || part > 0 && is_state(&word, text);
            let weight = if is_content { 1.0 } else { weight_of(&word, manner.is_foreign) };
            all.push(Token { word, key, number, weight, role, part });
        }
        before = Some(run);
    }
    // A text of function words and words of requests alone, like the name of a band, has these words with full weight.
    if !all.iter().any(|token| token.weight > REQUEST_WORD) {
        for token in &mut all {
            token.weight = 1.0;
        }
    }
    (all, is_cut)
}

/// Whether letters behind digits make an ordinal number of them: `65th`, but not `65 St`.
fn is_end_of_ordinal(letters: &str, digits: &str) -> bool {
    let end = match digits.as_bytes() {
        [.., b'1', _] => "th",
        [.., b'1'] => "st",
        [.., b'2'] => "nd",
        [.., b'3'] => "rd",
        _ => "th",
    };
    letters == end && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a word that looks like a function word is the code of a state: `Portland, OR`.
fn is_state(word: &str, text: &str) -> bool {
    let codes = [("or", ", OR"), ("me", ", ME"), ("in", ", IN")];
    codes.iter().any(|(code, written)| *code == word && text.contains(written))
}

fn weight_of(word: &str, is_foreign: bool) -> f64 {
    let is_negation = lexicon::irregular(word) == "not";
    if lexicon::FUNCTION_WORDS.contains_key(word)
        || (is_foreign && !is_negation && lexicon::is_foreign_function_word(word))
    {
        FUNCTION_WORD
    } else if lexicon::REQUEST_WORDS.contains_key(word) {
        REQUEST_WORD
    } else {
        1.0
    }
}

/// A run of characters as a word, the number it says, and its key.
fn read(run: &str) -> (String, Option<f64>, String) {
    let is_padded = run.len() > 1 && run.starts_with('0') && !run.starts_with("0.");
    let is_digits = run.starts_with(|c: char| c.is_ascii_digit());
    // A double does not distinguish all numbers with more than 15 digits.
    let number = if is_digits && !is_padded && run.len() <= 15 {
        without_thousands(run).parse::<f64>().ok()
    } else {
        lexicon::number_word(run)
    };
    match number {
        Some(number) => (run.to_owned(), Some(number), format!("{number}")),
        None => (run.to_owned(), None, key(run)),
    }
}

/// Splits a text into runs of letters, and of digits with the signs of a number; each with the index of its part
/// between commas.
fn runs(folded: &str) -> Vec<(String, usize)> {
    let characters: Vec<char> = folded.chars().collect();
    let mut runs: Vec<(String, usize)> = Vec::new();
    let (mut at, mut part, mut is_quoted) = (0, 0, false);
    while let Some(&c) = characters.get(at) {
        let next = |offset: usize| characters.get(at + offset).copied().unwrap_or(' ');
        let is_fraction =
            c == '.' && next(1).is_ascii_digit() && (at == 0 || characters[at - 1].is_whitespace());
        if c.is_ascii_digit() || is_fraction {
            let mut run = String::from(if is_fraction { "0" } else { "" });
            while characters.get(at).is_some_and(|&c| {
                let after = characters.get(at + 1).copied().unwrap_or(' ');
                c.is_ascii_digit() || (matches!(c, '.' | ',') && after.is_ascii_digit())
            }) {
                run.push(characters[at]);
                at += 1;
            }
            // These commas separate numbers of a list, not thousands.
            if run.contains(',') && without_thousands(&run).contains(',') {
                runs.extend(run.split(',').map(|number| (number.to_owned(), part)));
            } else {
                runs.push((run, part));
            }
            continue;
        }
        if c.is_alphanumeric() {
            if is_of_no_words(c) {
                runs.push((c.to_string(), part));
                at += 1;
                continue;
            }
            let mut run = String::new();
            while let Some(&c) = characters.get(at) {
                let after = characters.get(at + 1).copied().unwrap_or(' ');
                if c.is_alphanumeric() && !c.is_ascii_digit() && !is_of_no_words(c) {
                    run.push(c);
                } else if !(c == '\'' && after.is_alphabetic() || c == '.' && is_initials(&characters, at)) {
                    break;
                } else if c == '\''
                    && after == 's'
                    && !characters.get(at + 2).is_some_and(|c| c.is_alphanumeric())
                {
                    // The end of a genitive.
                    at += 2;
                    break;
                }
                at += 1;
            }
            while characters.get(at).is_some_and(|&c| c == '+' || c == '#') && run.len() < 3 {
                run.push(characters[at]);
                at += 1;
            }
            // `sugar-free` is `no sugar`.
            let is_free = run == "free" && at > 5 && characters.get(at - 5) == Some(&'-');
            runs.push((if is_free { "not".to_owned() } else { run }, part));
            continue;
        }
        let is_behind_digit = at > 0 && characters[at - 1].is_ascii_digit();
        // A quotation mark that closes a quotation does not mean inches.
        let is_inch = is_behind_digit && !is_quoted;
        let is_foot = is_inch && !next(1).is_alphabetic();
        is_quoted ^= c == '"' || (c == '\'' && !is_behind_digit);
        match c {
            ',' | ';' | '(' | ')' => part += 1,
            '<' => runs.push(("less".to_owned(), part)),
            '>' => runs.push(("greater".to_owned(), part)),
            '%' => runs.push(("percent".to_owned(), part)),
            '$' => runs.push(("usd".to_owned(), part)),
            '"' if is_inch => runs.push(("inch".to_owned(), part)),
            '\'' if is_foot => runs.push(("foot".to_owned(), part)),
            '€' => runs.push(("eur".to_owned(), part)),
            '£' => runs.push(("gbp".to_owned(), part)),
            '-' if next(1).is_ascii_digit()
                && (at == 0 || matches!(characters[at - 1], ' ' | ',' | '(' | '=' | ':')) =>
            {
                runs.push(("minus".to_owned(), part));
            }
            _ => {}
        }
        at += 1;
    }
    runs
}

/// Whether a letter belongs to a script that puts no spaces between words.
pub(super) fn is_of_no_words(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{eff}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{2ffff}')
}

/// Whether the point at `at` stands between single letters, as in `u.s.a.`.
fn is_initials(characters: &[char], at: usize) -> bool {
    let letter = |at: Option<usize>| at.and_then(|at| characters.get(at)).is_some_and(|c| c.is_alphabetic());
    letter(at.checked_sub(1)) && letter(Some(at + 1)) && !letter(Some(at + 2)) && !letter(at.checked_sub(2))
}

/// The key that the singular, the plural and all spellings of a word share: a rough English stem, which need not be a
/// word.
pub(in crate::fidelity) fn key(word: &str) -> String {
    let word = lexicon::irregular(word);
    if !word.is_ascii() || word.len() < 2 {
        return word.to_owned();
    }
    let mut stem = singular(word);
    if stem.len() > 4 {
        stem = stem.replace("our", "or").replace("ae", "e").replace("ll", "l").replace("sulph", "sulf");
        for (ending, other) in [
            ("isation", "ization"),
            ("ising", "izing"),
            ("ised", "ized"),
            ("is", "iz"),
            ("ys", "yz"),
            ("ogue", "og"),
            ("tre", "ter"),
            ("bre", "ber"),
            ("ence", "ense"),
        ] {
            if let Some(rest) = stem.strip_suffix(ending) {
                stem = format!("{rest}{other}");
                break;
            }
        }
    }
    stem
}

fn singular(word: &str) -> String {
    let mut stem = word.to_owned();
    let is = |stem: &str, ends: &[&str]| ends.iter().any(|end| stem.ends_with(end));
    if stem.len() > 3 && stem.ends_with("ies") {
        stem.truncate(stem.len() - 3);
        stem.push('y');
    } else if stem.len() > 4 && is(&stem, &["ses", "xes", "zes", "ches", "shes", "oes"]) {
        stem.truncate(stem.len() - 2);
    } else if stem.len() > 3 && stem.ends_with('s') && !is(&stem, &["ss", "us", "is"]) {
        stem.truncate(stem.len() - 1);
    }
    if stem.len() > 3 && stem.ends_with("ie") {
        stem.truncate(stem.len() - 2);
        stem.push('y');
    }
    if stem.len() > 3 && is(&stem, &["se", "xe", "ze", "che", "she", "oe"]) {
        stem.truncate(stem.len() - 1);
    }
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_spellings_of_a_word_have_one_key() {
        for (a, b) in [
            ("movie", "movies"),
            ("city", "cities"),
            ("city", "citys"),
            ("box", "boxes"),
            ("glass", "glasses"),
            ("bus", "buses"),
            ("shoe", "shoes"),
            ("potato", "potatoes"),
            ("horse", "horses"),
            ("child", "children"),
            ("colour", "colors"),
            ("theatre", "theaters"),
            ("organise", "organize"),
            ("catalogue", "catalog"),
            ("jewellery", "jewelery"),
            ("grey", "gray"),
            ("virus", "viruses"),
        ] {
            assert_eq!(key(a), key(b), "{a} {b}");
        }
        for (a, b) in [("plane", "plan"), ("glass", "glas"), ("pass", "pa"), ("class", "clay")] {
            assert_ne!(key(a), key(b), "{a} {b}");
        }
    }

    #[test]
    fn words_numbers_and_parts() {
        let words = |text: &str| -> Vec<String> {
            tokens(text, Manner { named: NamedThing::Other, is_foreign: false })
                .0
                .into_iter()
                .map(|token| token.key)
                .collect()
        };
        assert_eq!(words("RTX4080, 1,000 km"), ["rtx", "4080", "1000", "km"]);
        assert_eq!(words("Lay's 13th Ｃａｆé"), ["lay", "13", "cafe"]);
        assert_eq!(words("U.S.A. two 007 1.50"), ["usa", "2", "007", "1.5"]);
        assert_eq!(words("東京 tower"), ["東", "京", "tower"]);
    }
}
