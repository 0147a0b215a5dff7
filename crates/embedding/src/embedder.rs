//! An encoder behind its cache: embeds each distinct text once, in this run and in all later ones.

use std::collections::HashMap;

use super::{CacheFailure, Embedding, EmbeddingCache, Encoder, EncoderError, Identity, InputKey, text_key};

/// The most embeddings that are kept in memory from one [`Embedder::embed`] to the next.
const MAX_VECTORS: usize = 32_768;

/// The most texts whose input keys are kept in memory.
const MAX_TEXTS: usize = 262_144;

/// Embeds texts, through memory and the cache on disk.
pub struct Embedder {
    encoder: Box<dyn Encoder>,
    identity: Identity,
    cache: Option<Box<dyn EmbeddingCache>>,
    inputs: HashMap<InputKey, InputKey>,
    vectors: HashMap<InputKey, Embedding>,
    warnings: Vec<String>,
}

impl std::fmt::Debug for Embedder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Embedder")
            .field("identity", &self.identity)
            .field("cache", &self.cache)
            .finish_non_exhaustive()
    }
}

impl Embedder {
    /// Makes an embedder of an encoder, with or without a cache on disk.
    #[must_use]
    pub fn new(encoder: Box<dyn Encoder>, cache: Option<Box<dyn EmbeddingCache>>) -> Self {
        let identity = encoder.identity().clone();
        let (inputs, vectors) = (HashMap::new(), HashMap::new());
        Self { encoder, identity, cache, inputs, vectors, warnings: Vec::new() }
    }

    /// The identity of the encoder.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Problems that did not stop the run, such as a cache that cannot be used.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// A key for each text; equal for texts that the encoder cannot distinguish.
    ///
    /// # Errors
    /// [`EncoderError`].
    pub fn inputs(&mut self, texts: &[&str]) -> Result<Vec<InputKey>, EncoderError> {
        if self.inputs.len() + texts.len() > MAX_TEXTS {
            self.inputs.clear();
        }
        let keys: Vec<InputKey> = texts.iter().map(|text| text_key(text)).collect();
        let mut unknown: Vec<(InputKey, &str)> = keys.iter().copied().zip(texts.iter().copied()).collect();
        unknown.retain(|(key, _)| !self.inputs.contains_key(key));
        let texts: Vec<&str> = unknown.iter().map(|(_, text)| *text).collect();
        let cached = self.with_cache(|cache| cache.inputs(&texts)).unwrap_or_default();
        let known = unknown.iter().zip(cached).filter_map(|((key, _), input)| Some((*key, input?)));
        self.inputs.extend(known);
        unknown.retain(|(key, _)| !self.inputs.contains_key(key));
        if !unknown.is_empty() {
            let (keys, texts): (Vec<InputKey>, Vec<&str>) = unknown.into_iter().unzip();
            let inputs = self.encoder.inputs(&texts)?;
            let learned: Vec<(&str, InputKey)> = texts.into_iter().zip(inputs.iter().copied()).collect();
            self.with_cache(|cache| cache.store(&learned, &[]));
            self.inputs.extend(keys.into_iter().zip(inputs));
        }
        Ok(keys.iter().map(|key| self.inputs.get(key).copied().unwrap_or_default()).collect())
    }

    /// Makes the embeddings of these inputs available to [`Embedder::vector`] until the next call. Each input comes
    /// with a text that has its key. `progress` gets the number done and the number in all.
    ///
    /// # Errors
    /// [`EncoderError`].
    pub fn embed(
        &mut self,
        wanted: &[(InputKey, &str)],
        progress: &mut dyn FnMut(usize, usize),
    ) -> Result<(), EncoderError> {
        if self.vectors.len() + wanted.len() > MAX_VECTORS {
            self.vectors.clear();
        }
        let mut missing: Vec<(InputKey, &str)> =
            wanted.iter().filter(|(input, _)| !self.vectors.contains_key(input)).copied().collect();
        let keys: Vec<InputKey> = missing.iter().map(|(input, _)| *input).collect();
        let cached = self.with_cache(|cache| cache.vectors(&keys)).unwrap_or_default();
        for (key, vector) in keys.into_iter().zip(cached) {
            if let Some(vector) = vector {
                self.keep(key, vector);
            }
        }
        missing.retain(|(input, _)| !self.vectors.contains_key(input));
        let total = missing.len();
        let mut done = 0;
        // The texts are embedded in pieces, so that an interrupted run keeps most of what it computed. They are sorted,
        // so that texts of similar length share a batch.
        missing.sort_by_key(|(_, text)| text.len());
        for piece in missing.chunks(STORE_EVERY) {
            let texts: Vec<&str> = piece.iter().map(|(_, text)| *text).collect();
            let vectors = self.encoder.embed(&texts, &mut |more| {
                done += more;
                progress(done, total);
            })?;
            check(&texts, &vectors)?;
            let learned: Vec<(InputKey, &Embedding)> =
                piece.iter().map(|(input, _)| *input).zip(vectors.iter()).collect();
            self.with_cache(|cache| cache.store(&[], &learned));
            for ((input, _), vector) in piece.iter().zip(vectors) {
                self.keep(*input, vector);
            }
        }
        Ok(())
    }

    /// The embedding of an input, after [`Embedder::embed`]; empty before.
    #[must_use]
    pub fn vector(&self, input: &InputKey) -> &[f32] {
        self.vectors.get(input).map_or(&[], Vec::as_slice)
    }

    /// Whether a cache keeps results for later runs.
    #[must_use]
    pub fn has_cache(&self) -> bool {
        self.cache.is_some()
    }

    /// The results that [`Embedder::remember`] kept under each key, in this run or an earlier one; none without a
    /// cache.
    pub fn recall(&mut self, keys: &[InputKey]) -> Vec<Option<Vec<u8>>> {
        self.with_cache(|cache| cache.results(keys)).unwrap_or_else(|| vec![None; keys.len()])
    }

    /// Keeps results computed from embeddings, if there is a cache. A key must cover everything that its result
    /// depends on, except the encoder.
    pub fn remember(&mut self, results: &[(InputKey, Vec<u8>)]) {
        self.with_cache(|cache| cache.keep(results));
    }

    fn keep(&mut self, input: InputKey, vector: Embedding) {
        self.identity.dimensions = vector.len();
        self.vectors.insert(input, vector);
    }

    /// Runs `work` on the cache. When it fails, the run goes on without a cache and says so once.
    fn with_cache<T>(
        &mut self,
        work: impl FnOnce(&mut dyn EmbeddingCache) -> Result<T, CacheFailure>,
    ) -> Option<T> {
        match work(self.cache.as_mut()?.as_mut()) {
            Ok(value) => Some(value),
            Err(error) => {
                self.warnings.push(format!("{error}; going on without it"));
                self.cache = None;
                None
            }
        }
    }
}

/// Fails unless there is a finite embedding for each text: with NaN in an embedding, `cosine` would give 0.
fn check(texts: &[&str], vectors: &[Embedding]) -> Result<(), EncoderError> {
    let failed = |message: &str| Err(EncoderError::new(format!("failed to run the encoder: {message}")));
    if vectors.len() != texts.len() {
        return failed("it gave another number of embeddings than texts");
    }
    if vectors.iter().flatten().any(|x| !x.is_finite()) {
        return failed("it gave an embedding with values that are no numbers");
    }
    Ok(())
}

/// How many embeddings are computed before they are written to the cache.
const STORE_EVERY: usize = 512;
