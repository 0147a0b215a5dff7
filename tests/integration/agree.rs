//! `m3 agree`: how far suites agree about models and tasks.

use serde_json::{Value, json};

use crate::support::{Folder, failure, follows_kept_schema, json_of, m3_bare, report, run, stdout, text};

/// A result of two tasks with two trials each: what m3 and a suite say of each trial, in their order.
fn result(folder: &Folder, name: &str, trials: [(f64, f64); 4]) -> std::path::PathBuf {
    let metrics = |recall: f64| {
        json!({"reference_calls": 1, "predicted_calls": 1, "recall": recall, "precision": recall,
            "argument_similarity": recall, "argument_fidelity": recall, "step_coherence": recall, "merge_purity": recall,
            "order_consistency": recall, "average": recall, "average_steps": 1})
    };
    let trajectory = |(at, (own, other)): (usize, (f64, f64))| {
        let id = if at < 2 { "one" } else { "two" };
        json!({"id": id, "repeat": at % 2 + 1, "type": null, "metrics": metrics(own), "matches": [],
            "unmatched_references": [], "suites": {"mcpagentbench": {"tfs": 2.0 * other, "weight": 2.0}}})
    };
    let suite = json!({"title": "MCPAgentBench", "variant": "paper", "aggregate": {}, "groups": [], "notes": [],
        "metrics": [{"name": "tfs", "unit": "percent", "meaning": "."}, {"name": "weight", "unit": "count", "meaning": "."}]});
    let encoder = json!({"name": "e", "fingerprint": "sha256:1", "dimensions": 1, "max_tokens": 1});
    let trajectories: Vec<Value> = trials.into_iter().enumerate().map(trajectory).collect();
    folder.json(
        name,
        &json!({"schema": "m3.score/1", "profile": "paper", "encoder": encoder, "thresholds": {"weak": 0.6, "strong": 0.8},
            "suites": {"mcpagentbench": suite}, "trajectories": trajectories}),
    )
}

/// By hand. Averages: a 1 and 0.75, b 0.5 and 0.5, c 0.25 and 0.75: of the three pairs of models a and b agree, a and c are
/// tied by the suite, b and c disagree, so tau-b is (1 - 1) / sqrt(3 x 2) = 0. Of 12 trials both are right in 6, only m3 in 1,
/// only the suite in 2, so they agree in 9 of 12.
#[test]
fn order_and_verdicts_are_those_counted_by_hand() {
    let folder = Folder::new();
    let files = [
        result(&folder, "a.json", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)]),
        result(&folder, "b.json", [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)]),
        result(&folder, "c.json", [(1.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 0.0)]),
    ];
    let picture = folder.path().join("agree.svg");
    let agree = || {
        let mut m3 = m3_bare(folder.path());
        m3.arg("agree").args(&files);
        m3
    };
    let found = report(agree().arg("--picture").arg(&picture));
    follows_kept_schema("agree", &found);
    let scores = |model: usize| found["models"][model]["scores"].clone();
    assert_eq!(scores(0), json!({"m3.average": 1.0, "mcpagentbench.tfs": 0.75}));
    assert_eq!(found["models"][2]["ranks"], json!({"m3.average": 3.0, "mcpagentbench.tfs": 1.5}));
    assert_eq!(found["correlations"][0]["tau"]["value"], 0.0);
    let verdicts = &found["verdicts"][0];
    let counts =
        ["both", "only_first", "only_second", "neither"].map(|name| verdicts[name].as_u64().unwrap());
    assert_eq!((counts, &verdicts["agreement"]), ([6, 1, 2, 3], &json!(0.75)));
    assert_eq!(found["by_task"][0]["id"], "two");
    assert!(text(&std::fs::read(picture).unwrap()).starts_with("<svg"));
    let table = stdout(&mut agree());
    assert!(table.contains("do they agree about the order of the models?"), "{table}");
}

/// By hand. People see model a: task one is right in both trials, task two in the first only; of model b they see one trial
/// of task one, and find it right. m3 calls all of a right, and b's first of task one. So m3 agrees in 4 of 5 trials; its
/// kappa is 0, since it always says right: observed 1/5, expected 5 x 1 / 25. The suite, which calls a's last trial wrong,
/// agrees in all 5. Graders pass all that m3 calls right, which is all of a.
#[test]
fn people_and_graders_are_yardsticks() {
    let folder = Folder::new();
    let files = [
        result(&folder, "a.json", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)]),
        result(&folder, "b.json", [(1.0, 1.0), (0.0, 0.0), (0.0, 0.0), (0.0, 0.0)]),
    ];
    let labels = [
        folder.json("first.json", &json!([{"id": "one", "pass": true}, {"id": "two", "score": 0.9}])),
        folder.write("second.csv", "id,pass\none,1\ntwo,0\n"),
        folder.json("b-labels.json", &json!([{"id": "one", "pass": true}, {"id": "three", "pass": true}])),
    ];
    let mut graded = json_of(&files[0]);
    for trajectory in graded["trajectories"].as_array_mut().unwrap() {
        trajectory["grades"] = json!({"task_completion": 0.5});
    }
    folder.json("a.json", &graded);
    let named = |name: &str, path: &std::path::Path| format!("{name}={}", path.display());
    let agree = || {
        let mut m3 = m3_bare(folder.path());
        m3.arg("agree").args(&files);
        for (name, path) in ["a", "a", "b"].iter().zip(&labels) {
            m3.arg("--labels").arg(named(name, path));
        }
        m3
    };
    let found = report(&mut agree());
    follows_kept_schema("agree", &found);
    let row = |at: usize| {
        let row = &found["yardsticks"][at];
        (
            row["yardstick"].clone(),
            row["view"].clone(),
            row["trials"].clone(),
            row["agreement"].clone(),
            row["kappa"]["value"].clone(),
        )
    };
    assert_eq!(row(0), (json!("graders"), json!("m3.average"), json!(4), json!(1.0), json!(null)));
    assert_eq!(row(1), (json!("graders"), json!("mcpagentbench.tfs"), json!(4), json!(0.75), json!(0.0)));
    assert_eq!(row(2), (json!("people"), json!("m3.average"), json!(5), json!(0.8), json!(0.0)));
    assert_eq!(row(3), (json!("people"), json!("mcpagentbench.tfs"), json!(5), json!(1.0), json!(1.0)));
    // A draw of tasks gives the same kappa again, or none where both say the same of all trials.
    let interval = |at: usize| {
        let kappa = &found["yardsticks"][at]["kappa"];
        (kappa["low"].clone(), kappa["high"].clone())
    };
    assert_eq!([2, 3].map(interval), [(json!(0.0), json!(0.0)), (json!(1.0), json!(1.0))]);
    let output = run(&mut agree());
    assert!(text(&output.stdout).contains("do they agree with people?"), "{}", text(&output.stdout));
    assert!(
        text(&output.stderr).contains("1 label of ids that `b` does not have"),
        "{}",
        text(&output.stderr)
    );
    for (labels, said) in [
        (labels[0].display().to_string(), "says of no model"),
        (named("c", &labels[0]), "no model is called so\nhint: there are a, b"),
        (named("a", &files[0]), "has no labels"),
    ] {
        let mut m3 = m3_bare(folder.path());
        let (code, message) = failure(m3.arg("agree").args(&files).arg("--labels").arg(labels));
        assert!(code == 2 && message.contains(said), "{message}");
    }
}

/// A suite that says nothing of a model has no score and no place for it, never 0.
#[test]
fn where_nothing_is_known_there_is_no_place() {
    let folder = Folder::new();
    let files = ["a.json", "b.json", "c.json"].map(|name| result(&folder, name, [(1.0, 1.0); 4]));
    let mut silent = json_of(&files[1]);
    for trajectory in silent["trajectories"].as_array_mut().unwrap() {
        trajectory["suites"]["mcpagentbench"] = json!({"tfs": 0.0, "weight": 0.0});
    }
    silent["trajectories"].as_array_mut().unwrap().truncate(2);
    folder.json("b.json", &silent);
    let found = report(m3_bare(folder.path()).arg("agree").args(&files));
    follows_kept_schema("agree", &found);
    let b = found["models"].as_array().unwrap().iter().find(|row| row["model"] == "b").unwrap();
    assert_eq!(b["scores"]["mcpagentbench.tfs"], Value::Null);
    assert_eq!(b["ranks"]["mcpagentbench.tfs"], Value::Null);
    assert_eq!((&found["tasks"], &found["left_out"]), (&json!(1), &json!(1)));
    // Four trials of m3's without a verdict of the suite, which has those of the other two.
    let verdicts = &found["verdicts"][0];
    assert_eq!(verdicts["both"], 4);
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Folder::new();
    let file = result(&folder, "a.json", [(1.0, 1.0); 4]);
    let list = folder.json("list.json", &json!([]));
    let mut other = json_of(&file);
    other["similarity"] = json!("typed");
    let typed = folder.json("typed.json", &other);
    for (files, options, said) in [
        (vec![&file], vec!["--metric", "bfcl.ast"], "no metric `bfcl.ast`"),
        (vec![&file], vec!["--metric", "mcpagentbench.weight"], "is a count, and no share"),
        (
            vec![&file, &typed],
            vec![],
            "paper, cosine, references unknown, and paper, typed, references unknown",
        ),
        (vec![&file], vec!["--metric", "ast"], "SUITE.METRIC"),
        (vec![&file], vec!["--picture", "agree.gif"], ".svg or .png"),
        (vec![&list], vec![], "is no result"),
    ] {
        let (code, message) = failure(m3_bare(folder.path()).arg("agree").args(files).args(options));
        assert!(code == 2 && message.contains(said), "{message}");
    }
    let output = run(m3_bare(folder.path()).arg("agree").arg(&file));
    assert!(text(&output.stderr).contains("fewer than three models"), "{}", text(&output.stderr));
}
