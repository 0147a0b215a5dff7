//! The settings to run an encoder with, read from the files beside its graph, and the encoder's fingerprint.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use m3_embedding::Identity;
use m3_support::text::hexadecimal;
use memchr::memmem;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::assets::{Assets, graph_file, verify};
use super::digest::Digests;
use super::pooling::Pooling;
use super::source::Source;
use super::{OnnxError, pins};

/// The settings in an encoder's folder that say how to run it.
#[derive(Debug, Clone)]
pub(super) struct EncoderConfig {
    /// Longer texts are cut to this many tokens.
    pub(super) max_tokens: usize,
    /// How the vectors of a text's tokens become one embedding.
    pub(super) pooling: Pooling,
    /// Whether texts may share a batch. Dynamic quantization fits its scale to the whole batch, so a text's
    /// embedding would depend on its neighbours.
    pub(super) is_batchable: bool,
}

/// The maximum length of an encoder whose files do not name one: BERT's.
const DEFAULT_MAX_TOKENS: usize = 512;

impl EncoderConfig {
    /// Reads the configuration and computes the identity.
    pub(super) fn read(assets: &Assets, cache_dir: &Path) -> Result<(Self, Identity), OnnxError> {
        let folder = &assets.encoder_dir;
        let mut digests = Digests::open(cache_dir);
        let config = read_json(folder, "config.json")?;
        let (name, max_tokens, pooling, parts, is_batchable) = if assets.is_default {
            let parts = default_parts(folder, &mut digests)?;
            (pins::ENCODER_NAME.to_owned(), pins::ENCODER_MAX_TOKENS, Pooling::Mean, parts, true)
        } else {
            let graph = Graph::read(folder)?;
            check_modules(folder, &graph)?;
            let parts = custom_parts(folder, &graph, &mut digests)?;
            // This text is part of `DynamicQuantizeLinear`, `DynamicQuantizeMatMul` and `DynamicQuantizeLSTM`.
            let is_batchable = !graph.contains(b"DynamicQuantize");
            (encoder_name(folder), max_tokens(folder, &config)?, pooling(folder)?, parts, is_batchable)
        };
        let dimensions = number(&config, "hidden_size").or_else(|| number(&config, "dim"));
        let dimensions = dimensions.and_then(|length| usize::try_from(length).ok()).unwrap_or_default();
        digests.save();
        let identity =
            Identity { name, fingerprint: fingerprint(&parts, max_tokens, pooling), dimensions, max_tokens };
        Ok((Self { max_tokens, pooling, is_batchable }, identity))
    }
}

/// The digests that make up the default encoder, each checked against its pin.
fn default_parts(folder: &Path, digests: &mut Digests) -> Result<Vec<String>, OnnxError> {
    let mut parts = vec![hexadecimal(&Sha256::digest(pins::GRAPH))];
    for file in pins::ENCODER_FILES.iter().filter(|file| file.name != "config.json") {
        verify(digests, &folder.join(file.name), file.sha256)?;
        parts.push(file.sha256.to_owned());
    }
    Ok(parts)
}

/// The name of a fetched encoder; for others, the folder's name.
fn encoder_name(folder: &Path) -> String {
    if let Some(source) = Source::read(folder) {
        return source.encoder;
    }
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The digests of graph, external weights and tokenizer.
fn custom_parts(folder: &Path, graph: &Graph, digests: &mut Digests) -> Result<Vec<String>, OnnxError> {
    let mut files = vec![graph.path.clone(), folder.join("tokenizer.json")];
    files.extend(graph.external_files());
    let digest = |path: PathBuf| {
        digests.sha256(&path).map_err(|cause| OnnxError::File { path, message: cause.to_string() })
    };
    files.into_iter().map(digest).collect()
}

/// An ONNX file, searched for the few things that must be known before ONNX Runtime reads it.
struct Graph {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Graph {
    fn read(folder: &Path) -> Result<Self, OnnxError> {
        let path = graph_file(folder).unwrap_or_else(|| folder.join("model.onnx"));
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Self { path, bytes }),
            Err(cause) => Err(OnnxError::File { path, message: cause.to_string() }),
        }
    }

    fn contains(&self, pattern: &[u8]) -> bool {
        memmem::find(&self.bytes, pattern).is_some()
    }

    /// The files that hold the weights, sorted. ONNX writes each name as a pair of strings in its protocol buffer, of
    /// which the first is `location` (onnx.proto3, `TensorProto.external_data`).
    fn external_files(&self) -> Vec<PathBuf> {
        const KEY: &[u8] = b"\x0a\x08location\x12";
        let mut names = BTreeSet::new();
        for at in memmem::find_iter(&self.bytes, KEY) {
            if let Some((&length, text)) = self.bytes[at + KEY.len()..].split_first()
                && let Some(name) = text.get(..usize::from(length))
                && let Ok(name) = std::str::from_utf8(name)
            {
                names.insert(name);
            }
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        names.into_iter().map(|name| folder.join(name)).collect()
    }
}

fn fingerprint(parts: &[String], max_tokens: usize, pooling: Pooling) -> String {
    let text = format!("{} max_tokens={max_tokens} pooling={pooling:?}", parts.join(" "));
    format!("sha256:{}", hexadecimal(&Sha256::digest(text)))
}

/// The maximum length, from the files of sentence-transformers, transformers and the model's configuration, in this
/// order.
fn max_tokens(folder: &Path, config: &Value) -> Result<usize, OnnxError> {
    let lengths = [
        number(&read_json(folder, "sentence_bert_config.json")?, "max_seq_length"),
        number(&read_json(folder, "tokenizer_config.json")?, "model_max_length"),
        number(config, "max_position_embeddings"),
    ];
    // transformers writes 10^30 for "not known".
    let known = lengths.into_iter().flatten().find(|&length| (3..1_000_000).contains(&length));
    Ok(known.and_then(|length| usize::try_from(length).ok()).unwrap_or(DEFAULT_MAX_TOKENS))
}

/// The pooling: the mean, unless sentence-transformers' pooling module names another one, by flags such as
/// `pooling_mode_cls_token` or, from its version 6 on, by `pooling_mode`.
fn pooling(folder: &Path) -> Result<Pooling, OnnxError> {
    let name = "1_Pooling/config.json";
    let file = read_json(folder, name)?;
    let mut modes: Vec<&str> = match file.get("pooling_mode") {
        Some(Value::String(mode)) => vec![mode],
        Some(Value::Array(modes)) => modes.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let flags = file.as_object().into_iter().flatten();
    modes.extend(flags.filter_map(|(key, value)| match (key.strip_prefix("pooling_mode_"), value) {
        (Some(mode), Value::Bool(true)) => Some(mode),
        _ => None,
    }));
    match modes.as_slice() {
        [] | ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::Cls),
        other => {
            let modes = other.join(" with ");
            let message = format!("pooling `{modes}` is not supported; only `mean` and `cls` are");
            Err(OnnxError::File { path: folder.join(name), message })
        }
    }
}

/// Refuses modules that sentence-transformers would run after the graph and m3 would leave out, such as a dense layer.
/// A graph with an output `sentence_embedding` contains them.
fn check_modules(folder: &Path, graph: &Graph) -> Result<(), OnnxError> {
    let modules = read_json(folder, "modules.json")?;
    if graph.contains(b"sentence_embedding") {
        return Ok(());
    }
    for module in modules.as_array().into_iter().flatten() {
        let name = module.get("type").and_then(Value::as_str).unwrap_or_default();
        let name = name.rsplit('.').next().unwrap_or_default();
        if !["Transformer", "Pooling", "Normalize"].contains(&name) {
            let message = format!(
                "its module `{name}` is not supported; export the whole encoder to ONNX, with an output \
                 `sentence_embedding`"
            );
            return Err(OnnxError::File { path: folder.join("modules.json"), message });
        }
    }
    Ok(())
}

/// The value of a JSON file; null if the file is missing.
fn read_json(folder: &Path, name: &str) -> Result<Value, OnnxError> {
    let path = folder.join(name);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Value::Null),
        Err(cause) => return Err(OnnxError::File { path, message: cause.to_string() }),
    };
    let not_json = |cause| OnnxError::File { path, message: format!("not JSON: {cause}") };
    serde_json::from_slice(&text).map_err(not_json)
}

/// The number of this name in a JSON object.
fn number(value: &Value, key: &str) -> Option<u64> {
    value.get(key)?.as_u64()
}
