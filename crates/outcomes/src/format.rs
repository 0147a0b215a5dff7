//! Whether a model's call is valid in form: a name, and arguments that are a JSON object.

use m3_mcp::arguments::ArgumentProblem;
use m3_trajectory::Call;
use m3_trajectory::json::{self, Json, Keys};
use serde_json::{Map, Value};

use super::outcome::{Outcome, Rule};

/// The call names no tool.
pub(super) static NO_NAME: Rule = Rule::sure(
    "no_name",
    Outcome::IllegalFormat,
    "what stands among the calls is no object, or has no `name` that is a text",
);

/// The arguments are not an object.
pub(super) static ARGUMENTS_NOT_OBJECT: Rule = Rule::sure(
    "arguments_not_object",
    Outcome::IllegalFormat,
    "`arguments` is neither an object nor a text that holds one",
);

/// There are no arguments, but the tool requires some.
pub(super) static NO_ARGUMENTS: Rule = Rule::sure(
    "no_arguments",
    Outcome::IllegalFormat,
    "`arguments` is missing, null or empty, and the tool's schema does not accept an empty object",
);

/// The arguments contain numbers that JSON cannot express.
pub(super) static NOT_JSON: Rule = Rule::sure(
    "not_json",
    Outcome::IllegalFormat,
    "the arguments hold `NaN` or an infinity, which no request can carry",
);

/// The executor recorded an illegal call.
pub(super) static RECORDED_ILLEGAL: Rule = Rule::sure(
    "recorded_illegal_format",
    Outcome::IllegalFormat,
    "the call was recorded with the outcome `illegal_format`: the model's reply could not be parsed",
);

/// The final reply contains a call that was not recognized as one.
pub(super) static CALL_IN_REPLY: Rule = Rule::sure(
    "call_in_reply",
    Outcome::IllegalFormat,
    "the final reply holds a name and arguments, or the marks around them, as text; it counts as one call",
);

/// The arguments of a call, in the form of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arguments {
    /// An object.
    Object(Map<String, Value>),
    /// No arguments, which the protocol allows but not every tool.
    Absent,
    /// Arguments that no request could carry: the rule, and a description of them.
    Illegal(&'static Rule, String),
}

/// Reads the arguments of a call. A text that contains an object counts as that object, because model APIs write
/// arguments as text.
pub(super) fn arguments(call: &Call) -> Arguments {
    if call.recorded_outcome() == Some(Outcome::IllegalFormat.name()) {
        return Arguments::Illegal(&RECORDED_ILLEGAL, call_text(call));
    }
    let parsed;
    let arguments = match &call.arguments {
        None | Some(Json::Null) => return Arguments::Absent,
        Some(Json::String(text)) if text.trim().is_empty() => return Arguments::Absent,
        Some(Json::String(text)) => match json::parse(text.as_bytes()) {
            Ok((value @ Json::Object(_), _)) => {
                parsed = value;
                &parsed
            }
            _ => return Arguments::Illegal(&ARGUMENTS_NOT_OBJECT, text.clone()),
        },
        Some(object @ Json::Object(_)) => object,
        Some(other) => return Arguments::Illegal(&ARGUMENTS_NOT_OBJECT, other.to_text(Keys::AsRead)),
    };
    match arguments.to_value() {
        Some(Value::Object(members)) => Arguments::Object(members),
        _ => Arguments::Illegal(&NOT_JSON, arguments.to_text(Keys::AsRead)),
    }
}

/// The recorded reply that could not be parsed into a call, or else the arguments of the call.
fn call_text(call: &Call) -> String {
    let reply = call.get("reply").and_then(Json::as_str);
    let arguments = || call.arguments.as_ref().map(|arguments| arguments.to_text(Keys::AsRead));
    reply.map(str::to_owned).or_else(arguments).unwrap_or_default()
}

/// The position of a call in a final reply that was not recognized as a call. Chat templates mark calls; without a
/// mark, the text must contain both keys of a call as keys.
pub(super) fn call_in_reply(reply: &str) -> Option<usize> {
    const MARKS: [&str; 5] =
        ["<tool_call>", "<|tool_call|>", "<function_call>", "[TOOL_CALLS]", "<|python_tag|>"];
    let mark = MARKS.iter().filter_map(|mark| reply.find(mark)).min();
    mark.or_else(|| {
        let name = key(reply, "name")?;
        let arguments = key(reply, "arguments").or_else(|| key(reply, "parameters"))?;
        Some(name.min(arguments))
    })
}

/// The position of `"key":`.
fn key(text: &str, key: &str) -> Option<usize> {
    let quoted = format!("\"{key}\"");
    text.match_indices(&quoted)
        .find(|(at, found)| text[at + found.len()..].trim_start().starts_with(':'))
        .map(|(at, _)| at)
}

/// The first problem with its place, and the number of the others.
pub(super) fn first_message(problems: &[ArgumentProblem]) -> String {
    let Some(first) = problems.first() else { return String::new() };
    let place = if first.pointer.is_empty() { String::new() } else { format!("{}: ", first.pointer) };
    let more = match problems.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    format!("{place}{}{more}", first.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(arguments: &str) -> Arguments {
        let arguments = (!arguments.is_empty()).then(|| json::parse(arguments.as_bytes()).unwrap().0);
        super::arguments(&Call { tool: "s/t".to_owned(), arguments, result: None, extra: Vec::new() })
    }

    #[test]
    fn arguments_are_an_object_or_a_text_that_holds_one() {
        let object = Arguments::Object([("a".to_owned(), Value::from(1))].into_iter().collect());
        assert_eq!(read(r#"{"a": 1}"#), object);
        assert_eq!(read(r#""{\"a\": 1}""#), object);
        assert_eq!(read(""), Arguments::Absent);
        assert_eq!(read("null"), Arguments::Absent);
        assert_eq!(read(r#"" ""#), Arguments::Absent);
    }

    #[test]
    fn what_no_request_can_carry_is_illegal() {
        for (arguments, rule) in [
            (r#""query=eel""#, "arguments_not_object"),
            (r#""[1]""#, "arguments_not_object"),
            ("[1]", "arguments_not_object"),
            ("7", "arguments_not_object"),
            ("true", "arguments_not_object"),
            (r#"{"a": [NaN]}"#, "not_json"),
            (r#"{"a": -Infinity}"#, "not_json"),
            (r#""{\"a\": NaN}""#, "not_json"),
        ] {
            match read(arguments) {
                Arguments::Illegal(found, _) => assert_eq!(found.name, rule, "{arguments}"),
                other => panic!("{arguments}: {other:?}"),
            }
        }
    }

    #[test]
    fn calls_in_replies_are_found_and_talk_of_calls_is_not() {
        // The form of the failure that M³-Bench shows for GLM-4.5v (section 8).
        let wrapped = r#"<|begin_of_box|>"name":"food/get" "arguments":{"query":"1 melon"}"<|end_of_box|>"#;
        assert_eq!(call_in_reply(wrapped), Some(16));
        assert_eq!(call_in_reply("I call <tool_call>{}</tool_call>"), Some(7));
        for reply in [
            "",
            "<|begin_of_box|>The answer is 7.<|end_of_box|>",
            "The \"name\" of the fish and the \"arguments\" for eating it.",
            r#"{"name": "American eel", "answer": 7}"#,
        ] {
            assert_eq!(call_in_reply(reply), None, "{reply}");
        }
    }
}
