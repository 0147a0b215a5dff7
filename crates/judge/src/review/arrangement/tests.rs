//! Tests of arrangements: their form, and the references that they give.

use super::*;

/// Three calls in two steps.
pub(in crate::review) fn reference() -> Trajectory {
    let call = |tool: &str, arguments: &str, result: &str| Call {
        tool: tool.to_owned(),
        arguments: Some(json::parse(arguments.as_bytes()).unwrap().0),
        result: Some(Json::String(result.to_owned())),
        extra: vec![("outcome".to_owned(), Json::String("success".to_owned()))],
    };
    let step = |number, calls| Step { number: Some(number), calls, ..Step::default() };
    let first = vec![call("a/find", r#"{"q": "eel"}"#, "id-7731"), call("a/list", "{}", "id-7731, id-9")];
    let second = vec![call("b/get", r#"{"id": "id-7731", "n": 123456789012345678901234567890}"#, "done")];
    Trajectory { id: "x".to_owned(), steps: vec![step(1, first), step(2, second)], ..Trajectory::default() }
}

pub(in crate::review) fn at(call: usize) -> PlacedCall {
    PlacedCall { call, arguments: None }
}

pub(in crate::review) fn with(call: usize, arguments: &str) -> PlacedCall {
    PlacedCall { call, arguments: Some(arguments.to_owned()) }
}

#[test]
fn an_arrangement_is_brought_into_form() {
    let reference = reference();
    // The same arguments with other blanks are no change.
    let arrangement =
        vec![vec![], vec![with(0, "{ \"q\": \"eel\" }")], vec![with(1, "{\"z\": 1, \"a\": 2}")]];
    let expected = vec![vec![at(0)], vec![with(1, "{\"z\":1,\"a\":2}")]];
    assert_eq!(normal(&reference, arrangement).unwrap(), expected);
    assert_eq!(normal(&reference, original(&reference)).unwrap(), original(&reference));
}

#[test]
fn what_is_no_arrangement_is_refused() {
    let reference = reference();
    let message = |arrangement| normal(&reference, arrangement).unwrap_err()[0].message.clone();
    assert!(message(vec![vec![at(3)]]).contains("not one of the reference"));
    assert!(message(vec![vec![at(0)], vec![at(0)]]).contains("twice"));
    assert!(message(vec![vec![]]).contains("no call is left"));
    let wrong = message(vec![vec![with(0, "{\n \"q\": eel}")]]);
    assert!(wrong.starts_with("this is not JSON") && wrong.ends_with("in line 2, column 7"), "{wrong}");
    assert!(message(vec![vec![with(0, "{\"q\": NaN}")]]).contains("not plain JSON"));
}

#[test]
fn an_arranged_reference_keeps_what_was_not_touched() {
    let mut reference = reference();
    reference.extra.push(("judge".to_owned(), Json::Bool(true)));
    reference.steps[1].extra.push(("note".to_owned(), Json::Bool(true)));
    assert_eq!(arranged(&reference, &original(&reference)), reference);
    let made = arranged(&reference, &vec![vec![with(1, r#"{"page":2}"#)], vec![at(0)], vec![at(2)]]);
    let first = &made.steps[0].calls[0];
    assert_eq!((first.tool.as_str(), &first.result, first.extra.len()), ("a/list", &None, 0));
    assert_eq!(made.steps[1].calls[0], reference.steps[0].calls[0]);
    assert_eq!(made.steps[2].calls, reference.steps[1].calls);
    assert_eq!(made.steps[2].extra, reference.steps[1].extra);
    assert_eq!(made.steps.iter().map(|step| step.number).collect::<Vec<_>>(), [Some(1), Some(2), Some(3)]);
    assert_eq!(made.extra, reference.extra);
}

#[test]
fn changes_are_said_in_words() {
    let reference = reference();
    let before = original(&reference);
    let said = |after: Arrangement| change(&reference, &before, &after);
    assert_eq!(said(before.clone()), "nothing");
    assert_eq!(said(vec![vec![at(0)], vec![at(2)]]), "removed a/list");
    assert_eq!(said(vec![vec![at(0), with(1, "{\"p\":1}")], vec![at(2)]]), "arguments of a/list");
    assert_eq!(said(vec![vec![at(0)], vec![at(1)], vec![at(2)]]), "moved a/list, b/get");
    assert_eq!(said(vec![vec![at(0)], vec![at(2), at(1)]]), "moved a/list");
}
