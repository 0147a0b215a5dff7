//! A dictionary of English by meaning, from the table of `WordNet` in `models/wordnet`: the senses of a word or a name,
//! and the relation between two senses.
//!
//! The table is searched as it lies in the program, so it costs nothing until a word is looked up. All numbers in it are
//! little-endian, those of synsets have 3 bytes:
//!
//! ```text
//! six u32: how many blocks, bytes of lemmas, bytes of hypernyms, bytes of relations, the first verb, the first name
//! blocks     u32 each: where the first of 16 lemmas begins
//! lemmas     in byte order: letters shared with the one before, further letters, their bytes, how many senses,
//!            each a synset with how usual it is in the bits above the 19 of the synset
//! hypernyms  by synset, 0 where there is none; the highest bit where it is one thing and no kind
//! relations  pairs of synsets in order, the kind in the bits above the 19 of the second
//! ```

use std::cmp::Ordering;
use std::ops::Range;

static TABLE: &[u8] = include_bytes!("../models/wordnet/wordnet.bin");

const HEADER: usize = 24;
const BLOCK: usize = 16;
const SYNSET_BITS: u32 = 19;
const SYNSETS: u32 = (1 << SYNSET_BITS) - 1;

/// The longest lemma that is looked up, in bytes.
const LONGEST: usize = 64;

/// The most hypernyms above a synset that are followed.
const MOST_STEPS: usize = 8;

/// The most hypernyms above each of two words within which cousins have one in common.
const COUSIN_STEPS: usize = 3;

const ANTONYM: u32 = 0;
const DERIVED: u32 = 1;
const SIMILAR: u32 = 2;
const PART: u32 = 3;
const SAYS: u32 = 4;

/// One meaning of a word, and how usual it is, from 3 (half of all uses) to 0 (under a twentieth).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sense {
    /// The number of the synset.
    pub(crate) synset: u32,
    /// How usual the sense is, from 0 to 3.
    pub(crate) share: u32,
}

/// The relation between the senses of two words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// Both words have a sense in common. The number is the sense's share for the word for which it is less usual.
    Same(u32),
    /// Adjectives of one cluster: `cheap` and `affordable`.
    Similar,
    /// One is made from the other: `Japan` and `Japanese`.
    Derived,
    /// Antonyms: `cheap` and `expensive`.
    Opposite,
    /// Two of one kind: `giraffe` and `zebra`.
    Siblings,
    /// Two whose kinds are of one kind: `violin` and `piano`.
    Cousins,
    /// One is a kind of the other: `tuna` and `fish`.
    Broader,
    /// None of these relations.
    Unrelated,
}

fn number<const BYTES: usize>(at: usize) -> u32 {
    let mut number = [0; 4];
    if let Some(bytes) = TABLE.get(at..at + BYTES) {
        number[..BYTES].copy_from_slice(bytes);
    }
    u32::from_le_bytes(number)
}

/// The ranges of the table's parts: lemmas, hypernyms, relations.
fn parts() -> [Range<usize>; 3] {
    let [blocks, lemmas, hypernyms, relations] =
        [0, 4, 8, 12].map(|at| usize::try_from(number::<4>(at)).unwrap_or(0));
    let start = HEADER + 4 * blocks;
    let (middle, end) = (start + lemmas, start + lemmas + hypernyms);
    [start..middle, middle..end, end..end + relations]
}

/// The senses of a lemma: words in lower case with spaces between them, numbers in digits, nothing inflected.
fn senses(lemma: &str) -> Vec<Sense> {
    if lemma.is_empty() || lemma.len() > LONGEST || !lemma.is_ascii() {
        return Vec::new();
    }
    let lemmas = parts()[0].clone();
    let blocks = (lemmas.start - HEADER) / 4;
    let start = |block: usize| lemmas.start + usize::try_from(number::<4>(HEADER + 4 * block)).unwrap_or(0);
    let first_of = |block: usize| {
        let at = start(block);
        let length = usize::from(TABLE.get(at + 1).copied().unwrap_or(0));
        TABLE.get(at + 2..at + 2 + length).unwrap_or_default()
    };
    // The last block whose first lemma is not after the wanted one.
    let (mut low, mut high) = (0, blocks);
    while high - low > 1 {
        let middle = usize::midpoint(low, high);
        if first_of(middle) <= lemma.as_bytes() { low = middle } else { high = middle }
    }
    in_block(start(low), lemmas.end, lemma.as_bytes())
}

/// Reads a block of lemmas from its start up to the wanted one.
fn in_block(mut at: usize, end: usize, wanted: &[u8]) -> Vec<Sense> {
    let byte = |at: usize| usize::from(TABLE.get(at).copied().unwrap_or(0));
    let mut lemma: Vec<u8> = Vec::with_capacity(LONGEST);
    for _ in 0..BLOCK {
        if at >= end {
            break;
        }
        let (shared, more) = (byte(at), byte(at + 1));
        lemma.truncate(shared);
        lemma.extend_from_slice(TABLE.get(at + 2..at + 2 + more).unwrap_or_default());
        let (count, first) = (byte(at + 2 + more), at + 3 + more);
        match lemma.as_slice().cmp(wanted) {
            Ordering::Less => at = first + 3 * count,
            Ordering::Equal => {
                let entries = (0..count).map(|index| number::<3>(first + 3 * index));
                return entries
                    .map(|entries| Sense { synset: entries & SYNSETS, share: entries >> SYNSET_BITS })
                    .collect();
            }
            Ordering::Greater => break,
        }
    }
    Vec::new()
}

/// The senses of a word, or of several words of which the last may be inflected; `irregular` returns the base of an
/// irregular form, and any other word as it is.
pub(crate) fn meanings(words: &str, irregular: impl Fn(&str) -> &str) -> Vec<Sense> {
    let mut all = senses(words);
    let (before, last) = words.rsplit_once(' ').map_or(("", words), |(before, last)| (before, last));
    for base in bases(last, irregular(last)) {
        let more = if before.is_empty() { senses(&base) } else { senses(&format!("{before} {base}")) };
        for sense in more {
            if !all.iter().any(|known| known.synset == sense.synset) {
                all.push(sense);
            }
        }
    }
    all
}

/// The words that an inflected English word may be a form of.
fn bases(word: &str, irregular: &str) -> Vec<String> {
    let mut bases = Vec::new();
    if irregular != word && irregular.len() > 3 {
        bases.push(irregular.to_owned());
    }
    let mut add = |stem: &str, ending: &str| {
        if stem.len() >= 2 {
            bases.push(format!("{stem}{ending}"));
        }
    };
    for (end, others) in [
        ("ies", &["y"][..]),
        ("ves", &["f", "fe"]),
        ("s", &[""]),
        ("es", &[""]),
        ("ing", &["", "e"]),
        ("ied", &["y"]),
        ("ed", &["", "e"]),
    ] {
        let Some(stem) = word.strip_suffix(end).filter(|stem| stem.is_ascii()) else { continue };
        if end == "s" && (stem.ends_with('s') || stem.ends_with('u')) {
            continue;
        }
        for other in others {
            add(stem, other);
        }
        // The doubled letter of `running`.
        if let [.., x, y] = stem.as_bytes()
            && x == y
            && matches!(end, "ing" | "ed")
        {
            add(&stem[..stem.len() - 1], "");
        }
    }
    bases
}

/// Whether a sense is that of a verb. Synsets of verbs come last, but for the names that `WordNet` does not have.
pub(crate) fn is_verb(sense: Sense) -> bool {
    (number::<4>(16)..number::<4>(20)).contains(&sense.synset)
}

/// The hypernym of a synset: the kind that it belongs to.
fn hypernym(synset: u32) -> Option<u32> {
    let hypernyms = parts()[1].clone();
    let at = hypernyms.start + 3 * usize::try_from(synset).unwrap_or(0);
    Some(if at < hypernyms.end { number::<3>(at) & SYNSETS } else { 0 }).filter(|&found| found != 0)
}

/// Whether a synset is one thing, such as a person or a town, and not a kind of things.
pub(crate) fn is_instance(synset: u32) -> bool {
    let at = parts()[1].start + 3 * usize::try_from(synset).unwrap_or(0);
    number::<3>(at) > SYNSETS
}

/// Whether words are a name first of all, not a word of a language.
pub(crate) fn is_name(senses: &[Sense]) -> bool {
    senses.first().is_some_and(|sense| is_instance(sense.synset) || sense.synset >= number::<4>(20))
}

/// The hypernyms of a synset, the nearest first.
fn hypernyms(synset: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(hypernym(synset), |&kind| hypernym(kind)).take(MOST_STEPS)
}

/// The relations of a synset to others that come after it in the table, or of which it is a part.
fn relations(synset: u32) -> impl Iterator<Item = (u32, u32)> {
    let pairs = parts()[2].clone();
    let (mut low, mut high) = (0, pairs.len() / 6);
    while low < high {
        let middle = usize::midpoint(low, high);
        if number::<3>(pairs.start + 6 * middle) < synset { low = middle + 1 } else { high = middle }
    }
    let first = pairs.start + 6 * low;
    (first..pairs.end).step_by(6).take_while(move |&at| number::<3>(at) == synset).map(|at| {
        let second = number::<3>(at + 3);
        (second & SYNSETS, second >> SYNSET_BITS)
    })
}

/// Whether senses of two words are antonyms, derived from one another, or, if both are usual, similar.
fn links(a: &[Sense], b: &[Sense]) -> [bool; 3] {
    let mut has_link = [false; 3];
    for (from, to) in [(a, b), (b, a)] {
        for sense in from {
            for (other, kind) in relations(sense.synset) {
                let Some(other) = to.iter().find(|known| known.synset == other) else { continue };
                match kind {
                    ANTONYM => has_link[0] = true,
                    DERIVED => has_link[1] = true,
                    SIMILAR if sense.share > 0 && other.share > 0 => has_link[2] = true,
                    _ => {}
                }
            }
        }
    }
    has_link
}

/// The relation between the senses of two words: the one that says most.
pub(crate) fn relation(a: &[Sense], b: &[Sense]) -> Relation {
    let pairs = || a.iter().flat_map(|x| b.iter().map(move |y| (x, y)));
    let shared = pairs().filter(|(x, y)| x.synset == y.synset).map(|(x, y)| x.share.min(y.share)).max();
    let is_usual = |sense: &Sense| sense.share > 0;
    let usual = || pairs().filter(|(x, y)| is_usual(x) && is_usual(y));
    let [is_opposite, is_derived, is_similar] = links(a, b);
    let are_siblings =
        |(x, y): (&Sense, &Sense)| hypernym(x.synset).is_some() && hypernym(x.synset) == hypernym(y.synset);
    let is_broader = |(x, y): (&Sense, &Sense)| is_above(x.synset, y.synset) || is_above(y.synset, x.synset);
    let near = |sense: &Sense| hypernyms(sense.synset).take(COUSIN_STEPS);
    let are_cousins = |(x, y)| near(x).any(|kind| near(y).any(|other| kind == other));
    match shared {
        _ if is_opposite => Relation::Opposite,
        Some(share) => Relation::Same(share),
        None if is_derived => Relation::Derived,
        None if is_similar => Relation::Similar,
        None if usual().any(are_siblings) => Relation::Siblings,
        None if usual().any(is_broader) => Relation::Broader,
        None if usual().any(are_cousins) => Relation::Cousins,
        None => Relation::Unrelated,
    }
}

/// Whether the first synset is among the hypernyms of the second.
fn is_above(kind: u32, synset: u32) -> bool {
    hypernyms(synset).any(|above| above == kind)
}

/// Whether the second words imply the first ones: `tuna` implies `fish`, and `Chicago` implies `Illinois`.
pub(crate) fn is_implied(words: &[Sense], by: &[Sense]) -> bool {
    let to = |synset: u32, wanted: u32| {
        relations(synset).filter(move |&(_, kind)| kind == wanted).map(|(synset, _)| synset)
    };
    let is_word = |synset: u32| words.iter().any(|word| word.synset == synset);
    if by.iter().any(|sense| to(sense.synset, SAYS).any(is_word)) {
        return true;
    }
    // A name implies by its first sense only: `state` makes another one of `New York`. A kind implies by each usual
    // sense.
    by.iter().enumerate().any(|(order, sense)| {
        let is_one = is_instance(sense.synset);
        (order == 0 || (!is_one && sense.share > 0))
            && (to(sense.synset, PART).any(|near| is_word(near) || to(near, PART).any(is_word))
                || words.iter().any(|word| (is_one || word.share > 0) && is_above(word.synset, sense.synset)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regular(word: &str) -> &str {
        word
    }

    fn relation_of(a: &str, b: &str) -> Relation {
        relation(&meanings(a, regular), &meanings(b, regular))
    }

    /// The relations are those of `WordNet` 3.1, as its own browser shows them.
    #[test]
    fn words_are_related_as_in_wordnet() {
        assert!(matches!(relation_of("sofa", "couches"), Relation::Same(_)));
        assert!(matches!(relation_of("bald eagle", "haliaeetus leucocephalus"), Relation::Same(3)));
        assert_eq!(relation_of("cheap", "expensive"), Relation::Opposite);
        assert_eq!(relation_of("japan", "japanese"), Relation::Derived);
        assert_eq!(relation_of("bucharest", "budapest"), Relation::Siblings);
        assert_eq!(relation_of("tuna", "fish"), Relation::Broader);
        assert_eq!(relation_of("gravel", "sonata"), Relation::Unrelated);
    }

    #[test]
    fn what_a_word_says_already_is_implied() {
        let implied = |word: &str, by: &str| is_implied(&meanings(word, regular), &meanings(by, regular));
        assert!(implied("illinois", "chicago") && implied("fish", "trout"));
        assert!(
            !implied("chicago", "illinois") && !implied("texas", "chicago") && !implied("salmon", "fish")
        );
    }

    #[test]
    fn lemmas_are_found_and_others_are_not() {
        // The first of the table, one near each end, and what is before, between and behind them.
        let lemmas = parts()[0].clone();
        let length = usize::from(TABLE[lemmas.start + 1]);
        let first = std::str::from_utf8(&TABLE[lemmas.start + 2..lemmas.start + 2 + length]).unwrap();
        assert!(!senses(first).is_empty());
        for missing in ["", " ", "zzzzzz", "qwertzu", "größe"] {
            assert!(senses(missing).is_empty(), "{missing}");
        }
        assert!(!senses("zymurgy").is_empty() && !senses("aardvark").is_empty());
    }
}
