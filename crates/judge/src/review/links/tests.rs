//! Tests of the objections to an arrangement.

use m3_mcp::{ServerTools, ToolCatalog};
use m3_trajectory::json;
use serde_json::json;

use super::super::arrangement::original;
use super::super::arrangement::tests::{added, at, reference, with};
use super::super::origin::Origin;
use super::*;

fn link(from: usize, to: usize) -> Link {
    let value =
        SharedValue { value: "id-7731".to_owned(), in_result: String::new(), in_arguments: "/id".to_owned() };
    Link { from, to, values: vec![value] }
}

#[test]
fn a_call_comes_after_what_it_uses() {
    let tools = HashMap::from([(0, "a/find"), (1, "a/list"), (2, "b/get")]);
    let check = |arrangement: &Arrangement, links: &[Link]| -> Vec<String> {
        misplaced(&tools, arrangement, &CallLinks { links: links.to_vec(), now: Vec::new() })
            .into_iter()
            .map(|problem| problem.message)
            .collect()
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
    // Removing the user of a value is no problem, nor is losing one of two sources.
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
    let origin = Origin::of(&reference);
    let subject = Subject { reference: &reference, origin: &origin };
    let check = |arguments: &str| problems(subject, &vec![vec![with(0, arguments)]], &rules);
    assert_eq!(check(r#"{"q": "carp"}"#), []);
    let wrong = check(r#"{"q": 3}"#);
    assert_eq!((wrong[0].call, wrong[0].pointer.as_str()), (Some(0), "/q"));
    assert!(check("{}")[0].message.contains("\"q\""));
    assert!(check("[]")[0].message.contains("an array"));
    assert_eq!(rules.remark("a/find"), None);
    assert!(rules.remark("a/none").unwrap().contains("no such tool"));
    assert_eq!(Rules::new(None).remark("a/find"), None);
    // Added calls keep the same rules, and the catalog has to have their tools.
    let check = |placed: PlacedCall, rules: &Rules| problems(subject, &vec![vec![placed]], rules);
    assert_eq!(check(added(3, "a/find", r#"{"q": "carp"}"#), &rules), []);
    assert_eq!(check(added(3, "a/find", r#"{"q": 3}"#), &rules)[0].pointer, "/q");
    assert!(check(added(3, "a/none", "{}"), &rules)[0].message.contains("no tool `a/none`"));
    assert_eq!(check(added(3, "a/none", "{}"), &Rules::new(None)), []);
}

#[test]
fn added_calls_use_what_others_return_and_write() {
    let reference = reference();
    let new = || added(3, "b/pay", r#"{"id": "id-7731"}"#);
    let refused_in = |arrangement| refused(&reference, &arrangement);
    assert_eq!(refused_in(vec![vec![at(0), at(1)], vec![at(2)], vec![new()]]), [""; 0]);
    let early = refused_in(vec![vec![new()], vec![at(0), at(1)], vec![at(2)]]);
    assert!(early[0].contains("`b/pay` in step 1 uses `id-7731`"), "{early:?}");
    // What an added call writes takes the place of what a removed one wrote.
    let pictures = pictures(None);
    let grey = || added(2, "image/black", r#"{"input_path": "crowd.png", "output_path": "grey.png"}"#);
    let arrangement = vec![vec![grey()], vec![at(1)]];
    assert_eq!(refused(&pictures, &arrangement), [""; 0]);
    let origin = Origin::of(&pictures);
    let found = CallLinks::of(Subject { reference: &pictures, origin: &origin }, &arrangement).links;
    assert!(found.iter().any(|link| (link.from, link.to) == (2, 1)), "{found:?}");
}

/// Two calls without results: the second reads the file that the first writes.
fn pictures(provenance: Option<&str>) -> Trajectory {
    let call = |tool: &str, arguments: &str| Call {
        tool: tool.to_owned(),
        arguments: Some(json::parse(arguments.as_bytes()).unwrap().0),
        result: None,
        extra: Vec::new(),
    };
    let step = |call| Step { calls: vec![call], ..Step::default() };
    let steps = vec![
        step(call("image/grey", r#"{"input_path": "crowd.png", "output_path": "grey.png", "level": 7731}"#)),
        step(call("image/blur", r#"{"input_path": "grey.png", "strength": 7731}"#)),
    ];
    let extra = provenance.map(|text| ("judge".to_owned(), json::parse(text.as_bytes()).unwrap().0));
    Trajectory { id: "x".to_owned(), steps, extra: extra.into_iter().collect(), ..Trajectory::default() }
}

fn refused(reference: &Trajectory, arrangement: &Arrangement) -> Vec<String> {
    let origin = Origin::of(reference);
    let found = problems(Subject { reference, origin: &origin }, arrangement, &Rules::default());
    found.into_iter().map(|problem| problem.message).collect()
}

#[test]
fn files_are_found_by_arguments_alone() {
    let reference = pictures(None);
    let together = refused(&reference, &vec![vec![at(0), at(1)]]);
    assert!(together[0].contains("`image/blur` in step 1 uses `grey.png`"), "{together:?}");
    assert_eq!(refused(&reference, &vec![vec![at(1)], vec![at(0)]]).len(), 1);
    assert!(refused(&reference, &vec![vec![at(1)]])[0].contains("is left out"));
    assert_eq!(refused(&reference, &original(&reference)), [""; 0]);
    // A call that uses another picture need not wait for the grey one.
    let other = with(1, r#"{"input_path": "dice.png", "strength": 7731}"#);
    assert_eq!(refused(&reference, &vec![vec![at(0), other]]), [""; 0]);
}

/// In the run, another call came before these two, so places differ from those of the reference.
#[test]
fn what_the_judge_recorded_holds_without_results_until_the_value_is_edited_away() {
    let dependency = |steps: &str| {
        format!(
            r#"{{"chosen": 0, "runs": [{{"file": "none.json", "index": 0, "content": "sha256:0",
            "reconstruction": {{"steps": {steps}, "dependencies": [
            {{"from": {{"step": 1, "call": 0}}, "to": {{"step": 2, "call": 0}}, "values":
            [{{"value": "7731", "in_result": "/n", "in_arguments": "/strength"}}]}}]}}}}]}}"#
        )
    };
    let steps = r#"[[{"step": 1, "call": 0}], [{"step": 2, "call": 0}]]"#;
    let reference = pictures(Some(&dependency(steps)));
    let other_file =
        |strength: u32| with(1, &format!("{{\"input_path\": \"dice.png\", \"strength\": {strength}}}"));
    let together = refused(&reference, &vec![vec![at(0), other_file(7731)]]);
    assert!(together[0].contains("uses `7731`, which `image/grey` in step 1 returns"), "{together:?}");
    assert_eq!(refused(&reference, &vec![vec![at(0), other_file(3)]]), [""; 0]);
    let origin = Origin::of(&reference);
    let found =
        CallLinks::of(Subject { reference: &reference, origin: &origin }, &original(&reference)).links;
    let values: Vec<&str> = found[0].values.iter().map(|value| value.value.as_str()).collect();
    assert_eq!((found.len(), values), (1, vec!["7731", "grey.png"]));
    // Recorded steps that are not those of the reference are ignored.
    for steps in
        [r#"[[{"step": 1, "call": 0}, {"step": 2, "call": 0}]]"#, r#"[[{"step": 1, "call": 0}]]"#, "7"]
    {
        let reference = pictures(Some(&dependency(steps)));
        assert_eq!(refused(&reference, &vec![vec![at(0), other_file(7731)]]), [""; 0], "{steps}");
    }
}

/// With dependencies found in the results.
#[test]
fn moves_and_removals_keep_what_results_give() {
    let (reference, rules) = (reference(), Rules::new(None));
    let origin = Origin::of(&reference);
    let check = |arrangement: Arrangement| -> Vec<String> {
        problems(Subject { reference: &reference, origin: &origin }, &arrangement, &rules)
            .into_iter()
            .map(|problem| problem.message)
            .collect()
    };
    assert_eq!(
        CallLinks::of(Subject { reference: &reference, origin: &origin }, &original(&reference)).links.len(),
        1
    );
    let refused = check(vec![vec![at(2)], vec![at(0), at(1)]]);
    assert!(refused.len() == 1 && refused[0].contains("id-7731"), "{refused:?}");
    // One of the two calls that returned the value is enough, none is not.
    for kept in [0, 1] {
        assert_eq!(check(vec![vec![at(kept)], vec![at(2)]]), [""; 0], "{kept}");
    }
    assert_eq!(check(vec![vec![at(2)]]).len(), 1);
    // With another value the call no longer depends on the others.
    assert_eq!(check(vec![vec![with(2, r#"{"id":"something else"}"#)], vec![at(0)]]), [""; 0]);
}
