//! The values in a reply: numbers, days, times, codes, names and quotations.

use std::collections::HashMap;

use super::dates::{Date, Time, date, time};
use super::numbers::{Number, unit};
use super::tokens::{Break, Kind, Token};
use super::words::{is_in, place, scale, stem};
use crate::wordnet;

/// The most words of a quotation that is a value; a longer one is prose.
const LONGEST_QUOTATION: usize = 8;

/// The most words of a list's item that is a value as a whole.
const LONGEST_ITEM: usize = 2;

/// The most words of a name, or of a number in words; further words begin another value.
const LONGEST_NAME: usize = 16;

/// The content of a value, by its kind.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Content {
    Number(Number),
    Date(Date),
    Time(Time),
    /// An identifier, a file name or an address, in one spelling.
    Code(String),
    /// A name or a quotation, as stems.
    Name(Vec<String>),
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Value {
    pub(super) content: Content,
    /// The first token and the one behind the last.
    pub(super) begin: usize,
    pub(super) end: usize,
    /// Whether this is certainly a value: `one` and `first` may not be, and a name before a colon is a label.
    pub(super) is_firm: bool,
}

impl Content {
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.is_same(*b),
            (Self::Date(a), Self::Date(b)) => a.is_same(*b),
            (Self::Time(a), Self::Time(b)) => a.is_same(*b),
            (Self::Code(a), Self::Code(b)) => a == b || is_end(a, b) || is_end(b, a),
            (Self::Name(a), Self::Name(b)) => a == b,
            _ => false,
        }
    }

    /// Whether one may be said in the place of the other.
    pub(super) fn is_rival(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.is_rival(*b),
            (Self::Name(a), Self::Name(b)) => !a.iter().any(|word| b.contains(word)),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Whether a path ends with another one.
fn is_end(path: &str, end: &str) -> bool {
    path.strip_suffix(end).is_some_and(|folder| folder.ends_with('/'))
}

/// The first `most` values of a reply, in their order.
pub(super) fn values(tokens: &[Token], most: usize) -> Vec<Value> {
    let mut values = Vec::new();
    let mut at = 0;
    while at < tokens.len() && values.len() < most {
        let value = read(tokens, at);
        at = value.as_ref().map_or(at + 1, |value| value.end);
        values.extend(value);
    }
    values
}

/// The places where a reply has one of these names in any case, except names that are among `values` already.
pub(super) fn mentions(tokens: &[Token], values: &[Value], names: &[Value], most: usize) -> Vec<Value> {
    let mut by_first: HashMap<&str, Vec<&[String]>> = HashMap::new();
    for name in names {
        if let Content::Name(words) = &name.content
            && let Some(first) = words.first()
        {
            let others = by_first.entry(first).or_default();
            if !others.contains(&words.as_slice()) {
                others.push(words);
            }
        }
    }
    let mut values = values.iter().peekable();
    let mut mentions = Vec::new();
    for (begin, token) in tokens.iter().enumerate() {
        while values.next_if(|value| value.begin < begin).is_some() {}
        for &words in by_first.get(stem(&token.text)).into_iter().flatten() {
            let content = || Content::Name(words.to_vec());
            let is_value =
                values.peek().is_some_and(|value| value.begin == begin && value.content == content());
            let stems = tokens[begin..].iter().take(words.len()).map(|token| stem(&token.text));
            if mentions.len() < most && !is_value && stems.eq(words.iter().map(String::as_str)) {
                mentions.push(Value { content: content(), begin, end: begin + words.len(), is_firm: true });
            }
        }
    }
    mentions
}

/// The value that begins with a token.
fn read(tokens: &[Token], at: usize) -> Option<Value> {
    let rest = &tokens[at..];
    let value =
        |content: Content, length: usize| Value { content, begin: at, end: at + length, is_firm: true };
    let in_clause =
        1 + rest.iter().take(LONGEST_NAME).skip(1).take_while(|token| token.gap == Break::None).count();
    if let Some((date, length)) = date(rest) {
        return Some(value(Content::Date(date), length));
    }
    if let Some((time, length)) = time(&rest[..in_clause.min(8)]) {
        return Some(value(Content::Time(time), length));
    }
    match rest[0].kind {
        Kind::Code => {
            let code = value(Content::Code(code(&rest[0].text)), 1);
            Some(Value { is_firm: !is_label(rest, 1), ..code })
        }
        Kind::Number => {
            let sign = at.checked_sub(1).map(|before| &tokens[before]).filter(|_| rest[0].gap == Break::None);
            let (number, length) = number(&rest[..in_clause], sign)?;
            Some(value(Content::Number(number), length))
        }
        Kind::Word => {
            let before = at.checked_sub(1).map_or(0, |before| tokens[before].quotation);
            let quoted = quotation(rest, before).or_else(|| item(rest));
            if let Some(length) = quoted {
                let is_firm = !is_label(rest, length);
                return Some(Value { is_firm, ..value(name(&rest[..length]), length) });
            }
            if let Some((number, length, is_firm)) = in_words(&rest[..in_clause]) {
                return Some(Value { is_firm, ..value(Content::Number(number), length) });
            }
            let length =
                capitals(&rest[..in_clause], at == 0 || !matches!(rest[0].gap, Break::None | Break::Comma))?;
            let is_firm = !is_label(rest, length);
            Some(Value { is_firm, ..value(name(&rest[..length]), length) })
        }
    }
}

/// Whether these tokens and a colon begin a line or are a key of JSON: they say what the rest is.
fn is_label(rest: &[Token], length: usize) -> bool {
    rest[length - 1].is_label && (rest[0].gap == Break::Line || rest[0].quotation > 0)
}

/// A code without the differences of spelling.
fn code(text: &str) -> String {
    let text = text.trim_start_matches("https://").trim_start_matches("http://").trim_start_matches("www.");
    text.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).collect()
}

fn name(tokens: &[Token]) -> Content {
    Content::Name(tokens.iter().map(|token| stem(&token.text).to_owned()).collect())
}

/// The number at the start, with what multiplies it and its unit; `sign` is the token before it.
fn number(rest: &[Token], sign: Option<&Token>) -> Option<(Number, usize)> {
    let number = Number::read(&rest[0].text)?;
    let scaled = rest.get(1).and_then(|next| match &*next.shown {
        "M" => Some(1e6),
        "B" => Some(1e9),
        _ => scale(&next.text),
    });
    let (number, length) = scaled.map_or((number, 1), |factor| (number.times(factor), 2));
    if let Some(unit) = sign.and_then(|sign| unit(&sign.text)).filter(|unit| unit.family() == "money") {
        return Some((number.with(Some(unit)), length));
    }
    let names = (1..=3).rev().filter_map(|words| Some((rest.get(length..length + words)?, words)));
    let units = names.filter_map(|(tokens, words)| {
        let name = tokens.iter().map(|token| &*token.text).collect::<Vec<_>>().join(" ");
        unit(&name).map(|unit| (unit, words))
    });
    let best = units.into_iter().next().or_else(|| range_unit(rest).map(|unit| (unit, 0)));
    Some(best.map_or((number, length), |(unit, words)| (number.with(Some(unit)), length + words)))
}

/// The unit of the second number in `200-400 mg`, `5 to 6 km`.
fn range_unit(rest: &[Token]) -> Option<super::numbers::Unit> {
    let second = 1 + usize::from(rest.get(1).is_some_and(|word| word.text == "to"));
    rest.get(second).filter(|token| token.kind == Kind::Number)?;
    let two = rest.get(second + 1..second + 3).map(|tokens| format!("{} {}", tokens[0].text, tokens[1].text));
    two.and_then(|name| unit(&name)).or_else(|| unit(&rest.get(second + 1)?.text))
}

/// The number in words at the start, its length, and whether it is certainly a number.
fn in_words(rest: &[Token]) -> Option<(Number, usize, bool)> {
    let ten = |at: usize| rest.get(at).and_then(|token| place("tens", &token.text)).map(|ten| 10 * ten);
    let one = |at: usize| rest.get(at).and_then(|token| place("ones", &token.text));
    if let Some(ordinal) = place("ordinals", &rest[0].text) {
        return Some((Number::of_words(ordinal as f64), 1, false));
    }
    let (mut total, mut part, mut at) = (0.0, 0.0, 0);
    while at < rest.len() {
        if let Some(ten) = ten(at) {
            part += ten as f64;
        } else if let Some(one) = one(at) {
            part += one as f64;
        } else if at > 0
            && let Some(factor) = scale(&rest[at].text).filter(|_| rest[at].text.len() > 2)
        {
            (total, part) =
                if factor < 1000.0 { (total, part * factor) } else { (total + part * factor, 0.0) };
        } else if !(at > 0
            && rest[at].text == "and"
            && (ten(at + 1).is_some() || one(at + 1).is_some())
            && part >= 100.0)
        {
            break;
        }
        at += 1;
    }
    if at == 0 {
        return None;
    }
    let number = Number::of_words(total + part);
    let next = rest.get(at).map(|token| &*token.text);
    let is_counted = next.is_some_and(|next| !is_in("stop", next) && !is_in("not", next));
    let unit = next.and_then(unit);
    Some((number.with(unit), at + usize::from(unit.is_some()), rest[0].text != "one" || is_counted))
}

/// The length of the quotation that begins here, if it is short and has no numbers, which are values of their own.
fn quotation(rest: &[Token], before: usize) -> Option<usize> {
    let quotation = rest[0].quotation;
    let length =
        rest.iter().take_while(|token| token.quotation == quotation).take(LONGEST_QUOTATION + 1).count();
    let has_number = rest[..length].iter().any(|token| token.kind == Kind::Number);
    (quotation > 0 && quotation != before && !has_number && length <= LONGEST_QUOTATION).then_some(length)
}

/// The length of a list's item, if it is short and nothing but words.
fn item(rest: &[Token]) -> Option<usize> {
    let line =
        1 + rest.iter().skip(1).take(LONGEST_ITEM).take_while(|token| token.gap != Break::Line).count();
    let words = || rest[..line].iter();
    let is_short = rest[0].is_item && line <= LONGEST_ITEM;
    (is_short && words().all(|token| token.kind == Kind::Word && !token.is_label)).then_some(line)
}

/// The length of the name that begins here: words with capitals, and small ones between them.
fn capitals(rest: &[Token], begins: bool) -> Option<usize> {
    let is_capital = |token: &Token| token.kind == Kind::Word && token.shown.starts_with(char::is_uppercase);
    if !is_capital(&rest[0]) || rest[0].text == "i" {
        return None;
    }
    let mut length = 1;
    for (at, token) in rest.iter().enumerate().skip(1) {
        if rest[at - 1].is_label || !is_capital(token) && !matches!(&*token.text, "of" | "the" | "de" | "and")
        {
            break;
        }
        if is_capital(token) {
            length = at + 1;
        }
    }
    (length > 1 || !begins || is_name(&rest[0])).then_some(length)
}

/// Whether a word with a capital is a name anywhere: `AMC`, `OpenCV`, a weekday, a word that no dictionary has.
fn is_name(token: &Token) -> bool {
    let has_more = token.shown.chars().skip(1).any(char::is_uppercase);
    let is_usual = || {
        let is_function =
            ["stop", "yes", "no", "not", "ordinals"].iter().any(|list| is_in(list, &token.text));
        let is_word = |senses: &[wordnet::Sense]| !senses.is_empty() && !wordnet::is_name(senses);
        is_function || is_word(&wordnet::meanings(&token.text, |word| word))
    };
    has_more || is_in("days", &token.text) || !is_usual()
}
