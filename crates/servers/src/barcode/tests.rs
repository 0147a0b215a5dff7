//! Tests of the barcode server's answers; the scanner has its own tests of what is found in images.

use m3_testkit::{root, shared};

use super::*;

/// The answer's text, read as JSON, and whether it is an error.
fn call(workspace: &Path, tool: &str, image_paths: Value) -> (Value, bool) {
    let server = BarcodeServer::new(workspace).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let arguments = Map::from_iter([("image_paths".to_owned(), image_paths)]);
    match runtime.block_on(server.call(tool, arguments)) {
        Answer::Result(result) => {
            let text = result.all_text();
            assert_eq!(result.structured_content, Some(json!({"result": text})), "what the schema says");
            (serde_json::from_str(&text).unwrap(), result.is_error)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_picture_is_answered_in_the_shape_of_the_original() {
    // What and where images/make.py draws: bars of 2 pixels in (100, 130, 400, 270) and (560, 130, 860, 270), the
    // second with the ISBN 978-0-201-37962-4.
    let (answer, is_error) = call(root(), "scan_barcode", json!("./images/shelf.png"));
    assert!(!is_error);
    let [biscuits, crackers] = answer["metadata"]["results"].as_array().unwrap().as_slice() else {
        panic!("{answer}");
    };
    assert_eq!(biscuits["type"], "EAN13");
    assert_eq!(biscuits["data"], "4006381333931");
    assert_eq!(biscuits.get("isbn"), None);
    assert_eq!(crackers["isbn"], "9780201379624");
    let of = |key: &str| crackers["rect"][key].as_u64().unwrap();
    assert!(of("x") >= 560 && of("x") + of("width") <= 860 && of("width") >= 180, "{crackers}");
    assert!(of("y") >= 130 && of("y") + of("height") <= 270 && of("height") >= 90, "{crackers}");
    assert!(answer["message"].as_str().unwrap().contains("9780201379624"));
    assert_eq!(answer.get("ignored"), None);
}

#[test]
fn only_the_first_of_a_list_is_read_and_the_rest_is_named() {
    let (answer, _) =
        call(root(), "scan_barcode", json!(["images/poster.png", "images/shelf.png", "none.png"]));
    assert_eq!(answer["metadata"]["results"].as_array().unwrap().len(), 1);
    assert_eq!(answer["metadata"]["results"][0]["data"], "https://example.org/night");
    assert_eq!(answer["ignored"], json!(["images/shelf.png", "none.png"]));
    assert!(answer["message"].as_str().unwrap().contains("Only the first"));
}

#[test]
fn an_image_without_a_code_is_no_error() {
    let (answer, is_error) = call(root(), "scan_barcode", json!("images/receipt.png"));
    assert_eq!(answer["metadata"]["results"], json!([]));
    assert_eq!(answer["message"], "No code was found.");
    assert!(!is_error);
}

#[test]
fn every_image_of_a_list_is_read_by_scan() {
    let (answer, is_error) = call(root(), "scan", json!(["images/badges.png", "missing.png"]));
    let data: Vec<&str> = answer["images"][0]["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|code| code["data"].as_str().unwrap())
        .collect();
    assert_eq!(data, ["Ada:speaker:2026", "Linus:guest:2026", "Grace:staff:2026"]);
    assert!(answer["images"][1]["error"].as_str().unwrap().contains("missing.png"));
    assert!(!is_error, "one could be read");
    assert!(call(root(), "scan", json!("missing.png")).1);
}

#[test]
fn what_is_not_in_the_workspace_or_no_image_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.png"), "no image").unwrap();
    let outside = root().join("images/shelf.png");
    for path in ["text.png", "none.png", "../x.png", "", ".", "/etc/passwd", outside.to_str().unwrap()] {
        let (answer, is_error) = call(folder.path(), "scan_barcode", json!(path));
        assert!(is_error && answer["error"].is_string(), "{path}: {answer}");
    }
    assert!(call(folder.path(), "scan_barcode", json!([])).1);
}

#[test]
fn tools_are_those_of_the_catalog() {
    let server = BarcodeServer::new(root()).unwrap();
    let tool = &server.tools()[0];
    assert_eq!(tool.name, "scan_barcode");
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let file = std::fs::read(path).unwrap();
    let catalog: Value = serde_json::from_slice(&file).unwrap();
    let theirs = &catalog["pyzbar-mcp"]["tools"][0];
    assert_eq!(tool.name, theirs["name"].as_str().unwrap());
    let ours = Value::Object(tool.input_schema.clone());
    assert_eq!(ours["required"], theirs["inputSchema"]["required"]);
    let kinds = |schema: &Value| schema["properties"]["image_paths"]["anyOf"].clone();
    assert_eq!(kinds(&ours), kinds(&theirs["inputSchema"]));
    let output =
        |schema: &Value| (schema["required"].clone(), schema["properties"]["result"]["type"].clone());
    assert_eq!(output(&Value::Object(tool.output_schema.clone().unwrap())), output(&theirs["outputSchema"]));
}
