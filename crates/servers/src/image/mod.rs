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
    workspace: Arc<Workspace>,
    tools: Tools,
    limiter: WorkLimiter,
    /// Calls that name no output make one after the other, in the order in which they came: the number that is added
    /// to a name that is taken should not depend on which of them is faster.
    unnamed: Mutex<()>,
}

/// The arguments of a tool that makes a picture from a picture.
trait Edit: DeserializeOwned {
    /// The argument with the path of the picture.
    const INPUT: &'static str = "input_path";

    /// Edits the picture; others can be read from the workspace.
    fn edit(&self, image: RgbaImage, workspace: &Workspace) -> Result<RgbaImage, Failure>;
}

impl ImageServer {
    /// A server that works in a folder.
    ///
    /// # Errors
    /// [`WorkspaceError::Unusable`] if the folder cannot be used.
    pub fn new(workspace: &Path) -> Result<Self, WorkspaceError> {
        // A test makes sure that the list can be read.
        let mut tools: Vec<Tool> = serde_json::from_str(TOOLS).unwrap_or_default();
        for tool in &mut tools {
            tool.output_schema.get_or_insert_with(output::picture_schema);
        }
        Ok(Self {
            workspace: Arc::new(Workspace::new(workspace)?),
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
        if let Some(Err(missing)) = arguments["input_path"].as_str().map(|path| self.workspace.file(path)) {
            return failed(&missing.into());
        }
        let is_named = arguments["output_path"].as_str().is_some_and(|path| !path.is_empty());
        let _turn = if is_named || tool == "get_metainfo" { None } else { Some(self.unnamed.lock().await) };
        let (workspace, tool) = (Arc::clone(&self.workspace), tool.to_owned());
        self.limiter.run(move || run(&workspace, &tool, arguments)).await
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

/// Runs a tool on arguments that its schema allows. The name of an output that the caller does not name ends in the
/// suffix of the tool.
fn run(workspace: &Workspace, tool: &str, arguments: Value) -> Answer {
    let answer = match tool {
        "blur" => make::<blur::Blur>(workspace, arguments, "_blurred"),
        "change_color" => {
            let suffix = format!("_{}", arguments["palette"].as_str().unwrap_or_default());
            make::<colors::ChangeColor>(workspace, arguments, &suffix)
        }
        "crop" => make::<size::Crop>(workspace, arguments, "_cropped"),
        "draw_arrows" => make::<shapes::DrawArrows>(workspace, arguments, "_with_arrows"),
        "draw_circles" => make::<shapes::DrawCircles>(workspace, arguments, "_with_circles"),
        "draw_lines" => make::<shapes::DrawLines>(workspace, arguments, "_with_lines"),
        "draw_rectangles" => make::<shapes::DrawRectangles>(workspace, arguments, "_with_rectangles"),
        "draw_texts" => make::<texts::DrawTexts>(workspace, arguments, "_with_text"),
        "get_metainfo" => metainfo::metainfo(workspace, arguments["input_path"].as_str().unwrap_or_default()),
        "overlay" => make::<colors::Overlay>(workspace, arguments, "_overlaid"),
        "resize" => make::<size::Resize>(workspace, arguments, "_resized"),
        "rotate" => make::<size::Rotate>(workspace, arguments, "_rotated"),
        _ => return Answer::UnknownTool,
    };
    answer.unwrap_or_else(|failure| failed(&failure))
}

/// Reads an image, edits it, writes the result and shows it.
fn make<T: Edit>(workspace: &Workspace, arguments: Value, suffix: &str) -> Result<Answer, Failure> {
    let [input, output] =
        [T::INPUT, "output_path"].map(|key| arguments[key].as_str().unwrap_or_default().to_owned());
    let edit: T = match serde_json::from_value(arguments) {
        Ok(edit) => edit,
        Err(error) => {
            let problem = format!("invalid arguments: {}", visible(&error.to_string(), false));
            return Ok(Answer::InvalidArguments(problem));
        }
    };
    let target = output::Target::new(&input, &output, suffix)?;
    let image = edit.edit(read(workspace, &input)?, workspace)?;
    let written = target.write(workspace, &image)?;
    let (width, height) = image.dimensions();
    let output = json!({"result": [written], "width": width, "height": height});
    let mut result = ToolResult::structured(&output);
    result.content.extend(output::shown(&image)?);
    Ok(Answer::Result(result))
}

/// Reads an image of the workspace.
fn read(workspace: &Workspace, path: &str) -> Result<RgbaImage, Failure> {
    let image = m3_images::read(&workspace.file(path)?, MOST_PIXELS);
    let failed = |source| Failure::Read { path: visible(path, false).into_owned(), source };
    Ok(image.map_err(failed)?.into_rgba8())
}

fn failed(failure: &Failure) -> Answer {
    Answer::Result(ToolResult::error(failure.to_string()))
}
