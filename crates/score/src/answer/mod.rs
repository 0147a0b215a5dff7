//! How well a reply agrees with the reference's, without any model: `docs/answers.md` says what is compared and what it cannot see.
//!
//! The steps, a file each: [`tokens`] (one spelling), [`values`] (numbers, days, codes, names: [`numbers`], [`dates`]),
//! [`places`] (which values the reply has, which it has others in the place of: [`contexts`]), [`polarity`] (yes, no, not, and
//! refusals).

mod contexts;
mod dates;
mod numbers;
mod places;
mod polarity;
#[cfg(test)]
mod tests;
mod tokens;
mod values;
mod words;

use contexts::Vocabulary;
use places::{Fate, Side, fates};
use polarity::{contrary, denies, refuses, yes_or_no};
use tokens::{Token, tokens};
use values::{Content, Value, mentions, values};
use words::{is_in, stem};

/// Bytes of a reply that are read; what comes behind them is not looked at.
const MOST_READ: usize = 65_536;

/// Values of a reference that are looked for.
const MOST_VALUES: usize = 200;

/// Values of a reply that they are looked for among.
const MOST_SAID: usize = 2000;

/// What a value counts that the question has already, beside 1 for a new one.
const GIVEN: f64 = 0.25;

/// What each contradiction multiplies the score with.
const CONTRADICTION: f64 = 0.5;

/// Words that say something in a reply that is compared as a whole.
const LONGEST_TEXT: usize = 4;

/// Reasons that are told.
const MOST_REASONS: usize = 5;

/// Words of a sentence that a reason shows.
const LONGEST_SHOWN: usize = 12;

/// What the comparison of two replies says.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerAgreement {
    /// How far the reply agrees, in [0, 1]: the share of the reference's values that it has, halved by each contradiction. `None`
    /// if nothing can be said: the reference is prose without values.
    pub score: Option<f64>,
    /// What is missing or contradicts the reference, in words: `says 14.2 km, not 12.4 km`. The first five.
    pub reasons: Vec<String>,
}

impl AnswerAgreement {
    fn new(score: f64, reason: impl Into<Option<String>>) -> Self {
        Self { score: Some(score), reasons: reason.into().into_iter().collect() }
    }
}

/// How well a reply agrees with the reference's. Values that the question has already count less. Of each text the first 64 KiB are
/// read, of the reference the first 200 values are looked for. A reference of spaces alone leaves nothing to compare.
#[must_use]
pub fn answer_agreement(predicted: Option<&str>, reference: &str, question: Option<&str>) -> AnswerAgreement {
    let read = |text: &str| tokens(m3_support::text::head(text, MOST_READ));
    let known = read(reference);
    if known.is_empty() {
        return AnswerAgreement::default();
    }
    let said = read(predicted.unwrap_or_default());
    if said.is_empty() {
        return AnswerAgreement::new(0.0, "says nothing".to_owned());
    }
    if plain(&known).eq(plain(&said)) {
        return AnswerAgreement::new(1.0, None);
    }
    compare(&known, &said, &read(question.unwrap_or_default()))
}

/// The words without articles.
fn plain(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().map(|token| &*token.text).filter(|word| !is_in("articles", word))
}

fn compare(known: &[Token], said: &[Token], question: &[Token]) -> AnswerAgreement {
    let vocabulary = Vocabulary::new(known, said);
    let content = known.iter().filter(|token| vocabulary.content(token).is_some()).count();
    let mut wanted = values(known, MOST_VALUES);
    wanted.retain(|value| value.is_firm);
    if wanted.is_empty() && content <= LONGEST_TEXT {
        wanted = each_word(known, &vocabulary);
    }
    let mut found = values(said, MOST_SAID);
    found.extend(mentions(said, &found, &wanted, MOST_SAID));
    let fates = fates(Side { tokens: known, values: &wanted }, Side { tokens: said, values: &found });
    let mut tally = Tally::default();
    let given = values(question, MOST_SAID);
    for (value, fate) in wanted.iter().zip(&fates) {
        let is_given = given.iter().any(|given| given.content.is_same(&value.content)) || places::has(question, &value.content);
        let shown = shown(&known[value.begin..value.end]);
        tally.add(if is_given { GIVEN } else { 1.0 }, *fate, || match *fate {
            Fate::Replaced(at) => format!("says {}, not {shown}", self::shown(&said[found[at].begin..found[at].end])),
            _ => format!("does not say {shown}"),
        });
    }
    if let Some(is_yes) = yes_or_no(known) {
        let other = yes_or_no(said).or_else(|| denies(said).then_some(false));
        if let Some(other) = other {
            let fate = if other == is_yes { Fate::Kept } else { Fate::Replaced(0) };
            tally.add(1.0, fate, || if other { "says yes, not no" } else { "says no, not yes" }.to_owned());
        }
    }
    if let Some((denied, contrary)) = contrary(known, said, &vocabulary) {
        let begin = |tokens: &[Token]| shown(&tokens[..tokens.len().min(LONGEST_SHOWN)]);
        tally.contradict(format!("says `{}`, not `{}`", begin(contrary), begin(denied)));
    }
    tally.agreement(refuses(said) && !refuses(known))
}

/// Each word that says something, as a value: for replies of a few words.
fn each_word(tokens: &[Token], vocabulary: &Vocabulary<'_>) -> Vec<Value> {
    let words = tokens.iter().enumerate().filter(|(_, token)| vocabulary.content(token).is_some());
    let content = |token: &Token| Content::Name(vec![stem(&token.text).to_owned()]);
    words.map(|(at, token)| Value { content: content(token), begin: at, end: at + 1, is_firm: true }).collect()
}

fn shown(tokens: &[Token]) -> String {
    tokens.iter().map(|token| &*token.shown).collect::<Vec<_>>().join(" ")
}

/// What is known of a reply so far.
#[derive(Default)]
struct Tally {
    wanted: f64,
    kept: f64,
    contradictions: i32,
    missing: Vec<String>,
    reasons: Vec<String>,
}

impl Tally {
    fn add(&mut self, weight: f64, fate: Fate, reason: impl Fn() -> String) {
        self.wanted += weight;
        match fate {
            Fate::Kept => self.kept += weight,
            Fate::Missing => self.missing.push(reason()),
            Fate::Replaced(_) => self.contradict(reason()),
        }
    }

    fn contradict(&mut self, reason: String) {
        self.contradictions += 1;
        self.reasons.push(reason);
    }

    fn agreement(mut self, refuses: bool) -> AnswerAgreement {
        if refuses && 2.0 * self.kept <= self.wanted {
            return AnswerAgreement::new(0.0, "says that it was not done".to_owned());
        }
        self.reasons.append(&mut self.missing);
        self.reasons.truncate(MOST_REASONS);
        let score = if self.wanted > 0.0 {
            Some(self.kept / self.wanted * CONTRADICTION.powi(self.contradictions))
        } else {
            (self.contradictions > 0).then_some(0.0)
        };
        AnswerAgreement { score, reasons: self.reasons }
    }
}
