//! Which rules a comparison was made by, for whoever keeps comparisons.

#[cfg(test)]
mod tests;

/// The version of the rules. Comparisons in the cache are kept under it, so that those of other rules are never used.
///
/// It goes up with every change that may give another result for some pair of calls: of the rules and their tables, of the
/// table of words, or of a library that they compute with. The tests fail where results have changed and it has not; the
/// model is no part of it, because its digest is.
pub(super) const RULES_VERSION: u32 = 2;
