//! m3 evaluates trajectories of vision-language models that use tools: were the right tools called, with the right
//! arguments, in the right order, in parallel where possible, and where exactly did it go wrong?
//!
//! This package is the program. Its crates can be used separately:
//!
//! | crate | what it does |
//! | --- | --- |
//! | [`m3_support`] | safe display of text, atomic writing of files, records without loss |
//! | [`m3_trajectory`] | tasks, trajectories, their files, problems with their places |
//! | [`m3_traces`] | traces of other programs, as trajectories |
//! | [`m3_embedding`] | sentence embeddings as a trait, a cache before it, cosines |
//! | [`m3_encoder`] | the sentence encoder on ONNX Runtime, its files, its cache on disk |
//! | [`m3_score`] | alignment, metrics, fidelity |
//! | [`m3_suites`] | scores of the same trajectories by the rules of other benchmarks |
//! | [`m3_stats`] | intervals, differences and ranks of models |
//! | [`m3_figures`] | pictures of results as SVG and PNG |
//! | [`m3_report`] | reports of scores; leaderboards; the audit |
//! | [`m3_web`] | HTTP on this machine, and a page for the person who started m3 |
//! | [`m3_images`] | images of unknown origin, read within limits |
//! | [`m3_mcp`] | tools of MCP servers: the host, and how our own are served |
//! | [`m3_servers`] | our own MCP servers |
//! | [`m3_llm`] | language models: the wires, retries, pictures, cassettes |
//! | [`m3_outcomes`] | the outcome of every call |
//! | [`m3_executor`] | tasks run by a model with tools, and their records |
//! | [`m3_judge`] | references from runs, grades for answers, and people's decisions on both |
//! | [`m3_view`] | runs, scores and references as pages in a browser |
//!
//! # The score flow
//!
//! ```text
//! TrajectoryFile x 2 -> Serializer -> Embedder -> cosine -> buckets -> assign -> Matching -> Fidelity -> ExactSums
//!     -> ScoreReport
//! ```

#![forbid(unsafe_code)]

mod calibrate;
pub mod cli;
mod export;
mod import;
mod report;
mod result_files;
