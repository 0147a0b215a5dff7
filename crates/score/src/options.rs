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

/// Whether the results of calls are evidence of what they asked for.
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
    /// A judge's answers about pairs of calls. They change the comparisons of matched calls, but never decide which are
    /// matched.
    pub answers: Option<&'a Answers>,
    /// The rules by which each trajectory also passes or fails, if any.
    pub verdicts: Option<&'a MatchOptions>,
    /// Whether names of files are compared by what they stand for, as in `docs/flow.md`.
    pub flow: Flow,
    /// Whether the results of calls are evidence.
    pub results: Results,
    /// The comparison of pictures in results; without it, pictures are no evidence.
    pub pictures: Option<&'a dyn ComparePictures>,
    /// The roles of tools that a file declares.
    pub roles: Option<&'a RoleRules>,
    /// Whether to fill [`Matching::similarities`](super::Matching::similarities), which explain an alignment.
    pub keeps_similarities: bool,
}

impl ScoreOptions<'_> {
    /// The role of a tool's calls: as the role rules say, as its catalog declares, or by the verbs of its name.
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
