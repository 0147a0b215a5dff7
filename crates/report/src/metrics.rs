//! The metrics of a set in the JSON of a score: a member for each metric of the registry that scores contain.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;

use m3_score::{Metric, Metrics, PartOfAverages, Sum};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The metrics that narrow tables show. If there are more than `most`, region overlap is left out, which only some
/// tasks have, then the verdict; `kept` never is.
pub(crate) fn fitting(metrics: &[Metric], most: usize, kept: Metric) -> Vec<Metric> {
    let is_shown = |metric: &Metric| metric.is_in_tables() || *metric == kept;
    let mut shown: Vec<Metric> = metrics.iter().copied().filter(is_shown).collect();
    for metric in [Metric::RegionOverlap, Metric::Verdict] {
        if shown.len() > most && metric != kept {
            shown.retain(|other| *other != metric);
        }
    }
    shown
}

/// Metrics by name, each in [0, 1]; NaN (null in JSON) for an unknown metric, and NaN for one that a score of an
/// earlier version lacks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricsReport(pub Metrics);

impl Default for MetricsReport {
    fn default() -> Self {
        Self(Metrics::new(|_| f64::NAN))
    }
}

impl Deref for MetricsReport {
    type Target = Metrics;

    fn deref(&self) -> &Metrics {
        &self.0
    }
}

impl Serialize for MetricsReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for metric in Metric::of_scores() {
            map.serialize_entry(metric.name(), &self.0.get(metric))?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for MetricsReport {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values: BTreeMap<Metric, Option<f64>> = by_name(deserializer, |_| true)?;
        let is_missing =
            |(metric, value): &(&Metric, &Option<f64>)| value.is_none() && !metric.may_be_unknown();
        if let Some((metric, _)) = values.iter().find(is_missing) {
            return Err(D::Error::custom(format_args!(
                "`{}` is null, and should be a number",
                metric.name()
            )));
        }
        // Only these values say what a trajectory adds to the metrics of the average, so they must be there.
        let needed = |metric: &Metric| {
            metric.averaged() == PartOfAverages::Always
                && matches!(metric.sum(), Some(Sum::OfTrajectories(_)))
        };
        match Metric::ALL.into_iter().filter(needed).find(|metric| !values.contains_key(metric)) {
            Some(metric) => Err(D::Error::missing_field(metric.name())),
            None => {
                Ok(Self(Metrics::new(|metric| values.get(&metric).copied().flatten().unwrap_or(f64::NAN))))
            }
        }
    }
}

/// Reads the members of an object that are named like the chosen metrics, and passes over all others.
pub(super) fn by_name<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    is_chosen: fn(Metric) -> bool,
) -> Result<BTreeMap<Metric, T>, D::Error> {
    deserializer.deserialize_map(ByName { is_chosen, values: BTreeMap::new() })
}

struct ByName<T> {
    is_chosen: fn(Metric) -> bool,
    values: BTreeMap<Metric, T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for ByName<T> {
    type Value = BTreeMap<Metric, T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<Self::Value, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match Metric::from_name(&name).filter(|metric| (self.is_chosen)(*metric)) {
                Some(metric) => _ = self.values.insert(metric, map.next_value()?),
                None => _ = map.next_value::<IgnoredAny>()?,
            }
        }
        Ok(self.values)
    }
}

impl JsonSchema for MetricsReport {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "MetricsReport".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let property = |metric: Metric| {
            let number = if metric.may_be_unknown() { json!(["number", "null"]) } else { json!("number") };
            let schema = json!({ "description": metric.meaning(), "type": number, "format": "double" });
            (metric.name().to_owned(), schema)
        };
        let properties: Map<String, Value> = Metric::of_scores().map(property).collect();
        let required: Vec<&str> = Metric::of_scores().map(Metric::name).collect();
        json_schema!({ "type": "object", "properties": properties, "required": required })
    }
}
