//! The words around a value, compared with those around another value: they show what a number is the number of.

use std::collections::HashMap;

use super::tokens::{Break, Token};
use super::values::Value;
use super::words::{is_in, stem};

/// The most words on each side of a value that are compared.
const REACH: usize = 10;

/// The weight of a word together with its side; the word alone has the weight 1.
const SIDE: f64 = 0.75;

/// The share of the words beyond the sentence or line of a value.
const FAR: f64 = 0.15;

/// For each token, the number of its word and the weight of the word; `None` for a word without content.
pub(super) type Contents = Vec<Option<(u32, f64)>>;

/// The contents of a reference's tokens and of a reply's. A word has the same number in both; the more often the
/// reference has it, the lower its weight.
pub(super) fn contents(reference: &[Token], reply: &[Token]) -> [Contents; 2] {
    let mut words: HashMap<&str, (u32, u32)> = HashMap::new();
    for (tokens, count) in [(reference, 1), (reply, 0)] {
        for token in tokens {
            let next = u32::try_from(words.len()).unwrap_or(u32::MAX);
            words.entry(stem(&token.text)).or_insert((next, 0)).1 += count;
        }
    }
    let content = |token: &Token| {
        if !token.is_label && (is_in("stop", &token.text) || is_in("not", &token.text)) {
            return None;
        }
        let &(word, count) = words.get(stem(&token.text))?;
        Some((word, 1.0 / f64::from(count.max(1)).sqrt()))
    };
    [reference, reply].map(|tokens| tokens.iter().map(content).collect())
}

/// The words around a value.
#[derive(Debug)]
pub(super) struct Context {
    /// Words in the sentence or line of the value.
    near: Weights,
    /// Words beyond that sentence or line.
    far: Weights,
}

/// Words with their weights, in the order of their numbers; of length 1 as a vector.
type Weights = Vec<(u32, f64)>;

impl Context {
    pub(super) fn new(tokens: &[Token], value: &Value, contents: &Contents) -> Self {
        let mut weights = [HashMap::new(), HashMap::new()];
        let before = (0..value.begin).rev().map(|at| (at, tokens[at + 1].gap, 1));
        let after = (value.end..tokens.len()).map(|at| (at, tokens[at].gap, 2));
        add(&mut weights, before, contents);
        add(&mut weights, after, contents);
        let [near, far] = weights.map(|weights| {
            let mut weights: Weights = weights.into_iter().collect();
            weights.sort_unstable_by_key(|(word, _)| *word);
            let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f64>().sqrt();
            weights.into_iter().map(|(word, weight)| (word, weight / length)).collect()
        });
        Self { near, far }
    }

    /// How alike two contexts are, in [0, 1]; 1 if nothing stands around either.
    pub(super) fn alike(&self, other: &Self) -> f64 {
        let is_empty = [self, other].iter().all(|context| context.near.is_empty() && context.far.is_empty());
        if is_empty {
            1.0
        } else {
            (1.0 - FAR) * cosine(&self.near, &other.near) + FAR * cosine(&self.far, &other.far)
        }
    }
}

fn cosine(a: &Weights, b: &Weights) -> f64 {
    common(a, b).fold(0.0, |sum, (x, y)| sum + x * y)
}

/// The weights of the words that both have; each has its words once, in the order of their numbers.
pub(super) fn common(a: &[(u32, f64)], b: &[(u32, f64)]) -> impl Iterator<Item = (f64, f64)> {
    let mut at = 0;
    a.iter().filter_map(move |(word, weight)| {
        while b.get(at).is_some_and(|(other, _)| other < word) {
            at += 1;
        }
        b.get(at).filter(|(other, _)| other == word).map(|(_, other)| (*weight, *other))
    })
}

/// Adds the words on one side, the nearer ones with more weight.
fn add(
    weights: &mut [HashMap<u32, f64>; 2],
    places: impl Iterator<Item = (usize, Break, u32)>,
    contents: &Contents,
) {
    let (mut distance, mut words, mut is_far) = (0.0, 0, 0);
    for (at, gap, side) in places.take(4 * REACH) {
        distance += match gap {
            Break::None | Break::Colon => 0.0,
            Break::Clause => 0.5,
            Break::Comma | Break::Sentence | Break::Line => 2.0,
        };
        if gap >= Break::Sentence {
            is_far = 1;
        }
        let Some((word, weight)) = contents[at] else { continue };
        (distance, words) = (distance + 1.0, words + 1);
        if words > REACH {
            break;
        }
        *weights[is_far].entry(3 * word).or_default() += weight / distance;
        *weights[is_far].entry(3 * word + side).or_default() += SIDE * weight / distance;
    }
}
