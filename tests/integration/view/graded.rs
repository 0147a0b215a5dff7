//! Grades of panels, formats of traces and suites in the pages.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::{View, assert_quiet, one_call, visit, write};
use crate::support::{Folder, m3, run, text};

const MAIN: &str = "document.getElementById('main').textContent";

/// As `m3 grade -o` writes a prediction.
fn graded(id: &str, completion: f64) -> Value {
    let mut trajectory = one_call(id, "t/u", &json!({"x": 1}));
    trajectory["grades"] = json!({
        "rubric": "m3-bench", "task_completion": completion, "is_trimmed": false, "is_tied": true, "matrix": [[1.0]],
        "by_judge": [{"judge": "a:<b>", "task_completion": completion}, 7, {"judge": null, "task_completion": 9}],
    });
    trajectory
}

/// Waits until what was found is so.
fn found(view: &View, is_so: impl Fn(&Value) -> bool) {
    let start = std::time::Instant::now();
    loop {
        view.json("data/state.json");
        let home = view.json("data/home.json");
        if is_so(&home) {
            return;
        }
        assert!(start.elapsed().as_secs() < 60, "{home}");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// The graded form of predictions is no run of its own, and its grades stand at the run and at its tasks.
#[test]
fn grades_stand_beside_the_run_that_they_are_of() {
    let folder = Folder::new();
    let calls = |ids: &[&str]| ids.iter().map(|id| one_call(id, "t/u", &json!({"x": 1}))).collect::<Vec<_>>();
    write(&folder.path().join("p.json"), &json!(calls(&["a", "b"])));
    write(&folder.path().join("p-graded.json"), &json!([graded("a", 0.25), graded("b", 0.75)]));
    // The same tools with other arguments: another model, which nobody has graded.
    let others = ["a", "b"].map(|id| one_call(id, "t/u", &json!({"x": 2})));
    write(&folder.path().join("m2.json"), &json!(others));
    // Of other tasks: a run of its own.
    write(&folder.path().join("other.json"), &json!([graded("c", 1.0)]));
    write(&folder.path().join("references.json"), &json!(calls(&["a", "b", "c"])));
    let (Some(view), Some(browser)) = (View::start(&folder, &["."]), Browser::open(1280, 1000)) else {
        return;
    };
    view.wait_for_scores();
    let home = view.json("data/home.json");
    let grades = |home: &Value| -> Vec<(String, Value)> {
        let runs = home["runs"].as_array().unwrap().iter();
        runs.map(|run| {
            (run["name"].as_str().unwrap().to_owned(), run["grades"]["task_completion"][0].clone())
        })
        .collect()
    };
    let of = |name: &str, grade: Option<f64>| (name.to_owned(), json!(grade));
    let before = [of("m2", None), of("p", Some(0.5)), of("other", Some(1.0))];
    assert_eq!(grades(&home), before);
    visit(&browser, &view.address, "#/run/p?sort=-grade%20task_completion");
    let rows =
        "[...document.querySelectorAll('[data-rows] tbody th a')].map(link => link.textContent).join()";
    assert_eq!(browser.text(rows), "b,a,c");
    visit(&browser, &view.address, "#/task/p/a");
    let page = browser.text(MAIN);
    for said in ["Grades by m3-bench", "panel0.25", "a:<b>0.25", "As many judges pass as fail"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("9.00"), "{page}");
    assert_quiet(&browser, &view.address);
    // Graded anew, it shows the new grades; what has changed since has none.
    write(&folder.path().join("p-graded.json"), &json!([graded("a", 0.75), graded("b", 0.75)]));
    found(&view, |runs| grades(runs)[1] == of("p", Some(0.75)));
    let changed = [one_call("a", "t/u", &json!({"x": 9})), one_call("b", "t/u", &json!({"x": 1}))];
    write(&folder.path().join("p.json"), &json!(changed));
    found(&view, |_| {
        let run = view.json("data/run/1.json");
        let rows = run["rows"].as_array().unwrap();
        rows[0]["grades"].is_null() && rows[1]["grades"]["task_completion"] == 0.75
    });
}

/// A trace says what it is, and each table of a suite is sorted on its own.
#[test]
fn traces_say_their_format_and_tables_of_suites_are_sorted() {
    let folder = Folder::new();
    let Some(mut command) = m3() else { return };
    let call =
        json!([{"id": "c", "type": "function", "function": {"name": "t__u", "arguments": "{\"x\": 1}"}}]);
    let reply = json!({"role": "assistant", "content": null, "tool_calls": call});
    let messages = json!([{"role": "user", "content": "one"}, reply, {"role": "tool", "tool_call_id": "c", "content": "1"}]);
    write(&folder.path().join("chat.json"), &json!({"messages": messages}));
    let mut references =
        json!([one_call("a", "t/u", &json!({"x": 1})), one_call("b", "t/v", &json!({"x": 1}))]);
    references[0]["question"] = json!("one");
    for (name, tool) in [("good", "t/v"), ("poor", "t/w")] {
        let made = json!([one_call("a", "t/u", &json!({"x": 1})), one_call("b", tool, &json!({"x": 1}))]);
        write(&folder.path().join(format!("{name}.json")), &made);
    }
    write(&folder.path().join("references.json"), &references);
    let mut score = |name: &str| {
        let files =
            [format!("{name}.json"), "references.json".to_owned()].map(|name| folder.path().join(name));
        command.args(["score", "-q", "--suite", "mcpagentbench", "--out"]);
        let output = run(command.arg(folder.path().join(format!("{name}-score.json"))).args(files));
        assert!(output.status.success(), "{}", text(&output.stderr));
        command = m3().unwrap();
    };
    score("good");
    score("poor");
    let (Some(view), Some(browser)) = (View::start(&folder, &["."]), Browser::open(1280, 1000)) else {
        return;
    };
    visit(&browser, &view.address, "#/?sort=name");
    assert!(browser.text(MAIN).contains("openai-chat-messages"), "{}", browser.text(MAIN));
    assert!(browser.text(MAIN).contains("What the metrics mean"));
    let suite = "[...document.querySelectorAll('table')].find(table => table.caption?.textContent === 'mcpagentbench')";
    let names = format!("[...{suite}.querySelectorAll('tbody th')].map(head => head.textContent).join()");
    assert_eq!(browser.text(&names), "good,poor");
    browser.run(&format!("{suite}.querySelector('.sort').click()"));
    browser.wait(&names, "poor,good");
    // A suite colours the matrix too: the poor run has one of both tasks, and tasks go on in the order of the matrix.
    visit(&browser, &view.address, "#/matrix?metric=mcpagentbench.tfs&order=hard");
    let cells = "[...document.querySelectorAll('.heat tbody tr')].map(row => \
        [row.querySelector('th').textContent, ...[...row.querySelectorAll('td')].map(cell => [cell.textContent, cell.className.split(' ').at(-1)])].flat().join(' ')).join('; ')";
    assert_eq!(browser.text(cells), "b 0.50 v5 1.00 v10 0.00 v0; a 1.00 v10 1.00 v10 1.00 v10");
    browser.run("document.querySelector('.heat tbody th a').click()");
    browser.wait("document.documentElement.dataset.ready", "#/tasks/b");
    browser.press("j");
    browser.wait("document.documentElement.dataset.ready", "#/tasks/a");
    // Without a word about it, the verdict does.
    let metric = "document.querySelector('select[data-filter=metric]').value";
    for page in ["#/matrix", "#/compare/good/poor"] {
        visit(&browser, &view.address, page);
        assert_eq!(browser.text(metric), "verdict", "{page}");
    }
    visit(&browser, &view.address, "#/?sort=name&mcpagentbench=-run");
    browser.wait(&names, "poor,good");
    // The table of runs stays as it was.
    assert_eq!(browser.text("new URLSearchParams(location.hash.split('?')[1]).get('sort')"), "name");
    assert_quiet(&browser, &view.address);
    // A score of a release that had no verdict is compared by the average.
    let path = folder.path().join("poor-score.json");
    let mut score: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    for trajectory in score["trajectories"].as_array_mut().unwrap() {
        assert!(trajectory["metrics"].as_object_mut().unwrap().remove("verdict").is_some(), "{trajectory}");
    }
    write(&path, &score);
    let Some(view) = View::start(&folder, &["."]) else { return };
    for page in ["#/matrix", "#/compare/good/poor"] {
        visit(&browser, &view.address, page);
        assert_eq!(browser.text(metric), "average", "{page}");
    }
}

/// What `m3 judge` did not accept is shown, and nothing is scored against it.
#[test]
fn nothing_is_scored_against_rejected_references() {
    let folder = Folder::new();
    let of = |id: &str| json!([one_call(id, "t/u", &json!({"x": 1}))]);
    write(&folder.path().join("p.json"), &of("a"));
    write(&folder.path().join("references.json"), &of("b"));
    let mut rejected = of("a");
    rejected[0]["question"] = json!("one");
    write(&folder.path().join("references.rejected.json"), &rejected);
    let Some(view) = View::start(&folder, &["."]) else { return };
    let home = view.json("data/home.json");
    let marks: Vec<(&Value, &Value)> = home["references"]
        .as_array()
        .unwrap()
        .iter()
        .map(|found| (&found["name"], &found["is_rejected"]))
        .collect();
    let [accepted, not] = [json!("references.json"), json!("references.rejected.json")];
    assert_eq!(marks, [(&accepted, &json!(false)), (&not, &json!(true))]);
    found(&view, |home| home["runs"][0]["is_being_scored"] == false);
    assert_eq!(view.json("data/home.json")["runs"][0]["values"], Value::Null);
    let task = view.json("data/task/0/0.json");
    assert_eq!(task["reference"], Value::Null);
}
