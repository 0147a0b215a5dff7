//! The errors by which servers report that a model takes no images.

/// How much of a message counts, in bytes: later parts may quote the request.
const BEGINNING: usize = 400;

/// Parts of such messages, in lower case.
const MESSAGES: [&str; 12] = [
    // llama.cpp.
    "image input is not supported",
    // vLLM.
    "is not a multimodal model",
    "at most 0 image",
    // Ollama.
    "missing data required for image input",
    // OpenAI.
    "image_url is only supported by certain models",
    // DeepSeek, and other servers that parse the parts of a message by their type.
    "unknown variant `image_url`",
    // Mistral; OpenRouter.
    "image input is not enabled",
    "no endpoints found that support image input",
    // Anthropic, Bedrock and Gemini.
    "does not support image",
    "doesn't support image",
    "doesn't support the image content block",
    "images are not supported",
];

/// Whether a message says that the model, or its server, takes no images.
pub(crate) fn says_no_images(message: &str) -> bool {
    let beginning = m3_support::text::head(message, BEGINNING).to_lowercase();
    MESSAGES.iter().any(|part| beginning.contains(part))
}
