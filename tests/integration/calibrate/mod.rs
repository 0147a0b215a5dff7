//! `m3 calibrate`: thresholds from people's labels.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value, json};

use crate::support::{Folder, failure, follows_kept_schema, m3, m3_bare, report, root, run, text};

fn pair(id: &str, reference: &str, predicted: &str, labels: &[&str]) -> Value {
    let labels: Vec<Value> = labels
        .iter()
        .enumerate()
        .map(|(person, label)| json!({"name": format!("person {person}"), "label": label}))
        .collect();
    json!({"id": id, "tool": "wiki/search", "reference": {"query": reference}, "predicted": {"query": predicted},
        "labels": labels})
}

/// Pairs with an obvious similarity: the same, nearly the same, something else.
pub(crate) fn labels(folder: &Folder) -> PathBuf {
    let same = [
        "American eel",
        "Eiffel Tower height",
        "kcal of a fig",
        "vitamin C of an orange",
        "weather in Oslo",
        "trains to Basel",
        "blue whale weight",
        "recipe for rye bread",
        "Mozart operas",
        "price of silver",
    ];
    let else_ = [
        "quarterly tax forms",
        "how to tune a violin",
        "list of moons of Saturn",
        "python list sort",
        "football rules",
        "vaccination calendar",
        "rust lifetimes",
        "hotels by the sea",
        "screws for wood",
        "kings of Norway",
    ];
    let mut pairs = Vec::new();
    for (index, (same, other)) in same.iter().zip(else_).enumerate() {
        pairs.push(pair(&format!("same {index}"), same, same, &["strong", "strong", "medium"]));
        pairs.push(pair(&format!("else {index}"), same, other, &["weak", "weak"]));
    }
    pairs.push(pair("near 0", "American eel habitat", "where does the American eel live", &["medium"]));
    pairs.push(pair("tie", "American eel", "eel", &["strong", "weak"]));
    pairs.push(pair("nobody", "American eel", "eel", &[]));
    let labels = json!({"schema": "m3.labels/1", "pairs": pairs});
    follows_kept_schema("labels", &labels);
    folder.json("labels.json", &labels)
}

fn calibrate(folder: &Folder) -> Option<Command> {
    let mut command = m3()?;
    command.current_dir(root()).arg("calibrate").arg(labels(folder)).args(["--resamples", "200"]);
    Some(command)
}

/// The report of a run that should succeed, which follows its schema.
fn calibration(command: &mut Command) -> Value {
    let found = report(command);
    follows_kept_schema("calibration", &found);
    found
}

#[test]
fn labels_that_similarity_can_meet_are_all_met() {
    let folder = Folder::new();
    let Some(mut command) = calibrate(&folder) else { return };
    let figures = folder.path().join("figures");
    let found = calibration(command.arg("--figures").arg(&figures));
    let recommended = &found["recommended"];
    assert_eq!(recommended["agreement"], 1.0);
    assert_eq!(recommended["cohen_kappa"], 1.0);
    assert_eq!((&found["best"], &found["keep_default"]), (recommended, &json!([])));
    assert_eq!(found["concordance"], 1.0);
    let threshold = |name: &str| recommended[name].as_f64().unwrap();
    assert!(threshold("weak") < threshold("strong") && threshold("strong") <= 1.0, "{recommended}");
    let labels = &found["labels"];
    assert_eq!([&labels["pairs"], &labels["used"], &labels["people"]], [23, 21, 3]);
    assert_eq!([&labels["weak"], &labels["medium"], &labels["strong"]], [10, 1, 10]);
    assert_eq!((&labels["ties"], &labels["unlabelled"]), (&json!(["tie"]), &json!(["nobody"])));
    assert_eq!(labels["disagreements"].as_array().unwrap().len(), 10);
    assert_eq!(labels["not_met"], json!([]));
    for end in ["low", "high"] {
        assert!((0.0..=1.0).contains(&found["weak_interval"][end].as_f64().unwrap()), "{found}");
    }
    // The table of agreement is right for the thresholds: if both are near 0, they agree with strong pairs only, by
    // hand 10 of 21.
    let cell =
        found["sweep"].as_array().unwrap().iter().find(|cell| cell["weak"] == 0.0 && cell["strong"] == 1.0);
    // With 0 and 1, they agree with the strong pairs (similarity 1) and the medium one; with weak pairs only below 0.
    assert!(cell.unwrap()["agreement"].as_f64().unwrap() >= 11.0 / 21.0 - 1e-9, "{cell:?}");
    let png = std::fs::read(figures.join("calibration.png")).unwrap();
    assert_eq!(&png[1..4], b"PNG");
    assert!(std::fs::read_to_string(figures.join("calibration.svg")).unwrap().contains("recommended"));
    // The same again, bit for bit; and as a table.
    let Some(mut command) = calibrate(&folder) else { return };
    assert_eq!(report(&mut command), found);
    let Some(mut command) = calibrate(&folder) else { return };
    let table = text(&run(&mut command).stdout);
    assert!(table.contains("Thresholds") && table.contains("Agreement in percent"), "{table}");
    assert!(table.lines().filter(|line| line.contains(['█', '▓'])).count() >= 1, "{table}");
}

/// Labels that alternate whatever the similarity: some thresholds agree with more of them than others, but none
/// should be chosen.
#[test]
fn labels_that_say_nothing_keep_the_defaults() {
    let folder = Folder::new();
    let words = ["eel", "tower", "fig", "violin", "moon", "tax"];
    let pairs = (0..36).map(|at| {
        let label = ["weak", "strong", "medium"][(at + at / 6) % 3];
        let predicted = format!("{} {}", words[at / 6], words[at % 6]);
        pair(&at.to_string(), &format!("{0} {0}", words[at / 6]), &predicted, &[label])
    });
    let file =
        |pairs: Vec<Value>| folder.json("labels.json", &json!({"schema": "m3.labels/1", "pairs": pairs}));
    let Some(mut m3) = m3() else { return };
    let path = file(pairs.clone().collect());
    let found = calibration(m3.current_dir(root()).arg("calibrate").arg(path).args(["--resamples", "1000"]));
    assert_eq!((&found["recommended"]["weak"], &found["recommended"]["strong"]), (&json!(0.6), &json!(0.8)));
    assert!(found["best"]["agreement"].as_f64() > found["recommended"]["agreement"].as_f64(), "{found}");
    assert!(found["keep_default"][0].as_str().unwrap().contains("by chance"), "{found}");
    assert!(found["concordance_interval"]["low"].as_f64().unwrap() <= 0.5, "{found}");
    // Too few labels, and none of one kind.
    let path = file(pairs.filter(|pair| pair["labels"][0]["label"] != "medium").take(8).collect());
    let Some(mut m3) = crate::support::m3() else { return };
    let table = text(&run(m3.current_dir(root()).arg("calibrate").arg(path)).stdout);
    assert!(table.contains("Keep the defaults, 0.6 and 0.8: 8 labelled pairs are too few"), "{table}");
    assert!(
        table.contains("Warning: no pair is labelled medium") && table.contains("default, recommended"),
        "{table}"
    );
}

#[test]
fn scores_are_shown_for_the_thresholds_and_are_those_of_m3_score() {
    let folder = Folder::new();
    let Some(mut command) = calibrate(&folder) else { return };
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let found = calibration(command.args(["--pred", files[0], "--ref", files[1]]));
    let rows = found["sensitivity"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["recommended", "default", "low end", "high end"]);
    for row in rows {
        let Some(mut m3) = m3() else { return };
        let thresholds = [row["weak"].to_string(), row["strong"].to_string()];
        let score = report(m3.current_dir(root()).arg("score").args(files).args([
            "--tau-weak",
            &thresholds[0],
            "--tau-strong",
            &thresholds[1],
        ]));
        for metric in ["recall", "argument_similarity", "average"] {
            let (found, scored) =
                (row[metric].as_f64().unwrap(), score["aggregate"][metric].as_f64().unwrap());
            assert!((found - scored).abs() < 1e-6, "{metric}: {found} and {scored}");
        }
    }
    // Stricter thresholds match no more.
    assert!(rows[3]["recall"].as_f64() <= rows[2]["recall"].as_f64());
}

#[test]
fn what_is_no_file_of_labels_is_refused_before_the_encoder_is_needed() {
    let folder = Folder::new();
    let refused = |content: Value| {
        let path = folder.json("labels.json", &content);
        failure(m3_bare(folder.path()).arg("calibrate").arg(path))
    };
    let (code, said) = refused(json!({"schema": "m3.score/1", "pairs": []}));
    assert!(code == 2 && said.contains("m3.labels/1") && said.contains("hint:"), "{said}");
    let (code, said) = refused(json!({"schema": "m3.labels/1", "pairs": [pair("a", "x", "y", &[])]}));
    assert!(code == 2 && said.contains("agree on"), "{said}");
    let (code, said) = refused(json!({"schema": "m3.labels/1", "pairs": [pair("a", "x", "y", &["huge"])]}));
    assert!(code == 2 && said.contains("huge"), "{said}");
    let (code, _) = failure(m3_bare(folder.path()).args(["calibrate", "nowhere.json"]));
    assert_eq!(code, 2);
}
