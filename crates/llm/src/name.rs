//! Names of models: `openai:gpt-5`, `anthropic:claude-sonnet-4-5`, `gemini:gemini-2.5-pro`,
//! `bedrock:eu.anthropic.claude-sonnet-4-5-20250929-v1:0`, `openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B`.

use std::borrow::Cow;
use std::fmt;

use m3_support::text::shortened;

use super::wires::{self, Target, WireKind};

/// A wire, its address, and the model, whose name is sent exactly as written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ModelName {
    /// The wire.
    pub wire: WireKind,
    /// The base address, if it is not the provider's own.
    pub base_url: Option<String>,
    /// The model.
    pub model: String,
}

/// Why a text is not the name of a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelNameError {
    /// The text does not have the form of a name.
    #[error(
        "`{name}` names no model: {reason}\nhint: write {}, `openai@http://127.0.0.1:8000/v1:MODEL` or `replay:FILE`",
        at_providers()
    )]
    Shape {
        /// The text as written, made safe to show; parts of an address that may be a key are left out.
        name: String,
        /// The reason.
        reason: String,
    },
}

impl ModelName {
    /// Reads `WIRE:MODEL` or `WIRE@BASE_URL:MODEL`. The model begins after the first colon that follows the
    /// address's host and port, or its path if there is one; it may have colons and slashes itself.
    ///
    /// # Errors
    /// [`ModelNameError::Shape`], also for addresses that are not HTTP or hold a user, a password or a query.
    pub fn parse(name: &str) -> Result<Self, ModelNameError> {
        let fail = |shown: &str, reason: &str| ModelNameError::Shape {
            name: shortened(shown, 200),
            reason: reason.to_owned(),
        };
        let end = name.find(['@', ':']).ok_or_else(|| fail(name, "there is no colon before the model"))?;
        let wire = WireKind::ALL.iter().copied().find(|wire| wire.as_str() == &name[..end]);
        let wire = wire.ok_or_else(|| fail(name, "it begins with none of the wires"))?;
        let rest = &name[end + 1..];
        let (base_url, model) = if name[end..].starts_with('@') {
            let (base_url, model) = split_address(rest).map_err(|(reason, may_be_shown)| {
                let hidden = format!("{}@...", wire.as_str());
                fail(if may_be_shown { name } else { &hidden }, reason)
            })?;
            (Some(base_url.to_owned()), model)
        } else {
            (None, rest)
        };
        if model.trim().is_empty() {
            return Err(fail(name, "the model is missing"));
        }
        if model.trim() != model || model.chars().any(char::is_control) {
            return Err(fail(name, "the model has spaces around it or control characters in it"));
        }
        Ok(Self { wire, base_url, model: model.to_owned() })
    }

    /// The base address that requests go to, without a slash at its end.
    #[must_use]
    pub fn address(&self) -> Cow<'_, str> {
        self.base_url.as_deref().map_or_else(
            || wires::implementation(self.wire).base_url(),
            |url| url.trim_end_matches('/').into(),
        )
    }

    /// The target that requests are written for.
    pub(crate) fn target(&self) -> Target<'_> {
        Target { model: &self.model, base_url: self.base_url.as_deref() }
    }

    /// The most tools that the provider takes with a request; `None` if requests go elsewhere or the provider has no
    /// limit.
    #[must_use]
    pub fn most_tools(&self) -> Option<usize> {
        wires::implementation(self.wire).most_tools().filter(|_| self.is_at_provider())
    }

    /// Whether requests go to the provider's own address.
    #[must_use]
    pub fn is_at_provider(&self) -> bool {
        self.address() == wires::implementation(self.wire).base_url()
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.wire.as_str())?;
        if let Some(base_url) = &self.base_url {
            write!(formatter, "@{base_url}")?;
        }
        write!(formatter, ":{}", self.model)
    }
}

/// The forms of names for models at the providers of the wires, for messages.
fn at_providers() -> String {
    let names: Vec<String> = WireKind::ALL.iter().map(|wire| format!("`{}:MODEL`", wire.as_str())).collect();
    names.join(", ")
}

/// Splits `http://host[:port][/path]:model`. The error says whether the name may be shown.
fn split_address(text: &str) -> Result<(&str, &str), (&'static str, bool)> {
    let scheme = ["http://", "https://"].into_iter().find(|scheme| text.starts_with(scheme));
    let Some(scheme) = scheme else {
        return Err(("the address does not begin with `http://` or `https://`", !text.contains('@')));
    };
    let after_scheme = &text[scheme.len()..];
    let until_path = after_scheme.find('/').unwrap_or(after_scheme.len());
    if after_scheme[..until_path].contains('@') {
        return Err(("the address holds a user or a password; a key is read from the environment", false));
    }
    let authority = authority_length(after_scheme);
    if authority == 0 {
        return Err(("the address has no host", true));
    }
    let end = authority
        + after_scheme[authority..].find(':').ok_or(("there is no colon before the model", true))?;
    let base = &after_scheme[..end];
    if base.contains(['?', '#']) {
        return Err(("the address has a query or a fragment; a key is read from the environment", false));
    }
    if base.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err(("the address has spaces or control characters", true));
    }
    Ok((&text[..scheme.len() + end], &after_scheme[end + 1..]))
}

/// The length of host and port in `text`, in bytes. A port is all digits and ends the authority; `localhost:7b` is a
/// host and a model.
fn authority_length(text: &str) -> usize {
    let host = if text.starts_with('[') {
        text.find(']').map_or(0, |end| end + 1)
    } else {
        text.find([':', '/']).unwrap_or(text.len())
    };
    let Some(after) = text[host..].strip_prefix(':') else { return host };
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let is_port = digits > 0 && matches!(after.as_bytes().get(digits), None | Some(b':' | b'/'));
    if host > 0 && is_port { host + 1 + digits } else { host }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_given_back_as_written() {
        for (name, wire, base_url, model) in [
            ("openai:gpt-5.1-codex-max", WireKind::OpenAi, None, "gpt-5.1-codex-max"),
            ("anthropic:claude-sonnet-4-5", WireKind::Anthropic, None, "claude-sonnet-4-5"),
            ("gemini:gemini-2.5-pro", WireKind::Gemini, None, "gemini-2.5-pro"),
            ("openai:ft:gpt-4o:org::id@1", WireKind::OpenAi, None, "ft:gpt-4o:org::id@1"),
            (
                "openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B",
                WireKind::OpenAi,
                Some("http://127.0.0.1:8000/v1"),
                "Qwen/Qwen3-VL-8B",
            ),
            (
                "openai@http://localhost:11434/v1:qwen2.5vl:7b",
                WireKind::OpenAi,
                Some("http://localhost:11434/v1"),
                "qwen2.5vl:7b",
            ),
            ("openai@http://127.0.0.1:8000:m", WireKind::OpenAi, Some("http://127.0.0.1:8000"), "m"),
            ("openai@http://[::1]:8000/v1/:a/b:c", WireKind::OpenAi, Some("http://[::1]:8000/v1/"), "a/b:c"),
            ("openai@https://host:Qwen/Qwen3", WireKind::OpenAi, Some("https://host"), "Qwen/Qwen3"),
            ("openai@https://host:7b", WireKind::OpenAi, Some("https://host"), "7b"),
            ("openai@http://host:8000:7b:q4", WireKind::OpenAi, Some("http://host:8000"), "7b:q4"),
        ] {
            let parsed = ModelName::parse(name);
            let expected = ModelName { wire, base_url: base_url.map(str::to_owned), model: model.to_owned() };
            assert_eq!(parsed.as_ref(), Ok(&expected));
            assert_eq!(expected.to_string(), name);
        }
    }

    #[test]
    fn requests_go_to_the_address_without_its_last_slash() {
        assert_eq!(ModelName::parse("openai@http://h:1/v1/:m").unwrap().address(), "http://h:1/v1");
        assert_eq!(ModelName::parse("openai:m").unwrap().address(), "https://api.openai.com/v1");
    }

    #[test]
    fn what_names_no_model_is_refused_with_a_reason() {
        for (name, reason) in [
            ("gpt-5", "no colon"),
            ("", "no colon"),
            ("openai:", "model is missing"),
            ("openai: gpt", "spaces"),
            ("OpenAI:gpt-5", "none of the wires"),
            ("replay:run.cassette", "none of the wires"),
            ("openai@127.0.0.1:8000:m", "http://"),
            ("openai@ftp://host/v1:m", "http://"),
            ("openai@http://:m", "no host"),
            ("openai@http://127.0.0.1:8000", "no colon"),
            ("openai@http://127.0.0.1:8000/v1", "no colon"),
            ("openai@http://127.0.0.1:8000/v1:", "model is missing"),
            ("openai@http://ho st/v1:m", "spaces"),
        ] {
            let message = ModelName::parse(name).unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        }
    }

    #[test]
    fn keys_in_addresses_are_refused_and_not_repeated() {
        for name in [
            "openai@http://user:secret@host/v1:m",
            "openai@http://secret@host:8000:m",
            "openai@http://user:8000:secret@host/v1:m",
            "openai@https://host/v1?key=secret:m",
            "openai@host?user:secret@h:m",
            // The part before `@` may be a password.
            "openai@http://host:secret@1/m",
        ] {
            let message = ModelName::parse(name).unwrap_err().to_string();
            assert!(!message.contains("secret"), "{message}");
        }
    }
}
