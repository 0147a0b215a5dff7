//! Calls of one tool, from both sides: only they can be matched (M³-Bench, section 4.1).

use std::collections::BTreeMap;

/// The calls of one tool, as indices into the calls of each trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket<'a> {
    /// The tool, by its exact name.
    pub tool: &'a str,
    /// The tool's calls in the reference.
    pub references: Vec<usize>,
    /// The tool's calls in the prediction.
    pub predictions: Vec<usize>,
}

/// Sorts calls into buckets, in the order of the tools' names. Calls of a tool that one side does not use
/// make no bucket.
pub fn buckets<'a>(
    reference_tools: impl Iterator<Item = &'a str>,
    predicted_tools: impl Iterator<Item = &'a str>,
) -> Vec<Bucket<'a>> {
    let mut by_tool: BTreeMap<&str, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
    for (index, tool) in reference_tools.enumerate() {
        by_tool.entry(tool).or_default().0.push(index);
    }
    for (index, tool) in predicted_tools.enumerate() {
        by_tool.entry(tool).or_default().1.push(index);
    }
    by_tool
        .into_iter()
        .filter(|(_, (references, predictions))| !references.is_empty() && !predictions.is_empty())
        .map(|(tool, (references, predictions))| Bucket { tool, references, predictions })
        .collect()
}
