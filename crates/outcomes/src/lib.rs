//! The outcome of every predicted call, one of five (M³-Bench, section 5.4), decided by named rules.
//!
//! ```text
//! TrajectoryFile -> Trajectory -> CallChecker (format, tool, schema) -> answer recorded or by Replay -> rules -> Classification
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Outcome`], [`Verdict`], [`Rule`] | the outcome of a call, and the rule that decides it |
//! | [`CallChecker`] | is it a call, of a known tool, with arguments that fit? |
//! | [`Answer`] | a tool's answer, and the rule of [`ANSWER_RULES`] that decides it |
//! | [`ask()`] | lets a language model decide where no rule is sure |
//! | [`Replay`] | makes the calls of a trajectory again |
//! | [`CallCounts`] | counts and the three rates of MCP-Bench, section 5.1 |
//!
//! The rules are explained in `docs/outcomes.md`.
//!
//! ```
//! use m3_outcomes::{CallChecker, KnownTools, Outcome, Reply, Verdict};
//! use m3_trajectory::Call;
//!
//! let tools = KnownTools::default();
//! let checker = CallChecker::new(&tools);
//! let call = Call { tool: "image/crop".to_owned(), arguments: None, result: None, extra: Vec::new() };
//! let classification = checker.finish(checker.check(&call), Reply::NotExecuted);
//! assert_eq!(classification.verdict(), Verdict::Outcome(Outcome::UnknownTool));
//! ```

#![forbid(unsafe_code)]

mod answer;
mod ask;
mod call_result;
mod check;
mod counts;
#[cfg(test)]
mod examples;
mod format;
mod in_json;
mod known;
mod outcome;
mod patterns;
mod replay;
mod rules;

pub use answer::Answer;
pub use ask::{AskSummary, ClassifiedTrajectory, ask, is_open};
pub use call_result::{CallResult, without_secrets};
pub use check::{
    CallChecker, Classification, ClassifiedCall, Place, Precheck, Reply, classify_trajectory, recorded_reply,
};
pub use counts::{CallCounts, Rate};
pub use known::KnownTools;
pub use outcome::{Confidence, NotJudged, Outcome, Rule, Verdict};
pub use patterns::prepare;
pub use replay::{Replay, ReplayError, ReplayOptions, ReplayedTrajectory};
pub use rules::{ANSWER_RULES, AnswerRule, Where, all_rules};
