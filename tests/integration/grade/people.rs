//! A panel beside people.

use serde_json::json;

use super::{Tasks, is_about_completion, near, report, task};
use crate::model_server::{Scripted, ScriptedModel, Spoken};
use crate::support::{run, text};

#[test]
fn raw_agreement_stands_beside_kappa_and_the_corrected_rate() {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let tasks = Tasks::new(&ids);
    // Eight are good; the judge passes these and one of the two others.
    tasks.folder.json("predictions.json", &json!(ids.map(|id| task(id, &format!("answer {id}")))));
    let lenient = ScriptedModel::start(Spoken::OpenAi, |seen| {
        let score = if seen.last_user_text.contains("answer j") { "2" } else { "8" };
        Scripted::Say(if is_about_completion(seen) {
            format!("\\boxed{{{score}}}")
        } else {
            "{\"matrix\": [[1]]} \\boxed{1}".to_owned()
        })
    });
    let says = |id: &str| json!({"id": id, "person": "one", "pass": id != "i" && id != "j"});
    let mut labels: Vec<_> = ids.iter().map(|id| says(id)).collect();
    labels.push(json!({"id": "z", "pass": true}));
    let labels = tasks.folder.json("people.json", &json!(labels));
    let found = report(tasks.grade(&[&lenient]).arg("--labels").arg(&labels));
    let people = &found["people"];
    near(&people["base_rate"], 0.8);
    assert_eq!(people["unknown"], json!(["z"]));
    let panel = &people["raters"][0];
    // By hand: 9 of 10 agree; by chance 0.8 x 0.9 + 0.2 x 0.1 = 0.74: kappa 0.16 / 0.26.
    near(&panel["agreement"], 0.9);
    near(&panel["cohen_kappa"], 0.16 / 0.26);
    near(&panel["sensitivity"], 1.0);
    near(&panel["specificity"], 0.5);
    near(&panel["rate"]["value"], 0.9);
    // (0.9 + 0.5 - 1) / (1 + 0.5 - 1)
    near(&panel["corrected_rate"]["value"], 0.8);
    assert_eq!(people["raters"].as_array().unwrap().len(), 2);
    let table = text(&run(tasks.grade(&[&lenient]).arg("--labels").arg(&labels)).stdout);
    assert!(table.contains("Judges beside people") && table.contains("0.615"), "{table}");
    let labels = tasks.folder.write("people.csv", "id,note\na,b\n");
    let ended = run(tasks.grade(&[&lenient]).arg("--labels").arg(&labels));
    assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
}
