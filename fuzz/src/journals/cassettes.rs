//! Cassettes: what they hold, and what is recorded after it.

use std::time::Duration;

use m3_llm::{Cassette, RecordedCall, Recorder, Scope};
use serde_json::{Map, Value, json};

use super::whole_lines;
use crate::input::{Temporary, assert_text};

pub(super) fn check(bytes: &[u8]) {
    let file = Temporary::file("cassette.jsonl", bytes);
    let cassette = match Cassette::open(file.path()) {
        Ok(cassette) => cassette,
        Err(error) => return assert_text("an error", &error.to_string(), 2000),
    };
    let summary = cassette.summary();
    assert!(summary.requests <= summary.tries && summary.tries + summary.calls <= bytes.len(), "{summary:?}");
    let recorder = match Recorder::create_or_append(file.path(), cassette.header().clone()) {
        Ok(recorder) => recorder,
        Err(error) => {
            assert_text("an error", &error.to_string(), 2000);
            assert!(file.bytes() == bytes, "a file that is refused is changed");
            return;
        }
    };
    let scope = Scope { task: "of the fuzzer".to_owned(), repeat: 1, attempt: 1, workspace: None };
    let call = RecordedCall { result: Ok(result(bytes)), elapsed: Duration::ZERO, waited: Duration::ZERO };
    recorder.record_call(&scope, "s/f", &Map::new(), call.clone());
    assert!(recorder.failure().is_none());
    drop(recorder);
    assert!(file.bytes().starts_with(whole_lines(bytes)), "what was recorded is lost");
    let again = Cassette::open(file.path());
    assert!(again.is_ok(), "what was recorded is read again: {again:?}");
    let Ok(again) = again else { return };
    assert_eq!(again.call(&scope, "s/f", &Map::new()), Ok(call));
    assert_eq!(again.summary().calls, summary.calls + 1);
}

/// What a call returned: the last line of the file, or its text.
fn result(bytes: &[u8]) -> Value {
    let last = bytes.split(|byte| *byte == b'\n').rev().find(|line| !line.is_empty()).unwrap_or_default();
    serde_json::from_slice(last).unwrap_or_else(|_| json!({"text": String::from_utf8_lossy(last)}))
}
