//! An empty account stops the run, whichever task finds it: waiting does not fill it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};

use super::{command, output_of, predictions, two_calls};
use crate::support::{Folder, failure, stdout};

/// OpenAI's answer: platform.openai.com/docs/guides/error-codes, `You exceeded your current quota`.
const QUOTA: &str = r#"{"error": {"message": "You exceeded your current quota, please check your plan and billing details.",
    "type": "insufficient_quota", "param": null, "code": "insufficient_quota"}}"#;

/// Anthropic's answer for an empty account.
const CREDIT: &str = r#"{"type": "error", "error": {"type": "invalid_request_error",
    "message": "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing."}}"#;

/// The account is used up in the middle of the third task.
#[test]
fn a_quota_that_is_used_up_stops_the_run_and_spends_no_task() {
    let folder = Folder::new();
    let left = Arc::new(AtomicUsize::new(5));
    let paid = Arc::clone(&left);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        let take = |left: usize| left.checked_sub(1);
        if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_err() {
            return ScriptedReply::Raw { status: 429, headers: Vec::new(), body: QUOTA.to_owned() };
        }
        two_calls(seen)
    });
    let output = output_of(&folder);
    let (code, said) = failure(command(&model, &output).args(["--workers", "1"]));
    assert_eq!(code, 4, "{said}");
    assert!(said.contains("`insufficient_quota`") && said.contains("hint: nothing is recorded"), "{said}");
    // Two requests for each of two tasks, one for the third, and the refused one, made once.
    assert_eq!(model.requests().len(), 6);
    assert_eq!(predictions(&output).len(), 2);
    paid.store(1000, Ordering::Relaxed);
    stdout(&mut command(&model, &output));
    assert_eq!(predictions(&output).len(), 15);
}

#[test]
fn a_credit_that_is_too_low_stops_the_run() {
    let folder = Folder::new();
    let model = ScriptedModel::start(ScriptedWire::OpenAi, |_| ScriptedReply::Raw {
        status: 400,
        headers: Vec::new(),
        body: CREDIT.to_owned(),
    });
    let output = output_of(&folder);
    let (code, said) = failure(command(&model, &output).args(["--workers", "1"]));
    assert_eq!((code, model.requests().len()), (4, 1), "{said}");
    assert!(said.contains("credit balance is too low"), "{said}");
    assert!(predictions(&output).is_empty());
}

/// OpenAI's daily limit: no task of this run can wait so long.
#[test]
fn a_limit_that_lasts_longer_than_any_request_waits_stops_the_run() {
    for wanted in ["7200", "1e400"] {
        let folder = Folder::new();
        let model = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
            if seen.results.is_empty() {
                return two_calls(seen);
            }
            let body = r#"{"error": {"message": "Rate limit reached", "type": "tokens", "code": "rate_limit_exceeded"}}"#;
            let headers = vec![("retry-after".to_owned(), wanted.to_owned())];
            ScriptedReply::Raw { status: 429, headers, body: body.to_owned() }
        });
        let output = output_of(&folder);
        let (code, said) = failure(command(&model, &output).args(["--workers", "1"]));
        assert_eq!(code, 4, "{said}");
        let time = if wanted == "7200" { "2 h 0 min" } else { "more than a year" };
        let expected = format!("it wants to be left alone for {time}, and no request waits longer than");
        assert!(said.contains(&expected) && said.contains("hint: nothing is recorded"), "{said}");
        // Two requests for the first task, although the first of them was answered.
        assert_eq!((model.requests().len(), predictions(&output).len()), (2, 0));
    }
}
