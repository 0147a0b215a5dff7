use m3_trajectory::{Step, json};

use super::*;

/// A trajectory from steps such as `f {"a": 1}; g {}`.
fn trajectory(steps: &[&str]) -> Trajectory {
    let call = |text: &str| {
        let (tool, arguments) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let arguments = (!arguments.is_empty()).then(|| json::parse(arguments.as_bytes()).unwrap().0);
        Call { tool: tool.to_owned(), arguments, result: None, extra: Vec::new() }
    };
    let step = |text: &&str| Step {
        calls: text.split(';').filter(|text| !text.trim().is_empty()).map(call).collect(),
        ..Step::default()
    };
    Trajectory { steps: steps.iter().map(step).collect(), ..Trajectory::default() }
}

fn options(mode: MatchMode, arguments: ArgumentMode) -> MatchOptions {
    MatchOptions { mode, arguments, tools: BTreeMap::new() }
}

/// The reason, or nothing if the prediction passes.
fn reason(predicted: &[&str], reference: &[&str], options: &MatchOptions) -> String {
    let verdict = matches(&trajectory(predicted), &trajectory(reference), options);
    verdict.map_or_else(|mismatch| mismatch.to_string(), |()| String::new())
}

#[test]
fn each_mode_has_its_calls() {
    use MatchMode::{Strict, Subset, Superset, Unordered};
    let passing = |predicted: &[&str], reference: &[&str]| -> Vec<MatchMode> {
        let passes =
            |mode: &MatchMode| reason(predicted, reference, &options(*mode, ArgumentMode::Exact)).is_empty();
        [Strict, Unordered, Subset, Superset].into_iter().filter(passes).collect()
    };
    let all = [Strict, Unordered, Subset, Superset];
    assert_eq!(passing(&[r#"f {"a": 1}"#, "g"], &[r#"f {"a": 1.0}"#, "g {}"]), all);
    assert_eq!(passing(&["f; g", "h"], &["g; f", "h"]), all, "the order in a step has no meaning");
    assert_eq!(passing(&["g", "f"], &["f", "g"]), [Unordered, Subset, Superset]);
    assert_eq!(passing(&["f; g"], &["f", "g"]), [Unordered, Subset, Superset]);
    assert_eq!(passing(&["f"], &["f", "g"]), [Subset]);
    assert_eq!(passing(&["f", "f"], &["f"]), [Superset], "a call has one partner");
    assert_eq!(passing(&[r#"f {"a": 1}"#], &[r#"f {"a": 2}"#]), []);
    assert_eq!(passing(&[], &[]), all);
    assert_eq!(passing(&[], &["f"]), [Subset]);
}

#[test]
fn reasons_name_the_first_call_and_its_argument() {
    let strict = options(MatchMode::Strict, ArgumentMode::Exact);
    for (predicted, reference, said) in [
        (&["f", "g"][..], &["f"][..], "2 steps instead of 1"),
        (&["f", "g; g"], &["f", "g"], "step 2 has 2 calls instead of 1"),
        (
            &["f", "g; h"],
            &["f", "g; i"],
            "predicted call 2.2 (h) is like no reference one: none of this tool is left",
        ),
        (
            &[r#"f; g {"a": 1, "b": 2}"#],
            &[r#"f; g {"b": 3, "a": 1}"#],
            "predicted call 1.2 (g) is like no reference one: `b` differs from 1.2",
        ),
        (
            &["g {}"],
            &[r#"g {"c": 1}"#],
            "predicted call 1.1 (g) is like no reference one: `c` differs from 1.1",
        ),
        (&["g 1"], &["g 2"], "predicted call 1.1 (g) is like no reference one: 1.1 has other arguments"),
    ] {
        assert_eq!(reason(predicted, reference, &strict), said);
    }
    let superset = options(MatchMode::Superset, ArgumentMode::Exact);
    let missed = "reference call 1.2 (g) is like no predicted one: none of this tool is left";
    assert_eq!(reason(&["g", "f"], &["g; g"], &superset), missed);
    assert_eq!(Mismatch::Failed(FailureClass::Missing).to_string(), "there is no prediction");
    assert_eq!(Mismatch::Failed(FailureClass::ServerLost).to_string(), "the task failed: server lost");
}

/// In the mode subset, and therefore in unordered, `agentevals` 0.0.9 swaps the sides when it compares arguments.
#[test]
fn arguments_are_compared_in_the_direction_of_the_mode() {
    let (few, many) = (&[r#"f {"a": 1}"#][..], &[r#"f {"a": 1, "b": null}"#][..]);
    for (mode, arguments, passes) in [
        (MatchMode::Strict, ArgumentMode::Subset, [true, false]),
        (MatchMode::Superset, ArgumentMode::Subset, [true, false]),
        (MatchMode::Subset, ArgumentMode::Subset, [false, true]),
        (MatchMode::Unordered, ArgumentMode::Subset, [false, false]),
        (MatchMode::Strict, ArgumentMode::Superset, [false, true]),
        (MatchMode::Superset, ArgumentMode::Superset, [false, true]),
        (MatchMode::Subset, ArgumentMode::Superset, [true, false]),
        (MatchMode::Unordered, ArgumentMode::Ignore, [true, true]),
        (MatchMode::Strict, ArgumentMode::Exact, [false, false]),
    ] {
        let options = options(mode, arguments);
        let passed = [reason(few, many, &options).is_empty(), reason(many, few, &options).is_empty()];
        assert_eq!(passed, passes, "{mode:?} {arguments:?}");
    }
}

/// A call takes the first partner that fits, even if a later call then has no partner left.
#[test]
fn partners_are_taken_in_order() {
    let options = options(MatchMode::Superset, ArgumentMode::Superset);
    let references = &["f {}", r#"f {"a": 1}"#][..];
    assert_eq!(reason(&[r#"f {"b": 1}"#, r#"f {"a": 1}"#], references, &options), "");
    assert_ne!(reason(&[r#"f {"a": 1}"#, r#"f {"b": 1}"#], references, &options), "");
}

#[test]
fn tools_have_rules_of_their_own() {
    let keys = ArgumentRule::Keys(vec!["a.b".to_owned(), "c".to_owned()]);
    let tools =
        BTreeMap::from([("f".to_owned(), keys), ("g".to_owned(), ArgumentRule::Mode(ArgumentMode::Ignore))]);
    let options = MatchOptions { tools, ..options(MatchMode::Strict, ArgumentMode::Exact) };
    for (predicted, reference, passes) in [
        (r#"f {"a": {"b": 1, "x": 2}}"#, r#"f {"a": {"b": 1}, "c": null}"#, true),
        (r#"f {"a": {"b": 1}}"#, r#"f {"a": {"b": 2}}"#, false),
        (r#"f {"a": 1}"#, r#"f {"a": {"b": null}}"#, true),
        (r#"f {"c": 1}"#, "f {}", false),
        (r#"g {"a": 1}"#, "g 5", true),
        (r#"h {"a": 1}"#, "h {}", false),
    ] {
        assert_eq!(
            reason(&[predicted], &[reference], &options).is_empty(),
            passes,
            "{predicted} {reference}"
        );
    }
    let text = reason(&[r#"f {"a": {"b": 1}}"#], &["f {}"], &options);
    assert_eq!(text, "predicted call 1.1 (f) is like no reference one: `a.b` differs from 1.1");
}
