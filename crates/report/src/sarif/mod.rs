//! Results as SARIF 2.1.0 (OASIS), which code hosts show beside files: a result for each fault, by rules with names.
//! Results are written as they come; the rules are known before.

mod comparison;
mod score;
mod validation;

use std::io::{self, Write};

pub use comparison::write_comparison_as_sarif;
use m3_support::text::{json_without_hidden, shortened, visible};
pub use score::Sarif;
use serde::Serialize;
pub use validation::write_validation_as_sarif;

use crate::FilePlace;
use crate::faults::{FaultPlace, Rule};

/// The address of the schema of SARIF.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The longest message, in columns.
const MESSAGE: usize = 2_000;

/// A SARIF document that is being written.
struct Log<W: Write> {
    writer: W,
    rules: &'static [Rule],
    is_first: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text,
    full_description: Text,
    default_configuration: Configuration,
}

#[derive(Serialize)]
struct Configuration {
    level: String,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

/// A fault, and where it is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Finding {
    rule_id: &'static str,
    rule_index: usize,
    level: String,
    message: Text,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    #[serde(skip_serializing_if = "Properties::is_empty")]
    properties: Properties,
}

#[derive(Default, Serialize)]
struct Location {
    #[serde(rename = "physicalLocation", skip_serializing_if = "Option::is_none")]
    physical: Option<PhysicalLocation>,
    #[serde(rename = "logicalLocations", skip_serializing_if = "Vec::is_empty")]
    logical: Vec<LogicalLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    name: String,
    fully_qualified_name: String,
    kind: &'static str,
}

/// The place of a fault in numbers, for programs; steps and calls count from 1.
#[derive(Default, Serialize)]
struct Properties {
    #[serde(skip_serializing_if = "Option::is_none")]
    trajectory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repetition: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    side: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<usize>,
}

impl Properties {
    fn is_empty(&self) -> bool {
        self.trajectory.is_none()
    }
}

impl<W: Write> Log<W> {
    /// Begins a log of results by these rules.
    fn new(mut writer: W, rules: &'static [Rule]) -> io::Result<Self> {
        let version = env!("CARGO_PKG_VERSION");
        write!(
            writer,
            "{{\n\"$schema\": \"{SCHEMA}\",\n\"version\": \"2.1.0\",\n\"runs\": [{{\n\"tool\": {{\"driver\": {{\"name\": \"m3\", \
             \"semanticVersion\": \"{version}\", \"rules\": ["
        )?;
        for (index, rule) in rules.iter().enumerate() {
            let separator = if index == 0 { "\n" } else { ",\n" };
            write!(writer, "{separator}{}", serde_json::to_string(&Descriptor::from(rule))?)?;
        }
        write!(writer, "\n]}}}},\n\"results\": [")?;
        Ok(Self { writer, rules, is_first: true })
    }

    /// Writes a result.
    fn add(&mut self, finding: &Finding) -> io::Result<()> {
        let separator = if std::mem::take(&mut self.is_first) { "\n" } else { ",\n" };
        write!(self.writer, "{separator}{}", json_without_hidden(&serde_json::to_string(finding)?))
    }

    /// A result by a rule, at the rule's level and without a place.
    fn finding(&self, rule: &Rule, message: &str) -> Finding {
        Finding {
            rule_id: rule.id,
            rule_index: self.rules.iter().position(|known| known.id == rule.id).unwrap_or_default(),
            level: rule.level.to_string(),
            message: Text::of(message),
            locations: Vec::new(),
            related_locations: Vec::new(),
            properties: Properties::default(),
        }
    }

    /// Ends the log.
    fn finish(&mut self) -> io::Result<()> {
        writeln!(self.writer, "\n]\n}}]\n}}")?;
        self.writer.flush()
    }
}

impl Text {
    /// A message on one line, without anything that acts on a terminal. It has no links and no placeholders; quoted
    /// texts that look like them are escaped (SARIF 2.1.0, sections 3.11.5 and 3.11.6).
    fn of(text: &str) -> Self {
        Self { text: shortened(text, MESSAGE).replace('{', "{{").replace('}', "}}").replace("](", "] (") }
    }
}

impl From<&Rule> for Descriptor {
    fn from(rule: &Rule) -> Self {
        Self {
            id: rule.id,
            short_description: Text { text: rule.title.to_owned() },
            full_description: Text { text: rule.help.to_owned() },
            default_configuration: Configuration { level: rule.level.to_string() },
        }
    }
}

impl PhysicalLocation {
    fn of(place: &FilePlace) -> Self {
        Self {
            artifact_location: ArtifactLocation { uri: place.uri.to_string() },
            region: place.line.map(|start_line| Region { start_line }),
        }
    }
}

impl LogicalLocation {
    /// A trajectory, or a step or a call of one side of it.
    fn of(id: &str, place: Option<FaultPlace>) -> Self {
        let id = visible(id, false);
        let Some(FaultPlace { side, step, call }) = place else {
            return Self { name: id.to_string(), fully_qualified_name: id.to_string(), kind: "trajectory" };
        };
        let step = step + 1;
        match call {
            Some(call) => Self {
                name: format!("{step}.{}", call + 1),
                fully_qualified_name: format!("{id}/{side}/step {step}/call {}", call + 1),
                kind: "call",
            },
            None => Self {
                name: step.to_string(),
                fully_qualified_name: format!("{id}/{side}/step {step}"),
                kind: "step",
            },
        }
    }
}
