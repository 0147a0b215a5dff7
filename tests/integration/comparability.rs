//! Which results may be compared, and the notes of a leaderboard and a comparison beside the numbers. The small
//! scores are written here, so no encoder is needed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::{Folder, failure, m3_bare, report, stdout};

/// A score of `tasks` tasks with one reference call each, modified by `change`.
fn small_score(folder: &Folder, name: &str, tasks: usize, change: impl Fn(&mut Value)) -> PathBuf {
    let trajectory = |task: usize| {
        let place = json!({"step": 0, "call": 0, "index": 0});
        json!({
            "id": format!("{task:04}"), "type": "crop",
            "metrics": {"reference_calls": 1, "predicted_calls": 1, "argument_fidelity": 1.0,
                "step_coherence": 1.0, "merge_purity": 1.0, "order_consistency": 1.0, "average_steps": 1.0},
            "matches": [{"tool": "image/crop", "similarity": 1.0, "argument_fidelity": 1.0,
                "reference": place, "predicted": place}],
            "unmatched_references": [], "unmatched_predictions": []
        })
    };
    let mut score = json!({
        "schema": "m3.score/1", "profile": "paper", "similarity": "cosine",
        "encoder": {"name": "all-MiniLM-L6-v2", "fingerprint": "df4e0da7"},
        "thresholds": {"weak": 0.6, "strong": 0.8},
        "trajectories": (0..tasks).map(trajectory).collect::<Vec<_>>()
    });
    change(&mut score);
    folder.json(name, &score)
}

/// Changes a trajectory into one in which nothing matched.
fn miss(trajectory: &mut Value) {
    trajectory["matches"] = json!([]);
    trajectory["unmatched_references"] = json!([{"step": 0, "call": 0, "index": 0, "tool": "image/crop"}]);
    for metric in ["step_coherence", "merge_purity", "order_consistency"] {
        trajectory["metrics"][metric] = json!(0.0);
    }
}

/// A score against references of this hash, as `m3 score` writes it.
fn against(references: &str, hash: &str) -> impl Fn(&mut Value) {
    let (references, hash) = (references.to_owned(), hash.to_owned());
    move |score| {
        score["inputs"] = json!({"predictions": {"name": "p.json", "sha256": "aa".repeat(32)},
            "references": {"name": references, "sha256": hash.repeat(32)}});
        score["signature"] =
            json!(format!("m3|v:0.1.0|profile:paper|refs:{}|preds:aaaaaaaa", hash.repeat(4)));
    }
}

#[test]
fn different_references_are_refused_or_insisted_on_and_said() {
    let folder = Folder::new();
    let first = small_score(&folder, "first.json", 6, against("old.json", "3f"));
    let same = small_score(&folder, "same.json", 6, against("moved.json", "3f"));
    let other = small_score(&folder, "other.json", 6, against("new.json", "9a"));
    let silent = small_score(&folder, "silent.json", 6, |_| ());
    for command in ["leaderboard", "compare"] {
        let m3 = |files: [&PathBuf; 2]| {
            let mut m3 = m3_bare(folder.path());
            m3.arg(command).args(files);
            m3
        };
        let (code, message) = failure(&mut m3([&first, &other]));
        assert_eq!(code, 2, "{message}");
        for said in ["first.json", "other.json", "`old.json` (3f3f3f3f)", "`new.json` (9a9a9a9a)"] {
            assert!(message.contains(said), "{said}: {message}");
        }
        assert!(message.contains("--allow-different-references"), "{message}");
        let mut insisted = m3([&first, &other]);
        let insisted = report(insisted.arg("--allow-different-references"));
        let note = insisted["notes"][0].as_str().unwrap();
        assert!(note.contains("different references") && note.contains("9a9a9a9a"), "{note}");
        assert_eq!(insisted["signature"], "m3|v:0.1.0|profile:paper");
        // The hash decides whether references are the same, not the name.
        let alike = report(&mut m3([&first, &same]));
        assert_eq!(alike["notes"], json!([]));
        assert_eq!(alike["signature"], "m3|v:0.1.0|profile:paper|refs:3f3f3f3f");
        let printed = stdout(&mut m3([&first, &same]));
        assert!(printed.contains("Signature: m3|v:0.1.0|profile:paper|refs:3f3f3f3f"), "{printed}");
        // Earlier scores name no references.
        let note = report(&mut m3([&first, &silent]))["notes"][0].as_str().unwrap().to_owned();
        assert!(note.contains("1 of 2 results do not say which references"), "{note}");
    }
}

#[test]
fn references_that_differ_are_seen_without_hashes() {
    let folder = Folder::new();
    let first = small_score(&folder, "first.json", 3, |_| ());
    let other_tool = small_score(&folder, "tool.json", 3, |score| {
        score["trajectories"][1]["matches"][0]["tool"] = json!("image/rotate");
    });
    let more = small_score(&folder, "more.json", 3, |score| {
        score["trajectories"][2]["metrics"]["reference_calls"] = json!(2);
        score["trajectories"][2]["unmatched_references"] = json!([{"step": 1, "tool": "image/crop"}]);
    });
    let cases = [
        (&other_tool, "task `0001` has other reference calls"),
        (&more, "task `0002` has 1 reference calls"),
    ];
    for (other, reason) in cases {
        let (code, message) = failure(m3_bare(folder.path()).arg("compare").args([&first, other]));
        assert!(code == 2 && message.contains(reason), "{message}");
        let mut insisted = m3_bare(folder.path());
        insisted.arg("compare").args([&first, other]).arg("--allow-different-references");
        assert!(stdout(&mut insisted).contains("1 of 3 tasks have other reference calls"));
    }
    // Different matches do not mean different references.
    let missed = small_score(&folder, "missed.json", 3, |score| miss(&mut score["trajectories"][0]));
    stdout(m3_bare(folder.path()).arg("compare").args([&first, &missed]));
}

/// How tool names were read decides which calls can be matched.
#[test]
fn other_tool_names_are_other_conditions() {
    let folder = Folder::new();
    let off = small_score(&folder, "off.json", 3, |score| {
        score["tool_names"] = json!({"mode": "off", "mapping": {}});
    });
    let silent = small_score(&folder, "silent.json", 3, |_| ());
    let auto = small_score(&folder, "auto.json", 3, |score| score["tool_names"] = json!({"mode": "auto"}));
    stdout(m3_bare(folder.path()).arg("leaderboard").args([&off, &silent]));
    let (code, message) = failure(m3_bare(folder.path()).arg("leaderboard").args([&silent, &auto]));
    assert!(code == 2 && message.contains("tool names auto"), "{message}");
    assert!(message.contains("hint: ") && message.contains("`--tool-names`"), "{message}");
}

/// Argument fidelities by different models mean different things; scores of earlier versions do not say theirs.
#[test]
fn other_models_of_fidelity_are_other_conditions() {
    let folder = Folder::new();
    let by = |name: &str, built_in: bool, fingerprint: &str| {
        small_score(&folder, name, 6, |score| {
            score["fidelity_model"] = json!({"built_in": built_in, "fingerprint": fingerprint});
        })
    };
    let built_in = by("built-in.json", true, "aaaa000000000000");
    let later = by("later.json", true, "bbbb000000000000");
    let own = by("own.json", false, "cccc000000000000");
    let same = by("same.json", false, "cccc000000000000");
    let silent = small_score(&folder, "silent.json", 6, |_| ());
    let m3 = |command: &str, files: &[&PathBuf]| {
        let mut m3 = m3_bare(folder.path());
        m3.arg(command).args(files);
        m3
    };
    for command in ["leaderboard", "compare"] {
        for (other, said) in
            [(&own, "fidelity model cccc000000000000"), (&later, "built-in (bbbb000000000000)")]
        {
            let (code, message) = failure(&mut m3(command, &[&built_in, other]));
            assert_eq!(code, 2, "{message}");
            assert!(message.contains("fidelity model built-in (aaaa000000000000)"), "{message}");
            assert!(message.contains(said) && message.contains("`--fidelity-model`"), "{message}");
        }
        assert_eq!(report(&mut m3(command, &[&own, &same]))["notes"], json!([]));
        let notes = report(&mut m3(command, &[&silent, &own]))["notes"].clone();
        assert_eq!(
            notes,
            json!(["1 of 2 results do not say by which model their argument fidelity was computed"])
        );
    }
    // A result that does not say it hides no difference between the others.
    let (code, message) = failure(&mut m3("leaderboard", &[&silent, &own, &built_in]));
    assert!(code == 2 && message.contains("own.json` and `"), "{message}");
}

/// Names are compared by what they stand for, or as texts; results decide, or do not.
#[test]
fn flow_is_a_condition_and_results_are_told() {
    let folder = Folder::new();
    let with = |name: &str, member: &str, value: Value| {
        small_score(&folder, name, 6, |score| score[member] = value.clone())
    };
    let on = with("on.json", "flow", json!("on"));
    let off = with("off.json", "flow", json!("off"));
    let results = with("results.json", "results", json!({}));
    for command in ["leaderboard", "compare"] {
        let (code, message) = failure(m3_bare(folder.path()).arg(command).args([&on, &off]));
        assert!(code == 2 && message.contains("flow off") && message.contains("`--flow`"), "{message}");
        let found = report(m3_bare(folder.path()).arg(command).args([&on, &results]));
        let note = found["notes"][0].as_str().unwrap();
        assert!(note.contains("evidence for 1 of 2 results") && note.contains("--results off"), "{note}");
    }
}

#[test]
fn failures_stand_beside_scores() {
    let folder = Folder::new();
    let well = small_score(&folder, "well.json", 4, |score| {
        score["ledger"] = json!({"references": 4, "failures": {}});
    });
    let failed = small_score(&folder, "failed.json", 4, |score| {
        for (task, class) in [(0, "provider"), (1, "provider"), (2, "time")] {
            score["trajectories"][task]["failure"] = json!(class);
            miss(&mut score["trajectories"][task]);
        }
        score["ledger"] = json!({"references": 4, "failures": {"provider": 2, "time": 1}});
    });
    let board = report(m3_bare(folder.path()).arg("leaderboard").args([&well, &failed]));
    let expected = json!({"tasks": 4, "failed": 3, "classes": {"provider": 2, "time": 1}});
    assert_eq!(board["models"][1]["failures"], expected);
    assert_eq!(board["models"][0]["failures"], json!({"tasks": 4, "failed": 0, "classes": {}}));
    let note = "Unequal failures, which lower scores: failed 3 of 4, well 0 of 4";
    assert_eq!(board["notes"][0], note);
    let compared = report(m3_bare(folder.path()).arg("compare").args([&well, &failed]));
    assert_eq!((&compared["failures"][1], &compared["notes"][0]), (&expected, &json!(note)));
    for command in ["leaderboard", "compare"] {
        let printed = stdout(m3_bare(folder.path()).arg(command).args([&well, &failed]));
        assert!(printed.contains("model   tasks  failed    rate  provider  time"), "{printed}");
        assert!(printed.contains("failed      4       3  75.0 %         2     1"), "{printed}");
        let same = stdout(m3_bare(folder.path()).arg(command).args([&well, &well]));
        assert!(!same.contains("Failed tasks"), "{same}");
    }
}

/// The published program leaves failed tasks out, so they are only in the ledger.
#[test]
fn failures_that_were_left_out_are_those_of_the_ledger() {
    let folder = Folder::new();
    let failed = small_score(&folder, "failed.json", 4, |score| {
        score["profile"] = json!("open-m3-bench");
        score["ledger"] = json!({"references": 10, "failures": {"missing": 6}});
    });
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&failed));
    assert_eq!(board["models"][0]["failures"], json!({"tasks": 10, "failed": 6, "classes": {"missing": 6}}));
}

/// By metrics.md, degenerate cases: if the reference has no calls, a failed task scores 0.
#[test]
fn a_failed_task_without_reference_calls_earns_nothing() {
    let folder = Folder::new();
    let no_calls = |failure: Option<&'static str>| {
        move |score: &mut Value| {
            let trajectory = &mut score["trajectories"][0];
            trajectory["type"] = json!("look");
            trajectory["matches"] = json!([]);
            trajectory["metrics"] = json!({"reference_calls": 0, "predicted_calls": 0, "argument_fidelity": 0.0,
                "step_coherence": 0.0, "merge_purity": 0.0, "order_consistency": 0.0, "average_steps": 0.0});
            if let Some(failure) = failure {
                trajectory["failure"] = json!(failure);
            }
        }
    };
    let well = small_score(&folder, "well.json", 2, no_calls(None));
    let failed = small_score(&folder, "failed.json", 2, no_calls(Some("missing")));
    let board = report(m3_bare(folder.path()).arg("leaderboard").args([&well, &failed]));
    let look = board["types"].as_array().unwrap().iter().find(|found| found["type"] == "look").unwrap();
    let averages =
        look["models"].as_array().unwrap().iter().map(|row| row["metrics"]["average"].as_f64().unwrap());
    assert_eq!(averages.collect::<Vec<_>>(), [1.0, 0.0]);
    // One failure of fifteen tasks costs a fifteenth.
    let one = small_score(&folder, "one.json", 15, |score| {
        for task in 0..15 {
            let mut alone = json!({"trajectories": [score["trajectories"][task].take()]});
            no_calls((task == 3).then_some("time"))(&mut alone);
            score["trajectories"][task] = alone["trajectories"][0].take();
        }
    });
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&one));
    let average = &board["models"][0]["metrics"]["average"];
    let number = |key: &str| average[key].as_f64().unwrap();
    assert!((number("value") - 14.0 / 15.0).abs() < 1e-12, "{average}");
    // Each resampled set has its own share of failed tasks.
    assert!(number("low") < 14.0 / 15.0 && number("low") > 0.5 && number("high") > 14.0 / 15.0, "{average}");
}

/// Made-up counts of steps or calls must not cost time in proportion to their size.
#[test]
fn made_up_counts_are_refused_or_stay_within_numbers() {
    let folder = Folder::new();
    let repeats = |trials: u32, passes: u32| {
        let tasks = json!([{"id": "0000", "trials": trials, "passes": passes}]);
        json!({"count": u32::MAX, "pass": {"recall": 1.0}, "tasks": tasks})
    };
    let hostile = small_score(&folder, "hostile.json", 2, |score| {
        score["repeats"] = repeats(u32::MAX, u32::MAX - 1);
    });
    for command in ["leaderboard", "compare"] {
        let (code, message) = failure(m3_bare(folder.path()).arg(command).args([&hostile, &hostile]));
        assert_eq!(code, 2, "{message}");
        assert!(message.contains("4294967295 trials for `0000`, of which it has 1 trajectory"), "{message}");
    }
    let large = small_score(&folder, "large.json", 2, |score| {
        score["profile"] = json!("open-m3-bench");
        score["repeats"] = repeats(1, 1);
        score["ledger"] =
            json!({"references": u64::MAX, "failures": {"provider": u64::MAX, "time": u64::MAX}});
    });
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&large));
    let failures = &board["models"][0]["failures"];
    assert_eq!([&failures["tasks"], &failures["failed"]], [&json!(u64::MAX); 2]);
}

#[test]
fn tokens_of_some_tasks_are_called_partial() {
    let folder = Folder::new();
    let partly = small_score(&folder, "partly.json", 3, |score| {
        score["trajectories"][0]["usage"] = json!({"input_tokens": 250_000, "output_tokens": 37_000});
    });
    let mut m3 = m3_bare(folder.path());
    let printed = stdout(m3.arg("leaderboard").arg(&partly));
    assert!(printed.contains("partly: tokens are partial, means over the 1 of 3 tasks"), "{printed}");
    let board = report(m3_bare(folder.path()).arg("leaderboard").arg(&partly));
    assert_eq!(board["models"][0]["tokens"]["is_partial"], true);
}

/// Errors in a file are described in terms of JSON, with their place.
#[test]
fn errors_of_results_name_no_types_of_the_program() {
    let folder = Folder::new();
    let broken = |name: &str, change: fn(&mut Value)| small_score(&folder, name, 1, change);
    let cases = [
        (broken("a.json", |score| score["trajectories"] = json!({})), "expected a list, found an object"),
        (
            broken("b.json", |score| score["trajectories"][0]["metrics"] = json!("none")),
            "expected an object, found the text \"none\"",
        ),
        (
            broken("c.json", |score| score["trajectories"][0]["metrics"]["reference_calls"] = json!(-1)),
            "expected a whole number from 0 to 4294967295, found the number `-1`",
        ),
        (
            broken("d.json", |score| score["thresholds"]["weak"] = json!("0.6")),
            "expected a number, found the text",
        ),
    ];
    for (file, reason) in cases {
        let (code, message) = failure(m3_bare(folder.path()).arg("leaderboard").arg(&file));
        assert_eq!(code, 2, "{message}");
        assert!(message.contains(reason) && message.contains("line 1, column"), "{message}");
        for type_name in ["struct", "f64", "u32", "sequence", "Part"] {
            assert!(!message.contains(type_name), "{message}");
        }
    }
}

/// With more models than permutations can handle, groups are formed by a bound of the p-value, and the report names
/// the tested pairs.
#[test]
fn many_models_are_told_apart_and_the_pairs_are_said() {
    let folder = Folder::new();
    // Forty models and 60 tasks: the first twenty models miss one task each, the others forty.
    let file = |model: usize| {
        let missed = if model < 20 { model..model + 1 } else { (model - 20)..(model + 20) };
        small_score(&folder, &format!("m{model:02}.json"), 60, |score| {
            missed.clone().for_each(|task| miss(&mut score["trajectories"][task]));
        })
    };
    let files: Vec<_> = (0..40).map(file).collect();
    let mut m3 = m3_bare(folder.path());
    let board = report(m3.arg("leaderboard").args(&files).args(["--resamples", "500"]));
    let groups: Vec<u64> =
        board["models"].as_array().unwrap().iter().map(|model| model["group"].as_u64().unwrap()).collect();
    assert_eq!(groups, [vec![1; 20], vec![2; 20]].concat());
    // The best against 39, then the best of the rest against 19; of 40 x 39 / 2 pairs.
    assert_eq!(board["tests"], json!({"method": "bound", "tested": 58, "pairs": 780}));
    let ranks = |place: usize| board["models"][place]["rank"].clone();
    assert_eq!(ranks(0), json!({"rank": 1, "best": 1, "worst": 20}));
    assert_eq!(ranks(39), json!({"rank": 21, "best": 21, "worst": 40}));
    let mut m3 = m3_bare(folder.path());
    let printed = stdout(m3.arg("leaderboard").args(&files).args(["--resamples", "500"]));
    assert!(printed.contains("58 of 780 pairs"), "{printed}");
    // Up to 32 models all pairs are tested by permutations.
    let mut m3 = m3_bare(folder.path());
    let few = report(m3.arg("leaderboard").args(&files[18..22]).args(["--resamples", "500"]));
    assert_eq!(few["tests"], json!({"method": "permutations", "tested": 6, "pairs": 6}));
}

/// The bound of p-values is weaker than permutations where tasks are few.
#[test]
fn many_models_on_few_tasks_are_not_told_apart_and_the_reason_is_said() {
    let folder = Folder::new();
    let file = |model: usize| {
        small_score(&folder, &format!("m{model:02}.json"), 15, |score| {
            (0..model % 16).for_each(|task| miss(&mut score["trajectories"][task]));
        })
    };
    let files: Vec<_> = (0..33).map(file).collect();
    let note = |files: &[PathBuf]| {
        let mut m3 = m3_bare(folder.path());
        report(m3.arg("leaderboard").args(files).args(["--resamples", "100"]))["notes"].to_string()
    };
    let said =
        "with 15 tasks and 528 pairs of models no difference can be significant by the bound on p-values";
    assert!(note(&files).contains(said), "{}", note(&files));
    assert!(!note(&files[..32]).contains("no difference"), "{}", note(&files[..32]));
}

/// Memory grows with models times resamples. Permutations of all pairs of models would need many gigabytes here.
#[cfg(target_os = "linux")]
#[test]
fn many_models_fit_into_little_memory() {
    let folder = Folder::new();
    let files = (0..1000).map(|model| {
        small_score(&folder, &format!("m{model}.json"), 13, |score| {
            (0..model % 14).for_each(|task| miss(&mut score["trajectories"][task]));
        })
    });
    let mut command = std::process::Command::new("sh");
    // In KiB of addresses.
    command.args(["-c", "ulimit -v 600000; exec \"$0\" leaderboard --format json --resamples 200 \"$@\""]);
    command.arg(assert_cmd::cargo::cargo_bin("m3")).args(files);
    let output = command.env("M3_CACHE_DIR", folder.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let board: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(board["models"].as_array().unwrap().len(), 1000);
}
