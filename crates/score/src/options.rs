//! Options of scoring.

use std::sync::Arc;

use m3_flow::CallRole;
use m3_trajectory::catalog::Catalog;

use super::fidelity::Answers;
use super::fidelity::model::Model;
use super::results::ComparePictures;
use super::schema::Schema;
use super::{MatchOptions, Profile, RoleRules, Similarity, Thresholds};

/// Whether names of files are compared by what they stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Flow {
    /// By which call made them: names that a trajectory chooses are its own
    #[default]
    On,
    /// As texts
    Off,
}

impl Flow {
    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

/// Whether what calls returned is evidence of what they asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Results {
    /// Where both sides have recorded them
    #[default]
    Auto,
    /// Never
    Off,
}

/// Options of scoring.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreOptions<'a> {
    /// The definitions to use.
    pub profile: Profile,
    /// tau_weak and tau_strong.
    pub thresholds: Thresholds,
    /// The similarity that calls are aligned by.
    pub similarity: Similarity,
    /// The tools' schemas, for canonicalization and fidelity.
    pub catalog: Option<&'a Catalog>,
    /// The model of fidelity; the built-in one if there is none.
    pub model: Option<&'a Arc<Model>>,
    /// What is said of pairs of calls, laid over the comparisons of matched ones; it never decides which are matched.
    pub answers: Option<&'a Answers>,
    /// Whether and how each trajectory passes or fails besides.
    pub verdicts: Option<&'a MatchOptions>,
    /// Whether names of files are compared by what they stand for, as `docs/flow.md` has it.
    pub flow: Flow,
    /// Whether what calls returned is evidence.
    pub results: Results,
    /// Who opens pictures of results; without, they say nothing.
    pub pictures: Option<&'a dyn ComparePictures>,
    /// What calls of tools do, where a file says it.
    pub roles: Option<&'a RoleRules>,
    /// Whether to fill [`Matching::similarities`](super::Matching::similarities), which explain an alignment.
    pub keeps_similarities: bool,
}

impl ScoreOptions<'_> {
    /// What calls of a tool do: as people say, as its catalog declares, or by the verbs of its name.
    pub(super) fn role(&self, tool: &str) -> CallRole {
        let role = self.roles.and_then(|roles| roles.role(tool));
        role.unwrap_or_else(|| {
            CallRole::of_tool(tool, self.catalog.and_then(|catalog| catalog.is_read_only(tool)))
        })
    }

    /// Whether a tool's schema requires an argument of this name.
    pub(super) fn is_required(&self, tool: &str, name: &str) -> bool {
        let schema = self.catalog.and_then(|catalog| catalog.input_schema(tool));
        schema.is_some_and(|schema| Schema::new(schema).required().contains(&name))
    }
}
