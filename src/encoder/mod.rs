//! The sentence encoder: text in, unit vectors out.
//!
//! [`Encoder`] is the small trait that scoring needs; [`OnnxEncoder`] is the one that is real. An
//! [`Embedder`] puts a cache on disk before it. The files of the default encoder are found and fetched by
//! [`Assets`].

mod asset_error;
mod assets;
mod cache;
mod cache_error;
mod cache_usage;
mod config;
mod cosine;
mod digest;
mod embedder;
mod fetch;
pub mod pins;
mod runtime;
mod session;
mod tokens;

use std::path::PathBuf;

use sha2::{Digest as _, Sha256};

pub use asset_error::AssetError;
pub use assets::{AssetOptions, Assets, InstallEvent, default_encoder_dir};
pub use cache::Cache;
pub use cache_error::CacheError;
pub use cache_usage::CacheUsage;
pub use cosine::cosine;
pub use embedder::Embedder;
pub use fetch::FetchError;
pub use runtime::{NO_REPORTS, left_behind};
pub use session::OnnxEncoder;
pub(crate) use session::finish;

/// A vector of unit length, `[dimensions]`, or of zeros.
pub type Embedding = Vec<f32>;

/// Tells apart what an encoder sees of a text: texts with the same key have the same embedding.
pub type InputKey = [u8; 16];

/// Which encoder made an embedding; part of every result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The name people know it by.
    pub name: String,
    /// `sha256:` and the digest of all that its embeddings depend on: weights, graph, tokenizer, maximum
    /// length, pooling.
    pub fingerprint: String,
    /// The length of an embedding.
    pub dimensions: usize,
    /// Longer texts are cut to so many tokens, the special ones included.
    pub max_tokens: usize,
}

/// Turns texts into vectors. An embedding depends on its text alone: not on the texts beside it, not on
/// threads.
pub trait Encoder {
    /// Which encoder this is.
    fn identity(&self) -> &Identity;

    /// A key for each text, the same for texts that the encoder cannot tell apart (for the default encoder,
    /// text that differs in case, or after its 256th token). By default every text has its own.
    ///
    /// # Errors
    /// [`EncoderError`].
    fn inputs(&mut self, texts: &[&str]) -> Result<Vec<InputKey>, EncoderError> {
        Ok(texts.iter().map(|text| text_key(text)).collect())
    }

    /// The embedding of each text, in order. `done` is told how many more are finished.
    ///
    /// # Errors
    /// [`EncoderError`].
    fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError>;
}

/// The first 16 bytes of the SHA-256 of a text.
pub(crate) fn text_key(text: &str) -> InputKey {
    let mut key = InputKey::default();
    key.copy_from_slice(&Sha256::digest(text)[..16]);
    key
}

/// An encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EncoderError {
    /// Its files are missing, damaged or cannot be fetched.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// A file of its configuration cannot be used.
    #[error("failed to read `{path}` of the encoder: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// The tokenizer's file cannot be used.
    #[error(
        "failed to load the tokenizer `{path}`: {message}\nhint: it should be a `tokenizer.json` of the tokenizers library"
    )]
    TokenizerFile {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// A text could not be tokenized.
    #[error("failed to tokenize: {message}")]
    Tokenize {
        /// The tokenizer's reason.
        message: String,
    },
    /// ONNX Runtime cannot be loaded.
    #[error(
        "failed to load ONNX Runtime from `{path}`: {message}\nhint: `m3 setup --force` fetches it again, or set ORT_DYLIB_PATH to version 1.24 or newer"
    )]
    Runtime {
        /// The library.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A build of ONNX Runtime that reports to its maker, in a process that does not keep it from doing so.
    #[error(
        "`{path}` is a build of ONNX Runtime that reports to its maker\nhint: set {NO_REPORTS}=1 before the program starts, or use version {}, which has no collector",
        pins::RUNTIME_VERSION
    )]
    Reports {
        /// The library.
        path: PathBuf,
    },
    /// There is not enough memory for the encoder.
    #[error(
        "not enough memory for the encoder: {message}\nhint: it needs some 200 MB, and 500 MB of addresses (`ulimit -v`); end what else runs, or raise the limit of this shell or container"
    )]
    Memory {
        /// The runtime's reason.
        message: String,
    },
    /// The graph cannot be loaded, or does not look like a sentence encoder.
    #[error(
        "failed to use the encoder's ONNX graph: {message}\nhint: it should take `input_ids` and `attention_mask` and give `sentence_embedding` or `last_hidden_state`"
    )]
    Graph {
        /// The reason.
        message: String,
    },
    /// ONNX Runtime failed while it computed.
    #[error("failed to run the encoder: {message}")]
    Run {
        /// The reason.
        message: String,
    },
}

impl EncoderError {
    /// What ONNX Runtime or the system's loader said: a lack of memory, or else what `otherwise` makes of it.
    fn of_runtime(message: String, otherwise: impl FnOnce(String) -> Self) -> Self {
        // C++ allocations, those of the runtime's arenas, mappings and threads.
        let of_memory = ["bad_alloc", "Failed to allocate memory", "annot allocate memory"];
        if of_memory.iter().any(|part| message.contains(part)) {
            Self::Memory { message: message.trim_end().to_owned() }
        } else {
            otherwise(message)
        }
    }
}
