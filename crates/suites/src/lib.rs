//! Suites: the metrics of other benchmarks of tool calling, computed for the same trajectories.
//!
//! A suite is one row of [`SUITES`] and one folder here. It gives values for each trial of each task, which is a
//! reference with a prediction, and at the end values for all trials. Where the program that was published with a
//! benchmark differs from its paper, the suite has both definitions ([`Variant`]).
//!
//! ```
//! use m3_suites::{ChosenSuite, Trial};
//! use m3_trajectory::json::Json;
//! use m3_trajectory::{Call, Step, Trajectory};
//!
//! let call = Call { tool: "weather".into(), arguments: Some(Json::Object(vec![])), result: None, extra: vec![] };
//! let task = Trajectory {
//!     id: "a".into(),
//!     steps: vec![Step { calls: vec![call], ..Step::default() }],
//!     ..Trajectory::default()
//! };
//! let chosen: ChosenSuite = "mcpagentbench:published".parse()?;
//! let mut scorer = chosen.open(None);
//! let values = scorer.trial(&Trial::new(&task, Some(&task), 1));
//! assert_eq!(values.get("tfs"), Some(1.0));
//! assert_eq!(scorer.finish().aggregate.get("tfs"), Some(100.0));
//! # Ok::<(), String>(())
//! ```

#![forbid(unsafe_code)]

mod bfcl;
mod mcp_agentbench;
mod mcp_bench;
mod mcpagentbench;
mod mcptoolbenchpp;
mod members;
mod python;
mod registry;
mod shape;
mod suite;
mod values;

pub use registry::{ChosenSuite, SUITES};
pub use shape::Shape;
pub use suite::{Group, MatchedCall, Scorer, Setting, Suite, SuiteMetric, SuiteResult, Trial, Unit, Variant};
pub use values::Values;
