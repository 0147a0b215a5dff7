//! Reads labelled pairs: `{"tool": .., "a": {..}, "b": {..}, "same": 1, "edit": ".."}` in a list or as lines; or
//! people's labels from `m3 review --label`.

use std::path::Path;

use m3_judge::labels::{Label, Labels};
use m3_support::text::shortened;
use m3_trajectory::json::Json;
use m3_trajectory::{WholeFile, WholeFileError};

use crate::calibrate::{LabelSummary, MajorityLabels};

/// The largest file that is read, in MiB.
const LARGEST: u64 = 256;

/// Why a file of labelled pairs cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PairFileError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] WholeFileError),
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
#[derive(Debug)]
pub(crate) struct PairFile {
    /// The pairs, in the order of the file.
    pub(crate) pairs: Vec<TestPair>,
    /// The number of pairs whose labels by people mean neither same nor different: those that most people call medium,
    /// and those without a majority.
    pub(crate) left_out: usize,
    /// The SHA-256 of the file.
    pub(crate) sha256: String,
}

impl PairFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PairFileError`].
    pub(crate) fn read(path: &Path) -> Result<Self, PairFileError> {
        let file = WholeFile::read_lines(path, LARGEST)?;
        let sha256 = file.digest.clone();
        let pairs =
            Self::of(&file.value).map_err(|message| PairFileError::Content { name: file.name, message })?;
        Ok(Self { sha256, ..pairs })
    }

    fn of(json: &Json) -> Result<Self, String> {
        let pairs = match json {
            json if Labels::is_label_file(json) => Self::of_labels(MajorityLabels::of(Labels::of(json)?)),
            Json::Array(items) => {
                let items = items.iter().enumerate();
                let pairs = items.map(|(at, item)| pair(item).map_err(|message| format!("/{at}: {message}")));
                Self { pairs: pairs.collect::<Result<_, _>>()?, left_out: 0, sha256: String::new() }
            }
            json if json.get("tool").is_some() => {
                Self { pairs: vec![pair(json)?], left_out: 0, sha256: String::new() }
            }
            json => return Err(format!("expected a list, found {}", json.kind())),
        };
        if pairs.pairs.is_empty() { Err("it has no pair".to_owned()) } else { Ok(pairs) }
    }

    /// Strong pairs ask for the same, weak ones for something else, as the people who label them are instructed.
    fn of_labels(labels: MajorityLabels) -> Self {
        let LabelSummary { pairs: all, .. } = labels.summary;
        let decided = labels.pairs.into_iter().filter(|pair| pair.label != Label::Medium);
        let pairs: Vec<TestPair> = decided
            .map(|pair| TestPair {
                tool: pair.tool,
                a: pair.reference,
                b: pair.predicted,
                is_same: pair.label == Label::Strong,
                edit: String::new(),
                question: None,
                schema: None,
                is_doubtful: false,
            })
            .collect();
        Self { left_out: all - pairs.len(), pairs, sha256: String::new() }
    }
}

fn pair(item: &Json) -> Result<TestPair, String> {
    let side = |key: &str| item.get(key).cloned().ok_or_else(|| format!("it has no `{key}`"));
    let tool = item.get("tool").ok_or("it has no `tool`")?.as_str().ok_or("its `tool` should be a text")?;
    let is_same = match item.get("same") {
        Some(Json::Integer(0) | Json::Bool(false)) => false,
        Some(Json::Integer(1) | Json::Bool(true)) => true,
        Some(other) => {
            let written = shortened(&other.to_text(m3_trajectory::json::Keys::AsRead), 40);
            return Err(format!("`same` is `{written}`, and should be 1 or 0"));
        }
        None => return Err("it has no `same`".to_owned()),
    };
    let edit = item.get("edit").and_then(Json::as_str).unwrap_or_default();
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
        edit: edit.to_owned(),
        question: text("question").map(str::to_owned),
        schema: item.get("schema").filter(|schema| matches!(schema, Json::Object(_))).cloned(),
        is_doubtful: text("flag").is_some(),
    })
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    fn file(text: &str) -> Result<PairFile, String> {
        PairFile::of(&parse(text.as_bytes()).unwrap().0)
    }

    #[test]
    fn pairs_are_read_and_what_is_none_is_named_by_its_place() {
        let found = file(
            r#"[{"tool": "s/t", "a": {"n": 1}, "b": {}, "same": 0, "edit": "drop"}, {"tool": "s/t", "a": 1, "b": 1, "same": true}]"#,
        );
        let pairs = found.unwrap().pairs;
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
