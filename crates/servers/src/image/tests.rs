//! Tests of the toolbox's calls, on pictures of a few pixels.

mod hostile;
mod paths;
mod pixels;
mod texts;

use image::{Rgba, RgbaImage};
use m3_mcp::{Answer, Content, ToolResult, Toolbox as _};
use serde_json::{Value, json};

use super::ImageServer;

/// A server with its own folder.
struct Desk {
    folder: tempfile::TempDir,
    server: ImageServer,
    runtime: tokio::runtime::Runtime,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = ImageServer::new(folder.path()).unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        Self { folder, server, runtime }
    }

    /// A server whose folder has this image as `a.png`.
    fn with(image: &RgbaImage) -> Self {
        let desk = Self::new();
        image.save(desk.folder.path().join("a.png")).unwrap();
        desk
    }

    /// A server whose folder has a white `a.png`.
    fn white(width: u32, height: u32) -> Self {
        Self::with(&RgbaImage::from_pixel(width, height, WHITE))
    }

    fn answer(&self, tool: &str, arguments: &Value) -> Answer {
        let arguments = arguments.as_object().unwrap().clone();
        self.runtime.block_on(self.server.call(tool, arguments))
    }

    fn result(&self, tool: &str, arguments: &Value) -> ToolResult {
        match self.answer(tool, arguments) {
            Answer::Result(result) => result,
            other => panic!("{other:?}"),
        }
    }

    /// The path in the answer of a successful call.
    fn path(&self, tool: &str, arguments: &Value) -> String {
        let result = self.result(tool, arguments);
        assert!(!result.is_error, "{}", result.all_text());
        result.structured_content.unwrap()["result"][0].as_str().unwrap().to_owned()
    }

    /// The picture that a successful call writes; `input_path` is `a.png` by default.
    fn picture(&self, tool: &str, arguments: Value) -> RgbaImage {
        self.read(&self.path(tool, &on_a(arguments)))
    }

    /// The message of a failed call.
    fn failure(&self, tool: &str, arguments: Value) -> String {
        let result = self.result(tool, &on_a(arguments));
        assert!(result.is_error, "it worked: {}", result.all_text());
        assert!(result.structured_content.is_none());
        result.all_text()
    }

    fn read(&self, path: &str) -> RgbaImage {
        image::open(self.folder.path().join(path)).unwrap().into_rgba8()
    }
}

fn on_a(mut arguments: Value) -> Value {
    let has_base = arguments.get("base_image_path").is_some();
    if !has_base {
        arguments.as_object_mut().unwrap().entry("input_path").or_insert(json!("a.png"));
    }
    arguments
}

const WHITE: Rgba<u8> = Rgba([255; 4]);

/// The picture that an answer shows.
fn shown(result: &ToolResult) -> RgbaImage {
    use base64::Engine as _;
    let image = result.content.iter().find_map(|part| match part {
        Content::Image { data, mime_type } => Some((data, mime_type)),
        _ => None,
    });
    let (data, mime_type) = image.unwrap();
    assert_eq!(mime_type, "image/png");
    let bytes = base64::engine::general_purpose::STANDARD.decode(data).unwrap();
    assert!(bytes.len() <= 2 << 20);
    image::load_from_memory(&bytes).unwrap().into_rgba8()
}

/// A picture as text: `#` where it is not white.
fn drawing(image: &RgbaImage) -> Vec<String> {
    let mark = |pixel: &Rgba<u8>| if *pixel == WHITE { '.' } else { '#' };
    image.rows().map(|row| row.map(mark).collect()).collect()
}
