//! In the place of the registry in builds without fastembed: there are no models.

use std::path::{Path, PathBuf};

use super::asset_error::AssetError;
use super::install_event::InstallEvent;
use super::options::AssetOptions;

/// A text model that can be fetched; there is none.
pub(super) enum Model {}

impl Model {
    /// Returns `None` if the options name no model.
    ///
    /// # Errors
    /// [`AssetError::NoModels`].
    pub(super) fn named(options: &AssetOptions) -> Result<Option<&'static Self>, AssetError> {
        options.model_name().map_or(Ok(None), |name| Err(AssetError::NoModels(name.to_owned())))
    }

    pub(super) fn name(&self) -> &str {
        match *self {}
    }

    pub(super) fn installed(&self, _: &Path) -> Option<PathBuf> {
        match *self {}
    }

    pub(super) fn install(&self, _: &Path, _: &mut dyn FnMut(InstallEvent)) -> Result<(), AssetError> {
        match *self {}
    }
}
