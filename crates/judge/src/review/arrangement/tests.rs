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
    PlacedCall { call, tool: None, arguments: None }
}

pub(in crate::review) fn with(call: usize, arguments: &str) -> PlacedCall {
    PlacedCall { call, tool: None, arguments: Some(arguments.to_owned()) }
}

/// A call that is not in the file.
pub(in crate::review) fn added(call: usize, tool: &str, arguments: &str) -> PlacedCall {
    PlacedCall { tool: Some(tool.to_owned()), ..with(call, arguments) }
}

/// A revision of the calls alone.
fn of(steps: Arrangement) -> Revision {
    Revision { steps, reply: None }
}

fn answering(reply: &str) -> Revision {
    Revision { reply: Some(reply.to_owned()), ..Revision::of(&reference()) }
}

#[test]
fn an_arrangement_is_brought_into_form() {
    let reference = reference();
    // The same arguments with other blanks are no change.
    let arrangement =
        vec![vec![], vec![with(0, "{ \"q\": \"eel\" }")], vec![with(1, "{\"z\": 1, \"a\": 2}")]];
    let expected = vec![vec![at(0)], vec![with(1, "{\"z\":1,\"a\":2}")]];
    assert_eq!(normal(&reference, of(arrangement)).unwrap().steps, expected);
    let before = Revision::of(&reference);
    assert_eq!(normal(&reference, before.clone()).unwrap(), before);
    // A new call needs a tool, and has no arguments unless some are given.
    let new = PlacedCall { arguments: None, ..added(3, " a/find ", "") };
    let made = normal(&reference, of(vec![vec![at(0)], vec![new]])).unwrap();
    assert_eq!(made.steps[1], vec![added(3, "a/find", "{}")]);
    assert_eq!(original(&reference).len(), 2);
}

#[test]
fn what_is_no_arrangement_is_refused() {
    let reference = reference();
    let message = |arrangement| normal(&reference, of(arrangement)).unwrap_err()[0].message.clone();
    assert!(message(vec![vec![at(3)]]).contains("not one of the reference"));
    assert!(message(vec![vec![at(0)], vec![at(0)]]).contains("twice"));
    assert!(message(vec![vec![]]).contains("no call is left"));
    let wrong = message(vec![vec![with(0, "{\n \"q\": eel}")]]);
    assert!(wrong.starts_with("this is not JSON") && wrong.ends_with("in line 2, column 7"), "{wrong}");
    assert!(message(vec![vec![with(0, "{\"q\": NaN}")]]).contains("not plain JSON"));
    let other_tool = PlacedCall { call: 0, ..added(0, "a/list", "{}") };
    assert!(message(vec![vec![other_tool]]).contains("keeps its tool"));
    // Short as written, and too long as kept.
    let long = format!("[{}]", vec!["1e20"; LONGEST_TEXT / 5 - 1].join(","));
    assert!(long.len() <= LONGEST_TEXT);
    assert!(message(vec![vec![with(0, &long)]]).contains("at most 1024 KiB"));
    for tool in ["", " ", "a\u{202e}b", &"x".repeat(LONGEST_TOOL + 1)] {
        assert!(message(vec![vec![added(3, tool, "{}")]]).contains("visible characters"), "{tool}");
    }
    for number in [3 + MOST_ADDED, usize::MAX] {
        assert!(message(vec![vec![added(number, "a/b", "{}")]]).contains("not one of the reference"));
    }
    assert!(message(vec![vec![added(3, "a/b", "{")]]).contains("not JSON"));
    let long = normal(&reference, answering(&"x".repeat(LONGEST_TEXT + 1))).unwrap_err();
    assert!(long[0].message.contains("at most 1024 KiB"), "{long:?}");
}

#[test]
fn an_answer_is_kept_only_where_it_is_another_one() {
    let mut reference = reference();
    reference.final_reply = Some("two\r\nlines".to_owned());
    let kept = |reference: &Trajectory, reply: &str| {
        let revision = normal(reference, answering(reply)).unwrap();
        (revision.reply.clone(), arranged(reference, &revision).final_reply)
    };
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(kept(&reference, "two\nlines"), (None, text("two\r\nlines")));
    assert_eq!(
        kept(&reference, "one\r\nline\u{200d}"),
        (text("one\nline\u{200d}"), text("one\nline\u{200d}"))
    );
    // Calls are left, so the answer may go.
    assert_eq!(kept(&reference, " \n"), (text(""), None));
    reference.final_reply = None;
    assert_eq!(kept(&reference, ""), (None, None));
    // A task may need no call, but something has to be left.
    reference.steps.clear();
    let answer = |reply: &str| normal(&reference, Revision { reply: text(reply), ..Revision::default() });
    assert_eq!(answer("7").unwrap().answer(&reference), Some("7"));
    assert!(answer(" ").unwrap_err()[0].message.contains("neither a call nor an answer"));
    let filled = normal(&reference, of(vec![vec![added(0, "a/find", "{}")]])).unwrap();
    assert_eq!(arranged(&reference, &filled).steps[0].calls[0].tool, "a/find");
}

#[test]
fn an_arranged_reference_keeps_what_was_not_touched() {
    let mut reference = reference();
    reference.extra.push(("judge".to_owned(), Json::Bool(true)));
    reference.steps[1].extra.push(("note".to_owned(), Json::Bool(true)));
    assert_eq!(arranged(&reference, &Revision::of(&reference)), reference);
    let steps = vec![vec![with(1, r#"{"page":2}"#)], vec![at(0)], vec![at(2)]];
    let made = arranged(&reference, &of(steps));
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
    let before = Revision::of(&reference);
    let said = |after: Arrangement| change(&reference, &before, &of(after));
    assert_eq!(said(before.steps.clone()), "nothing");
    assert_eq!(said(vec![vec![at(0)], vec![at(2)]]), "removed a/list");
    assert_eq!(said(vec![vec![at(0), with(1, "{\"p\":1}")], vec![at(2)]]), "arguments of a/list");
    assert_eq!(said(vec![vec![at(0)], vec![at(1)], vec![at(2)]]), "moved a/list, b/get");
    assert_eq!(said(vec![vec![at(0)], vec![at(2), at(1)]]), "moved a/list");
    let with_new = [original(&reference), vec![vec![added(3, "b/pay", "{}")]]].concat();
    assert_eq!(said(with_new.clone()), "added b/pay");
    assert_eq!(change(&reference, &of(with_new), &answering("7")), "removed b/pay; answer changed");
}
