//! The verdict end to end: what makes it, what a prediction cannot do to it, and who decides by it (`docs/verdict.md`).

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{
    Folder, call, failure, json_of, m3, m3_bare, report, root, run, stdout, text, trajectory,
};

/// The score of one prediction beside one reference.
fn one(prediction: &Value, reference: &Value, options: &[&str]) -> Option<Value> {
    let folder = Folder::new();
    let files = [folder.json("p.json", &json!([prediction])), folder.json("r.json", &json!([reference]))];
    Some(report(m3()?.arg("score").args(files).args(options)))
}

fn job(score: &Value) -> &Value {
    &score["trajectories"][0]["job"]
}

fn with(mut trajectory: Value, key: &str, value: Value) -> Value {
    trajectory[key] = value;
    trajectory
}

/// By the equation of docs/verdict.md, from the numbers of the JSON.
#[test]
fn the_probability_is_that_of_the_documents_equation() {
    let Some(mut m3) = m3() else { return };
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let score = report(m3.arg("score").args(files));
    let jobs: Vec<&Value> = score["trajectories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["job"])
        .filter(|job| job.is_object())
        .collect();
    assert!(jobs.len() > 10);
    for job in jobs {
        let number = |name: &str| job[name].as_f64();
        let sum = -3.2 + 3.9 * number("lowest_change").unwrap() + 2.7 * number("lowest").unwrap()
            - 4.1 * number("extra_changes").unwrap()
            + number("artifacts").map_or(0.0, |agreement| 2.1 * (agreement - 0.5));
        let answer = number("answer").map(|agreement| ((agreement - 0.5) / 0.4).clamp(0.0, 1.0));
        let sum = if job["is_bound"] == true {
            sum + answer.map_or(0.0, |answer| 2.4 * (answer - 1.0))
        } else {
            sum / 2.0 + answer.map_or(0.0, |answer| 7.0 * (answer - 0.5))
        };
        assert!((number("probability").unwrap() - 1.0 / (1.0 + (-sum).exp())).abs() < 1e-12, "{job}");
    }
}

/// 3.4 halved, and 3.5 more or less.
#[test]
fn where_nothing_is_changed_the_answer_decides() {
    let look = || trajectory("1", &[&[call("maps/get_route", json!({"from": "Como", "to": "Lecco"}))]]);
    let reference = with(look(), "final_reply", json!("The way is 29.5 km long."));
    for (reply, verdict, probability) in [
        (json!("It is 29.5 km."), "did", 0.995),
        (json!("It is 92.5 km."), "did_not", 0.142),
        (json!(""), "did_not", 0.142),
        (json!("n/a"), "did", 0.846),
        (Value::Null, "did", 0.846),
    ] {
        let Some(score) = one(&with(look(), "final_reply", reply.clone()), &reference, &[]) else { return };
        assert_eq!(job(&score)["verdict"], verdict, "{reply}");
        assert!((job(&score)["probability"].as_f64().unwrap() - probability).abs() < 5e-4, "{}", job(&score));
    }
}

#[test]
fn a_prediction_hides_nothing() {
    let blur = || call("image/blur", json!({"input_path": "images/plan.png", "output_path": "a.png"}));
    let picture = json!({"content": [{"type": "image", "data": "iVBORw0KGgo="}]});
    let reference = trajectory("1", &[&[with(blur(), "result", picture)]]);
    let other = call("image/crop", json!({"input_path": "images/plan.png"}));
    let Some(score) = one(&trajectory("1", &[&[other]]), &reference, &[]) else { return };
    // Its own picture is not recorded, and the job stays bound to the reference's path.
    assert_eq!((&job(&score)["is_bound"], &job(&score)["verdict"]), (&json!(true), &json!("did_not")));
    // A call that failed is not a call made.
    let failed = with(with(blur(), "result", json!("no such file")), "is_error", json!(true));
    let score = one(&trajectory("1", &[&[failed]]), &reference, &[]).unwrap();
    assert_eq!(job(&score)["verdict"], "did_not");
    assert!(
        job(&score)["reasons"][0]["text"].as_str().unwrap().contains("image/blur failed"),
        "{}",
        job(&score)
    );
}

#[test]
fn people_say_what_calls_do() {
    let file = |id: i64| call("desk/file", json!({"id": id}));
    let reference = trajectory("1", &[&[file(7)]]);
    let think = call("harness/think", json!({"text": "hm"}));
    let prediction = trajectory("1", &[&[think], &[file(7)], &[file(8)]]);
    let folder = Folder::new();
    let roles = |content: &str| folder.write("roles.json", content).into_os_string().into_string().unwrap();
    let known = roles(r#"{"desk/*": "changes", "harness/*": "ignored"}"#);
    let Some(score) = one(&prediction, &reference, &["--roles", &known]) else { return };
    assert_eq!(
        (&score["ledger"]["ignored_calls"], &score["aggregate"]["predicted_calls"]),
        (&json!(1), &json!(2))
    );
    assert!(score["signature"].as_str().unwrap().contains("|roles:"));
    assert_eq!(
        (&score["by_tool"][0]["role"], &score["aggregate"]["change_precision"]),
        (&json!("changes"), &json!(0.5))
    );
    // One change that is needed, one that is extra.
    assert_eq!((&job(&score)["is_bound"], &job(&score)["extra_changes"]), (&json!(true), &json!(0.5)));
    let plain = one(&prediction, &reference, &[]).unwrap();
    assert_eq!(
        (&plain["aggregate"]["predicted_calls"], &job(&plain)["is_bound"]),
        (&json!(3), &json!(false))
    );
    let files = [folder.json("p.json", &json!([prediction])), folder.json("r.json", &json!([reference]))];
    for (content, words) in [
        ("[]", "it should be an object"),
        (r#"{"desk/*": "writes"}"#, "the role of `desk/*` should be `looks`, `changes` or `ignored`"),
        ("{", "is not JSON"),
    ] {
        let (code, said) =
            failure(m3().unwrap().arg("score").args(&files).args(["--roles", &roles(content)]));
        assert!(code == 2 && said.contains(words), "{said}");
    }
    let scored = |name: &str, options: &[&str]| {
        let out = folder.path().join(name);
        let output = run(m3().unwrap().arg("score").args(&files).args(options).arg("--out").arg(&out));
        assert!(output.status.success(), "{}", text(&output.stderr));
        out
    };
    let both = [
        scored("plain.json", &[]),
        scored("roles-said.json", &["--roles", &roles(r#"{"desk/*": "looks"}"#)]),
    ];
    let (code, said) = failure(m3().unwrap().arg("compare").args(&both));
    assert!(
        code == 2 && said.contains("were not scored in the same way") && said.contains(", roles "),
        "{said}"
    );
    let labels = folder.write("labels.jsonl", r#"{"run": "plain", "id": "1", "pass": true}"#);
    let (code, said) = failure(m3().unwrap().arg("agree").args(&both).arg("--labels").arg(labels));
    assert!(code == 2 && said.contains(", roles "), "{said}");
    // The same roles in a file of another name are no others.
    let same = [("one.json", "desk.json"), ("two.json", "./desk.json")].map(|(out, name)| {
        let file = folder.write("desk.json", r#"{"desk/*": "looks"}"#);
        scored(out, &["--roles", file.parent().unwrap().join(name).to_str().unwrap()])
    });
    let output = run(m3().unwrap().arg("compare").args(&same));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let twice = roles(r#"{"desk/*": "looks", "desk/*": "changes"}"#);
    let (code, said) = failure(m3().unwrap().arg("score").args(&files).args(["--roles", &twice]));
    assert!(code == 2 && said.contains("at `/desk~1*`: the same key twice in one object\n"), "{said}");
    let unused = roles(r#"{"mail/*": "changes"}"#);
    let output = run(m3().unwrap().arg("score").args(&files).args(["--roles", &unused]));
    assert!(text(&output.stderr).contains("1 name fits no tool that is called: `mail/*`"));
}

/// Places of a score that ignores tools are those among the other calls: pages show these alone, or another call would look
/// like the one that is meant.
#[test]
fn pages_leave_out_the_calls_that_a_score_ignores() {
    let folder = Folder::new();
    let file = |id: i64| call("desk/file", json!({"id": id}));
    let think = call("harness/think", json!({"text": "hm"}));
    let own = folder.json("p.json", &json!([trajectory("1", &[&[think], &[file(7)], &[file(8)]])]));
    let references = folder.json("r.json", &json!([trajectory("1", &[&[file(7)]])]));
    let roles = folder.write("roles.json", r#"{"harness/*": "ignored"}"#);
    let pages = folder.path().join("pages");
    let Some(mut command) = m3() else { return };
    let command = command.arg("view").arg(&own).arg("--references").arg(&references);
    let output = run(command.arg("--roles").arg(&roles).arg("--bundle").arg(&pages));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let task = std::fs::read_to_string(pages.join("data/task/0/0.json")).unwrap();
    let task: Value = serde_json::from_str(&task).unwrap();
    let call_of = |place: &Value| {
        let at = |key: &str| usize::try_from(place[key].as_u64().unwrap()).unwrap();
        task["prediction"]["steps"][at("step")][at("call")]["arguments"].clone()
    };
    let matched = &task["score"]["matches"][0]["predicted"];
    assert_eq!(call_of(matched), json!([["id", "7"]]), "{task}");
    assert!(!task["prediction"].to_string().contains("harness/think"), "{task}");
    let (code, said) = failure(m3().unwrap().arg("view").arg(&own).args(["--roles", "/nowhere.json"]));
    assert!(code == 2 && said.contains("/nowhere.json"), "{said}");
}

/// A floor of a metric that this score cannot know is not met, and the error says what the metric needs.
#[test]
fn a_floor_of_what_is_not_known_says_what_it_needs() {
    let folder = Folder::new();
    let file =
        folder.json("p.json", &json!([trajectory("1", &[&[call("mail/send_email", json!({"to": "a"}))]])]));
    let Some(mut m3) = m3() else { return };
    m3.args(["score", "-q", "--fail-under", "artifact_agreement=0.5"]).args([&file, &file]);
    let (code, message) = failure(&mut m3);
    assert_eq!(code, 1, "{message}");
    assert!(
        message.contains("artifact_agreement is not known")
            && message.contains("hint: How well what both trajectories leave behind agrees"),
        "{message}"
    );
}

/// A call that fails changes nothing, and who makes it again has made it.
#[test]
fn a_call_that_is_made_again_is_made() {
    let bare = || call("mail/send_email", json!({"to": "nadia@atlas.com"}));
    let sent = || with(bare(), "result", json!("sent as 17"));
    let failed = || with(with(bare(), "result", json!("timeout")), "is_error", json!(true));
    let reference = trajectory("1", &[&[sent()]]);
    for (steps, has_done, extra) in [
        (vec![failed(), sent()], true, 0.0),
        (vec![sent(), failed()], true, 0.0),
        (vec![failed(), failed(), sent()], true, 0.0),
        (vec![failed(), failed()], false, 0.0),
        (vec![sent(), sent()], true, 0.5),
    ] {
        let steps: Vec<&[Value]> = steps.iter().map(std::slice::from_ref).collect();
        let Some(score) = one(&trajectory("1", &steps), &reference, &[]) else { return };
        let found = job(&score);
        assert_eq!(found["lowest_change"] == 1.0, has_done, "{found}");
        assert_eq!(found["extra_changes"], extra, "{found}");
    }
}

/// What the encoder reads alike, in other letters or beyond its limit, is another call.
#[test]
fn another_call_that_looks_the_same_to_the_encoder_is_no_second_try() {
    let long = |end: &str| call("mail/send_email", json!({"text": format!("{} {end}", "word ".repeat(600))}));
    let order = |sku: &str| call("shop/create_order", json!({"sku": sku}));
    for [right, other] in [[long("total 100"), long("total 999")], [order("ABC"), order("abc")]] {
        let done = |call: Value| with(call, "result", json!("done as 17"));
        let failed = with(with(right.clone(), "result", json!("timeout")), "is_error", json!(true));
        let reference = trajectory("1", &[&[done(right)]]);
        let Some(score) = one(&trajectory("1", &[&[failed], &[done(other)]]), &reference, &[]) else {
            return;
        };
        assert_eq!(job(&score)["verdict"], "did_not", "{}", job(&score));
    }
}

/// Every number of the small benchmark's references is another one, and every file has another name.
fn changed(value: &mut Value) {
    match value {
        Value::Number(number) => match number.as_i64() {
            Some(whole) => *value = json!(whole + 37),
            None => *value = json!(number.as_f64().unwrap() + 37.0),
        },
        Value::String(text) => *text = text.replace(".png", "_x.png"),
        Value::Array(items) => items.iter_mut().for_each(changed),
        Value::Object(members) => members.values_mut().for_each(changed),
        _ => {}
    }
}

/// The scores of the first references against themselves, and of the same with changed arguments.
fn before_and_after(folder: &Folder, tasks: usize) -> Option<[PathBuf; 2]> {
    let references =
        json_of(root().join("trajectories/references.json")).as_array().unwrap()[..tasks].to_vec();
    let mut after = references.clone();
    for step in after.iter_mut().flat_map(|task| task["steps"].as_array_mut().unwrap()) {
        for call in step["calls"].as_array_mut().unwrap() {
            changed(&mut call["arguments"]);
            call.as_object_mut().unwrap().remove("result");
        }
    }
    let file = folder.json("references.json", &json!(references));
    let score = |name: &str, predictions: &Path| {
        let out = folder.path().join(name);
        stdout(m3()?.args(["score", "-q"]).args([predictions, &file]).arg("--out").arg(&out));
        Some(out)
    };
    Some([score("before.json", &file)?, score("after.json", &folder.json("p.json", &json!(after)))?])
}

#[test]
fn a_comparison_is_not_fooled_by_calls_that_look_alike() {
    let folder = Folder::new();
    let Some(scores) = before_and_after(&folder, 15) else { return };
    let compare = || {
        let mut compare = m3_bare(folder.path());
        compare.arg("compare").args(&scores).args(["--margin", "0.02", "--fail-if-worse"]);
        compare
    };
    let (code, said) = failure(&mut compare());
    assert!(
        code == 1 && said.contains("the second is worse: the interval of the difference in verdict"),
        "{said}"
    );
    // The paper's average takes them for the same.
    assert_eq!(report(compare().args(["--metric", "average"]))["decision"], "pass");
    let (code, said) = failure(compare().args(["--metric", "task_completion"]));
    assert!(code == 2 && said.contains("`task_completion` is not known of both results"), "{said}");
    let board = report(m3_bare(folder.path()).args(["leaderboard", "--rank-by", "verdict"]).args(&scores));
    assert_eq!((&board["ranked_by"], &board["models"][0]["model"]), (&json!("verdict"), &json!("before")));
    let unknown = ["leaderboard", "--rank-by", "task_completion"];
    let (code, said) = failure(m3_bare(folder.path()).args(unknown).args(&scores));
    assert!(code == 2 && said.contains("has no `task_completion`"), "{said}");
}

/// The signs of five differences may all be the same by chance, in 2 of 32 cases.
#[test]
fn few_tasks_decide_nothing() {
    let folder = Folder::new();
    let Some(scores) = before_and_after(&folder, 5) else { return };
    let output = run(m3_bare(folder.path()).arg("compare").args(&scores).args([
        "--fail-if-worse",
        "--format",
        "json",
    ]));
    assert_eq!(output.status.code(), Some(0));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&found["metric"], &found["decision"]), (&json!("verdict"), &json!("inconclusive")));
    assert!(text(&output.stderr).contains("5 tasks are too few"), "{}", text(&output.stderr));
}

/// The id that a server gives out next is the same whatever it is asked.
#[test]
fn the_same_receipt_makes_no_other_change_right() {
    let transfer = |amount: i64, to: &str| {
        let call = call("bank/transfer_money", json!({"amount": amount, "to": to}));
        with(call, "result", json!({"transaction": "tx_1", "status": "done"}))
    };
    let reference = trajectory("1", &[&[transfer(10, "DE2")]]);
    let Some(score) = one(&trajectory("1", &[&[transfer(9999, "DE1")]]), &reference, &[]) else { return };
    assert_eq!(job(&score)["verdict"], "did_not", "{}", job(&score));
    // An extra transfer counts alike before and after the one that is asked for.
    let extra = [[transfer(5, "DE3"), transfer(10, "DE2")], [transfer(10, "DE2"), transfer(5, "DE3")]];
    let of = |calls: &[Value; 2]| {
        let steps: Vec<&[Value]> = calls.iter().map(std::slice::from_ref).collect();
        job(&one(&trajectory("1", &steps), &reference, &[]).unwrap())["probability"].clone()
    };
    assert_eq!(of(&extra[0]), of(&extra[1]));
    // A screenshot of a form is a receipt too.
    let submit = |action: &str| {
        let picture = json!({"content": [{"type": "image", "mimeType": "image/png", "data": "QUFB"}]});
        with(call("browser/submit_form", json!({"action": action})), "result", picture)
    };
    let reference = trajectory("1", &[&[submit("save the profile")]]);
    let score = one(&trajectory("1", &[&[submit("delete every account")]]), &reference, &[]).unwrap();
    assert_eq!(job(&score)["verdict"], "did_not", "{}", job(&score));
}

/// Labels as some sources publish them.
#[test]
fn labels_may_be_compressed() {
    use std::io::Write as _;
    let folder = Folder::new();
    let trials = [(1.0, 1.0), (1.0, 1.0), (0.0, 0.0), (0.0, 0.0)];
    let result = crate::agree::result(&folder, "model.json", trials);
    let rows = |name: &str, text: &str| {
        let path = folder.path().join(name);
        let file = std::fs::File::create(&path).unwrap();
        let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
        path
    };
    let lines =
        rows("labels.jsonl.gz", "{\"id\": \"one\", \"pass\": true}\n{\"id\": \"two\", \"pass\": false}\n");
    let table = rows("labels.csv.gz", "id,pass\none,true\ntwo,false\n");
    for labels in [lines, table] {
        let mut agree = m3_bare(folder.path());
        let found = report(
            agree.arg("agree").arg(&result).args(["--labels", &format!("model={}", labels.display())]),
        );
        assert!(found.to_string().contains("m3.average"), "{found}");
    }
}
