//! Tests of arrangements: their form, what speaks against them, what they make of a reference.

use serde_json::json;

use super::*;
use crate::mcp::ServerTools;

/// Three calls in two steps.
fn reference() -> Trajectory {
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

fn at(call: usize) -> PlacedCall {
    PlacedCall { call, arguments: None }
}

fn with(call: usize, arguments: &str) -> PlacedCall {
    PlacedCall { call, arguments: Some(arguments.to_owned()) }
}

fn link(from: usize, to: usize) -> Link {
    let value =
        SharedValue { value: "id-7731".to_owned(), in_result: String::new(), in_arguments: "/id".to_owned() };
    Link { from, to, values: vec![value] }
}

#[test]
fn an_arrangement_is_brought_into_form() {
    let reference = reference();
    // The same arguments are no change, whatever their blanks.
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
fn a_call_comes_after_what_it_uses() {
    let tools = ["a/find", "a/list", "b/get"];
    let check = |arrangement: &Arrangement, links: &[Link]| -> Vec<String> {
        misplaced(&tools, arrangement, links, &[]).into_iter().map(|problem| problem.message).collect()
    };
    let apart = vec![vec![at(0), at(1)], vec![at(2)]];
    let same_step = vec![vec![at(0), at(2)], vec![at(1)]];
    let only = [link(0, 2)];
    assert_eq!(check(&apart, &only), [""; 0]);
    let refused = check(&same_step, &only);
    assert!(
        refused[0].contains("`b/get` in step 1 uses `id-7731`, which `a/find` in step 1 returns"),
        "{refused:?}"
    );
    let gone = check(&vec![vec![at(1)], vec![at(2)]], &only);
    assert!(gone[0].contains("which only `a/find` returned"), "{gone:?}");
    // Removing who uses it is no problem, nor is losing one of two sources.
    assert_eq!(check(&vec![vec![at(0), at(1)]], &only), [""; 0]);
    assert_eq!(check(&vec![vec![at(1)], vec![at(2)]], &[link(0, 2), link(1, 2)]), [""; 0]);
    assert_eq!(check(&same_step, &[link(0, 2), link(1, 2)]).len(), 2);
}

#[test]
fn changed_arguments_are_checked_by_the_catalog() {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    let catalog = ToolCatalog {
        servers: vec![ServerTools::from_wire("a", vec![json!({"name": "find", "inputSchema": schema})])],
    };
    let (reference, rules) = (reference(), Rules::new(Some(&catalog)));
    let check = |arguments: &str| problems(&reference, &vec![vec![with(0, arguments)]], &rules);
    assert_eq!(check(r#"{"q": "carp"}"#), []);
    let wrong = check(r#"{"q": 3}"#);
    assert_eq!((wrong[0].call, wrong[0].pointer.as_str()), (Some(0), "/q"));
    assert!(check("{}")[0].message.contains("\"q\""));
    assert!(check("[]")[0].message.contains("an array"));
    assert_eq!(rules.remark("a/find"), None);
    assert!(rules.remark("a/none").unwrap().contains("no such tool"));
    assert_eq!(Rules::new(None).remark("a/find"), None);
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

/// With the dependencies that are really found.
#[test]
fn moves_and_removals_keep_what_results_give() {
    let (reference, rules) = (reference(), Rules::new(None));
    let check = |arrangement: Arrangement| -> Vec<String> {
        problems(&reference, &arrangement, &rules).into_iter().map(|problem| problem.message).collect()
    };
    assert_eq!(links(&reference, &original(&reference)).len(), 1);
    let refused = check(vec![vec![at(2)], vec![at(0), at(1)]]);
    assert!(refused.len() == 1 && refused[0].contains("id-7731"), "{refused:?}");
    // Either of the two that returned it is enough, none is not.
    for kept in [0, 1] {
        assert_eq!(check(vec![vec![at(kept)], vec![at(2)]]), [""; 0], "{kept}");
    }
    assert_eq!(check(vec![vec![at(2)]]).len(), 1);
    // Another value makes it independent.
    assert_eq!(check(vec![vec![with(2, r#"{"id":"something else"}"#)], vec![at(0)]]), [""; 0]);
}
