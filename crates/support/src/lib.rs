//! What every crate of m3 stands on: untrusted text made safe to show, files that are written whole or not at all,
//! records that are never lost, folders that paths of others do not leave.
//!
//! ```
//! use m3_support::text::visible;
//!
//! // A tool's name that would clear the terminal.
//! assert_eq!(visible("get\u{1b}[2J", false), "get\\u{1b}[2J");
//! ```

#![forbid(unsafe_code)]

pub mod canonical;
pub mod files;
pub mod journal;
pub mod names;
#[cfg(feature = "pages")]
pub mod pages;
pub mod pointer;
#[cfg(feature = "redact")]
pub mod redact;
pub mod text;
pub mod workspace;
