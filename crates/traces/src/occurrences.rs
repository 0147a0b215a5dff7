//! Ids that come again: servers that number calls anew in each turn give the same ids to several calls.

use std::collections::HashMap;

/// Counts the occurrences of ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occurrences(HashMap<String, usize>);

impl Occurrences {
    /// Counts another occurrence of an id, and returns its number, from 1.
    pub(crate) fn next(&mut self, id: &str) -> usize {
        let count = self.0.entry(id.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// The number of occurrences of an id so far.
    pub(crate) fn count(&self, id: &str) -> usize {
        self.0.get(id).copied().unwrap_or_default()
    }
}
