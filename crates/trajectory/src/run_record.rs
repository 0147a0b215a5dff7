//! What a prediction records about its run: tokens, the turns of the model, how the task ended. `m3 run` writes these
//! types; the viewer, `m3 show` and a run that goes on read them. A member of another form is read as if it were absent, since any
//! program may have written the file.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::model::Trajectory;

/// Why a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FinishReason {
    /// The model gave its answer.
    Answered,
    /// All steps were used; the model was asked for its answer with what it had.
    MaxSteps,
    /// Calls, tokens or time were used up.
    Budget,
    /// The prompt did not fit the model's context; asked again, it would not fit either.
    ContextOverflow,
    /// The model or what the task needs could not be had; the record has what was done until then.
    Error,
    /// The run was interrupted: the record has what was done until then, and the task will be run again. No prediction
    /// has this reason, only the record that is kept beside the predictions.
    Interrupted,
}

impl FinishReason {
    /// Whether something failed, apart from reaching a limit that the user set.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Error | Self::ContextOverflow)
    }
}

/// A turn of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnRecord {
    /// The purpose of the turn, as in the journal of `m3 run`.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub purpose: String,
    /// The usage that the provider reported.
    // Other programs may not tell it for a turn.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Usage", !default))]
    pub usage: Option<Usage>,
    /// The time from the first try to the answer.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub milliseconds: u64,
    /// The number of times that the model was asked.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub tries: u32,
    /// The model that the provider says has answered.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What was wrong with the reply and how it was understood all the same.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Vec::is_empty")]
    pub oddities: Vec<String>,
}

/// Tokens of one reply or of several, as the provider counts them. What is not reported is `None`, not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Usage {
    /// Tokens read, cached ones included.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The input tokens that were read from the provider's cache.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens written, thoughts included.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The output tokens that are thoughts.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
    /// Whether the sum is incomplete: at least one reply came without its input or its output tokens.
    #[serde(
        rename = "partial",
        default,
        deserialize_with = "or_default",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub is_partial: bool,
}

impl Usage {
    /// The sum of both. A number that only one of them reports is kept.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            input_tokens: sum(self.input_tokens, other.input_tokens),
            cached_input_tokens: sum(self.cached_input_tokens, other.cached_input_tokens),
            output_tokens: sum(self.output_tokens, other.output_tokens),
            reasoning_tokens: sum(self.reasoning_tokens, other.reasoning_tokens),
            is_partial: self.is_partial || other.is_partial,
        }
    }

    /// The usage of one reply, which is partial if the provider did not report input or output.
    #[must_use]
    pub fn marked_if_partial(self) -> Self {
        Self { is_partial: self.input_tokens.is_none() || self.output_tokens.is_none(), ..self }
    }

    /// The usage in words: `1200 in, 80 out`.
    #[must_use]
    pub fn in_words(self) -> String {
        let words = |count: Option<u64>| count.map_or("?".to_owned(), |count| count.to_string());
        let sum = format!("{} in, {} out", words(self.input_tokens), words(self.output_tokens));
        format!("{sum}{}", self.partial_mark())
    }

    /// A mark behind a sum of tokens to which some replies did not contribute.
    #[must_use]
    pub fn partial_mark(self) -> &'static str {
        if self.is_partial { " (partial: some replies came without)" } else { "" }
    }

    /// Input and output together, for budgets; unreported numbers count as 0.
    #[must_use]
    pub fn total(self) -> u64 {
        self.input_tokens.unwrap_or(0).saturating_add(self.output_tokens.unwrap_or(0))
    }
}

/// The facts of the run that made a prediction: which repetition and attempt, how long it took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunFacts {
    /// Hash of all that decides what is asked and what may happen: the same command does not repeat a task that has
    /// a prediction with its key.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub key: String,
    /// Which repetition, from 1.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub repeat: u32,
    /// The number of the attempt at this repetition, from 1.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub attempt: u32,
    /// The time from the start of the servers to the end.
    #[serde(default, deserialize_with = "or_default")]
    #[cfg_attr(feature = "schema", schemars(!default))]
    pub milliseconds: u64,
    /// Whether the model was shown no image: the blind baseline. Left out if it was shown all images that there were.
    #[serde(default, deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub no_images: bool,
}

/// A member; its default if it has another form, so that one odd member does not hide the others.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).unwrap_or_default())
}

impl Trajectory {
    /// The tokens of all turns; `None` without an object `usage`.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.get_as("usage")
    }

    /// The facts of its run; `None` for trajectories without an object `run`.
    #[must_use]
    pub fn run(&self) -> Option<RunFacts> {
        self.get_as("run")
    }

    /// The recorded turns of the model; those of another form are left out.
    pub fn turns(&self) -> impl Iterator<Item = TurnRecord> {
        self.list("turns").iter().filter_map(|turn| serde_json::from_value(turn.to_value()?).ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, parse};

    /// Any program may have written or changed the file.
    #[test]
    fn an_odd_or_missing_member_does_not_hide_the_others() {
        let text = r#"{"usage": {"input_tokens": 5, "output_tokens": 1.5, "partial": null}, "run": {"no_images": true},
            "turns": [{"usage": {"output_tokens": 7}, "tries": "x"}, 3, {"purpose": "plan"}]}"#;
        let Json::Object(extra) = parse(text.as_bytes()).unwrap().0 else { panic!("{text}") };
        let recorded = Trajectory { extra, ..Trajectory::default() };
        assert_eq!(recorded.usage(), Some(Usage { input_tokens: Some(5), ..Usage::default() }));
        assert_eq!(recorded.run(), Some(RunFacts { no_images: true, ..RunFacts::default() }));
        let turns: Vec<TurnRecord> = recorded.turns().collect();
        assert_eq!(
            (turns.len(), turns[0].usage.and_then(|usage| usage.output_tokens), &*turns[1].purpose),
            (2, Some(7), "plan")
        );
        assert_eq!(Trajectory::default().run(), None);
    }
}
