//! The sentence encoder of m3: text in, unit vectors out, computed by ONNX Runtime on the CPU.
//!
//! [`OnnxEncoder`] implements [`Encoder`](m3_embedding::Encoder), [`Cache`] implements
//! [`EmbeddingCache`](m3_embedding::EmbeddingCache). [`Assets`] finds and fetches the files of the default encoder.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use m3_embedding::{Encoder as _, cosine};
//! use m3_encoder::{AssetOptions, Assets, OnnxEncoder};
//!
//! // The files in the cache folder, fetched on first use: some 110 MB.
//! let options = AssetOptions::from_env(None)?;
//! let cache_dir = options.cache_dir.clone();
//! let assets = Assets::locate(&options, &mut |_| ())?;
//! let mut encoder = OnnxEncoder::open(assets, &cache_dir)?;
//! let vectors = encoder.embed(&["a red car", "a crimson automobile"], &mut |_| ())?;
//! assert!(cosine(&vectors[0], &vectors[1]) > 0.7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod asset_error;
mod assets;
mod cache;
mod cache_error;
mod cache_usage;
mod config;
mod digest;
mod fetch;
#[cfg(feature = "fastembed")]
mod hub;
mod install_event;
#[cfg(feature = "fastembed")]
mod model_files;
#[cfg(not(feature = "fastembed"))]
mod no_models;
mod options;
pub mod pins;
mod pooling;
#[cfg(feature = "fastembed")]
mod registry;
mod runtime;
mod session;
mod source;
mod tokens;

use std::path::PathBuf;

pub use asset_error::AssetError;
pub use assets::{Assets, default_encoder_dir};
pub use cache::Cache;
pub use cache_error::{CacheError, CacheTrouble};
pub use cache_usage::CacheUsage;
pub use fetch::FetchError;
pub use install_event::InstallEvent;
use m3_embedding::EncoderError;
#[cfg(not(feature = "fastembed"))]
use no_models as registry;
pub use options::{AssetOptions, InstalledFiles};
#[cfg(feature = "fastembed")]
pub use registry::model_names;
pub use runtime::{NO_REPORTS, left_behind};
pub use session::{OnnxEncoder, finish};

/// Why the encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OnnxError {
    /// The encoder's files are missing, damaged or cannot be fetched.
    #[error(transparent)]
    Asset(#[from] AssetError),
    /// A configuration file cannot be used.
    #[error("failed to read `{path}` of the encoder: {message}")]
    File {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// The tokenizer's file cannot be used.
    #[error(
        "failed to load the tokenizer `{path}`: {message}\nhint: it should be a `tokenizer.json` of the tokenizers library"
    )]
    TokenizerFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// A text could not be tokenized.
    #[error("failed to tokenize: {0}")]
    Tokenize(String),
    /// ONNX Runtime cannot be loaded.
    #[error(
        "failed to load ONNX Runtime from `{path}`: {message}\nhint: set ORT_DYLIB_PATH to version 1.24 or newer, or have it fetched again"
    )]
    Runtime {
        /// The library.
        path: PathBuf,
        /// The reason.
        message: String,
    },
    /// ONNX Runtime cannot be mapped into memory, for which the system's loader gives no reason.
    #[error(
        "failed to load ONNX Runtime: {0}\nhint: it takes 500 MB of addresses (`ulimit -v`), and a folder from which programs may be run (no `noexec`): raise the limit, or set M3_CACHE_DIR to another folder"
    )]
    Unmapped(String),
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
        "not enough memory for the encoder: {0}\nhint: it needs some 200 MB, and 500 MB of addresses (`ulimit -v`); end what else runs, or raise the limit of this shell or container"
    )]
    Memory(String),
    /// The graph cannot be loaded, or does not look like a sentence encoder.
    #[error(
        "failed to use the encoder's ONNX graph: {0}\nhint: it should take `input_ids` and `attention_mask` and give `sentence_embedding` or `last_hidden_state`"
    )]
    Graph(String),
    /// ONNX Runtime failed while it computed.
    #[error("failed to run the encoder: {0}")]
    Run(String),
}

impl OnnxError {
    /// Turns a message of ONNX Runtime or the system's loader into an error: a lack of memory or a failed mapping if
    /// the message says so, else the error that `otherwise` makes of it.
    fn of_runtime(message: String, otherwise: impl FnOnce(String) -> Self) -> Self {
        // Messages of C++ allocations, the runtime's arenas, memory mappings and threads.
        let reasons = [
            "std::bad_alloc",
            "Failed to allocate memory",
            "Cannot allocate memory",
            "cannot allocate memory",
        ];
        // The message begins with a place in the runtime's source, which is left out.
        if let Some(start) = reasons.iter().find_map(|reason| message.find(reason)) {
            Self::Memory(message[start..].trim_end().to_owned())
        } else if message.contains("failed to map segment") {
            Self::Unmapped(message)
        } else {
            otherwise(message)
        }
    }
}

impl From<OnnxError> for EncoderError {
    fn from(error: OnnxError) -> Self {
        Self::new(error)
    }
}
