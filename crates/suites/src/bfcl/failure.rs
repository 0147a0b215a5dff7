//! Why calls are wrong.

/// Why calls are wrong, in the program's words for types of errors.
pub(super) type Failure = &'static str;
