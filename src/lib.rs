//! m3 evaluates trajectories of vision-language models that use tools: were the right tools called, with the
//! right arguments, in the right order, at once where possible, and where exactly did it go wrong?
//!
//! # The score flow
//!
//! ```text
//! TrajectoryFile x 2 -> Serializer -> Embedder -> cosine -> buckets -> assign -> Matching -> Fidelity -> Tally
//!     -> ScoreReport
//! ```
//!
//! | module | what it does |
//! | --- | --- |
//! | [`trajectory`] | tasks, trajectories, their files, problems with their places |
//! | [`encoder`] | the sentence encoder, its files, its cache |
//! | [`score`] | alignment and metrics |
//! | [`stats`] | intervals, differences and ranks of models |
//! | [`leaderboard`] | results of several models side by side |
//! | [`outcomes`] | what became of every call |
//! | [`report`] | what is printed and written |
//! | [`figures`] | pictures of results as SVG and PNG |
//! | [`mcp`] | tools of MCP servers: the host, and how our own are served |
//! | [`servers`] | our own MCP servers |
//! | [`llm`] | language models: the wires, retries, cassettes |
//! | [`executor`] | tasks run by a model with tools, and their records |
//! | [`journal`] | files that only grow, of what must not be lost |
//! | [`judge`] | references from runs, grades for answers, and what people say of both |
//! | [`calibrate`] | thresholds of similarity from labels of people |
//! | [`cli`] | the command line |
//!
//! `score` sees `trajectory` and `encoder`, `stats` nothing of the others, `figures` names and numbers, `report`
//! results, `cli` all.
//!
//! # Example
//!
//! ```
//! use m3::score::metrics::{Pair, step_coherence};
//!
//! // Two calls of one reference step, made in two steps by the model.
//! let pair = |predicted_step| Pair { reference_step: 0, predicted_step, similarity: 0.9 };
//! assert_eq!(step_coherence(&[pair(0), pair(1)]), 0.5);
//! ```

#![forbid(unsafe_code)]

pub mod calibrate;
mod canonical;
pub mod cli;
pub mod encoder;
pub mod executor;
pub mod figures;
mod files;
mod images;
pub mod journal;
pub mod judge;
pub mod leaderboard;
pub mod llm;
pub mod mcp;
pub mod outcomes;
mod pages;
pub mod report;
pub mod score;
pub mod servers;
mod serving;
pub mod stats;
mod task_image;
mod text;
pub mod trajectory;
mod workspace;
