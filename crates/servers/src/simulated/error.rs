//! Why servers cannot be simulated.

use m3_mcp::config::ConfigError;
use m3_support::names::list_of_nearest;
use m3_support::text::shortened;
use m3_trajectory::catalog::CatalogError;
use m3_trajectory::{OpenError, SourceError};

use crate::distractors::DistractorError;

/// Why servers cannot be simulated as asked.
#[derive(Debug, thiserror::Error)]
pub enum SimulationError {
    /// The key `simulated` of a configuration is wrong.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The rates or delays of faults are invalid.
    #[error("the faults asked for cannot be: {problem}")]
    Faults {
        /// The reason why the rates or delays are invalid.
        problem: String,
    },
    /// The catalog cannot be read.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The catalog has no tool.
    #[error("`{}` has no tools to simulate", shortened(.path, SHOWN))]
    EmptyCatalog {
        /// The path of the catalog.
        path: String,
    },
    /// A file of trajectories cannot be used.
    #[error(transparent)]
    Trajectories(#[from] OpenError),
    /// Trajectories cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// `only` names something that does not exist.
    #[error("`only` names `{}`, which is no tool or server of the catalog and no trajectory\nhint: {hint}", shortened(.name, SHOWN))]
    UnknownName {
        /// The name.
        name: String,
        /// A hint: the names that look most like it.
        hint: String,
    },
    /// `only` names a trajectory that calls no tool of the catalog.
    #[error("trajectory `{}` calls no tool of the catalog, so that nothing is left to offer", shortened(.id, SHOWN))]
    NoTools {
        /// The id of the trajectory.
        id: String,
    },
    /// There are distractors, but no needed tools.
    #[error(
        "`distractors` needs `only`\nhint: name the tools that are needed, or the id of a trajectory that calls them"
    )]
    NothingNeeded,
    /// The distractors cannot be chosen.
    #[error(transparent)]
    Distractors(#[from] DistractorError),
    /// A server of the catalog has an invalid name.
    #[error("server `{}` cannot be simulated: {problem}\nhint: change its name in the catalog, or leave its tools out with `only`", shortened(.name, SHOWN))]
    ServerName {
        /// The name.
        name: String,
        /// The reason.
        problem: &'static str,
    },
    /// A simulated server has the name of a configured one.
    #[error("server `{}` is configured and also simulated\nhint: remove one of them, or leave its tools out with `only`", shortened(.name, SHOWN))]
    ServerExists {
        /// The name.
        name: String,
    },
}

/// The most columns of a name in messages.
const SHOWN: usize = 200;

/// The most columns of a name that is suggested for a mistyped one.
const SUGGESTED: usize = 80;

/// Suggests the names that look most like a mistyped one.
pub(super) fn suggestion<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match list_of_nearest(name, known, SUGGESTED).as_str() {
        "" => "there are none".to_owned(),
        nearest => format!("the nearest are {nearest}"),
    }
}
