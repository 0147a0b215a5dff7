//! Trimmed means, kept answers, and grades in the leaderboard.

use serde_json::{Value, json};

use super::{Tasks, judge, name, near, report, requests, task};
use crate::support::{follow_kept_schema, follows_kept_schema, json_of, run, stdout, text};

#[test]
fn judges_reply_as_they_are_told_to_and_other_settings_are_other_questions() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("5", "0.5");
    let ask = |arguments: &[&str]| {
        report(tasks.grade(&[&model]).args(arguments));
        model.requests()
    };
    let set = ["--temperature", "0", "--max-output-tokens", "300"];
    let first = ask(&set);
    assert!(first.iter().all(|request| request["temperature"] == 0.0 && request.to_string().contains("300")));
    assert_eq!(ask(&set).len(), first.len());
    assert_eq!(ask(&[]).len(), 2 * first.len());
}

#[test]
fn of_four_judges_the_lowest_and_the_highest_are_left_out() {
    let tasks = Tasks::new(&["a", "b"]);
    let judges = [judge("9", "1"), judge("2", "0.5"), judge("7.5", "0.25"), judge("8", "0")];
    let judges: Vec<_> = judges.iter().collect();
    let graded = tasks.folder.path().join("graded.json");
    let found = report(tasks.grade(&judges).arg("--graded").arg(&graded));
    // By hand: (7.5 + 8) / 2 of 10, and (0.25 + 0.5) / 2.
    for task in found["trajectories"].as_array().unwrap() {
        near(&task["grades"]["task_completion"], 0.775);
        near(&task["grades"]["information_grounding"], 0.375);
        near(&task["grades"]["matrix"][0][0], 0.375);
        assert_eq!(task["grades"]["is_trimmed"], true);
        assert_eq!(task["grades"]["by_judge"][1]["task_completion"], 0.2);
    }
    near(&found["measures"]["task_completion"]["mean"], 0.775);
    assert_eq!(found["missing"], json!([]));
    // Without the judge that gives 9, the middle one of 2, 7.5 and 8 is left.
    let without = &found["without_judge"][0];
    near(&without["mean"], 0.75);
    near(&without["change"], -0.025);
    assert_eq!(requests(&judges), 4 * 2 * 2);
    // Passes begin at 0.5: three judges pass both tasks, one fails both. Fleiss: observed 1/2, expected 10/16.
    let agreement = &found["agreement"][0];
    near(&agreement["fleiss_kappa"], -1.0 / 3.0);
    assert_eq!(agreement["pairs"].as_array().unwrap().len(), 6);
    near(&agreement["pairs"][1]["agreement"], 1.0);
    // What leaderboards read.
    let written: Value = json_of(&graded);
    near(&written[1]["grades"]["task_completion"], 0.775);
    assert_eq!(written[1]["steps"], task("b", "37 kcal")["steps"]);
    // Graded predictions are still valid predictions.
    stdout(crate::support::m3_bare(tasks.folder.path()).arg("validate").arg(&graded));
}

#[test]
fn of_three_the_middle_one_is_left_and_of_two_nothing_is_trimmed() {
    let tasks = Tasks::new(&["a"]);
    let judges = [judge("9", "1"), judge("2", "0.5"), judge("7", "0.25")];
    let found = report(&mut tasks.grade(&[&judges[0], &judges[1], &judges[2]]));
    near(&found["measures"]["task_completion"]["mean"], 0.7);
    assert_eq!(found["trajectories"][0]["grades"]["is_trimmed"], true);
    assert_eq!(found["notes"], json!([]));
    let found = report(&mut tasks.grade(&[&judges[0], &judges[1]]));
    near(&found["measures"]["task_completion"]["mean"], 0.55);
    assert_eq!(found["trajectories"][0]["grades"]["is_trimmed"], false);
    assert!(found["notes"][0].as_str().unwrap().contains("fewer than three judges"), "{found}");
    // The answers of the two others were kept.
    assert_eq!(requests(&[&judges[0], &judges[1], &judges[2]]), 6);
}

#[test]
fn nothing_is_asked_twice_and_what_has_changed_is_asked_again() {
    let tasks = Tasks::new(&["a", "b"]);
    let model = judge("9", "1");
    let graded = tasks.folder.path().join("graded.json");
    let grade = || report(tasks.grade(&[&model]).arg("--graded").arg(&graded));
    let first = grade();
    assert_eq!(requests(&[&model]), 4);
    assert_eq!(grade(), first);
    assert_eq!(requests(&[&model]), 4);
    // After another answer to one task, completion is asked again; grounding depends only on the steps.
    tasks.folder.json("predictions.json", &json!([task("a", "37 kcal"), task("b", "38 kcal")]));
    grade();
    assert_eq!(requests(&[&model]), 5);
    // After another reference, grounding is asked again; completion does not depend on it.
    let mut reference = task("a", "37 kcal");
    reference["steps"][0]["calls"][0]["arguments"]["query"] = json!("figs");
    tasks.folder.json("references.json", &json!([reference, task("b", "37 kcal")]));
    grade();
    assert_eq!(requests(&[&model]), 6);
    // A file of answers as left by a kill: the last line is cut off.
    let answers = tasks.folder.path().join("graded.json.answers.jsonl");
    let kept = std::fs::read_to_string(&answers).unwrap();
    let lines: Vec<Value> = kept.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0], lines.len()), (&json!({"schema": "m3.answers/1"}), 7));
    follow_kept_schema("answers", &lines[1..]);
    let written: Value = json_of(&graded);
    follow_kept_schema("graded", written.as_array().unwrap());
    std::fs::write(&answers, &kept[..kept.len() - 10]).unwrap();
    grade();
    assert_eq!(requests(&[&model]), 7);
    // Another rubric, and the same one with more passes.
    assert_eq!(
        run(tasks.grade(&[&model]).arg("--graded").arg(&graded).args(["--repeat", "2"])).status.code(),
        Some(0)
    );
    assert_eq!(requests(&[&model]), 11);
    // Only one process at a time can use the answers; the lock held here is released when it is dropped.
    let held = std::fs::File::open(&answers).unwrap();
    held.lock().unwrap();
    let ended = run(tasks.grade(&[&model]).arg("--graded").arg(&graded));
    assert_eq!(ended.status.code(), Some(4));
    let said = text(&ended.stderr);
    assert!(said.contains("another m3 works with"), "{said}");
    // If the system tells who holds the lock, this process is named.
    let holder = said.split_once(", process ").map(|(_, rest)| rest.split('\n').next());
    assert!(holder.is_none_or(|holder| holder == Some(&std::process::id().to_string())), "{said}");
}

#[test]
fn a_damaged_answer_is_refused_with_its_place_before_anybody_is_asked() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("9", "1");
    report(&mut tasks.grade(&[&model]));
    let answers = tasks.folder.path().join("predictions.json.answers.jsonl");
    let damaged = std::fs::read_to_string(&answers).unwrap().replacen("{\"key\":", "{\"kez\":", 1);
    std::fs::write(&answers, &damaged).unwrap();
    let (code, said) = crate::support::failure(&mut tasks.grade(&[&model]));
    assert_eq!(code, 2, "{said}");
    assert!(
        said.contains("predictions.json.answers.jsonl:2` is no line of") && said.contains("--answers"),
        "{said}"
    );
    assert_eq!(std::fs::read_to_string(&answers).unwrap(), damaged);
    assert_eq!(requests(&[&model]), 2);
}

#[test]
fn a_recorded_panel_plays_without_a_network() {
    let tasks = Tasks::new(&["a"]);
    let judges = [judge("9", "1"), judge("2", "0.5")];
    let folder = tasks.folder.path().join("cassettes");
    let names = [name(0, &judges[0]), name(1, &judges[1])];
    let first = report(tasks.grade_by(&names.join(",")).arg("--record").arg(&folder));
    drop(judges);
    let mut cassettes: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| format!("replay:{}", entry.unwrap().path().display()))
        .collect();
    cassettes.sort();
    assert_eq!(cassettes.len(), 2);
    std::fs::remove_file(tasks.folder.path().join("predictions.json.answers.jsonl")).unwrap();
    assert_eq!(report(&mut tasks.grade_by(&cassettes.join(","))), first);
}

#[test]
fn images_are_shown_to_judges_that_see() {
    let tasks = Tasks::new(&["a"]);
    let image = crate::support::root().join("images").read_dir().unwrap();
    let image =
        image.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|e| e == "png"));
    std::fs::copy(image.unwrap(), tasks.folder.path().join("fig.png")).unwrap();
    let mut with_image = task("a", "37 kcal");
    with_image["image"] = json!("fig.png");
    tasks.folder.json("predictions.json", &json!([with_image]));
    let judges = [judge("9", "1"), judge("2", "0.5")];
    let mut command = tasks.grade(&[&judges[0], &judges[1]]);
    let found = report(command.args(["--no-images-for", &name(1, &judges[1])]));
    assert_eq!(found["judges"][0]["sees_images"], true);
    assert_eq!(found["judges"][1]["sees_images"], false);
    let shown = |index: usize| json!(judges[index].requests()).to_string();
    assert!(shown(0).contains("sha256:") && shown(0).contains("is attached"));
    assert!(!shown(1).contains("sha256:") && shown(1).contains("is not attached"));
    // A missing image is reported, and nothing is asked.
    with_image["image"] = json!("other.png");
    tasks.folder.json("predictions.json", &json!([with_image]));
    let ended = run(&mut tasks.grade(&[&judges[0], &judges[1]]));
    assert_eq!(ended.status.code(), Some(2));
    assert!(text(&ended.stderr).contains("`other.png` is no file in"), "{}", text(&ended.stderr));
    assert_eq!(requests(&[&judges[0], &judges[1]]), 4);
    report(tasks.grade(&[&judges[0]]).arg("--no-images"));
}

#[test]
fn the_image_is_the_references_and_what_it_shows_is_judged_anew() {
    let tasks = Tasks::new(&["a"]);
    let images = crate::support::root().join("images").read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut images: Vec<_> = images.filter(|path| path.extension().is_some_and(|e| e == "png")).collect();
    images.sort();
    let put =
        |index: usize, name: &str| std::fs::copy(&images[index], tasks.folder.path().join(name)).unwrap();
    put(0, "fig.png");
    put(1, "other.png");
    let mut reference = task("a", "37 kcal");
    reference["image"] = json!("fig.png");
    tasks.folder.json("references.json", &json!([reference]));
    let model = judge("9", "1");
    // Whatever the prediction names: no image, another image, a missing one.
    for image in [Value::Null, json!("other.png"), json!("nowhere.png")] {
        let mut prediction = task("a", "37 kcal");
        if !image.is_null() {
            prediction["image"] = image;
        }
        tasks.folder.json("predictions.json", &json!([prediction]));
        report(&mut tasks.grade(&[&model]));
        // The question and the image are the same, so the answer is known.
        assert_eq!(requests(&[&model]), 2);
    }
    let shown = json!(model.requests()).to_string();
    assert!(shown.contains("sha256:") && shown.contains("is attached"), "{shown}");
    assert!(!shown.contains("has no image"), "{shown}");
    // Another content under the same name.
    put(1, "fig.png");
    report(&mut tasks.grade(&[&model]));
    assert_eq!(requests(&[&model]), 4);
    let later = json!(model.requests()[2..]).to_string();
    let hash = |text: &str| text.split_once("sha256:").unwrap().1[..64].to_owned();
    assert_ne!(hash(&shown), hash(&later));
}

#[test]
fn grades_of_other_rubrics_stay() {
    let tasks = Tasks::new(&["a"]);
    let model = judge("9", "0.5");
    let says = |text: &str| {
        m3_testkit::model_server::ScriptedModel::start(
            m3_testkit::model_server::ScriptedWire::OpenAi,
            super::says(text),
        )
    };
    let passes = says("\\boxed{pass}");
    let graded = tasks.folder.path().join("graded.json");
    report(tasks.grade(&[&model]).arg("--graded").arg(&graded));
    let again = |judge: &m3_testkit::model_server::ScriptedModel, rubric: &str| -> Value {
        let mut command = crate::support::m3_bare(tasks.folder.path());
        command.arg("grade").arg(&graded).arg(&tasks.references).args(["--llm", &name(0, judge)]);
        let to = tasks.folder.path().join("again.json");
        report(command.args(["--rubric", rubric, "--graded"]).arg(&to));
        std::fs::rename(&to, &graded).unwrap();
        json_of(&graded)
    };
    for _ in 0..2 {
        let written = again(&passes, "mcp-eval");
        near(&written[0]["grades"]["mcp_eval"], 1.0);
        assert_eq!(written[0]["other_grades"].as_array().unwrap().len(), 1);
        near(&written[0]["other_grades"][0]["task_completion"], 0.9);
    }
    let written = again(&model, "m3-bench");
    near(&written[0]["grades"]["task_completion"], 0.9);
    near(&written[0]["other_grades"][0]["mcp_eval"], 1.0);
}

#[test]
fn the_tables_say_this() {
    let tasks = Tasks::new(&["a", "b"]);
    let judges = [judge("9", "1"), judge("2", "0.5"), judge("eleven", "0.25")];
    let mut command = tasks.grade(&[&judges[0], &judges[1], &judges[2]]);
    let shown = text(&run(command.args(["--resamples", "100", "--by-type"])).stdout);
    // The model's name alone is enough to distinguish the judges.
    assert!(shown.contains("judge-2 ") && !shown.contains("127.0.0.1"), "{shown}");
    for part in [
        "Grades",
        "Judges",
        "How far judges agree",
        "Judges two by two",
        "Without one judge",
        "Missing answers",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
}

#[test]
fn grades_go_by_the_score_into_the_leaderboard() {
    let tasks = Tasks::new(&["a", "b"]);
    let model = judge("9", "0.5");
    let graded = tasks.folder.path().join("graded.json");
    report(tasks.grade(&[&model]).arg("--graded").arg(&graded));
    let Some(assets) = crate::support::encoder() else { return };
    let m3 = || crate::support::m3_with_cache(tasks.folder.path(), assets);
    let score = tasks.folder.path().join("model.json");
    let scored = |grades: &std::path::Path| {
        let mut command = m3();
        command.arg("score").arg(&tasks.predictions).arg(&tasks.references).arg("--grades").arg(grades);
        command
    };
    stdout(scored(&graded).arg("--out").arg(&score));
    let written: Value = json_of(&score);
    follows_kept_schema("score", &written);
    let board = crate::support::report(m3().arg("leaderboard").arg(&score));
    near(&board["models"][0]["metrics"]["task_completion"]["value"], 0.9);
    near(&board["models"][0]["metrics"]["information_grounding"]["value"], 0.5);
    // Those of other predictions are refused, as is a file without any.
    let mut other: Value = json_of(&graded);
    other[0]["steps"] = json!([]);
    let other = tasks.folder.json("other.json", &other);
    let (code, said) = crate::support::failure(&mut scored(&other));
    assert!(code == 2 && said.contains("other predictions"), "{said}");
    let (code, said) = crate::support::failure(&mut scored(&tasks.references));
    assert!(code == 2 && said.contains("no trajectory has `grades`"), "{said}");
}
