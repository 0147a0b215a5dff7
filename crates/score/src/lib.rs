//! Scoring: two trajectories in, an alignment and its numbers out.
//!
//! The steps in order, a file each: [`Serializer`] (arguments to text), the encoder (text to vectors),
//! [`cosine`] (vectors to similarities), [`buckets`] (calls of one tool), [`assign()`] (which calls are matched),
//! [`Matching`] (and why the others are not), [`fidelity`] (how far matched calls ask for the same, and which
//! argument does not), [`metrics`] (what is measured), [`ExactSums`] (for a trajectory, a type, a set). [`score`] runs
//! them over two files, [`Scorer`] over trajectories in memory.
//!
//! ```
//! use m3_embedding::{Embedder, Embedding, Encoder, EncoderError, Identity};
//! use m3_score::{Metric, ScoreOptions, Scorer};
//! use m3_trajectory::{Call, Step, Trajectory};
//!
//! /// Takes all texts for the same; `m3-encoder` has one that reads them.
//! struct Indifferent(Identity);
//!
//! impl Encoder for Indifferent {
//!     fn identity(&self) -> &Identity {
//!         &self.0
//!     }
//!
//!     fn embed(&mut self, texts: &[&str], done: &mut dyn FnMut(usize)) -> Result<Vec<Embedding>, EncoderError> {
//!         done(texts.len());
//!         Ok(vec![vec![1.0]; texts.len()])
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let trajectory = |tools: &[&str]| {
//!     let calls = tools.iter().map(|tool| Call {
//!         tool: (*tool).to_owned(), arguments: None, result: None, extra: Vec::new(),
//!     });
//!     let steps = vec![Step { calls: calls.collect(), ..Step::default() }];
//!     Trajectory { steps, ..Trajectory::default() }
//! };
//! let prediction = trajectory(&["image/crop"]);
//! let reference = trajectory(&["image/crop", "image/blur"]);
//!
//! let identity = Identity { name: "none".into(), fingerprint: "1".into(), dimensions: 1, max_tokens: 256 };
//! let mut embedder = Embedder::new(Box::new(Indifferent(identity)), None);
//! let options = ScoreOptions::default();
//! let score = Scorer::new(options, &mut embedder).score(&prediction, &reference)?;
//! let metrics = score.expect("it has not failed").sums.metrics(options.profile);
//! assert_eq!((metrics[Metric::Recall], metrics[Metric::Precision]), (0.5, 1.0));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

pub mod answer;
/// The examples of the README are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod assign;
mod boost;
mod bucket;
mod by_tool;
mod calls;
mod chunk;
mod compared;
mod counterparts;
mod exact_sums;
pub mod fidelity;
mod findings;
mod flow;
mod hungarian;
mod job;
mod ledger;
mod matching;
mod matrix;
mod metric;
pub mod metrics;
mod options;
mod pass;
mod pipeline;
mod profile;
mod repeats;
pub mod results;
mod role_rules;
mod run;
mod schema;
mod scored;
mod scorer;
mod serialize;
mod similarity;
mod sum;
mod trajectory_match;
mod transport;
mod typed;
mod verdict;
mod weighted_sums;
mod wordnet;

pub use assign::{Side, assign};
pub use bucket::{Bucket, buckets};
pub use by_tool::{ByTool, Cause, ToolTally};
pub use calls::{CallPlace, Calls};
pub use compared::ComparedPair;
pub use exact_sums::{ExactSums, NotSums};
pub use findings::{Findings, RejectedMatch, WrongArgument};
pub use flow::{SideFlow, flow_of};
pub use job::{Changes, Job, JobFact, WorstCall};
pub use ledger::Ledger;
pub use m3_embedding::cosine;
pub use m3_flow::CallRole;
pub use matching::{BucketSimilarities, Match, Matching, Reason, UnmatchedCall};
pub use matrix::Matrix;
pub use metric::{MatchedPair, Metric, Metrics, NoteContext, PartOfAverages, Sum};
pub use options::{Flow, Results, ScoreOptions};
pub use pass::{PassCriterion, PassMetric};
pub use pipeline::{ScoredTrajectory, Sink, find_doubtful, score, score_chosen};
pub use profile::{Profile, ThresholdError, Thresholds, is_strong};
pub use role_rules::{RoleRule, RoleRules, RoleRulesError};
pub use scored::{Progress, ScoreError, Summary, TrajectoryScore};
pub use scorer::{Scorer, TrajectoryPair};
pub use serialize::Serializer;
pub use similarity::Similarity;
pub use sum::{ExactSum, SumAndCount};
pub use trajectory_match::{ArgumentMode, ArgumentRule, MatchMode, MatchOptions, Mismatch, Verdict, matches};
pub use transport::TooLarge;
pub use verdict::{JobEvidence, JobVerdict};
pub use weighted_sums::WeightedSums;
