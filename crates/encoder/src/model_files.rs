//! Fetches the files of a named model into a folder that is then an encoder like any other.
//!
//! What arrives is kept in a folder beside the final one, each file under a name that has its version in it: an
//! interrupted download goes on where it stopped, unless the file has changed. The folder is renamed when it is whole.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};

use m3_support::text::hexadecimal;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::asset_error::{AssetError, file_error, remove_file, remove_folder};
use super::digest::hash_file;
use super::hub::{self, Facts, Hub, HubFailure};
use super::install_event::InstallEvent;
use super::pins::MODEL_PREFIX;
use super::pooling::Pooling;
use super::registry::{HubFile, Model};
use super::source::{Source, SourceFile};

/// The most requests for a file whose server breaks off. Each of them must bring some bytes for another to follow.
const TRIES: usize = 3;

/// The folder of a model below the cache folder.
fn folder(cache_dir: &Path, model: &Model) -> PathBuf {
    cache_dir.join("encoders").join("fastembed").join(&model.name)
}

impl Model {
    /// The folder of the model, if all its files are there.
    pub(super) fn installed(&self, cache_dir: &Path) -> Option<PathBuf> {
        let folder = folder(cache_dir, self);
        Source::read(&folder)?.is_complete(&folder).then_some(folder)
    }

    /// Fetches the model's files and replaces its folder, if there is one. The caller holds the lock of `cache_dir`.
    pub(super) fn install(
        &'static self,
        cache_dir: &Path,
        progress: &mut dyn FnMut(InstallEvent),
    ) -> Result<(), AssetError> {
        let folder = folder(cache_dir, self);
        let partial = folder.with_file_name(format!("{}.partial", self.name));
        let (sender, events) = mpsc::channel();
        let (to, from) = (folder.clone(), partial.clone());
        // The download runs on its own thread, because the caller's thread may belong to a runtime already.
        let fetching = std::thread::spawn(move || Fetch::run(self, from, to, sender));
        events.into_iter().for_each(progress);
        let stopped = |_| Err(not_fetched(self, None, HubFailure::new("the download stopped", "try again")));
        let source = fetching.join().unwrap_or_else(stopped)?;
        place(self, &source, &partial, &folder)
    }
}

/// A download into a folder.
struct Fetch {
    model: &'static Model,
    hub: Hub,
    partial: PathBuf,
    events: Sender<InstallEvent>,
    total: u64,
}

/// A file to download, the server's facts about it, and the path to write it to.
struct Part<'m> {
    file: &'m HubFile,
    facts: Facts,
    path: PathBuf,
}

impl Fetch {
    /// Downloads everything into `partial`.
    fn run(
        model: &'static Model,
        partial: PathBuf,
        folder: PathBuf,
        events: Sender<InstallEvent>,
    ) -> Result<Source, AssetError> {
        let hub = Hub::from_env(&model.repository).map_err(|failure| not_fetched(model, None, failure))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|cause| file_error("start a download into", &partial, cause))?;
        let mut fetch = Self { model, hub, partial, events, total: 0 };
        runtime.block_on(fetch.download_all(folder))
    }

    async fn download_all(&mut self, folder: PathBuf) -> Result<Source, AssetError> {
        let model = self.model;
        let mut parts = Vec::new();
        for file in &model.files {
            let facts = self.hub.describe(&file.path).await.map_err(|failure| self.failed(file, failure))?;
            let path = self.partial.join(part_name(file, &facts));
            parts.push(Part { file, facts, path });
        }
        let commits: BTreeSet<&str> = parts.iter().filter_map(|part| part.facts.commit.as_deref()).collect();
        if commits.len() > 1 {
            let failure = HubFailure::new("it changed while it was read", "try again");
            return Err(not_fetched(self.model, Some(self.hub.shown()), failure));
        }
        let commit = commits.first().map(|&commit| commit.to_owned());
        self.total = parts.iter().filter_map(|part| part.facts.size).sum();
        let partial = &self.partial;
        std::fs::create_dir_all(partial).map_err(|cause| file_error("create", partial, cause))?;
        remove_others(partial, &parts)?;
        self.tell(InstallEvent::Download {
            what: format!("{MODEL_PREFIX}{}", self.model.name),
            from: Some(self.hub.shown()),
            into: folder,
            total: self.total,
        });
        let mut files = Vec::new();
        for part in &parts {
            let before = files.iter().map(|file: &SourceFile| file.size).sum();
            files.push(self.download_file(part, before).await?);
        }
        let encoder = format!("{MODEL_PREFIX}{}", self.model.name);
        Ok(Source { encoder, repository: self.hub.shown(), commit, files })
    }

    /// Downloads one file and checks it; `before` is the total size of the files that are done.
    async fn download_file(&self, part: &Part<'_>, before: u64) -> Result<SourceFile, AssetError> {
        if part.facts.etag.is_none() {
            // The file on disk may be the beginning of another version.
            remove_file(&part.path)?;
        }
        for tries_left in (0..TRIES).rev() {
            let start = file_size(&part.path);
            match self.download_rest(part, before).await? {
                None => break,
                Some(failure)
                    if tries_left > 0 && failure.is_interruption && file_size(&part.path) > start => {}
                Some(failure) => return Err(self.failed(part.file, failure)),
            }
        }
        self.checked(part)
    }

    /// Downloads the missing part of a file; a failure of the server is the inner value.
    async fn download_rest(&self, part: &Part<'_>, before: u64) -> Result<Option<HubFailure>, AssetError> {
        let write_error = |cause| file_error("write", &part.path, cause);
        let mut done = file_size(&part.path);
        if done > 0 && Some(done) == part.facts.size {
            return Ok(None);
        }
        let (mut response, facts) = match self.hub.read_from(&part.file.path, done).await {
            Ok(answer) => answer,
            Err(failure) => return Ok(Some(failure)),
        };
        if facts.etag != part.facts.etag {
            return Ok(Some(HubFailure::new("it changed while it was read", "try again")));
        }
        if hub::first_byte(&response) != done {
            done = 0;
        }
        let mut file = OpenOptions::new().create(true).append(true).open(&part.path).map_err(write_error)?;
        file.set_len(done).map_err(write_error)?;
        loop {
            let bytes = match self.hub.next(&mut response).await {
                Ok(Some(bytes)) => bytes,
                Ok(None) => break,
                Err(failure) => return Ok(Some(broken_off(&failure, done, part.facts.size))),
            };
            done += bytes.as_ref().len() as u64;
            if part.facts.size.is_some_and(|size| done > size) {
                drop(file);
                remove_file(&part.path)?;
                return Ok(Some(HubFailure::new("it sent more than the file has", "try again")));
            }
            file.write_all(bytes.as_ref()).map_err(write_error)?;
            self.tell(InstallEvent::Fetching { done: before + done, total: self.total.max(before + done) });
        }
        file.sync_all().map_err(write_error)?;
        let is_whole = part.facts.size.is_none_or(|size| size == done);
        let ended = HubFailure { is_interruption: true, ..HubFailure::new("it ended", "") };
        Ok((!is_whole).then(|| broken_off(&ended, done, part.facts.size)))
    }

    /// Checks that a file has the digest that the Hub states, if it states one, and is JSON if its name ends in
    /// `.json`.
    fn checked(&self, part: &Part<'_>) -> Result<SourceFile, AssetError> {
        let read_error = |cause| file_error("read", &part.path, cause);
        let sha256 = hash_file(&part.path).map_err(read_error)?;
        if part.facts.sha256.as_ref().is_some_and(|expected| *expected != sha256) {
            remove_file(&part.path)?;
            let reason = format!("what it sent has the SHA-256 {sha256}, which is not the file's");
            return Err(self.failed(part.file, HubFailure::new(reason, "try again")));
        }
        if Path::new(&part.file.name).extension().is_some_and(|extension| extension == "json") {
            let bytes = std::fs::read(&part.path).map_err(read_error)?;
            if let Err(cause) = serde_json::from_slice::<Value>(&bytes) {
                remove_file(&part.path)?;
                let reason = format!("what it sent is no JSON: {cause}");
                let hint = "see whether `HF_ENDPOINT` names the Hub or a mirror of it, and whether a proxy answers in its place";
                return Err(self.failed(part.file, HubFailure::new(reason, hint)));
            }
        }
        let HubFile { path, name } = part.file.clone();
        Ok(SourceFile { path, name, size: file_size(&part.path), sha256 })
    }

    fn failed(&self, file: &HubFile, failure: HubFailure) -> AssetError {
        let from = format!("`{}` of {}", file.path, self.hub.shown());
        not_fetched(self.model, Some(from), failure)
    }

    fn tell(&self, event: InstallEvent) {
        // The receiver is gone only if its thread was stopped.
        let _ = self.events.send(event);
    }
}

fn not_fetched(model: &Model, from: Option<String>, failure: HubFailure) -> AssetError {
    let HubFailure { reason, hint, .. } = failure;
    let from = from.unwrap_or_else(|| model.repository.clone());
    AssetError::ModelNotFetched { model: model.name.clone(), from, reason, hint }
}

/// A file's name while it is downloaded: another one for each version.
fn part_name(file: &HubFile, facts: &Facts) -> String {
    let version = facts.etag.as_deref().unwrap_or_default();
    let version = hexadecimal(&Sha256::digest(format!("{} {version} {:?}", file.path, facts.size))[..8]);
    format!("{}.{version}", file.name)
}

/// Removes what is left of other versions.
fn remove_others(partial: &Path, parts: &[Part<'_>]) -> Result<(), AssetError> {
    let entries = std::fs::read_dir(partial).map_err(|cause| file_error("read", partial, cause))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        if parts.iter().all(|part| part.path != path) {
            if path.is_dir() { remove_folder(&path)? } else { remove_file(&path)? }
        }
    }
    Ok(())
}

fn file_size(path: &Path) -> u64 {
    path.metadata().map_or(0, |metadata| metadata.len())
}

fn broken_off(failure: &HubFailure, done: u64, size: Option<u64>) -> HubFailure {
    let whole = size.map_or_else(String::new, |size| format!(" of {size}"));
    HubFailure {
        reason: format!("{} after {done}{whole} bytes", failure.reason),
        hint: "try again: what was fetched is kept, and the next run goes on there",
        is_interruption: failure.is_interruption,
    }
}

/// Turns the folder of downloaded files into the folder of an encoder, and moves it to its place.
fn place(model: &Model, source: &Source, partial: &Path, folder: &Path) -> Result<(), AssetError> {
    let write_error = |cause| file_error("write", partial, cause);
    let entries = std::fs::read_dir(partial).map_err(|cause| file_error("read", partial, cause))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = source.files.iter().find(|file| {
            name.strip_prefix(&file.name)
                .is_some_and(|version| version.starts_with('.') && version.len() == 17)
        });
        if let Some(file) = file {
            std::fs::rename(&path, partial.join(&file.name))
                .map_err(|cause| file_error("write", &path, cause))?;
        }
    }
    let tokens = max_tokens(partial, model.max_tokens).map_err(write_error)?;
    let mode = match model.pooling {
        Pooling::Mean => "mean",
        Pooling::Cls => "cls",
    };
    let pooling = partial.join("1_Pooling");
    std::fs::create_dir_all(&pooling).map_err(write_error)?;
    for (path, value) in [
        (partial.join("sentence_bert_config.json"), json!({ "max_seq_length": tokens })),
        (pooling.join("config.json"), json!({ "pooling_mode": mode })),
    ] {
        let written = File::create(&path).and_then(|mut file| {
            file.write_all(value.to_string().as_bytes())?;
            file.sync_all()
        });
        written.map_err(|cause| file_error("write", &path, cause))?;
    }
    source.write(partial).map_err(write_error)?;
    remove_folder(folder)?;
    std::fs::rename(partial, folder).map_err(|cause| file_error("write", folder, cause))
}

/// The length that fastembed cuts texts to: the tokenizer's own maximum, or `most` if that is less.
fn max_tokens(folder: &Path, most: usize) -> std::io::Result<usize> {
    let config: Value = serde_json::from_slice(&std::fs::read(folder.join("tokenizer_config.json"))?)?;
    // Some files have 10^30 for "not known".
    let own =
        config.get("model_max_length").and_then(Value::as_f64).filter(|&own| own >= 3.0 && own < most as f64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 3 and `most`")]
    Ok(own.map_or(most, |own| own as usize))
}
