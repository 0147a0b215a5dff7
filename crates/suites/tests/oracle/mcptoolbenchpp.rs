//! MCPToolBench++: made-up predictions of real tasks, replies of its judge, and pass@k of whole runs. `pass_at_k.json` is
//! read by the test of the estimate itself.

use m3_suites::{ChosenSuite, SuiteResult, Trial, Values};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Json;
use m3_trajectory::{Call, Trajectory, WholeFile};

use super::{call, items, number, read, text, trajectory};

/// The tools of all records, by their servers.
fn catalog() -> Catalog {
    let mut servers: Vec<(String, Vec<Json>)> = Vec::new();
    for file in [
        "browser/browser_0724_single_v3.json.gz",
        "file_system/filesystem_0723_single.json.gz",
        "search/search_0725_single_v2.json.gz",
        "finance/finance_0724_single_v3.json.gz",
        "map/map_single_demo.repaired.json",
        "pay/pay_single_demo.json",
    ] {
        let records = read(&format!("mcptoolbenchpp/data/{file}")).unwrap();
        let record = &items(&records)[0];
        let Some(Json::Object(names)) = record.get("mcp_tools_dict") else { panic!("{file}: no servers") };
        for (server, names) in names {
            let tools = items(record.get("tools").unwrap()).iter();
            let tools = tools.filter(|tool| items(names).contains(tool.get("name").unwrap())).cloned();
            servers.push((server.clone(), tools.collect()));
        }
    }
    let tools = |tools: Vec<Json>| Json::Object(vec![("tools".to_owned(), Json::Array(tools))]);
    let value = Json::Object(servers.into_iter().map(|(server, list)| (server, tools(list))).collect());
    let file = WholeFile { name: "tools".to_owned(), digest: String::new(), value, oddities: Vec::new() };
    Catalog::from_file(file).unwrap()
}

/// A call with members that suites read.
fn with(mut call: Call, members: &[(&str, Option<&Json>)]) -> Call {
    let known = members.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value)?.clone())));
    call.extra.extend(known);
    call
}

/// A label as a reference: a step for each number of a step.
fn reference(label: &Json) -> Trajectory {
    let mut steps: Vec<(String, Vec<Call>)> = Vec::new();
    for item in items(label) {
        let tool = format!("{}/{}", text(item, "mcp_server"), text(item, "name"));
        let members = ["id", "similar_tools"].map(|key| (key, item.get(key)));
        let call = with(call(&tool, item.get("input").cloned()), &members);
        let number = text(item, "step");
        match steps.last_mut().filter(|(last, _)| *last == number) {
            Some((_, calls)) => calls.push(call),
            None => steps.push((number, vec![call])),
        }
    }
    trajectory("t", steps.into_iter().map(|(_, calls)| calls).collect())
}

/// A predicted call, whose tool has no server.
fn predicted(item: &Json) -> Call {
    let tool = item.get("name").and_then(Json::as_str).unwrap_or_default();
    let mut call = call(tool, item.get("input").cloned());
    call.result = item.get("output").cloned();
    with(call, &[("id", item.get("id")), ("status_code", item.get("status_code"))])
}

/// A trial whose arguments a judge found right, scored alone.
fn score(
    variant: &str,
    catalog: Option<&Catalog>,
    reference: &Trajectory,
    calls: Vec<Call>,
) -> (Values, SuiteResult) {
    let mut scorer = variant.parse::<ChosenSuite>().unwrap().open(catalog);
    let mut prediction = trajectory("t", calls.into_iter().map(|call| vec![call]).collect());
    prediction.extra.push(("parameter_correctness".to_owned(), Json::Integer(1)));
    let values = scorer.trial(&Trial::new(reference, Some(&prediction), 1));
    (values, scorer.finish())
}

const PUBLISHED: &str = "mcptoolbenchpp:published";

/// What cannot agree: here the program breaks off, and m3 says that the check failed. The function is the program's.
const BREAKS_OFF: [(&str, &str); 4] = [
    ("no_label", "calculate_metrics.check_correctness"),
    ("output:data_list_of_number", "check_correctness"),
    ("output:data_list_of_number", "calculate_metrics.check_correctness"),
    ("output:data_list_of_number", "base_error_analysis_per_prediction"),
];

#[test]
fn made_up_predictions() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/calls.json") else { return };
    let (mut wrong, mut broken) = (Vec::new(), Vec::new());
    let cases = items(oracle.get("cases").unwrap());
    for case in cases {
        let (id, kind) = (text(case, "id"), text(case, "kind"));
        let gold = reference(case.get("label").unwrap());
        let calls: Vec<Call> = items(case.get("prediction").unwrap()).iter().map(predicted).collect();
        let (values, _) = score(PUBLISHED, None, &gold, calls.clone());
        let has_tool = values.get("tool_pass_at_1") == Some(1.0);
        let is_similar = values.get("similar") == Some(1.0);
        let has_output = has_output(&gold, &calls);
        let mut check = |function: &str, found: &[bool], wanted: &[bool]| {
            if found != wanted {
                wrong.push(format!("{id} {kind}: {function} {found:?}, not {wanted:?}"));
            }
        };
        let published = case.get("published").unwrap();
        for (function, found) in [
            ("check_correctness", [has_tool, has_output]),
            // The script knows no similar tools.
            ("calculate_metrics.check_correctness", [has_tool && !is_similar, has_output]),
        ] {
            let wanted = published.get(function).unwrap();
            if wanted.get("raises").is_some() {
                broken.push((kind.clone(), function));
                check(function, &found[1..], &[false]);
                continue;
            }
            let is_true = |key: &str| wanted.get(key) == Some(&Json::Bool(true));
            check(function, &found, &[is_true("tool_consistency"), is_true("output_consistency")]);
        }
        let wanted = published.get("base_error_analysis_per_prediction").unwrap();
        let actual: Vec<(bool, String)> = calls.iter().map(|call| label(&gold, call)).collect();
        if wanted.get("raises").is_some() {
            broken.push((kind.clone(), "base_error_analysis_per_prediction"));
            assert!(
                actual.iter().any(|(_, message)| message == "the program breaks off"),
                "{id} {kind}: {actual:?}"
            );
            continue;
        }
        let labels = items(wanted.get("result_success_label_list").unwrap()).iter();
        let messages = items(wanted.get("result_list").unwrap()).iter();
        let wanted: Vec<(bool, String)> = labels
            .zip(messages)
            .map(|(label, message)| {
                (*label == Json::Integer(1), in_our_words(message.as_str().unwrap()).to_owned())
            })
            .collect();
        if actual != wanted {
            wrong.push(format!("{id} {kind}: {actual:?}, not {wanted:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    if cases.len() == 113 {
        assert_eq!(broken, BREAKS_OFF.map(|(kind, function)| (kind.to_owned(), function)));
    }
}

/// The check of the output alone: that of a pass whose tool and arguments are right.
fn has_output(gold: &Trajectory, calls: &[Call]) -> bool {
    let mut gold = gold.clone();
    let last_gold = gold.steps.last_mut().and_then(|step| step.calls.last_mut());
    if let Some((gold, found)) = last_gold.zip(calls.last()) {
        gold.tool.clone_from(&found.tool);
    }
    score(PUBLISHED, None, &gold, calls.to_vec()).0.get("pass_at_1") == Some(1.0)
}

/// Whether a call counts as a success, and the message that is kept.
fn label(gold: &Trajectory, call: &Call) -> (bool, String) {
    let (values, result) = score(PUBLISHED, None, gold, vec![call.clone()]);
    let message = result.groups.iter().find(|group| group.by == "message").map(|group| group.name.clone());
    (values.get("success_rate") == Some(1.0), message.unwrap_or_else(|| "success".to_owned()))
}

/// The program's fixed messages, by how they begin.
fn in_our_words(message: &str) -> &str {
    match message {
        text if text.starts_with("SUCCESS|") => "success",
        text if text.starts_with("HTTP Request") => "request failed",
        text if text.starts_with("EMPTY RESULT|") => "empty result",
        text if text.starts_with("Empty Error") => "no message",
        text => text,
    }
}

/// The paper's AST accuracy beside BFCL's checker, which does not know similar tools.
#[test]
fn ast_is_by_the_rules_of_bfcl() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/calls.json") else { return };
    let catalog = catalog();
    let (mut wrong, mut similar) = (Vec::new(), 0);
    for case in items(oracle.get("cases").unwrap()) {
        let Some(Json::Bool(wanted)) = case.get("bfcl").and_then(|bfcl| bfcl.get("valid")) else { continue };
        let calls = items(case.get("prediction").unwrap()).iter().map(predicted).collect();
        let gold = reference(case.get("label").unwrap());
        let (values, _) = score("mcptoolbenchpp", Some(&catalog), &gold, calls);
        let is_right = values.get("ast") == Some(1.0);
        let by_similar = values.get("similar").is_some_and(|count| count > 0.0);
        if is_right && by_similar {
            similar += 1;
        } else if is_right != *wanted {
            wrong.push(format!("{} {}: {is_right}", text(case, "id"), text(case, "kind")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(similar > 0, "a similar tool is accepted");
}

/// How far the variants are apart: what docs/suites/mcptoolbenchpp.md says.
#[test]
fn variants_differ() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/calls.json") else { return };
    let (catalog, cases) = (catalog(), items(oracle.get("cases").unwrap()));
    let (mut counts, mut successes) = ([[0; 4]; 2], [Vec::new(), Vec::new()]);
    for case in cases {
        let outcomes = [("mcptoolbenchpp", Some(&catalog)), (PUBLISHED, None)].map(|(variant, catalog)| {
            let calls = items(case.get("prediction").unwrap()).iter().map(predicted).collect();
            let (values, _) = score(variant, catalog, &reference(case.get("label").unwrap()), calls);
            ["ast", "ast_dag", "pass_at_1", "success_rate"].map(|name| values.get(name) == Some(1.0))
        });
        for (counts, outcomes) in counts.iter_mut().zip(outcomes) {
            counts.iter_mut().zip(outcomes).for_each(|(count, is_right)| *count += usize::from(is_right));
        }
        let [[.., paper], [.., published]] = outcomes;
        if paper != published {
            successes[usize::from(published)].push(text(case, "kind"));
        }
    }
    if cases.len() == 113 {
        assert_eq!(counts, [[55, 55, 40, 96], [95, 95, 81, 96]]);
        assert_eq!(
            successes[0],
            ["output:status_201", "output:data_list_of_number", "output:result_is_json_text"]
        );
        assert_eq!(successes[1], ["output:success_text_false", "output:data_text_space", "output:data_null"]);
    }
}

/// All published references that are to be had, as predictions of themselves.
#[test]
fn references_are_right() {
    let Some(records) = read("mcptoolbenchpp/data/browser/browser_0724_single_v3.json.gz") else { return };
    let catalog = catalog();
    let mut count = 0;
    let files = [
        "file_system/filesystem_0723_single",
        "search/search_0725_single_v2",
        "finance/finance_0724_single_v3",
    ];
    let others = files.map(|file| read(&format!("mcptoolbenchpp/data/{file}.json.gz")).unwrap());
    for record in std::iter::once(&records).chain(&others).flat_map(items) {
        let gold = reference(record.get("function_call_label").unwrap());
        let calls: Vec<Call> = gold.calls().map(|(_, call)| call.clone()).collect();
        let (values, _) = score("mcptoolbenchpp", Some(&catalog), &gold, calls);
        assert_eq!(
            (values.get("ast"), values.get("ast_dag")),
            (Some(1.0), Some(1.0)),
            "{}",
            text(record, "uuid")
        );
        count += 1;
    }
    assert_eq!(count, 699);
}

#[test]
fn replies_of_the_judge() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/judge_replies.json") else { return };
    for case in items(oracle.get("cases").unwrap()) {
        // The program takes two equal lists for right without asking; its check of the tool then fails, and so does m3's
        // pass, which is the only place where a verdict is seen.
        if case.get("note").and_then(Json::as_str).is_some_and(|note| note.starts_with("both lists empty")) {
            let (values, _) = score(PUBLISHED, None, &trajectory("t", Vec::new()), Vec::new());
            assert_eq!(values.get("parameter_pass_at_1"), Some(0.0));
            continue;
        }
        let gold = trajectory("t", vec![vec![call("a", None)]]);
        let mut prediction = gold.clone();
        prediction.extra.push(("judge_reply".to_owned(), case.get("reply").unwrap().clone()));
        let mut scorer = PUBLISHED.parse::<ChosenSuite>().unwrap().open(None);
        let values = scorer.trial(&Trial::new(&gold, Some(&prediction), 1));
        let wanted = case.get("published").unwrap().get("counted_as_parameter_correct");
        let verdict = Json::Bool(values.get("parameter_pass_at_1") == Some(1.0));
        assert_eq!(Some(&verdict), wanted, "{case:?}");
    }
}

#[test]
fn pass_at_k_of_runs() {
    let Some(oracle) = read("mcptoolbenchpp/oracle/aggregation.json") else { return };
    for case in items(oracle.get("cases").unwrap()) {
        let name = text(case, "name");
        let result = run(items(case.get("run_details").unwrap()));
        let published = case.get("published").unwrap();
        for row in items(published.get("run_benchmark").unwrap()) {
            compare_row(&name, row, &result.aggregate);
        }
        let script = result.groups.iter().find(|group| group.by == "calculate_metrics");
        match published.get("calculate_metrics_from_log").unwrap() {
            Json::Null => assert!(script.is_none(), "{name}"),
            rows => items(rows).iter().for_each(|row| compare_row(&name, row, &script.unwrap().values)),
        }
    }
}

/// A run of the program as m3 has it: trials with a tool that is right or not, a result that is good or not, and a
/// judge's verdict.
fn run(details: &[Json]) -> SuiteResult {
    let mut scorer = PUBLISHED.parse::<ChosenSuite>().unwrap().open(None);
    for task in details {
        let id = number(task.get("idx").unwrap()).to_string();
        let gold = trajectory(&id, vec![vec![call("right", None)]]);
        let trials = items(task.get("trials").unwrap());
        if trials.is_empty() {
            scorer.trial(&Trial::new(&gold, None, 1));
        }
        for (at, trial) in trials.iter().enumerate() {
            let is_true = |key: &str| trial.get(key) == Some(&Json::Bool(true));
            let mut made = call(if is_true("tool_correctness") { "right" } else { "wrong" }, None);
            let reply = |success: bool| {
                let data = Json::String("x".to_owned());
                Json::Object(vec![("success".to_owned(), Json::Bool(success)), ("data".to_owned(), data)])
            };
            made.result = Some(reply(is_true("if_pass")));
            let made = with(made, &[("status_code", Some(&Json::Integer(200)))]);
            let mut prediction = trajectory(&id, vec![vec![made]]);
            let verdict = Json::Bool(is_true("parameter_correctness"));
            prediction.extra.push(("parameter_correctness".to_owned(), verdict));
            scorer.trial(&Trial::new(&gold, Some(&prediction), at + 1));
        }
    }
    scorer.finish()
}

fn compare_row(name: &str, row: &Json, found: &Values) {
    let Json::Object(members) = row else { panic!("{name}: {row:?}") };
    for (key, wanted) in members {
        let ours = match key.as_str() {
            "category" | "model" | "num_tasks" => continue,
            "num_trials_total" => "trials".to_owned(),
            "num_passed_total" => "trials_pass".to_owned(),
            "num_tool_correct_total" => "trials_tool_pass".to_owned(),
            "num_parameter_correct_total" => "trials_parameter_pass".to_owned(),
            rate => rate.replace('@', "_at_"),
        };
        let value = found.get(&ours);
        assert!(
            value.is_some_and(|value| (value - number(wanted)).abs() < 1e-12),
            "{name}: {ours} {value:?}, not {wanted:?}"
        );
    }
    let tasks = found.get("tasks_at_1");
    assert_eq!(tasks, row.get("num_tasks").map(number), "{name}");
}
