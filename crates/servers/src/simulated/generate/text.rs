//! Strings: in a format, for a pattern, or freely made up.

use serde_json::Value;

use super::flat::Flat;
use super::{Maker, Place, format, pattern};
use crate::seed::Seed;

/// The most characters of a string; schemas that require more are not satisfied.
const MAX_LENGTH: usize = 100_000;

impl<'a> Maker<'a> {
    /// A string.
    pub(super) fn string(&mut self, flat: &Flat<'a>, place: Place<'_>, seed: &Seed) -> Option<Value> {
        let least = flat.least_count("minLength", MAX_LENGTH)?;
        let most = flat.most_count("maxLength", MAX_LENGTH);
        let seed = seed.child("string").nth(self.attempt);
        let text = if let Some(pattern) = flat.all("pattern").find_map(Value::as_str) {
            pattern::text(pattern, self.attempt.max(least), self.text, &seed)?
        } else if let Some(format) =
            flat.all("format").find_map(Value::as_str).and_then(|name| format::text(name, &seed))
        {
            format
        } else {
            let mark = seed.stream().below(1 << 16);
            // The name may be hostile, so only its start is used.
            let name: String = place.name.chars().take(40).collect();
            fitted(&format!("simulated {name} {mark:04x}"), least, most)
        };
        self.text = self.text.checked_sub(text.len())?;
        Some(Value::String(text))
    }
}

/// The text cut or repeated to a length in characters. The front is cut off, so that the part that differs stays.
fn fitted(text: &str, least: usize, most: usize) -> String {
    let length = text.chars().count();
    if length > most {
        return text.chars().skip(length - most).collect();
    }
    text.chars().chain(" ".chars()).cycle().take(length.max(least)).collect()
}
