//! Reads replies that should be one JSON object and nothing else. The only liberty allowed is a code fence around it.

use m3_support::text::shortened;
use serde::de::DeserializeOwned;

/// The longest reply that is read, in bytes.
pub(super) const LONGEST: usize = 1 << 20;

/// The longest reason that is kept, in columns.
pub(super) const REASON: usize = 1000;

/// Reads the object that was asked for; `Err` says what is wrong with the reply.
pub(super) fn object<T: DeserializeOwned>(reply: &str) -> Result<T, String> {
    let text = bare(reply)?;
    // serde would accept a list with the fields in order.
    if !text.starts_with('{') {
        return Err("it is not the JSON object that was asked for".to_owned());
    }
    serde_json::from_str(text).map_err(|error| {
        format!("it is not the JSON object that was asked for: {}", shortened(&error.to_string(), 200))
    })
}

/// The reason that a model gives, made safe to show; one has to be given.
pub(super) fn reason(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("`reason` is empty".to_owned()),
        text => Ok(shortened(text, REASON)),
    }
}

/// The reply without white space and one code fence around it.
pub(super) fn bare(reply: &str) -> Result<&str, String> {
    if reply.len() > LONGEST {
        return Err(format!("it has {} bytes, and at most {LONGEST} are read", reply.len()));
    }
    let text = reply.trim();
    let inside = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inside = inside.and_then(|inside| inside.split_once('\n'));
    let text = match inside {
        Some((language, inside)) if matches!(language.trim(), "" | "json" | "JSON" | "text") => inside.trim(),
        _ => text,
    };
    if text.is_empty() { Err("it is empty".to_owned()) } else { Ok(text) }
}
