//! A judge's verdict on a trial's arguments. m3 asks no judge here: the verdict is a member of the prediction.

use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, parse};

/// The member with the verdict: 1 or `true` if the arguments are right, anything else if they are not.
const VERDICT: &str = "parameter_correctness";

/// The member with the judge's whole reply as a text: JSON with the verdict as a member, in a fence or without.
const REPLY: &str = "judge_reply";

/// Whether a judge found the arguments right; `None` if none was asked.
pub(super) fn is_right(prediction: &Trajectory) -> Option<bool> {
    prediction.get(VERDICT).map(equals_one).or_else(|| prediction.get(REPLY).map(is_right_in_reply))
}

/// Whether a value equals 1 in Python: `true` does, the text `"1"` does not.
#[expect(clippy::float_cmp, reason = "only 1 itself is a verdict of right")]
fn equals_one(value: &Json) -> bool {
    match value {
        Json::Bool(value) => *value,
        Json::Integer(number) => *number == 1,
        Json::Float(number) => *number == 1.0,
        _ => false,
    }
}

/// The verdict that the program reads from a reply. A reply that is not a JSON object, or has no verdict, counts as
/// wrong.
fn is_right_in_reply(reply: &Json) -> bool {
    let Json::String(text) = reply else { return reply.get(VERDICT).is_some_and(equals_one) };
    let text = text.replace("```json", "").replace("```", "");
    parse(text.trim().as_bytes()).is_ok_and(|(reply, _)| reply.get(VERDICT).is_some_and(equals_one))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_one_or_true() {
        let verdict = |key: &str, value: &str| {
            let extra = vec![(key.to_owned(), parse(value.as_bytes()).unwrap().0)];
            is_right(&Trajectory { extra, ..Trajectory::default() })
        };
        for (value, is_right) in
            [("1", true), ("1.0", true), ("true", true), ("0.5", false), ("\"1\"", false), ("null", false)]
        {
            assert_eq!(verdict("parameter_correctness", value), Some(is_right), "{value}");
            let reply = Json::String(format!("{{\"parameter_correctness\": {value}}}")).to_plain_text();
            assert_eq!(verdict("judge_reply", &reply), Some(is_right), "{reply}");
        }
        for reply in ["\"\"", "\"[1]\"", "\"1\"", "null", "{}", "\"Yes: {\\\"parameter_correctness\\\": 1}\""]
        {
            assert_eq!(verdict("judge_reply", reply), Some(false), "{reply}");
        }
        assert_eq!(verdict("other", "1"), None);
    }
}
