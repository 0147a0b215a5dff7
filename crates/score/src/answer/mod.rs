//! How well a reply agrees with the reference's reply, without any model. `docs/answers.md` explains what is compared
//! and what the comparison cannot see.
//!
//! The steps, a file each: `tokens` (one spelling), `values` (numbers, days, codes, names; with `numbers`, `dates`),
//! `places` (which values the reply has, and which it replaces by others; with `contexts`), `polarity` (yes, no, not,
//! and refusals).

mod choice;
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

use contexts::{Contents, contents};
use places::{Fate, Side, fates};
use polarity::{contrary, denies, refuses, yes_or_no};
use tokens::{Token, tokens};
use values::{Content, Value, mentions, values};
use words::{is_in, stem};

/// The most bytes of a reply that are read.
const MOST_READ: usize = 65_536;

/// The most values of a reference that are looked for.
const MOST_VALUES: usize = 200;

/// The most values of a reply that are searched.
const MOST_SAID: usize = 2000;

/// The weight of a value that the question has already; a new value has the weight 1.
const GIVEN: f64 = 0.25;

/// The factor of the score for each contradiction.
const CONTRADICTION: f64 = 0.5;

/// The most words with content in a reference without values, so that each word counts as a value.
const LONGEST_TEXT: usize = 4;

/// The most reasons that are given.
const MOST_REASONS: usize = 5;

/// The most words of a sentence that a reason shows.
const LONGEST_SHOWN: usize = 12;

/// The result of the comparison of two replies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerAgreement {
    /// How far the reply agrees, in [0, 1]: the share of the reference's values that it has, halved by each contradiction. `None`
    /// if nothing can be said: the reference is prose without values, or only says that the job was done.
    pub score: Option<f64>,
    /// What is missing or contradicts the reference, in words: `says 14.2 km, not 12.4 km`. The first five.
    pub reasons: Vec<String>,
}

impl AnswerAgreement {
    fn new(score: f64, reason: impl Into<Option<String>>) -> Self {
        Self { score: Some(score), reasons: reason.into().into_iter().collect() }
    }
}

/// How well a reply agrees with the reference's reply. Values that the question has already count less. Only the first
/// 64 KiB of each text and the first 200 values of the reference count. A blank reference leaves nothing to compare.
#[must_use]
pub fn answer_agreement(predicted: Option<&str>, reference: &str, question: Option<&str>) -> AnswerAgreement {
    let read = |text: &str| tokens(m3_support::text::head(text, MOST_READ));
    let reference = read(reference);
    if reference.is_empty() {
        return AnswerAgreement::default();
    }
    let reply = read(predicted.unwrap_or_default());
    if reply.is_empty() {
        return AnswerAgreement::new(0.0, "says nothing".to_owned());
    }
    if only_says_done(&reference) {
        return if refuses(&reply) || denies(&reply) {
            AnswerAgreement::new(0.0, "says that it was not done".to_owned())
        } else {
            AnswerAgreement::default()
        };
    }
    if let Some(letter) = choice::wanted(&reference) {
        return match choice::chosen(&reply) {
            Some(other) if other != letter => {
                AnswerAgreement::new(0.0, format!("chooses {other}, not {letter}"))
            }
            Some(_) => AnswerAgreement::new(1.0, None),
            None => AnswerAgreement::new(0.0, format!("does not choose {letter}")),
        };
    }
    if without_articles(&reference).eq(without_articles(&reply)) {
        return AnswerAgreement::new(1.0, None);
    }
    compare(&reference, &reply, &read(question.unwrap_or_default()))
}

/// Whether a reply says nothing but that the job was done, as any reply may: `Done.`, `The image has been saved.`
fn only_says_done(tokens: &[Token]) -> bool {
    let says = |word: &str| is_in("finished", word);
    tokens.iter().any(|token| says(&token.text))
        && tokens.iter().all(|token| says(&token.text) || is_in("stop", &token.text))
}

fn without_articles(tokens: &[Token]) -> impl Iterator<Item = &str> {
    tokens.iter().map(|token| &*token.text).filter(|word| !is_in("articles", word))
}

fn compare(reference: &[Token], reply: &[Token], question: &[Token]) -> AnswerAgreement {
    let contents = contents(reference, reply);
    let mut tally = Tally::default();
    compare_values(&mut tally, (reference, reply, question), &contents);
    if let Some(is_yes) = yes_or_no(reference)
        && let Some(other) = yes_or_no(reply).or_else(|| denies(reply).then_some(false))
    {
        let reason = if other { "says yes, not no" } else { "says no, not yes" };
        tally.add(1.0, if other == is_yes { Fate::Present } else { Fate::Replaced(0) }, || reason.to_owned());
    }
    if let Some((ours, theirs)) = contrary([reference, reply], &contents) {
        let begin = |tokens: &[Token]| shown(&tokens[..tokens.len().min(LONGEST_SHOWN)]);
        tally.contradict(format!("says `{}`, not `{}`", begin(theirs), begin(ours)));
    }
    tally.agreement(refuses(reply) && !refuses(reference))
}

/// Looks for the reference's values in the reply.
fn compare_values(
    tally: &mut Tally,
    (reference, reply, question): (&[Token], &[Token], &[Token]),
    [wanted, said]: &[Contents; 2],
) {
    let mut ours = values(reference, MOST_VALUES);
    ours.retain(|value| value.is_firm);
    let length = wanted.iter().flatten().count();
    if ours.is_empty() && length <= LONGEST_TEXT {
        ours = each_word(reference, wanted);
    }
    let mut theirs = values(reply, MOST_SAID);
    theirs.extend(mentions(reply, &theirs, &ours, MOST_SAID));
    let in_question = values(question, MOST_SAID);
    let fates = fates(
        Side { tokens: reference, values: &ours, contents: wanted },
        Side { tokens: reply, values: &theirs, contents: said },
    );
    for (value, fate) in ours.iter().zip(fates) {
        let is_given = in_question.iter().any(|other| other.content.is_same(&value.content))
            || places::has(question, &value.content);
        let ours = shown(&reference[value.begin..value.end]);
        tally.add(if is_given { GIVEN } else { 1.0 }, fate, || match fate {
            Fate::Replaced(at) => {
                format!("says {}, not {ours}", shown(&reply[theirs[at].begin..theirs[at].end]))
            }
            _ => format!("does not say {ours}"),
        });
    }
}

/// Each word with content, as a value: for references of a few words.
fn each_word(tokens: &[Token], contents: &Contents) -> Vec<Value> {
    let words = tokens.iter().enumerate().filter(|(at, _)| contents[*at].is_some());
    let content = |token: &Token| Content::Name(vec![stem(&token.text).to_owned()]);
    words
        .map(|(at, token)| Value { content: content(token), begin: at, end: at + 1, is_firm: true })
        .collect()
}

fn shown(tokens: &[Token]) -> String {
    tokens.iter().map(|token| &*token.shown).collect::<Vec<_>>().join(" ")
}

/// The comparison of two replies so far.
#[derive(Default)]
struct Tally {
    /// The weight of all values of the reference.
    all: f64,
    /// The weight of those values that the reply has.
    present: f64,
    contradictions: i32,
    /// Reasons of contradictions, and of missing values.
    reasons: [Vec<String>; 2],
}

impl Tally {
    fn add(&mut self, weight: f64, fate: Fate, reason: impl Fn() -> String) {
        self.all += weight;
        match fate {
            Fate::Present => self.present += weight,
            Fate::Missing => self.reasons[1].push(reason()),
            Fate::Replaced(_) => self.contradict(reason()),
        }
    }

    fn contradict(&mut self, reason: String) {
        self.contradictions += 1;
        self.reasons[0].push(reason);
    }

    fn agreement(self, refuses: bool) -> AnswerAgreement {
        if refuses && 2.0 * self.present <= self.all {
            return AnswerAgreement::new(0.0, "says that it was not done".to_owned());
        }
        let score = if self.all > 0.0 {
            Some(self.present / self.all * CONTRADICTION.powi(self.contradictions))
        } else {
            (self.contradictions > 0).then_some(0.0)
        };
        AnswerAgreement { score, reasons: self.reasons.into_iter().flatten().take(MOST_REASONS).collect() }
    }
}
