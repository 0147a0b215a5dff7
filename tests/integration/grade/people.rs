//! A panel compared with people.

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};
use serde_json::json;

use super::{Tasks, is_about_completion, near, report, task};
use crate::support::{run, text};

#[test]
fn raw_agreement_stands_beside_kappa_and_the_corrected_rate() {
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let tasks = Tasks::new(&ids);
    // Eight tasks are good; the judge passes these and one of the two others.
    tasks.folder.json("predictions.json", &json!(ids.map(|id| task(id, &format!("answer {id}")))));
    let lenient = ScriptedModel::start(ScriptedWire::OpenAi, |seen| {
        let score = if seen.last_user_text.contains("answer j") { "2" } else { "8" };
        ScriptedReply::Say(if is_about_completion(seen) {
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
    let people = &found["people"][0];
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
    // All tasks are labelled, so the judge does not influence the rate.
    let wilson = found["people"][0]["raters"][1]["corrected_rate"].clone();
    near(&wilson["low"], 0.490_162_471_536_641_8);
    near(&wilson["high"], 0.943_317_848_545_624_7);
    assert_eq!(people["raters"].as_array().unwrap().len(), 2);
    let table = text(&run(tasks.grade(&[&lenient]).arg("--labels").arg(&labels)).stdout);
    assert!(table.contains("Judges beside people") && table.contains("0.615"), "{table}");
    let labels = tasks.folder.write("people.csv", "id,note\na,b\n");
    let ended = run(tasks.grade(&[&lenient]).arg("--labels").arg(&labels));
    assert_eq!(ended.status.code(), Some(2), "{}", text(&ended.stderr));
}

#[test]
fn each_measure_is_compared_that_people_have_labelled() {
    let tasks = Tasks::new(&["a", "b"]);
    let model = super::judge("8", "0.25");
    let labels =
        "id,measure,pass\na,,1\nb,,1\na,information_grounding,0\nb,information_grounding,1\na,mcp_eval,1\n";
    let labels = tasks.folder.write("people.csv", labels);
    let found = report(tasks.grade(&[&model]).arg("--labels").arg(&labels));
    crate::support::follows_kept_schema("grades", &found);
    let people = found["people"].as_array().unwrap();
    let measures: Vec<_> = people.iter().map(|of| of["measure"].as_str().unwrap()).collect();
    assert_eq!(measures, ["task_completion", "information_grounding"]);
    near(&people[0]["raters"][0]["agreement"], 1.0);
    near(&people[1]["raters"][0]["agreement"], 0.5);
    assert!(found["notes"].to_string().contains("mcp_eval"), "{found}");
}
