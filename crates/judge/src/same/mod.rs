//! Asks a language model whether two calls of one tool ask for the same.
//!
//! ```text
//! CallsToCompare -> question (A, B) and (B, A) -> model -> an opinion on each -> PairAnswer
//! ```
//!
//! Models tend to prefer what they read first, so each pair is asked in both orders, and only an opinion that is the
//! same in both orders counts. The calls are untrusted: they stand between marks that they cannot know, each text on
//! one line, and only the model's own reply is read, strictly.

mod ask;
mod question;
mod reply;

pub use ask::{AskedPairs, SameAsker};
pub use question::CallsToCompare;
pub use reply::{PairAnswer, PairReplies, SameOpinion};
