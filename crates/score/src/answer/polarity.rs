//! Whether a reply says yes or no, denies what the reference says, or says that the job was not done.

use super::contexts::{Contents, common};
use super::tokens::{Break, Kind, Token};
use super::words::{begins_with_refusal, is_in};

/// The least likeness of two sentences that say the same, or the contrary.
const SAME_SENTENCE: f64 = 0.6;

/// How much more alike the contrary must be than a sentence that says the same.
const MARGIN: f64 = 0.1;

/// The most sentences that are compared.
const MOST_SENTENCES: usize = 400;

/// The first words of a sentence among which a refusal may begin.
const REFUSED_BY: usize = 6;

/// A sentence: its words in any order, and the number of its denials.
struct Sentence<'a> {
    tokens: &'a [Token],
    /// The words with content and their weights, in the order of the words' numbers.
    words: Vec<(u32, f64)>,
    denials: usize,
}

/// The first sentence of the reference that the reply contradicts, and the sentence of the reply that does.
pub(super) fn contrary<'a>(
    [reference, reply]: [&'a [Token]; 2],
    [wanted, said]: &[Contents; 2],
) -> Option<(&'a [Token], &'a [Token])> {
    let theirs = sentences(reply, said);
    sentences(reference, wanted).iter().filter(|our| !our.words.is_empty()).find_map(|our| {
        let (mut same, mut other) = (0.0, (0.0, None));
        for their in &theirs {
            // One common word is not enough: it may name many things.
            if common(&our.words, &their.words).count() < our.words.len().max(their.words.len()).min(2) {
                continue;
            }
            let alike = alike(&our.words, &their.words);
            if their.denials == our.denials {
                same = f64::max(same, alike);
            } else if alike > other.0 {
                other = (alike, Some(their));
            }
        }
        let is_contrary = other.0 >= SAME_SENTENCE && other.0 > same + MARGIN;
        other.1.filter(|_| is_contrary).map(|their| (our.tokens, their.tokens))
    })
}

fn sentences<'a>(tokens: &'a [Token], contents: &Contents) -> Vec<Sentence<'a>> {
    let sentences = tokens.chunk_by(|_, next| next.gap < Break::Sentence).take(MOST_SENTENCES);
    let mut begin = 0;
    sentences
        .map(|tokens| {
            let of_sentence = &contents[begin..begin + tokens.len()];
            begin += tokens.len();
            let mut words: Vec<(u32, f64)> = of_sentence.iter().flatten().copied().collect();
            words.sort_unstable_by_key(|(word, _)| *word);
            words.dedup_by_key(|(word, _)| *word);
            Sentence { tokens, words, denials: denials(tokens) }
        })
        .collect()
}

/// How many words deny; `No. 5` and `No:5` do not.
fn denials(tokens: &[Token]) -> usize {
    let is_number = |at: usize| tokens.get(at + 1).is_some_and(|next| next.kind == Kind::Number);
    let denies = |at: usize| is_in("not", &tokens[at].text) && !(tokens[at].text == "no" && is_number(at));
    (0..tokens.len()).filter(|&at| denies(at)).count()
}

/// The weight of the common words, as a share of the mean weight of both, in [0, 1].
fn alike(a: &[(u32, f64)], b: &[(u32, f64)]) -> f64 {
    let weight = |words: &[(u32, f64)]| words.iter().map(|(_, weight)| weight).sum::<f64>();
    let both = common(a, b).fold(0.0, |sum, (weight, _)| sum + weight);
    let all = weight(a) + weight(b);
    if all > 0.0 { 2.0 * both / all } else { 0.0 }
}

/// Whether the reply begins with yes or no.
pub(super) fn yes_or_no(tokens: &[Token]) -> Option<bool> {
    let first = tokens.first()?;
    // `No diet Pepsi is there` is not an answer to a question.
    let is_alone = tokens.get(1).is_none_or(|next| next.gap >= Break::Comma);
    match () {
        () if is_in("yes", &first.text) => Some(true),
        () if is_in("no", &first.text) && is_alone => Some(false),
        () => None,
    }
}

/// Whether a reply denies anything in its first sentence.
pub(super) fn denies(tokens: &[Token]) -> bool {
    let first = tokens.chunk_by(|_, next| next.gap < Break::Sentence).next().unwrap_or_default();
    denials(first) > 0
}

/// Whether a reply says in its first two sentences that the job was not done.
pub(super) fn refuses(tokens: &[Token]) -> bool {
    let mut sentences = tokens.chunk_by(|_, next| next.gap < Break::Sentence).take(2);
    sentences
        .any(|sentence| (0..sentence.len().min(REFUSED_BY)).any(|at| begins_with_refusal(&sentence[at..])))
}
