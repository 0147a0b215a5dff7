//! The `image` server: crop, blur, draw, resize, rotate, overlay, change colors, tell the size. Tools, arguments and
//! defaults are those of `imagesorcery-mcp` (<https://github.com/sunriseapps/imagesorcery-mcp>), so that calls
//! recorded with one server work with the other; the implementation is our own.
//!
//! - Colors are `[blue, green, red]`, as there and in OpenCV.
//! - Images are turned as their EXIF data say, as OpenCV does, before anything else; the result has no EXIF data.
//! - All is done with 8 bits a channel. Transparency is kept, unlike there; a JPEG gets white in its place.
//! - Positive angles turn counterclockwise, as the description there says (its code turns clockwise).
//! - Anything drawn beyond the image is cut off; a crop, a blurred area or an overlay that misses the image is an
//!   error.
//! - Without an output path the result goes beside the input, with `imagesorcery-mcp`'s ending, and no file is ever
//!   replaced: a number is added. A file that the caller names as output is replaced, even if it is the input.
//! - An input must exist when a call arrives, even if another call is about to make it.
//! - Nothing outside of the [`Workspace`] is read or written.
//!
//! A result is the path as JSON (`{"result": ["a_cropped.png"], "width": 3, "height": 2}`) and the picture.

mod arguments;
mod blur;
mod canvas;
mod colors;
mod failure;
mod metainfo;
mod output;
mod shapes;
mod size;
mod spans;
#[cfg(test)]
mod tests;
mod texts;

use std::path::Path;
use std::sync::Arc;

use image::RgbaImage;
use m3_mcp::{Answer, Answering, Tool, ToolResult, Toolbox};
use m3_support::text::visible;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use tokio::sync::Mutex;

use self::failure::Failure;
use crate::tools::Tools;
use crate::work::{MOST_PIXELS, WorkLimiter};
use crate::{Workspace, WorkspaceError};

/// The tools as in `tools/list`, except for the output schema of those that make a picture.
const TOOLS: &str = include_str!("tools.json");

/// The server's toolbox.
#[derive(Debug)]
pub struct ImageServer {
    images: Arc<Images>,
    tools: Tools,
    limiter: WorkLimiter,
    /// Calls that name no output make one after the other, in the order in which they came: the number that is added
    /// to a name that is taken should not depend on which of them is faster.
    unnamed: Mutex<()>,
}

/// Why the server cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum ImageServerError {
    /// The folder to work in cannot be used.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The server's own list of tools cannot be read. This is a bug.
    #[error("failed to read the image server's list of tools: {0}. This is a bug.")]
    Tools(#[from] serde_json::Error),
}

/// The workspace that images are read from.
#[derive(Debug)]
struct Images {
    workspace: Workspace,
}

/// A tool that makes a picture from a picture.
trait Edit {
    /// The path of the image to read, and the path for the result, if the caller gave one.
    fn paths(&self) -> (&str, Option<&str>);

    /// The suffix that is added to the input's name if no output is named.
    fn suffix(&self) -> &'static str;

    /// Edits the image.
    fn edit(&self, image: RgbaImage, images: &Images) -> Result<RgbaImage, Failure>;
}

impl Images {
    /// Reads an image of the workspace.
    fn read(&self, path: &str) -> Result<RgbaImage, Failure> {
        let file = self.workspace.file(path)?;
        let read = m3_images::read(&file, MOST_PIXELS);
        let image =
            read.map_err(|source| Failure::Read { path: visible(path, false).into_owned(), source })?;
        Ok(image.into_rgba8())
    }
}

impl ImageServer {
    /// A server that works in a folder.
    ///
    /// # Errors
    /// [`ImageServerError`] if the folder cannot be used.
    pub fn new(workspace: &Path) -> Result<Self, ImageServerError> {
        let mut tools: Vec<Tool> = serde_json::from_str(TOOLS)?;
        for tool in &mut tools {
            tool.output_schema.get_or_insert_with(output::picture_schema);
        }
        Ok(Self {
            images: Arc::new(Images { workspace: Workspace::new(workspace)? }),
            tools: Tools::new(tools),
            limiter: WorkLimiter::default(),
            unnamed: Mutex::default(),
        })
    }

    async fn answer(&self, tool: &str, arguments: Map<String, Value>) -> Answer {
        let arguments = match self.tools.checked(tool, arguments) {
            Ok(arguments) => Value::Object(arguments),
            Err(answer) => return answer,
        };
        // Looked up when the call arrives, not when its turn comes: whether it finds the output of another call of
        // the same step should not depend on which is faster.
        let input = arguments.get("input_path").and_then(Value::as_str);
        if let Some(Err(missing)) = input.map(|path| self.images.workspace.file(path)) {
            return result(Err(missing.into()));
        }
        let is_named =
            arguments.get("output_path").and_then(Value::as_str).is_some_and(|path| !path.is_empty());
        let _turn = if is_named || tool == "get_metainfo" { None } else { Some(self.unnamed.lock().await) };
        let (images, tool) = (Arc::clone(&self.images), tool.to_owned());
        self.limiter.run(move || run(&images, &tool, arguments)).await
    }
}

impl Toolbox for ImageServer {
    fn name(&self) -> &'static str {
        "image"
    }

    fn tools(&self) -> &[Tool] {
        self.tools.as_slice()
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        Box::pin(self.answer(tool, arguments))
    }
}

/// Runs a tool on arguments that its schema allows.
fn run(images: &Images, tool: &str, arguments: Value) -> Answer {
    let parsed = match tool {
        "blur" => parse::<blur::Blur>(arguments),
        "change_color" => parse::<colors::ChangeColor>(arguments),
        "crop" => parse::<size::Crop>(arguments),
        "draw_arrows" => parse::<shapes::DrawArrows>(arguments),
        "draw_circles" => parse::<shapes::DrawCircles>(arguments),
        "draw_lines" => parse::<shapes::DrawLines>(arguments),
        "draw_rectangles" => parse::<shapes::DrawRectangles>(arguments),
        "draw_texts" => parse::<texts::DrawTexts>(arguments),
        "get_metainfo" => {
            let path = arguments.get("input_path").and_then(Value::as_str).unwrap_or_default();
            return result(metainfo::metainfo(&images.workspace, path));
        }
        "overlay" => parse::<colors::Overlay>(arguments),
        "resize" => parse::<size::Resize>(arguments),
        "rotate" => parse::<size::Rotate>(arguments),
        _ => return Answer::UnknownTool,
    };
    match parsed {
        Ok(edit) => result(make(images, edit.as_ref())),
        Err(error) => {
            Answer::InvalidArguments(format!("invalid arguments: {}", visible(&error.to_string(), false)))
        }
    }
}

fn parse<T: Edit + DeserializeOwned + 'static>(arguments: Value) -> serde_json::Result<Box<dyn Edit>> {
    serde_json::from_value::<T>(arguments).map(|edit| Box::new(edit) as Box<dyn Edit>)
}

/// Reads an image, edits it, writes the result and shows it.
fn make(images: &Images, edit: &dyn Edit) -> Result<ToolResult, Failure> {
    let (input, output) = edit.paths();
    let target = output::Target::new(input, output, edit.suffix())?;
    let image = edit.edit(images.read(input)?, images)?;
    let written = target.write(&images.workspace, &image)?;
    let (width, height) = image.dimensions();
    let output = json!({"result": [written], "width": width, "height": height});
    let mut result = ToolResult::structured(&output);
    result.content.extend(output::shown(&image)?);
    Ok(result)
}

fn result(made: Result<ToolResult, Failure>) -> Answer {
    Answer::Result(made.unwrap_or_else(|failure| ToolResult::error(failure.to_string())))
}
