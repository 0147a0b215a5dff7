//! The word lists of the rules on a real catalog: the tools of Open-M3-Bench.

#![expect(clippy::print_stdout, reason = "what the lists do, for who reads it")]

use std::collections::BTreeSet;

use m3_flow::dependencies;
use m3_judge::reconstruct::by_rules;
use serde_json::{Value, json};

use super::{chain, made};
use crate::support::{json_of, shared};

/// Servers whose calls change their state: those for presentations and workbooks.
const STATEFUL: [&str; 2] = ["ppt", "excel"];

/// Tools of these servers that only read, by their descriptions.
const LOOKING: [&str; 14] = [
    "ppt/get_presentation_info",
    "ppt/get_template_file_info",
    "ppt/get_slide_info",
    "ppt/extract_slide_text",
    "ppt/extract_presentation_text",
    "ppt/list_slide_templates",
    "ppt/get_template_info",
    "ppt/list_presentations",
    "ppt/get_server_info",
    "excel/validate_formula_syntax",
    "excel/read_data_from_excel",
    "excel/get_workbook_metadata",
    "excel/get_merged_cells",
    "excel/validate_excel_range",
];

/// Whether two calls of a tool keep their order although they have only the server in common.
fn changes_state(tool: &str) -> bool {
    let call = |subject: &str| made(tool, &json!({"subject": subject}), Ok(&json!("done")));
    let run = chain(vec!["?".to_owned()], vec![vec![call("one")], vec![call("two")]]);
    by_rules(&run, &[]).steps.len() == 2
}

/// Whether a value returned by only one call is found in an argument with this name.
fn is_found(name: &str, returned: &Value, used: &Value) -> bool {
    let first = made("a/find", &json!({}), Ok(returned));
    let second = made("b/show", &json!({ name: used }), Ok(&json!("done")));
    !dependencies(&chain(vec!["?".to_owned()], vec![vec![first], vec![second]])).is_empty()
}

#[test]
fn arguments_of_the_catalog_that_are_settings_or_amounts_are_these() {
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let catalog: Value = json_of(path);
    let (mut settings, mut amounts, mut all) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let tools = catalog.as_object().unwrap().values().flat_map(|found| found["tools"].as_array().unwrap());
    for name in
        tools.filter_map(|tool| tool["inputSchema"]["properties"].as_object()).flat_map(|found| found.keys())
    {
        all.insert(name.as_str());
        if !is_found(name, &json!({"of": "Zebrawood", "by": "Ostrander"}), &json!("Zebrawood")) {
            settings.insert(name.as_str());
        } else if !is_found(name, &json!("17"), &json!(17)) {
            amounts.insert(name.as_str());
        }
    }
    println!("{} names of arguments", all.len());
    println!("settings: {settings:?}");
    println!("amounts: {amounts:?}");
    assert_eq!((all.len(), settings.len(), amounts.len()), (305, 55, 28));
    // Names of arguments in which calls of the references use values of others.
    for name in ["query", "keywords", "title", "location", "address", "paper_id", "input_path", "numbers"] {
        assert!(all.contains(name) && !settings.contains(name) && !amounts.contains(name), "{name}");
    }
}

#[test]
fn tools_of_the_catalog_are_taken_for_what_they_are() {
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let catalog: Value = json_of(path);
    let (mut wrong, mut changing, mut count) = (Vec::new(), Vec::new(), 0);
    for (server, found) in catalog.as_object().unwrap() {
        for tool in found["tools"].as_array().unwrap() {
            let name = format!("{server}/{}", tool["name"].as_str().unwrap());
            count += 1;
            let is_changing = changes_state(&name);
            let is_stateful = STATEFUL.contains(&server.as_str())
                && !LOOKING.contains(&name.as_str())
                && name != "excel/get_data_validation_info";
            if is_changing {
                changing.push(name.clone());
            }
            if is_changing != is_stateful {
                wrong.push(format!(
                    "{name} {}",
                    if is_changing { "changes nothing" } else { "changes something" }
                ));
            }
        }
    }
    println!("{} of {count} tools are taken for changing: {}", changing.len(), changing.join(" "));
    println!("taken for what they are not: {}", wrong.join(", "));
    assert_eq!(count, 232);
    let known: [&str; 0] = [];
    assert_eq!(wrong, known);
}
