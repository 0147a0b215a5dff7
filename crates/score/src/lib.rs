//! Scoring: two trajectories in, an alignment and its numbers out.
//!
//! The steps in order, a file each: [`Serializer`] (arguments to text), the encoder (text to vectors),
//! [`cosine`] (vectors to similarities), [`buckets`] (calls of one tool), [`assign()`] (which calls are matched),
//! [`Matching`] (and why the others are not), [`fidelity`] (how far matched calls ask for the same, and which
//! argument does not), [`metrics`] (what is measured), [`Tally`] (for a trajectory, a type, a set). [`score`] runs
//! them over two files.

mod assign;
mod bucket;
mod by_tool;
mod calls;
mod chunk;
pub mod fidelity;
mod hungarian;
mod ledger;
mod matching;
mod matrix;
mod metric;
pub mod metrics;
mod pass;
mod pipeline;
mod profile;
mod repeats;
mod schema;
mod serialize;
mod similarity;
mod sum;
mod sums;
mod tally;
mod transport;
mod typed;

pub use assign::{Side, TooLarge, assign};
pub use bucket::{Bucket, buckets};
pub use by_tool::{ByTool, Cause, ToolTally};
pub use calls::{CallPlace, Calls};
pub use ledger::Ledger;
pub use m3_embedding::cosine;
pub use matching::{BucketSimilarities, Match, Matching, Reason, Unmatched};
pub use matrix::Matrix;
pub use metric::{Averaged, MatchedPair, Metric, Noted, Sum};
pub use pass::{PassCriterion, PassMetric};
pub use pipeline::{Progress, ScoreError, ScoreOptions, Sink, Summary, TrajectoryScore, score, score_chosen};
pub use profile::{Profile, ThresholdError, Thresholds};
pub use serialize::Serializer;
pub use similarity::Similarity;
pub use sum::ExactSum;
pub use sums::{Metrics, Sums};
pub use tally::Tally;
