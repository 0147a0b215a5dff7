//! How large the page of an audit may become.

use std::io::Cursor;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::{ImageFormat, RgbImage};
use serde_json::{Value, json};

use super::embedded;
use crate::support::{Folder, m3, stdout};

/// Beyond 32 MB of documents messages are cut after 500 characters, and there are at most 2,000 pictures of results.
#[test]
fn a_page_stays_so_small_that_a_browser_opens_it() {
    let long = "word ".repeat(3_500);
    let messages = vec![json!({"role": "assistant", "content": long}); 500];
    let trajectory = |id: usize| {
        let calls = json!([{"name": "a/b", "arguments": {}}]);
        json!({"id": id.to_string(), "steps": [{"step": 1, "calls": calls}], "dialogue": messages})
    };
    let folder = Folder::new();
    // 9 MB each.
    let file = folder.json("set.json", &Value::Array((0..6).map(trajectory).collect()));
    let page_of = |file: &Path| {
        let path = folder.path().join("page.html");
        stdout(m3()?.args(["audit", "-q"]).args([file, file]).arg("--html").arg(&path));
        Some(std::fs::read_to_string(path).unwrap())
    };
    let Some(page) = page_of(&file) else { return };
    assert!((32_000_000..46_000_000).contains(&page.len()), "{} bytes", page.len());
    let longest = |number: usize| {
        let told = embedded(&page, &format!("task/0/{number}.json"));
        told["dialogue"][0]["text"].as_str().unwrap().chars().count()
    };
    // The ellipsis counts.
    assert_eq!([0, 3, 4, 5].map(longest), [17_500, 17_500, 501, 501]);

    let picture = STANDARD.encode(one_pixel());
    let part = json!({"type": "image", "mimeType": "image/png", "data": picture});
    let call = |number: usize| json!({"name": "a/b", "arguments": {"n": number}, "result": {"content": vec![part.clone(); 500]}});
    let calls: Vec<Value> = (0..5).map(call).collect();
    let file = folder.json("set.json", &json!([{"id": "1", "steps": [{"step": 1, "calls": calls}]}]));
    let told = embedded(&page_of(&file).unwrap(), "task/0/0.json");
    let calls = told["prediction"]["steps"][0].as_array().unwrap();
    let pictures = calls.iter().flat_map(|call| call["result"]["pictures"].as_array().unwrap());
    let shown = pictures.filter(|picture| picture["problem"].is_null()).count();
    assert_eq!(shown, 2_000);
}

/// A picture of one pixel.
fn one_pixel() -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    RgbImage::new(1, 1).write_to(&mut bytes, ImageFormat::Png).unwrap();
    bytes.into_inner()
}
