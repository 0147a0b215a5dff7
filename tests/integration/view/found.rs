//! What is found and put together: each file once, the right reference beside each prediction, and what changes meanwhile.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{View, one_call, recall_of, write};
use crate::support::Folder;

/// A call of one tool with this argument.
fn call(id: &str, x: u64) -> Value {
    one_call(id, "t/u", &json!({"x": x}))
}

fn names(view: &View) -> Vec<String> {
    let home = view.json("data/home.json");
    home["runs"].as_array().unwrap().iter().map(|run| run["name"].as_str().unwrap().to_owned()).collect()
}

/// The first argument of the reference's call that a task shows.
fn reference_of(view: &View, run: usize, row: usize) -> Value {
    let task = view.json(&format!("data/task/{run}/{row}.json"));
    task["reference"]["steps"][0][0]["arguments"][0][1].clone()
}

/// Waits until a document says something.
fn wait(view: &View, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    let start = std::time::Instant::now();
    loop {
        view.json("data/state.json");
        let found = view.json(path);
        if is_there(&found) {
            return found;
        }
        assert!(start.elapsed().as_secs() < 60, "{path}: {found}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
}

#[test]
fn every_file_is_shown_once_and_references_are_no_runs() {
    let folder = Folder::new();
    let inside = folder.path().join("c");
    write(&inside.join("p.json"), &json!([call("a", 1)]));
    write(&inside.join("deep/predictions/q.json"), &json!([call("a", 1)]));
    // Nothing but the option says that these are references.
    write(&inside.join("truth.json"), &json!([call("a", 7), call("a", 1)]));
    let arguments = ["c", "c/p.json", "c/deep", "./c", "--references", "c/truth.json"];
    let Some(view) = View::start(&folder, &arguments) else { return };
    view.wait_for_scores();
    let mut found = names(&view);
    found.sort();
    assert_eq!(found, ["p", "q"]);
    // Of two references of a task the last one is scored, and shown.
    assert_eq!(reference_of(&view, 0, 0), json!("1"));
    assert_eq!(recall_of(&view.json("data/home.json"), 0), json!(1.0));
}

#[test]
fn repetitions_are_scored_and_a_score_that_is_found_takes_the_place_of_our_own() {
    let folder = Folder::new();
    write(&folder.path().join("run/predictions.json"), &json!([call("a", 1)]));
    write(&folder.path().join("run/predictions-2.json"), &json!([one_call("a", "other/tool", &json!({}))]));
    write(&folder.path().join("references.json"), &json!([call("a", 1)]));
    write(&folder.path().join("single.json"), &json!([call("a", 1)]));
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    let run = names(&view)
        .iter()
        .position(|name| name == "predictions")
        .or_else(|| names(&view).iter().position(|name| name == "run/predictions"));
    let single = names(&view).iter().position(|name| name == "single").unwrap();
    // Recall of two trials, one of which calls another tool.
    let home = view.json("data/home.json");
    assert_eq!(recall_of(&home, run.unwrap_or(1 - single)), json!(0.5), "{home}");
    let mut command = crate::support::m3().unwrap();
    let files = [folder.path().join("single.json"), folder.path().join("references.json")];
    command
        .arg("score")
        .args(files)
        .args(["-q", "--tau-strong", "0.9", "--out"])
        .arg(folder.path().join("found.json"));
    assert!(crate::support::run(&mut command).status.success());
    let signature =
        |score: &Value| score["score"]["signature"].as_str().is_some_and(|line| line.contains("tau:0.6/0.9"));
    wait(&view, &format!("data/run/{single}.json"), signature);
    assert_eq!(names(&view).len(), 2, "a score is no run of its own");
}

#[test]
fn references_that_change_and_files_that_go_are_noticed() {
    let folder = Folder::new();
    write(&folder.path().join("p.json"), &json!([call("a", 1)]));
    write(&folder.path().join("references.json"), &json!([call("a", 2)]));
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    assert_eq!(reference_of(&view, 0, 0), json!("2"));
    write(&folder.path().join("references.json"), &json!([call("a", 1), call("b", 3)]));
    wait(&view, "data/home.json", |home| home["references"][0]["tasks"] == 2);
    assert_eq!(reference_of(&view, 0, 0), json!("1"));
    // It is scored anew: the other task has no prediction.
    wait(&view, "data/home.json", |home| recall_of(home, 0) == json!(0.5));
    std::fs::remove_file(folder.path().join("p.json")).unwrap();
    let told = |home: &Value| {
        home["runs"][0]["problem"].as_str().is_some_and(|said| said.contains("cannot be read any more"))
    };
    wait(&view, "data/home.json", told);
    assert_eq!(view.json("data/run/0.json")["rows"][0]["id"], "a", "what was there stays");
    write(&folder.path().join("p.json"), &json!([call("a", 5)]));
    wait(&view, "data/home.json", |home| home["runs"][0]["problem"].is_null());
}

/// Trajectories on lines may hold what only scores begin with.
#[test]
fn a_file_of_trajectories_is_not_taken_for_a_score() {
    let folder = Folder::new();
    let line =
        json!({"id": "a", "steps": [{"calls": [{"name": "t/u", "arguments": {"metrics": {"recall": 1}}}]}]});
    std::fs::write(folder.path().join("p.jsonl"), format!("{line}\n")).unwrap();
    let Some(view) = View::start(&folder, &["p.jsonl", "--no-score"]) else { return };
    assert_eq!(names(&view), ["p"]);
}

/// A file that is shown stays open; the usual limit of a shell is raised as far as it may be.
#[test]
fn more_files_are_shown_than_a_shell_lets_be_open() {
    let folder = Folder::new();
    for number in 0..300 {
        write(&folder.path().join(format!("p{number}.json")), &json!([call("a", number)]));
    }
    let Some(assets) = crate::support::encoder() else { return };
    let mut command = crate::support::program_with_cache("sh", folder.path(), assets);
    command
        .args(["-c", "ulimit -S -n 200; exec \"$0\" view --no-open --no-score ."])
        .arg(assert_cmd::cargo::cargo_bin("m3"));
    command.current_dir(folder.path()).stdin(std::process::Stdio::null());
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::null());
    let view = View::of(command);
    assert_eq!(names(&view).len(), 300);
}

/// References that were made of a run may lie in its folder: they stay what they are when it goes on.
#[test]
fn references_in_the_folder_of_a_run_stay_references() {
    let folder = Folder::new();
    let run = folder.path().join("run");
    write(&run.join("predictions.json"), &json!([call("a", 1)]));
    write(&run.join("references.json"), &json!([call("a", 2)]));
    std::fs::write(run.join("journal.jsonl"), "{\"time\": 1, \"event\": \"run_ended\"}\n").unwrap();
    let Some(view) = View::start(&folder, &["run", "--no-score"]) else { return };
    view.json("data/state.json");
    assert_eq!(names(&view), ["run"]);
    assert_eq!(reference_of(&view, 0, 0), json!("2"));
}

/// Pictures that a result holds itself, as MCP and as Anthropic's messages have them; what is no picture is not sent on.
#[test]
fn pictures_within_results_are_shown_and_thoughts_are_told() {
    let folder = Folder::new();
    let file = folder.path().join("red.png");
    image::RgbImage::from_pixel(6, 4, image::Rgb([200, 0, 0])).save(&file).unwrap();
    let data = STANDARD.encode(std::fs::read(&file).unwrap());
    let parts = json!([
        {"type": "text", "text": "two pictures"}, {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}},
        {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    ]);
    let said = json!([{"role": "assistant", "thoughts": "it is red", "content": "", "tool_calls": [{"name": "t/u"}]}]);
    let mut trajectory = call("a", 1);
    trajectory["steps"][0]["calls"][0]["result"] = json!({"content": parts});
    trajectory["dialogue"] = said;
    write(&folder.path().join("p.json"), &json!([trajectory]));
    let Some(view) = View::start(&folder, &["p.json", "--no-score"]) else { return };
    let task = view.json("data/task/0/0.json");
    assert_eq!(task["dialogue"][0]["thoughts"], "it is red");
    let result = &task["prediction"]["steps"][0][0]["result"];
    assert_eq!(result["text"], "two pictures");
    let kinds: Vec<String> = result["pictures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|picture| {
            let mut answer = view.get(&format!("data/picture/{}.jpg", picture["name"].as_str().unwrap()));
            let bytes = answer.body_mut().read_to_vec().unwrap();
            image::load_from_memory(&bytes)
                .map_or_else(|error| error.to_string(), |it| format!("{} x {}", it.width(), it.height()))
        })
        .collect();
    // A single pixel stands for what is no picture.
    assert_eq!(kinds, ["6 x 4", "6 x 4", "1 x 1"]);
}
