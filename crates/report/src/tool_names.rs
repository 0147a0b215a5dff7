//! How tool names in the predictions were read, for every score.

use std::collections::BTreeMap;

use m3_support::text::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shortened;

/// How the names of the predictions' tools were read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct ToolNamesReport {
    /// `off`: names are read as they are written; `auto`: a name that differs from one of the references only in its
    /// writing is read as that name; `file`: a file says how names are read.
    #[schemars(extend("enum" = ["off", "auto", "file"]))]
    pub mode: String,
    /// The names that were read as other names: what is written, and how it was read.
    #[serde(default)]
    #[schemars(!default)]
    pub mapping: BTreeMap<String, String>,
    /// Names that `auto` did not change because they were ambiguous: a name has several candidates, of which the first
    /// five are listed, or shares its candidate with another name. Left out if there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ambiguous: BTreeMap<String, Vec<String>>,
}

/// The value for scores without this field: names are read as they are written.
impl Default for ToolNamesReport {
    fn default() -> Self {
        Self { mode: "off".to_owned(), mapping: BTreeMap::new(), ambiguous: BTreeMap::new() }
    }
}

/// The longest name that is shown, in columns.
const NAME_WIDTH: usize = 60;

/// The most names that a report shows, one on each line.
const NAMED: usize = 3;
const LINE_WIDTH: usize = 76;

impl ToolNamesReport {
    /// The mapping in words, one name each: `image__crop -> image/crop`.
    pub fn pairs(&self) -> impl Iterator<Item = String> {
        self.mapping
            .iter()
            .map(|(from, to)| format!("{} -> {}", shortened(from, NAME_WIDTH), shortened(to, NAME_WIDTH)))
    }

    /// A sentence for each ambiguous name, with the names that it could mean.
    pub fn questions(&self) -> impl Iterator<Item = String> {
        self.ambiguous.iter().map(|(name, candidates)| {
            let named: Vec<_> =
                candidates.iter().map(|name| format!("`{}`", shortened(name, NAME_WIDTH))).collect();
            let shared = if named.len() == 1 { ", as another name could" } else { "" };
            format!("`{}` could be {}{shared}", shortened(name, NAME_WIDTH), named.join(" or "))
        })
    }

    /// Notes on the names for the reader; names are on separate lines.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut say = |count: usize, what: &str, names: &mut dyn Iterator<Item = String>| {
            if count > 0 {
                let named: Vec<_> = names.take(NAMED).map(|name| shortened(&name, LINE_WIDTH)).collect();
                let (named, more) = (named.join(",\n  "), if count > NAMED { ", …" } else { "" });
                lines.push(format!("{} {what}:\n  {named}{more}", counted(count, "tool name")));
            }
        };
        say(self.mapping.len(), "of the predictions read as the references'", &mut self.pairs());
        say(self.ambiguous.len(), "of the predictions that could mean others", &mut self.questions());
        lines
    }
}
