//! The version of the rules that comparisons are made by, for the cache.

#[cfg(test)]
mod tests;

/// The version of the rules. Comparisons in the cache are kept under it, so that those of other rules are never used.
///
/// Raise the version with every change that may give another result for some pair of calls: of the rules and their
/// tables, of the table of words, or of a library that they compute with. The tests fail where results have changed and
/// the version has not. The version does not cover the model, whose digest is in the cache's key, too.
pub(super) const RULES_VERSION: u32 = 3;
