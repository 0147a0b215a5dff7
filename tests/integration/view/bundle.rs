//! `m3 view --bundle`: the pages as files, from a plain web server and from a folder of it.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use m3_testkit::browser::Browser;

use super::{assert_quiet, small_benchmark, visit};
use crate::support::{Folder, m3, run, text};

/// A web server that knows nothing but files.
fn serve_files(root: PathBuf) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let root = root.clone();
            std::thread::spawn(move || answer(stream, &root));
        }
    });
    address
}

fn answer(mut stream: TcpStream, root: &Path) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request
        .split(' ')
        .nth(1)
        .unwrap_or("/")
        .trim_start_matches('/')
        .split('?')
        .next()
        .unwrap_or_default();
    let file =
        if path.is_empty() || path.ends_with('/') { format!("{path}index.html") } else { path.to_owned() };
    let kind = match file.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        Some("jpg") => "image/jpeg",
        _ => "application/octet-stream",
    };
    let (status, body) =
        std::fs::read(root.join(file)).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

#[test]
fn a_bundle_has_what_the_pages_have_from_any_folder_of_a_server() {
    let Some(folder) = small_benchmark() else { return };
    std::fs::write(folder.path().join("cut.json"), "[{\"id\": \"a\", \"st").unwrap();
    let site = Folder::new();
    let bundle = site.path().join("reports/today");
    let mut command = m3().unwrap();
    let output = run(command.arg("view").arg(folder.path()).arg("--bundle").arg(&bundle));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("files in `"), "{}", text(&output.stderr));
    let Some(browser) = Browser::open(1280, 1000) else { return };
    let address = serve_files(site.path().to_owned());
    let address = format!("{address}reports/today/");
    for (page, shown) in [
        ("#/", "3 runs"),
        ("#/board", "resamples"),
        ("#/matrix", "15 of 15 tasks"),
        ("#/run/replayed", "15 of 15 tasks"),
        ("#/task/replayed/00010001", "HB-2044-7719-EX"),
        ("#/compare/poor/replayed", "Gains"),
        ("#/tasks/00010001", "Answer"),
        ("#/references/references.json", "15 of 15 tasks"),
    ] {
        visit(&browser, &address, page);
        let main = browser.text("document.getElementById('main').textContent");
        assert!(main.contains(shown), "{page}: {main}");
    }
    visit(&browser, &address, "#/task/replayed/00010001");
    browser.wait("[...document.querySelectorAll('.task img, .result img')].filter(image => image.naturalWidth > 0).length", "5");
    assert_quiet(&browser, &address);
    // Who gets the bundle does not learn where the files were.
    let named = folder.path().to_str().unwrap();
    for path in [
        "home.json",
        "board.json",
        "matrix.json",
        "run/0.json",
        "run/1.json",
        "run/2.json",
        "task/0/0.json",
        "references/0.json",
    ] {
        let told = std::fs::read_to_string(bundle.join("data").join(path)).unwrap();
        assert!(!told.contains(named), "{path}: {told}");
    }
}

#[test]
fn a_bundle_is_whole_or_not_there() {
    let folder = Folder::new();
    super::write(
        &folder.path().join("p.json"),
        &serde_json::json!([super::one_call("a", "t/u", &serde_json::json!({}))]),
    );
    let Some(mut command) = m3() else { return };
    let full = folder.path().join("full");
    std::fs::create_dir(&full).unwrap();
    std::fs::write(full.join("kept.txt"), "mine").unwrap();
    let output = run(command.arg("view").arg(folder.path().join("p.json")).arg("--bundle").arg(&full));
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("is not empty"), "{}", text(&output.stderr));
    assert_eq!(std::fs::read_dir(&full).unwrap().count(), 1);
    // Nothing is left beside it.
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_bundle_removes_what_a_stopped_one_has_left() {
    let folder = Folder::new();
    let predictions = folder.path().join("p.json");
    super::write(&predictions, &serde_json::json!([super::one_call("a", "t/u", &serde_json::json!({}))]));
    let [stopped, busy] = ["stopped", "busy"].map(|name| {
        let unfinished = folder.path().join(format!(".m3-view-{name}"));
        std::fs::create_dir(&unfinished).unwrap();
        std::fs::write(unfinished.join("index.html"), "half").unwrap();
        (unfinished.clone(), std::fs::File::create(unfinished.join(".lock")).unwrap())
    });
    busy.1.lock().unwrap();
    let Some(mut command) = m3() else { return };
    let bundle = folder.path().join("site");
    let output = run(command.args(["view", "--no-score"]).arg(&predictions).arg("--bundle").arg(&bundle));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(!stopped.0.exists());
    assert!(busy.0.join("index.html").exists());
    assert!(bundle.join("index.html").exists() && !bundle.join(".lock").exists());
}

#[test]
fn what_cannot_be_shown_is_said_at_the_start() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("words.json"), "{\"a\": 1}").unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    for (path, said) in [
        ("none", "does not exist"),
        ("pipe", "neither a file nor a folder"),
        ("words.json", "words.json"),
        (".", "no trajectories, scores or references"),
    ] {
        let Some(mut command) = m3() else { return };
        let output = run(command.current_dir(folder.path()).args(["view", "--no-open", path]));
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert!(text(&output.stderr).contains(said), "{path}: {}", text(&output.stderr));
    }
}

/// An entry without steps among trajectories has a row of its own, and moves no other.
#[test]
fn rows_are_those_of_their_trajectories_even_beside_tasks() {
    let folder = Folder::new();
    let call = |id: &str| super::one_call(id, "t/u", &serde_json::json!({"of": id}));
    let task = serde_json::json!({"id": "b", "question": "Which?"});
    super::write(&folder.path().join("p.json"), &serde_json::json!([call("a"), task, call("c")]));
    let Some(view) = super::View::start(&folder, &["p.json", "--no-score"]) else { return };
    let run = view.json("data/run/0.json");
    let rows: Vec<(&str, u64)> = run["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["id"].as_str().unwrap(), row["calls"].as_u64().unwrap()))
        .collect();
    assert_eq!(rows, [("a", 1), ("b", 0), ("c", 1)]);
    let task = view.json("data/task/0/2.json");
    assert_eq!(task["prediction"]["steps"][0][0]["arguments"], serde_json::json!([["of", "\"c\""]]));
}
