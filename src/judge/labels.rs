//! Pairs of calls that people have labelled by how alike they are (M³-Bench, section 6.4): `m3 review --label` collects
//! them, `m3 calibrate` reads them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The schema of the file.
pub const LABELS_SCHEMA: &str = "m3.labels/1";

/// A file of labelled pairs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "m3.labels/1")]
pub struct Labels {
    /// `m3.labels/1`.
    pub schema: String,
    /// The pairs.
    pub pairs: Vec<LabelledPair>,
}

/// Two calls of one tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabelledPair {
    /// Names the pair; unique in the file.
    pub id: String,
    /// The tool as `server/tool`.
    pub tool: String,
    /// The arguments of the reference's call.
    pub reference: Value,
    /// The arguments of the predicted call.
    pub predicted: Value,
    /// What people say, one label of each.
    #[serde(default)]
    pub labels: Vec<PersonLabel>,
}

/// What one person says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PersonLabel {
    /// The person.
    pub name: String,
    /// How alike the calls are.
    pub label: Label,
    /// When, as RFC 3339 in UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<String>,
}

/// How alike two calls are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// They ask for different things.
    Weak,
    /// They ask for much the same, and one of them lacks something or says it otherwise.
    Medium,
    /// They ask for the same.
    Strong,
}
