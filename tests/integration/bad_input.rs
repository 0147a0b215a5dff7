//! Input that is wrong in many ways gives a message with the place and a remedy, the right exit code, and no panic.

use serde_json::{Value, json};

use crate::support::{
    Folder, call, failure, follows_kept_schema, json_of, m3, no_encoder, report, run, text, trajectory,
};

/// Scores `content` against a good reference and returns the messages.
fn rejected(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    let predictions = folder.write(name, content);
    let references = folder.json("references.json", &good());
    let (code, message) = failure(no_encoder(&folder).arg("score").args([&predictions, &references]));
    assert_eq!(code, 2, "{message}");
    message.replace(&format!("{}/", folder.path().display()), "")
}

fn good() -> Value {
    json!([trajectory("a", &[&[call("s/t", json!({"q": "eel"}))]])])
}

#[test]
fn what_is_not_a_list_of_trajectories() {
    insta::assert_snapshot!(
        [
            rejected("empty.json", ""),
            rejected("blank.json", " \n\t"),
            rejected("text.json", "this is not JSON"),
            rejected("number.json", "12"),
            rejected("string.json", "\"id\""),
            rejected("xml.json", "<steps/>"),
            rejected("no-entries.json", "[]"),
            rejected("no-members.json", "{}"),
            rejected("cut.json", "[{\"id\": \"a\", \"steps\": ["),
            rejected("comma.json", "[{\"id\": \"a\", \"steps\": []},]"),
            rejected("two.json", "[]\n[]"),
            rejected("numbers.json", "[1, \"x\", null]"),
            rejected("utf16.json", b"\xff\xfe[\0]\0"),
            rejected("no-steps.json", "[{\"id\": \"a\"}]"),
            rejected("tasks.json", "[{\"id\": \"a\", \"prompt\": \"look\"}]"),
        ]
        .concat()
    );
}

/// Whatever a model wrote in the place of a call is a call of its trajectory; in a reference it is an error.
#[test]
fn calls_that_are_none_are_calls_of_no_tool() {
    let right = call("s/t", json!({"q": "eel"}));
    let bad = json!([{"arguments": {"q": "eel"}}, {"name": "", "arguments": {}}, {"name": 5, "arguments": {}}, "s/t", right]);
    let odd = json!({"name": "s/u", "arguments": [1, "x"]});
    let prediction = json!([{"id": "a", "steps": [{"calls": bad}, {"calls": [odd]}]}]);
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &prediction);
    let references = folder.json("references.json", &good());
    let score =
        |predictions, references| Some(m3()?.arg("score").args([predictions, references]).output().unwrap());
    let Some(output) = score(&predictions, &references) else { return };
    let words = text(&output.stderr);
    assert!(
        words.contains("a call without a name") && words.contains("counted as a call of no tool"),
        "{words}"
    );
    let table = text(&output.stdout);
    assert!(table.contains("4 predicted calls name no tool, counted as extra"), "{table}");
    assert!(table.contains("1 of 6 predicted calls matched"), "{table}");
    let refused = score(&references, &predictions).unwrap();
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("a call without a name"));
    let Some(mut command) = m3() else { return };
    let report = report(command.arg("score").args([&predictions, &references]));
    assert_eq!(report["ledger"]["malformed_calls"], 4);
}

/// A step that is a call, as some programs write it.
#[test]
fn a_step_without_a_list_of_calls_is_its_call() {
    let folder = Folder::new();
    let flat = |tool: &str| json!([{"id": "a", "steps": [{"tool": tool, "args": {"q": "eel"}}]}]);
    let references = folder.json("references.json", &good());
    let matched = |tool: &str| {
        let predictions = folder.json("predictions.json", &flat(tool));
        let report = report(m3()?.arg("score").args([&predictions, &references]));
        report["aggregate"]["matched"].as_u64()
    };
    let Some(found) = matched("s/t") else { return };
    assert_eq!([Some(found), matched("s/u")], [Some(1), Some(0)]);
}

#[test]
fn all_errors_of_a_file_are_said_at_once_with_their_places() {
    let content = json!([
        {"id": "a", "steps": [7, {"calls": "x"}, {"calls": [
            {"arguments": {}}, {"name": ""}, {"name": 5, "arguments": {}}, 3]}]},
        {"steps": []},
        {"id": ["a"], "steps": []},
        {"id": "b", "steps": {}},
        "c",
    ]);
    insta::assert_snapshot!(rejected("many.json", content.to_string()));
}

#[test]
fn broken_lines_are_named_by_their_number() {
    let lines =
        "{\"id\": \"a\", \"steps\": []}\n{\"id\": \"b\", \"steps\": [}\n\n{\"id\": \"c\" \"steps\": []}\n";
    insta::assert_snapshot!(rejected("lines.jsonl", lines));
}

#[test]
fn both_files_are_spoken_of() {
    let folder = Folder::new();
    let files = [folder.write("p.json", "[1]"), folder.write("r.json", "[2]")];
    let (code, message) = failure(no_encoder(&folder).arg("score").args(&files));
    assert_eq!(code, 2);
    assert!(message.contains("p.json /0") && message.contains("r.json /0"), "{message}");
}

#[test]
fn deep_nesting_and_invalid_utf8() {
    let deep = format!("[{{\"id\": \"a\", \"steps\": {}}}]", "[".repeat(100_000) + &"]".repeat(100_000));
    assert!(rejected("deep.json", deep).contains("deep.json:1:"));
    assert!(rejected("open.json", "[".repeat(1_000_000)).contains("the file ends in the middle"));
    let message = rejected("bytes.json", b"[{\"id\": \"a\",\n \"question\": \"\xff\", \"steps\": []}]");
    assert!(message.contains("bytes.json:2:15 /0: not JSON: not UTF-8"), "{message}");
    assert!(rejected("half.json.gz", [0x1f, 0x8b, 8, 0, 1, 2, 3]).contains("failed to unpack"));
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new();
    let good = folder.json("good.json", &good());
    let (code, message) = failure(no_encoder(&folder).args(["score", "missing.json"]).arg(&good));
    assert_eq!(code, 2);
    assert!(
        message.contains("failed to read `missing.json`") && message.contains("hint: check the path"),
        "{message}"
    );
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let (code, message) = failure(no_encoder(&folder).arg("score").args([&empty, &good]));
    assert_eq!(code, 2);
    assert!(message.contains("no file in this folder (0 files) has a format"), "{message}");
}

#[test]
fn arguments_that_are_no_object_are_compared_as_they_are() {
    let folder = Folder::new();
    for arguments in [json!("eel"), json!(["eel", 1]), json!(5), json!(null), json!(true)] {
        let file = folder.json("odd.json", &json!([trajectory("a", &[&[call("s/t", arguments)]])]));
        let Some(mut m3) = m3() else { return };
        let output = run(m3.arg("score").args([&file, &file]).args(["--format", "json"]));
        let message = text(&output.stderr);
        assert!(
            message.contains("/0/steps/0/calls/0/arguments (id `a`): `arguments` should be an object"),
            "{message}"
        );
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["aggregate"]["average"], 1.0);
    }
}

#[test]
fn numbers_beyond_json_are_read_as_python_reads_them() {
    let folder = Folder::new();
    let arguments = format!("{{\"a\": NaN, \"b\": -Infinity, \"c\": 1e999, \"d\": {}}}", "7".repeat(400));
    let set = format!(
        "[{{\"id\": \"a\", \"steps\": [{{\"calls\": [{{\"name\": \"s/t\", \"arguments\": {arguments}}}]}}]}}]"
    );
    let file = folder.write("numbers.json", set);
    let Some(mut m3) = m3() else { return };
    let output = run(m3.arg("score").args([&file, &file]).args(["--format", "json"]));
    let message = text(&output.stderr);
    for pointer in ["arguments/a", "arguments/b", "arguments/c"] {
        assert!(message.contains(pointer), "{message}");
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["aggregate"]["average"], 1.0);
    let many = "9".repeat(5000);
    assert!(rejected("long.json", format!("[{{\"id\": \"a\", \"steps\": {many}}}]")).contains("4300 digits"));
}

#[test]
fn a_file_of_100_megabytes_is_scored() {
    let folder = Folder::new();
    let mut one = call("s/t", json!({"q": "eel"}));
    one["result"] = json!("x".repeat(100 << 20));
    let file = folder.json("large.json", &json!([trajectory("a", &[&[one]])]));
    let references = folder.json("references.json", &good());
    let Some(mut m3) = m3() else { return };
    let report = report(m3.arg("score").args([&file, &references]));
    assert_eq!(report["aggregate"]["average"], 1.0);
}

#[test]
fn thresholds_out_of_range_or_out_of_order() {
    let folder = Folder::new();
    let file = folder.json("good.json", &good());
    for (options, reason) in [
        (["--tau-weak=0.9", "--tau-strong=0.8"], "tau_weak (0.9) is above tau_strong (0.8)"),
        (["--tau-weak=-0.1", "--tau-strong=0.8"], "tau_weak is -0.1, and should be between 0 and 1"),
        (["--tau-weak=0.5", "--tau-strong=1.5"], "tau_strong is 1.5"),
        (["--tau-weak=NaN", "--tau-strong=0.8"], "tau_weak is NaN"),
        (["--tau-weak=x", "--tau-strong=0.8"], "invalid value 'x'"),
    ] {
        let (code, message) = failure(no_encoder(&folder).arg("score").args([&file, &file]).args(options));
        assert_eq!(code, 2);
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn files_without_a_common_id() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &json!([trajectory("x", &[])]));
    let references = folder.json("r.json", &good());
    let Some(mut m3) = m3() else { return };
    let (code, message) = failure(m3.arg("score").args([&predictions, &references]));
    assert_eq!(code, 2);
    assert!(message.contains("(the first are `x` and `a`)") && message.contains("hint:"), "{message}");
}

#[test]
fn an_id_twice_with_other_content_is_an_error_unless_the_last_is_asked_for() {
    let folder = Folder::new();
    let (first, last) = (trajectory("a", &[]), trajectory("a", &[&[call("s/t", json!({"q": "eel"}))]]));
    let twice = folder.json("twice.json", &json!([first, last]));
    let references = folder.json("r.json", &good());
    let (code, message) = failure(no_encoder(&folder).arg("score").args([&twice, &references]));
    assert_eq!(code, 2);
    assert!(
        message.contains("/1 (id `a`)")
            && message.contains("differs from /0")
            && message.contains("(`duplicates`: `last`)")
    );
    for options in [["--duplicates", "last"], ["--profile", "open-m3-bench"]] {
        let Some(mut m3) = m3() else { return };
        let report = report(m3.arg("score").args([&twice, &references]).args(options));
        assert_eq!(report["aggregate"]["recall"], 1.0);
        assert_eq!(report["ledger"]["duplicate"], json!(["a"]));
    }
    // Equal content is no conflict, whatever the order of the keys.
    let equal = format!("[{last}, {{\"steps\": {}, \"type\": \"test\", \"id\": \"a\"}}]", last["steps"]);
    let equal = folder.write("equal.json", equal);
    let report = report(m3().unwrap().arg("score").args([&equal, &references]));
    assert_eq!(report["ledger"]["duplicate"], json!(["a"]));
}

#[test]
fn catalogs_that_are_none() {
    let folder = Folder::new();
    let file = folder.json("good.json", &good());
    for (content, reason) in [
        ("[1]", "found an array without tools"),
        ("{\"s\": {}}", "found an object of `s` without tools"),
        ("{\"s\": {\"tools\": [{}]}}", "/s/tools/0: a tool without a name"),
        ("{\"s\": ", "is not JSON"),
    ] {
        let catalog = folder.write("tools.json", content);
        let (code, message) =
            failure(no_encoder(&folder).arg("score").args([&file, &file]).arg("--tools").arg(&catalog));
        assert_eq!(code, 2);
        assert!(message.contains(reason), "{message}");
    }
}

/// Only the different calls of a loop cost time. A trajectory with more of them than can be aligned scores 0, and the
/// others are scored.
#[test]
fn a_trajectory_with_too_many_different_calls_fails_by_name() {
    let folder = Folder::new();
    let calls = |key: &str| (0..3000).map(|n| call("s/t", json!({key: n}))).collect::<Vec<Value>>();
    let files = |key: &str| {
        let small = trajectory("small", &[&[call("s/t", json!({"q": "eel"}))]]);
        let set = json!([trajectory("large", &[&calls(key)]), small]);
        folder.json(&format!("{key}.json"), &set)
    };
    let (predictions, references) = (files("n"), files("m"));
    for similarity in ["cosine", "typed"] {
        let Some(mut m3) = m3() else { return };
        let output = run(m3
            .args(["score", "--format", "json", "-q", "--similarity", similarity])
            .args([&predictions, &references]));
        assert_eq!(output.status.code(), Some(3));
        let said = text(&output.stderr);
        assert!(said.contains("`large` has too many different calls of one tool"), "{said}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        follows_kept_schema("score", &found);
        assert_eq!(found["ledger"]["too_large"], json!(["large"]));
        let aggregate = &found["aggregate"];
        assert_eq!([&aggregate["matched"], &aggregate["predicted_calls"]], [1, 3001]);
        let [large, small] = [0, 1].map(|index| &found["trajectories"][index]);
        assert_eq!((&large["metrics"]["average"], &small["metrics"]["recall"]), (&json!(0.0), &json!(1.0)));
        assert_eq!(large["unmatched_predictions"][2999]["reason"], "too_large");
        let costs = found["costs"].as_array().unwrap().iter();
        let costs: Vec<_> = costs.map(|cost| [&cost["calls"], &cost["reason"], &cost["lost"]]).collect();
        assert_eq!(json!(costs), json!([["missed", "task_failed", 3000], ["extra", "too_large", 3000]]));
    }
    let Some(mut m3) = m3() else { return };
    let output = run(m3.args(["audit", "-q", "--id", "small"]).args([&predictions, &references]));
    assert_eq!(output.status.code(), Some(3));
    assert!(text(&output.stdout).contains("small") && text(&output.stderr).contains("`large` has too many"));
    // What has failed before is that, and too large besides.
    let mut failed: Value = json_of(&predictions);
    failed[0]["finish"] = json!("error");
    let failed = folder.json("failed.json", &failed);
    let output =
        run(self::m3().unwrap().args(["score", "--format", "json", "-q"]).args([&failed, &references]));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let ledger = &found["ledger"];
    assert_eq!([&ledger["failures"], &ledger["too_large"]], [&json!({"provider": 1}), &json!(["large"])]);
    assert_eq!(found["trajectories"][0]["failure"], "provider");
}

#[test]
fn a_loop_of_equal_calls_is_scored() {
    let folder = Folder::new();
    let calls = |count: usize| vec![call("s/t", json!({"q": "eel"})); count];
    let steps: Vec<Vec<Value>> = calls(5000).into_iter().map(|call| vec![call]).collect();
    let steps: Vec<&[Value]> = steps.iter().map(Vec::as_slice).collect();
    let other = call("s/t", json!({"q": "the height of the Eiffel Tower"}));
    let mut reference = calls(4000);
    reference.push(other);
    let predictions = folder.json("p.json", &json!([trajectory("a", &steps)]));
    let references = folder.json("r.json", &json!([trajectory("a", &[&reference])]));
    for similarity in ["cosine", "typed"] {
        let Some(mut m3) = m3() else { return };
        let found =
            report(m3.arg("score").args([&predictions, &references]).args(["--similarity", similarity]));
        let trajectory = &found["trajectories"][0];
        assert_eq!(trajectory["metrics"]["matched"], 4000);
        // By hand: the earliest calls of the loop are matched in order; the one other call is similar to none.
        let matches = trajectory["matches"].as_array().unwrap();
        assert!(matches.iter().enumerate().all(|(at, pair)| pair["predicted"]["index"] == at));
        assert_eq!(trajectory["unmatched_references"][0]["reason"], "below_threshold");
        assert_eq!(trajectory["unmatched_predictions"][0]["index"], 4000);
        assert_eq!(trajectory["unmatched_predictions"][999]["best"]["reference"], 0);
    }
}

#[test]
fn output_that_cannot_be_written_fails_before_the_work() {
    let folder = Folder::new();
    let file = folder.json("good.json", &good());
    for target in ["/nonexistent/folder/out.json", folder.path().to_str().unwrap()] {
        let Some(mut m3) = m3() else { return };
        let (code, message) = failure(m3.arg("score").args([&file, &file]).args(["--out", target]));
        assert_eq!(code, 2);
        assert!(message.contains(&format!("failed to write to `{target}`")), "{message}");
    }
}

/// A small file that becomes a large one is not read to its end, unless that is asked for.
#[test]
fn a_small_file_does_not_become_a_large_one() {
    use std::io::Write as _;
    let folder = Folder::new();
    let packed = folder.path().join("p.json.gz");
    let mut gzip =
        flate2::write::GzEncoder::new(std::fs::File::create(&packed).unwrap(), flate2::Compression::fast());
    (0..80).for_each(|_| gzip.write_all(&vec![b' '; 1 << 20]).unwrap());
    gzip.write_all(b"[]").unwrap();
    gzip.finish().unwrap();
    for (arguments, reason) in [
        (vec!["validate"], "it becomes more than 128 times as large when it is unpacked"),
        (vec!["import", "-o", "/dev/null"], "(if it should: `--max-unpacked MIB`)"),
        (vec!["show"], "hint: if it should: `--max-unpacked MIB`"),
        (vec!["validate", "--max-unpacked", "70"], "it becomes larger than unpacked files may be"),
        (vec!["validate", "--max-unpacked", "200"], "no trajectories"),
    ] {
        let output = run(crate::support::m3_bare(folder.path()).args(arguments).arg(&packed));
        let said = text(&output.stderr) + &text(&output.stdout);
        assert!(said.contains(reason), "{said}");
    }
}
