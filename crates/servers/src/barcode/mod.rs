//! The `barcode` server: reads EAN-13, EAN-8, UPC-A, UPC-E, Code 128 and QR codes in images of its workspace.
//!
//! `scan_barcode` is that of the benchmark's `pyzbar-mcp`: it takes one path, or a list whose first is used, and
//! answers with JSON in a text, `{"message": .., "metadata": {"results": [{"type", "data", "rect"}]}}`, or `{"error":
//! ..}`. Unlike `pyzbar-mcp`, it reports which paths it left out, and it gives an `isbn` only if the number is one.
//! `scan` reads every image of a list, as the tasks of the small benchmark in `trajectories/` ask.
//!
//! A difference from zbar: UPC-A is reported as UPC-A, with 12 digits, where zbar gives an EAN13 with a leading zero.

mod geometry;
mod scan;

use std::path::Path;
use std::sync::Arc;

use m3_mcp::{Answer, Answering, Tool, ToolResult, Toolbox};
use m3_support::text::visible;
use serde_json::{Map, Value, json};

use self::scan::{Code, scan};
use super::tools::{Tools, read_only_tool};
use super::work::{MOST_PIXELS, WorkLimiter};
use super::{Workspace, WorkspaceError};

/// The most images that one call may name.
const MOST_IMAGES: usize = 20;

/// The `barcode` server.
#[derive(Debug)]
pub struct BarcodeServer {
    workspace: Arc<Workspace>,
    tools: Tools,
    limiter: WorkLimiter,
}

impl BarcodeServer {
    /// A server that reads in a folder.
    ///
    /// # Errors
    /// [`WorkspaceError::Unusable`] if the folder cannot be used.
    pub fn new(workspace: &Path) -> Result<Self, WorkspaceError> {
        Ok(Self {
            workspace: Arc::new(Workspace::new(workspace)?),
            tools: Tools::new(tools()),
            limiter: WorkLimiter::default(),
        })
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>) -> Answer {
        let arguments = match self.tools.checked(tool, arguments) {
            Ok(arguments) => arguments,
            Err(answer) => return answer,
        };
        let paths: Vec<String> = match arguments.get("image_paths") {
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            Some(Value::String(path)) => vec![path.clone()],
            _ => Vec::new(),
        };
        let read: fn(&Workspace, &[String]) -> ToolResult =
            if tool == "scan_barcode" { scan_barcode } else { scan_all };
        let workspace = Arc::clone(&self.workspace);
        self.limiter.run(move || Answer::Result(read(&workspace, &paths))).await
    }
}

impl Toolbox for BarcodeServer {
    fn name(&self) -> &'static str {
        "barcode"
    }

    fn tools(&self) -> &[Tool] {
        self.tools.as_slice()
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        Box::pin(self.answer(tool, arguments))
    }
}

/// Reads the first image, as `pyzbar-mcp` does.
fn scan_barcode(workspace: &Workspace, paths: &[String]) -> ToolResult {
    let Some((path, others)) = paths.split_first() else {
        return text_result(&json!({"error": "no image is named"}), true);
    };
    let codes = match read(workspace, path) {
        Ok(codes) => codes,
        Err(error) => return text_result(&json!({ "error": error }), true),
    };
    let mut answer = json!({"message": message(&codes), "metadata": {"results": results(&codes)}});
    if !others.is_empty() {
        answer["message"] = json!(message(&codes) + " Only the first image was read.");
        answer["ignored"] = json!(others);
    }
    text_result(&answer, false)
}

/// Reads every image. It is an error if none can be read.
fn scan_all(workspace: &Workspace, paths: &[String]) -> ToolResult {
    let mut is_error = true;
    let images = paths.iter().map(|path| match read(workspace, path) {
        Ok(codes) => {
            is_error = false;
            json!({"path": path, "results": results(&codes)})
        }
        Err(error) => json!({"path": path, "error": error}),
    });
    let images: Vec<Value> = images.collect();
    text_result(&json!({ "images": images }), is_error)
}

fn read(workspace: &Workspace, path: &str) -> Result<Vec<Code>, String> {
    let file = workspace.file(path).map_err(|error| error.to_string())?;
    let image = m3_images::read(&file, MOST_PIXELS)
        .map_err(|error| format!("failed to read `{}`: {error}", visible(path, false)))?;
    Ok(scan(&image))
}

fn results(codes: &[Code]) -> Vec<Value> {
    let result = |code: &Code| {
        let mut result = json!({"type": code.kind, "data": code.text, "rect": code.rect});
        if let Some(isbn) = isbn(code) {
            result["isbn"] = json!(isbn);
        }
        result
    };
    codes.iter().map(result).collect()
}

/// The ISBN of a code, if it is one: numbers of books begin with 978 or 979 (ISO 2108).
fn isbn(code: &Code) -> Option<&str> {
    let is_book = code.kind == "EAN13" && (code.text.starts_with("978") || code.text.starts_with("979"));
    is_book.then_some(code.text.as_str())
}

fn message(codes: &[Code]) -> String {
    let isbns: Vec<&str> = codes.iter().filter_map(isbn).collect();
    match codes.len() {
        0 => "No code was found.".to_owned(),
        1 if isbns.is_empty() => "1 code was found.".to_owned(),
        count if isbns.is_empty() => format!("{count} codes were found."),
        1 => format!("1 code was found, the ISBN {}.", isbns.join(", ")),
        count => format!("{count} codes were found, among them the ISBN {}.", isbns.join(", ")),
    }
}

/// The answer as text, and as structured content with the same text, as the output schema requires.
fn text_result(answer: &Value, is_error: bool) -> ToolResult {
    let text = answer.to_string();
    let structured_content = Some(json!({"result": text}));
    ToolResult { structured_content, is_error, ..ToolResult::text(text) }
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, description: &str, list: Value| {
        let input = json!({
            "type": "object",
            "properties": {"image_paths": {"anyOf": [list, {"type": "string"}]}},
            "required": ["image_paths"]
        });
        let output = json!({
            "type": "object",
            "properties": {"result": {"type": "string", "description": "JSON"}},
            "required": ["result"]
        });
        read_only_tool(name, description, input, Some(output))
    };
    vec![
        tool(
            "scan_barcode",
            "Read the barcodes (EAN-13, EAN-8, UPC, Code 128) and QR codes of one image, with the boxes around \
             them. `image_paths` is a path, or a list of which only the first is read. The result is JSON.",
            json!({"type": "array", "items": {"type": "string"}}),
        ),
        tool(
            "scan",
            "Read the barcodes (EAN-13, EAN-8, UPC, Code 128) and QR codes of every image in `image_paths`. The \
             result is JSON.",
            json!({"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_IMAGES}),
        ),
    ]
}

#[cfg(test)]
mod tests;
