//! `--verify`: a reference is kept only if all its calls succeed when they are made again.

use serde_json::{Value, json};

use super::{
    command, ids, journal, long_run, made, one, prediction, product, references, refusal, rejected, two,
};
use crate::support::{Folder, call, root, run, stdout, text};

/// Reads the task's image, which the workspace has.
fn look() -> Value {
    call("image/get_metainfo", json!({"input_path": "images/shelf.png"}))
}

/// A call that is recorded as a success but whose file does not exist.
fn broken() -> Value {
    call("image/get_metainfo", json!({"input_path": "images/none.png"}))
}

#[test]
fn only_references_whose_calls_succeed_again_are_kept() {
    let folder = Folder::new();
    let good = prediction("good", "m", &[vec![made(look(), "800 x 600")], vec![made(one(), "1234")]]);
    let bad = prediction("bad", "m", &[vec![made(one(), "1234")], vec![made(broken(), "800 x 600")]]);
    // The shorter one fails, the longer one passes.
    let short = prediction("two", "m", &[vec![made(broken(), "800 x 600")]]);
    let long = prediction(
        "two",
        "m",
        &[vec![made(one(), "1234"), made(two(), "70007")], vec![made(product(), "1")]],
    );
    let predictions = folder.json("predictions.json", &json!([good, bad, short, long]));
    let judge = || {
        let mut command = command(&folder, &[&predictions]);
        command
            .args(["--rules-only", "--verify", "servers/local.json"])
            .arg("--images")
            .arg(root().join("images"));
        command
    };
    let table = stdout(&mut judge());
    assert!(table.contains("accepted      2\n"), "{table}");
    assert!(table.contains("rejected      1 (runs: 2 verification failed)\n"), "{table}");
    let found = references(&folder);
    assert_eq!(ids(&found), ["good", "two"]);
    let verification = &found[0]["judge"]["runs"][0]["verification"];
    assert_eq!((&verification["result"], &verification["calls"]), (&json!("passed"), &json!(2)));
    assert_eq!(found[1]["judge"]["chosen"], 1);
    assert_eq!(found[1]["steps"].as_array().unwrap().len(), 2);
    let [refused] = rejected(&folder).try_into().unwrap();
    assert_eq!(refusal(&refused)["kind"], "verification_failed");
    let failure = &refused["judge"]["runs"][0]["verification"]["failures"][0];
    assert_eq!(
        (&failure["tool"], &failure["outcome"]),
        (&json!("image/get_metainfo"), &json!("resource_not_found"))
    );
    assert!(failure["evidence"].as_str().unwrap().contains("none.png"), "{failure}");
    // References that were replayed are not replayed again.
    let lines = journal(&folder);
    assert_eq!(lines.len(), 4);
    assert_eq!(stdout(&mut judge()).lines().next(), table.lines().next());
    assert_eq!((journal(&folder), references(&folder)), (lines, found));
}

#[test]
fn what_cannot_be_replayed_is_undecided_and_tried_again() {
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!([long_run("a")]));
    let servers = json!({"mcpServers": {"math": {"command": "/nonexistent/m3", "args": ["serve", "math"]}}});
    let servers = folder.json("servers.json", &servers);
    let done = run(command(&folder, &[&predictions]).args(["--rules-only", "--verify"]).arg(&servers));
    assert_eq!(done.status.code(), Some(3), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).contains("undecided     1 (runs: 1 not verified)\n"),
        "{}",
        text(&done.stdout)
    );
    let undecided = &rejected(&folder)[0];
    assert_eq!(
        (&undecided["judge"]["status"], &refusal(undecided)["kind"]),
        (&json!("undecided"), &json!("not_verified"))
    );
    let unavailable = &undecided["judge"]["runs"][0]["verification"]["unavailable"];
    assert!(unavailable[0].as_str().unwrap().starts_with("math: "), "{unavailable}");
    assert_eq!(journal(&folder).len(), 0);
}

/// A run in a folder with its workspace: the first call shows a picture that only its result has, and the second one
/// names it as the model was told.
fn run_with_a_picture(folder: &Folder) -> std::path::PathBuf {
    let mut shown = made(call("stub/picture", json!({})), "");
    shown["result"] = json!({"content": [
        {"type": "image", "file": "results/00001-0.png", "name": "result-00001-0.png", "mimeType": "image/png"}]});
    let mut lost = made(call("stub/picture", json!({"a": 1})), "");
    lost["result"] =
        json!({"content": [{"type": "image", "file": "results/gone.png", "mimeType": "image/png"}]});
    let look = made(call("image/get_metainfo", json!({"input_path": "result-00001-0.png"})), "2 x 1");
    let results = folder.path().join("workspaces/a/results");
    std::fs::create_dir_all(&results).unwrap();
    image::RgbImage::new(2, 1).save(results.join("00001-0.png")).unwrap();
    folder.json("predictions.json", &json!([prediction("a", "m", &[vec![shown, lost], vec![look]])]))
}

#[test]
fn pictures_of_results_are_kept_beside_the_references_and_replayed_under_their_names() {
    let folder = Folder::new();
    let predictions = run_with_a_picture(&folder);
    let stub = json!({"command": crate::host::support::stub(), "args": ["default"]});
    let image = json!({"command": "m3", "args": ["serve", "image"]});
    let servers = folder.json("servers.json", &json!({"mcpServers": {"stub": stub, "image": image}}));
    let judge = || {
        let mut command = command(&folder, &[&predictions]);
        command.args(["--rules-only", "--verify"]).arg(&servers);
        command
    };
    let done = run(&mut judge());
    let (said, table) = (text(&done.stderr), text(&done.stdout));
    assert!(done.status.success() && table.contains("accepted      1\n"), "{said}{table}");
    assert!(
        table.contains("pictures      1 file, ") && said.contains("1 file of results cannot be read"),
        "{said}{table}"
    );
    let calls = |step: usize| references(&folder)[0]["steps"][step]["calls"].clone();
    let part = &calls(0)[0]["result"]["content"][0];
    let file = part["file"].as_str().unwrap();
    assert!(file.starts_with("results/") && part["name"] == "result-00001-0.png", "{part}");
    let at = |path: &str| image::open(folder.path().join(path)).unwrap();
    assert_eq!(at(file), at("workspaces/a/results/00001-0.png"));
    assert_eq!(calls(0)[1]["result"]["content"][0]["file"], "results/gone.png");
    assert_eq!(calls(1)[0]["result"], "2 x 1");
    // Written by the command and unchanged, so it may be replaced; the one result that a later call needs stays.
    let smaller = stdout(judge().arg("--without-results"));
    assert!(smaller.contains("accepted      1\n"), "{smaller}");
    let has_result = [calls(0)[0].clone(), calls(0)[1].clone(), calls(1)[0].clone()];
    assert_eq!(has_result.map(|call| call.get("result").is_some()), [true, false, false]);
    // Reviewed references take their pictures along.
    let elsewhere = folder.path().join("sub/reviewed.json");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let mut review = crate::support::m3_bare(folder.path());
    review.arg("review").arg(super::target(&folder)).args(["--with-undecided", "--out"]).arg(&elsewhere);
    run(&mut review);
    let reviewed = crate::support::json_of(&elsewhere);
    assert_eq!(reviewed[0]["steps"][0]["calls"][0]["result"]["content"][0]["file"], file);
    assert_eq!(at(&format!("sub/{file}")), at(file));
}
