//! Llama 3: a call is the whole turn, as JSON of `name` and `parameters` or after `<|python_tag|>`.

use super::super::{calls, written};
use crate::formats::prelude::*;
use crate::literal::value;

pub(super) fn read(conversation: &mut Conversation, text: &str) {
    for piece in text.split("<|start_header_id|>").skip(1) {
        let (role, body) = piece.split_once("<|end_header_id|>").unwrap_or((piece, ""));
        let body = body.split("<|eot_id|>").next().unwrap_or_default();
        let body = body.split("<|eom_id|>").next().unwrap_or_default().trim();
        match role.trim() {
            "system" => {}
            "user" => conversation.user(Content::of_text(question(body))),
            "assistant" => reply(conversation, body),
            "ipython" | "tool" => {
                let result = Some(string(&unquoted(body)));
                conversation.result(Outcome::new(None, result));
            }
            _ => conversation.note("a turn of an unknown role is left out"),
        }
    }
}

/// The content of a JSON string, as which the template renders text; any other text stays as it is.
fn unquoted(text: &str) -> String {
    match parse(text.as_bytes()) {
        Ok((Json::String(inside), _)) if text.starts_with('"') => inside,
        _ => text.to_owned(),
    }
}

/// The question without the tools that templates put before the first one, as JSON over several lines.
fn question(body: &str) -> &str {
    let tools =
        if body.starts_with("Given the following functions") { body.split_once("\n\n{\n") } else { None };
    let Some((_, mut rest)) = tools else { return body };
    while let Some((_, after)) = rest.split_once("\n}\n\n") {
        rest = after;
        if !rest.starts_with("{\n") {
            break;
        }
    }
    rest
}

fn reply(conversation: &mut Conversation, body: &str) {
    conversation.reply(None);
    let (text, is_tagged) =
        body.strip_prefix("<|python_tag|>").map_or((body, false), |text| (text.trim(), true));
    if let Some(calls) = if is_tagged { built_in(text) } else { None } {
        conversation.calls(calls);
        return;
    }
    // Several calls are divided by semicolons.
    let one = value(text).filter(|value| matches!(value, Json::Object(_)));
    let values: Option<Vec<Json>> = match one {
        Some(value) => Some(vec![value]),
        None => text.split("; ").map(value).collect(),
    };
    let calls: Option<Vec<_>> = values.and_then(|values| values.iter().map(written::of_value).collect());
    match calls {
        Some(calls) => calls.into_iter().flatten().for_each(|call| conversation.call(call)),
        None if is_tagged || text.starts_with("{\"name\":") && text.contains("\"parameters\":") => {
            conversation.call(written::unreadable(text));
        }
        None => conversation.say(text),
    }
}

/// Calls of tools that the model was trained with: `NAME.call(KEY="VALUE")`.
fn built_in(text: &str) -> Option<Vec<TracedCall>> {
    let named = |call: TracedCall| {
        let name = call.tool.strip_suffix(".call")?.to_owned();
        Some(TracedCall { tool: name, ..call })
    };
    calls::calls(text)?.into_iter().map(named).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;

    fn text(reply: &str) -> String {
        let head = |role: &str| format!("<|start_header_id|>{role}<|end_header_id|>\n\n");
        format!(
            "<|begin_of_text|>{}Given the following functions, respond.\n\n{{\n    \"a\": {{\n    }}\n}}\n\n{{\n    \"b\": 1\n}}\n\nq\
             <|eot_id|>{}{reply}<|eot_id|>{}\"r \\\"1\\\"\"<|eot_id|>{}A<|eot_id|>",
            head("user"),
            head("assistant"),
            head("ipython"),
            head("assistant")
        )
    }

    #[test]
    fn calls() {
        let result = "=\"r \\\"1\\\"\"";
        check(
            &text("{\"name\": \"a\", \"parameters\": {\"x\": 1}}"),
            &[&format!("a{{\"x\":1}}{result}")],
            "A",
        );
        check(
            &text("<|python_tag|>brave_search.call(query=\"x\")"),
            &[&format!("brave_search{{\"query\":\"x\"}}{result}")],
            "A",
        );
        check(
            &text("<|python_tag|>{\"name\": \"a\", \"parameters\": {}}"),
            &[&format!("a{{}}{result}")],
            "A",
        );
        check(
            &text("{\"name\": \"a\", \"parameters\": {}}; {\"name\": \"b\", \"parameters\": {}}"),
            &[&format!("a{{}}{result} b{{}}=-")],
            "A",
        );
        check(
            &text("{\"name\": \"a\", \"parameters\": \"{\\\"x\\\"\"}"),
            &[&format!("a\"{{\\\"x\\\"\"{result}")],
            "A",
        );
    }
}
