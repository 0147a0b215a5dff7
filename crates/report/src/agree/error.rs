//! The reasons why scores by different suites cannot be compared.

/// Why suites cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgreeError {
    /// A named metric is missing or not a share, or there is nothing to compare: only one suite, and no labels.
    #[error("{0}")]
    Views(String),
    /// Models were scored in different ways.
    #[error(
        "`{first}` and `{second}` were not scored in the same way: profile, similarity and references: {how_first}, and {how_second}\n\
         hint: score all with the same options against the same file"
    )]
    Conditions {
        /// A file.
        first: String,
        /// Another file.
        second: String,
        /// How the first was scored.
        how_first: String,
        /// How the second was scored.
        how_second: String,
    },
    /// Models have no task in common.
    #[error("no task is in all results; check that they are of one benchmark")]
    Empty,
}
