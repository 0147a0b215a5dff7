//! The embeddings of words: asked for while pairs are looked through, then embedded all at once.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use crate::encoder::{Embedder, Embedding, EncoderError, InputKey, cosine};

/// Longer texts have no embedding.
const LONGEST: usize = 4096;

/// Texts that are asked for at most before they are embedded: some hundred megabytes of vectors.
const MOST: usize = 131_072;

/// Embeddings of words, and of short texts that are no English.
#[derive(Debug, Default)]
pub(super) struct Words {
    known: HashMap<String, Embedding>,
    /// What was asked for and is not known.
    wanted: RefCell<BTreeSet<String>>,
}

impl Words {
    /// The cosine of the embeddings of two texts, in [-1, 1]; `None`, and both are noted, while it is not known.
    pub(super) fn cosine(&self, a: &str, b: &str) -> Option<f64> {
        if let (Some(a), Some(b)) = (self.known.get(a), self.known.get(b)) {
            return Some(cosine(a, b));
        }
        let mut wanted = self.wanted.borrow_mut();
        for text in [a, b] {
            if text.len() <= LONGEST
                && wanted.len() + self.known.len() < MOST
                && !self.known.contains_key(text)
            {
                wanted.insert(text.to_owned());
            }
        }
        None
    }

    /// Embeds what was asked for.
    pub(super) fn learn(
        &mut self,
        embedder: &mut Embedder,
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), EncoderError> {
        let texts: Vec<String> = self.wanted.take().into_iter().collect();
        // Fewer at a time than an embedder holds.
        for piece in texts.chunks(8192) {
            let borrowed: Vec<&str> = piece.iter().map(String::as_str).collect();
            let inputs = embedder.inputs(&borrowed)?;
            let distinct: HashMap<InputKey, &str> = inputs.iter().copied().zip(borrowed).collect();
            let mut distinct: Vec<(InputKey, &str)> = distinct.into_iter().collect();
            distinct.sort_unstable();
            embedder.embed(&distinct, progress)?;
            for (text, input) in piece.iter().zip(&inputs) {
                self.known.insert(text.clone(), embedder.vector(input).to_vec());
            }
        }
        Ok(())
    }
}
