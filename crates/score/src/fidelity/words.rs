//! The cosines of words' embeddings: asked for while pairs of calls are compared, then computed all at once.
//!
//! Cosines are kept instead of embeddings, which have a hundred times as many bytes. [`Cosines`] holds the known ones
//! for all threads; [`Words`] is the access of one thread.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use m3_embedding::{Embedder, EncoderError, InputKey, cosine};

use super::constants::MAX_ASKED;

/// The longest text that is embedded, in bytes.
const LONGEST: usize = 4096;

/// The most cosines that are kept from one group of calls to the next.
const MOST_KNOWN: usize = 65_536;

/// The most texts that are embedded at once: fewer than an embedder holds.
const AT_ONCE: usize = 8192;

/// Two texts in the order of their bytes.
pub(super) type TextPair = (String, String);

/// The known cosines of words and short texts.
#[derive(Debug, Default, Clone)]
pub(super) struct Cosines {
    known: HashMap<TextPair, f64>,
}

/// The access of one thread to the cosines, and its requests.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The known cosines; `None` where words are compared by their spelling and the lexicon alone.
    cosines: Option<Arc<Cosines>>,
    /// The pairs of texts that were asked for and are not known.
    wanted: RefCell<BTreeSet<TextPair>>,
    /// The number of cosines that were asked for in this pair of calls.
    asked: Cell<usize>,
    /// Whether one of these cosines is not known.
    is_open: Cell<bool>,
    /// For settled pairs of words: how far they mean the same, and how many cosines that needed.
    settled: RefCell<HashMap<TextPair, (f64, usize)>>,
}

/// The most pairs of words whose result a thread remembers.
const MOST_SETTLED: usize = 65_536;

impl Words {
    /// Creates the access to these cosines.
    pub(super) fn with_cosines(cosines: &Arc<Cosines>) -> Self {
        Self { cosines: Some(Arc::clone(cosines)), ..Self::default() }
    }

    /// How far two words of English mean the same; `compare` is called unless the pair was compared before.
    pub(super) fn settle(&self, a: &str, b: &str, compare: impl FnOnce() -> f64) -> f64 {
        let pair = (a.to_owned(), b.to_owned());
        if let Some(&(alike, asked)) = self.settled.borrow().get(&pair) {
            self.asked.set(self.asked.get() + asked);
            return alike;
        }
        let (asked, is_open) = (self.asked.get(), self.is_open.replace(false));
        let alike = compare();
        let is_settled = !self.is_open.get() && self.asked.get() < MAX_ASKED;
        self.is_open.set(is_open || self.is_open.get());
        let mut settled = self.settled.borrow_mut();
        if is_settled && settled.len() < MOST_SETTLED {
            settled.insert(pair, (alike, self.asked.get() - asked));
        }
        alike
    }

    /// Begins another pair of calls.
    pub(super) fn begin(&self) {
        self.asked.set(0);
        self.is_open.set(false);
    }

    /// Whether the pair of calls that was begun last asked for a cosine that is not known yet.
    pub(super) fn is_open(&self) -> bool {
        self.is_open.get()
    }

    /// The number of pairs of texts that were asked for and are not known.
    pub(super) fn wanted(&self) -> usize {
        self.wanted.borrow().len()
    }

    /// Takes the pairs of texts that were asked for and are not known.
    pub(super) fn take_wanted(&self) -> BTreeSet<TextPair> {
        self.wanted.take()
    }

    /// The cosine of the embeddings of two texts, in [-1, 1]. `None` while it is not known, which is noted as a
    /// request, and where it will not be computed: for long texts, and after too many requests in one pair of calls.
    pub(super) fn cosine(&self, a: &str, b: &str) -> Option<f64> {
        let cosines = self.cosines.as_ref()?;
        self.asked.set(self.asked.get() + 1);
        if a.len() > LONGEST || b.len() > LONGEST || self.asked.get() > MAX_ASKED {
            return None;
        }
        let (first, second) = if a <= b { (a, b) } else { (b, a) };
        let pair = (first.to_owned(), second.to_owned());
        if let Some(&known) = cosines.known.get(&pair) {
            return Some(known);
        }
        self.is_open.set(true);
        self.wanted.borrow_mut().insert(pair);
        None
    }
}

impl Cosines {
    /// Forgets the known cosines, if there are too many.
    pub(super) fn forget(&mut self) {
        if self.known.len() > MOST_KNOWN {
            self.known.clear();
        }
    }

    /// Computes the cosines of these pairs of texts.
    pub(super) fn learn(
        &mut self,
        wanted: BTreeSet<TextPair>,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), EncoderError> {
        let mut pairs = wanted.into_iter().peekable();
        while pairs.peek().is_some() {
            let piece: Vec<TextPair> = pairs.by_ref().take(AT_ONCE / 2).collect();
            let mut texts: Vec<&str> = piece.iter().flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
            texts.sort_unstable();
            texts.dedup();
            let inputs = embedder.inputs(&texts)?;
            let mut distinct: Vec<(InputKey, &str)> =
                inputs.iter().copied().zip(texts.iter().copied()).collect();
            distinct.sort_unstable();
            distinct.dedup_by_key(|(input, _)| *input);
            embedder.embed(&distinct, progress)?;
            let vector = |text: &str| {
                let at = texts.binary_search(&text).unwrap_or_default();
                embedder.vector(&inputs[at])
            };
            let cosines: Vec<f64> = piece.iter().map(|(a, b)| cosine(vector(a), vector(b))).collect();
            self.known.extend(piece.into_iter().zip(cosines));
        }
        Ok(())
    }
}
