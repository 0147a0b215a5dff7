//! The view of a call that a model gets: text, shortened by rule or by the model itself, and pictures.

use std::sync::Arc;

use m3_llm::{Message, Part, Picture, Request, ToolDefinitions};
use m3_mcp::ToolResult;
use m3_mcp::results::{KeptResult, Kind, result_text, shortened_text};

use super::attempt_state::AttemptState;
use super::prompts::{CompressPrompt, filled};
use super::stop::Stop;

/// The most pictures of one result that are shown; the others are only named.
const MOST_PICTURES: usize = 8;

/// The most characters of a result that are given to be summarized.
const MOST_COMPRESSED: usize = 200_000;

/// The result of a call, before it is prepared for the model.
pub(super) struct RawObservation {
    tool: String,
    text: String,
    is_error: bool,
    result: Option<(ToolResult, KeptResult)>,
}

/// The view of a call that a model gets.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Observation {
    /// The tool, as `server/tool` or as it was written.
    pub(super) tool: String,
    pub(super) text: String,
    /// Pictures, by their paths in the workspace.
    pub(super) pictures: Vec<(String, Arc<Picture>)>,
    pub(super) is_error: bool,
}

impl RawObservation {
    pub(super) fn text(tool: String, text: String, is_error: bool) -> Self {
        Self { tool, text, is_error, result: None }
    }

    pub(super) fn result(tool: String, result: ToolResult, kept: KeptResult) -> Self {
        Self { tool, text: kept.text.clone(), is_error: result.is_error, result: Some((result, kept)) }
    }
}

impl Observation {
    pub(super) fn error(tool: String, text: &str) -> Self {
        Self { tool, text: text.to_owned(), pictures: Vec::new(), is_error: true }
    }
}

impl AttemptState<'_> {
    /// Prepares the results of calls for the model.
    pub(super) async fn observe(&mut self, seen: Vec<RawObservation>) -> Result<Vec<Observation>, Stop> {
        let mut observations = Vec::with_capacity(seen.len());
        for seen in seen {
            let RawObservation { tool, mut text, is_error, result } = seen;
            let mut pictures = Vec::new();
            if let Some((result, kept)) = result {
                if self.attempt.options.compress && kept.is_shortened {
                    let whole = result_text(&result, &kept.files);
                    if let Some(compressed) = self.compressed(&tool, &whole).await? {
                        text = compressed;
                    }
                }
                pictures = self.pictures(&kept, &mut text).await;
            }
            observations.push(Observation { tool, text, pictures, is_error });
        }
        Ok(observations)
    }

    /// The model's own summary of the text; `None` if it cannot give one.
    async fn compressed(&mut self, tool: &str, whole: &str) -> Result<Option<String>, Stop> {
        let limit = self.attempt.options.result_limit;
        let instruction = self.instruction().unwrap_or_default().to_owned();
        let whole = shortened_text(whole, MOST_COMPRESSED, "the results of the run");
        let request = Request {
            system: filled(&CompressPrompt { instruction: &instruction, tool, limit }),
            messages: vec![Arc::new(Message::User(vec![Part::Text(whole.into_owned())]))],
            tools: ToolDefinitions::default(),
            settings: self.attempt.options.settings.clone(),
        };
        let reply = match self.turn("compress", &request).await {
            Ok(reply) => reply,
            Err(Stop::Error(_, reason) | Stop::ContextOverflow(reason)) => {
                self.note([format!(
                    "a result of `{tool}` was shortened by rule, for the model cannot: {reason}"
                )]);
                return Ok(None);
            }
            Err(stop) => return Err(stop),
        };
        self.record_aside("compress", &request, &reply);
        let text = reply.text.trim();
        if text.is_empty() {
            self.note([format!("a result of `{tool}` was shortened by rule, for the summary is empty")]);
            return Ok(None);
        }
        Ok(Some(shortened_text(text, limit, "the results of the run").into_owned()))
    }

    /// The pictures of a result. A note in the text says why a picture cannot be shown.
    async fn pictures(&mut self, kept: &KeptResult, text: &mut String) -> Vec<(String, Arc<Picture>)> {
        let mut limits = self.attempt.model.image_limits();
        let side = self.attempt.options.max_image_side.unwrap_or(limits.max_side);
        limits.max_side = limits.max_side.min(side);
        let mut pictures = Vec::new();
        if self.attempt.options.no_images {
            return pictures;
        }
        for file in kept.files.iter().filter(|file| file.kind == Kind::Image) {
            if pictures.len() == MOST_PICTURES {
                add(text, &format!("{} is not shown: too many pictures", file.name));
                continue;
            }
            let (path, name) = (file.path.clone(), file.name.clone());
            let open = move || {
                // The model knows the file by its name in the workspace, so the reason must use this name.
                let named = |reason: String| reason.replace(&path.display().to_string(), &name);
                Picture::open(&path, &limits).map_err(|error| named(error.to_string()))
            };
            let opened = tokio::task::spawn_blocking(open).await;
            match opened.unwrap_or_else(|error| Err(error.to_string())) {
                Ok(mut picture) => {
                    // The tool itself may have shown the file smaller than it is.
                    let shown = picture.scaled_from.unwrap_or((picture.width, picture.height));
                    picture.scaled_from = file.pixels.filter(|whole| *whole != shown).or(picture.scaled_from);
                    if let Some(scaled) = picture.scaled_in_words() {
                        add(text, &format!("{} {scaled}", file.name));
                    }
                    pictures.push((file.name.clone(), Arc::new(picture)));
                }
                Err(reason) => {
                    let reason = reason.lines().next().unwrap_or_default();
                    let note = format!("{} cannot be shown: {reason}", file.name);
                    add(text, &note);
                    self.note([note]);
                }
            }
        }
        pictures
    }
}

/// Adds our own note to a tool's text.
fn add(text: &mut String, note: &str) {
    text.extend(["\n[", note, "]"]);
}
