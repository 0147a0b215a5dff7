//! The values of the same trajectories by the rules of other benchmarks, with `--suite`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of the suite that every score has: M3-Bench's metrics.
pub const OWN_SUITE: &str = "m3";

/// Values by name, an object in their order.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<V>(pub Vec<(String, V)>);

/// The values of a suite by the names of its metrics; null where one is not defined.
pub type SuiteValues = Named<Option<f64>>;

/// The values of a suite for a trajectory, and the reasons for them.
pub type SuiteTrial = Named<SuiteValue>;

/// A value of a suite for a trajectory, or a text about one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SuiteValue {
    /// A value; null where it is not defined.
    Number(Option<f64>),
    /// Words, such as why a value is 0. They may quote what a model wrote.
    Text(String),
}

impl SuiteValue {
    /// The value, if it is a defined one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => *number,
            Self::Text(_) => None,
        }
    }
}

/// The values of a suite for all trajectories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteReport {
    /// The benchmark.
    pub title: String,
    /// The source of the definitions: `paper`, or `published` for the program that was published with the benchmark.
    #[schemars(extend("enum" = ["paper", "published"]))]
    pub variant: String,
    /// What its metrics mean.
    pub metrics: Vec<SuiteMetricReport>,
    /// The values of all trajectories together.
    pub aggregate: SuiteValues,
    /// The values of groups of tasks.
    pub groups: Vec<SuiteGroupReport>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// A metric of a suite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteMetricReport {
    /// The name.
    pub name: String,
    /// The unit of the value of all trajectories; values whose names begin with the metric's have its unit.
    #[schemars(extend("enum" = ["share", "percent", "count", "number"]))]
    pub unit: String,
    /// The meaning in one sentence.
    pub meaning: String,
}

impl SuiteMetricReport {
    /// Whether the metric says how much of what can be reached was reached.
    pub(crate) fn is_share(&self) -> bool {
        matches!(self.unit.as_str(), "share" | "percent")
    }
}

/// The values of a group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SuiteGroupReport {
    /// What tasks are grouped by, such as `class`.
    pub by: String,
    /// The name of the group.
    pub name: String,
    /// The number of tasks in the group.
    pub tasks: usize,
    /// The values of these tasks.
    pub values: SuiteValues,
}

impl<V> Default for Named<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> Named<V> {
    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }
}

impl<V: Serialize> Serialize for Named<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(InOrder(PhantomData))
    }
}

struct InOrder<V>(PhantomData<V>);

impl<'de, V: Deserialize<'de>> Visitor<'de> for InOrder<V> {
    type Value = Named<V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<V>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Named(members))
    }
}

impl<V: JsonSchema> JsonSchema for Named<V> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        format!("Named_{}", V::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": generator.subschema_for::<V>() })
    }
}
