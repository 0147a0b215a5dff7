//! `m3 review --label` and `--pairs`, in a real browser.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::page::{assert_quiet, click, open};
use super::support::{Review, lines, own, write_references};
use crate::audit::HOSTILE;
use crate::support::{Folder, follows_kept_schema, json_of, m3_bare, stdout};

const COUNT: &str = "document.getElementById('count').textContent";

#[test]
fn pairs_of_calls_are_labelled_by_keyboard() {
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let folder = Folder::new();
    let (predictions, references) = (own("predictions.json"), own("references.json"));
    let review = Review::start(&folder, &["--label", &predictions, &references, "--sample", "4"]);
    open(&browser, &review);
    for (number, key) in ["1", "2", "3"].iter().enumerate() {
        browser.wait(&format!("{COUNT}.startsWith('Pair {} of 4')", number + 1), "true");
        assert_eq!(browser.run(include_str!("../contrast.js")), json!([]));
        browser.press(key);
    }
    browser.wait(&format!("{COUNT}.startsWith('Pair 4 of 4; 3 labelled')"), "true");
    // A label can be changed.
    browser.press("k");
    browser.wait(&format!("{COUNT}.startsWith('Pair 3 of 4')"), "true");
    browser.press("1");
    browser.wait(&format!("{COUNT}.startsWith('Pair 4 of 4; 3 labelled')"), "true");
    click(&browser, "[data-label=weak]");
    browser.wait("document.querySelector('#detail h2').textContent", "All pairs are labelled");
    let labels: Value = json_of(folder.path().join("labels.json"));
    assert_eq!(labels["schema"], "m3.labels/1");
    follows_kept_schema("labels", &labels);
    let said: Vec<&str> = labels["pairs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair["labels"][0]["label"].as_str().unwrap())
        .collect();
    assert_eq!(said, ["strong", "medium", "strong", "weak"]);
    assert_eq!(labels["pairs"][0]["labels"][0]["name"], "Ada");
    assert!(labels["pairs"][0]["labels"][0]["time"].as_str().unwrap().ends_with('Z'));
    assert_quiet(&browser, &review);
    // A second visit continues where the first ended.
    open(&browser, &review);
    browser.wait("document.querySelector('#detail h2').textContent", "All pairs are labelled");
}

#[test]
fn pairs_of_trajectories_are_judged_blind() {
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let folder = Folder::new();
    let references = write_references(&folder);
    let mut originals: Value = json_of(&references);
    for original in originals.as_array_mut().unwrap() {
        original.as_object_mut().unwrap().remove("judge");
        let extra =
            json!({"step": 3, "calls": [{"name": "extra/call", "arguments": {}, "result": "nothing"}]});
        original["steps"].as_array_mut().unwrap().push(extra);
    }
    let originals = folder.json("runs.json", &originals);
    let files = ["--pairs", originals.to_str().unwrap(), references.to_str().unwrap()];
    let review = Review::start(&folder, &files);
    open(&browser, &review);
    for number in 1..=3 {
        browser.wait(&format!("{COUNT}.startsWith('Pair {number} of 3')"), "true");
        let shown = browser.text("document.body.innerText").to_lowercase();
        assert!(!shown.contains("original") && !shown.contains("reconstructed"), "{shown}");
        assert_eq!(browser.run(include_str!("../contrast.js")), json!([]));
        // The side without the needless call.
        let is_left =
            browser.text("document.querySelector('.side').innerText.includes('extra/call')") == "false";
        browser.press(if is_left { "1" } else { "2" });
    }
    browser.wait("document.querySelector('#detail h2').textContent", "All pairs are judged");
    let table = browser.text("document.querySelector('#detail tbody').innerText");
    assert!(table.contains("100.00 %"), "{table}");
    assert_quiet(&browser, &review);
    let kept = lines(&folder, "references.json.preferences.jsonl");
    assert!(kept.len() == 3 && kept.iter().all(|line| line["preferred"] == "reconstructed"));
    let summary = stdout(m3_bare(folder.path()).arg("review").args(files).arg("--summary"));
    // Wilson's interval of 3 of 3: 3 / (3 + 1.959964^2) = 0.4385 to 1.
    assert!(summary.contains("43.85 % to 100.00 %"), "{summary}");
}

#[test]
fn nothing_runs_in_the_other_modes_either() {
    let Some(browser) = Browser::open(400, 1000) else { return };
    let folder = Folder::new();
    let trajectory = |(index, text): (usize, &&str)| {
        let calls = json!([{"name": text, "arguments": {*text: text}, "result": text}]);
        json!({"id": format!("{text}{index}"), "image": text, "question": text, "final_reply": text, "steps": [{"step": 1, "calls": calls}]})
    };
    let set: Vec<Value> = HOSTILE.iter().enumerate().map(trajectory).collect();
    let file = folder.json("set.json", &json!(set));
    let file = file.to_str().unwrap();
    let mut longer = set;
    for trajectory in &mut longer {
        let steps = trajectory["steps"].as_array_mut().unwrap();
        steps.push(steps[0].clone());
    }
    let longer = folder.json("longer.json", &json!(longer));
    for (mode, keys) in [("--pairs", "0"), ("--label", "3")] {
        let other = if mode == "--pairs" { longer.to_str().unwrap() } else { file };
        let review = Review::start(&folder, &[mode, other, file]);
        open(&browser, &review);
        for number in 1..=HOSTILE.len() {
            browser.wait(&format!("{COUNT}.startsWith('Pair {number} of ')"), "true");
            let clean = "window.hostile === undefined && document.querySelectorAll('script').length === 1 \
                && document.querySelectorAll('[onerror], [onload], iframe, object, embed').length === 0 \
                && document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.text(clean), "true", "{mode} {number}");
            assert!(!browser.has_dialog());
            browser.press(keys);
        }
        browser.wait("document.querySelector('#detail h2').textContent.startsWith('All pairs are')", "true");
        assert_quiet(&browser, &review);
    }
}
