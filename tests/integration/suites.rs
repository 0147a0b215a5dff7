//! `--suite`: other benchmarks' scores of the same trajectories, and their data as ours.

use serde_json::{Value, json};

use crate::support::{
    Folder, failure, follows_kept_schema, m3, no_encoder, report, run, shared, stdout, text,
};

/// A result file of MCPAgentBench: two tasks, of which the first was done in other steps.
fn results() -> Value {
    let task = |id: &str, expected: Value, used: Value| {
        let tools = |steps: &Value| {
            steps
                .as_array()
                .unwrap()
                .iter()
                .map(|step| step.as_array().unwrap().iter().map(|call| call[0].clone()).collect())
                .collect::<Vec<Value>>()
        };
        let inputs = |steps: &Value| {
            steps
                .as_array()
                .unwrap()
                .iter()
                .map(|step| step.as_array().unwrap().iter().map(|call| call[1].clone()).collect())
                .collect::<Vec<Value>>()
        };
        json!({
            "task_id": id, "task_content": "Which way?",
            "expected_tools": tools(&expected), "expected_inputs": inputs(&expected),
            "tools_used": tools(&used), "inputs_used": inputs(&used), "score": 0
        })
    };
    let (one, two) = (json!(["map", {"to": "Rome"}]), json!(["weather", {"at": "5"}]));
    json!({
        "evaluation_summary": {"total_completion_tokens": 3000, "total_test_time": 30.0},
        "detailed_results": [
            task("daytask_2_parallel_tools_1", json!([[one, two]]), json!([[one], [["weather", {"at": 5}]]])),
            task("protask_1_tool_1", json!([[one]]), json!([[one]])),
        ]
    })
}

/// The folder with predictions and references of [`results`].
fn imported() -> Folder {
    let folder = Folder::new();
    let file = folder.json("run.json", &results());
    let at = |name: &str| folder.path().join(name);
    let mut import = no_encoder(&folder);
    import.arg("import").arg(&file).arg("-o").arg(at("predictions.json"));
    import.arg("--references").arg(at("references.json")).arg("--tasks").arg(at("tasks.json"));
    let output = run(&mut import);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for said in ["wrote 2 trajectories", "wrote 2 references", "wrote 2 tasks"] {
        assert!(text(&output.stderr).contains(said), "{said}: {}", text(&output.stderr));
    }
    folder
}

#[test]
fn values_are_in_every_form() {
    let folder = imported();
    let files = ["predictions.json", "references.json"].map(|name| folder.path().join(name));
    let score = |options: &[&str]| {
        let mut m3 = m3()?;
        m3.arg("score").args(&files).args(["--suite", "m3", "--suite", "mcpagentbench"]).args(options);
        Some(m3)
    };
    let Some(mut m3) = score(&["--suite", "mcpagentbench:published"]) else { return };
    let found = report(&mut m3);
    follows_kept_schema("score", &found);
    let suite = &found["suites"]["mcpagentbench"];
    // Both tasks are finished, 3 calls; the second is also in its steps, 1 call, with 3,000 tokens in half a minute.
    let of = |name: &str| suite["aggregate"][name].as_f64().unwrap();
    assert_eq!(
        (of("tfs"), of("weight"), of("token_efficiency"), of("time_efficiency")),
        (100.0, 3.0, 1.0 / 3.0, 2.0)
    );
    assert!((of("tefs") - 100.0 / 3.0).abs() < 1e-12);
    assert_eq!(suite["variant"], "paper");
    assert_eq!(found["suites"]["mcpagentbench:published"]["variant"], "published");
    assert_eq!(found["suites"]["m3"]["aggregate"]["recall"], found["aggregate"]["recall"]);
    assert_eq!(
        found["trajectories"][0]["suites"]["mcpagentbench"],
        json!({"tfs": 2.0, "tefs": 0.0, "weight": 2.0})
    );
    let form = |name: &str| stdout(&mut score(&["--format", name]).unwrap());
    assert!(form("table").contains("MCPAgentBench (mcpagentbench)"));
    assert!(form("markdown").contains("| tefs | 33.33 |"));
    let csv = form("csv");
    let columns: Vec<&str> = csv.lines().next().unwrap().split(',').collect();
    let place = columns.iter().position(|name| *name == "mcpagentbench.tefs").unwrap();
    let cells = csv.lines().skip(1).map(|line| line.split(',').nth(place).unwrap());
    assert_eq!(cells.collect::<Vec<_>>(), ["0", "1", "", "", "33.333333333333336"]);
}

#[test]
fn several_runs_have_an_average_and_a_missing_task_counts_as_the_variant_says() {
    let folder = imported();
    let at = |name: &str| folder.path().join(name);
    let mut second: Value =
        serde_json::from_str(&std::fs::read_to_string(at("predictions.json")).unwrap()).unwrap();
    second.as_array_mut().unwrap().remove(0);
    folder.json("second.json", &second);
    let Some(mut m3) = m3() else { return };
    m3.arg("score")
        .args([at("predictions.json"), at("references.json")])
        .arg("--repeat")
        .arg(at("second.json"));
    let found = report(m3.args(["--suite", "mcpagentbench", "--suite", "mcpagentbench:published"]));
    let of = |suite: &str| found["suites"][suite]["aggregate"]["tfs_avg_at_2"].as_f64().unwrap();
    // The first task, 2 of 3 calls, was finished in one of two runs, and is not in the other.
    assert!((of("mcpagentbench") - 200.0 / 3.0).abs() < 1e-12);
    assert!((of("mcpagentbench:published") - 100.0).abs() < 1e-12);
    let notes = &found["suites"]["mcpagentbench"]["notes"];
    assert_eq!(notes, &json!(["without a prediction, not finished: 1"]));
}

#[test]
fn tasks_are_grouped_by_the_shape_of_their_reference() {
    let folder = imported();
    let Some(mut m3) = m3() else { return };
    m3.arg("score").args(["predictions.json", "references.json"].map(|name| folder.path().join(name)));
    let found = report(m3.args(["--by", "class"]));
    let classes: Vec<&String> = found["by_type"].as_object().unwrap().keys().collect();
    assert_eq!(classes, ["dual_parallel", "single"]);
}

/// Every suite in both variants.
const ALL: [&str; 8] = [
    "mcpagentbench",
    "mcpagentbench:published",
    "mcptoolbenchpp",
    "mcptoolbenchpp:published",
    "mcp-bench",
    "mcp-bench:published",
    "mcp-agentbench",
    "bfcl",
];

/// Gold without calls, without a schema, without arguments, with arguments that are none; predictions with nothing, with
/// members of wrong kinds, with results without a status. The published programs break off at most of these.
#[test]
fn bad_input_has_a_defined_value_in_every_suite() {
    let folder = Folder::new();
    let with = |arguments: Value| json!([{"step": 1, "calls": [{"name": "s/t", "arguments": arguments, "result": {"data": [null]}}]}]);
    let steps = [
        json!([]),
        json!([{"step": 1, "calls": []}]),
        json!([{"step": 1, "calls": [{"name": "s/t"}]}]),
        with(json!(null)),
        with(json!([1, 2])),
        with(json!("not { json")),
        with(json!(1e300)),
        with(json!({"x": {"y": [{"z": null}]}, "": "", "<1_result>": "<1_result>"})),
    ];
    let odd = json!({"tools": 5, "servers": "none", "judge_replies": [[], null, {"grounding": "7"}], "votes": {"a": 1}, "functions": [null],
        "usage": {"output_tokens": -1}, "milliseconds": "soon", "language": 7, "grades": [], "planning_json_compliance": "all"});
    let trajectory = |id: usize, steps: &Value, is_odd: bool| {
        let mut whole = json!({"id": id.to_string(), "steps": steps});
        if is_odd {
            whole.as_object_mut().unwrap().extend(odd.as_object().unwrap().clone());
        }
        whole
    };
    let pairs = || (0..steps.len()).flat_map(|a| (0..steps.len()).map(move |b| (a, b)));
    let references: Value =
        pairs().enumerate().map(|(id, (a, _))| trajectory(id, &steps[a], id % 2 == 0)).collect();
    let predictions: Value =
        pairs().enumerate().map(|(id, (_, b))| trajectory(id, &steps[b], id % 3 == 0)).collect();
    let tools = json!({"s": {"tools": [{"name": "t", "inputSchema": {"type": 5, "properties": [], "required": "x"}}]}});
    let files = [folder.json("predictions.json", &predictions), folder.json("references.json", &references)];
    let tools = folder.json("tools.json", &tools);
    for further in [&[][..], &["--tools", tools.to_str().unwrap()]] {
        let Some(mut m3) = m3() else { return };
        m3.arg("score").args(&files).args(ALL.iter().flat_map(|suite| ["--suite", suite])).args(further);
        let found = report(&mut m3);
        follows_kept_schema("score", &found);
        for suite in ALL {
            let units = found["suites"][suite]["metrics"].as_array().unwrap();
            for unit in units {
                let (name, most) =
                    (unit["name"].as_str().unwrap(), if unit["unit"] == "percent" { 100.0 } else { 1.0 });
                let value = found["suites"][suite]["aggregate"][name].as_f64();
                let is_bounded = matches!(unit["unit"].as_str(), Some("percent" | "share"));
                assert!(
                    !is_bounded || value.is_none_or(|value| (0.0..=most).contains(&value)),
                    "{suite} {name}: {value:?}"
                );
            }
        }
        // Nothing is called, and nothing is asked for: right for those that compare calls, without weight for TFS.
        let first = &found["trajectories"][0]["suites"];
        assert_eq!((&first["bfcl"]["ast"], &first["mcpagentbench"]["weight"]), (&json!(1.0), &json!(0.0)));
        // Nobody names a server, so there is no group of them.
        assert!(
            found["suites"]["mcp-bench"]["groups"]
                .as_array()
                .unwrap()
                .iter()
                .all(|group| group["name"] != "0")
        );
    }
}

#[test]
fn files_of_another_format_than_said_are_refused() {
    let folder = Folder::new();
    let file = folder.json("run.json", &results());
    for (format, said) in [
        ("mcptoolbenchpp", "without `query` and `function_call_label`"),
        ("mcp-bench-tasks", "no `server_tasks`"),
        ("bfcl", "it holds no trajectory"),
    ] {
        let mut import = no_encoder(&folder);
        import
            .arg("import")
            .arg(&file)
            .args(["--from", format])
            .arg("-o")
            .arg(folder.path().join("out.json"));
        let output = run(&mut import);
        assert_ne!(output.status.code(), Some(0), "{format}");
        assert!(text(&output.stderr).contains(said), "{format}: {}", text(&output.stderr));
    }
}

#[test]
fn a_leaderboard_has_the_values_of_suites() {
    let folder = imported();
    let at = |name: &str| folder.path().join(name);
    let score = |predictions: &str, out: &str| {
        let mut m3 = m3()?;
        m3.arg("score").args([at(predictions), at("references.json")]);
        m3.args(["--suite", "m3", "--suite", "mcpagentbench"]).arg("--out").arg(at(out));
        Some(run(&mut m3).status.code())
    };
    let Some(code) = score("predictions.json", "worse.json") else { return };
    assert!(code == Some(0) && score("references.json", "right.json") == Some(Some(0)));
    let board = || {
        let mut m3 = no_encoder(&folder);
        m3.arg("leaderboard").args([at("worse.json"), at("right.json")]);
        m3
    };
    let found = report(&mut board());
    follows_kept_schema("leaderboard", &found);
    let suites = found["suites"].as_array().unwrap();
    assert_eq!((suites.len(), &suites[0]["suite"]), (1, &json!("mcpagentbench")));
    let models = suites[0]["models"].as_array().unwrap();
    let rows: Vec<_> =
        models.iter().map(|row| (row["model"].clone(), row["values"]["tefs"].clone())).collect();
    assert_eq!(rows, [(json!("right"), json!(100.0)), (json!("worse"), json!(100.0 / 3.0))]);
    let table = stdout(&mut board());
    assert!(
        table.contains("MCPAgentBench (mcpagentbench)\nmodel     tfs    tefs\nright  100.00  100.00\n"),
        "{table}"
    );
}

#[test]
fn values_of_suites_may_have_a_floor() {
    let folder = imported();
    let score = |suite: &str, floor: &str| {
        let mut m3 = m3()?;
        m3.arg("score").args(["predictions.json", "references.json"].map(|name| folder.path().join(name)));
        let output = run(m3.args(["-q", "--suite", suite, "--fail-under", floor]));
        Some((output.status.code().unwrap(), text(&output.stderr)))
    };
    for (floor, wanted, said) in [
        ("mcpagentbench.tfs=100", 0, ""),
        ("mcpagentbench.tefs=33.34", 1, "mcpagentbench.tefs is 33.3333, below --fail-under 33.34"),
        ("mcpagentbench.tfs_avg=1", 2, "has no value `tfs_avg`\nhint: it has tfs, tefs"),
        ("bfcl.ast=0.5", 2, "`bfcl`, which is not computed\nhint: add `--suite bfcl`"),
        ("mcpagentbench.tfs=high", 2, "`high` should be a number"),
    ] {
        let Some((code, message)) = score("mcpagentbench", floor) else { return };
        assert!(code == wanted && message.contains(said), "{floor}: {code} {message}");
    }
    // Nothing is recorded of what became of the calls.
    let Some((code, message)) = score("mcptoolbenchpp", "mcptoolbenchpp.success_rate=0") else { return };
    assert!(code == 1 && message.contains("mcptoolbenchpp.success_rate is not known"), "{code} {message}");
}

#[test]
fn suites_that_are_not_there_are_refused() {
    let folder = imported();
    for (name, said) in
        [("bench", "there is no suite `bench`"), ("mcpagentbench:mine", "`mine` is no variant")]
    {
        let mut m3 = no_encoder(&folder);
        m3.arg("score").args(["predictions.json", "references.json"].map(|name| folder.path().join(name)));
        let (code, message) = failure(m3.args(["--suite", name]));
        assert!(code == 2 && message.contains(said), "{message}");
    }
}

/// Questions with their functions, possible answers and results of BFCL, as `bfcl-eval` lays them out.
#[test]
fn questions_answers_and_results_of_bfcl_become_one_benchmark() {
    let folder = Folder::new();
    let area = json!({"name": "area", "description": "Of a triangle.", "parameters": {"type": "dict", "required": ["base"],
        "properties": {"base": {"type": "float"}, "unit": {"type": "string"}}}});
    let question = |id: &str| json!({"id": id, "question": [[{"role": "user", "content": "How large?"}]], "function": [area]});
    let answer =
        json!({"id": "simple_python_0", "ground_truth": [{"area": {"base": [10.0, 20], "unit": ["m", ""]}}]});
    let results = json!([
        {"id": "simple_python_0", "result": [{"area": {"base": "ten"}}]}, {"id": "irrelevance_1", "result": "None fits."}
    ]);
    let files = [
        folder.json("simple.json", &question("simple_python_0")),
        folder.json("irrelevance.json", &question("irrelevance_1")),
        folder.json("answer.json", &answer),
        folder.json("results.json", &results),
    ];
    let at = |name: &str| folder.path().join(name);
    let mut import = no_encoder(&folder);
    import.arg("import").args(&files).arg("-o").arg(at("predictions.json"));
    import.arg("--references").arg(at("references.json")).arg("--tasks").arg(at("tasks.json"));
    let output = run(import.arg("--tools").arg(at("tools.json")));
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for said in ["wrote 2 trajectories", "wrote 2 references", "wrote 2 tasks", "wrote 1 tool "] {
        assert!(text(&output.stderr).contains(said), "{said}: {}", text(&output.stderr));
    }
    let read = |name: &str| -> Value { serde_json::from_slice(&std::fs::read(at(name)).unwrap()).unwrap() };
    let references = read("references.json");
    let simple = references.as_array().unwrap().iter().find(|it| it["id"] == "simple_python_0").unwrap();
    // The question and the functions stand in another file than the calls.
    assert_eq!(
        (&simple["question"], &simple["functions"][0]["name"]),
        (&json!("How large?"), &json!("area"))
    );
    assert_eq!(simple["steps"][0]["calls"][0]["accepted"]["base"], json!([10.0, 20]));
    let tool = &read("tools.json")[""]["tools"][0];
    assert_eq!(tool["inputSchema"]["properties"]["base"]["type"], "number");
    let Some(mut m3) = m3() else { return };
    m3.arg("score").args([at("predictions.json"), at("references.json")]).args(["--suite", "bfcl"]);
    let found = report(&mut m3);
    follows_kept_schema("score", &found);
    assert_eq!(found["suites"]["bfcl"]["aggregate"]["ast"], 0.5);
    let of = |id: &str| {
        let trajectories = found["trajectories"].as_array().unwrap();
        trajectories.iter().find(|it| it["id"] == id).unwrap()["suites"]["bfcl"].clone()
    };
    assert_eq!(of("irrelevance_1"), json!({"ast": 1.0, "error_type": null, "error": null}));
    let wrong = "`base` of `area` has the wrong type: \"ten\"; accepted: 10.0, 20";
    assert_eq!(of("simple_python_0"), json!({"ast": 0.0, "error_type": "type_error:simple", "error": wrong}));
    assert_eq!(found["suites"]["bfcl"]["notes"], json!([format!("wrong: simple_python_0: {wrong}")]));
}

/// The paper's figures (arXiv 2512.24565, tables 1 and 2) for three models come out of the published runs.
#[test]
fn the_papers_figures_come_out_of_the_published_runs() {
    let Some(data) = shared("benchmarks/mcpagentbench") else { return };
    for (model, tfs, tefs) in [
        ("anthropic_claude-sonnet-4.5", 71.62, 57.72),
        ("glm-4.6", 65.07, 54.41),
        ("gemini-3-pro-preview", 48.09, 33.53),
    ] {
        let run = |number: usize| {
            data.join(format!("results/tool20/{model}_general_test_run{number}_results.json.gz"))
        };
        let folder = Folder::new();
        let references = folder.path().join("references.json");
        let mut import = no_encoder(&folder);
        let output =
            crate::support::run(import.arg("import").arg(run(1)).arg("--references").arg(&references));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let Some(mut m3) = m3() else { return };
        m3.arg("score").arg(run(1)).arg(&references).args(["--suite", "mcpagentbench:published"]);
        let found = report(m3.args((2..5).flat_map(|number| ["--repeat".into(), run(number)])));
        let values = &found["suites"]["mcpagentbench:published"]["aggregate"];
        for (name, wanted) in [("tfs_avg_at_4", tfs), ("tefs_avg_at_4", tefs)] {
            let value = values[name].as_f64().unwrap();
            assert!((value - wanted).abs() < 0.005, "{model}: {name} {value}, not {wanted}");
        }
    }
}
