//! Scores of runs without images, and their comparisons.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Folder, follows_kept_schema, json_of, m3, m3_bare, run, stdout, text};

/// A run whose predictions all record that no images were shown is the blind baseline.
#[test]
fn the_difference_to_a_run_without_images_is_said_to_be_what_they_are_worth() {
    let folder = Folder::new();
    let predictions = std::fs::read(crate::support::root().join("trajectories/predictions.json")).unwrap();
    let mut predictions: Value = serde_json::from_slice(&predictions).unwrap();
    let score = |name: &str, predictions: &Value| {
        let (file, out) =
            (folder.json(&format!("{name}-p.json"), predictions), folder.path().join(format!("{name}.json")));
        let mut command = m3()?;
        stdout(
            command
                .args(["score", "-q"])
                .arg(file)
                .arg("trajectories/references.json")
                .arg("--out")
                .arg(&out),
        );
        Some(out)
    };
    let Some(sighted) = score("sighted", &predictions) else { return };
    let list = predictions.as_array_mut().unwrap();
    for prediction in list {
        prediction["run"] = json!({"no_images": true});
    }
    let blind = score("blind", &predictions).unwrap();
    predictions[0]["run"] = json!({});
    let mixed = score("mixed", &predictions).unwrap();
    follows_kept_schema("score", &json_of(&blind));
    let said = [&sighted, &blind, &mixed].map(|path| json_of(path).get("no_images").cloned());
    assert_eq!(said, [None, Some(json!(true)), None]);
    let compare = |first: &Path, second: &Path| {
        let mut m3 = m3_bare(folder.path());
        text(&run(m3.arg("compare").args([first, second])).stderr)
    };
    assert!(compare(&blind, &sighted).contains("the difference is what seeing the image is worth"));
    assert!(compare(&sighted, &blind).contains("its sign turned"));
    assert!(!compare(&sighted, &mixed).contains("worth"));
}
