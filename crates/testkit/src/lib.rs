//! Helpers for the tests of m3: models that answer by a script and check their requests, plain HTTP, a browser,
//! servers of other authors, and the commands in documents. This crate uses no type of m3.
//!
//! ```
//! use m3_testkit::model_server::{ScriptedReply, ScriptedModel, ScriptedWire};
//!
//! // A model behind OpenAI's wire that says hello to everything.
//! let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Say("hello".to_owned()));
//! assert!(model.base_url().starts_with("http://127.0.0.1:"));
//! ```

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    missing_docs,
    missing_debug_implementations,
    reason = "a test stops at the first surprise, and its author reads the source of the helpers that it calls"
)]

pub mod browser;
pub mod model_server;
pub mod packages;
pub mod raw_http;
pub mod sequence;

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// The root of the repository.
pub fn root() -> &'static Path {
    static ROOT: LazyLock<PathBuf> =
        LazyLock::new(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap());
    &ROOT
}

/// A file or folder of the benchmark's data. If it is missing, `None` and a line that says so.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = root().join("../shared/data").join(path);
    if full.exists() {
        return Some(full);
    }
    skipped("../shared/data is not here")
}

/// Prints why a test does nothing. It goes around the test harness, which hides the output of passing tests.
pub fn skipped<T>(reason: &str) -> Option<T> {
    use std::io::Write as _;
    let mut terminal = std::io::stderr();
    writeln!(terminal, "skipped: {reason}").unwrap();
    None
}

/// An HTTP client. A server that hangs fails the test; a refusal counts as an answer.
pub fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder().timeout_global(Some(std::time::Duration::from_mins(2)));
    config.http_status_as_error(false).build().into()
}
