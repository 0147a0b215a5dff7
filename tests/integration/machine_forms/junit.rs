//! JUnit's XML: its structure by both schemas in use, what fails, and hostile names.

use roxmltree::{Document, Node};
use serde_json::json;

use super::{HOSTILE, POOR, PREDICTIONS, REFERENCES, compare, compared, hostile};
use crate::support::{Folder, m3, no_encoder, run, stdout, text};

/// The facts of `junit-10.xsd` of Jenkins's xUnit plugin and, below the root, of `surefire-test-report.xsd` of Maven
/// Surefire: which elements stand where, which attributes they must and may have, and that counts are right.
fn keeps_the_schemas(document: &Document<'_>) {
    let root = document.root_element();
    has(root, "testsuites", &[], &["name", "time", "tests", "failures", "errors"]);
    for suite in children(root) {
        let required = ["name", "tests", "failures", "errors", "skipped"];
        has(suite, "testsuite", &required, &["time", "group"]);
        let cases = children(suite);
        for case in &cases {
            has(*case, "testcase", &["name", "time"], &["classname", "group"]);
            assert!(case.attribute("time").unwrap().chars().all(|c| c.is_ascii_digit() || c == '.'));
            let names: Vec<&str> = children(*case).iter().map(|child| child.tag_name().name()).collect();
            let order = ["failure", "skipped", "error", "system-out"];
            let places: Vec<usize> =
                names.iter().map(|name| order.iter().position(|known| known == name).unwrap()).collect();
            assert!(places.is_sorted_by(|a, b| a < b), "{names:?}");
            for reason in children(*case) {
                match reason.tag_name().name() {
                    "failure" | "error" => has(reason, reason.tag_name().name(), &["type"], &["message"]),
                    "skipped" => has(reason, "skipped", &[], &["message"]),
                    _ => has(reason, "system-out", &[], &[]),
                }
                assert!(children(reason).is_empty(), "texts have no elements");
            }
        }
        let count = |name: &str| {
            cases
                .iter()
                .filter(|case| children(**case).iter().any(|it| it.has_tag_name(name)))
                .count()
                .to_string()
        };
        let told = |name: &str| suite.attribute(name).unwrap().to_owned();
        assert_eq!(told("tests"), cases.len().to_string());
        assert_eq!(
            [told("failures"), told("errors"), told("skipped")],
            ["failure", "error", "skipped"].map(count)
        );
    }
}

fn has(node: Node<'_, '_>, name: &str, required: &[&str], optional: &[&str]) {
    assert_eq!(node.tag_name().name(), name);
    let found: Vec<&str> = node.attributes().map(|attribute| attribute.name()).collect();
    assert!(required.iter().all(|name| found.contains(name)), "{name} has {found:?}");
    assert!(found.iter().all(|name| required.contains(name) || optional.contains(name)), "{found:?}");
}

fn children<'a, 'i>(node: Node<'a, 'i>) -> Vec<Node<'a, 'i>> {
    node.children().filter(Node::is_element).collect()
}

/// The cases by name, with what became of them: `passed`, or the element and its type, and the texts in it.
fn cases(xml: &str) -> Vec<(String, String, String)> {
    let document = Document::parse(xml).unwrap_or_else(|error| panic!("{error} in\n{xml}"));
    keeps_the_schemas(&document);
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let of = |case: Node<'_, '_>| {
        let reason = children(case).into_iter().find(|child| !child.has_tag_name("system-out"));
        let outcome = reason.map_or("passed".to_owned(), |reason| {
            [Some(reason.tag_name().name()), reason.attribute("type")]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" ")
        });
        let message = reason.and_then(|reason| reason.attribute("message")).unwrap_or_default();
        let texts: String = case.descendants().filter_map(|node| node.text()).collect();
        (case.attribute("name").unwrap().to_owned(), outcome, format!("{message}\n{texts}"))
    };
    cases.map(of).collect()
}

fn score(predictions: &str, options: &[&str]) -> Option<Vec<(String, String, String)>> {
    let mut m3 = m3()?;
    let output = run(m3.args(["score", "-q", predictions, REFERENCES, "--format", "junit"]).args(options));
    Some(cases(&text(&output.stdout)))
}

fn outcome<'a>(cases: &'a [(String, String, String)], name: &str) -> (&'a str, &'a str) {
    let found = cases.iter().find(|(known, _, _)| known == name);
    let (_, outcome, said) = found.unwrap_or_else(|| panic!("no case {name} in {cases:?}"));
    (outcome, said)
}

/// The flaws of `trajectories/predictions.json`, by hand: 00050000 blurs the wrong file, 00070000 makes no call, 00010000
/// has its calls in another order within a step.
#[test]
fn who_did_not_do_the_job_fails_where_nothing_is_asked() {
    // (Results show that this makes the same picture.)
    let Some(cases) = score(PREDICTIONS, &["--results", "off"]) else { return };
    assert_eq!(cases.len(), 15);
    assert_eq!(outcome(&cases, "00010000").0, "passed");
    let (unclear, said) = outcome(&cases, "00060001");
    assert_eq!(unclear, "skipped");
    assert!(said.contains("cannot tell whether it did the job"), "{said}");
    let (_, said) = outcome(&cases, "00050000");
    assert!(
        said.contains("call 2.1 of image/blur asks for something else than the reference's 1.1")
            && said.contains("warning wrong-order: call 2.1 of image/blur should be made before call 1.1"),
        "{said}"
    );
}

/// What the poor predictions lack, by `m3 score --format json` of the same files.
#[test]
fn tasks_without_a_prediction_are_errors() {
    let Some(cases) = score(POOR, &[]) else { return };
    let missing = cases.iter().filter(|(_, outcome, _)| outcome == "error missing");
    let report = crate::support::report(m3().unwrap().args(["score", POOR, REFERENCES]));
    let failed = report["trajectories"].as_array().unwrap();
    let failed = failed.iter().filter(|task| task["failure"] == json!("missing")).count();
    assert!(failed > 0 && missing.count() == failed, "{cases:?}");
    // By the verdict, which needs no results to see that no call is made.
    let (failed, said) = outcome(&cases, "00030000");
    assert_eq!(failed, "failure did-not-do-the-job");
    assert!(said.contains("math/sum was not called as needed"), "{said}");
    let unmatched =
        cases.iter().filter(|(_, _, said)| said.contains("error missing-call: the reference's call "));
    assert!(unmatched.count() > 0);
}

#[test]
fn what_is_asked_decides() {
    let Some(asked) =
        score(PREDICTIONS, &["--results", "off", "--match", "superset", "--match-args", "ignore"])
    else {
        return;
    };
    // The right tools were called, so it passes, and its faults are said all the same.
    let (passed, said) = outcome(&asked, "00050000");
    assert_eq!(passed, "passed");
    assert!(said.contains("error wrong-argument: "), "{said}");
    let strict = score(PREDICTIONS, &["--match", "strict"]).unwrap();
    let (failed, said) = outcome(&strict, "00050000");
    assert_eq!((failed, said.starts_with("match failed: ")), ("failure no-match", true), "{said}");

    let floor = score(PREDICTIONS, &["--fail-under", "precision=0.9"]).unwrap();
    // By hand: 4 of 5 predicted calls of 00020000 match; the whole set has 38 of 40.
    let (failed, said) = outcome(&floor, "00020000");
    assert_eq!(
        (failed, said.starts_with("precision is 0.8000, below 0.9\n")),
        ("failure below-floor", true),
        "{said}"
    );
    assert_eq!(outcome(&floor, "precision of the whole set, at least 0.9").0, "passed");
    let floor = score(PREDICTIONS, &["--fail-under", "precision=0.96"]).unwrap();
    let (failed, said) = outcome(&floor, "precision of the whole set, at least 0.96");
    assert_eq!(
        (failed, said.contains("precision is 0.9500, below 0.96")),
        ("failure below-floor", true),
        "{said}"
    );
}

#[test]
fn a_file_by_its_ending_and_the_audit_say_the_same_of_a_task() {
    let folder = Folder::new();
    let out = folder.path().join("junit.xml");
    let Some(mut m3) = m3() else { return };
    stdout(m3.args(["score", "-q", PREDICTIONS, REFERENCES, "--out"]).arg(&out));
    let scored = cases(&std::fs::read_to_string(&out).unwrap());
    let mut audit = crate::support::m3().unwrap();
    stdout(audit.args(["audit", "-q", PREDICTIONS, REFERENCES, "--id", "00050000", "--out"]).arg(&out));
    let audited = cases(&std::fs::read_to_string(&out).unwrap());
    assert_eq!(audited.len(), 1);
    assert_eq!(outcome(&audited, "00050000"), outcome(&scored, "00050000"));
}

#[test]
fn hostile_names_break_no_document() {
    let folder = Folder::new();
    let [predictions, references] = hostile(&folder);
    let Some(mut m3) = m3() else { return };
    let output = run(m3.args(["score", "--format", "junit"]).args([&predictions, &references]));
    let xml = text(&output.stdout);
    assert!(!xml.contains(['\u{1b}', '\u{202e}', '\u{0}', '\u{8}', '\u{fffe}', '\u{9b}']), "{xml}");
    let found = cases(&xml);
    let start: String = HOSTILE.chars().take(20).collect();
    assert!(found.len() == 1 && found[0].0.starts_with(&format!("id {start}")), "{found:?}");
    assert!(found[0].2.contains("missing-call: the reference's call 1.1 of s/b]]></failure>"), "{found:?}");
    let broken = folder.write("broken.json", format!("[{{\"id\": {}, \"steps\": 5}}]", json!(HOSTILE)));
    let output = run(no_encoder(&folder).arg("validate").arg(&broken).args(["--format", "junit"]));
    let found = cases(&text(&output.stdout));
    assert!(found[1].0.starts_with(&start) && found[1].1 == "failure input-problem", "{found:?}");
}

#[test]
fn a_validation_has_a_case_for_each_file_and_each_broken_trajectory() {
    let folder = Folder::new();
    let broken =
        folder.write("broken.json", r#"[{"id": "a", "steps": 5}, {"id": "b", "steps": []}, {"steps": []}]"#);
    let missing = folder.path().join("missing.json");
    let validate = no_encoder(&folder)
        .args(["validate", REFERENCES])
        .args([&broken, &missing])
        .args(["--format", "junit"])
        .output()
        .unwrap();
    assert_eq!(validate.status.code(), Some(2));
    let found = cases(&text(&validate.stdout));
    let outcomes: Vec<(&str, &str)> =
        found.iter().map(|(name, outcome, _)| (name.as_str(), outcome.as_str())).collect();
    let whole = "the whole file";
    assert_eq!(
        outcomes,
        [
            (whole, "passed"),
            (whole, "passed"),
            ("a", "failure input-problem"),
            ("/2", "failure input-problem"),
            (whole, "error input-problem"),
        ]
    );
}

/// Twenty tasks, each better or worse by the same: the interval has no width.
#[test]
fn a_comparison_has_a_case_for_each_task_and_one_for_the_decision() {
    let folder = Folder::new();
    for (second, decision, failed) in
        [("better", "passed", 0), ("worse", "failure regression", 20), ("either", "skipped", 10)]
    {
        let output = compare(&folder, &compared(&folder, second), &["--format", "junit"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let found = cases(&text(&output.stdout));
        assert_eq!(outcome(&found, "average of all tasks").0, decision, "{second}");
        assert_eq!(found.iter().filter(|(_, outcome, _)| outcome == "failure lower-task").count(), failed);
        assert_eq!(found.len(), 21);
    }
}
