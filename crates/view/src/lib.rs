//! What `m3 view` shows: runs, scores and references as pages in a browser.
//!
//! ```text
//! paths -> scan -> Library (runs with their scores, references) -> documents (JSON) -> ViewDesk -> browser
//!                                                                                  -> bundle  -> folder
//! trajectories of an audit -------------------------> documents (JSON) -> AuditPage -> one file
//! ```
//!
//! The page is one script that asks for documents by path (`data/home.json`, `data/run/0.json`) and shows them. A
//! server answers these paths while somebody looks, a bundle has the same answers as files, and an audit has them in
//! the page itself. So all show the same.

#![forbid(unsafe_code)]

mod audit;
mod bundle;
mod desk;
mod documents;
mod grades;
mod journal;
mod library;
mod opened;
mod page;
mod pictures;
mod row;
mod run;
mod scan;
mod score;
mod shelves;
mod text;

pub use audit::AuditPage;
pub use bundle::{BundleError, write_bundle};
pub use desk::ViewDesk;
pub use library::{Library, Scorer, ViewError, ViewSources};
