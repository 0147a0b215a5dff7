//! Sentence embeddings, for code that only needs the numbers: [`Encoder`] turns texts into vectors,
//! [`EmbeddingCache`] keeps them, an [`Embedder`] asks the cache before the encoder, and [`cosine()`] says how alike
//! two texts are.
//!
//! ```
//! use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity, cosine};
//!
//! /// Counts vowels: texts with the same share of each vowel are alike.
//! struct Vowels(Identity);
//!
//! impl Encoder for Vowels {
//!     fn identity(&self) -> &Identity {
//!         &self.0
//!     }
//!
//!     fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
//!         done(texts.len());
//!         let count = |text: &str, vowel| text.chars().map(|c| f32::from(u8::from(c == vowel))).sum();
//!         Ok(texts.iter().map(|text| "aeiou".chars().map(|vowel| count(text, vowel)).collect()).collect())
//!     }
//! }
//!
//! let identity = Identity { name: "vowels".into(), fingerprint: "1".into(), dimensions: 5, max_tokens: 256 };
//! let mut embedder = Embedder::new(Box::new(Vowels(identity)), None);
//! let inputs = embedder.inputs(&["banana", "papaya"])?;
//! embedder.embed(&[(inputs[0], "banana"), (inputs[1], "papaya")], &mut |_, _| ())?;
//! assert!((cosine(embedder.vector(&inputs[0]), embedder.vector(&inputs[1])) - 1.0).abs() < 1e-12);
//! # Ok::<(), EncoderError>(())
//! ```

#![forbid(unsafe_code)]

mod cosine;
mod embedder;

use std::error::Error;

pub use cosine::cosine;
pub use embedder::Embedder;
use sha2::{Digest as _, Sha256};

/// The embedding of a text, of [`Identity::dimensions`] numbers: a vector of unit length, or of zeros.
pub type Embedding = Vec<f32>;

/// Identifies what an encoder sees of a text: texts with the same key have the same embedding.
pub type InputKey = [u8; 16];

/// The identity of the encoder that made an embedding; part of every result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name that people know the encoder by.
    pub name: String,
    /// `sha256:` and the digest of everything that the encoder's embeddings depend on: weights, graph, tokenizer,
    /// maximum length, pooling.
    pub fingerprint: String,
    /// The length of an embedding.
    pub dimensions: usize,
    /// Longer texts are cut to this many tokens, special tokens included.
    pub max_tokens: usize,
}

/// Turns texts into vectors. An embedding depends on its text alone: not on the texts beside it, not on
/// threads.
pub trait Encoder: Send {
    /// The identity of the encoder.
    fn identity(&self) -> &Identity;

    /// A key for each text, the same for texts that the encoder cannot distinguish (for the default encoder, text that
    /// differs in case, or after its 256th token). By default every text has its own key.
    ///
    /// # Errors
    /// [`EncoderError`].
    fn inputs(&mut self, texts: &[&str]) -> Result<Vec<InputKey>, EncoderError> {
        Ok(texts.iter().map(|text| text_key(text)).collect())
    }

    /// The embedding of each text, in order. `done` gets the number of texts finished since its last call.
    ///
    /// # Errors
    /// [`EncoderError`].
    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError>;
}

/// Keeps embeddings, and results computed from them, for later runs. One cache serves one encoder.
pub trait EmbeddingCache: std::fmt::Debug + Send {
    /// The input key of each text that was seen before.
    ///
    /// # Errors
    /// Why the cache cannot be used.
    fn inputs(&mut self, texts: &[&str]) -> Result<Vec<Option<InputKey>>, CacheFailure>;

    /// The embedding of each input that was embedded before.
    ///
    /// # Errors
    /// Why the cache cannot be used.
    fn vectors(&mut self, inputs: &[InputKey]) -> Result<Vec<Option<Embedding>>, CacheFailure>;

    /// Keeps the input keys of texts and the embeddings of inputs.
    ///
    /// # Errors
    /// Why the cache cannot be used; nothing is then changed.
    fn store(
        &mut self,
        texts: &[(&str, InputKey)],
        vectors: &[(InputKey, &Embedding)],
    ) -> Result<(), CacheFailure>;

    /// The result kept under each key by [`EmbeddingCache::keep`].
    ///
    /// # Errors
    /// Why the cache cannot be used.
    fn results(&mut self, keys: &[InputKey]) -> Result<Vec<Option<Vec<u8>>>, CacheFailure>;

    /// Keeps results computed from embeddings. A key must cover everything that its result depends on, except the
    /// encoder.
    ///
    /// # Errors
    /// Why the cache cannot be used; nothing is then changed.
    fn keep(&mut self, results: &[(InputKey, Vec<u8>)]) -> Result<(), CacheFailure>;
}

/// Why a cache cannot be used; the run can go on without it.
pub type CacheFailure = Box<dyn Error + Send + Sync>;

/// The first 16 bytes of the SHA-256 of a text.
#[must_use]
pub fn text_key(text: &str) -> InputKey {
    key_of(text.as_bytes())
}

/// The first 16 bytes of the SHA-256 of these bytes.
#[must_use]
pub fn key_of(bytes: &[u8]) -> InputKey {
    let mut key = InputKey::default();
    key.copy_from_slice(&Sha256::digest(bytes)[..16]);
    key
}

/// Why an encoder gave no embeddings, in the encoder's own words.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct EncoderError(Box<dyn Error + Send + Sync>);

impl EncoderError {
    /// An error from the encoder's own error, or from a message.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }

    /// The encoder's own error, so that callers can tell its type.
    #[must_use]
    pub fn into_cause(self) -> Box<dyn Error + Send + Sync> {
        self.0
    }
}
