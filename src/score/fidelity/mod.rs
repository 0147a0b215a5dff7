//! Argument fidelity: how far the arguments of two calls of one tool ask for the same, and which of them does not.
//!
//! The paper's similarity embeds all arguments as one text, to which a longitude and its negative look alike. Here each
//! value is compared as what it is:
//!
//! ```text
//! arguments x 2 -> align (keys, items of lists) -> kind of each value -> comparison -> ArgumentComparison
//!                                                                                  -> combine -> CallFidelity
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | `align`, `lists` | who is compared with whom; what is missing or extra |
//! | `name`, `leaf` | what kind a value is, by its schema, its name, its writing |
//! | `number`, `degrees`, `moment`, `instant`, `quantity`, `code`, `location`, `color`, `expression`, `sql`, `source`, `notation`, `numeral`, `identifier`, `standard` | comparisons by kind |
//! | `text` | free text: words aligned by spelling, lexicon and embeddings |
//! | `words` | the cosines of words, of many calls at once |
//! | `weights`, `combine` | from arguments to the call |
//! | `findings` | from calls to a set: what is wrong most often |
//! | [`constants`] | every number that was chosen or fitted |
//!
//! `docs/fidelity.md` explains it with examples and says what it reaches.

mod align;
mod code;
mod color;
mod combine;
pub mod constants;
mod degrees;
mod expression;
mod findings;
mod identifier;
mod instant;
mod leaf;
mod lists;
mod location;
mod moment;
mod name;
mod notation;
mod number;
mod numeral;
mod quantity;
mod source;
mod sql;
mod standard;
#[cfg(test)]
mod tests;
mod text;
mod units;
mod vocabulary;
mod weights;
mod words;

use std::borrow::Cow;

use crate::encoder::{Embedder, EncoderError};
use crate::trajectory::catalog::Catalog;
use crate::trajectory::json::Json;

use align::Alignment;
pub use findings::{Findings, RejectedMatch, WrongArgument};
pub use weights::Weights;
use words::Words;

/// What an argument is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A number.
    Number,
    /// A latitude or longitude, in degrees.
    Coordinate,
    /// A side of a box, in pixels or whatever the other sides are in.
    BoxSide,
    /// A date, a time of day, or both.
    Moment,
    /// A duration, or a number with a unit.
    Quantity,
    /// True or false.
    Boolean,
    /// One of some choices.
    Choice,
    /// An identifier or a code.
    Code,
    /// A path or the name of a file.
    Path,
    /// A URL.
    Url,
    /// An address or the name of a place.
    Place,
    /// Free text.
    Text,
    /// A list, where its items are not compared one by one.
    List,
    /// An object, likewise.
    Object,
    /// Null.
    Null,
}

impl Kind {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Coordinate => "coordinate",
            Self::BoxSide => "box_side",
            Self::Moment => "moment",
            Self::Quantity => "quantity",
            Self::Boolean => "boolean",
            Self::Choice => "choice",
            Self::Code => "code",
            Self::Path => "path",
            Self::Url => "url",
            Self::Place => "place",
            Self::Text => "text",
            Self::List => "list",
            Self::Object => "object",
            Self::Null => "null",
        }
    }
}

/// What became of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// Equal as JSON, numbers by value.
    Equal,
    /// The same in another writing.
    Equivalent,
    /// Nearly the same.
    Close,
    /// Another value.
    Different,
    /// The first call has it and the second does not.
    Missing,
    /// The second call has it and the first does not.
    Extra,
}

impl Verdict {
    /// The name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "equal",
            Self::Equivalent => "equivalent",
            Self::Close => "close",
            Self::Different => "different",
            Self::Missing => "missing",
            Self::Extra => "extra",
        }
    }
}

/// An argument, or a value within one, of both calls.
#[derive(Debug, Clone, PartialEq)]
pub struct ArgumentComparison {
    /// Where it is in the first call's arguments (in the second's, where it is extra), as a JSON pointer.
    pub path: String,
    /// What it is compared as.
    pub kind: Kind,
    /// How far both say the same, in [0, 1]; 1 for equal values only.
    pub score: f64,
    /// What became of it.
    pub verdict: Verdict,
    /// Why, in a few words. Hostile where it quotes a value: show it through [`crate::text::visible`].
    pub reason: Cow<'static, str>,
    /// How much it weighs in the call, in (0, 1].
    pub weight: f64,
}

impl ArgumentComparison {
    /// Its name without the places of items in lists: `location.lat`, `stops[].name`; empty for the arguments as a whole.
    #[must_use]
    pub fn name(&self) -> String {
        let mut name = String::new();
        for segment in self.path.split('/').skip(1) {
            if !segment.is_empty() && segment.bytes().all(|byte| byte.is_ascii_digit()) {
                name.push_str("[]");
                continue;
            }
            if !name.is_empty() {
                name.push('.');
            }
            name.push_str(&segment.replace("~1", "/").replace("~0", "~"));
        }
        name
    }
}

/// How far two calls of one tool ask for the same.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFidelity {
    /// In [0, 1]: the share of pairs of such calls that mean the same, by the data it was calibrated on; 1 for equal
    /// arguments only.
    pub score: f64,
    /// The arguments: one entry for each that is equal, and one for each value in it that is not.
    pub arguments: Vec<ArgumentComparison>,
}

impl CallFidelity {
    /// The argument that does most harm, if any does.
    #[must_use]
    pub fn worst(&self) -> Option<&ArgumentComparison> {
        let harm = |argument: &ArgumentComparison| argument.weight * (1.0 - argument.score);
        let harmful = self.arguments.iter().filter(|argument| harm(argument) > 0.0);
        // The first of several.
        harmful.rev().max_by(|a, b| harm(a).total_cmp(&harm(b)))
    }
}

/// Two calls of one tool; missing arguments are an empty object.
#[derive(Debug, Clone, Copy)]
pub struct CallPair<'c> {
    /// The tool of both.
    pub tool: &'c str,
    /// The arguments of the first, the reference.
    pub a: Option<&'c Json>,
    /// The arguments of the second, the prediction.
    pub b: Option<&'c Json>,
}

/// Compares arguments. Deterministic: the same calls, catalog and encoder give the same numbers on any machine,
/// whatever is compared beside them.
///
/// [`Fidelity::compare_all`] is what scores are made of. [`Fidelity::compare`] knows of words only their spelling and
/// the lexicon.
///
/// ```
/// use m3::score::fidelity::{CallPair, Fidelity, Verdict};
/// use m3::trajectory::json::parse;
///
/// let json = |text: &str| parse(text.as_bytes()).unwrap().0;
/// let fidelity = Fidelity::new(None);
/// let (a, b) = (json(r#"{"lat": 52.08, "lng": 4.31}"#), json(r#"{"lat": 52.08, "lng": -4.31}"#));
/// let found = fidelity.compare(CallPair { tool: "air/conditions", a: Some(&a), b: Some(&b) });
/// assert!(found.score < 0.1);
/// assert_eq!(found.worst().unwrap().path, "/lng");
/// assert_eq!(found.worst().unwrap().verdict, Verdict::Different);
/// ```
#[derive(Debug, Default)]
pub struct Fidelity<'a> {
    catalog: Option<&'a Catalog>,
    weights: Option<&'a Weights>,
    words: Words,
}

/// Pairs of words that are looked up together.
const WORDS_AT_ONCE: usize = 8192;

/// Progress is told after so many pairs.
const PROGRESS_EVERY: usize = 256;

impl<'a> Fidelity<'a> {
    /// With a catalog, kinds, defaults and what is required are known from the tools' schemas.
    #[must_use]
    pub fn new(catalog: Option<&'a Catalog>) -> Self {
        Self { catalog, ..Self::default() }
    }

    /// The same with what is known of which arguments vary. Without, no argument is a constant.
    #[must_use]
    pub fn weighted_by(self, weights: &'a Weights) -> Self {
        Self { weights: Some(weights), ..self }
    }

    /// Compares `count` pairs and hands each to `found` with its index, in an order that means nothing. Those whose words
    /// need embeddings are compared a second time, when their words are known. `progress` is told how many of how many
    /// are done.
    ///
    /// # Errors
    /// [`EncoderError`].
    pub fn compare_all<'c>(
        &mut self,
        count: usize,
        pair: &dyn Fn(usize) -> CallPair<'c>,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize, usize),
        found: &mut dyn FnMut(usize, CallFidelity),
    ) -> Result<(), EncoderError> {
        let mut open = Vec::new();
        for index in 0..count {
            let compared = self.compare(pair(index));
            if self.words.is_open() {
                open.push(index);
            } else {
                found(index, compared);
            }
            if self.words.wanted() >= WORDS_AT_ONCE || index + 1 == count {
                let done = index + 1 - open.len();
                self.words
                    .learn(embedder, &mut |part, of| progress(done + open.len() * part / of.max(1), count))?;
                open.drain(..).for_each(|index| found(index, self.compare(pair(index))));
            }
            if index.is_multiple_of(PROGRESS_EVERY) {
                progress(index - open.len().min(index), count);
            }
        }
        Ok(())
    }

    /// Compares one pair.
    #[must_use]
    pub fn compare(&self, pair: CallPair<'_>) -> CallFidelity {
        self.words.begin();
        let none = Json::Object(Vec::new());
        let (a, b) = (pair.a.unwrap_or(&none), pair.b.unwrap_or(&none));
        let mut arguments = Alignment::of(self.catalog, &self.words, pair.tool, a, b);
        if let Some(weights) = self.weights {
            for argument in &mut arguments {
                argument.weight *= weights.weight(pair.tool, &argument.path);
            }
        }
        let score = combine::combine(&arguments);
        CallFidelity { score, arguments }
    }
}

/// What comes of the comparison of two values.
#[derive(Debug, Clone, PartialEq)]
struct Finding {
    kind: Kind,
    score: f64,
    verdict: Verdict,
    reason: Cow<'static, str>,
}

impl Finding {
    /// A finding whose verdict follows from the score; values that are not equal never score 1.
    fn new(kind: Kind, score: f64, reason: impl Into<Cow<'static, str>>) -> Self {
        let score = if score.is_finite() { score.clamp(0.0, constants::SAME_OTHERWISE) } else { 0.0 };
        let verdict = if score >= constants::EQUIVALENT {
            Verdict::Equivalent
        } else if score >= constants::CLOSE {
            Verdict::Close
        } else {
            Verdict::Different
        };
        Self { kind, score, verdict, reason: reason.into() }
    }

    fn equal(kind: Kind) -> Self {
        Self { kind, score: 1.0, verdict: Verdict::Equal, reason: Cow::Borrowed("equal") }
    }

    fn absent(kind: Kind, score: f64, verdict: Verdict, reason: &'static str) -> Self {
        Self { kind, score, verdict, reason: Cow::Borrowed(reason) }
    }
}
