//! `m3 leaderboard` and `m3 compare`: several results side by side.

mod page;

use serde_json::{Value, json};

use crate::support::{Folder, encoder, failure, json_of, m3, m3_bare, report, run, shared, stdout, text};

#[test]
fn figures_are_written_as_svg_and_png() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let figures = folder.path().join("new/figures");
    stdout(m3_bare(folder.path()).arg("leaderboard").args(&results).arg("--figures").arg(&figures));
    let mut names: Vec<String> = std::fs::read_dir(&figures)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected =
        ["by-type", "leaderboard", "similarities-1-poor", "similarities-2-good", "similarities-3-perfect"];
    let expected: Vec<String> =
        expected.iter().flat_map(|name| [format!("{name}.png"), format!("{name}.svg")]).collect();
    assert_eq!(names, expected);
    let svg = std::fs::read_to_string(figures.join("leaderboard.svg")).unwrap();
    for text in ["perfect", "good", "poor", "0.948", "0.530"] {
        assert!(svg.contains(text), "{text}");
    }
    let png = std::fs::read(figures.join("leaderboard.png")).unwrap();
    assert!(png.starts_with(b"\x89PNG"));
    // The metric and the models of the figure by type.
    let choice = ["--figure-metric", "recall", "--figure-model", "good"];
    let chosen = folder.path().join("chosen");
    stdout(
        m3_bare(folder.path()).arg("leaderboard").args(&results).arg("--figures").arg(&chosen).args(choice),
    );
    let svg = std::fs::read_to_string(chosen.join("by-type.svg")).unwrap();
    assert!(svg.contains("recall") && svg.contains("good") && !svg.contains("perfect"), "{svg}");
    let mut unknown = m3_bare(folder.path());
    unknown.arg("leaderboard").args(&results).arg("--figures").arg(&chosen).args(["--figure-model", "gud"]);
    let (code, message) = failure(&mut unknown);
    assert!(
        code == 2 && message.contains("no model is called `gud`") && message.contains("`good`"),
        "{message}"
    );
    // A folder that cannot be created.
    let file = folder.write("file", "");
    let mut m3 = m3_bare(folder.path());
    let (code, message) = failure(m3.arg("leaderboard").args(&results).arg("--figures").arg(file.join("x")));
    assert_eq!(code, 2, "{message}");
}

/// The results of the benchmark's own predictions, and of the references themselves.
pub(crate) fn own_results(folder: &Folder) -> Option<Vec<std::path::PathBuf>> {
    let score = |name: &str, predictions: &str| {
        let out = folder.path().join(format!("{name}.json"));
        let files = [format!("trajectories/{predictions}.json"), "trajectories/references.json".to_owned()];
        stdout(m3()?.args(["score", "-q"]).args(files).arg("--out").arg(&out));
        Some(out)
    };
    Some(vec![
        score("poor", "predictions-poor")?,
        score("good", "predictions")?,
        score("perfect", "references")?,
    ])
}

/// What a page says, without its style, its script and the figures: they are looked at in a browser.
fn content(written: &str) -> String {
    let body = written.split_once("<body>").map_or(written, |(_, body)| body);
    let said = body.split_once("<script>").map_or(body, |(said, _)| said).lines();
    said.map(|line| line.split(" src=").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_form_of_the_leaderboard_is_as_kept() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    for form in ["table", "markdown", "csv", "html", "latex"] {
        let mut m3 = m3_bare(folder.path());
        m3.arg("leaderboard").args(&results).args(["--by-type", "--resamples", "1000", "--format", form]);
        insta::assert_snapshot!(format!("leaderboard_{form}"), content(&stdout(&mut m3)));
    }
    // A single table with a single header, which every program for CSV can read.
    let mut csv = m3_bare(folder.path());
    let csv = stdout(csv.arg("leaderboard").args(&results).args(["--by-type", "--format", "csv"]));
    let rows: Vec<csv::StringRecord> =
        csv::Reader::from_reader(csv.as_bytes()).records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3 + 7 * 3);
    let mut compare = m3_bare(folder.path());
    compare.arg("compare").args(&results[..2]).args(["--resamples", "1000"]);
    let printed = stdout(&mut compare);
    let documents = std::fs::read_to_string(crate::support::root().join("docs/leaderboard.md")).unwrap();
    let table: Vec<&str> = printed.lines().take(12).collect();
    assert!(documents.contains(&table.join("\n")), "docs/leaderboard.md shows another table");
    insta::assert_snapshot!("compare_table", printed);
    for form in ["markdown", "csv", "html", "latex"] {
        let mut compare = m3_bare(folder.path());
        compare.arg("compare").args(&results[..2]).args(["--resamples", "1000", "--format", form]);
        insta::assert_snapshot!(format!("compare_{form}"), content(&stdout(&mut compare)));
    }
}

#[test]
fn the_leaderboard_says_what_the_scores_say() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let board = report(m3_bare(folder.path()).arg("leaderboard").args(&results));
    for found in board["models"].as_array().unwrap() {
        let score = folder.path().join(format!("{}.json", found["model"].as_str().unwrap()));
        let score: Value = json_of(score);
        for (name, estimate) in found["metrics"].as_object().unwrap() {
            let (value, expected) =
                (estimate["value"].as_f64().unwrap(), score["aggregate"][name].as_f64().unwrap());
            assert!((value - expected).abs() < 1e-9, "{name}: {value}, {expected}");
            let Some((low, high)) = estimate["low"].as_f64().zip(estimate["high"].as_f64()) else {
                // Some resample may have no task with a region.
                assert_eq!(name, "region_overlap");
                continue;
            };
            assert!(
                0.0 <= low && low <= value && value <= high && high <= 1.0,
                "{name}: {low} {value} {high}"
            );
        }
        assert_eq!(found["calls"]["average_calls"], score["aggregate"]["average_calls"]);
    }
    let of_type = |name: &str| {
        let types = board["types"].as_array().unwrap().iter();
        types.clone().find(|found| found["type"] == name).unwrap().clone()
    };
    let good: Value = json_of(&results[1]);
    for row in of_type("crop")["models"].as_array().unwrap() {
        if row["model"] == "good" {
            let (found, expected) = (&row["metrics"]["average"], &good["by_type"]["crop"]["average"]);
            assert!((found.as_f64().unwrap() - expected.as_f64().unwrap()).abs() < 1e-9);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_intervals() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let board = |seed: &str| {
        let mut m3 = m3_bare(folder.path());
        stdout(m3.arg("leaderboard").args(&results).args(["--format", "json", "--seed", seed]))
    };
    assert_eq!(board("1"), board("1"));
    assert_ne!(board("1"), board("2"));
}

#[test]
fn different_tasks_are_refused_or_intersected_and_said() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let mut fewer: Value = json_of(&results[1]);
    let removed = fewer["trajectories"].as_array_mut().unwrap().remove(0);
    let fewer = folder.json("fewer.json", &fewer);
    for command in ["leaderboard", "compare"] {
        let (code, message) = failure(m3_bare(folder.path()).arg(command).args([&results[0], &fewer]));
        assert_eq!(code, 2, "{message}");
        let named = removed["id"].as_str().unwrap();
        assert!(message.contains(named) && message.contains("--intersect"), "{message}");
        let said = stdout(m3_bare(folder.path()).arg(command).args([&results[0], &fewer]).arg("--intersect"));
        assert!(said.contains("14 tasks") && said.to_lowercase().contains("left out"), "{said}");
    }
    // Other definitions are other numbers.
    let mut other: Value = json_of(&results[1]);
    other["thresholds"]["weak"] = json!(0.5);
    let other = folder.json("other.json", &other);
    let (code, message) = failure(m3_bare(folder.path()).arg("compare").args([&results[0], &other]));
    assert_eq!(code, 2);
    assert!(message.contains("not scored in the same way") && message.contains("tau 0.5 / 0.8"), "{message}");
}

#[test]
fn a_worse_model_fails_the_gate() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let code = |first: usize, second: usize| {
        let mut m3 = m3_bare(folder.path());
        m3.args(["compare", "--fail-if-worse"]).args([&results[first], &results[second]]);
        run(&mut m3).status.code().unwrap()
    };
    assert_eq!([code(1, 0), code(0, 1), code(1, 1)], [1, 0, 0]);
}

/// Grades, usage and outcomes are shown if a result has them.
#[test]
fn more_columns_appear_when_the_data_are_there() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let mut graded: Value = json_of(&results[1]);
    for trajectory in graded["trajectories"].as_array_mut().unwrap() {
        trajectory["grades"] = json!({"task_completion": 0.5, "information_grounding": 0.25});
        trajectory["usage"] = json!({"input_tokens": 250_000, "output_tokens": 37_000});
        trajectory["outcomes"] = json!({"success": 3, "unknown_tool": 1});
    }
    let graded = folder.json("graded.json", &graded);
    let plain = stdout(m3_bare(folder.path()).arg("leaderboard").args([&results[1], &results[0]]));
    assert!(!plain.contains("info") && !plain.contains("input M"), "{plain}");
    let both = stdout(m3_bare(folder.path()).arg("leaderboard").args([&graded, &results[0]]));
    assert!(
        both.contains("task")
            && both.contains("info   avg.")
            && both.contains("input M")
            && both.contains("75.0 %"),
        "{both}"
    );
    assert!(both.contains("six alignment metrics"), "not all models are graded: {both}");
    assert!(both.lines().all(|line| line.chars().count() <= 80), "{both}");
    let alone = report(m3_bare(folder.path()).arg("leaderboard").arg(&graded));
    let metrics = &alone["models"][0]["metrics"];
    let value = |name: &str| metrics[name]["value"].as_f64().unwrap();
    let six =
        ["recall", "precision", "argument_similarity", "step_coherence", "order_consistency", "merge_purity"];
    let seven = six.iter().map(|name| value(name)).sum::<f64>() + 0.25;
    assert!((value("average") - seven / 7.0).abs() < 1e-12);
    assert_eq!(alone["models"][0]["tokens"]["input"], 250_000.0);
    assert!(alone["types"][0]["average"]["description"].as_str().unwrap().contains("eight"));
}

/// A missing grade is never 0 (metrics.md, "Judge metrics"): it is left out of its mean; then the column is left out
/// of the average, with a note.
#[test]
fn missing_grades_are_missing() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let mut partly: Value = json_of(&results[1]);
    for trajectory in partly["trajectories"].as_array_mut().unwrap().iter_mut().take(5) {
        trajectory["grades"] = json!({"information_grounding": 0.5});
    }
    let partly = folder.json("partly.json", &partly);
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&partly));
    let metrics = &board["models"][0]["metrics"];
    assert_eq!(metrics["information_grounding"]["value"], 0.5);
    assert!(metrics.get("task_completion").is_none());
    assert_eq!(board["average"]["metrics"].as_array().unwrap().len(), 6);
    let note = board["notes"][0].as_str().unwrap();
    assert!(note.contains("information grounding of 5 of 15 tasks is known"), "{note}");
    for of_type in board["types"].as_array().unwrap() {
        let metrics = &of_type["models"][0]["metrics"];
        assert!(metrics.get("information_grounding").is_none_or(|value| value == 0.5), "{of_type}");
    }
    // A row without one of the metrics has no average, and comes last.
    let table = folder.write("t.csv", "model,recall,precision\nhalf,0.9,0.9\n");
    let board = report(m3_bare(folder.path()).arg("leaderboard").args([&table, &results[0]]));
    assert_eq!(board["models"][1]["model"], "half");
    assert!(board["models"][1]["metrics"].get("average").is_none());
    assert!(board["notes"][0].as_str().unwrap().contains("lacks a metric"));
}

#[test]
fn names_of_models_keep_their_dots_and_results_may_be_compressed() {
    use std::io::Write as _;
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let score = std::fs::read(&results[0]).unwrap();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&score).unwrap();
    let files = [
        folder.write("gemini-2.5-pro.json", &score),
        folder.write("gemini-2.0.json.gz", gzip.finish().unwrap()),
        folder.write(".json", [b"\xef\xbb\xbf".as_slice(), &score].concat()),
    ];
    let board = report(m3_bare(folder.path()).arg("leaderboard").args(&files));
    let names: Vec<&str> =
        board["models"].as_array().unwrap().iter().map(|m| m["model"].as_str().unwrap()).collect();
    assert_eq!(names, ["gemini-2.5-pro", "gemini-2.0", ".json"]);
    let twice = report(m3_bare(folder.path()).arg("leaderboard").args([&files[0], &files[0]]));
    assert_eq!(twice["models"][1]["model"], "gemini-2.5-pro (2)");
    assert_eq!(twice["models"][1]["rank"], json!({"rank": 1, "best": 1, "worst": 2}));
}

/// If a test could never be significant, groups would claim something that was not tested.
#[test]
fn tests_that_can_find_nothing_are_named() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let few = |name: &str, path: &std::path::Path| {
        let mut score: Value = json_of(path);
        score["trajectories"].as_array_mut().unwrap().truncate(4);
        folder.json(name, &score)
    };
    let (first, second) = (few("first.json", &results[2]), few("second.json", &results[0]));
    // 4 tasks have 16 permutations, the smallest p-value is 2 / 16.
    let said = stdout(m3_bare(folder.path()).arg("leaderboard").args([&first, &second]));
    assert!(said.contains("groups mean nothing here"), "{said}");
    let compared = stdout(m3_bare(folder.path()).arg("compare").args([&first, &second]));
    assert!(compared.contains("Only 4 tasks") && compared.contains("0.125"), "{compared}");
}

#[test]
fn what_is_no_result_is_said() {
    let folder = Folder::new();
    let cases = [
        ("a.json", "", "no head"),
        ("b.json", "{", "not JSON"),
        ("c.json", "[]", "expected an object"),
        ("c2.json", "{}", "no `schema`"),
        ("d.json", r#"{"schema": "m3.score/9"}"#, "no `profile`"),
        ("j.csv", "model,recall,precison\nx,1,1\n", "the column `precison` is no metric"),
        ("k.csv", "model,recall,Recall\nx,1,1\n", "`recall` stands twice"),
        ("e.csv", "name,recall\nx,1\n", "no column `model`"),
        ("e2.csv", "model\nx\n", "no column is named like a metric"),
        ("f.csv", "model,recall\nx,2\n", "2 should be in [0, 1]"),
        ("g.csv", "model,recall\nx,NaN\n", "should be in [0, 1]"),
        ("h.csv", "model,recall\n", "no rows"),
        ("i.csv", "model,recall\nx\n", "line 2"),
    ];
    for (name, content, reason) in cases {
        let file = folder.write(name, content);
        let (code, message) = failure(m3_bare(folder.path()).arg("leaderboard").arg(&file));
        assert_eq!(code, 2, "{name}: {message}");
        assert!(message.contains(reason) && message.contains(name), "{name}: {message}");
    }
    for missing in ["nowhere.json", "."] {
        let (code, message) = failure(m3_bare(folder.path()).arg("leaderboard").arg(missing));
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("failed to read"), "{message}");
    }
    let table = crate::paper_table::table_2(&folder, false);
    let (code, message) = failure(m3_bare(folder.path()).arg("compare").args([&table, &table]));
    assert_eq!(code, 2);
    assert!(message.contains("cannot be compared task by task"), "{message}");
}

/// A word that is neither would count as weak, and the model's average would fall without a word.
#[test]
fn a_match_is_strong_or_weak_or_says_nothing() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    let changed = |strength: Option<&str>| {
        let mut score = json_of(&results[0]);
        for trajectory in score["trajectories"].as_array_mut().unwrap() {
            for pair in trajectory["matches"].as_array_mut().unwrap() {
                match strength {
                    Some(strength) => pair["strength"] = json!(strength),
                    None => drop(pair.as_object_mut().unwrap().remove("strength")),
                }
            }
        }
        folder.json("changed.json", &score)
    };
    let board = |file: &std::path::Path| {
        let mut command = m3_bare(folder.path());
        command.arg("leaderboard").arg(file);
        command
    };
    let (code, message) = failure(&mut board(&changed(Some("Strong"))));
    assert_eq!(code, 2, "{message}");
    assert!(message.contains("`strength` is `Strong`; expected `strong` or `weak`"), "{message}");
    // Scores of earlier versions: from tau_strong on a match is strong.
    let recomputed = report(&mut board(&changed(None)));
    let stored = report(&mut board(&results[0]));
    assert_eq!(recomputed["models"][0]["metrics"], stored["models"][0]["metrics"]);
}

#[test]
fn names_of_models_are_hostile_too() {
    let folder = Folder::new();
    let evil = "<script>alert(1)</script>\u{1b}[2J\u{202e}|\\input{x}";
    let csv = folder.write("evil.csv", format!("model,recall,precision\n{evil},1,0\n"));
    for form in ["table", "json", "markdown", "csv", "html", "latex"] {
        let output = run(m3_bare(folder.path()).arg("leaderboard").arg(&csv).args(["--format", form]));
        let written = text(&output.stdout);
        assert!(output.status.success() && !written.contains(['\u{1b}', '\u{202e}']), "{form}: {written:?}");
        assert!(form != "html" || !written.contains("<script>alert"), "{written}");
        assert!(form != "latex" || !written.contains("\\input"), "{written}");
    }
}

#[test]
fn leaderboards_and_comparisons_follow_their_schemas() {
    let folder = Folder::new();
    let Some(results) = own_results(&folder) else { return };
    for (schema, command) in [("leaderboard", "leaderboard"), ("comparison", "compare")] {
        let instance = report(m3_bare(folder.path()).arg(command).args(&results[..2]));
        crate::support::follows_kept_schema(schema, &instance);
    }
}

/// The real predictions are far apart in every resample.
#[test]
fn real_predictions_have_a_place_each() {
    let Some(data) = shared("open-m3-bench") else { return };
    let folder = Folder::new();
    if encoder().is_none() {
        return;
    }
    let results = ["weak", "strong", "medium"].map(|name| {
        let out = folder.path().join(format!("{name}.json"));
        let predictions = data.join(format!("predictions/{name}.json"));
        let mut m3 = m3().unwrap();
        m3.args(["score", "-q", "--duplicates", "last"]).arg(predictions).arg(data.join("references.json"));
        stdout(m3.arg("--out").arg(&out));
        out
    });
    let board = report(m3_bare(folder.path()).arg("leaderboard").args(&results));
    for (place, name) in ["strong", "medium", "weak"].iter().enumerate() {
        let found = &board["models"][place];
        assert_eq!(found["model"], *name);
        assert_eq!(found["rank"], json!({"rank": place + 1, "best": place + 1, "worst": place + 1}));
        assert_eq!(found["group"], place + 1);
    }
}
