//! The origin of a score: its files by name and hash, and one line with everything that decides its numbers.

use m3_support::text::hexadecimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::hashes::start;
use super::{MatchOptionsReport, ScoreSummary};
use crate::ToolNamesReport;

/// The files that a score was made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct InputsReport {
    /// The predictions.
    #[serde(default)]
    #[schemars(!default)]
    pub predictions: InputReport,
    /// Further repetitions of the predictions, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeats: Vec<InputReport>,
    /// The references.
    #[serde(default)]
    #[schemars(!default)]
    pub references: InputReport,
    /// The catalog of tools, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<InputReport>,
    /// The file of roles, if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roles: Option<InputReport>,
}

/// A file that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct InputReport {
    /// The name that the user gave; `standard input` for `-`.
    pub name: String,
    /// The SHA-256 of its bytes, after decompression of gzip, in hexadecimal.
    pub sha256: String,
}

/// The signature of a score, in the manner of sacreBLEU: scores with equal signatures are equal, and those that
/// differ only in the references are of different tasks.
pub(crate) fn signature(summary: &ScoreSummary) -> String {
    let InputsReport { predictions, repeats, references, tools, roles } = &summary.inputs;
    let predictions: Vec<&str> =
        [predictions].into_iter().chain(repeats).map(|input| start(&input.sha256)).collect();
    let mut parts = vec![
        "m3".to_owned(),
        format!("v:{}", summary.version),
        format!("profile:{}", summary.profile),
        format!("sim:{}", summary.similarity),
        format!("enc:{}", start(summary.encoder.fingerprint.trim_start_matches("sha256:"))),
        format!("tau:{}/{}", summary.thresholds.weak, summary.thresholds.strong),
    ];
    // The version says which model is built in.
    let own_model = summary.fidelity_model.iter().filter(|model| !model.built_in);
    parts.extend(own_model.map(|model| format!("fid:{}", start(&model.fingerprint))));
    parts.extend((summary.flow == "off").then(|| "flow:off".to_owned()));
    parts.extend(summary.results.as_ref().map(|_| "results:auto".to_owned()));
    parts.extend(summary.asked.as_ref().map(|asked| format!("ask:{}", start(&asked.fingerprint))));
    parts.extend(names(&summary.tool_names));
    parts.extend([format!("refs:{}", start(&references.sha256)), format!("preds:{}", predictions.join("+"))]);
    parts.extend(tools.as_ref().map(|tools| format!("tools:{}", start(&tools.sha256))));
    parts.extend(roles.as_ref().map(|roles| format!("roles:{}", start(&roles.sha256))));
    parts.extend(summary.match_options.as_ref().map(MatchOptionsReport::signed));
    parts.extend(summary.repeats.as_ref().map(|repeats| {
        let least = repeats.pass.iter().map(|(metric, least)| format!("{metric}={least}"));
        format!("pass:{}", least.collect::<Vec<_>>().join("+"))
    }));
    parts.join("|")
}

/// How tool names were read, unless unchanged; the user's own mapping is given by its hash, because nothing else
/// identifies it.
fn names(names: &ToolNamesReport) -> Option<String> {
    match names.mode.as_str() {
        "off" => return None,
        "file" => {}
        mode => return Some(format!("names:{mode}")),
    }
    let mapping = names.mapping.iter().flat_map(|(from, to)| [from.as_bytes(), b"\0", to.as_bytes(), b"\0"]);
    let digest = mapping.fold(Sha256::new(), Sha256::chain_update).finalize();
    Some(format!("names:{}", start(&hexadecimal(&digest))))
}
