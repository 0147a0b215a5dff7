//! `--fidelity-model`: the model that arguments are compared by.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use m3_score::fidelity::model::Model;
use m3_support::text::shortened;

use crate::cli::common::failure::{Failure, code};

/// The option that names the fidelity model.
#[derive(Debug, Args)]
pub(crate) struct ModelArg {
    /// Compare arguments by the model in this folder, as `m3 fidelity --train` makes it [default: the built-in one]
    #[arg(long = "fidelity-model", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// The name of the model's file in its folder.
pub(crate) const MODEL_FILE: &str = "model.json";

/// The largest model that is read, in bytes.
const LARGEST_MODEL: u64 = 1 << 26;

impl ModelArg {
    /// Reads the model, or takes the built-in one.
    pub(crate) fn open(&self) -> Result<Arc<Model>, Failure> {
        Ok(self.open_other()?.unwrap_or_else(Model::built_in))
    }

    /// Reads the model, if another than the built-in one is asked for.
    pub(crate) fn open_other(&self) -> Result<Option<Arc<Model>>, Failure> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = if folder.is_dir() { folder.join(MODEL_FILE) } else { folder.clone() };
        let name = shortened(&path.display().to_string(), 300);
        let failure = |why: String| {
            Failure::new(
                code::INPUT,
                format!(
                    "the model `{name}` cannot be used: {why}\nhint: `m3 fidelity --train pairs.json --model-out DIR` makes one"
                ),
            )
        };
        let file = std::fs::File::open(&path).map_err(|error| {
            let is_empty = folder.is_dir() && error.kind() == std::io::ErrorKind::NotFound;
            failure(if is_empty { format!("the folder has no `{MODEL_FILE}`") } else { error.to_string() })
        })?;
        let mut bytes = Vec::new();
        file.take(LARGEST_MODEL).read_to_end(&mut bytes).map_err(|error| failure(error.to_string()))?;
        Model::read(&bytes).map(|model| Some(Arc::new(model))).map_err(|error| failure(error.to_string()))
    }
}
