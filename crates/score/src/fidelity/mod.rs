//! Argument fidelity: how far the arguments of two calls of one tool ask for the same, and which of them does not.
//!
//! The paper's similarity embeds all arguments as one text, to which a longitude and its negative look alike. Here each
//! value is compared as what it is:
//!
//! ```text
//! arguments x 2 -> align (keys, items of lists) -> readers, else text -> evidence -> model -> CallFidelity
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | `align` | which values are compared with each other; which are missing or extra |
//! | `name` | what the name of an argument says of its value |
//! | `language` | folding of case, accents and spaces, kinds of words, numbers in words |
//! | `readers` | single values, each by the first reader in one table that can read both |
//! | `text` | free text: words aligned by spelling, lexicon and embeddings |
//! | `words` | the cosines of words, of many calls at once |
//! | `comparer`, `comparison_cache` | many pairs of calls at once, on all cores; each is compared once and kept |
//! | `evidence`, `model` | the evidence of how two values differ, and the probability that they ask for the same |
//! | `rules_version` | the version of the rules, under which comparisons are kept |
//! | `regions` | how far the regions of pictures overlap, beside the fidelity |
//! | `answers` | pairs that are in doubt, and a judge's answers about them |
//! | [`constants`] | numbers that were chosen or fitted and are used in several places |
//! | [`place`] | the value that a JSON pointer leads to, for showing a comparison |
//!
//! `docs/fidelity.md` explains it with examples and says what it reaches.

mod align;
mod answers;
mod comparer;
mod comparison_cache;
pub mod constants;
mod evidence;
mod file_words;
mod language;
pub mod model;
mod name;
pub mod place;
mod readers;
mod regions;
mod rules_version;
#[cfg(test)]
mod tests;
mod text;
mod words;

use std::borrow::Cow;

pub(crate) use align::may_be_split;
pub use answers::{
    Answers, DoubtfulPair, DoubtfulPairs, SAID_DIFFERENT, SAID_SAME, is_moved, said_reason, said_score,
    said_verdict,
};
pub use comparer::Fidelity;
pub use evidence::Evidence;
pub(crate) use file_words::{LOSS, file_words, is_of_loss, without_signs};
use m3_trajectory::json::Json;
pub use regions::{RegionOverlap, Regions};
use serde::{Deserialize, Serialize};

/// Two calls of one tool; missing arguments are an empty object.
#[derive(Debug, Clone, Copy)]
pub struct CallPair<'c> {
    /// The tool of both calls.
    pub tool: &'c str,
    /// The arguments of the first call, the reference.
    pub a: Option<&'c Json>,
    /// The arguments of the second call, the prediction.
    pub b: Option<&'c Json>,
    /// The user's question, where it is known.
    pub question: Option<&'c str>,
    /// The schema of the tool's arguments, where it is not that of the catalog.
    pub schema: Option<&'c Json>,
}

/// The kind of value that an argument is compared as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
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
    /// A name or code that a standard lists: a country, a currency, a time zone.
    Standard,
    /// A colour.
    Color,
    /// A password, a pattern or a program, in which every sign counts.
    Verbatim,
    /// An identifier or a code.
    Code,
    /// A path or the name of a file.
    Path,
    /// A URL.
    Url,
    /// A mail address.
    Contact,
    /// An address or the name of a place.
    Place,
    /// A file that a call reads, by which call made it.
    Made,
    /// The name of a file that a call writes, where it matters: the question asks for it, or it is the task's image.
    Written,
    /// Free text.
    Text,
    /// A list, where its items are not compared one by one.
    List,
    /// An object, where its members are not compared one by one.
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
            Self::Standard => "standard",
            Self::Color => "color",
            Self::Verbatim => "verbatim",
            Self::Code => "code",
            Self::Path => "path",
            Self::Url => "url",
            Self::Contact => "contact",
            Self::Place => "place",
            Self::Made => "made",
            Self::Written => "written",
            Self::Text => "text",
            Self::List => "list",
            Self::Object => "object",
            Self::Null => "null",
        }
    }
}

/// The result of comparing an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Verdict {
    /// Equal as JSON, numbers by value.
    Equal,
    /// Another writing of one value.
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
    /// The verdict of two values with this score; equal, missing and extra ones keep their verdict.
    fn by_score(self, score: f64) -> Self {
        match self {
            Self::Equivalent | Self::Close | Self::Different => match score {
                constants::EQUIVALENT.. => Self::Equivalent,
                constants::CLOSE.. => Self::Close,
                _ => Self::Different,
            },
            other => other,
        }
    }

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
    /// The place in the first call's arguments (in the second's, for an extra one), as a JSON pointer.
    pub path: String,
    /// The place in the second call's arguments, if it differs: items of sets are paired wherever they are.
    pub other_path: Option<String>,
    /// The kind of value that the argument is compared as.
    pub kind: Kind,
    /// How far both say the same, in [0, 1]; 1 for equal values only.
    pub score: f64,
    /// The result of the comparison.
    pub verdict: Verdict,
    /// The reason, in a few words. It may quote untrusted values: show it through [`m3_support::text::visible`].
    pub reason: Cow<'static, str>,
}

/// The most characters of a key in a name.
const LONGEST_KEY: usize = 200;

impl ArgumentComparison {
    /// Whether the values are equal as written. Values also count as equal if each names the file, or the value, that
    /// two matched calls made; this is then false.
    pub(crate) fn is_as_written(&self) -> bool {
        self.verdict == Verdict::Equal && self.reason == EQUAL
    }

    /// The argument's name without indices in lists: `location.lat`, `stops[].name`; empty for the arguments as a
    /// whole.
    #[must_use]
    pub fn name(&self) -> String {
        place::name_of(&self.path, |_| "[]".to_owned(), LONGEST_KEY)
    }
}

/// The reason of values that are equal as they stand.
const EQUAL: &str = "equal";

/// How far two calls of one tool ask for the same.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFidelity {
    /// The score, in [0, 1]: of pairs of such calls in the data of the calibration, the share that asks for the same; 1
    /// for equal arguments only.
    pub score: f64,
    /// The arguments: one entry for each that is equal, and one for each value in it that is not.
    pub arguments: Vec<ArgumentComparison>,
    /// The evidence of the arguments that no rule settles, in their order, if it was asked for.
    pub evidence: Vec<Evidence>,
    /// The least score of the arguments that a rule settles, in [0, 1]; 1 where there are none, or no evidence was
    /// asked for. An argument that orders or narrows the request has the score of its rule here, and half the model's
    /// probability in `score`. Both are below the threshold, so a call with such an argument is never accepted.
    pub settled: f64,
    /// The overlap of regions of pictures in the arguments; not a part of the score.
    pub regions: Regions,
}

/// The fidelity of calls without arguments.
impl Default for CallFidelity {
    fn default() -> Self {
        let (arguments, evidence, regions) = (Vec::new(), Vec::new(), Regions::default());
        Self { score: 1.0, arguments, evidence, settled: 1.0, regions }
    }
}

impl CallFidelity {
    /// A call is as right as its least probable argument.
    fn new(arguments: Vec<ArgumentComparison>, regions: Regions) -> Self {
        let score = arguments.iter().map(|argument| argument.score).fold(1.0, f64::min);
        Self { score, arguments, regions, ..Self::default() }
    }

    /// The argument with the lowest score, if one scores less than 1.
    #[must_use]
    pub fn worst(&self) -> Option<&ArgumentComparison> {
        self.worst_index().map(|index| &self.arguments[index])
    }

    /// The index of the argument with the lowest score.
    fn worst_index(&self) -> Option<usize> {
        let harmful = self.arguments.iter().enumerate().filter(|(_, argument)| argument.score < 1.0);
        // Of several with the same score, this is the first.
        harmful.min_by(|(_, a), (_, b)| a.score.total_cmp(&b.score)).map(|(index, _)| index)
    }
}

/// The result of comparing two values.
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
        Self { kind, score, verdict: Verdict::Different.by_score(score), reason: reason.into() }
    }

    /// A finding with one of two reasons: for another writing of one value, or for values with nothing in common.
    fn same_or_not(kind: Kind, is_same: bool, [same, other]: [&'static str; 2]) -> Self {
        let (score, reason) =
            if is_same { (constants::SAME_OTHERWISE, same) } else { (constants::NOTHING, other) };
        Self::new(kind, score, reason)
    }

    /// Turns the finding into a comparison of the argument at a JSON pointer.
    fn at(self, path: &str) -> ArgumentComparison {
        let Self { kind, score, verdict, reason } = self;
        ArgumentComparison { path: path.to_owned(), other_path: None, kind, score, verdict, reason }
    }

    fn equal(kind: Kind) -> Self {
        Self { kind, score: 1.0, verdict: Verdict::Equal, reason: Cow::Borrowed(EQUAL) }
    }
}
