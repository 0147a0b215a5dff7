//! Answers that are no replies, and which of them are worth another try.

use std::sync::LazyLock;

use regex::Regex;

/// Why a provider refuses whatever it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The account is empty: no request gets a reply until somebody pays, and no waiting helps.
    EmptyAccount,
    /// There is no key, or it is a wrong one.
    WrongKey,
    /// It wants to be left alone for longer than any request waits.
    Later,
}

/// An answer that is no reply of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyError {
    /// The provider says what went wrong, with an HTTP error or in an envelope with status 200.
    #[error("the provider answers with an error{}: {message}", code.as_ref().map(|code| format!(" `{code}`")).unwrap_or_default())]
    Provider {
        /// The provider's own code or type, `insufficient_quota`, `overloaded_error`.
        code: Option<String>,
        /// Its message, without control characters, shortened.
        message: String,
    },
    /// Not JSON, or JSON without an answer: HTML, `choices: []`.
    #[error("the answer is no reply: {reason}")]
    Unreadable {
        /// Why, with the beginning of what came, without control characters.
        reason: String,
    },
    /// Events, as they come when a reply is streamed (WHATWG HTML, "Server-sent events").
    #[error(
        "the answer is no reply: it is streamed, which it was not asked to be: `{beginning}`\nhint: have the server, or \
         the proxy before it, stream only where a request says `\"stream\": true`"
    )]
    Streamed {
        /// The beginning of what came, without control characters.
        beginning: String,
    },
}

/// Codes that no waiting helps against, although they come with status 429: OpenAI's of an account that is empty, at
/// its limit or not paid for, and Anthropic's `billing_error` (402).
const EMPTY_ACCOUNT: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"];

/// What Anthropic says of an empty account: a code that says nothing, and how the message begins. Messages may quote the
/// request further on.
const NO_CREDIT: (&str, &str) = ("invalid_request_error", "Your credit balance is too low");

/// Payment required: what `DeepSeek` and `OpenRouter` answer where the account is empty, the latter also as the code of
/// an error with status 200.
const PAYMENT_REQUIRED: u16 = 402;

/// Codes of a prompt that the model's context does not hold: `OpenAI`'s and llama.cpp's.
const CONTEXT_CODES: [&str; 2] = ["context_length_exceeded", "exceed_context_size_error"];

/// What is said of such a prompt, in lower case: how the message begins, and what it says further on.
const CONTEXT_MESSAGES: [(&str, &str); 14] = [
    // Anthropic.
    ("prompt is too long", ""),
    ("input length and `max_tokens` exceed context limit", ""),
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

/// What says how long the prompt and the longest reply that was asked for are, and what the context holds, in lower case:
/// `OpenAI`'s and vLLM's "length is 16384 tokens .. (112946 in the messages, 10000 in the completion)", Anthropic's
/// "188240 + 21333 > 200000".
const LENGTHS: [(&str, [usize; 3]); 2] = [
    (r"length is (\d+) .*?(\d+) in the messages[^,]*, (\d+) in the completion", [2, 3, 1]),
    (r"(\d+) \+ (\d+) > (\d+)", [1, 2, 3]),
];

/// No key, or a wrong one.
const UNAUTHORIZED: u16 = 401;

/// What Gemini says of a wrong key, with status 400: the reason among the details, which not every server between
/// hands on, or else the code and how the message begins.
pub(super) const WRONG_KEY_REASON: &str = "API_KEY_INVALID";
const WRONG_KEY: (&str, &str) = ("INVALID_ARGUMENT", "API key not valid");

/// Parts of codes and of messages, in lower case, that mean a failure in passing: OpenAI's `server_error` and
/// `rate_limit_exceeded`, Anthropic's `overloaded_error`, `api_error` and `timeout_error`, Gemini's
/// `UNAVAILABLE`, `RESOURCE_EXHAUSTED`, `INTERNAL`, `DEADLINE_EXCEEDED` and `ABORTED`.
const PASSING_CODES: [&str; 10] = [
    "overloaded",
    "rate_limit",
    "server_error",
    "api_error",
    "timeout",
    "unavailable",
    "resource_exhausted",
    "internal",
    "deadline_exceeded",
    "aborted",
];
const PASSING_MESSAGES: [&str; 7] =
    ["overload", "rate limit", "timeout", "timed out", "temporarily", "try again", "unavailable"];

impl ReplyError {
    /// Whether the same request may get a reply the next time, by the HTTP status it came with. An error with
    /// status 200 is judged by its code, and by its message where it has none.
    #[must_use]
    pub(crate) fn is_worth_retrying(&self, status: u16) -> bool {
        match self {
            Self::Unreadable { .. } => is_success(status) || is_passing(status),
            // A setting of the server.
            Self::Streamed { .. } => false,
            Self::Provider { code, message } => {
                if self.refusal(status).is_some() || self.is_context_overflow(status) {
                    return false;
                }
                let code = code.as_deref().map(str::to_ascii_lowercase);
                is_passing(status) || (is_success(status) && means_passing(code.as_deref(), message))
            }
        }
    }

    /// Whether the prompt did not fit the model's context, by the provider's code or by how its message begins.
    #[must_use]
    pub(crate) fn is_context_overflow(&self, status: u16) -> bool {
        let Self::Provider { code, message } = self else { return false };
        let message = message.to_lowercase();
        let says = |(beginning, further): &(&str, &str)| {
            message.strip_prefix(beginning).is_some_and(|rest| rest.contains(further))
        };
        (is_success(status) || matches!(status, 400 | 413 | 422 | 500))
            && (code.as_deref().is_some_and(is_of_context) || CONTEXT_MESSAGES.iter().any(says))
            && !asks_for_too_long_a_reply(&message)
    }

    /// Whether the provider would refuse any other request as well, by the HTTP status it came with and by what stands
    /// in the provider's own error. Its message, which may quote the request, counts with certain codes and from its
    /// beginning alone.
    #[must_use]
    pub(crate) fn refusal(&self, status: u16) -> Option<Refusal> {
        match status {
            PAYMENT_REQUIRED => return Some(Refusal::EmptyAccount),
            UNAUTHORIZED => return Some(Refusal::WrongKey),
            _ => {}
        }
        let Self::Provider { code: Some(code), message } = self else { return None };
        let says = |(known, beginning): (&str, &str)| code == known && message.starts_with(beginning);
        if is_of_empty_account(code) || says(NO_CREDIT) {
            Some(Refusal::EmptyAccount)
        } else if code == WRONG_KEY_REASON || says(WRONG_KEY) {
            Some(Refusal::WrongKey)
        } else {
            None
        }
    }
}

/// Whether the prompt fits, and the reply that is asked for is the longer of the two: that is a setting, the same for all
/// tasks.
fn asks_for_too_long_a_reply(message: &str) -> bool {
    static LENGTH: LazyLock<Vec<(Regex, [usize; 3])>> = LazyLock::new(|| {
        LENGTHS.into_iter().filter_map(|(form, groups)| Some((Regex::new(form).ok()?, groups))).collect()
    });
    LENGTH.iter().any(|(form, groups)| {
        let Some(found) = form.captures(message) else { return false };
        let [prompt, reply, limit] = groups.map(|group| found[group].parse::<u64>().unwrap_or(u64::MAX));
        prompt < limit && prompt < reply
    })
}

/// Whether a code says that an account is empty.
pub(super) fn is_of_empty_account(code: &str) -> bool {
    EMPTY_ACCOUNT.iter().any(|known| code.eq_ignore_ascii_case(known))
        || code.parse::<u16>().is_ok_and(|code| code == PAYMENT_REQUIRED)
}

/// Whether a code says that the prompt does not fit the model's context.
pub(super) fn is_of_context(code: &str) -> bool {
    CONTEXT_CODES.iter().any(|known| code.eq_ignore_ascii_case(known))
}

fn means_passing(code: Option<&str>, message: &str) -> bool {
    let Some(code) = code else {
        let message = message.to_lowercase();
        return PASSING_MESSAGES.iter().any(|part| message.contains(part));
    };
    code.parse().map_or_else(|_| PASSING_CODES.iter().any(|part| code.contains(part)), is_passing)
}

/// Whether a status is a success, which says nothing of the body.
pub(super) fn is_success(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 409 | 425 | 429 | 500..=599)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::reading::{Oddities, body as body_of};
    use super::*;

    #[test]
    fn what_passes_is_tried_again_and_an_empty_account_never() {
        let provider = |code: Option<&str>, message: &str| ReplyError::Provider {
            code: code.map(str::to_owned),
            message: message.to_owned(),
        };
        let unreadable = || ReplyError::Unreadable { reason: "`choices` is empty".to_owned() };
        for (error, status, expected) in [
            (provider(Some("rate_limit_exceeded"), ""), 429, true),
            (provider(Some("insufficient_quota"), ""), 429, false),
            (provider(Some("insufficient_quota"), ""), 500, false),
            (provider(Some("insufficient_quota"), ""), 200, false),
            (provider(Some("overloaded_error"), ""), 529, true),
            (provider(Some("overloaded_error"), ""), 200, true),
            (provider(Some("429"), ""), 200, true),
            (provider(Some("502"), ""), 200, true),
            (provider(Some("400"), "try again"), 200, false),
            (provider(Some("UNAVAILABLE"), ""), 200, true),
            (provider(Some("invalid_request_error"), "overloaded"), 200, false),
            (provider(None, "The model is overloaded, try again later"), 200, true),
            (provider(None, "no such model"), 200, false),
            (provider(None, "no such model"), 404, false),
            (provider(Some("server_error"), ""), 400, false),
            (unreadable(), 200, true),
            (unreadable(), 502, true),
            (unreadable(), 404, false),
            (unreadable(), 302, false),
            (provider(None, ""), 408, true),
            (provider(None, ""), 409, true),
            (provider(None, ""), 425, true),
        ] {
            assert_eq!(error.is_worth_retrying(status), expected, "{error} {status}");
        }
    }

    /// What the body of an answer says of all requests.
    fn refusal(status: u16, body: &Value) -> Option<Refusal> {
        let error = body_of(status, body.to_string().as_bytes(), &mut Oddities::default()).unwrap_err();
        let refusal = error.refusal(status);
        assert!(refusal.is_none() || !error.is_worth_retrying(status), "{error}");
        refusal
    }

    /// The bodies are those of the providers' pages on errors; Gemini's minute is over soon.
    #[test]
    fn what_holds_for_all_requests_is_told_from_what_passes() {
        let quota = "You exceeded your current quota, please check your plan and billing details.";
        let credit = "Your credit balance is too low to access the Anthropic API.";
        let key = "API key not valid. Please pass a valid API key.";
        let reason =
            json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
        for (status, error, expected) in [
            (429, json!({"code": "insufficient_quota", "message": quota}), Some(Refusal::EmptyAccount)),
            (
                429,
                json!({"code": null, "type": "insufficient_quota", "message": quota}),
                Some(Refusal::EmptyAccount),
            ),
            (429, json!({"code": "billing_not_active", "message": "-"}), Some(Refusal::EmptyAccount)),
            (400, json!({"type": "invalid_request_error", "message": credit}), Some(Refusal::EmptyAccount)),
            (
                402,
                json!({"type": "unknown_error", "message": "Insufficient Balance"}),
                Some(Refusal::EmptyAccount),
            ),
            (402, json!({"message": "-"}), Some(Refusal::EmptyAccount)),
            (200, json!({"code": 402, "message": "Insufficient credits"}), Some(Refusal::EmptyAccount)),
            (401, json!({"code": "invalid_api_key", "message": "-"}), Some(Refusal::WrongKey)),
            (
                400,
                json!({"status": "INVALID_ARGUMENT", "code": 400, "message": key}),
                Some(Refusal::WrongKey),
            ),
            (
                400,
                json!({"status": "INVALID_ARGUMENT", "message": "API key expired.", "details": reason}),
                Some(Refusal::WrongKey),
            ),
            (429, json!({"status": "RESOURCE_EXHAUSTED", "message": quota}), None),
            (429, json!({"code": "rate_limit_exceeded", "message": "Rate limit reached"}), None),
            (400, json!({"type": "invalid_request_error", "message": "messages: too long"}), None),
            (
                400,
                json!({"status": "INVALID_ARGUMENT", "message": "-", "details": [7, {"reason": "OTHER"}]}),
                None,
            ),
        ] {
            assert_eq!(refusal(status, &json!({"error": error})), expected, "{status} {error}");
        }
    }

    /// The bodies are those that providers and servers answer with (their pages on errors, reports of their users).
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

    /// A task may ask what a label, a log or a page on errors says.
    #[test]
    fn an_error_that_quotes_the_request_says_nothing_of_other_requests() {
        for prompt in [
            "Your credit balance is too low to access the Anthropic API.",
            "an error `402`: an error `insufficient_quota`",
            "API key not valid",
            "\"code\": \"insufficient_quota\"",
        ] {
            let said = format!("messages.0.content: too long: {prompt}");
            for (status, body) in [
                // FastAPI's errors of validation, as vLLM and others give them.
                (
                    422,
                    json!({"detail": [{"type": "string_type", "loc": ["body", "messages"], "input": prompt}]}),
                ),
                (422, json!({"detail": prompt})),
                (400, json!({"object": "error", "message": prompt, "type": "BadRequestError", "code": 400})),
                (400, json!({"error": {"type": "invalid_request_error", "message": said}})),
                (400, json!({"error": {"status": "INVALID_ARGUMENT", "message": said}})),
                (500, json!({"error": prompt})),
                (403, json!({"message": prompt})),
            ] {
                assert_eq!(refusal(status, &body), None, "{status} {body}");
            }
        }
    }
}
