//! The errors by which providers report that a prompt does not fit the model's context.

use std::sync::LazyLock;

use regex::Regex;

/// Codes for a prompt that does not fit the model's context: `OpenAI`'s and llama.cpp's.
const CONTEXT_CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

/// Messages about such a prompt, in lower case: the beginning, and a later part.
const CONTEXT_MESSAGES: [(&str, &str); 15] = [
    // Anthropic.
    ("prompt is too long", ""),
    ("input length and `max_tokens` exceed context limit", ""),
    // Bedrock.
    ("input is too long for requested model", ""),
    // Gemini.
    ("the input token count", "exceeds the maximum number of tokens"),
    // OpenAI, vLLM, DeepSeek; OpenRouter; xAI.
    ("this model's maximum context length is", ""),
    ("this endpoint's maximum context length is", ""),
    ("this model's maximum prompt length is", ""),
    ("your input exceeds the context window", ""),
    // vLLM.
    ("the decoder prompt (length", "is longer than the maximum model length"),
    ("the prompt (total length", "is too long to fit into the model"),
    // llama.cpp.
    ("request (", "exceeds the available context size"),
    ("the request exceeds the available context size", ""),
    ("context size has been exceeded", ""),
    // SGLang.
    ("the input (", "is longer than the model's context length"),
    // Mistral.
    ("prompt contains", "too large for model with"),
];

/// Patterns for the lengths of the prompt, of the longest reply asked for and of the context in messages in lower case,
/// and the groups of these three: `OpenAI`'s and vLLM's "length is 16384 tokens .. (112946 in the messages, 10000 in
/// the completion)", Anthropic's "188240 + 21333 > 200000".
const LENGTHS: [(&str, [usize; 3]); 2] = [
    (r"length is (\d+) .*?(\d+) in the messages[^,]*, (\d+) in the completion", [2, 3, 1]),
    (r"(\d+) \+ (\d+) > (\d+)", [1, 2, 3]),
];

/// Whether a code means that the prompt does not fit the model's context.
pub(super) fn is_of_context(code: &str) -> bool {
    CONTEXT_CODES.iter().any(|known| code.eq_ignore_ascii_case(known))
}

/// Whether a message says that the prompt is too long for the model's context.
pub(super) fn says_too_long(message: &str) -> bool {
    let message = message.to_lowercase();
    CONTEXT_MESSAGES.iter().any(|(beginning, further)| {
        message.strip_prefix(beginning).is_some_and(|rest| rest.contains(further))
    })
}

/// Whether the prompt itself fits, and the reply asked for is longer than the prompt: this is a setting, the same for
/// all tasks.
pub(super) fn asks_for_too_long_a_reply(message: &str) -> bool {
    static LENGTH: LazyLock<Vec<(Regex, [usize; 3])>> = LazyLock::new(|| {
        LENGTHS.into_iter().filter_map(|(form, groups)| Some((Regex::new(form).ok()?, groups))).collect()
    });
    let message = message.to_lowercase();
    LENGTH.iter().any(|(form, groups)| {
        let Some(found) = form.captures(&message) else { return false };
        let [prompt, reply, limit] = groups.map(|group| found[group].parse::<u64>().unwrap_or(u64::MAX));
        prompt < limit && prompt < reply
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::reading::{Oddities, body as body_of};

    /// The bodies are those that providers and servers return (from their documentation of errors and reports of
    /// their users).
    #[test]
    fn a_prompt_that_does_not_fit_the_context_is_told_from_other_errors() {
        let fits = |status: u16, body: &Value| {
            let error = body_of(status, body.to_string().as_bytes(), &mut Oddities::default()).unwrap_err();
            let overflows = error.is_context_overflow(status);
            assert!(!overflows || !error.is_worth_retrying(status), "{error}");
            !overflows
        };
        let vllm = "This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in \
                    the messages, 10000 in the completion).";
        let decoder = "The decoder prompt (length 10127) is longer than the maximum model length of 8192. Make sure that";
        let llama =
            "request (4390 tokens) exceeds the available context size (4096 tokens), try increasing it";
        for (status, body) in [
            (
                400,
                json!({"error": {"code": "context_length_exceeded", "type": "invalid_request_error", "message": "-"}}),
            ),
            (
                400,
                json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "prompt is too long: 208310 tokens > 200000 maximum"}}),
            ),
            (
                400,
                json!([{"error": {"code": 400, "status": "INVALID_ARGUMENT",
                "message": "The input token count (218152) exceeds the maximum number of tokens allowed (65536)."}}]),
            ),
            (400, json!({"object": "error", "message": vllm, "type": "BadRequestError", "code": 400})),
            (400, json!({"error": {"message": vllm.replace("10000 in", "200000 in")}})),
            (400, json!({"error": {"message": decoder, "type": "BadRequestError", "code": 400}})),
            (400, json!({"error": {"code": 400, "message": llama, "type": "exceed_context_size_error"}})),
            (200, json!({"error": {"code": 400, "message": "-", "type": "exceed_context_size_error"}})),
            (
                500,
                json!({"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
            ),
        ] {
            assert!(!fits(status, &body), "{status} {body}");
        }
        for (status, body) in [
            (400, json!({"error": {"message": "messages: prompt is too long"}})),
            (400, json!({"error": {"message": "Input validation: the input token count"}})),
            (
                400,
                json!({"error": {"message": "'max_tokens' is too large: 9000. This model's maximum context length"}}),
            ),
            (429, json!({"error": {"message": "Request too large for gpt-5: limit 30000 tokens a minute"}})),
            (429, json!({"error": {"message": "prompt is too long"}})),
            (400, json!({"object": "error", "message": vllm.replace("112946 in", "9000 in"), "code": 400})),
            (
                400,
                json!({"error": {"message": "input length and `max_tokens` exceed context limit: 90 + 200000 > 200000"}}),
            ),
        ] {
            assert!(fits(status, &body), "{status} {body}");
        }
    }
}
