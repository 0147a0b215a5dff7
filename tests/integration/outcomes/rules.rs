//! Outcomes from a catalog and from recorded results.

use m3_outcomes::{CallCounts, KnownTools, Outcome, classify_trajectory, recorded_reply};
use m3_trajectory::TrajectoryFile;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{catalog, outcomes, rules_of};
use crate::support::{
    Folder, call, failure, follows_kept_schema, json_of, m3, m3_bare, report, run, shared, stdout, text,
    trajectory,
};

/// The numbers are those in the data's README, without the earlier ones of five trajectories with repeated ids: they
/// have 32 of the 1387 calls (counted by hand), and `00070008` has one of the twelve calls with arguments that the
/// schema refuses. One of the 42 recorded results is an error with status 404.
#[test]
fn the_references_have_eleven_calls_with_invalid_arguments() {
    let Some(data) = shared("open-m3-bench") else { return };
    let folder = Folder::new();
    let mut m3 = m3_bare(folder.path());
    m3.arg("outcomes").arg(data.join("references.json")).arg("--tools").arg(data.join("tools.json"));
    let report = report(m3.args(["--duplicates", "last"]));
    let all = &report["aggregate"];
    assert_eq!((&all["trajectories"], &all["calls"]), (&json!(208), &json!(1355)));
    assert_eq!(all["tool_name_validity"], json!({"count": 1355, "of": 1355, "rate": 1.0}));
    assert_eq!(all["schema_compliance"], json!({"count": 1344, "of": 1355, "rate": 1344.0 / 1355.0}));
    assert_eq!(all["execution_success"], Value::Null);
    let counts = json!({"illegal_format": 0, "unknown_tool": 0, "invalid_arguments": 11, "resource_not_found": 1,
        "success": 41});
    assert_eq!(
        (&all["outcomes"], &all["answered"], &all["not_executed"]),
        (&counts, &json!(42), &json!(1302))
    );
    let trajectories = report["trajectories"].as_array().unwrap();
    let invalid = trajectories.iter().flat_map(|trajectory| {
        let calls = trajectory["details"].as_array().unwrap().iter();
        let invalid = calls.filter(|call| call["outcome"] == "invalid_arguments");
        invalid.map(|call| {
            let problems = call["problems"].as_array().unwrap();
            let keywords: Vec<&str> =
                problems.iter().map(|found| found["keyword"].as_str().unwrap()).collect();
            format!(
                "{} {} {}",
                trajectory["id"].as_str().unwrap(),
                call["tool"].as_str().unwrap(),
                keywords.join(" ")
            )
        })
    });
    let invalid: Vec<String> = invalid.collect();
    let nearby = |id: &str| format!("{id} google-maps/places_nearby_search required required");
    let expected = [
        "00110003 dinox-mcp/detect-objects-by-text additionalProperties".to_owned(),
        nearby("00180003"),
        nearby("00180003"),
        nearby("00180006"),
        nearby("00180006"),
        nearby("00180002"),
        nearby("00180000"),
        nearby("00180005"),
        nearby("00180001"),
        nearby("00180004"),
        "00250000 wiki/summary required".to_owned(),
    ];
    assert_eq!(invalid, expected);
    follows_kept_schema("outcomes", &report);
}

/// A prediction with a call of every kind.
fn every_kind() -> String {
    r#"[{"id": "a", "type": "eels", "steps": [
        {"step": 1, "calls": [
            {"arguments": {"title": "American eel"}},
            "<|begin_of_box|>wiki/summary(American eel)<|end_of_box|>",
            {"name": 7, "arguments": {}},
            {"name": "wiki/summary", "arguments": "American eel"},
            {"name": "wiki/summary", "arguments": ["American eel"]},
            {"name": "wiki/search", "arguments": {"query": "eel", "n": NaN}},
            {"name": "wiki/summary"},
            {"name": "wiki/random"},
            {"name": "wiki/random", "arguments": null},
            {"name": "wiki/summary", "arguments": {}, "outcome": "illegal_format", "reply": "call(wiki\u001b[2J)"}
        ]},
        {"step": 2, "calls": [
            {"name": "wiki/sumary", "arguments": {"title": "American eel"}},
            {"name": "summary", "arguments": {"title": "American eel"}},
            {"name": "wiki/search", "arguments": {"query": 7, "n": 0}},
            {"name": "wiki/summary", "arguments": "{\"title\": \"American eel\"}"},
            {"name": "wiki/summary", "arguments": {"title": "Xyzzy"}, "result": "Page 'Xyzzy' does not exist."},
            {"name": "wiki/summary", "arguments": {"title": "A"}, "result": "oops", "is_error": true},
            {"name": "wiki/summary", "arguments": {"title": "American eel"}, "result": "A fish."}
        ]}],
        "final_reply": "{\"name\": \"wiki/search\", \"arguments\": {}}"}]"#
        .to_owned()
}

#[test]
fn every_kind_of_call_has_its_outcome() {
    let folder = Folder::new();
    let predictions = folder.write("p.json", every_kind());
    let report = report(&mut outcomes(&folder, &predictions));
    let expected = [
        "no_name",
        "no_name",
        "no_name",
        "arguments_not_object",
        "arguments_not_object",
        "not_json",
        "no_arguments",
        "fits_schema",
        "fits_schema",
        "recorded_illegal_format",
        "not_in_catalog",
        "not_in_catalog",
        "schema",
        "fits_schema",
        "nothing_found",
        "is_error",
        "normal_result",
        "call_in_reply",
    ];
    assert_eq!(rules_of(&report), expected);
    let all = &report["aggregate"];
    let counts = json!({"illegal_format": 9, "unknown_tool": 2, "invalid_arguments": 2, "resource_not_found": 1,
        "success": 1});
    // Of the 18 calls three show no mistake and were not executed.
    assert_eq!((&all["outcomes"], &all["judged"], &all["not_executed"]), (&counts, &json!(15), &json!(3)));
    assert_eq!(report["by_tool"]["wiki/random"]["not_executed"], 2);
    // Names: 12 of 18 calls name a tool of the catalog (4 name no tool, 2 an unknown one). Of those 12, five are
    // illegal and one is refused by the schema.
    assert_eq!(
        (&all["tool_name_validity"]["count"], &all["tool_name_validity"]["of"]),
        (&json!(12), &json!(18))
    );
    assert_eq!(
        (&all["schema_compliance"]["count"], &all["schema_compliance"]["of"]),
        (&json!(6), &json!(12))
    );
    let calls = report["trajectories"][0]["details"].as_array().unwrap();
    assert_eq!(calls[1]["place"], json!({"step": 0, "call": 1, "index": 1}));
    assert_eq!(calls[16]["place"], json!({"step": 1, "call": 6, "index": 16}));
    assert_eq!(calls[17]["place"], Value::Null);
    assert_eq!(calls[9]["evidence"], "call(wiki\\u{1b}[2J)");
    assert_eq!(calls[12]["problems"][0]["pointer"], "/n");
    assert_eq!(calls[12]["problems"][1]["keyword"], "type");
    follows_kept_schema("outcomes", &report);
}

#[test]
fn every_form_is_as_kept() {
    let folder = Folder::new();
    let predictions = folder.write("p.json", every_kind());
    for form in ["table", "markdown", "csv"] {
        let printed = stdout(outcomes(&folder, &predictions).args(["-q", "--by-type", "--format", form]));
        assert!(printed.lines().all(|line| form != "table" || line.chars().count() <= 80), "{printed}");
        assert!(!printed.contains('\u{1b}'), "{printed}");
        insta::assert_snapshot!(format!("outcomes_{form}"), printed);
    }
    let lines = stdout(outcomes(&folder, &predictions).args(["-q", "--format", "jsonl"]));
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["id"], &lines[1]["schema"]), (&json!("a"), &json!("m3.outcomes/1")));
}

/// If every call has an answer or was refused, execution success is known: 1 of 2.
#[test]
fn execution_success_is_known_where_everything_was_executed() {
    let folder = Folder::new();
    let answered = json!({"name": "wiki/random", "arguments": {}, "result": "A fish."});
    let predictions =
        folder.json("p.json", &json!([trajectory("a", &[&[answered, call("wiki/none", json!({}))]])]));
    let report = report(&mut outcomes(&folder, &predictions));
    assert_eq!(report["aggregate"]["execution_success"], json!({"count": 1, "of": 2, "rate": 0.5}));
    assert_eq!(report["answers"], "recorded");
}

#[test]
fn nothing_to_take_a_share_of_is_said_and_null() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("a", &[])]));
    let found = report(&mut outcomes(&folder, &predictions));
    assert_eq!(found["aggregate"]["tool_name_validity"], json!({"count": 0, "of": 0, "rate": null}));
    assert_eq!(found["aggregate"]["execution_success"]["rate"], Value::Null);
    let table = stdout(&mut outcomes(&folder, &predictions));
    assert!(table.contains("no calls to take a share of"), "{table}");
}

#[test]
fn floors_and_bad_input_have_exit_codes() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&[call("wiki/none", json!({}))]])]));
    let floor = |floor: &str| run(outcomes(&folder, &predictions).args(["--fail-under", floor]));
    assert_eq!(floor("success=0").status.code(), Some(0));
    let missed = floor("tool_name_validity=0.5");
    assert_eq!(missed.status.code(), Some(1));
    assert!(text(&missed.stderr).contains("tool_name_validity is 0.0000, below --fail-under 0.5"));
    // No call names a known tool.
    let unknown = floor("schema_compliance=0");
    assert_eq!(unknown.status.code(), Some(1));
    assert!(text(&unknown.stderr).contains("schema_compliance is not known"));
    assert_eq!(floor("recall=0.5").status.code(), Some(2));
    for wrong in ["{", "[]", r#"[{"id": "a", "steps": [{"calls": 7}]}]"#] {
        let predictions = folder.write("wrong.json", wrong);
        assert_eq!(failure(&mut outcomes(&folder, &predictions)).0, 2, "{wrong}");
    }
    let mut nothing = m3_bare(folder.path());
    let (code, message) = failure(nothing.arg("outcomes").arg(&predictions));
    assert!(code == 2 && message.contains("--tools"), "{message}");
}

/// A schema that cannot be used accepts everything, and is named.
#[test]
fn an_unusable_schema_accepts_everything() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("a", &[&[call("s/t", json!({"a": 1}))]])]));
    let tool = |name: &str, schema: Value| json!({"name": name, "inputSchema": schema});
    let none = tool("none", json!(true));
    let tools = json!({"s": {"tools": [tool("t", json!({"type": "sentence"})), none]}});
    let tools = folder.json("tools.json", &tools);
    let output = run(m3_bare(folder.path()).arg("outcomes").arg(&predictions).arg("--tools").arg(&tools));
    assert!(
        text(&output.stdout).contains("fits the schema (not executed)       1  100.0 %"),
        "{}",
        text(&output.stdout)
    );
    let said = text(&output.stderr);
    assert!(said.contains("`s/t`") && said.contains("`s/none` is listed, and cannot be used"), "{said}");
}

/// From the predictions to the leaderboard's table of outcomes.
#[test]
fn outcomes_reach_the_leaderboard() {
    let folder = Folder::new();
    let steps: &[&[Value]] = &[&[call("wiki/random", json!({})), call("wiki/none", json!({}))]];
    let predictions = folder.json("p.json", &json!([trajectory("a", steps), trajectory("b", steps)]));
    let (found, scored) = (folder.path().join("outcomes.json"), folder.path().join("model.json"));
    stdout(outcomes(&folder, &predictions).arg("--out").arg(&found));
    let Some(mut score) = m3() else { return };
    score.args(["score", "-q"]).args([&predictions, &predictions]).arg("--outcomes").arg(&found);
    stdout(score.arg("--out").arg(&scored));
    let score: Value = json_of(&scored);
    follows_kept_schema("score", &score);
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&scored));
    let counts = json!({"illegal_format": 0, "unknown_tool": 2, "invalid_arguments": 0, "resource_not_found": 0,
        "success": 0, "not_executed": 2});
    assert_eq!(board["models"][0]["outcomes"]["counts"], counts);
    let figures = folder.path().join("figures");
    let table = stdout(m3_bare(folder.path()).arg("leaderboard").arg(&scored).arg("--figures").arg(&figures));
    assert!(table.contains("not run") && table.contains("50.0 %"), "{table}");
    let figure = std::fs::read_to_string(figures.join("outcomes.svg")).unwrap();
    assert!(figure.contains("not executed"), "{figure}");
    // Outcomes of other predictions are refused.
    let other = folder.json("other.json", &json!([trajectory("a", &[steps[0], steps[0]])]));
    let Some(mut score) = m3() else { return };
    score.args(["score", "-q"]).args([&other, &other]).arg("--outcomes").arg(&found);
    let (code, message) = failure(score.args(["--format", "json"]));
    assert_eq!(code, 2);
    assert!(
        message.contains("trajectory `a` has 2 calls in it, and 4 calls in the predictions"),
        "{message}"
    );
}

/// Any JSON as arguments, names that are known or nearly so, and items that are not calls.
fn any_call() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        r#""wiki/summary""#,
        r#""wiki/random""#,
        r#""wiki/search""#,
        r#""wiki/none""#,
        r#""wiki""#,
        r#""""#,
        "null",
        "[]",
    ]);
    let value = prop::sample::select(vec![
        "{}",
        r#"{"title": "eel"}"#,
        r#"{"query": "eel", "n": 3}"#,
        r#"{"query": "eel", "n": 1e400}"#,
        r#""{}""#,
        r#""eel""#,
        "null",
        "[[[]]]",
        "NaN",
        "123456789012345678901234567890",
    ]);
    let result = prop::sample::select(vec![
        "",
        r#", "result": "A fish.""#,
        r#", "result": "Error: 404 Not Found""#,
        r#", "result": {"content": [], "isError": true}"#,
        r#", "result": null"#,
        r#", "result": [NaN], "is_error": true"#,
        r#", "outcome": "illegal_format""#,
        r#", "outcome": "server_lost""#,
        r#", "outcome": "success""#,
        r#", "outcome": ["timed_out"], "result": """#,
    ]);
    let whole = (name, value.clone(), result).prop_map(|(name, arguments, result)| {
        format!(r#"{{"name": {name}, "arguments": {arguments}{result}}}"#)
    });
    prop_oneof![8 => whole, 1 => value.prop_map(str::to_owned)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn every_call_has_exactly_one_outcome_and_the_counts_add_up(
        steps in prop::collection::vec(prop::collection::vec(any_call(), 0..5), 0..4),
    ) {
        let calls: usize = steps.iter().map(Vec::len).sum();
        let steps: Vec<String> =
            steps.iter().map(|calls| format!(r#"{{"calls": [{}]}}"#, calls.join(", "))).collect();
        let folder = Folder::new();
        let path = folder.write("p.json", format!(r#"[{{"id": "a", "steps": [{}]}}]"#, steps.join(", ")));
        let tools = m3_trajectory::catalog::Catalog::open(&folder.json("t.json", &catalog())).unwrap();
        let tools = KnownTools::new(&m3_mcp::ToolCatalog::from(&tools));
        let trajectory = TrajectoryFile::open_all(&path, &mut |_, _| ()).unwrap().read(0).unwrap();
        let judged = classify_trajectory(&trajectory, &tools, &mut |_, call| recorded_reply(call));
        prop_assert_eq!(judged.len(), calls);
        let places: Vec<usize> = judged.iter().filter_map(|call| Some(call.place?.index)).collect();
        prop_assert_eq!(places, (0..calls).collect::<Vec<_>>());
        let tally = CallCounts::from_calls(&judged);
        let sum: u64 = Outcome::ALL.iter().map(|outcome| tally.outcome(*outcome)).sum();
        prop_assert_eq!((sum, tally.calls), (tally.with_outcome(), calls as u64));
        prop_assert_eq!(sum + tally.not_executed + tally.unanswered(), calls as u64);
        let rates = [Some(tally.tool_name_validity()), Some(tally.schema_compliance()), tally.execution_success()];
        for rate in rates.into_iter().flatten() {
            prop_assert!(rate.count <= rate.of && rate.of <= calls as u64);
        }
    }
}
