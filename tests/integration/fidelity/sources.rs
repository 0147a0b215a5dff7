//! Where figures come from: which model made a score, what it has learned from, which file pairs are of.

use serde_json::{Value, json};

use super::{fidelity, learned, own};
use crate::support::{
    Folder, failure, follows_kept_schema, json_of, m3, m3_bare, report, root, run, stdout, text,
};

/// A score says which model made it: in JSON always, elsewhere if it is not the built-in one.
#[test]
fn scores_by_different_models_are_told_apart() {
    let folder = Folder::new();
    let calls = json!([{"name": "food/search", "arguments": {"query": "ramen"}}]);
    let made = folder.json("p.json", &json!([{"id": "1", "steps": [{"step": 1, "calls": calls}]}]));
    let mut model = json_of(root().join("crates/score/models/fidelity/model.json"));
    model["base"] = json!(0.25);
    let own = folder.json("own.json", &model);
    let copy = folder
        .write("copy.json", std::fs::read(root().join("crates/score/models/fidelity/model.json")).unwrap());
    let score = |further: &[&std::path::Path]| {
        let mut m3 = m3()?;
        m3.arg("score").args([&made, &made]);
        for model in further {
            m3.arg("--fidelity-model").arg(model);
        }
        Some(m3)
    };
    let Some(mut built_in) = score(&[]) else { return };
    let built_in = report(&mut built_in);
    follows_kept_schema("score", &built_in);
    let fingerprint = |report: &Value| report["fidelity_model"]["fingerprint"].as_str().unwrap().to_owned();
    assert_eq!(built_in["fidelity_model"]["built_in"], true);
    assert_eq!(fingerprint(&built_in).len(), 16);
    let by_own = report(&mut score(&[&own]).unwrap());
    assert_eq!(by_own["fidelity_model"]["built_in"], false);
    assert_ne!(fingerprint(&by_own), fingerprint(&built_in));
    // A copy of the built-in model is the built-in model.
    assert_eq!(report(&mut score(&[&copy]).unwrap())["fidelity_model"], built_in["fidelity_model"]);
    let start = &fingerprint(&by_own)[..8];
    assert!(by_own["signature"].as_str().unwrap().contains(&format!("|fid:{start}|")), "{by_own}");
    assert!(!built_in["signature"].as_str().unwrap().contains("fid:"));
    let printed = stdout(&mut score(&[&own]).unwrap());
    assert!(printed.contains(&format!("fidelity model {start}")), "{printed}");
    let printed = stdout(&mut score(&[]).unwrap());
    assert!(!printed.contains("fidelity model") && !printed.contains("fid:"), "{printed}");
    let files = [folder.json("first.json", &built_in), folder.json("second.json", &by_own)];
    let (code, message) = failure(m3_bare(folder.path()).arg("compare").args(&files));
    assert!(code == 2 && message.contains(&fingerprint(&by_own)), "{message}");
}

/// Two pairs of the same and one of different, of which `5` and `500` alone differ.
fn small_pairs() -> [Value; 3] {
    let pair =
        |a: Value, b: Value, same: u8| json!({"tool": "s/t", "a": {"n": a}, "b": {"n": b}, "same": same});
    [pair(json!(5), json!("5"), 1), pair(json!("eel"), json!("eel"), 1), pair(json!(5), json!(500), 0)]
}

#[test]
fn several_files_have_figures_each() {
    let folder = Folder::new();
    let [same, also_same, different] = small_pairs();
    let pairs = folder.path().join("pairs");
    std::fs::create_dir(&pairs).unwrap();
    let first = folder.json("pairs/first.json", &json!([same, different]));
    folder.json("pairs/second.json", &json!([also_same]));
    let Some(alone) = fidelity(&first, &[]) else { return };
    assert!(alone.get("by_source").is_none(), "{alone}");
    assert_eq!(alone["fidelity_model"]["built_in"], true);
    let both = fidelity(&pairs, &[]).unwrap();
    follows_kept_schema("fidelity", &both);
    let counts = |report: &Value| -> Vec<Value> {
        let groups = report["by_source"].as_array().unwrap().iter();
        groups.map(|group| json!([group["name"], group["same"], group["different"]])).collect()
    };
    assert_eq!(counts(&both), [json!(["first", 1, 1]), json!(["second", 1, 0])]);
    assert_eq!(both["by_source"][0]["different_accepted"], alone["all"]["different_accepted"]);
    // Files of one name are told apart by their folders.
    let other = folder.json("first.json", &json!([different]));
    let three = fidelity(&pairs, &[other.to_str().unwrap(), "--similarity", "cosine"]).unwrap();
    assert!(three.get("fidelity_model").is_none());
    let names = counts(&three);
    assert_eq!(names[0], json!([first.display().to_string(), 1, 1]));
    assert_eq!(names[2], json!([other.display().to_string(), 0, 1]));
    let table = stdout(m3().unwrap().arg("fidelity").arg(&pairs));
    let of = |title: &str| table.find(title).unwrap();
    assert!(of("Fidelity by source") < of("3 pairs, similarity typed"), "{table}");
    assert!(of("3 pairs, similarity typed") < of("Fidelity by kind of edit"), "{table}");
    let table = stdout(m3().unwrap().arg("fidelity").arg(&first));
    assert!(!table.contains("Fidelity by source"), "{table}");
}

/// The figures of the model's own file.
#[test]
fn a_model_says_what_it_reached_on_its_sources() {
    let folder = Folder::new();
    let sources = |further: &[&str]| {
        let mut m3 = m3_bare(folder.path());
        m3.args(["fidelity", "--sources"]).args(further);
        m3
    };
    let found = report(&mut sources(&[]));
    follows_kept_schema("fidelity-sources", &found);
    let mut model = json_of(root().join("crates/score/models/fidelity/model.json"));
    assert_eq!((&found["sources"], &found["fidelity_model"]["built_in"]), (&model["sources"], &json!(true)));
    model["sources"] = json!([
        {"name": "birds", "pairs": 40, "sha256": "ab", "area_under_curve": 0.875, "different_accepted": 0.25, "same_rejected": 0.125},
        {"name": "labels", "pairs": 2, "sha256": "cd", "area_under_curve": null, "different_accepted": null, "same_rejected": null},
    ]);
    let own = folder.json("own.json", &model);
    let printed = stdout(&mut sources(&["--fidelity-model", own.to_str().unwrap()]));
    let line = |start: &str| {
        let line = printed.lines().find(|line| line.starts_with(start)).unwrap_or_default();
        line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line("birds"), ["birds", "40", "0.875", "25.0", "12.5"]);
    assert_eq!(line("labels"), ["labels", "2", "-", "-", "-"]);
    assert!(printed.contains("made from 42 pairs of 2 sources") && printed.contains("adapted"), "{printed}");
    for further in [&["pairs.json"][..], &["--tools", "catalog.json"], &["--threshold", "0.4"]] {
        let (code, message) = failure(&mut sources(further));
        assert!(code == 2 && message.contains("cannot be used with"), "{message}");
    }
}

/// Figures on pairs that the model has learned from are not taken for a measurement.
#[test]
fn pairs_that_the_model_has_learned_from_are_named() {
    let folder = Folder::new();
    let said = |further: &[&str]| Some(text(&run(m3()?.arg("fidelity").args(further)).stderr));
    let learned = learned("edits-text.json");
    let own = own("held-out.json");
    let (learned, own) = (learned.to_str().unwrap(), own.to_str().unwrap());
    let Some(found) = said(&[own, learned]) else { return };
    let note = "the model has learned from `edits-text`: the figures say nothing of new data";
    assert!(found.contains(note), "{found}");
    for further in [&[own][..], &[own, learned, "--similarity", "cosine"]] {
        let found = said(further).unwrap();
        assert!(!found.contains("has learned from"), "{found}");
    }
    // What a model was adapted to is among its sources.
    let out = folder.path().join("model");
    let out = out.to_str().unwrap();
    said(&["--train", own, "--model-out", out]);
    let found = said(&[own, "--fidelity-model", out]).unwrap();
    assert!(found.contains("has learned from `held-out`:"), "{found}");
    let sources = report(m3().unwrap().args(["fidelity", "--sources", "--fidelity-model", out]));
    let last = sources["sources"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["name"], &last["different_accepted"]), (&json!("held-out"), &Value::Null));
    assert!(sources["sources"].as_array().unwrap().iter().any(|source| source["name"] == "edits-text"));
}
