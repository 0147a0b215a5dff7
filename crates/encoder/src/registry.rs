//! fastembed's registry of text models: their names, their files on the Hugging Face Hub, how they are pooled.
//!
//! Only the registry is used. The models run in m3's own session, as encoders in folders do: without padding, with m3's
//! cache, and with the ONNX Runtime that m3 has checked (docs/design.md).

use std::sync::LazyLock;

use fastembed::{EmbeddingModel, ModelInfo, TextEmbedding};
use m3_support::names;

use super::asset_error::AssetError;
use super::options::AssetOptions;
use super::pins;
use super::pooling::Pooling;

/// The most tokens that fastembed gives to a model, whatever the model could read: its `DEFAULT_MAX_LENGTH`.
const MAX_TOKENS: usize = 512;

/// The files that every model has beside its graph.
const BESIDE: [&str; 3] = ["tokenizer.json", "config.json", "tokenizer_config.json"];

/// A text model that can be fetched.
#[derive(Debug, Clone)]
pub(super) struct Model {
    /// The name of the model in fastembed.
    pub(super) name: String,
    /// The model's repository on the Hub, `owner/name`.
    pub(super) repository: String,
    /// The model's files, the graph first.
    pub(super) files: Vec<HubFile>,
    /// How the vectors of a text's tokens become one.
    pub(super) pooling: Pooling,
    /// The length of the model's embeddings.
    dimensions: usize,
    /// The most tokens that the model is given, special ones included; fewer if its tokenizer's configuration says so.
    pub(super) max_tokens: usize,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HubFile {
    /// The path of the file in the repository.
    pub(super) path: String,
    /// The name of the file in the encoder's folder.
    pub(super) name: String,
}

static MODELS: LazyLock<Vec<Model>> = LazyLock::new(|| {
    let mut models: Vec<Model> = TextEmbedding::list_supported_models().into_iter().map(Model::new).collect();
    models.sort_by(|a, b| a.name.cmp(&b.name));
    models
});

impl Model {
    /// The model that these options name; `None` if they name a folder or nothing.
    ///
    /// # Errors
    /// [`AssetError::UnknownModel`], with the names that look most like it.
    pub(super) fn named(options: &AssetOptions) -> Result<Option<&'static Self>, AssetError> {
        options.model_name().map(find).transpose()
    }

    /// The name of the model in fastembed.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn new(info: ModelInfo<EmbeddingModel>) -> Self {
        let graph = HubFile { path: info.model_file, name: "model.onnx".to_owned() };
        // A graph names the weights beside it without a folder.
        let beside = info.additional_files.into_iter().chain(BESIDE.map(str::to_owned));
        let beside = beside.map(|path| {
            let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
            HubFile { path, name }
        });
        let pooling = match TextEmbedding::get_default_pooling_method(&info.model) {
            Some(fastembed::Pooling::Mean) => Pooling::Mean,
            Some(fastembed::Pooling::Cls) | None => Pooling::Cls,
        };
        // all-MiniLM-L6-v2 was trained on fewer tokens than its tokenizer's configuration says; the default encoder has
        // the same limit.
        let max_tokens = match info.model {
            EmbeddingModel::AllMiniLML6V2 | EmbeddingModel::AllMiniLML6V2Q => pins::ENCODER_MAX_TOKENS,
            _ => MAX_TOKENS,
        };
        let (name, repository, dimensions) = (info.model.to_string(), info.model_code, info.dim);
        let files = std::iter::once(graph).chain(beside).collect();
        Self { name, repository, files, pooling, dimensions, max_tokens }
    }
}

/// The model of this name; case does not count, as in fastembed.
fn find(name: &str) -> Result<&'static Model, AssetError> {
    MODELS.iter().find(|model| model.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        AssetError::UnknownModel {
            name: name.to_owned(),
            near: names::list_of_nearest(name, MODELS.iter().map(|model| model.name.as_str()), 60),
            count: MODELS.len(),
        }
    })
}

/// The names of all models, for `--encoder fastembed:NAME`, with the length of their embeddings; sorted.
#[must_use]
pub fn model_names() -> Vec<(&'static str, usize)> {
    MODELS.iter().map(|model| (model.name.as_str(), model.dimensions)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_model_is_found_by_its_name_in_fastembed() {
        let model = find("bgesmallENV15").unwrap();
        assert_eq!((model.name.as_str(), model.dimensions), ("BGESmallENV15", 384));
        assert_eq!(model.repository, "Xenova/bge-small-en-v1.5");
        assert_eq!((model.pooling, model.max_tokens), (Pooling::Cls, 512));
        let graph = HubFile { path: "onnx/model.onnx".to_owned(), name: "model.onnx".to_owned() };
        assert_eq!(model.files[0], graph);
        let default = find("AllMiniLML6V2").unwrap();
        assert_eq!((default.pooling, default.max_tokens), (Pooling::Mean, 256));
    }

    #[test]
    fn no_two_files_of_a_model_have_one_name() {
        assert!(MODELS.len() > 40, "{}", MODELS.len());
        for model in MODELS.iter() {
            let names: BTreeSet<&str> = model.files.iter().map(|file| file.name.as_str()).collect();
            assert_eq!(names.len(), model.files.len(), "{model:?}");
            let is_plain =
                |name: &&str| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\']);
            assert!(names.iter().all(is_plain), "{model:?}");
        }
    }

    #[test]
    fn a_mistyped_name_is_answered_with_near_ones() {
        let message = find("BGESmalENV15").unwrap_err().to_string();
        assert!(message.contains("`BGESmallENV15`") && message.contains("did you mean"), "{message}");
    }
}
