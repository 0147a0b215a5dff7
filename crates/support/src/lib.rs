//! The basis of all crates of m3: makes untrusted text safe to show, writes files completely or not at all, keeps
//! records without loss, and keeps untrusted paths inside their folder.
//!
//! ```
//! use m3_support::text::visible;
//!
//! // A tool's name that would clear the terminal.
//! assert_eq!(visible("get\u{1b}[2J", false), "get\\u{1b}[2J");
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "schemas")]
pub mod bounded_schema;
pub mod canonical;
pub mod files;
pub mod journal;
pub mod name_cache;
pub mod names;
#[cfg(feature = "pages")]
pub mod pages;
pub mod pointer;
#[cfg(feature = "redact")]
pub mod redact;
#[cfg(feature = "http")]
pub mod retry_after;
pub mod schema_parts;
pub mod surrogates;
pub mod task_files;
pub mod temporary;
pub mod text;
pub mod unpack;
pub mod workspace;
