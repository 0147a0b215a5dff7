//! Reads labelled pairs: `{"tool": .., "a": {..}, "b": {..}, "same": 1, "edit": ".."}` in a list or as lines; or
//! people's labels from `m3 review --label`.

use std::path::{Path, PathBuf};

use m3_judge::labels::{Label, Labels};
use m3_support::text::shortened;
use m3_trajectory::catalog::{Catalog, CatalogError};
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{WholeFile, WholeFileError};

use crate::calibrate::{LabelledArguments, MajorityLabels};

/// The largest file that is read, in MiB.
const LARGEST: u64 = 256;

/// Why a file of labelled pairs cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PairFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] WholeFileError),
    /// The catalog beside the file cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The file does not hold labelled pairs.
    #[error(
        "`{name}` cannot be used as labelled pairs: {message}\nhint: a file of pairs is `[{{\"tool\": .., \"a\": {{..}}, \"b\": {{..}}, \"same\": 1 or 0, \"edit\": ..}}]`, or one such object a line, or what `m3 review --label` writes"
    )]
    Content {
        /// The name of the file.
        name: String,
        /// The problem in words.
        message: String,
    },
}

/// The arguments of two calls of one tool, and whether they ask for the same.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TestPair {
    /// The tool as `server/tool`.
    pub(crate) tool: String,
    /// The arguments of the first call.
    pub(crate) a: Json,
    /// The arguments of the second.
    pub(crate) b: Json,
    /// Whether both calls ask for the same.
    pub(crate) is_same: bool,
    /// How the second was made from the first; empty if the file does not say.
    pub(crate) edit: String,
    /// What the user asked, where the file says it.
    pub(crate) question: Option<String>,
    /// The schema of the tool's arguments, where the file says it.
    pub(crate) schema: Option<Json>,
    /// Whether the label depends on facts that the pair does not tell.
    pub(crate) is_doubtful: bool,
}

/// A file of labelled pairs.
pub(crate) struct LabelledSource {
    /// The name of the file without its ending.
    pub(crate) name: String,
    /// The SHA-256 of the file.
    pub(crate) sha256: String,
    /// The pairs, in the order of the file.
    pub(crate) pairs: Vec<TestPair>,
    /// The number of pairs whose labels by people mean neither same nor different: those that most people call medium,
    /// and those without a majority.
    pub(crate) left_out: usize,
}

/// The pairs of a file, and the number of pairs that are left out.
fn read_pairs(json: &Json) -> Result<(Vec<TestPair>, usize), String> {
    let (pairs, left_out) = match json {
        json if Labels::is_label_file(json) => pairs_with_labels(MajorityLabels::of(Labels::of(json)?)),
        Json::Array(items) => {
            let items = items.iter().enumerate();
            let pairs = items.map(|(at, item)| pair(item).map_err(|message| format!("/{at}: {message}")));
            (pairs.collect::<Result<_, _>>()?, 0)
        }
        json if json.get("tool").is_some() => (vec![pair(json)?], 0),
        json => return Err(format!("expected a list, found {}", json.kind())),
    };
    if pairs.is_empty() { Err("it has no pair".to_owned()) } else { Ok((pairs, left_out)) }
}

/// Strong pairs ask for the same, weak ones for something else, as the people who label them are instructed; medium
/// pairs are left out.
fn pairs_with_labels(labels: MajorityLabels) -> (Vec<TestPair>, usize) {
    let decided = labels.pairs.into_iter().filter(|pair| pair.label != Label::Medium);
    let pair = |pair: LabelledArguments| TestPair {
        tool: pair.tool,
        a: pair.reference,
        b: pair.predicted,
        is_same: pair.label == Label::Strong,
        edit: String::new(),
        question: None,
        schema: None,
        is_doubtful: false,
    };
    let pairs: Vec<TestPair> = decided.map(pair).collect();
    let left_out = labels.summary.pairs - pairs.len();
    (pairs, left_out)
}

fn pair(item: &Json) -> Result<TestPair, String> {
    let side = |key: &str| item.get(key).cloned().ok_or_else(|| format!("it has no `{key}`"));
    let tool = item.get("tool").ok_or("it has no `tool`")?.as_str().ok_or("its `tool` should be a text")?;
    let is_same = match item.get("same").ok_or("it has no `same`")? {
        Json::Integer(0) | Json::Bool(false) => false,
        Json::Integer(1) | Json::Bool(true) => true,
        other => {
            let written = shortened(&other.to_text(Keys::AsRead), 40);
            return Err(format!("`same` is `{written}`, and should be 1 or 0"));
        }
    };
    if item.get("question").is_some_and(|question| !matches!(question, Json::String(_) | Json::Null)) {
        return Err("its `question` should be a text".to_owned());
    }
    if item.get("schema").is_some_and(|schema| !matches!(schema, Json::Object(_) | Json::Null)) {
        return Err("its `schema` should be an object".to_owned());
    }
    let text = |key: &str| item.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
    Ok(TestPair {
        tool: tool.to_owned(),
        a: side("a")?,
        b: side("b")?,
        is_same,
        edit: text("edit").unwrap_or_default().to_owned(),
        question: text("question").map(str::to_owned),
        schema: item.get("schema").filter(|schema| matches!(schema, Json::Object(_))).cloned(),
        is_doubtful: text("flag").is_some(),
    })
}

/// The ending of the catalog beside a file of pairs: `a.tools.json` for `a.json`.
const CATALOG: &str = ".tools.json";

/// The files of pairs that a path names: a folder stands for its files, sorted by name. In a folder, `a.tools.json` and
/// any other `a.*.json` beside `a.json` describe that file and have no pairs, so they are left out.
///
/// # Errors
/// The system's error for a folder that cannot be read; [`NotFound`](std::io::ErrorKind::NotFound) for a folder without
/// a file of pairs.
pub(crate) fn pair_files(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = std::fs::read_dir(path)?.map(|entry| Ok(path.join(entry?.file_name())));
    let mut files = entries.collect::<std::io::Result<Vec<PathBuf>>>()?;
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json" || ending == "jsonl"));
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
    Ok(pairs)
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

impl LabelledSource {
    /// Reads a file of pairs, with the schemas of the catalog beside it, `NAME.tools.json`, if there is one.
    pub(crate) fn read(path: &Path) -> Result<Self, PairFileError> {
        let file = WholeFile::read_lines(path, LARGEST)?;
        let (mut pairs, left_out) =
            read_pairs(&file.value).map_err(|message| PairFileError::Content { name: file.name, message })?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let beside = path.with_file_name(format!("{name}{CATALOG}"));
        if beside.is_file() {
            let catalog = Catalog::open(&beside)?;
            for pair in pairs.iter_mut().filter(|pair| pair.schema.is_none()) {
                pair.schema = catalog.input_schema(&pair.tool).cloned();
            }
        }
        Ok(Self { name, sha256: file.digest, pairs, left_out })
    }

    /// The group of the source: its name up to the first dot. `text` and `text.in-context` have the same pairs, so
    /// neither may be in the training when the other is measured.
    pub(crate) fn group(&self) -> &str {
        self.name.split('.').next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn file(text: &str) -> Result<Vec<TestPair>, String> {
        read_pairs(&parse(text.as_bytes()).unwrap().0).map(|(pairs, _)| pairs)
    }

    #[test]
    fn pairs_are_read_and_what_is_none_is_named_by_its_place() {
        let found = file(
            r#"[{"tool": "s/t", "a": {"n": 1}, "b": {}, "same": 0, "edit": "drop"}, {"tool": "s/t", "a": 1, "b": 1, "same": true}]"#,
        );
        let pairs = found.unwrap();
        assert_eq!((pairs[0].is_same, pairs[0].edit.as_str()), (false, "drop"));
        assert_eq!((pairs[1].is_same, pairs[1].edit.as_str()), (true, ""));
        for text in [
            "{}",
            "[]",
            r#"[{"tool": "s/t"}]"#,
            r#"[{"tool": "s/t", "a": 1, "b": 1, "same": 2}]"#,
            r#"[{"tool": "s/t", "a": 1, "b": 1, "same": 1, "question": 4}]"#,
            r#"[{"tool": "s/t", "a": 1, "b": 1, "same": 1, "schema": "no"}]"#,
            "[3]",
        ] {
            assert!(file(text).is_err(), "{text}");
        }
        assert!(
            file(r#"[{"tool": "s/t", "a": 1, "b": 1, "same": "x"}]"#).unwrap_err().starts_with("/0: `same`")
        );
    }
}
