//! The tools of the tests, named by what they do.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_mcp::config::{HostConfig, InProcess, ServerConfig, Transport};
use m3_mcp::{Answer, Answering, Content, Tool, ToolResult, Toolbox};
use serde_json::{Map, Value, json};
use tokio::sync::Barrier;

/// What was called, in the order in which it arrived.
pub(super) type Called = Arc<Mutex<Vec<(String, Value)>>>;

struct Kit {
    tools: Vec<Tool>,
    /// Lets two calls pass only together.
    pair: Arc<Barrier>,
    called: Called,
    workspace: PathBuf,
}

impl Toolbox for Kit {
    fn name(&self) -> &'static str {
        "kit"
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        self.called.lock().unwrap().push((tool.to_owned(), Value::Object(arguments.clone())));
        Box::pin(async move {
            let said = arguments.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
            Answer::Result(match tool {
                "echo" | "bare" | "either" => ToolResult::text(said),
                "together" => {
                    self.pair.wait().await;
                    ToolResult::text(format!("{said} eels"))
                }
                "fail" => ToolResult::error("no such page: 404"),
                "hang" => std::future::pending().await,
                "slow" => {
                    tokio::time::sleep(Duration::from_millis(300)).await;
                    ToolResult::text("slow but done")
                }
                "long" => ToolResult::text("eel ".repeat(5_000)),
                "draw" => image("image/png", &png(3, 2)),
                "noise" => image("image/png", &noise()),
                "scribble" => image("image/png", b"\x89PNG\r\n\x1a\nand nothing else"),
                // Writes a picture, and shows it.
                "paint" => {
                    std::fs::write(self.workspace.join(&said), striped(40, 30)).unwrap();
                    image("image/png", &striped(40, 30))
                }
                // Writes a picture, and shows it smaller and in another format.
                "photograph" => {
                    let picture = image::load_from_memory(&striped(80, 60)).unwrap();
                    picture.save(self.workspace.join(&said)).unwrap();
                    image("image/png", &encoded(&picture.thumbnail(40, 30).into_rgb8()))
                }
                // Shows its input with a small mark, and writes nothing.
                "mark" => {
                    let mut picture = image::open(self.workspace.join(&said)).unwrap().into_rgb8();
                    picture.put_pixel(1, 1, image::Rgb([255, 0, 0]));
                    image("image/png", &encoded(&picture))
                }
                "write" => {
                    std::fs::write(self.workspace.join("written.png"), png(2, 2)).unwrap();
                    ToolResult::text("written to written.png")
                }
                _ => return Answer::UnknownTool,
            })
        })
    }
}

fn image(mime_type: &str, bytes: &[u8]) -> ToolResult {
    let content = vec![
        Content::Text("drawn".to_owned()),
        Content::Image { data: STANDARD.encode(bytes), mime_type: mime_type.to_owned() },
    ];
    ToolResult { content, ..ToolResult::default() }
}

/// A picture of one color.
pub(super) fn png(width: u32, height: u32) -> Vec<u8> {
    encoded(&image::RgbImage::from_pixel(width, height, image::Rgb([10, 120, 30])))
}

/// A picture of stripes.
pub(super) fn striped(width: u32, height: u32) -> Vec<u8> {
    let stripe = |x: u32| if (x / 10).is_multiple_of(2) { [240, 200, 40] } else { [20, 60, 160] };
    encoded(&image::RgbImage::from_fn(width, height, |x, _| image::Rgb(stripe(x))))
}

fn encoded(picture: &image::RgbImage) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    bytes.into_inner()
}

/// A picture of more than 5 MB that cannot be compressed.
fn noise() -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        // Numerical Recipes, section 7.1: a generator that is quick.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state.to_be_bytes()[0]
    };
    encoded(&image::RgbImage::from_fn(1400, 1300, |_, _| image::Rgb([next(), next(), next()])))
}

/// One server, `kit`, and the list of its calls.
pub(super) fn servers(workspace: &Path) -> (HostConfig, Called) {
    let tool = |name: &str| -> Tool {
        let schema = match name {
            "bare" => json!({"type": "object"}),
            // The form in which pydantic writes a union.
            "either" => json!({
                "anyOf": [{"$ref": "#/$defs/A"}, {"properties": {"text": {"type": "string"}}, "required": ["text"]}],
                "$defs": {"A": {"properties": {"id": {"type": "string"}}, "required": ["id"]}},
            }),
            _ => json!({
                "type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": false,
            }),
        };
        serde_json::from_value(json!({"name": name, "description": "A tool.", "inputSchema": schema}))
            .unwrap()
    };
    let names = [
        "echo",
        "together",
        "fail",
        "hang",
        "slow",
        "long",
        "draw",
        "scribble",
        "write",
        "bare",
        "either",
        "noise",
        "paint",
        "photograph",
        "mark",
    ];
    let called = Called::default();
    let kit = Kit {
        tools: names.map(tool).to_vec(),
        pair: Arc::new(Barrier::new(2)),
        called: Arc::clone(&called),
        workspace: workspace.to_owned(),
    };
    let server = ServerConfig::new("kit", Transport::InProcess(InProcess(Arc::new(kit))));
    (HostConfig { servers: vec![server], ..HostConfig::default() }, called)
}
