//! xLAM and `APIGen` of one turn: a query with its reference calls.

use super::types::Types;
use super::{records, written};
use crate::formats::prelude::*;

/// Queries with their calls.
pub(in super::super) const XLAM: Format = Format {
    name: "xlam",
    title: "training data: queries and answers of xLAM and APIGen",
    recognizes: |head| head.any(is_record),
    read,
};

fn is_record(value: &Json) -> bool {
    value.text("query").is_some()
        && value.member("answers").is_some_and(|it| matches!(it, Json::String(_) | Json::Array(_)))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    records(input, sink, |conversation, value| is_record(value) && record(conversation, value))
}

fn record(conversation: &mut Conversation, value: &Json) -> bool {
    conversation.is_reference = true;
    conversation.user(Content::of_member(value, "query"));
    conversation.reply(None);
    match value.member("answers") {
        Some(Json::String(text)) => {
            written::calls(
                conversation,
                text,
                &value.member("tools").map(Types::from_tools).unwrap_or_default(),
            );
        }
        Some(list) => match written::of_value(list) {
            Some(calls) => conversation.calls(calls),
            None => conversation.note("answers that are no calls are left out"),
        },
        None => {}
    }
    true
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::parse;

    use super::*;

    #[test]
    fn all_answers_are_one_step_of_a_reference() {
        let text =
            r#"{"query": "q", "answers": "[{\"name\": \"a\", \"arguments\": {}}, {\"name\": \"b\"}]"}"#;
        let (value, _) = parse(text.as_bytes()).unwrap();
        assert!(is_record(&value));
        let mut conversation = Conversation::default();
        record(&mut conversation, &value);
        let trace = conversation.finish();
        assert_eq!(trace.kind, TraceKind::Reference);
        assert_eq!(trace.steps.iter().map(Vec::len).collect::<Vec<_>>(), [2]);
    }
}
