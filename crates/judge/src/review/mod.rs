//! Reviews: people's decisions on references (M³-Bench, sections 3.1 and 6.4).
//!
//! ```text
//! references + decisions -> ReviewDesk -> PageServer <-> a person's browser
//!                        -> table (CSV) <-> a person's spreadsheet
//!                        -> reviewed references
//! pairs of trajectories  -> PairsDesk  -> PageServer -> preferences -> summary
//! pairs of calls         -> LabelDesk  -> PageServer -> labels
//! ```
//!
//! | part | what it does |
//! | --- | --- |
//! | [`Reviews`] | references, and the file of [`Decision`]s beside them |
//! | [`origin`] | the run that a reference was made of, its results and dependencies |
//! | [`arrangement`], [`links`] | edits of a reference, and objections to them |
//! | [`reviewed()`] | the references as people left them |
//! | [`read_table`], [`write_table`] | decisions as CSV |
//! | [`ReviewDesk`], [`PairsDesk`], [`LabelDesk`] | answer the pages of the three modes |

pub mod arrangement;
mod checks;
mod decision;
mod desk;
mod document;
mod evidence;
mod findings;
mod import;
mod labelling;
pub mod links;
pub mod origin;
mod page;
mod pairs;
mod preferences;
mod reviewed;
mod reviews;
mod table;

pub use checks::now;
pub use decision::{Action, DecideError, Decision, REVIEW_SCHEMA, State};
pub use desk::{ImageSize, ImageSource, Images, ReviewDesk};
pub use import::{Changes, LineProblem, read_table};
pub use labelling::{Candidate, LabelDesk, LabelFile, LabelFileError, lock_path};
pub use pairs::PairsDesk;
pub use preferences::{
    Counts, PREFERENCE_SCHEMA, Pairs, Preference, PreferenceSummary, Version, preferences_path,
};
pub use reviewed::{CountedDecision, ReviewRecord, ReviewedReferences, reviewed};
pub use reviews::{Reviews, store_path};
pub use table::{COLUMNS, write_table};

/// What to do if the file of decisions or preferences beside the references cannot be used.
const ELSEWHERE: &str = "review a copy of the references";
