//! The evidence whether two values of an argument ask for the same: forty-seven numbers for each argument that differs.
//! The model turns them into a probability.
//!
//! Numbers that depend on which call is the reference exist only where the question is known: without it, both orders
//! of a pair have the same evidence.

mod question;
mod spelling;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use crate::boost::Sign::{self, Down, Free, Up};
use m3_support::pointer::segments;
use m3_trajectory::json::{Json, Keys};

pub(super) use question::Question;
use spelling::spelling;

use super::align::TOO_MUCH;
use super::constants::{EQUIVALENT, MAX_EMBEDDED, MAX_TEXT, UNREADABLE};
use super::language::{fold, lexicon};
use super::name::{Name, NamedThing};
use super::place::is_index;
use super::text::{self, Rest};
use super::words::Words;
use super::{ArgumentComparison, CallPair, Kind, Verdict};
use crate::schema::Schema;

/// The numbers of an argument, by name. `_least` and `_most` are the smaller and the larger of both values.
pub(super) const SIGNS: [(&str, Sign); 47] = [
    // The score by the rules, and the kind of value that they compare.
    ("rule", Up),
    ("is_text", Free),
    ("is_place", Free),
    ("is_number", Free),
    ("is_moment", Free),
    ("is_code", Free),
    ("is_position", Free),
    ("is_choice", Free),
    ("is_boolean", Free),
    // Whether only one call has the argument, and whether it is within a list; what the schema says of it.
    ("one_sided", Free),
    ("missing", Free),
    ("extra", Free),
    ("in_list", Free),
    ("has_choices", Free),
    ("has_question", Free),
    // What the argument's name says: it names a thing, it holds words to search or write, or it only shapes the answer.
    ("names_a_thing", Free),
    ("holds_words", Free),
    ("shapes_answer", Free),
    // Spelling.
    ("folded_equal", Up),
    ("spelling", Up),
    ("length_ratio", Free),
    ("contains", Free),
    // Words that are left over when both texts are aligned: their weight, their share of the text, how rare they are.
    ("lost_least", Down),
    ("lost_most", Down),
    ("share_least", Down),
    ("share_most", Down),
    ("words_least", Free),
    ("words_most", Free),
    ("rarest_least", Down),
    ("rarest_most", Down),
    ("digits_least", Down),
    ("digits_most", Down),
    ("negated", Down),
    // The share of left-over words that say the kind of a named thing.
    ("kinds_share", Up),
    // Embeddings.
    ("cosine_named", Up),
    // Whether the question has the left-over words of each text.
    ("unasked", Down),
    ("asked_left_out", Free),
    ("asked_added", Free),
    ("unasked_left_out", Free),
    ("unasked_added", Free),
    // Whether the question quotes only one of the two values.
    ("quoted_missed", Down),
    ("quoted_instead", Free),
    // A value that only one call has.
    ("one_words", Free),
    ("one_number", Free),
    ("extra_asked", Up),
    ("missing_asked", Down),
    ("one_name_asked", Free),
];

/// The numbers of one argument, in the order of [`SIGNS`]; NaN where a number does not apply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Evidence {
    numbers: Vec<f64>,
    /// Whether a text was too long to be read to its end, so that nothing says that it is the same.
    pub(super) is_cut: bool,
}

/// The value of a number that does not apply.
const NONE: f64 = f64::NAN;

fn flag(value: bool) -> f64 {
    f64::from(u8::from(value))
}

impl Evidence {
    fn push(&mut self, name: &str, value: f64) {
        debug_assert_eq!(SIGNS[self.numbers.len()].0, name, "evidence is in one order");
        self.numbers.push(value);
    }

    /// The numbers, one for each name.
    #[must_use]
    pub fn numbers(&self) -> &[f64] {
        &self.numbers
    }

    /// The bits of the numbers, by which equal evidence is found.
    pub(super) fn bits(&self) -> Vec<u64> {
        self.numbers.iter().map(|number| number.to_bits()).collect()
    }

    /// The number of this name; NaN where it does not apply.
    fn number(&self, name: &str) -> Option<f64> {
        let place = SIGNS.iter().position(|sign| sign.0 == name)?;
        self.numbers.get(place).copied()
    }

    /// Whether the flag of this name is set.
    fn is(&self, name: &str) -> bool {
        self.number(name) == Some(1.0)
    }

    /// Whether only the second call has the argument, where the question is known.
    pub(super) fn is_extra(&self) -> bool {
        self.is("extra")
    }

    /// Whether only the second call has the argument, and the question has most of its words.
    pub(super) fn is_asked_extra(&self) -> bool {
        self.number("extra_asked").is_some_and(|share| share >= 0.5)
    }

    /// Whether the question is known.
    pub(super) fn has_question(&self) -> bool {
        self.is("has_question")
    }

    /// The score by the rules alone, in [0, 1].
    pub(super) fn rule(&self) -> f64 {
        self.numbers.first().copied().unwrap_or(1.0)
    }
}

/// The inputs of an argument's evidence.
pub(super) struct Context<'c> {
    pub(super) words: &'c Words,
    pub(super) pair: CallPair<'c>,
    pub(super) schema: Option<Schema<'c>>,
    pub(super) question: Option<&'c Question>,
}

/// The value that a pointer leads to, or the nearest value that contains it.
fn value_at<'j>(json: Option<&'j Json>, path: &str) -> Option<&'j Json> {
    let (json, mut path) = (json?, path);
    loop {
        if let Some(found) = json.pointer(path) {
            return Some(found);
        }
        path = &path[..path.rfind('/')?];
    }
}

/// The most bytes of a text that are read.
const LONGEST: usize = MAX_TEXT;

/// A value as a text: only the start of long ones, and nothing of large objects, because one value may be read again
/// for each of thousands of values within it.
fn written(value: &Json) -> String {
    let mut text = match value {
        Json::String(text) => text[..text.floor_char_boundary(LONGEST)].to_owned(),
        Json::Array(items) => items.iter().take(MOST_VALUES).map(written).collect::<Vec<_>>().join(", "),
        value if is_small(value, &mut MOST_VALUES.clone()) => value.to_text(Keys::Sorted),
        _ => String::new(),
    };
    text.truncate(text.floor_char_boundary(LONGEST));
    text
}

/// The most values within a value that are read.
const MOST_VALUES: usize = 64;

/// Whether a value has few enough values, and those are short.
fn is_small(value: &Json, left: &mut usize) -> bool {
    *left = left.saturating_sub(1);
    *left > 0
        && match value {
            Json::String(text) | Json::LongInteger(text) => text.len() <= LONGEST,
            Json::Array(items) => items.iter().all(|item| is_small(item, left)),
            Json::Object(members) => members.iter().all(|(_, item)| is_small(item, left)),
            _ => true,
        }
}

/// The last key of a path, without indices in lists.
fn last_key<'p>(parts: &'p [Cow<'_, str>]) -> &'p str {
    parts.iter().rev().find(|part| !is_index(part)).map(|part| &**part).unwrap_or_default()
}

/// Computes the evidence of one argument.
pub(super) fn evidence(context: &Context<'_>, found: &ArgumentComparison) -> Evidence {
    use Kind::{
        Boolean, BoxSide, Choice, Code, Color, Contact, Coordinate, List, Moment, Number, Object, Path,
        Place, Quantity, Standard, Text, Url, Verbatim,
    };
    let mut e = Evidence { numbers: Vec::with_capacity(SIGNS.len()), is_cut: false };
    let other_path = found.other_path.as_deref().unwrap_or(&found.path);
    let (is_missing, is_extra) = (found.verdict == Verdict::Missing, found.verdict == Verdict::Extra);
    let a = if is_extra { None } else { value_at(context.pair.a, &found.path) };
    let b = if is_missing { None } else { value_at(context.pair.b, other_path) };
    let (parts, others): (Vec<_>, Vec<_>) = (segments(&found.path).collect(), segments(other_path).collect());
    // Of two names of one argument, the alphabetically first is used, whichever call has it.
    let name = Name::new(last_key(&parts).min(last_key(&others)));
    let plain_name = name.with_spaces();
    e.push("rule", found.score);
    let kind = match found.kind {
        Standard | Color => Choice,
        Verbatim | Path | Url | Contact => Code,
        kind => kind,
    };
    for (label, of) in [
        ("is_text", Text),
        ("is_place", Place),
        ("is_number", Number),
        ("is_moment", Moment),
        ("is_code", Code),
        ("is_position", Coordinate),
        ("is_choice", Choice),
        ("is_boolean", Boolean),
    ] {
        e.push(label, flag(kind == of));
    }
    let of_role = |value: bool| if context.question.is_some() { flag(value) } else { NONE };
    e.push("one_sided", flag(is_missing || is_extra));
    e.push("missing", of_role(is_missing));
    e.push("extra", of_role(is_extra));
    e.push("in_list", flag(parts.iter().chain(&others).any(|part| is_index(part))));
    let top = parts.first().min(others.first()).map(|part| &**part).unwrap_or_default();
    let property = context.schema.and_then(|schema| schema.property(top));
    let has_choices = flag(property.is_some_and(Schema::has_choices));
    e.push("has_choices", property.map_or(NONE, |_| has_choices));
    e.push("has_question", flag(context.question.is_some()));
    e.push("names_a_thing", flag(name.is_of_a_thing()));
    e.push("holds_words", flag(name.is_of("words")));
    e.push("shapes_answer", flag(name.is_of("shapes")));
    let is_long =
        |value: Option<&Json>| value.and_then(Json::as_str).is_some_and(|text| text.len() > LONGEST);
    e.is_cut = is_long(a) || is_long(b) || found.reason == TOO_MUCH;
    let texts = a.zip(b).map(|(a, b)| (written(a), written(b)));
    // Values such as numbers are judged by their reader alone, not by their letters. Letters still show how near two
    // codes or two members of a table are.
    let is_read =
        matches!(found.kind, Number | Moment | Quantity | Boolean | Coordinate | BoxSide | Url | Path);
    spelling(&mut e, texts.as_ref().filter(|_| !is_read));
    let named = if found.kind == Place { NamedThing::Places } else { name.named() };
    // Values that a reader could read, or that are the same in another writing, need no embedding.
    let is_worded = matches!(kind, Text | Place | List | Object) && found.score < EQUIVALENT;
    let by_spelling = Words::default();
    let words = if is_worded { context.words } else { &by_spelling };
    let rests = texts.as_ref().map(|(a, b)| text::rests(words, a, b, named));
    left_over(&mut e, rests.as_ref().filter(|_| !is_read));
    // Parts of these values are not words, so they are not looked up in the question. (Numbers and quantities are
    // looked up: the question says which one is asked for.)
    let is_one_thing = matches!(found.kind, Moment | Url | Path | Standard | Choice | Color);
    let asked = rests.as_ref().filter(|_| !is_one_thing);
    meaning(&mut e, context, &plain_name, texts.as_ref().filter(|_| is_worded), asked, texts.as_ref());
    one_sided(&mut e, context, &plain_name, a.xor(b).map(|value| (value, is_extra)));
    debug_assert_eq!(e.numbers.len(), SIGNS.len(), "evidence is complete");
    e
}

fn left_over(e: &mut Evidence, rests: Option<&[Rest; 2]>) {
    let mut both = |least: &str, most: &str, of: &dyn Fn(&Rest) -> f64| {
        let shares = rests.map(|[a, b]| (of(a), of(b)));
        if !least.is_empty() {
            e.push(least, shares.map_or(NONE, |(a, b)| a.min(b)));
        }
        e.push(most, shares.map_or(NONE, |(a, b)| a.max(b)));
    };
    both("lost_least", "lost_most", &Rest::lost);
    both("share_least", "share_most", &|rest| rest.lost() / (rest.lost() + rest.shared()).max(1e-9));
    both("words_least", "words_most", &|rest| (rest.words.len() + rest.common.len()) as f64);
    both("rarest_least", "rarest_most", &|rest| {
        rest.words.iter().map(|(word, weight)| weight * text::rarity(word)).fold(0.0, f64::max)
    });
    both("digits_least", "digits_most", &|rest| {
        rest.words.iter().filter(|word| word.0.starts_with(|c: char| c.is_ascii_digit())).count() as f64
    });
    both("", "negated", &|rest| flag(rest.is_negated));
    let kinds = |rest: &Rest| {
        rest.words.iter().filter(|word| lexicon::is_of_kind(&word.0)).map(|word| word.1).sum::<f64>()
    };
    let share = rests.map(|[a, b]| (kinds(a) + kinds(b)) / (a.lost() + b.lost()).max(1e-9));
    e.push("kinds_share", share.unwrap_or(NONE));
}

/// Where to begin to read two texts, in bytes: at their start, or in long ones a little before they begin to differ.
fn start_of_difference(a: &str, b: &str) -> usize {
    if a.len().max(b.len()) <= MAX_EMBEDDED {
        return 0;
    }
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    same.saturating_sub(MAX_EMBEDDED / 4)
}

/// Adds the numbers from embeddings and from the question.
fn meaning(
    e: &mut Evidence,
    context: &Context<'_>,
    said: &str,
    texts: Option<&(String, String)>,
    rests: Option<&[Rest; 2]>,
    both: Option<&(String, String)>,
) {
    let has_letters = |text: &str| text.len() <= 2000 && text.chars().any(char::is_alphabetic);
    let worded = texts.filter(|(a, b)| has_letters(a) && has_letters(b));
    let cosine = worded.and_then(|(a, b)| {
        let start = start_of_difference(a, b);
        let named = |text: &str| {
            let text = &text[text.floor_char_boundary(start)..];
            format!("{said}: {}", &text[..text.floor_char_boundary(MAX_EMBEDDED)])
        };
        // Different texts of one embedding are texts that the encoder cannot read.
        let cosine = context.words.cosine(&named(a), &named(b))?;
        (cosine < UNREADABLE || fold(a) == fold(b)).then_some(cosine)
    });
    e.push("cosine_named", cosine.unwrap_or(NONE));
    let asked = context.question.zip(rests);
    let of = |value: &dyn Fn(&Question, &Rest, &Rest) -> f64| {
        asked.map_or(NONE, |(question, [a, b])| value(question, a, b))
    };
    let unasked = |question: &Question, rest: &Rest| rest.lost() - question.weight(&rest.words);
    e.push("unasked", of(&|question, a, b| unasked(question, a) + unasked(question, b)));
    e.push("asked_left_out", of(&|question, a, _| question.weight(&a.words)));
    e.push("asked_added", of(&|question, _, b| question.weight(&b.words)));
    e.push("unasked_left_out", of(&|question, a, _| unasked(question, a)));
    e.push("unasked_added", of(&|question, _, b| unasked(question, b)));
    let quoted =
        context.question.zip(both).map(|(question, (a, b))| (question.quotes(a), question.quotes(b)));
    e.push("quoted_missed", quoted.map_or(NONE, |(a, b)| flag(a && !b)));
    e.push("quoted_instead", quoted.map_or(NONE, |(a, b)| flag(b && !a)));
}

/// Adds the numbers of a value that only one call has; the flag says whether that is the second call.
fn one_sided(e: &mut Evidence, context: &Context<'_>, said: &str, value: Option<(&Json, bool)>) {
    let text = value.map(|(value, _)| written(value));
    let text = text.as_deref();
    e.push("one_words", text.map_or(NONE, |text| text::keys(text).len() as f64));
    let number = value.and_then(|(value, _)| super::readers::number::from_json(value));
    e.push("one_number", number.map_or(NONE, |number| number.abs().ln_1p().min(50.0)));
    let share = context.question.zip(text).map(|(question, text)| question.share(text));
    let is_extra = value.is_some_and(|value| value.1);
    e.push("extra_asked", share.filter(|_| is_extra).unwrap_or(NONE));
    e.push("missing_asked", share.filter(|_| !is_extra).unwrap_or(NONE));
    let name = context.question.filter(|_| value.is_some()).map(|question| question.share(said));
    e.push("one_name_asked", name.unwrap_or(NONE));
}
