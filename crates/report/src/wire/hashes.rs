//! Hashes, as people see them.

/// The number of digits of a hash in a signature.
const DIGITS: usize = 8;

/// The first digits of a hash.
pub(crate) fn start(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}
