//! Keeps results whole: one JSON file for each call.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use m3_support::files;
use m3_support::redact::Redactor;
use m3_support::text::json_without_hidden;
use serde::Serialize;
use serde_json::Value;

use super::save::{SavedFile, WorkspaceFile, put_file, save_files, write_new};
use super::text::{result_text, shortened_text};
use crate::names::model_name;
use crate::{ToolName, ToolResult};

/// A store of results. Results of several tasks may be kept at once.
#[derive(Debug)]
pub struct ResultStore {
    folder: PathBuf,
    workspace: PathBuf,
    redactor: Redactor,
    limit: usize,
    next: AtomicU64,
    keeps: Keeps,
}

/// Which results are kept as whole files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// All results.
    All,
    /// Results that hold more than the text for models. Callers that record this text have the other results already,
    /// and many small files would cost more than the calls.
    Untold,
}

/// A result that has been kept.
#[derive(Debug, Clone, PartialEq)]
pub struct KeptResult {
    /// The JSON file with the whole result, a [`ResultRecord`], if the store keeps it.
    pub path: Option<PathBuf>,
    /// The images, sounds and other files of the result, each with its one name in the workspace.
    pub files: Vec<SavedFile>,
    /// The text for a model: all text of the result, shortened; files by their names.
    pub text: String,
    /// Whether `text` is shortened.
    pub is_shortened: bool,
    /// Problems of the result, such as data that is not base64.
    pub problems: Vec<String>,
}

/// The file that keeps a result. Secrets in it are replaced by `***`.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[schemars(title = "m3.result/1")]
pub struct ResultRecord {
    /// Always `m3.result/1`.
    pub schema: String,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments of the call.
    pub arguments: Value,
    /// The result as the server sent it.
    pub result: Value,
    /// The files of the result, which calls can name.
    pub files: Vec<SavedFile>,
    /// The problems of the result.
    pub problems: Vec<String>,
}

/// Why a result cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder cannot be created.
    #[error("failed to use the folder `{}` for results: {cause}\nhint: {}", folder.display(), files::hint(cause))]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// A file cannot be written.
    #[error("failed to keep a result of `{tool}` in `{}`: {cause}\nhint: {}", folder.display(), files::hint(cause))]
    Write {
        /// The tool.
        tool: String,
        /// The folder.
        folder: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
}

/// Stands for the workspace's path while a text is shortened; no real text contains it.
const WORKSPACE: &str = "\u{f8ff}workspace\u{f8ff}";

impl ResultStore {
    /// The default limit for the text of a result that a model gets, in characters: some 5,000 tokens.
    pub const DEFAULT_LIMIT: usize = 20_000;

    /// Opens a store that keeps results in `folder`, and their files also in `workspace`, where calls can name them. The
    /// folder of results is created when the first result is kept.
    ///
    /// # Errors
    /// [`StoreError::Folder`] if the workspace cannot be created.
    pub fn open(
        folder: impl Into<PathBuf>,
        workspace: impl Into<PathBuf>,
        redactor: Redactor,
        keeps: Keeps,
    ) -> Result<Self, StoreError> {
        let (folder, workspace, next) = (folder.into(), workspace.into(), AtomicU64::new(1));
        std::fs::create_dir_all(&workspace)
            .map_err(|cause| StoreError::Folder { folder: workspace.clone(), cause })?;
        Ok(Self { folder, workspace, redactor, limit: Self::DEFAULT_LIMIT, next, keeps })
    }

    /// Limits the text for models to `limit` characters of a result.
    #[must_use]
    pub fn with_limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// The redactor for secrets, which callers use for everything else that they write.
    #[must_use]
    pub fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// Keeps a result under the next number.
    ///
    /// # Errors
    /// [`StoreError::Write`]; files that were saved before stay.
    pub fn keep(
        &self,
        tool: &ToolName,
        arguments: &Value,
        result: &ToolResult,
    ) -> Result<KeptResult, StoreError> {
        self.keep_as((self.reserve(1), tool), arguments, result, &mut |_| None)
    }

    /// Reserves numbers for this many results; returns the first. So the results of calls made at once are numbered
    /// in the order of the calls, whichever ends first.
    pub fn reserve(&self, results: usize) -> u64 {
        self.next.fetch_add(results as u64, Ordering::Relaxed)
    }

    /// Keeps a result under a number of [`ResultStore::reserve`]. The kept files are as the server sent them. `find`
    /// gives the file of the workspace that the tool wrote for a file of the result; without one, the file is put into
    /// the workspace, so that calls can name it.
    ///
    /// # Errors
    /// [`StoreError::Write`]; files that were saved before stay.
    pub fn keep_as(
        &self,
        (number, tool): (u64, &ToolName),
        arguments: &Value,
        result: &ToolResult,
        find: &mut dyn FnMut(&SavedFile) -> Option<WorkspaceFile>,
    ) -> Result<KeptResult, StoreError> {
        let failed = |cause| StoreError::Write {
            tool: m3_support::text::shortened(&tool.to_string(), 100),
            folder: self.folder.clone(),
            cause,
        };
        let redacted = |text: String| self.redactor.text(&text).into_owned();
        let (files, problems) = self.save(number, result, find).map_err(failed)?;
        let problems: Vec<String> = problems.into_iter().map(redacted).collect();
        let mut record = ResultRecord {
            schema: "m3.result/1".to_owned(),
            tool: redacted(tool.to_string()),
            arguments: arguments.clone(),
            result: result.to_wire(),
            files: files.clone(),
            problems: problems.clone(),
        };
        self.redactor.value(&mut record.arguments);
        self.redactor.value(&mut record.result);
        let name = format!("{number:05}-{}.json", self.redactor.text(&model_name(tool)).replace('*', "x"));
        let path = self.folder.join(name);
        let text = redacted(result_text(result, &files));
        let (text, is_shortened) = self.shortened(text, &self.shown(&path));
        let is_kept = self.keeps == Keeps::All || is_shortened || !is_told_by(&record, &text);
        if is_kept {
            self.write(&path, &record).map_err(failed)?;
        }
        Ok(KeptResult { path: is_kept.then_some(path), files, text, is_shortened, problems })
    }

    fn write(&self, path: &Path, record: &ResultRecord) -> io::Result<()> {
        let json = serde_json::to_string(record)?;
        std::fs::create_dir_all(&self.folder)?;
        files::write_atomically(path, json_without_hidden(&json).as_bytes())
    }

    /// Saves the files of a result, and gives each one name in the workspace.
    fn save(
        &self,
        number: u64,
        result: &ToolResult,
        find: &mut dyn FnMut(&SavedFile) -> Option<WorkspaceFile>,
    ) -> io::Result<(Vec<SavedFile>, Vec<String>)> {
        if !result.content.iter().any(|part| part.data().is_some()) {
            return Ok((Vec::new(), Vec::new()));
        }
        std::fs::create_dir_all(&self.folder)?;
        let (mut files, problems) =
            save_files(result, &self.folder, &format!("{number:05}"), &self.redactor)?;
        for saved in &mut files {
            saved.file = self.shown(&saved.path);
            if let Some(WorkspaceFile { name, mime_type, bytes, pixels }) = find(saved) {
                // A recorded call is played without the tool that wrote the file.
                put_file(&self.workspace, &name, &std::fs::read(&saved.path)?)?;
                *saved = SavedFile { name, is_put: false, mime_type, bytes, pixels, ..saved.clone() };
                continue;
            }
            let extension = saved.path.extension().unwrap_or_default().to_string_lossy().into_owned();
            let stem = format!("result-{number:05}-{}", saved.part);
            (saved.name, _) = write_new(&self.workspace, &stem, &extension, &std::fs::read(&saved.path)?)?;
        }
        Ok((files, problems))
    }

    /// The text within the limit, and whether it was cut. Where it is cut does not depend on the length of the
    /// workspace's path, so the same run in another folder gives the same text.
    fn shortened(&self, text: String, whole: &str) -> (String, bool) {
        if text.len() <= self.limit {
            return (text, false);
        }
        let path = self.workspace.display().to_string();
        let named = if path.len() > 1 { text.replace(&path, WORKSPACE) } else { text };
        match shortened_text(&named, self.limit, whole) {
            Cow::Owned(cut) => (cut.replace(WORKSPACE, &path), true),
            Cow::Borrowed(_) => (named.replace(WORKSPACE, &path), false),
        }
    }

    /// The path of a record in the form for models: relative to the workspace if it is inside.
    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.workspace).unwrap_or(path).display().to_string()
    }
}

/// Whether this text says everything that a result contains.
fn is_told_by(record: &ResultRecord, text: &str) -> bool {
    let Some(result) = record.result.as_object() else { return false };
    let says_more = result.keys().any(|key| key != "content" && key != "isError");
    match result.get("content").and_then(Value::as_array).map(Vec::as_slice) {
        Some([block]) => !says_more && *block == serde_json::json!({"type": "text", "text": text}),
        _ => false,
    }
}
