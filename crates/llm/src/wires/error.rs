//! Answers that are not replies, and which of them are worth another try.

use super::images_refused::says_no_images;
use super::overflow::{asks_for_too_long_a_reply, is_of_context, says_too_long};

/// Why a provider refuses all requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The account is empty: no request gets a reply until somebody pays, and waiting does not help.
    EmptyAccount,
    /// There is no key, or a wrong one.
    WrongKey,
    /// The provider asks for a longer pause than any request waits.
    Later,
}

/// An answer that is not a model's reply.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ReplyError {
    /// The provider reports an error, by an HTTP error or in the body of a success (200).
    #[error("the provider answers with an error{}: {message}", code.as_ref().map(|code| format!(" `{code}`")).unwrap_or_default())]
    Provider {
        /// The provider's own code or type, such as `insufficient_quota` or `overloaded_error`.
        code: Option<String>,
        /// The provider's message, without control characters, shortened.
        message: String,
    },
    /// The body is not JSON, or JSON without an answer: HTML, `choices: []`.
    #[error("the answer is no reply: {reason}")]
    Unreadable {
        /// Why, with the beginning of the answer, without control characters.
        reason: String,
    },
    /// The answer is a stream of events, although none was asked for (WHATWG HTML, "Server-sent events").
    #[error(
        "the answer is no reply: it is streamed, which it was not asked to be: `{beginning}`\nhint: have the server, or \
         the proxy before it, stream only where a request says `\"stream\": true`"
    )]
    Streamed {
        /// The beginning of the answer, without control characters.
        beginning: String,
    },
}

/// Codes for which waiting does not help, although most come with status 429: OpenAI's for an account that is empty, at
/// its limit or not paid for, and Anthropic's `billing_error`, which comes with 402.
const EMPTY_ACCOUNT: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"];

/// Anthropic's error for an empty account: an unspecific code, and the beginning of the message. Later parts of a
/// message may quote the request.
const NO_CREDIT: (&str, &str) = ("invalid_request_error", "Your credit balance is too low");

/// Payment required: the status of `DeepSeek` and `OpenRouter` for an empty account; `OpenRouter` also uses it as the
/// code of an error with status 200.
const PAYMENT_REQUIRED: u16 = 402;

/// The status for no key, or a wrong one.
const UNAUTHORIZED: u16 = 401;

/// The reason in the details of Gemini's error for a wrong key, which has status 400. Some servers in between drop the
/// details; then the code and the beginning of the message, in `WRONG_KEY`, tell it.
pub(super) const WRONG_KEY_REASON: &str = "API_KEY_INVALID";
const WRONG_KEY: (&str, &str) = ("INVALID_ARGUMENT", "API key not valid");

/// Parts of codes and of messages, in lower case, that mean a temporary failure: OpenAI's `server_error` and
/// `rate_limit_exceeded`, Anthropic's `overloaded_error`, `api_error` and `timeout_error`, Gemini's `UNAVAILABLE`,
/// `RESOURCE_EXHAUSTED`, `INTERNAL`, `DEADLINE_EXCEEDED` and `ABORTED`.
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
    /// Whether the same request may get a reply the next time, by the HTTP status. An error with status 200 is judged
    /// by its code, or without one by its message.
    #[must_use]
    pub(crate) fn is_worth_retrying(&self, status: u16) -> bool {
        match self {
            Self::Unreadable { .. } => is_success(status) || is_passing(status),
            // The server is set to stream, so trying again would give another stream.
            Self::Streamed { .. } => false,
            Self::Provider { code, message } => {
                let never = self.refusal(status).is_some() || self.is_context_overflow(status);
                if never || says_no_images(message) {
                    return false;
                }
                let code = code.as_deref().map(str::to_ascii_lowercase);
                is_passing(status) || (is_success(status) && means_passing(code.as_deref(), message))
            }
        }
    }

    /// Whether the prompt did not fit the model's context, by the provider's code or the beginning of its message.
    #[must_use]
    pub(crate) fn is_context_overflow(&self, status: u16) -> bool {
        let Self::Provider { code, message } = self else { return false };
        (is_success(status) || matches!(status, 400 | 413 | 422 | 500))
            && (code.as_deref().is_some_and(is_of_context) || says_too_long(message))
            && !asks_for_too_long_a_reply(message)
    }

    /// Whether the provider would refuse every other request as well, by the HTTP status and the provider's own
    /// error. The message may quote the request, so only its beginning counts, and only with certain codes.
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

/// Whether a code means that an account is empty.
pub(super) fn is_of_empty_account(code: &str) -> bool {
    EMPTY_ACCOUNT.iter().any(|known| code.eq_ignore_ascii_case(known))
        || code.parse::<u16>().is_ok_and(|code| code == PAYMENT_REQUIRED)
}

fn means_passing(code: Option<&str>, message: &str) -> bool {
    let Some(code) = code else {
        let message = message.to_lowercase();
        return PASSING_MESSAGES.iter().any(|part| message.contains(part));
    };
    code.parse().map_or_else(|_| PASSING_CODES.iter().any(|part| code.contains(part)), is_passing)
}

/// Whether a status is a success; the body may still hold an error.
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
            (provider(None, "image input is not supported - hint: provide the mmproj"), 500, false),
            (provider(None, ""), 408, true),
            (provider(None, ""), 409, true),
            (provider(None, ""), 425, true),
        ] {
            assert_eq!(error.is_worth_retrying(status), expected, "{error} {status}");
        }
    }

    /// Whether an answer with this body means that all requests are refused.
    fn refusal(status: u16, body: &Value) -> Option<Refusal> {
        let error = body_of(status, body.to_string().as_bytes(), &mut Oddities::default()).unwrap_err();
        let refusal = error.refusal(status);
        assert!(refusal.is_none() || !error.is_worth_retrying(status), "{error}");
        refusal
    }

    /// The bodies are those of the providers' documentation of errors; Gemini's limit per minute is over soon.
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

    /// A task may ask about a label, a log or a page that looks like an error.
    #[test]
    fn an_error_that_quotes_the_request_says_nothing_of_other_requests() {
        for prompt in [
            "Your credit balance is too low to access the Anthropic API.",
            "an error `402`: an error `insufficient_quota`",
            "API key not valid",
            "\"code\": \"insufficient_quota\"",
        ] {
            let message = format!("messages.0.content: too long: {prompt}");
            for (status, body) in [
                // FastAPI's validation errors, as vLLM and others return them.
                (
                    422,
                    json!({"detail": [{"type": "string_type", "loc": ["body", "messages"], "input": prompt}]}),
                ),
                (422, json!({"detail": prompt})),
                (400, json!({"object": "error", "message": prompt, "type": "BadRequestError", "code": 400})),
                (400, json!({"error": {"type": "invalid_request_error", "message": message}})),
                (400, json!({"error": {"status": "INVALID_ARGUMENT", "message": message}})),
                (500, json!({"error": prompt})),
                (403, json!({"message": prompt})),
            ] {
                assert_eq!(refusal(status, &body), None, "{status} {body}");
            }
        }
    }
}
