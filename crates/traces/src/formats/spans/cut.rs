//! Content that was not recorded as it was: hidden, or cut by a limit of length.

use crate::arguments::REDACTED;
use crate::formats::prelude::*;

/// Whether a text ends where programs cut texts: after 4096 characters, 8192 and so on.
fn is_of_round_length(text: &str) -> bool {
    let is_round = |length: usize| {
        length >= 128
            && (length.is_power_of_two() || length.is_multiple_of(1024) || length.is_multiple_of(1000))
    };
    is_round(text.len()) || is_round(text.chars().count())
}

/// A text that is not hidden.
pub(super) fn shown<'t>(text: &'t str, notes: &mut Notes) -> Option<&'t str> {
    if text == REDACTED {
        notes.add("hidden content is not captured");
        return None;
    }
    Some(text)
}

/// Whether a text began as JSON and was cut.
pub(super) fn is_cut(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[', '"'])
        && is_of_round_length(text)
        && parse(text.as_bytes()).is_err()
}

/// A text that is neither hidden nor JSON that was cut.
pub(super) fn whole<'t>(text: &'t str, notes: &mut Notes) -> Option<&'t str> {
    if is_cut(text) {
        notes.add("content that was cut by a limit of length is not captured");
        return None;
    }
    shown(text, notes)
}

/// A value that may be written as a text of JSON; `None` if it is not there, hidden or cut.
pub(super) fn value(value: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    match value? {
        Json::String(text) => {
            let text = shown(text, notes)?;
            if text.trim().is_empty() {
                return None;
            }
            if let Ok((value, _)) = parse(text.as_bytes()) {
                return Some(value);
            }
            notes.add(if is_of_round_length(text) {
                "content that was cut by a limit of length is not captured"
            } else {
                "content that is no JSON is not captured"
            });
            None
        }
        other => Some(other.clone()),
    }
}

/// The arguments of a call, as a value or a text of JSON; `None` if they are not there, hidden or cut.
pub(super) fn arguments(value: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    let value = value?;
    if let Json::String(text) = value {
        whole(text, notes)?;
    }
    crate::arguments::arguments(Some(value))
}

/// A result; `None` if it is not there, hidden or cut.
pub(super) fn result(value: Option<&Json>, notes: &mut Notes) -> Option<Json> {
    let value = value?;
    if let Json::String(text) = value {
        whole(text, notes)?;
    }
    Some(crate::content::result_of(value))
}
