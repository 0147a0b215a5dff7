//! Whether trajectories pass beside their references, with `--match`.

use std::collections::BTreeMap;

use m3_score::{ArgumentMode, ArgumentRule, MatchOptions, Verdict};
use m3_support::text::{counted, hexadecimal};
use schemars::JsonSchema;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::hashes::start;

/// How trajectories are matched with their references.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MatchOptionsReport {
    /// Which calls a prediction must have: `strict`, `unordered`, `subset` or `superset`.
    pub mode: String,
    /// How arguments are compared: `exact`, `ignore`, `subset` or `superset`.
    pub arguments: String,
    /// Rules for the arguments of some tools instead: a mode, or the paths of the values that count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, ArgumentRuleReport>,
}

/// A mode of arguments, or the paths of those that count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ArgumentRuleReport {
    /// `exact`, `ignore`, `subset` or `superset`.
    Mode(String),
    /// The paths of the arguments: keys with points between them.
    Keys(Vec<String>),
}

impl From<&MatchOptions> for MatchOptionsReport {
    fn from(options: &MatchOptions) -> Self {
        let tools = options.tools.iter().map(|(tool, rule)| {
            let rule = match rule {
                ArgumentRule::Mode(mode) => ArgumentRuleReport::Mode(mode.name().to_owned()),
                ArgumentRule::Keys(keys) => ArgumentRuleReport::Keys(keys.clone()),
            };
            (tool.clone(), rule)
        });
        Self {
            mode: options.mode.name().to_owned(),
            arguments: options.arguments.name().to_owned(),
            tools: tools.collect(),
        }
    }
}

impl MatchOptionsReport {
    /// The part of a signature about matching; the rules of tools are given by their hash.
    pub(super) fn signed(&self) -> String {
        let Self { mode, arguments, tools } = self;
        let tools = (!tools.is_empty()).then(|| {
            let digest = Sha256::digest(serde_json::to_vec(tools).unwrap_or_default());
            format!("/{}", start(&hexadecimal(&digest)))
        });
        format!("match:{mode}/{arguments}{}", tools.unwrap_or_default())
    }

    /// The options that are not the default, each after a comma: `, arguments ignore, 1 tool otherwise`.
    pub(crate) fn others(&self) -> String {
        let arguments =
            (self.arguments != ArgumentMode::Exact.name()).then(|| format!(", arguments {}", self.arguments));
        let tools =
            (!self.tools.is_empty()).then(|| format!(", {} otherwise", counted(self.tools.len(), "tool")));
        [arguments, tools].into_iter().flatten().collect()
    }
}

/// How many trajectories of a set pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MatchedReport {
    /// How trajectories are matched: `strict`, `unordered`, `subset` or `superset`.
    #[schemars(extend("enum" = ["strict", "unordered", "subset", "superset"]))]
    pub mode: &'static str,
    /// Trajectories that pass.
    pub passed: u64,
    /// All trajectories.
    pub of: u64,
}

/// Whether a trajectory passes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct VerdictReport {
    /// Whether the trajectory passes.
    pub passed: bool,
    /// The first reason why not; left out if it passes. Calls are named by step and call, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl From<Verdict> for VerdictReport {
    fn from(verdict: Verdict) -> Self {
        let reason = verdict.err().map(|mismatch| mismatch.to_string());
        Self { passed: reason.is_none(), reason }
    }
}
