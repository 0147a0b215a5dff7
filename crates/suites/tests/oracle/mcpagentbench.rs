//! MCPAgentBench: made-up cases, and every prediction of 76 real runs.

use std::collections::BTreeMap;

use m3_suites::{ChosenSuite, SuiteResult, Trial, Values};
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use super::{call, items, number, read, text, trajectory};

/// Steps of tools and of their arguments; what has none has none.
fn steps(id: &str, tools: &Json, inputs: &Json) -> Trajectory {
    let none = Json::Array(Vec::new());
    let steps = items(tools).iter().enumerate().map(|(at, tools)| {
        let inputs = items(items(inputs).get(at).unwrap_or(&none));
        let calls = items(tools).iter().enumerate();
        calls.map(|(at, tool)| call(tool.as_str().unwrap(), inputs.get(at).cloned())).collect()
    });
    trajectory(id, steps.collect())
}

fn score(variant: &str, reference: &Trajectory, prediction: &Trajectory) -> Values {
    let mut scorer = variant.parse::<ChosenSuite>().unwrap().open(None);
    scorer.trial(&Trial::new(reference, Some(prediction), 1))
}

#[test]
fn made_up_cases() {
    let Some(oracle) = read("mcpagentbench/oracle/cases.json") else { return };
    let mut wrong = Vec::new();
    for case in items(oracle.get("cases").unwrap()) {
        let (gold, found) = (case.get("gold").unwrap(), case.get("extracted").unwrap());
        let reference = steps("t", gold.get("tools").unwrap(), gold.get("inputs").unwrap());
        let prediction = steps("t", found.get("tools_used").unwrap(), found.get("inputs_used").unwrap());
        let values = score("mcpagentbench:published", &reference, &prediction);
        let published = case.get("published").unwrap();
        for (name, function) in
            [("tefs", "plot_tefs.calculate_tefs_for_task"), ("tfs", "plot_tfs.calculate_tfs_for_task")]
        {
            // Where the program breaks off, the task is not finished.
            let wanted = published.get(function).unwrap();
            let wanted = if wanted.get("raises").is_some() { 0.0 } else { number(wanted) };
            if values.get(name) != Some(wanted) {
                wrong.push(format!(
                    "{} {}: {name} {:?}, not {wanted}",
                    text(case, "id"),
                    text(case, "kind"),
                    values.get(name)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The name of a model in a file's name, as the program reads it: without the maker.
fn model(file: &str) -> String {
    let name = file.split("_general_test").next().unwrap();
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    name.rsplit_once('_').map_or(name, |(_, name)| name).to_owned()
}

fn close(found: Option<f64>, wanted: f64) -> bool {
    found.is_some_and(|found| (found - wanted).abs() < 1e-9)
}

#[test]
fn real_runs() {
    let Some(oracle) = read("mcpagentbench/oracle/real_runs.json.gz") else { return };
    let mut by_model: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    let mut wrong = Vec::new();
    let mut predictions = 0;
    for run in items(oracle.get("runs").unwrap()) {
        let file = text(run, "file");
        let folder = file.split('/').next().unwrap().to_owned();
        by_model.entry((folder, model(&file))).or_default().push(file.clone());
        let mut scorer = "mcpagentbench:published".parse::<ChosenSuite>().unwrap().open(None);
        let results = read(&format!("mcpagentbench/results/{file}.gz")).unwrap();
        let tasks = items(results.get("detailed_results").unwrap());
        for (task, row) in tasks.iter().zip(items(run.get("tasks").unwrap())) {
            predictions += 1;
            let (reference, prediction) = pair(task, None);
            let values = scorer.trial(&Trial::new(&reference, Some(&prediction), 1));
            let row = items(row);
            for (at, name) in [(1, "weight"), (2, "tefs"), (3, "tfs")] {
                if values.get(name) != Some(number(&row[at])) {
                    wrong.push(format!("{file} {}: {name} {:?}", reference.id, values.get(name)));
                }
            }
            let paper = score("mcpagentbench", &reference, &prediction);
            if paper.get("tfs") != values.get("tfs") {
                wrong.push(format!("{file} {}: the variants differ in tfs", reference.id));
            }
        }
        let result = scorer.finish();
        let summary = run.get("evaluation_summary").unwrap();
        for (name, key) in [("tefs", "model_score"), ("tfs", "ignore_parallel_score")] {
            let rounded = (result.aggregate.get(name).unwrap() * 100.0).round() / 100.0;
            if !close(Some(rounded), number(summary.get(key).unwrap())) {
                wrong.push(format!("{file}: {name} {rounded}"));
            }
        }
        for (name, key) in
            [("tasks_efficient", "tasks_passed"), ("tasks_finished", "ignore_parallel_tasks_passed")]
        {
            if result.aggregate.get(name) != Some(number(summary.get(key).unwrap())) {
                wrong.push(format!("{file}: {name} {:?}", result.aggregate.get(name)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!((predictions, by_model.len()), (13_680, 19));
    let oracle = read("mcpagentbench/oracle/avg_at_4.json").unwrap();
    for model in items(oracle.get("models").unwrap()) {
        let key = (text(model, "folder"), text(model, "model"));
        compare_model(model, &scored(&by_model[&key]), &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A task of a result file, as reference and prediction; what its run has cost goes with the prediction.
fn pair(task: &Json, cost: Option<&Json>) -> (Trajectory, Trajectory) {
    let id = text(task, "task_id");
    let reference = steps(&id, task.get("expected_tools").unwrap(), task.get("expected_inputs").unwrap());
    let mut prediction = steps(&id, task.get("tools_used").unwrap(), task.get("inputs_used").unwrap());
    if let Some(summary) = cost {
        let member = |name: &str, key: &str| (name.to_owned(), summary.get(key).unwrap().clone());
        let run =
            vec![member("output_tokens", "total_completion_tokens"), member("seconds", "total_test_time")];
        let import = Json::Object(vec![("run".to_owned(), Json::Object(run))]);
        prediction.extra.push(("import".to_owned(), import));
    }
    (reference, prediction)
}

/// The runs of a model together.
fn scored(files: &[String]) -> SuiteResult {
    let mut scorer = "mcpagentbench:published".parse::<ChosenSuite>().unwrap().open(None);
    for (at, file) in files.iter().enumerate() {
        let results = read(&format!("mcpagentbench/results/{file}.gz")).unwrap();
        let summary = results.get("evaluation_summary");
        for task in items(results.get("detailed_results").unwrap()) {
            let (reference, prediction) = pair(task, summary);
            scorer.trial(&Trial::new(&reference, Some(&prediction), at + 1));
        }
    }
    scorer.finish()
}

fn compare_model(model: &Json, result: &SuiteResult, wrong: &mut Vec<String>) {
    let name = text(model, "model");
    let mut check = |what: &str, found: Option<f64>, wanted: &Json| {
        if !close(found, number(wanted)) {
            wrong.push(format!("{name}: {what} {found:?}, not {}", number(wanted)));
        }
    };
    for key in ["tfs_avg_at_4", "tefs_avg_at_4", "token_efficiency", "time_efficiency"] {
        check(key, result.aggregate.get(key), model.get(key).unwrap());
    }
    for (key, by, value) in [
        ("tfs_share_by_class", "class", "tfs_share"),
        ("tefs_share_by_class", "class", "tefs_share"),
        ("tfs_by_category", "category", "tfs"),
        ("tefs_by_category", "category", "tefs"),
    ] {
        let Some(Json::Object(members)) = model.get(key) else { panic!("{key}") };
        for (name, wanted) in members {
            let group = result.groups.iter().find(|group| group.by == by && group.name == *name);
            check(&format!("{key} {name}"), group.and_then(|group| group.values.get(value)), wanted);
        }
    }
}
