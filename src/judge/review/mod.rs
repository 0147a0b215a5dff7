//! Reviews: what people say of references (M³-Bench, sections 3.1 and 6.4).
//!
//! ```text
//! references + decisions -> ReviewDesk -> ReviewServer <-> a person's browser
//!                        -> table (CSV) <-> a person's spreadsheet
//!                        -> reviewed references
//! pairs of trajectories  -> PairsDesk  -> ReviewServer -> preferences -> summary
//! pairs of calls         -> LabelDesk  -> ReviewServer -> labels
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Reviews`] | references, and the file of [`Decision`]s beside them |
//! | [`arrangement`] | edits of a reference, and what speaks against them |
//! | [`reviewed()`] | the references as people left them |
//! | [`read_table`], [`write_table`] | decisions as CSV |
//! | [`ReviewDesk`], [`PairsDesk`], [`LabelDesk`] | answer the pages of the three modes |
//! | [`ReviewServer`] | lets a page be reached from this machine, by who has its token |

pub mod arrangement;
mod checks;
mod decision;
mod desk;
mod labelling;
mod page;
mod pairs;
mod reviewed;
mod server;
mod table;
mod time;

pub use decision::{Action, DecideError, Decision, REVIEW_SCHEMA, Reviews, State, store_path};
pub use desk::{Images, ReviewDesk};
pub use labelling::{Candidate, LabelDesk, LabelFile, LabelFileError};
pub use pairs::{
    Counts, PREFERENCE_SCHEMA, Pairs, PairsDesk, Preference, PreferenceSummary, Version, preferences_path,
};
pub use reviewed::{CountedDecision, PROVENANCE, ReviewRecord, Reviewed, ReviewedReference, reviewed};
pub use server::{Ask, Desk, Page, Reply, ReviewServer, ReviewServerError};
pub use table::{COLUMNS, Changes, LineProblem, read_table, write_table};
pub use time::now;

/// What a user can do whose file of decisions or preferences cannot be used: it stands beside the references.
const ELSEWHERE: &str = "review a copy of the references";
