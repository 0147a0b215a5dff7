//! The files of labelled pairs that a command line names: each file is a source, and a folder is all of its files.

use std::path::{Path, PathBuf};

use m3_trajectory::catalog::{Catalog, CatalogError};

use super::pairs::{PairFile, PairFileError};
use super::training::LabelledSource;

/// The ending of the catalog beside a file of pairs: `a.tools.json` for `a.json`.
const CATALOG: &str = ".tools.json";

/// The files of pairs that the paths name; a folder stands for its files, sorted by name. In a folder, `a.tools.json`
/// and any other `a.*.json` beside `a.json` describe that file and have no pairs, so they are left out.
///
/// # Errors
/// The system's error for a folder that cannot be read; [`NotFound`](std::io::ErrorKind::NotFound) for a folder without
/// a file of pairs.
pub(crate) fn pair_files(paths: &[PathBuf]) -> std::io::Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for path in paths {
        if !path.is_dir() {
            sources.push(path.clone());
            continue;
        }
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in std::fs::read_dir(path)? {
            let file = path.join(entry?.file_name());
            if file.extension().is_some_and(|ending| ending == "json" || ending == "jsonl") {
                files.push(file);
            }
        }
        let is_beside = |file: &PathBuf| {
            let stem = file.file_stem().unwrap_or_default().to_string_lossy();
            let first = stem.split_once('.').map(|(first, _)| path.join(first));
            first.is_some_and(|first| {
                ["json", "jsonl"].iter().any(|end| files.contains(&first.with_extension(end)))
            })
        };
        let mut pairs: Vec<PathBuf> = files.iter().filter(|file| !is_beside(file)).cloned().collect();
        if pairs.is_empty() {
            return Err(std::io::Error::new(std::io::ErrorKind::NotFound, "it has no file .json or .jsonl"));
        }
        pairs.sort();
        sources.extend(pairs);
    }
    Ok(sources)
}

/// A name for each file in tables: its name without the ending, or its path where two files have the same name.
pub(crate) fn file_labels(files: &[PathBuf]) -> Vec<String> {
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let is_taken = |name: &str| files.iter().filter(|file| stem(file) == name).count() > 1;
    let label = |file: &PathBuf| {
        let name = stem(file);
        if is_taken(&name) { file.display().to_string() } else { name }
    };
    files.iter().map(label).collect()
}

/// The error of a file of labelled pairs that cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LabelledSourceError {
    /// The pairs of the source cannot be read.
    #[error(transparent)]
    Pairs(#[from] PairFileError),
    /// The catalog beside the file of pairs cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
}

impl LabelledSource {
    /// Reads a file of pairs, with the schemas of the catalog beside it, `NAME.tools.json`, if there is one. Returns
    /// the number of pairs that were left out, too.
    ///
    /// # Errors
    /// [`LabelledSourceError`].
    pub(crate) fn read(path: &Path) -> Result<(Self, usize), LabelledSourceError> {
        let PairFile { mut pairs, left_out, sha256 } = PairFile::read(path)?;
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let beside = path.with_file_name(format!("{stem}{CATALOG}"));
        let name = stem.clone().into_owned();
        if beside.is_file() {
            let catalog = Catalog::open(&beside)?;
            for pair in pairs.iter_mut().filter(|pair| pair.schema.is_none()) {
                pair.schema = catalog.input_schema(&pair.tool).cloned();
            }
        }
        Ok((Self { name, sha256, pairs }, left_out))
    }

    /// The group of the source: its name up to the first dot. `text` and `text.in-context` have the same pairs, so
    /// neither may be in the training when the other is measured.
    pub(crate) fn group(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}
