//! What happened to every reference and every prediction.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How every reference and every prediction was counted. With repetitions counts are sums, and lists have all ids.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct LedgerReport {
    /// Different ids in the references.
    pub references: usize,
    /// Different ids in the predictions.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub predictions: usize,
    /// Trajectories that the numbers are made of.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub scored: usize,
    /// Ids of references without a prediction.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub missing: Vec<String>,
    /// Ids of predictions without a reference.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub extra: Vec<String>,
    /// Ids that stand more than once in one of the files.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub duplicate: Vec<String>,
    /// Ids of predictions without any call.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub empty: Vec<String>,
    /// Ids of predictions that ended by an error: `provider`, `server_lost` or `other` is their class.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub errored: Vec<String>,
    /// Ids of predictions that were cut off: `time`, `limit` or `context` is their class.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub unfinished: Vec<String>,
    /// Ids of predictions with more calls than can be aligned.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub too_large: Vec<String>,
    /// Calls of predictions that name no tool; absent if there are none.
    #[serde(default, skip_serializing_if = "is_zero", skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub malformed_calls: usize,
    /// Calls of predictions and references that do not count, because `--roles` ignores their tools; absent for none.
    #[serde(default, skip_serializing_if = "is_zero", skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub ignored_calls: u64,
    /// The tools of these calls, under the names that files and score have for them; absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty", skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub ignored_tools: Vec<String>,
    /// The number of references without a prediction (`missing`) or with one that came to nothing, by class:
    /// `provider` (the model was not available, refused, or gave an unusable reply), `server_lost`, `time`, `limit`
    /// (steps, calls or tokens), `context`, `other`, `too_large`; scores of earlier versions do not have it.
    #[schemars(required)]
    pub failures: Option<BTreeMap<String, usize>>,
}

/// How far predictions and references are of the same tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CoverageReport {
    /// Different ids in the references.
    pub references: usize,
    /// Different ids in the predictions; of repetitions their sum.
    pub predictions: usize,
    /// Ids in both, in every repetition.
    pub shared: usize,
    /// Shared ids whose prediction, by its own record, did not fail and was finished, in every repetition.
    pub finished: usize,
}

impl From<&m3_score::Ledger> for CoverageReport {
    fn from(ledger: &m3_score::Ledger) -> Self {
        let m3_score::Ledger { references, predictions, missing, errored, unfinished, too_large, .. } =
            ledger;
        // With repetitions a task may fail in several ways.
        let failed: HashSet<&String> =
            [missing, errored, unfinished, too_large].into_iter().flatten().collect();
        Self {
            references: *references,
            predictions: *predictions,
            shared: references - missing.len(),
            finished: references - failed.len(),
        }
    }
}

impl From<m3_score::Ledger> for LedgerReport {
    fn from(ledger: m3_score::Ledger) -> Self {
        let failures = ledger.failures.iter().map(|(class, count)| (class.name().to_owned(), *count));
        Self {
            failures: Some(failures.collect()),
            references: ledger.references,
            predictions: ledger.predictions,
            scored: ledger.scored,
            missing: ledger.missing,
            extra: ledger.extra,
            duplicate: ledger.duplicate,
            empty: ledger.empty,
            errored: ledger.errored,
            unfinished: ledger.unfinished,
            too_large: ledger.too_large,
            malformed_calls: ledger.malformed_calls,
            ignored_calls: 0,
            ignored_tools: Vec::new(),
        }
    }
}

fn is_zero<N: Default + PartialEq>(count: &N) -> bool {
    *count == N::default()
}
