//! Constants of the fidelity, with their reason or the fit that made them. `docs/fidelity.md` says how they
//! were chosen and what they reach.

/// The recommended threshold: the errors of both kinds are balanced over the sources that the model was made from.
pub const THRESHOLD: f64 = 0.5;

/// The least score of two values that are called equivalent: they say the same in another way.
pub const EQUIVALENT: f64 = 0.9;

/// The least score of two values that are called close; those below are different.
pub const CLOSE: f64 = 0.5;

/// The score of another writing of the same value. Only what is equal as JSON scores 1.
pub const SAME_OTHERWISE: f64 = 0.97;

/// The score of values that have nothing in common.
pub const NOTHING: f64 = 0.02;

// Combination.

/// The power of losses when lists are aligned: with 4 the worst difference decides, and many small ones cost little.
pub const NORM: i32 = 4;

// Absent arguments.

/// Null on one side and nothing on the other.
pub const NULL_OR_ABSENT: f64 = 0.97;

/// The default of the schema on one side and nothing on the other.
pub const DEFAULT_OR_ABSENT: f64 = 0.96;

/// An empty text, list or object, or `false`, and nothing on the other side.
pub const EMPTY_OR_ABSENT: f64 = 0.9;

/// A value that most tools have as their default, such as the first page, on one side and nothing on the other, where no
/// schema says what the default is.
pub const USUAL_OR_ABSENT: f64 = 0.75;

/// A member that the schema does not know, which most tools ignore.
pub const UNKNOWN_MEMBER: f64 = 0.7;

/// An optional member with content, which only one side has.
pub const OPTIONAL_OR_ABSENT: f64 = 0.3;

/// The factor for the probability of a sort order, a number of rooms or persons, or a filter that one call lacks and
/// the question does not ask for: never accepted, but likelier ones still have a higher score.
pub const ORDERED_OR_ABSENT: f64 = 0.5;

/// A required member, which only one side has.
pub const REQUIRED_OR_ABSENT: f64 = 0.03;

// Numbers.

/// The score of a relative difference, linear in its logarithm between the points: rounding to three or more digits
/// leaves the same number, a few percent make another one.
pub const RELATIVE_DIFFERENCE: [(f64, f64); 6] =
    [(1e-5, 0.97), (1e-3, 0.93), (1e-2, 0.72), (3e-2, 0.45), (0.1, 0.2), (0.5, 0.03)];

/// Whole numbers below this are counts, where one more is another count.
pub const LEAST_MEASURE: f64 = 100.0;

/// The score of another count.
pub const OTHER_COUNT: f64 = 0.05;

/// The least digits of a number that is taken for another one rounded: 12300 for 12345, but not 12000, which may as
/// well be a number of its own.
pub const LEAST_DIGITS: usize = 3;

/// The relative difference below which numbers with fractions are the same in other digits, whether rounded or not.
pub const UNROUNDED: f64 = 1e-3;

/// The score of quantities with the same number, of which only one has a unit.
pub const UNIT_SAID_ONCE: f64 = 0.7;

// Codes. Another date, address, number or choice scores NOTHING: of such training pairs with a question, one in thirty
// is the same. Codes and formulas can be the same in writings that no reader knows, so the trees must distinguish them.

/// Another code: of 214 such pairs with a question, 36 are the same.
pub const OTHER_CODE: f64 = 0.08;

/// Another pattern, password, branch or notation of chemistry: of 14 such pairs with a question, 3 are the same.
pub const OTHER_NOTATION: f64 = 0.06;

/// Another formula, which may compute the same: of 51 such pairs with a question, 27 are the same.
pub const OTHER_FORMULA: f64 = 0.25;

/// Identifiers of the same words that are joined by other signs: some tools take `sales_db` and `sales-db` for one, others not.
pub const JOINED_OTHERWISE: f64 = 0.6;

/// Codes of which only one gives its origin: `10.1038/nature14539` and `https://doi.org/10.1038/nature14539`.
pub const ORIGIN_SAID_ONCE: f64 = 0.8;

// Positions.

/// Difference in degrees against score: five digits are a metre, 0.001 degrees a block, 0.1 degrees another town.
pub const DEGREES: [(f64, f64); 6] =
    [(1e-5, 0.97), (1e-4, 0.96), (1e-3, 0.88), (1e-2, 0.55), (0.1, 0.2), (1.0, 0.03)];

/// Difference of a box's side as a share of the smaller box's side, against score: people and detectors draw the same
/// box a few percent apart. 0.1 on all four sides is an overlap (intersection over union) of about two thirds.
pub const BOX_SHIFT: [(f64, f64); 5] = [(0.002, 0.97), (0.02, 0.92), (0.06, 0.7), (0.12, 0.4), (0.4, 0.03)];

/// The least size of a point in a picture, in pixels: markers and letters are some dozen pixels large.
pub const POINT_SIZE: f64 = 40.0;

/// The size of a point as a share of its picture: taps no farther from each other count as the same in Android in the Wild
/// (Rawles et al. 2023).
pub const POINT_SHARE: f64 = 0.14;

/// The best score of the sides of two regions, by their overlap (intersection over union): 0.9 is what people draw
/// around one thing, and at 0.5 a third of each of two equal regions lies outside the other.
pub const OVERLAP: [(f64, f64); 6] =
    [(0.3, 0.02), (0.5, 0.2), (0.7, 0.5), (0.8, 0.75), (0.9, 0.92), (0.97, 0.97)];

// Texts.

/// The most words of a text that are compared. In longer texts, the common start and end are left out first; if the
/// rest is still longer, the texts score [`TOO_LONG`] at best.
pub const MAX_WORDS: usize = 512;

/// The best score of texts that are too long to be compared as wholes: not accepted.
pub const TOO_LONG: f64 = 0.4;

/// The most left-over words of a text that are compared by meaning.
pub const MAX_LEFT_OVER: usize = 48;

/// The most words of a text in which names of several words are looked up; longer ones are compared word by word.
pub const MAX_NAMED: usize = 64;

/// The most left-over words of both sides while names are looked up; with more the texts have little in common.
pub const MAX_LEFT_NAMED: usize = 24;

/// Texts longer than this are cut before they are compared, in bytes.
pub const MAX_TEXT: usize = 1 << 16;

/// The bytes of two values that are embedded with their argument's name, from a little before where they begin to
/// differ: more of them changed no figure, and the encoder's time grows with their length.
pub const MAX_EMBEDDED: usize = 300;

/// The weight of words that only hold a sentence together.
pub const FUNCTION_WORD: f64 = 0.01;

/// The weight of words that ask for something rather than say what is asked for.
pub const REQUEST_WORD: f64 = 0.04;

/// Cosine of two words' embeddings against how far they mean the same, where the thesaurus does not know both: about a
/// third of synonyms have 0.8 or more, but only a few names of one kind. Values below a half reject, and rank what is
/// rejected.
pub const WORD_COSINE: [(f64, f64); 5] = [(0.2, 0.0), (0.68, 0.35), (0.78, 0.5), (0.86, 0.75), (0.95, 0.95)];

/// Cosine of two words where the thesaurus knows both and does not say that they are opposites or two of one kind: of 60 such
/// synonyms a half have 0.62 or more, of different words that do not look alike a seventh.
pub const KNOWN_WORD_COSINE: [(f64, f64); 5] =
    [(0.2, 0.0), (0.58, 0.35), (0.66, 0.55), (0.8, 0.75), (0.95, 0.9)];

/// Cosine of two words of nearly one kind, such as `violin` and `piano`, or of which one is a name.
pub const COUSIN_COSINE: [(f64, f64); 3] = [(0.3, 0.0), (0.8, 0.3), (0.95, 0.6)];

/// Cosine of two words of texts that are not English, of which the thesaurus and the encoder know little.
pub const FOREIGN_WORD_COSINE: [(f64, f64); 4] = [(0.66, 0.0), (0.76, 0.45), (0.84, 0.75), (0.95, 0.95)];

/// The least similarity of spelling (1 less the share of letters that differ) at which two known words look alike.
pub const LOOK_ALIKE: f64 = 0.5;

/// The least cosine of synonyms among words that share only a rare sense; words of one field have 0.3 to 0.5.
pub const RARE_SENSE: f64 = 0.45;

/// The least cosine at which the encoder reads two texts as the same: if they differ, it cannot read them.
pub const UNREADABLE: f64 = 0.99999;

/// How far words with a letter more, less or changed mean the same.
pub const MISSPELT: f64 = 0.75;

/// How far forms of a word mean the same, such as `drive` and `driving`.
pub const INFLECTED: f64 = 0.85;

/// How far a word and its synonym in the lexicon mean the same.
pub const SYNONYM: f64 = 0.9;

/// The weight of words that another word of the same text says already, such as `fish` of `tuna fish`.
pub const IMPLIED: f64 = 0.2;

/// The most left-over words of one text that other words may imply; if there are more, none counts as implied.
pub const MOST_IMPLIED: usize = 4;

/// The weight of left-over content that halves the score of a short text.
pub const HALVING_LOSS: f64 = 0.62;

/// Longer texts bear more: the loss that halves grows with the number of words over [`SHORT_TEXT`] to this power.
pub const LENGTH_POWER: f64 = 0.25;

/// The number of content words of a short text.
pub const SHORT_TEXT: f64 = 8.0;

/// The score of texts where origin and destination, or the things that numbers count, have changed places.
pub const EXCHANGED: f64 = 0.08;

// Bounds.

/// The greatest depth of values that are compared; deeper ones are either equal or different.
pub const MAX_DEPTH: usize = 48;

/// The most values that are compared in one pair of calls; further ones are either equal or different.
pub const MAX_VALUES: usize = 1024;

/// The most cosines of words in one pair of calls; further words are compared by spelling and lexicon.
pub const MAX_ASKED: usize = 65_536;

/// The most pairs of items that are tried when two lists are aligned; longer lists are compared in their order.
pub const MAX_ITEM_PAIRS: usize = 1024;

/// The most values that are compared while pairs of items are tried, words of texts included; lists with more are
/// compared in their order.
pub const MAX_ITEM_VALUES: usize = 1 << 18;

/// The value of a curve at `x`: linear between its points, constant beyond its ends. The `x` of its points rise.
pub(super) fn on_curve(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < x);
    match (after.checked_sub(1).and_then(|before| curve.get(before)), curve.get(after)) {
        (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some(&(_, y))) | (Some(&(_, y)), None) => y,
        (None, None) => 0.0,
    }
}

/// The value of a curve at `x`, straight in the logarithm of `x` between its points: for differences.
pub(super) fn on_log_curve(curve: &[(f64, f64)], x: f64) -> f64 {
    let after = curve.partition_point(|point| point.0 < x);
    match (after.checked_sub(1).and_then(|before| curve.get(before)), curve.get(after)) {
        (Some(&(x0, y0)), Some(&(x1, y1))) => y0 + (y1 - y0) * (x / x0).ln() / (x1 / x0).ln(),
        (None, Some(&(_, y))) | (Some(&(_, y)), None) => y,
        (None, None) => 0.0,
    }
}
