//! Separates evidence from instructions: [`Fence`].

use m3_support::text::hexadecimal;
use sha2::{Digest as _, Sha256};

/// The length of the code: 24 hexadecimal digits are 96 bits.
pub(super) const LENGTH: usize = 24;

/// A code that occurs nowhere in the evidence.
///
/// The code comes from the evidence itself (its SHA-256), so the same evidence gets the same fence again, also when a
/// recording is replayed. The author of the evidence cannot know the code, because nobody can write a text that
/// contains its own hash. If the code occurs in a part all the same, the next code is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: String,
}

impl Fence {
    /// The fence around these parts.
    pub(super) fn around(parts: &[&str]) -> Self {
        let mut number = 0_u64;
        loop {
            let mut hash = Sha256::new();
            hash.update(number.to_le_bytes());
            for part in parts {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
            let mut mark = hexadecimal(&hash.finalize());
            mark.truncate(LENGTH);
            // Lower case, because judges may not distinguish capitals.
            if !parts.iter().any(|part| part.to_lowercase().contains(&mark)) {
                return Self { mark };
            }
            number += 1;
        }
    }

    /// The code.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_is_the_same_for_the_same_parts_and_no_other() {
        let mark = |parts: &[&str]| Fence::around(parts).mark().to_owned();
        assert_eq!(mark(&["a", "b"]), mark(&["a", "b"]));
        assert_ne!(mark(&["a", "b"]), mark(&["ab", ""]));
        assert_eq!(mark(&[]).len(), LENGTH);
    }
}
