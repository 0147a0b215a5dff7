//! The code on the lines that separate evidence from instructions.

use m3_support::text::hexadecimal;
use sha2::{Digest as _, Sha256};

/// The length of the code: 24 hexadecimal digits are 96 bits.
pub(super) const LENGTH: usize = 24;

/// A part of the evidence, between lines that begin and end it.
pub(super) struct Part {
    pub(super) name: &'static str,
    pub(super) text: String,
}

impl Part {
    pub(super) const fn new(name: &'static str, text: String) -> Self {
        Self { name, text }
    }
}

impl AsRef<str> for Part {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// A code that occurs in none of these parts of the evidence.
///
/// The code comes from the evidence itself (its SHA-256), so the same evidence gets the same fence again, also when a
/// recording is replayed. The author of the evidence cannot know the code, because nobody can write a text that
/// contains its own hash. If the code occurs in a part all the same, the next code is taken.
pub(super) fn fence_mark(parts: &[impl AsRef<str>]) -> String {
    let mut number = 0_u64;
    loop {
        let mut mark = digest(&number.to_le_bytes(), parts.iter().map(|part| part.as_ref().as_bytes()));
        mark.truncate(LENGTH);
        // Lower case, because judges may not distinguish capitals.
        if !parts.iter().any(|part| part.as_ref().to_lowercase().contains(&mark)) {
            return mark;
        }
        number += 1;
    }
}

/// SHA-256 in hexadecimal over a prefix and the parts, each part preceded by its length.
pub(super) fn digest<'a>(prefix: &[u8], parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = Sha256::new_with_prefix(prefix);
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hexadecimal(&hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_same_for_the_same_parts_and_no_other() {
        assert_eq!(fence_mark(&["a", "b"]), fence_mark(&["a", "b"]));
        assert_ne!(fence_mark(&["a", "b"]), fence_mark(&["ab", ""]));
        assert_eq!(fence_mark(&[""; 0]).len(), LENGTH);
    }
}
