//! The arguments in an audit: at the terminal, in JSON and in the page.

use std::path::PathBuf;

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::{POOR, REFERENCES, embedded};
use crate::support::{Folder, m3, report, stdout};

/// References and predictions with one trajectory of one call of `tool`.
fn call_files(folder: &Folder, tool: &str, [reference, predicted]: [&Value; 2]) -> [PathBuf; 2] {
    let trajectory = |arguments: &Value| {
        let calls = json!([{"name": tool, "arguments": arguments}]);
        json!([{"id": "1", "steps": [{"step": 1, "calls": calls}]}])
    };
    [
        folder.json("predictions.json", &trajectory(predicted)),
        folder.json("references.json", &trajectory(reference)),
    ]
}

/// An audit of two calls as terminal text, JSON and page. Thresholds are low, so that everything similar is matched.
fn three_forms(tool: &str, arguments: [&Value; 2]) -> Option<(String, Value, String)> {
    let folder = Folder::new();
    let files = call_files(&folder, tool, arguments);
    let path = folder.path().join("page.html");
    let audit = || Some([m3()?, m3()?, m3()?]);
    let [mut table, mut json, mut page] = audit()?;
    let options = ["audit", "-q", "--tau-weak", "0"];
    let printed = stdout(table.args(options).args(&files));
    let found = report(json.args(["audit", "--tau-weak", "0"]).args(&files));
    stdout(page.args(options).args(&files).arg("--html").arg(&path));
    Some((printed, found["trajectories"][0].clone(), std::fs::read_to_string(path).unwrap()))
}

/// Coordinates with a flipped sign, which the embedding hardly notices.
#[test]
fn a_flipped_sign_is_marked_with_its_reason_everywhere() {
    let reference = json!({"lat": 52.08, "lng": 4.31, "language": "en"});
    let predicted = json!({"lat": -52.08, "lng": 4.31, "language": "en"});
    let Some((printed, found, page)) = three_forms("air/conditions", [&reference, &predicted]) else {
        return;
    };
    let arguments = &found["arguments"][0];
    // The first argument is the language, because keys in these files are in alphabetical order.
    let lat = &arguments["arguments"][1];
    assert_eq!(lat["argument"], "lat");
    assert_eq!(lat["verdict"], "different");
    assert_eq!((&lat["reference"], &lat["predicted"]), (&json!("52.08"), &json!("-52.08")));
    assert_eq!(lat["kind"], "coordinate");
    assert!(lat["score"].as_f64().unwrap() < 0.5);
    let reason = lat["reason"].as_str().unwrap();
    assert!(reason.contains("sign"), "{reason}");
    let counts = json!({"equal": 2, "equivalent": 0, "close": 0, "different": 1, "missing": 0, "extra": 0});
    assert_eq!(arguments["verdicts"], counts);
    assert_eq!(arguments["arguments"].as_array().unwrap().len(), 3);
    // Similar enough for a strong match by the paper, but another call.
    assert!(found["matches"][0]["similarity"].as_f64().unwrap() >= 0.8);
    assert!(found["matches"][0]["argument_fidelity"].as_f64().unwrap() < 0.5);
    assert!(
        printed.contains(&format!("    ≠ lat: 52.08 -> -52.08   different coordinate: {reason}\n")),
        "{printed}"
    );
    assert!(printed.contains("    ! wrong arguments\n") && printed.contains("    2 equal\n"), "{printed}");
    assert!(printed.contains("1 matched pair, 1 of them with wrong arguments"), "{printed}");
    let (task, set) = (embedded(&page, "task/0/0.json"), embedded(&page, "run/0.json"));
    let shown = &task["audit"]["arguments"][0];
    let unequal = json!([["lat"], "≠", "different", "wrong", reason, "52.08", "-52.08"]);
    let keys = ["names", "mark", "verdict", "weight", "reason", "reference", "predicted"];
    assert_eq!(json!(keys.map(|key| &shown["unequal"][0][key])), unequal);
    assert_eq!(shown["equal"], "2 equal: language, lng");
    assert_eq!(set["rows"][0]["findings"], json!(["different", "rejected"]));
    // Also in the overview.
    assert_eq!(set["score"]["wrong_arguments"][0]["reason"], reason);
}

/// Ids that are not in the page are named without a link that would lead nowhere.
#[test]
fn findings_link_only_to_what_the_page_has() {
    let folder = Folder::new();
    let path = folder.path().join("audit.html");
    let options = ["audit", "-q", POOR, REFERENCES, "--duplicates", "last", "--id", "00020000", "--html"];
    let (Some(mut m3), Some(browser)) = (m3(), Browser::open(1280, 1000)) else { return };
    stdout(m3.args(options).arg(&path));
    browser.visit_address(&format!("file://{}", path.display()));
    browser.wait("document.documentElement.dataset.ready ?? ''", "#/");
    let linked =
        "[...new Set([...document.querySelectorAll('.wordy a')].map(link => link.textContent))].join()";
    assert_eq!(browser.text(linked), "00020000");
    assert!(browser.text("document.querySelector('.wordy').textContent").contains("00050000"));
}

#[test]
fn sets_in_another_order_are_equivalent_everywhere() {
    let (reference, predicted) =
        (json!({"tags": ["fishing", "boats"]}), json!({"tags": ["boats", "fishing"]}));
    let Some((printed, found, page)) = three_forms("a/b", [&reference, &predicted]) else { return };
    let tags = &found["arguments"][0]["arguments"][0];
    assert_eq!((&tags["argument"], &tags["verdict"]), (&json!("tags"), &json!("equivalent")));
    assert!(found["matches"][0]["argument_fidelity"].as_f64().unwrap() >= 0.9);
    assert!(
        printed.contains("    ≈ tags: ")
            && printed.contains("equivalent list: the same items in another order")
    );
    assert!(!printed.contains("wrong arguments"), "{printed}");
    let shown = embedded(&page, "task/0/0.json")["audit"]["arguments"][0]["unequal"][0].clone();
    assert_eq!((&shown["mark"], &shown["verdict"]), (&json!("≈"), &json!("equivalent")));
}

/// Equal arguments are counted, not listed, at the terminal, and a call that is wholly equal is not named at all.
#[test]
fn equal_arguments_are_counted() {
    let reference = json!({"a": 1, "b": [1, 2], "c": {"d": "x"}, "e": 5});
    let mut predicted = reference.clone();
    let Some((printed, found, _)) = three_forms("a/b", [&reference, &predicted]) else { return };
    assert!(!printed.contains("arguments") && !printed.contains("4 equal"), "{printed}");
    assert_eq!(found["arguments"][0]["verdicts"]["equal"], 4);
    predicted["e"] = json!(7);
    let Some((printed, found, _)) = three_forms("a/b", [&reference, &predicted]) else { return };
    assert!(printed.contains("    3 equal\n") && !printed.contains("c.d"), "{printed}");
    let verdicts: Vec<&str> = found["arguments"][0]["arguments"]
        .as_array()
        .unwrap()
        .iter()
        .map(|argument| argument["verdict"].as_str().unwrap())
        .collect();
    assert_eq!(verdicts, ["equal", "equal", "equal", "different"]);
}
