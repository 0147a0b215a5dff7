//! The image server against the benchmark: its tools are those of the catalog's `imagesorcery-mcp`, and the calls
//! recorded there work here.

use std::path::Path;

use m3_mcp::{Answer, Toolbox as _};
use m3_servers::image::ImageServer;
use serde_json::{Map, Value, json};

use crate::support::{json_of, shared};

const SERVER: &str = "imagesorcery-mcp";

/// The rules of a schema, without its descriptions.
fn rules(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => {
            let is_rule = |key: &str| key != "title" && key != "description";
            members
                .iter()
                .filter(|(key, _)| is_rule(key))
                .map(|(key, value)| (key.clone(), rules(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(rules).collect(),
        other => other.clone(),
    }
}

#[test]
fn arguments_are_those_of_the_catalog() {
    let Some(path) = shared("open-m3-bench/tools.json") else { return };
    let catalog: Value = json_of(path);
    let folder = tempfile::tempdir().unwrap();
    let server = ImageServer::new(folder.path()).unwrap();
    let theirs = catalog[SERVER]["tools"].as_array().unwrap();
    assert_eq!(theirs.len(), 7);
    for theirs in theirs {
        let name = theirs["name"].as_str().unwrap();
        let ours = server.tools().iter().find(|tool| tool.name == name).unwrap();
        let mut ours = rules(&Value::Object(ours.input_schema.clone()));
        // Where the catalog allows any object, ours lists the keys it reads.
        for property in ours["properties"].as_object_mut().unwrap().values_mut() {
            if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut)
                && items.contains_key("additionalProperties")
            {
                items.remove("properties");
                items.remove("required");
            }
        }
        assert_eq!(ours, rules(&theirs["inputSchema"]), "{name}");
    }
}

/// All calls except two: one has arguments of no tool, and one writes outside of the workspace.
#[tokio::test]
async fn recorded_calls_work() {
    let Some(path) = shared("open-m3-bench/references.json") else { return };
    let references: Value = json_of(path);
    let folder = tempfile::tempdir().unwrap();
    let server = ImageServer::new(folder.path()).unwrap();
    let png = folder.path().join("white.png");
    image::RgbImage::from_pixel(1600, 1600, image::Rgb([255; 3])).save(&png).unwrap();
    let (mut worked, mut invalid, mut refused) = (0, Vec::new(), Vec::new());
    for trajectory in references.as_array().unwrap() {
        let steps = trajectory["steps"].as_array().unwrap();
        for call in steps.iter().flat_map(|step| step["calls"].as_array().unwrap()) {
            let Some(tool) = call["name"].as_str().unwrap().strip_prefix("imagesorcery-mcp/") else {
                continue;
            };
            let arguments = call["arguments"].as_object().unwrap();
            provide(folder.path(), &png, arguments);
            match server.call(tool, arguments.clone()).await {
                Answer::Result(result) if result.is_error => refused.push(result.all_text()),
                Answer::Result(result) => {
                    let written = &result.structured_content.unwrap()["result"][0];
                    assert!(folder.path().join(written.as_str().unwrap()).is_file());
                    let named = arguments.get("output_path");
                    assert!(named.is_none_or(|named| named == written), "{arguments:?}");
                    worked += 1;
                }
                Answer::InvalidArguments(message) => invalid.push(message),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!((worked, invalid.len(), refused.len()), (49, 1, 1), "{invalid:?} {refused:?}");
    assert!(invalid[0].contains("\"input_path\" is a required property"), "{invalid:?}");
    assert!(refused[0].contains("leads out of the workspace"), "{refused:?}");
}

/// Creates the image that a call reads.
fn provide(folder: &Path, png: &Path, arguments: &Map<String, Value>) {
    let Some(input) = arguments.get("input_path").and_then(Value::as_str) else { return };
    let input = folder.join(input);
    std::fs::create_dir_all(input.parent().unwrap()).unwrap();
    if !input.exists() {
        std::fs::copy(png, input).unwrap();
    }
}

/// Structured content must fit the output schema.
#[tokio::test]
async fn structured_content_fits_the_output_schema() {
    let folder = tempfile::tempdir().unwrap();
    image::RgbImage::new(8, 8).save(folder.path().join("a.png")).unwrap();
    let server = ImageServer::new(folder.path()).unwrap();
    for tool in server.tools() {
        let arguments = json!({
            "input_path": "a.png", "base_image_path": "a.png", "overlay_image_path": "a.png", "x": 0, "y": 0,
            "x1": 0, "y1": 0, "x2": 4, "y2": 4, "areas": [], "circles": [], "rectangles": [], "lines": [],
            "arrows": [], "texts": [], "scale_factor": 0.5, "angle": 12.5, "palette": "sepia",
        });
        let answer = server.call(&tool.name, arguments.as_object().unwrap().clone()).await;
        let Answer::Result(result) = answer else { panic!("{answer:?}") };
        assert!(!result.is_error, "{}: {}", tool.name, result.all_text());
        let schema = Value::Object(tool.output_schema.clone().unwrap());
        let validator = jsonschema::validator_for(&schema).unwrap();
        assert!(validator.is_valid(&result.structured_content.unwrap()), "{}", tool.name);
    }
}
