//! The places where the encoder is looked for, and the cache folder.

use std::path::PathBuf;
use std::sync::OnceLock;

use super::asset_error::AssetError;
use super::pins::MODEL_PREFIX;

/// The places where the encoder is looked for, and the cache folder.
#[derive(Debug, Clone)]
pub struct AssetOptions {
    /// The cache folder, for fetched files and embeddings.
    pub cache_dir: PathBuf,
    /// An encoder placed by hand (`--encoder`, `M3_ENCODER_DIR`), or a model by its name after
    /// [`MODEL_PREFIX`].
    pub encoder_dir: Option<PathBuf>,
    /// ONNX Runtime placed by hand (`ORT_DYLIB_PATH`).
    pub runtime_library: Option<PathBuf>,
}

static INSTALLED: OnceLock<InstalledFiles> = OnceLock::new();

/// Files that were installed beside m3, by a manager of packages.
#[derive(Debug, Clone, Default)]
pub struct InstalledFiles {
    /// A folder with the default encoder's files.
    pub encoder_dir: Option<PathBuf>,
    /// The library of ONNX Runtime.
    pub runtime_library: Option<PathBuf>,
}

impl InstalledFiles {
    /// Uses these files in this process wherever the user names none. Only the first call counts.
    pub fn set(self) {
        // A second call is ignored: the files do not move while a process runs.
        let _ = INSTALLED.set(self);
    }
}

impl AssetOptions {
    /// The options that the environment sets: `M3_CACHE_DIR` (or the user's cache folder) unless `cache_dir` is given,
    /// `M3_ENCODER_DIR` and `ORT_DYLIB_PATH`. Files that it does not name are the [`InstalledFiles`].
    ///
    /// # Errors
    /// [`AssetError::NoCacheDir`] without a home folder.
    pub fn from_env(cache_dir: Option<PathBuf>) -> Result<Self, AssetError> {
        let installed = INSTALLED.get().cloned().unwrap_or_default();
        let path = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Ok(Self {
            cache_dir: cache_dir.or_else(|| path("M3_CACHE_DIR")).map_or_else(user_cache_dir, Ok)?,
            encoder_dir: path("M3_ENCODER_DIR").or(installed.encoder_dir),
            runtime_library: path("ORT_DYLIB_PATH").or(installed.runtime_library),
        })
    }

    /// The model that is named instead of a folder, without [`MODEL_PREFIX`].
    pub(super) fn model_name(&self) -> Option<&str> {
        self.encoder_dir.as_deref()?.to_str()?.strip_prefix(MODEL_PREFIX)
    }
}

fn user_cache_dir() -> Result<PathBuf, AssetError> {
    use etcetera::BaseStrategy as _;
    let strategy = etcetera::choose_base_strategy().map_err(|_| AssetError::NoCacheDir)?;
    Ok(strategy.cache_dir().join("m3"))
}
