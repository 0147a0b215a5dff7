//! Names of models: `openai:gpt-5`, `anthropic:claude-sonnet-4-5`, `gemini:gemini-2.5-pro`,
//! `openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B`.

/// One of the three ways to speak to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WireKind {
    /// OpenAI chat completions, which most servers of open models speak.
    OpenAi,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

/// A wire, where it leads, and the model at its end, sent exactly as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName {
    /// The wire.
    pub wire: WireKind,
    /// The base address, if it is not the provider's own.
    pub base_url: Option<String>,
    /// The model.
    pub model: String,
}

/// A name that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// It does not have the shape.
    #[error(
        "`{name}` names no model: {reason}\nhint: write `openai:MODEL`, `anthropic:MODEL`, `gemini:MODEL`, \
         `openai@http://127.0.0.1:8000/v1:MODEL` or `replay:FILE`"
    )]
    Shape {
        /// As written.
        name: String,
        /// What is missing.
        reason: String,
    },
}
