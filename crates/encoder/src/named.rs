//! Encoders by name (`fastembed:BGESmallENV15`) in the place of a folder.

use std::path::{Path, PathBuf};

use super::asset_error::AssetError;
use super::install_event::InstallEvent;
use super::options::AssetOptions;

/// A model that the user named.
#[cfg(feature = "fastembed")]
pub(super) struct Named {
    model: &'static super::registry::Model,
}

/// Without the registry there are no models.
#[cfg(not(feature = "fastembed"))]
pub(super) enum Named {}

#[cfg(feature = "fastembed")]
impl Named {
    /// The model that these options name; `None` if they name a folder or nothing.
    ///
    /// # Errors
    /// [`AssetError::UnknownModel`].
    pub(super) fn model(options: &AssetOptions) -> Result<Option<Self>, AssetError> {
        let found = options.model_name().map(super::registry::find).transpose()?;
        Ok(found.map(|model| Self { model }))
    }

    /// The name of the model in messages.
    pub(super) fn name(&self) -> &'static str {
        &self.model.name
    }

    /// The folder of the model, if all its files are there.
    pub(super) fn folder(&self, cache_dir: &Path) -> Option<PathBuf> {
        super::model_files::find(cache_dir, self.model)
    }

    /// Fetches the model's files; the caller holds the lock of `cache_dir`.
    pub(super) fn install(
        &self,
        cache_dir: &Path,
        progress: &mut dyn FnMut(InstallEvent),
    ) -> Result<(), AssetError> {
        super::model_files::install(cache_dir, self.model, progress)
    }
}

#[cfg(not(feature = "fastembed"))]
impl Named {
    /// Returns `None` if the options name no model. This build knows no models.
    ///
    /// # Errors
    /// [`AssetError::NoModels`].
    pub(super) fn model(options: &AssetOptions) -> Result<Option<Self>, AssetError> {
        match options.model_name() {
            Some(name) => Err(AssetError::NoModels { name: name.to_owned() }),
            None => Ok(None),
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match *self {}
    }

    pub(super) fn folder(&self, _: &Path) -> Option<PathBuf> {
        match *self {}
    }

    pub(super) fn install(&self, _: &Path, _: &mut dyn FnMut(InstallEvent)) -> Result<(), AssetError> {
        match *self {}
    }
}
