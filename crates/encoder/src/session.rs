//! The encoder itself: tokenizer, ONNX Runtime, pooling.
//!
//! Texts are tokenized and cut here, run in batches of one length, pooled and scaled to unit
//! length. The session is made when the first text needs it: a run whose embeddings are all cached
//! never loads ONNX Runtime.

use std::path::Path;
use std::sync::{OnceLock, PoisonError, RwLock, RwLockReadGuard};

use m3_embedding::{Embedding, Encoder, EncoderError, Identity, InputKey, key_of};
use ndarray::Array2;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{RunOptions, Session};
use ort::value::Value;
use tokenizers::{Tokenizer, TruncationParams};

use super::assets::Assets;
use super::config::EncoderConfig;
use super::pooling::{Pooling, pooled};
use super::{OnnxError, pins};

/// The most tokens in one batch. Larger batches gain nothing on a CPU (measured) and take more memory.
const BATCH_TOKENS: usize = 512;

/// The most texts in one batch.
const BATCH_TEXTS: usize = 64;

/// A lock that is held for reading by each encoder that is running ONNX Runtime, and for writing by [`finish`] before
/// the process ends.
static AT_WORK: RwLock<()> = RwLock::new(());

/// The options of every run, by which [`finish`] ends the runs that go on.
static RUN_OPTIONS: OnceLock<RunOptions> = OnceLock::new();

fn run_options() -> ort::Result<&'static RunOptions> {
    if let Some(options) = RUN_OPTIONS.get() {
        return Ok(options);
    }
    let options = RunOptions::new()?;
    Ok(RUN_OPTIONS.get_or_init(|| options))
}

/// Marks an encoder as running ONNX Runtime until the guard is dropped. Waits for ever once the process is about to
/// end.
fn at_work() -> RwLockReadGuard<'static, ()> {
    AT_WORK.read().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the batches that are being embedded, waits for encoders that are being loaded, and lets no other work start.
/// Call it before the process ends while threads may still be running: a process that exits unloads ONNX Runtime's
/// tables, and threads that still use them would crash. The caller must hold no encoder: dropping one would wait
/// forever.
pub fn finish() {
    // If a batch cannot be ended, it is waited for.
    let _ = RUN_OPTIONS.get().map(RunOptions::terminate);
    std::mem::forget(AT_WORK.write().unwrap_or_else(PoisonError::into_inner));
}

/// A sentence encoder run by ONNX Runtime on the CPU.
pub struct OnnxEncoder {
    assets: Assets,
    config: EncoderConfig,
    identity: Identity,
    threads: usize,
    batch_texts: usize,
    tokenizer: OnceLock<Tokenizer>,
    session: Option<Session>,
}

impl Drop for OnnxEncoder {
    fn drop(&mut self) {
        if self.session.is_some() {
            let _at_work = at_work();
            self.session = None;
        }
    }
}

impl std::fmt::Debug for OnnxEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OnnxEncoder")
            .field("assets", &self.assets)
            .field("identity", &self.identity)
            .finish_non_exhaustive()
    }
}

impl OnnxEncoder {
    /// Checks the files and computes their fingerprint; loads nothing yet.
    ///
    /// `cache_dir` keeps the digests of large files between runs.
    ///
    /// # Errors
    /// [`OnnxError`] if a file is damaged or the configuration cannot be used.
    pub fn open(assets: Assets, cache_dir: &Path) -> Result<Self, OnnxError> {
        let (config, identity) = EncoderConfig::read(&assets, cache_dir)?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let batch_texts = if config.is_batchable { BATCH_TEXTS } else { 1 };
        Ok(Self { assets, config, identity, threads, batch_texts, tokenizer: OnceLock::new(), session: None })
    }

    /// Uses this many threads instead of one for each core. Embeddings do not depend on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads.max(1);
        self
    }

    /// Puts at most this many texts into a batch. Embeddings do not depend on it.
    #[must_use]
    pub fn with_batch_size(mut self, texts: usize) -> Self {
        self.batch_texts = if self.config.is_batchable { texts.max(1) } else { 1 };
        self
    }

    /// Token ids of each text, cut to the encoder's length.
    fn tokenize(&self, texts: &[&str]) -> Result<Vec<Vec<u32>>, OnnxError> {
        super::tokens::tokenize(self.tokenizer()?, self.config.max_tokens, texts)
            .map_err(|cause| OnnxError::Tokenize(cause.to_string()))
    }

    fn tokenizer(&self) -> Result<&Tokenizer, OnnxError> {
        if let Some(tokenizer) = self.tokenizer.get() {
            return Ok(tokenizer);
        }
        let tokenizer = load_tokenizer(&self.assets.encoder_dir, self.config.max_tokens)?;
        Ok(self.tokenizer.get_or_init(|| tokenizer))
    }

    /// The session, loaded on first use. The tokenizer is loaded at the same time, because that takes as long.
    fn session(&mut self) -> Result<&mut Session, OnnxError> {
        if self.session.is_none() {
            let session = std::thread::scope(|scope| {
                let tokenizer = scope.spawn(|| self.tokenizer().map(|_| ()));
                let session = load_session(&self.assets, self.threads);
                let stopped = || OnnxError::Tokenize("its file is damaged".to_owned());
                tokenizer.join().unwrap_or_else(|_| Err(stopped())).and(session)
            })?;
            return Ok(self.session.insert(session));
        }
        self.session.as_mut().ok_or_else(|| OnnxError::Run("it is not loaded".to_owned()))
    }
}

/// Runs one batch of token ids, all of one length. Rows come out in the order of `batch`.
fn run(session: &mut Session, pooling: Pooling, batch: &[&[u32]]) -> Result<Vec<Embedding>, OnnxError> {
    let _at_work = at_work();
    let failed = |cause: ort::Error| OnnxError::of_runtime(cause.to_string(), OnnxError::Run);
    let shape = (batch.len(), batch.first().map_or(0, |ids| ids.len()));
    let mut inputs = Vec::new();
    for input in session.inputs() {
        let tensor = match input.name() {
            "input_ids" => Array2::from_shape_fn(shape, |(row, column)| i64::from(batch[row][column])),
            // All texts of a batch have the same length, so nothing is padded.
            "attention_mask" => Array2::<i64>::ones(shape),
            "token_type_ids" => Array2::zeros(shape),
            "position_ids" => {
                Array2::from_shape_fn(shape, |(_, column)| i64::try_from(column).unwrap_or_default())
            }
            other => {
                return Err(OnnxError::Graph(format!("it has an unknown input `{other}`")));
            }
        };
        let value = Value::from_array(tensor).map_err(failed)?;
        inputs.push((input.name().to_owned(), value));
    }
    let options = run_options().map_err(failed)?;
    let outputs = session.run_with_options(inputs, options).map_err(failed)?;
    let pooled = pooled(&outputs, pooling)?;
    Ok(pooled.rows().into_iter().map(|row| unit(row.iter().copied())).collect())
}

impl Encoder for OnnxEncoder {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn inputs(&mut self, texts: &[&str]) -> Result<Vec<InputKey>, EncoderError> {
        // Texts that are new will most likely be embedded too: this loads the session and the tokenizer at the same
        // time.
        self.session()?;
        let key = |ids: Vec<u32>| {
            let bytes: Vec<u8> = ids.into_iter().flat_map(u32::to_le_bytes).collect();
            key_of(&bytes)
        };
        Ok(self.tokenize(texts)?.into_iter().map(key).collect())
    }

    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
        let tokens = self.tokenize(texts)?;
        let (batch_texts, pooling) = (self.batch_texts, self.config.pooling);
        let session = self.session()?;
        // Only texts of one length share a batch: nothing is padded, so no work is wasted, and a text's
        // embedding cannot depend on its neighbours.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&index| tokens[index].len());
        let mut embeddings = vec![Embedding::default(); texts.len()];
        for same_length in order.chunk_by(|&a, &b| tokens[a].len() == tokens[b].len()) {
            let length = tokens[same_length[0]].len().max(1);
            for batch in same_length.chunks((BATCH_TOKENS / length).clamp(1, batch_texts)) {
                let rows: Vec<&[u32]> = batch.iter().map(|&index| tokens[index].as_slice()).collect();
                for (&index, embedding) in batch.iter().zip(run(session, pooling, &rows)?) {
                    embeddings[index] = embedding;
                }
                done(batch.len());
            }
        }
        Ok(embeddings)
    }
}

/// Scales a vector to unit length; a zero vector stays zero.
fn unit(row: impl Iterator<Item = f32> + Clone) -> Embedding {
    let norm = row.clone().map(|x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "embeddings are stored as 32-bit floats")]
    let scaled = row.map(|x| if norm > 0.0 { (f64::from(x) / norm) as f32 } else { x });
    scaled.collect()
}

fn load_tokenizer(folder: &Path, max_tokens: usize) -> Result<Tokenizer, OnnxError> {
    let path = folder.join("tokenizer.json");
    let error = |message: String| OnnxError::TokenizerFile { path: path.clone(), message };
    let bytes = std::fs::read(&path).map_err(|cause| error(cause.to_string()))?;
    let mut tokenizer = Tokenizer::from_bytes(bytes).map_err(|cause| error(cause.to_string()))?;
    // The tokenizer's file sets padding and a length (128 for all-MiniLM-L6-v2), but not as the encoder was trained.
    tokenizer.with_padding(None);
    let truncation = TruncationParams { max_length: max_tokens, ..TruncationParams::default() };
    tokenizer.with_truncation(Some(truncation)).map_err(|cause| error(cause.to_string()))?;
    Ok(tokenizer)
}

fn load_session(assets: &Assets, threads: usize) -> Result<Session, OnnxError> {
    let _at_work = at_work();
    let environment = super::runtime::environment(&assets.runtime_library)?;
    let graph = super::assets::graph_file(&assets.encoder_dir);
    let failed = |message: String| OnnxError::of_runtime(message, OnnxError::Graph);
    let mut builder = Session::builder(&environment)
        .and_then(|builder| Ok(builder.with_optimization_level(GraphOptimizationLevel::Level3)?))
        .and_then(|builder| Ok(builder.with_intra_threads(threads)?))
        .map_err(|cause| failed(cause.to_string()))?;
    let session = match graph {
        Some(path) if !assets.is_default => builder.commit_from_file(path),
        _ => {
            // The graph is compiled in; its weights are read from the encoder's folder.
            let folder = assets.encoder_dir.to_string_lossy();
            builder
                .with_config_entry("session.model_external_initializers_file_folder_path", &folder)
                .map_err(|cause| failed(cause.to_string()))?
                .commit_from_memory(pins::GRAPH)
        }
    };
    session.map_err(|cause| failed(cause.to_string()))
}
