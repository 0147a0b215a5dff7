//! Reads the judge's replies strictly: one JSON object, or the agreed word.

use m3_support::text::shortened;
use m3_trajectory::json::{self, Json};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::reconstruct::{Proposal, ProposedCall};
use crate::strict::{bare, object, reason};

/// Whether a run may become a reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The run may become a reference.
    Success,
    /// The run may not become a reference.
    Fail,
}

/// A verdict and its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opinion {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason, in the judge's words.
    pub reason: String,
}

/// Reads a verdict; `Err` says what is wrong with the reply.
pub(super) fn opinion(reply: &str) -> Result<Opinion, String> {
    let Opinion { verdict, reason: said } = object(reply)?;
    Ok(Opinion { verdict, reason: reason(&said)? })
}

/// Reads a proposal; `None` if the judge says that there is none.
pub(super) fn proposal(reply: &str) -> Result<Option<Proposal>, String> {
    let text = bare(reply)?;
    if text == "fail" || text == "\"fail\"" {
        return Ok(None);
    }
    let (value, _) = json::parse(text.as_bytes())
        .map_err(|error| format!("it is not JSON: {}", shortened(&error.message, 200)))?;
    let steps = only_list(&value, "steps", &[], "the reply")?;
    let steps = steps.iter().enumerate().map(|(step, value)| {
        let place = format!("step {}", step + 1);
        let calls = only_list(value, "calls", &["step"], &place)?;
        let calls = calls.iter().enumerate().map(|(call, value)| {
            proposed_call(value).map_err(|problem| format!("{place}, call {}: {problem}", call + 1))
        });
        calls.collect::<Result<Vec<_>, _>>()
    });
    Ok(Some(Proposal { steps: steps.collect::<Result<_, _>>()? }))
}

fn proposed_call(value: &Json) -> Result<ProposedCall, String> {
    let Json::Object(members) = value else {
        return Err(format!(
            "a call should be an object with `name` and `arguments`, and is {}",
            value.kind()
        ));
    };
    if let Some((key, _)) = members.iter().find(|(key, _)| key != "name" && key != "arguments") {
        return Err(format!("a call has `name` and `arguments`, and this one has `{}`", shortened(key, 60)));
    }
    let Some(name) = value.get("name").and_then(Json::as_str) else {
        return Err("the call has no `name` that is a string".to_owned());
    };
    Ok(ProposedCall { name: name.to_owned(), arguments: value.get("arguments").cloned() })
}

/// The list under `key` of an object; its other keys must be `allowed`.
fn only_list<'j>(value: &'j Json, key: &str, allowed: &[&str], place: &str) -> Result<&'j [Json], String> {
    let Json::Object(members) = value else {
        return Err(format!("{place} should be an object with `{key}`, and is {}", value.kind()));
    };
    if let Some((other, _)) =
        members.iter().find(|(name, _)| name != key && !allowed.contains(&name.as_str()))
    {
        return Err(format!("{place} should have `{key}` alone, and has `{}`", shortened(other, 60)));
    }
    match value.get(key) {
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(format!("`{key}` of {place} should be a list, and is {}", other.kind())),
        None => Err(format!("{place} has no `{key}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict::{LONGEST, REASON};

    #[test]
    fn a_verdict_is_read_from_one_object_and_from_nothing_else() {
        for reply in [
            r#"{"verdict": "success", "reason": "All of it."}"#,
            "  ```json\n{\"verdict\": \"success\", \"reason\": \"All of it.\"}\n```\n",
            "```\n{\"reason\": \" All of it. \", \"verdict\": \"success\"}```",
        ] {
            let expected = Opinion { verdict: Verdict::Success, reason: "All of it.".to_owned() };
            assert_eq!(opinion(reply), Ok(expected), "{reply}");
        }
        assert_eq!(opinion(r#"{"verdict": "fail", "reason": "x"}"#).unwrap().verdict, Verdict::Fail);
        for (reply, problem) in [
            ("", "it is empty"),
            ("```\n```", "it is empty"),
            ("success", "it is not the JSON object"),
            (r#"{"verdict": "Success", "reason": "x"}"#, "unknown variant"),
            (r#"{"verdict": "success"}"#, "missing field `reason`"),
            (r#"{"verdict": "success", "reason": ""}"#, "`reason` is empty"),
            (r#"{"verdict": "success", "reason": "x", "score": 1}"#, "unknown field"),
            (r#"{"verdict": "fail", "verdict": "success", "reason": "x"}"#, "duplicate field"),
            (r#"{"verdict": "fail", "reason": "x"} {"verdict": "success", "reason": "x"}"#, "trailing"),
            (r#"The verdict is {"verdict": "success", "reason": "x"}"#, "it is not the JSON object"),
            (r#"["success", "x"]"#, "it is not the JSON object"),
        ] {
            assert!(opinion(reply).unwrap_err().contains(problem), "{reply}");
        }
        let long = format!(r#"{{"verdict": "fail", "reason": "{}"}}"#, "x\\u001b".repeat(5000));
        let reason = opinion(&long).unwrap().reason;
        assert!(reason.chars().count() <= REASON && !reason.contains('\u{1b}'));
        assert!(opinion(&"x".repeat(LONGEST + 1)).unwrap_err().contains("at most"));
    }

    #[test]
    fn a_proposal_keeps_the_text_of_its_numbers() {
        let reply = r#"{"steps": [{"step": 1, "calls": [{"name": "a/b", "arguments": {"x": 5.0, "y": 5}}]}, {"calls": []}]}"#;
        let found = proposal(reply).unwrap().unwrap();
        assert_eq!(found.steps.len(), 2);
        let call = &found.steps[0][0];
        assert_eq!(call.name, "a/b");
        assert_eq!(call.arguments.as_ref().unwrap().to_text(json::Keys::AsRead), r#"{"x":5.0,"y":5}"#);
        for reply in ["fail", " fail\n", "\"fail\"", "```\nfail\n```"] {
            assert_eq!(proposal(reply), Ok(None), "{reply}");
        }
        for (reply, problem) in [
            ("failed", "it is not JSON"),
            ("[]", "should be an object with `steps`, and is an array"),
            (r#"{"steps": {}}"#, "should be a list"),
            (r#"{"steps": [], "note": ""}"#, "alone, and has `note`"),
            (r#"{"steps": [[]]}"#, "step 1 should be an object with `calls`"),
            (r#"{"steps": [{"calls": [{"arguments": {}}]}]}"#, "step 1, call 1: the call has no `name`"),
            (r#"{"steps": [{"calls": [{"name": "a", "result": 1}]}]}"#, "has `result`"),
            (r#"{"steps": [{"calls": [7]}]}"#, "step 1, call 1: a call should be an object"),
        ] {
            assert!(proposal(reply).unwrap_err().contains(problem), "{reply}");
        }
        assert!(proposal(&"[".repeat(100_000)).unwrap_err().contains("nested"));
    }
}
