//! The opinions of a model on a pair of calls, read strictly, and the answer that both orders give.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::strict::{object, reason};

/// A model's opinion on two calls in one order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SameOpinion {
    /// Whether the calls ask for the same.
    pub same: bool,
    /// The reason, in the model's words.
    pub reason: String,
}

/// The answer of a model on a pair of calls, from both orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PairAnswer {
    /// The calls ask for the same, in both orders.
    Same,
    /// The calls do not ask for the same, in both orders.
    Different,
    /// The model's opinions in the two orders differ.
    Disagreement,
    /// At least one reply cannot be read.
    Unreadable,
    /// At least one request got no reply.
    NoReply,
    /// No request was made: the calls are too long to be shown.
    TooLong,
}

impl PairAnswer {
    /// The name of the answer in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Different => "different",
            Self::Disagreement => "disagreement",
            Self::Unreadable => "unreadable",
            Self::NoReply => "no_reply",
            Self::TooLong => "too_long",
        }
    }
}

/// The replies to a pair in both orders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairReplies {
    /// The answer that both replies give.
    pub answer: PairAnswer,
    /// The opinions in both orders, that in the given order first; `None` without a reply that can be read.
    pub opinions: [Option<SameOpinion>; 2],
}

/// The reply to one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PairReply {
    /// An opinion.
    Opinion(SameOpinion),
    /// A reply that cannot be read.
    Unreadable,
    /// No reply.
    Nothing,
}

/// Reads a reply; `Err` says what is wrong with it.
pub(super) fn opinion(reply: &str) -> Result<SameOpinion, String> {
    let SameOpinion { same, reason: said } = object(reply)?;
    Ok(SameOpinion { same, reason: reason(&said)? })
}

impl PairReplies {
    /// The answer and the opinions from the replies in both orders.
    pub(super) fn of(said: [PairReply; 2]) -> Self {
        let answer = match &said {
            [PairReply::Nothing, _] | [_, PairReply::Nothing] => PairAnswer::NoReply,
            [PairReply::Unreadable, _] | [_, PairReply::Unreadable] => PairAnswer::Unreadable,
            [PairReply::Opinion(first), PairReply::Opinion(second)] => match (first.same, second.same) {
                (true, true) => PairAnswer::Same,
                (false, false) => PairAnswer::Different,
                _ => PairAnswer::Disagreement,
            },
        };
        let opinions =
            said.map(|said| if let PairReply::Opinion(opinion) = said { Some(opinion) } else { None });
        Self { answer, opinions }
    }

    /// A pair that was not asked, because it is too long.
    pub(super) const TOO_LONG: Self = Self { answer: PairAnswer::TooLong, opinions: [None, None] };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_opinion_is_read_from_one_object_and_from_nothing_else() {
        for reply in [
            r#"{"same": true, "reason": "Berne is Bern."}"#,
            "```json\n{\"reason\": \" Berne is Bern. \", \"same\": true}\n```",
        ] {
            let expected = SameOpinion { same: true, reason: "Berne is Bern.".to_owned() };
            assert_eq!(opinion(reply), Ok(expected), "{reply}");
        }
        for (reply, problem) in [
            ("", "it is empty"),
            ("true", "it is not the JSON object"),
            (r#"{"same": "true", "reason": "x"}"#, "invalid type"),
            (r#"{"same": 1, "reason": "x"}"#, "invalid type"),
            (r#"{"same": true}"#, "missing field `reason`"),
            (r#"{"same": true, "reason": " "}"#, "`reason` is empty"),
            (r#"{"same": true, "same": false, "reason": "x"}"#, "duplicate field"),
            (r#"{"same": true, "reason": "x", "score": 1}"#, "unknown field"),
            (r#"{"same": false, "reason": "x"} {"same": true, "reason": "x"}"#, "trailing"),
            (r#"They are {"same": true, "reason": "x"}"#, "it is not the JSON object"),
            (r#"[true, "x"]"#, "it is not the JSON object"),
        ] {
            assert!(opinion(reply).unwrap_err().contains(problem), "{reply}");
        }
    }

    #[test]
    fn only_what_is_said_in_both_orders_counts() {
        let said = |same| PairReply::Opinion(SameOpinion { same, reason: "x".to_owned() });
        for (first, second, expected) in [
            (said(true), said(true), PairAnswer::Same),
            (said(false), said(false), PairAnswer::Different),
            (said(true), said(false), PairAnswer::Disagreement),
            (said(true), PairReply::Unreadable, PairAnswer::Unreadable),
            (PairReply::Unreadable, PairReply::Nothing, PairAnswer::NoReply),
            (PairReply::Nothing, said(false), PairAnswer::NoReply),
        ] {
            for both in [[first.clone(), second.clone()], [second.clone(), first.clone()]] {
                assert_eq!(PairReplies::of(both).answer, expected);
            }
        }
        let replies = PairReplies::of([PairReply::Unreadable, said(true)]);
        assert!(replies.opinions[0].is_none() && replies.opinions[1].as_ref().unwrap().same);
    }
}
