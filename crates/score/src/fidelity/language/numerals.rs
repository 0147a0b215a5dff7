//! Numbers that are written in several words: `twenty-five`, `three million`, `two dozen`, `nineteen eighty-four`.

use super::lexicon;

/// The number that a word says; `None` for digits.
fn word_number(word: &str) -> Option<f64> {
    if word.starts_with(|c: char| c.is_ascii_digit()) { None } else { lexicon::number_word(word) }
}

fn is_multiplier(value: f64) -> bool {
    [100.0, 1e3, 1e6, 1e9].contains(&value)
}

/// Merges the runs of a text that say one number into one run of digits. Each run comes with the index of its part.
pub(in crate::fidelity) fn merged(runs: Vec<(String, usize)>) -> Vec<(String, usize)> {
    // Nearly all texts have no such numbers.
    if !runs.windows(2).any(|pair| word_number(&pair[1].0).is_some()) {
        return runs;
    }
    let mut merged = Vec::with_capacity(runs.len());
    let mut at = 0;
    while at < runs.len() {
        let word = |offset: usize| runs.get(at + offset).map_or("", |(word, _)| word.as_str());
        if word(0) == "half" && (is_dozen(word(1)) || word(1) == "a" && is_dozen(word(2))) {
            merged.push(("6".to_owned(), runs[at].1));
            at += if is_dozen(word(1)) { 2 } else { 3 };
            continue;
        }
        match number(&runs[at..]) {
            Some((value, length)) if length > 1 => {
                merged.push((format!("{value}"), runs[at].1));
                at += length;
            }
            _ => {
                merged.push(runs[at].clone());
                at += 1;
            }
        }
    }
    merged
}

/// The number that a text says in words and nothing else: `five`, `three hundred and five`.
pub(in crate::fidelity) fn number_in_words(text: &str) -> Option<f64> {
    let folded = super::fold::fold(text);
    let words = folded.split([' ', '-']).filter(|word| !word.is_empty());
    match &merged(words.map(|word| (word.to_owned(), 0)).collect())[..] {
        [(one, _)] => word_number(one).or_else(|| one.parse().ok()),
        _ => None,
    }
}

/// The whole number that a word says, and whether it says which one of several: `five`, `fifth`.
pub(in crate::fidelity) fn spoken_number(word: &str) -> Option<(i64, bool)> {
    let number = lexicon::number_word(word).filter(|number| number.fract() == 0.0)?;
    let is_ordinal = word.ends_with("th") || matches!(word, "first" | "second" | "third");
    Some((format!("{number}").parse().ok()?, is_ordinal))
}

/// The number at the start of the runs, and how many runs it takes.
fn number(runs: &[(String, usize)]) -> Option<(f64, usize)> {
    let first = &runs.first()?.0;
    let is_digits = first.starts_with(|c: char| c.is_ascii_digit());
    let start = if is_digits { first.replace(',', "").parse().ok() } else { word_number(first) }?;
    if !is_digits && is_multiplier(start) {
        return None;
    }
    let (mut total, mut current, mut length) = (0.0, start, 1);
    let mut last = if is_digits { f64::NAN } else { start };
    while let Some((word, _)) = runs.get(length) {
        // `one hundred and five`.
        let skips = usize::from(word == "and" && last >= 100.0);
        let Some(value) = runs.get(length + skips).and_then(|(word, _)| word_number(word)) else { break };
        if is_multiplier(value) && skips == 0 && current > 0.0 && (total <= 0.0 || value < total) {
            current *= value;
            if value > 100.0 {
                total += current;
                current = 0.0;
            }
        } else if is_dozen(&runs[length].0) && length == 1 {
            current *= value;
        } else if (is_multiplier(last) && value < last && value > 0.0) || is_unit_of(last, value) {
            current += value;
        } else if length == 1 && !is_digits && (13.0..=20.0).contains(&last) && (10.0..100.0).contains(&value)
        {
            // A year: `nineteen eighty-four`.
            current = current * 100.0 + value;
        } else {
            break;
        }
        last = value;
        length += 1 + skips;
    }
    Some((total + current, length))
}

/// Whether a number stands behind tens: the five of `twenty-five`.
fn is_unit_of(tens: f64, value: f64) -> bool {
    (20.0..100.0).contains(&tens) && tens % 10.0 == 0.0 && (1.0..10.0).contains(&value)
}

fn is_dozen(word: &str) -> bool {
    matches!(word, "dozen" | "dozens")
}

/// The number that Roman digits say.
pub(in crate::fidelity) fn roman(word: &str) -> Option<f64> {
    const VALUES: [f64; 7] = [1.0, 5.0, 10.0, 50.0, 100.0, 500.0, 1000.0];
    let value = |digit: char| "ivxlcdm".find(digit).map(|at| VALUES[at]);
    // One letter is mostly a name, and so are large numbers: `c`, `x`, `mix`.
    if !(2..=6).contains(&word.len()) {
        return None;
    }
    let digits: Vec<f64> = word.chars().map(value).collect::<Option<_>>()?;
    let signed = digits.iter().zip(digits.iter().skip(1).chain([&0.0]));
    let number = signed.map(|(digit, next)| if digit < next { -digit } else { *digit }).sum::<f64>();
    (number <= 30.0).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_several_words_are_one() {
        let of = |text: &str| -> String {
            let runs = text.split(' ').map(|word| (word.to_owned(), 0)).collect();
            merged(runs).into_iter().map(|(run, _)| run).collect::<Vec<_>>().join(" ")
        };
        for (text, expected) in [
            ("twenty five cats", "25 cats"),
            ("one hundred and five", "105"),
            ("two thousand three hundred forty", "2340"),
            ("3 million people", "3000000 people"),
            ("one dozen eggs", "12 eggs"),
            ("nineteen eighty four", "1984"),
            ("the twenty first", "the 21"),
            ("half a dozen eggs", "6 eggs"),
            ("two three", "two three"),
            ("thousand islands", "thousand islands"),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn roman_digits_are_numbers() {
        assert_eq!(roman("xvi"), Some(16.0));
        assert_eq!(roman("ix"), Some(9.0));
        assert_eq!(roman("six"), None);
        // Names, not numbers.
        assert_eq!([roman("c"), roman("cd"), roman("mix")], [None; 3]);
    }
}
