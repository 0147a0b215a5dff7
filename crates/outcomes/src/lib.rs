//! What became of every predicted call: one of five outcomes (M³-Bench, section 5.4), by rules that have names.
//!
//! ```text
//! TrajectoryFile -> Trajectory -> Judge (format, tool, schema) -> answer recorded or by Replay -> rules -> Judgement
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Outcome`], [`Verdict`], [`Rule`] | what can be said of a call, and by which rule |
//! | [`Judge`] | is it a call, of a known tool, with arguments that fit? |
//! | [`Answer`] | what a tool answered, and what the rules of [`ANSWER_RULES`] say of it |
//! | [`ask()`] | has a language model decide what no rule is sure of |
//! | [`Replay`] | makes the calls of a trajectory again |
//! | [`Tally`] | counts and the three rates of MCP-Bench, section 5.1 |
//!
//! The rules are explained in `docs/outcomes.md`.

mod answer;
mod ask;
#[cfg(test)]
mod examples;
mod format;
mod given;
mod in_json;
mod judge;
mod outcome;
mod patterns;
mod replay;
mod rules;
mod tally;

pub use answer::Answer;
pub use ask::{Asked, Judged, ask, is_open};
pub use given::{Given, without_secrets};
pub use judge::{
    Checked, Judge, JudgedCall, Judgement, KnownTools, Place, Reply, judge_trajectory, recorded_reply,
};
pub use outcome::{Confidence, NotJudged, Outcome, Rule, Verdict};
pub use patterns::prepare;
pub use replay::{Replay, ReplayError, ReplayOptions, ReplayedTrajectory};
pub use rules::{ANSWER_RULES, AnswerRule, Where, all_rules};
pub use tally::{Rate, Tally};
