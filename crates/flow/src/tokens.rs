//! Splits texts into tokens and numbers, by which values are compared.
//!
//! A token is a run of letters and digits, as written; its users compare it in lower case. Each character of a script
//! without spaces is its own token.
//! Punctuation means nothing, so that `Once Upon a Time... in Hollywood` equals `once upon a time in hollywood`, and
//! a path or an id with hyphens is a sequence of tokens. Numbers are also read, and compared by their value.

use m3_trajectory::json::Json;

/// The characters at which a text is cut into pieces that may be values of their own: items of a list, cells, names in
/// quotes.
const CUTS: [char; 20] =
    ['\n', '\r', '\t', ',', ';', ':', '|', '"', '`', '(', ')', '[', ']', '{', '}', '<', '>', '•', '*', '='];

/// A token of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The token as written.
    pub(crate) text: &'a str,
    /// Whether a new piece begins with the token.
    pub(crate) is_cut: bool,
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> impl Iterator<Item = Token<'_>> {
    let mut rest = text;
    let mut is_cut = true;
    let mut is_ordinal = false;
    std::iter::from_fn(move || {
        let start = rest.find(char::is_alphanumeric).unwrap_or(rest.len());
        // The number of an item, as in `2. Barnegat Inlet`, is not part of the item.
        is_cut |= is_cut_by(&rest[..start]) || (is_ordinal && rest.starts_with(". "));
        rest = &rest[start..];
        let end = token_end(rest)?;
        let token = Token { text: &rest[..end], is_cut };
        rest = &rest[end..];
        is_ordinal = is_cut && token.text.len() <= 3 && token.text.bytes().all(|byte| byte.is_ascii_digit());
        is_cut = false;
        // In `2025-01-03T10:00` the date is a value without the time.
        if token.text.len() == 2 && token.text.bytes().all(|byte| byte.is_ascii_digit()) {
            let mut next = rest.chars();
            if next.next() == Some('T') && next.next().is_some_and(|c| c.is_ascii_digit()) {
                rest = &rest[1..];
            }
        }
        Some(token)
    })
}

fn is_cut_by(between: &str) -> bool {
    between.contains(CUTS) || between.contains(" - ") || between.contains(" — ") || between.contains(" – ")
}

fn token_end(text: &str) -> Option<usize> {
    let mut characters = text.char_indices();
    let (_, first) = characters.next()?;
    if stands_alone(first) {
        return Some(first.len_utf8());
    }
    let is_date =
        matches!(text.as_bytes(), [a, b, b'T', c, ..] if [a, b, c].iter().all(|byte| byte.is_ascii_digit()));
    if is_date {
        return Some(2);
    }
    let end = characters.find(|&(_, c)| !c.is_alphanumeric() || stands_alone(c));
    Some(end.map_or(text.len(), |(index, _)| index))
}

/// Characters that are tokens of their own: those of Chinese and Japanese, which put no spaces between words, and Korean
/// syllables, because particles follow a word without a space.
pub(crate) fn stands_alone(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// A number by its value, without its sign: coordinates are written with a sign or with `W` and `S`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Number {
    /// A whole number.
    Whole(u64),
    /// Any other number, as the bits of its double.
    Fraction(u64),
}

impl Number {
    /// A number from a double; `None` if it is not finite, or too large to be distinguished from its neighbours.
    pub(crate) fn from_double(value: f64) -> Option<Self> {
        let value = value.abs();
        if !value.is_finite() {
            return None;
        }
        if value.fract() == 0.0 {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
            return (value < 9e15).then_some(Self::Whole(value as u64));
        }
        Some(Self::Fraction(value.to_bits()))
    }

    /// A JSON number.
    pub(crate) fn from_json(value: &Json) -> Option<Self> {
        match value {
            Json::Integer(value) => Some(Self::Whole(value.unsigned_abs())),
            Json::Float(value) => Self::from_double(*value),
            _ => None,
        }
    }

    /// The number in a text that holds nothing else except a currency sign, a percent sign or blanks.
    pub(crate) fn from_text(text: &str) -> Option<Self> {
        let is_around = |c: char| c.is_whitespace() || matches!(c, '$' | '€' | '£' | '¥' | '%' | '+' | '-');
        let text = text.trim_matches(is_around);
        let (number, length) = leading_number(text)?;
        (length == text.len()).then_some(number)
    }

    /// How many digits are significant, not counting zeros at either end.
    pub(crate) fn significant_digits(self) -> usize {
        let text = self.text();
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.trim_matches('0').len().max(1)
    }

    /// How many digits follow the decimal point.
    pub(crate) fn decimals(self) -> usize {
        let text = self.text();
        text.split_once('.').map_or(0, |(_, decimals)| decimals.len())
    }

    /// The number rounded to this many decimals; `None` if that changes nothing.
    pub(crate) fn rounded(self, decimals: usize) -> Option<Self> {
        let Self::Fraction(bits) = self else { return None };
        // Whole numbers below 2^53 and powers of ten up to 10^9 are exact, so their quotient is the double that the
        // decimal text reads as.
        let power = 10_f64.powi(i32::try_from(decimals).ok()?);
        let rounded = (f64::from_bits(bits) * power).round() / power;
        Self::from_double(rounded).filter(|&rounded| rounded != self)
    }

    /// The number in digits.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Whole(value) => value.to_string(),
            Self::Fraction(bits) => f64::from_bits(bits).to_string(),
        }
    }
}

/// The numbers in a text, each with the byte at which it starts.
pub(crate) fn numbers(text: &str) -> impl Iterator<Item = (usize, Number)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            let start = at;
            let follows_letter = start > 0 && bytes[start - 1].is_ascii_alphanumeric();
            if !bytes[start].is_ascii_digit() || follows_letter {
                at += 1;
                continue;
            }
            match leading_number(&text[start..]) {
                Some((number, length)) => {
                    at += length.max(1);
                    return Some((start, number));
                }
                None => at += digits(&bytes[start..]).max(1),
            }
        }
        None
    })
}

fn digits(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// A number at the start of a text, and its length in bytes: `12`, `1,234.5`, `0.25`, `6.02e23`.
fn leading_number(text: &str) -> Option<(Number, usize)> {
    let bytes = text.as_bytes();
    let mut end = digits(bytes);
    if end == 0 {
        return None;
    }
    let mut has_groups = false;
    while end <= 12
        && bytes.get(end) == Some(&b',')
        && digits(&bytes[end + 1..]) == 3
        && (has_groups || end <= 3)
    {
        end += 4;
        has_groups = true;
    }
    let mut is_fraction = false;
    if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end += 1 + digits(&bytes[end + 1..]);
        is_fraction = true;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(bytes.get(end + 1 + sign..).unwrap_or_default());
        if exponent > 0 {
            end += 1 + sign + exponent;
            is_fraction = true;
        }
    }
    let digits = if has_groups { text[..end].replace(',', "") } else { text[..end].to_owned() };
    let number = if is_fraction {
        Number::from_double(digits.parse().ok()?)
    } else {
        digits.parse().ok().map(Number::Whole)
    };
    Some((number?, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<String> {
        let mut pieces: Vec<String> = Vec::new();
        for token in tokens(text) {
            match pieces.last_mut() {
                Some(piece) if !token.is_cut => *piece = format!("{piece} {}", token.text),
                _ => pieces.push(token.text.to_owned()),
            }
        }
        pieces
    }

    #[test]
    fn texts_are_cut_into_pieces_of_tokens() {
        assert_eq!(
            cut("1. Sandy Hook\n2. Barnegat Inlet - a strait"),
            ["1", "Sandy Hook", "2", "Barnegat Inlet", "a strait"]
        );
        assert_eq!(cut("HB-2044-7719-EX (bars.png)"), ["HB 2044 7719 EX", "bars png"]);
        assert_eq!(cut("at 2025-01-03T10:30Z"), ["at 2025 01 03 10", "30Z"]);
        assert_eq!(cut("東京 tower"), ["東 京 tower"]);
        assert_eq!(cut("  ...  "), Vec::<String>::new());
    }

    #[test]
    fn numbers_are_what_they_are_worth() {
        let values = |text: &str| numbers(text).map(|(_, number)| number).collect::<Vec<_>>();
        let whole = Number::Whole;
        let fraction = |value: f64| Number::from_double(value).unwrap();
        assert_eq!(values("$1,299.00 for 2"), [whole(1299), whole(2)]);
        assert_eq!(values("37.77,-119.602"), [fraction(37.77), fraction(119.602)]);
        assert_eq!(values("x12 3.5kg 1e3"), [fraction(3.5), whole(1000)]);
        assert_eq!(values("99999999999999999999999"), []);
        assert_eq!(Number::from_text(" -5.0 "), Some(whole(5)));
        assert_eq!(Number::from_text("5 apples"), None);
        assert_eq!(Number::from_double(f64::NAN), None);
    }

    #[test]
    fn digits_that_say_something_are_counted() {
        let digits = |value: f64| Number::from_double(value).unwrap().significant_digits();
        assert_eq!([0.0, 1.0, 380.0, 5000.0, 17.5, 0.05, 40.433_349_6].map(digits), [1, 1, 2, 1, 3, 1, 9]);
        let ratio = Number::from_double(2.065_217_391_304_347_7).unwrap();
        assert_eq!(ratio.rounded(2), Number::from_double(2.07));
        assert_eq!(ratio.rounded(0), Some(Number::Whole(2)));
        assert_eq!(Number::Whole(5).rounded(1), None);
    }
}
