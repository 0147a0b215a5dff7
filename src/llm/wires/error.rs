//! Answers that are no replies, and which of them are worth another try.

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
}

/// Codes that no waiting helps against, although they come with status 429: OpenAI's of an account that is empty, at
/// its limit or not paid for, and Anthropic's `billing_error` (402).
const EMPTY_ACCOUNT: [&str; 4] =
    ["insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "billing_error"];

/// What Anthropic says of an empty account, in lower case; the code is `invalid_request_error`, which says nothing.
const EMPTY_ACCOUNT_MESSAGE: &str = "credit balance is too low";

/// Payment required: what `DeepSeek` and `OpenRouter` answer where the account is empty, the latter also as the code of
/// an error with status 200.
const PAYMENT_REQUIRED: u16 = 402;

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
            Self::Provider { code, message } => {
                let code = code.as_deref().map(str::to_ascii_lowercase);
                if code.as_deref().is_some_and(|code| EMPTY_ACCOUNT.contains(&code)) {
                    return false;
                }
                is_passing(status) || (is_success(status) && means_passing(code.as_deref(), message))
            }
        }
    }
}

/// Whether a [`ReplyError`], as it was told, says that the account is empty: no request gets a reply until somebody pays.
pub(in crate::llm) fn is_of_empty_account(status: u16, reason: &str) -> bool {
    let reason = reason.to_lowercase();
    let has_code = |code: &str| reason.contains(&format!("an error `{code}`"));
    status == PAYMENT_REQUIRED
        || has_code(&PAYMENT_REQUIRED.to_string())
        || EMPTY_ACCOUNT.iter().any(|code| has_code(code))
        || (!is_success(status) && reason.contains(EMPTY_ACCOUNT_MESSAGE))
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

    /// The bodies are those of the providers' pages on errors; Gemini's minute is over soon.
    #[test]
    fn an_empty_account_is_told_from_a_limit_that_passes() {
        let told = |code: Option<&str>, message: &str| {
            let (code, message) = (code.map(str::to_owned), message.to_owned());
            ReplyError::Provider { code, message }.to_string()
        };
        let quota = "You exceeded your current quota, please check your plan and billing details.";
        let credit = "Your credit balance is too low to access the Anthropic API.";
        for (status, reason, expected) in [
            (429, told(Some("insufficient_quota"), quota), true),
            (429, told(Some("billing_not_active"), "Your account is not active"), true),
            (400, told(Some("invalid_request_error"), credit), true),
            (402, told(None, "Insufficient Balance"), true),
            (200, told(Some("402"), "Insufficient credits"), true),
            (429, told(Some("RESOURCE_EXHAUSTED"), quota), false),
            (429, told(Some("rate_limit_exceeded"), "Rate limit reached"), false),
            (400, told(Some("invalid_request_error"), "messages: too long"), false),
        ] {
            assert_eq!(is_of_empty_account(status, &reason), expected, "{status} {reason}");
        }
    }
}
