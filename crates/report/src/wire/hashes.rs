//! Hashes, as people see them.

/// The number of a hash's digits that people are shown, in the line that identifies a score and in file lists.
const DIGITS: usize = 8;

/// The first digits of a hash.
pub(crate) fn start(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}
