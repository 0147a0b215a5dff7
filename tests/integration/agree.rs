//! `m3 agree`: how far suites agree about models and tasks, and which metric predicts success.

use serde_json::{Value, json};

use crate::support::{
    Folder, failure, follows_kept_schema, json_of, m3, m3_bare, report, run, shared, stdout, text,
};

/// A result of two tasks with two trials each: what m3 and a suite say of each trial, in their order.
pub(crate) fn result(folder: &Folder, name: &str, trials: [(f64, f64); 4]) -> std::path::PathBuf {
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

/// The rewards that tau-bench's results have (its published shape) are labels once they are imported.
#[test]
fn what_imported_files_say_of_success_are_labels() {
    let folder = Folder::new();
    let rollout = |id: &str, reward: &str| {
        format!(
            r#"{{"task_id": "{id}", "reward": {reward}, "info": {{}}, "traj": [{{"role": "user", "content": "Q?"}},
            {{"role": "assistant", "tool_calls": [{{"id": "1", "type": "function", "function": {{"name": "a", "arguments": "{{}}"}}}}]}},
            {{"role": "tool", "tool_call_id": "1", "content": "r"}}]}}"#
        )
    };
    let results = [rollout("one", "1.0"), rollout("two", "0.0"), rollout("three", "null")].join(", ");
    let results = folder.write("results.json", format!("[{results}]"));
    let predictions = folder.path().join("predictions.json");
    let imported =
        m3_bare(folder.path()).arg("import").arg(&results).arg("-o").arg(&predictions).output().unwrap();
    assert!(imported.status.success(), "{}", text(&imported.stderr));
    let read = json_of(&predictions);
    let labels: Vec<_> = (0..3).map(|at| read[at]["import"]["label"].clone()).collect();
    let label = |pass: bool, score: f64| json!({"pass": pass, "score": score, "member": "reward"});
    assert_eq!(labels, [label(true, 1.0), label(false, 0.0), Value::Null]);
    let score = result(&folder, "a.json", [(1.0, 1.0), (1.0, 1.0), (1.0, 1.0), (1.0, 0.0)]);
    let mut agree = m3_bare(folder.path());
    agree.arg("agree").arg(&score).arg("--labels").arg(format!("a={}", predictions.display()));
    let success = &report(&mut agree)["success"]["labels"];
    assert_eq!((&success["rows"], &success["broken"]), (&json!(3), &json!(1)));
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
    let errors =
        ["both", "only_view", "only_yardstick", "neither"].map(|cell| found["yardsticks"][2][cell].clone());
    assert_eq!(errors, [4, 1, 0, 0].map(Value::from));
    // A draw of tasks gives the same kappa again, or none where both say the same of all trials.
    let interval = |at: usize| {
        let kappa = &found["yardsticks"][at]["kappa"];
        (kappa["low"].clone(), kappa["high"].clone())
    };
    assert_eq!([2, 3].map(interval), [(json!(0.0), json!(0.0)), (json!(1.0), json!(1.0))]);
    let output = run(&mut agree());
    assert!(
        text(&output.stdout).contains("do they agree with labels about which trials are right?"),
        "{}",
        text(&output.stdout)
    );
    assert!(
        text(&output.stderr).contains("1 label of ids that `b` does not have"),
        "{}",
        text(&output.stderr)
    );
    for (labels, said) in
        [(labels[0].display().to_string(), "says of no model"), (named("a", &files[0]), "has no labels")]
    {
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

/// A result without suites: of each trial its id and the value of the verdict and of all other metrics.
fn plain_result(folder: &Folder, name: &str, trials: &[(&str, f64)]) -> std::path::PathBuf {
    let path = result(folder, name, [(1.0, 1.0); 4]);
    let mut score = json_of(&path);
    score.as_object_mut().unwrap().remove("suites");
    let first = score["trajectories"][0].clone();
    let trajectory = |(id, value): &(&str, f64)| {
        let mut trajectory = first.clone();
        let members = trajectory.as_object_mut().unwrap();
        members.remove("suites");
        members.remove("repeat");
        for metric in members["metrics"].as_object_mut().unwrap().values_mut().filter(|it| it.is_f64()) {
            *metric = json!(value);
        }
        trajectory["metrics"]["verdict"] = json!(value);
        trajectory["id"] = json!(id);
        trajectory
    };
    score["trajectories"] = trials.iter().map(trajectory).collect();
    folder.json(name, &score)
}

/// Two models with three tasks each, and a fourth whose reference has no call.
fn two_models(folder: &Folder) -> [std::path::PathBuf; 2] {
    let files = [
        plain_result(folder, "a.json", &[("one", 0.9), ("two", 0.4), ("three", 0.3), ("none", 0.0)]),
        plain_result(folder, "b.json", &[("one", 0.5), ("two", 0.4), ("three", 0.8), ("none", 0.0)]),
    ];
    for file in &files {
        let mut score = json_of(file);
        score["trajectories"][3]["metrics"]["reference_calls"] = json!(0);
        std::fs::write(file, score.to_string()).unwrap();
    }
    files
}

/// By hand. Model a did all three tasks, b only the third. Of the 4 x 2 pairs 0.9 and 0.8 are above both that failed (0.5 and 0.4),
/// a's 0.4 is tied with one, 0.3 above none: 4.5 of 8. In task one 0.9 is above 0.5, in task two both are tied: 1.5 of 2. Of model
/// a all did the job; b's 0.8 is above both others: 2 of 2. a's mean is below b's and its success above: tau-b is -1. Bins of
/// the verdict: 0.3, 0.4 twice (half did), 0.5 (did not), 0.8, 0.9: the error is (0.7 + 2 x 0.1 + 0.5 + 0.2 + 0.1) / 6.
#[test]
fn areas_are_those_counted_by_hand() {
    let folder = Folder::new();
    let files = two_models(&folder);
    let rows = [
        r#"{"run": "a", "id": "one", "success": true}"#,
        r#"{"run": "a", "id": "two", "pass": 1}"#,
        r#"{"run": "a", "id": "three", "pass": "true"}"#,
        r#"{"run": "a", "id": "none", "pass": false}"#,
        r#"{"run": "a", "id": "four", "pass": true}"#,
        r#"{"run": "b", "id": "one", "success": false}"#,
        r#"{"run": "b", "id": "two", "success": 0}"#,
        r#"{"run": "b", "id": "three", "success": true}"#,
        r#"{"run": "b", "id": "none", "success": true, "infra_error": true}"#,
        r#"{"run": "b", "id": "three\u001b[31m", "success": null}"#,
        r#"{"run": "z\u001b[31m\u202e", "id": "one", "success": true}"#,
        "{",
    ];
    let labels = folder.write("labels.jsonl", rows.join("\n"));
    let picture = folder.path().join("success.svg");
    let agree = || {
        let mut m3 = m3_bare(folder.path());
        m3.arg("agree").args(&files).arg("--labels").arg(&labels);
        m3
    };
    let found = report(agree().arg("--picture").arg(&picture));
    follows_kept_schema("agree", &found);
    let success = &found["success"];
    let counts = ["trials", "succeeded", "models", "without_label", "without_calls"];
    assert_eq!(counts.map(|name| success[name].as_u64().unwrap()), [6, 4, 2, 0, 2]);
    let labels = ["rows", "unclear", "broken", "unknown_runs", "unknown_ids"];
    assert_eq!(labels.map(|name| success["labels"][name].as_u64().unwrap()), [12, 2, 1, 1, 1]);
    let metrics = success["metrics"].as_array().unwrap();
    for name in ["m3.verdict", "m3.average", "m3.recall"] {
        let metric = metrics.iter().find(|metric| metric["name"] == name).unwrap();
        let values = ["area", "within_tasks", "within_models", "tau"];
        let values = values.map(|part| metric[part]["value"].as_f64().unwrap());
        assert_eq!((values, &metric["trials"]), ([0.5625, 0.75, 1.0, -1.0], &json!(6)), "{name}");
    }
    let last = metrics.last().unwrap();
    assert_eq!((&last["area"], &last["trials"]), (&Value::Null, &json!(0)), "nothing is known of it");
    let reliability = &success["reliability"];
    let error = reliability["calibration_error"].as_f64().unwrap();
    assert!((error - 1.7 / 6.0).abs() < 1e-12, "{error}");
    assert_eq!(
        reliability["bins"][4],
        json!({"from": 0.4, "to": 0.5, "trials": 2, "expected": 0.4, "succeeded": 0.5})
    );
    assert_eq!((&reliability["decided"], &reliability["right"]), (&json!(2.0 / 6.0), &json!(1.0)));
    let errors = &found["yardsticks"][0];
    let cells = ["both", "only_view", "only_yardstick", "neither"].map(|name| errors[name].as_u64().unwrap());
    assert_eq!((&errors["view"], cells), (&json!("m3.verdict"), [2, 1, 2, 1]));
    assert_eq!(found["models"][0]["success"], 1.0);
    let picture = text(&std::fs::read(picture).unwrap());
    assert!(
        picture.contains("area under the curve") && picture.contains("Calibration error 0.283"),
        "{picture}"
    );
    let output = run(&mut agree());
    let (table, told) = (text(&output.stdout), text(&output.stderr));
    for part in [
        "2 labels without pass or fail",
        "1 label of runs that broke",
        "1 label of runs without a result: z\\u{1b}[31m",
        "1 label of ids that `a` does not have",
    ] {
        assert!(told.contains(part), "{told}");
    }
    assert!(!told.contains('\u{1b}') && !told.contains('\u{202e}'), "{told:?}");
    assert!(table.contains("6 labelled trials of 2 models, 4 did the job"), "{table}");
    for width in ["80", "140"] {
        let table = stdout(agree().args(["--width", width]));
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.parse().unwrap(), "{table}");
    }
    let csv = stdout(agree().args(["--format", "csv"]));
    assert!(csv.starts_with("table,metric,trials,area under the curve,interval,within tasks,"), "{csv}");
    for form in ["markdown", "html", "latex"] {
        let written = stdout(agree().args(["--format", form]));
        assert!(written.contains("which number predicts success?"), "{written}");
        assert_eq!(written.contains("<img alt=\"Figure: success\""), form == "html");
    }
}

/// Where all did the job, or nobody, there is nothing to tell apart.
#[test]
fn of_one_class_areas_are_unknown() {
    let folder = Folder::new();
    let files = two_models(&folder);
    for (pass, said) in [("1", "all labelled trials did the job"), ("0", "no labelled trial did the job")] {
        let rows = ["a", "b"].map(|run| format!("{run},one,{pass}\n{run},two,{pass}\n"));
        let labels = folder.write("labels.csv", format!("run,id,pass\n{}", rows.concat()));
        let mut m3 = m3_bare(folder.path());
        m3.arg("agree").args(&files).arg("--labels").arg(&labels);
        let table = stdout(&mut m3);
        assert!(table.contains(said), "{table}");
        let found = report(&mut m3);
        follows_kept_schema("agree", &found);
        let verdict = &found["success"]["metrics"][0];
        let parts = ["area", "within_tasks", "within_models", "tau"].map(|part| verdict[part].clone());
        assert_eq!(parts, [const { Value::Null }; 4]);
        assert_eq!(found["success"]["without_label"], 2);
    }
}

#[test]
fn labels_of_no_model_are_refused() {
    let folder = Folder::new();
    let files = two_models(&folder);
    let plain = folder.json("plain.json", &json!([{"id": "one", "pass": true}]));
    let of_runs = folder.json(
        "runs.json",
        &json!([
        {"id": "one", "pass": true, "run": "x"}, {"id": "one", "pass": true, "run": "y\u{1b}"}]),
    );
    let broken = folder.json("broken.json", &json!([{"id": "one", "pass": "perhaps", "run": "a"}]));
    let of_others = folder.json("others.json", &json!([{"id": "another", "pass": true, "run": "a"}]));
    for (labels, said) in [
        (plain.display().to_string(), "or give each label a `run`"),
        (
            of_runs.display().to_string(),
            "has labels of x, y\\u{1b}, and no model is called so\nhint: there are a, b",
        ),
        (format!("a={}", of_runs.display()), "has labels of x, y"),
        (
            format!("c\u{1b}={}", plain.display()),
            "`--labels c\\u{1b}=..`: no model is called so\nhint: there are a, b",
        ),
        (broken.display().to_string(), "`perhaps` is neither pass nor fail"),
        (of_others.display().to_string(), "no id of its labels is that of a task in these results"),
    ] {
        let mut m3 = m3_bare(folder.path());
        let (code, message) = failure(m3.arg("agree").args(&files).arg("--labels").arg(labels));
        assert!(code == 2 && message.contains(said) && !message.contains('\u{1b}'), "{message}");
    }
    let (code, message) = failure(m3_bare(folder.path()).arg("agree").args(&files));
    assert!(code == 2 && message.contains("with labels of success"), "{message}");
}

/// Two models of tau-bench's airline tasks, labelled by the data base. Areas are those of a separate program in Python that counts
/// all pairs of the same scores; within tasks there are 15.
#[test]
fn the_verdict_predicts_success_on_real_data() {
    let Some(data) = shared("validity/tau1-airline") else { return };
    let folder = Folder::new();
    let mut files = Vec::new();
    for model in ["o3-high", "Qwen3-8B"] {
        let Some(mut m3) = m3() else { return };
        let file = folder.path().join(format!("{model}.json"));
        let predictions = data.join(format!("predictions-{model}.json.gz"));
        m3.arg("score").arg(predictions).arg(data.join("references.json"));
        stdout(m3.args(["--format", "json", "--out"]).arg(&file));
        files.push(file);
    }
    let mut agree = m3_bare(folder.path());
    agree.arg("agree").args(&files).arg("--labels").arg(data.join("labels.jsonl"));
    let found = report(agree.args(["--resamples", "1000"]));
    follows_kept_schema("agree", &found);
    assert_eq!(found["success"]["trials"], 83);
    let value = |name: &str, part: &str| {
        let metrics = found["success"]["metrics"].as_array().unwrap();
        metrics.iter().find(|metric| metric["name"] == name).unwrap()[part]["value"].as_f64().unwrap()
    };
    for (name, expected) in [
        ("m3.verdict", [0.946, 0.867, 0.938]),
        ("m3.argument_fidelity_covered", [0.821, 0.800, 0.816]),
        ("m3.average", [0.747, 0.800, 0.732]),
    ] {
        let areas = ["area", "within_tasks", "within_models"].map(|part| value(name, part));
        let is_near = areas.iter().zip(expected).all(|(area, expected)| (area - expected).abs() < 0.02);
        assert!(is_near, "{name}: {areas:?}, and not {expected:?}");
    }
}
