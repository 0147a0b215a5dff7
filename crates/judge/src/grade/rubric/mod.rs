//! The registry of rubrics: a rubric is a file of this folder and a row of the table below. All code that asks,
//! reads, adds up or reports goes through the table, and asks a rubric or an aspect for its kind, never for its name.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Value, json};

use super::answer::ReadReply;
use super::subject::Subject;
use crate::fence::Part;

/// Makes the modules of the rubrics and their list.
macro_rules! rubrics {
    ($($file:ident)*) => {
        $(mod $file;)*

        /// The rubrics in the order of the help, the default first.
        static ROWS: &[&RubricRow] = &[$(&$file::RUBRIC),*];
    };
}

rubrics! {
    m3_bench
    mcp_eval
    mcp_bench
}

/// A file of the folder of prompts, by name and content.
macro_rules! prompt {
    ($name:literal) => {
        ($name, include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/grade/prompts/", $name)))
    };
}
pub(super) use prompt;

/// The number of steps of the reference and of the prediction, where a matrix is asked for.
pub(super) type MatrixSize = Option<(usize, usize)>;

/// The facts about a rubric.
struct RubricRow {
    /// The rubric's name for users.
    name: &'static str,
    /// What the rubric grades, for the help.
    meaning: &'static str,
    /// How often each grader is asked the same by default.
    passes: u32,
    /// The aspects that are asked about, one request each.
    aspects: &'static [AspectRow],
    /// The rubric's own prompt files: [`prompt!`].
    prompts: &'static [(&'static str, &'static str)],
}

/// The facts about an aspect.
struct AspectRow {
    /// The question of the aspect, for the schema.
    meaning: &'static str,
    /// The keys of `grades` that the aspect gives, the main measure first, whose key also names the aspect. Each is in
    /// [0, 1].
    measures: &'static [&'static str],
    /// Whether the aspect needs a reference.
    needs_reference: bool,
    /// Whether the aspect's measures are 0 or 1: pass or fail. Several answers are then decided by majority.
    is_verdict: bool,
    /// Whether a matrix of steps is asked for beside the score.
    has_matrix: bool,
    /// The parts of the evidence, after the question.
    evidence: fn(&Subject) -> Vec<Part>,
    /// The system prompt. The number chooses an order, if the rubric changes the order of its questions.
    instructions: fn(MatrixSize, u64) -> askama::Result<String>,
    /// Reads a reply. The error is a part of a sentence that the grader can be told.
    read: fn(&str, MatrixSize) -> Result<ReadReply, String>,
}

/// A way to grade.
#[derive(Clone, Copy)]
pub struct Rubric(&'static RubricRow);

/// The part of a rubric that one request asks about.
#[derive(Clone, Copy)]
pub struct Aspect(&'static AspectRow);

impl Rubric {
    /// All rubrics, the default first.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().copied().map(Self)
    }

    /// The rubric with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|rubric| rubric.name() == name)
    }

    /// The rubric's name for users.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0.name
    }

    /// What the rubric grades, in a few words.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        self.0.meaning
    }

    /// The aspects that each grader is asked about, one request each.
    pub fn aspects(self) -> impl Iterator<Item = Aspect> {
        self.0.aspects.iter().map(Aspect)
    }

    /// How often each grader is asked the same by default; 1 or more.
    #[must_use]
    pub const fn passes(self) -> u32 {
        self.0.passes
    }

    /// Whether all aspects of the rubric need references.
    #[must_use]
    pub fn needs_references(self) -> bool {
        self.aspects().all(Aspect::needs_reference)
    }

    /// Whether a measure is 0 or 1: pass or fail.
    #[must_use]
    pub fn is_verdict(self, measure: &str) -> bool {
        self.aspects().any(|aspect| aspect.is_verdict() && aspect.measures().contains(&measure))
    }

    /// The rubric's own prompts, by name and content, before they are filled in.
    pub(super) const fn prompts(self) -> &'static [(&'static str, &'static str)] {
        self.0.prompts
    }
}

impl Aspect {
    /// All aspects of all rubrics.
    pub fn all() -> impl Iterator<Item = Self> {
        Rubric::all().flat_map(Rubric::aspects)
    }

    /// The aspect with this main measure.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|aspect| aspect.main() == name)
    }

    /// The aspect's measures, the main one first; each in [0, 1]. These are the keys of `grades`.
    #[must_use]
    pub const fn measures(self) -> &'static [&'static str] {
        self.0.measures
    }

    /// The measure that graders are compared by. It also names the aspect in files.
    #[must_use]
    pub const fn main(self) -> &'static str {
        self.0.measures[0]
    }

    /// Whether the aspect needs a reference.
    #[must_use]
    pub const fn needs_reference(self) -> bool {
        self.0.needs_reference
    }

    /// Whether the aspect's measures are 0 or 1: pass or fail.
    #[must_use]
    pub const fn is_verdict(self) -> bool {
        self.0.is_verdict
    }

    /// Reads a reply: strictly, from the grader's own words alone. `matrix` is the size that was asked for.
    ///
    /// # Errors
    /// What is wrong, as a part of a sentence that the grader can be told.
    pub fn read(self, matrix: Option<(usize, usize)>, reply: &str) -> Result<ReadReply, String> {
        (self.0.read)(reply, matrix)
    }

    /// Whether a matrix of steps is asked for beside the score.
    pub(super) const fn has_matrix(self) -> bool {
        self.0.has_matrix
    }

    /// The parts of the evidence, after the question.
    pub(super) fn evidence(self, subject: &Subject) -> Vec<Part> {
        (self.0.evidence)(subject)
    }

    /// The system prompt; `None` if the template cannot be filled in.
    pub(super) fn instructions(self, matrix: MatrixSize, order: u64) -> Option<String> {
        (self.0.instructions)(matrix, order).ok()
    }

    /// The place of the aspect among all aspects, by which answers are sorted.
    pub(super) fn position(self) -> usize {
        Self::all().take_while(|other| *other != self).count()
    }
}

impl PartialEq for Rubric {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Rubric {}

impl std::fmt::Debug for Rubric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Aspect {
    fn eq(&self, other: &Self) -> bool {
        self.main() == other.main()
    }
}

impl Eq for Aspect {}

impl std::fmt::Debug for Aspect {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.main())
    }
}

impl Serialize for Aspect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.main())
    }
}

impl<'de> Deserialize<'de> for Aspect {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<str>::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| {
            let names: Vec<&str> = Self::all().map(Self::main).collect();
            de::Error::custom(format!("unknown aspect `{name}`, expected one of {}", names.join(", ")))
        })
    }
}

impl JsonSchema for Aspect {
    fn schema_name() -> Cow<'static, str> {
        "Aspect".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let row =
            |aspect: Self| json!({"description": aspect.0.meaning, "type": "string", "const": aspect.main()});
        let rows: Vec<Value> = Self::all().map(row).collect();
        json_schema!({"description": "What is asked in one request.", "oneOf": rows})
    }
}

#[cfg(test)]
mod tests {
    use super::super::question::prompts_hash;
    use super::*;

    #[test]
    fn names_prompts_and_measures_tell_rubrics_apart() {
        let distinct = |mut values: Vec<String>| {
            let count = values.len();
            values.sort();
            values.dedup();
            assert_eq!(values.len(), count, "{values:?}");
        };
        distinct(Rubric::all().map(|rubric| rubric.name().to_owned()).collect());
        distinct(Rubric::all().map(prompts_hash).collect());
        distinct(Aspect::all().flat_map(Aspect::measures).map(ToString::to_string).collect());
        for rubric in Rubric::all() {
            assert!(rubric.passes() > 0 && rubric.aspects().count() > 0 && !rubric.prompts().is_empty());
            assert_eq!(prompts_hash(rubric).len(), 64);
        }
    }

    #[test]
    fn an_aspect_is_its_main_measure_in_files() {
        for aspect in Aspect::all() {
            let text = serde_json::to_string(&aspect).unwrap();
            assert_eq!(text, format!("\"{}\"", aspect.main()));
            assert_eq!(serde_json::from_str::<Aspect>(&text).unwrap(), aspect);
        }
        let error = serde_json::from_str::<Aspect>("\"beauty\"").unwrap_err().to_string();
        assert!(error.contains("unknown aspect `beauty`, expected one of task_completion"), "{error}");
    }
}
