//! The judge: references from runs, grades for answers, and people's decisions on both.
//!
//! ```text
//! recorded run -> Chain -> dependencies -> Reconstruction (by rules, or a model's proposal within them) -> reference
//! prediction (+ reference) -> grade (a panel of models) -> grades
//! reference -> review (a person) -> reference
//! two calls of a tool -> same (a model, in both orders) -> the same, different, or uncertain
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`chain_of_run`] | the calls of a run and how they ended; [`m3_flow`] finds which call uses the result of another
//! |
//! | [`reconstruct`] | the optimal trajectory (M³-Bench, section 3.1), and whether a proposal of one keeps the rules |
//! | [`mod@reference`] | from all runs of a task to its reference: verdict, proposal, replay, provenance |
//! | [`grade`] | the grades of a panel of models for predictions (section 4.4) |
//! | [`same`] | a model's verdict on two calls: whether they ask for the same |
//! | [`labels`] | pairs of calls that people have labelled |
//! | [`review`] | people's decisions on references, in a page or a table |
//!
//! This crate does not depend on scores.
//!
//! ```
//! use m3_flow::dependencies;
//! use m3_judge::{chain_of_run, reconstruct::by_rules};
//! use m3_outcomes::KnownTools;
//! use m3_trajectory::{Duplicates, TrajectoryFile};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two independent calls, made one after the other.
//! let call = |city: &str| {
//!     format!(r#"{{"calls": [{{"name": "weather/now", "arguments": {{"city": "{city}"}}, "result": "fine in {city}"}}]}}"#)
//! };
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("run.json");
//! std::fs::write(&path, format!(r#"{{"id": "a", "steps": [{}, {}]}}"#, call("Bern"), call("Oslo")))?;
//! let run = TrajectoryFile::open(&path, Duplicates::Error)?.read(0)?;
//!
//! let calls = chain_of_run(&run, &KnownTools::default());
//! let reference = by_rules(&calls, &dependencies(&calls));
//! // The reference makes both calls at once.
//! assert_eq!((reference.steps.len(), reference.steps[0].len()), (1, 2));
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod asking;
mod chain;
mod fence;
pub mod grade;
pub mod labels;
pub mod reconstruct;
pub mod reference;
pub mod review;
pub mod same;
mod spreadsheet;
mod strict;

pub use chain::chain_of_run;
pub use m3_flow::{CallPlace, CallStatus, Chain, ChainCall};
