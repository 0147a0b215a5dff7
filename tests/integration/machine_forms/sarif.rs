//! SARIF: the members that version 2.1.0 requires, places, levels, and hostile names.

use serde_json::{Value, json};

use super::{PREDICTIONS, REFERENCES, compare, compared, hostile};
use crate::support::{Folder, m3, no_encoder, run, text};

/// What sections 3.13 to 3.49 of the standard require of what m3 writes: version, one run with a named tool, rules with unique
/// names, results that name a rule by its place too, a level and a message each, addresses that are no absolute paths,
/// lines from 1.
fn results(document: &str) -> Vec<Value> {
    let log: Value = serde_json::from_str(document).unwrap_or_else(|error| panic!("{error} in\n{document}"));
    assert_eq!(log["version"], "2.1.0");
    assert!(log["$schema"].as_str().unwrap().ends_with("sarif-2.1.0.json"));
    let [run] = log["runs"].as_array().unwrap().as_slice() else { panic!("one run") };
    let driver = &run["tool"]["driver"];
    assert_eq!(
        (&driver["name"], &driver["semanticVersion"]),
        (&json!("m3"), &json!(env!("CARGO_PKG_VERSION")))
    );
    let rules = driver["rules"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), ids.len());
    assert!(rules.iter().all(|rule| rule["shortDescription"]["text"].is_string()));
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], ids[index]);
        assert!(["note", "warning", "error"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        for location in result["locations"].as_array().unwrap() {
            if let Some(place) = location.get("physicalLocation") {
                let uri = place["artifactLocation"]["uri"].as_str().unwrap();
                assert!(!uri.starts_with('/') && !uri.contains([' ', '"', '<', '\\', '#']), "{uri}");
                assert!(place.get("region").is_none_or(|region| region["startLine"].as_u64().unwrap() > 0));
            }
        }
    }
    results.clone()
}

fn score(options: &[&str]) -> Option<Vec<Value>> {
    let mut m3 = m3()?;
    let output = run(m3.args(["score", "-q", PREDICTIONS, REFERENCES, "--format", "sarif"]).args(options));
    Some(results(&text(&output.stdout)))
}

/// The first result of a rule in a trajectory.
fn of<'a>(results: &'a [Value], id: &str, rule: &str) -> &'a Value {
    let found =
        results.iter().find(|result| result["properties"]["trajectory"] == id && result["ruleId"] == rule);
    found.unwrap_or_else(|| panic!("no {rule} of {id} in {results:?}"))
}

/// The line on which a text stands first, found anew.
fn line_of(file: &str, what: &str) -> usize {
    let text = std::fs::read_to_string(crate::support::root().join(file)).unwrap();
    text.lines().position(|line| line.contains(what)).unwrap() + 1
}

/// The flaws of `trajectories/predictions.json`, by hand; results show that one of them makes the same picture.
#[test]
fn every_fault_has_its_rule_and_its_place() {
    let Some(results) = score(&["--results", "off"]) else { return };
    let wrong = of(&results, "00050000", "wrong-argument");
    assert_eq!(wrong["level"], "error");
    let place = &wrong["locations"][0];
    assert_eq!(place["physicalLocation"]["artifactLocation"]["uri"], PREDICTIONS);
    let line = place["physicalLocation"]["region"]["startLine"].as_u64().unwrap();
    // A trajectory begins at its brace, on the line of its id or the one before.
    let id = line_of(PREDICTIONS, "\"00050000\"") as u64;
    assert!(line == id || line + 1 == id, "{line}, the id is on {id}");
    let call = &place["logicalLocations"][0];
    assert_eq!(call["kind"], "call");
    assert!(call["fullyQualifiedName"].as_str().unwrap().starts_with("00050000/prediction/step "), "{call}");
    assert_eq!(wrong["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], REFERENCES);
    assert_eq!(of(&results, "00050000", "wrong-order")["level"], "warning");
    assert_eq!(of(&results, "00010001", "split-step")["level"], "note");
    let missing = of(&results, "00060001", "missing-call");
    assert!(missing["message"]["text"].as_str().unwrap().starts_with("the reference's call "), "{missing}");
    assert_eq!(missing["properties"]["side"], "reference");
    let extra = of(&results, "00020000", "extra-call");
    assert_eq!((&extra["level"], &extra["properties"]["side"]), (&json!("warning"), &json!("prediction")));
}

#[test]
fn what_is_asked_of_the_set_is_a_result_of_its_own() {
    let Some(results) = score(&["--fail-under", "precision=0.96", "--match", "strict"]) else { return };
    let below = results.iter().find(|result| result["ruleId"] == "below-floor").unwrap();
    assert_eq!(below["message"]["text"], "precision is 0.9500, below 0.96");
    assert_eq!(below["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], PREDICTIONS);
    assert_eq!(of(&results, "00050000", "no-match")["level"], "error");
}

/// A task without a prediction is shown at its reference: there is nothing else to point at.
#[test]
fn a_task_without_a_prediction_is_shown_at_its_reference() {
    let folder = Folder::new();
    let of = |id: &str| crate::support::trajectory(id, &[&[crate::support::call("s/t", json!({"a": 1}))]]);
    let predictions = folder.write("p.jsonl", of("a").to_string());
    let references = folder.write("r.jsonl", format!("{}\n{}", of("a"), of("b")));
    let Some(mut m3) = m3() else { return };
    let output = run(m3
        .args(["score", "--format", "sarif"])
        .args([&predictions, &references])
        .current_dir(folder.path()));
    let results = results(&text(&output.stdout));
    assert_eq!(results.len(), 1, "{results:?}");
    let place = &results[0]["locations"][0]["physicalLocation"];
    assert_eq!((&results[0]["ruleId"], &place["region"]["startLine"]), (&json!("failed-run"), &json!(2)));
    assert_eq!(place["artifactLocation"]["uri"], "r.jsonl");
}

#[test]
fn hostile_names_break_no_document() {
    let folder = Folder::new();
    let [predictions, references] = hostile(&folder);
    let Some(mut m3) = m3() else { return };
    let output = run(m3.args(["score", "--format", "sarif"]).args([&predictions, &references]));
    let document = text(&output.stdout);
    assert!(!document.contains(['\u{1b}', '\u{202e}', '\u{fffe}', '\u{9b}']), "{document}");
    let found = results(&document);
    let missing = found.iter().find(|result| result["ruleId"] == "missing-call").unwrap();
    let message = missing["message"]["text"].as_str().unwrap();
    // No link, no placeholder.
    let bare = message.replace("{{", "").replace("}}", "");
    assert!(
        message.contains("s/b]]></failure>[a] (http://b) {{0}}") && !bare.contains(['{', '}']),
        "{message}"
    );
    let uri = missing["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.ends_with("p%20%26%20%3C%231%3E.json"), "{uri}");
}

#[test]
fn problems_of_files_have_their_lines() {
    let folder = Folder::new();
    let broken =
        folder.write("broken.jsonl", "{\"id\": \"a\", \"steps\": []}\n{\"id\": \"b\", \"steps\": 3}\n");
    let output = run(no_encoder(&folder)
        .args(["validate", "broken.jsonl", "--format", "sarif"])
        .current_dir(folder.path()));
    assert!(broken.exists() && output.status.code() == Some(2));
    let found = results(&text(&output.stdout));
    let error = found.iter().find(|result| result["level"] == "error").unwrap();
    let place = &error["locations"][0]["physicalLocation"];
    assert_eq!(place, &json!({"artifactLocation": {"uri": "broken.jsonl"}, "region": {"startLine": 2}}));
    assert!(error["message"]["text"].as_str().unwrap().starts_with("/steps: "), "{error}");
    // In a list the line is that of the trajectory, which a pointer does not say.
    let odd =
        folder.write("odd.json", "[\n\n{\"id\": \"a\", \"steps\": [{\"calls\": [{\"name\": \"s/t\"}]}]}]");
    let output = run(no_encoder(&folder).arg("validate").arg(&odd).args(["--format", "sarif"]));
    let warning = &results(&text(&output.stdout))[0];
    let place = &warning["locations"][0]["physicalLocation"];
    assert_eq!(
        (&warning["level"], &place["region"]["startLine"]),
        (&json!("warning"), &json!(3)),
        "{warning}"
    );
}

#[test]
fn a_comparison_tells_its_decision_and_the_tasks_that_are_done_worse() {
    let folder = Folder::new();
    for (second, rule, lower) in
        [("better", None, 0), ("worse", Some("regression"), 20), ("either", Some("inconclusive"), 10)]
    {
        let output = compare(&folder, &compared(&folder, second), &["--format", "sarif"]);
        let found = results(&text(&output.stdout));
        let count = |rule: &str| found.iter().filter(|result| result["ruleId"] == rule).count();
        assert_eq!(count("lower-task"), lower, "{second}");
        assert_eq!(found.len(), lower + usize::from(rule.is_some()));
        assert!(rule.is_none_or(|rule| count(rule) == 1), "{found:?}");
    }
}
