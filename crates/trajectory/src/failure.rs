//! Why a task failed: the reasons that `m3 run` records beside a prediction's `finish`, and those that scores add.

use serde::{Deserialize, Serialize};

use super::json::Json;
use super::model::Trajectory;

/// A class of failures, the same for every model and every executor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailureClass {
    /// The model could not be reached, refused, or gave a reply that could not be used.
    Provider,
    /// An MCP server that the task needs was lost.
    ServerLost,
    /// The time was used up.
    Time,
    /// Steps, calls or tokens were used up.
    Limit,
    /// The prompt did not fit into the model's context.
    Context,
    /// Something else, such as an image that has gone.
    Other,
    /// There is no prediction. Only scores say so.
    #[cfg_attr(feature = "schema", schemars(skip))]
    Missing,
    /// The trajectory has more calls than can be aligned. Only scores say so.
    #[cfg_attr(feature = "schema", schemars(skip))]
    TooLarge,
}

impl FailureClass {
    /// All classes.
    pub const ALL: [FailureClass; 8] = [
        FailureClass::Provider,
        FailureClass::ServerLost,
        FailureClass::Time,
        FailureClass::Limit,
        FailureClass::Context,
        FailureClass::Other,
        FailureClass::Missing,
        FailureClass::TooLarge,
    ];

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            FailureClass::Provider => "provider",
            FailureClass::ServerLost => "server_lost",
            FailureClass::Time => "time",
            FailureClass::Limit => "limit",
            FailureClass::Context => "context",
            FailureClass::Other => "other",
            FailureClass::Missing => "missing",
            FailureClass::TooLarge => "too_large",
        }
    }

    /// The class with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.name() == name)
    }

    /// Whether the model was at work until a limit was used up: then the prediction is unfinished. All other classes
    /// are errors.
    #[must_use]
    pub fn is_unfinished(self) -> bool {
        matches!(self, FailureClass::Time | FailureClass::Limit | FailureClass::Context)
    }

    /// Why a prediction failed, by its record: its member `failure` or, without one, its `finish` and `reason`.
    /// `None` for an answer, and if nothing is recorded. A prediction without a `finish` is not a record of `m3 run`,
    /// so its `failure` counts only if it names a class.
    #[must_use]
    pub fn of(prediction: &Trajectory) -> Option<Self> {
        let text = |key: &str| prediction.get(key).and_then(Json::as_str);
        match (text("finish"), text("failure")) {
            (Some("answered"), _) | (None, None) => None,
            (None, Some(name)) => Self::from_name(name),
            (Some(_), Some(name)) => Some(Self::from_name(name).unwrap_or(FailureClass::Other)),
            (Some("max_steps"), None) => Some(FailureClass::Limit),
            (Some("context_overflow"), None) => Some(FailureClass::Context),
            (Some("budget"), None) => Some(match text("reason") {
                Some(reason) if reason.contains("time") => FailureClass::Time,
                _ => FailureClass::Limit,
            }),
            (Some("error"), None) => Some(match text("reason") {
                Some(reason) if reason.contains("server") && reason.contains("lost") => {
                    FailureClass::ServerLost
                }
                _ => FailureClass::Provider,
            }),
            (Some("interrupted"), None) => Some(FailureClass::Other),
            // The word is another program's, and may mean that there is an answer.
            (Some(_), None) => None,
        }
    }
}
