//! m3 called by a program instead of a shell: whole commands, and pairs of trajectories in memory.

mod called;
pub(crate) mod pairs;

pub use called::call;
pub use pairs::{
    FidelityOfArgument, FidelityOfCalls, Pair, PairError, PairScorer, ScoredPair, add_sums, aggregate,
};
