//! `--tool-names`

use std::path::Path;

use serde_json::{Value, json};

use super::{REFERENCES, average, edited, numbers, scored, usual};
use crate::support::{Folder, call, failure, m3, no_encoder, run, stdout, text};

/// The predictions with every `server/tool` rewritten by `write`.
fn renamed(write: impl Fn(&str, &str) -> String) -> Value {
    edited(|call| {
        let (server, tool) = call["name"].as_str().unwrap().split_once('/').unwrap();
        call["name"] = json!(write(server, tool));
    })
}

#[test]
fn names_in_another_writing_score_as_if_they_were_written_like_the_references() {
    for options in
        [&["--tool-names", "auto"] as &[&str], &["--tool-names", "auto", "--profile", "open-m3-bench"]]
    {
        let Some(expected) = usual(options) else { return };
        for write in [
            |server: &str, tool: &str| format!("{server}__{tool}"),
            |server: &str, tool: &str| format!("{server}.{tool}"),
            |server: &str, tool: &str| format!("{server}-{tool}"),
            |server: &str, tool: &str| format!("mcp__{server}__{tool}"),
            // No two servers of the benchmark have a tool with the same name.
            |_: &str, tool: &str| format!("functions.{tool}"),
        ] {
            let (said, report) = scored(&renamed(write), options).unwrap();
            assert_eq!(numbers(&report), expected, "{}", write("image", "crop"));
            let mapped = format!("{} -> image/crop", write("image", "crop"));
            assert!(said.contains("read as the references'") && said.contains(&mapped), "{said}");
            let names = &report["tool_names"];
            assert_eq!(
                (&names["mode"], &names["mapping"][write("image", "crop")]),
                (&json!("auto"), &json!("image/crop"))
            );
        }
    }
}

#[test]
fn without_the_option_the_writing_and_the_option_are_named() {
    let predictions = renamed(|server, tool| format!("{server}__{tool}"));
    let Some((said, report)) = scored(&predictions, &[]) else { return };
    assert_eq!(report["aggregate"]["matched"], 0);
    assert_eq!(report["tool_names"], json!({"mode": "off", "mapping": {}}));
    // 40 calls of the predictions, 15 tools among them.
    assert!(said.contains("warning: 40 predicted calls of ") && said.contains("match nothing"), "{said}");
    assert!(said.contains("`barcode__scan` may be `barcode/scan`"), "{said}");
    assert!(said.contains("hint: `--tool-names auto`"), "{said}");
    // Names that are in the references, and names that resemble none, are not other spellings.
    let (said, _) = scored(&edited(|_| ()), &[]).unwrap();
    assert_eq!(said, "");
    let (said, _) = scored(&renamed(|_, tool| format!("other/my_{tool}")), &[]).unwrap();
    assert_eq!(said, "");
}

#[test]
fn what_could_mean_several_is_listed_and_left_as_it_is() {
    let folder = Folder::new();
    let catalog = json!({"video": {"tools": [{"name": "crop", "inputSchema": {"type": "object"}}]}});
    let catalog = folder.json("tools.json", &catalog);
    let tools = ["--tool-names", "auto", "--tools", catalog.to_str().unwrap()];
    let predictions =
        renamed(|server, tool| if tool == "crop" { tool.to_owned() } else { format!("{server}/{tool}") });
    let Some((said, report)) = scored(&predictions, &tools) else { return };
    assert!(
        said.contains(
            "1 tool name of the predictions not mapped: `crop` could be `image/crop` or `video/crop`"
        ),
        "{said}"
    );
    assert!(said.contains("hint: `--tool-names FILE`"), "{said}");
    assert_eq!(report["tool_names"]["ambiguous"], json!({"crop": ["image/crop", "video/crop"]}));
    assert_eq!(report["tool_names"]["mapping"], json!({}));
    assert!(average(&report) < usual(&tools).unwrap()["aggregate"]["average"].as_f64().unwrap());
    // Without the catalog there is one candidate only.
    let (_, report) = scored(&predictions, &tools[..2]).unwrap();
    assert_eq!(report["tool_names"]["mapping"], json!({"crop": "image/crop"}));
    // One tool may be written in several ways.
    let half = edited(|call| {
        if call["name"] == "image/crop" && call["arguments"]["x1"] != 80 {
            call["name"] = json!("image__crop");
        }
    });
    let (said, report) = scored(&half, &tools[..2]).unwrap();
    assert!(said.contains("image__crop -> image/crop"), "{said}");
    assert_eq!(report["tool_names"]["mapping"], json!({"image__crop": "image/crop"}));
}

#[test]
fn a_file_says_what_names_mean() {
    let folder = Folder::new();
    let half = edited(|call| {
        if call["name"] == "image/crop" {
            call["name"] = json!(if call["arguments"]["x1"] == 80 { "cut" } else { "snip" });
        }
    });
    // Two names for one tool, which `auto` would never map; one that is not called; one that is not in the
    // references.
    let names =
        folder.json("names.json", &json!({"cut": "image/crop", "snip": "image/crop", "gone": "image/gone"}));
    let options = ["--tool-names", names.to_str().unwrap()];
    let Some((said, report)) = scored(&half, &options) else { return };
    assert_eq!(numbers(&report), usual(&[]).unwrap());
    assert_eq!(
        report["tool_names"],
        json!({"mode": "file", "mapping": {"cut": "image/crop", "snip": "image/crop"}})
    );
    assert!(said.contains("1 name that no prediction calls, such as `gone`"), "{said}");
    assert!(said.contains("1 name that no reference has, such as `image/gone`"), "{said}");
    for (content, reason) in [
        ("[1]", "it should be an object, and is an array"),
        ("{\"a\": 1}", "the name for `a` should be text, and is a number"),
        ("{\"a\": ", "is not JSON"),
    ] {
        let wrong = folder.write("wrong.json", content);
        let files = ["trajectories/predictions.json", REFERENCES, "--tool-names"];
        let (code, said) = failure(no_encoder(&folder).arg("score").args(files).arg(&wrong));
        assert_eq!(code, 2);
        assert!(said.contains(reason), "{said}");
    }
    let missing = ["trajectories/predictions.json", REFERENCES, "--tool-names", "Auto"];
    let (code, said) = failure(no_encoder(&folder).arg("score").args(missing));
    assert!(code == 2 && said.contains("failed to read `Auto`"), "{said}");
}

#[test]
fn tables_and_audits_show_the_names_that_were_compared() {
    let folder = Folder::new();
    let predictions = folder.json("p.json", &renamed(|server, tool| format!("{server}__{tool}")));
    let score = |format: &str| {
        let files = ["score", "--quiet", "--tool-names", "auto", "--format", format];
        Some(stdout(m3()?.args(files).arg(&predictions).arg(REFERENCES)))
    };
    let Some(table) = score("table") else { return };
    assert!(
        table.contains("tool names auto (")
            && table.lines().filter(|line| !line.starts_with("m3|")).all(|line| line.chars().count() <= 80),
        "{table}"
    );
    assert!(table.contains("\n  barcode__scan -> barcode/scan,\n"), "{table}");
    assert!(score("markdown").unwrap().contains("barcode\\_\\_scan -> barcode/scan"));
    let audit = |predictions: &Path, options: &[&str]| -> Value {
        let mut m3 = m3().unwrap();
        let output = run(m3.arg("audit").arg(predictions).args([REFERENCES, "--worst", "99"]).args(options));
        serde_json::from_slice::<Value>(&output.stdout)
            .map_or(json!(text(&output.stdout)), |all| all["trajectories"].clone())
    };
    let unchanged = folder.json("unchanged.json", &edited(|_| ()));
    for form in ["json", "table"] {
        let found = audit(&predictions, &["--format", form, "--tool-names", "auto"]);
        assert!(found == audit(&unchanged, &["--format", form]), "{form}: {found}");
    }
    let page = folder.path().join("audit.html");
    let files = ["audit", "--tool-names", "auto", "--html"];
    stdout(m3().unwrap().args(files).arg(&page).arg(&predictions).arg(REFERENCES));
    assert!(std::fs::read_to_string(page).unwrap().contains("tool names auto ("));
}

/// A catalog has the servers' names, whose spelling may differ from the references'.
#[test]
fn a_catalog_does_not_switch_the_check_off() {
    let folder = Folder::new();
    let set = |name: &str| json!([{"id": "a", "steps": [{"calls": [call(name, json!({"x": 1}))]}]}]);
    let references = folder.json("r.json", &set("image__crop"));
    let predictions = folder.json("p.json", &set("image/crop"));
    let tools = json!({"image": {"tools": [{"name": "crop", "inputSchema": {"type": "object"}}]}});
    let tools = folder.json("tools.json", &tools);
    let score = |options: &[&str]| {
        let mut m3 = m3()?;
        m3.args(["score", "--format", "json"]).args([&predictions, &references]).arg("--tools").arg(&tools);
        let output = run(m3.args(options));
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        Some((text(&output.stderr), report["aggregate"]["recall"].clone()))
    };
    let Some((said, recall)) = score(&[]) else { return };
    assert!(said.contains("`image/crop` may be `image__crop`") && recall == 0.0, "{said}");
    let (said, recall) = score(&["--tool-names", "auto"]).unwrap();
    assert!(said.contains("image/crop -> image__crop") && recall == 1.0, "{said}");
}
