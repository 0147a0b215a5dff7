//! The entries of a score's file: the types that are written, recognized while they are read.

use std::fmt;
use std::vec::IntoIter;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Error as _, IntoDeserializer as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::{ScoreSummary, TrajectoryReport};

/// A document, or a line of JSON Lines. It is read without a tree: only the members before the one that shows its kind
/// are kept as values. In files of m3 these are at most an id and a type.
pub(super) enum Entry {
    /// A head, which has a `schema`; a document has its trajectories in it.
    Head(Box<ScoreSummary>),
    /// One trajectory, which has `metrics`.
    Trajectory(Box<TrajectoryReport>),
    /// An object that is neither.
    Other,
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ByMember)
    }
}

struct ByMember;

impl<'de> Visitor<'de> for ByMember {
    type Value = Entry;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut rest: A) -> Result<Entry, A::Error> {
        let mut before = Vec::new();
        while let Some(name) = rest.next_key::<String>()? {
            let is_head = name == "schema";
            if !is_head && name != "metrics" {
                before.push((name, rest.next_value()?));
                continue;
            }
            let members = Members { before: before.into_iter(), waiting: None, name: Some(name), rest };
            let members = MapAccessDeserializer::new(members);
            return if is_head {
                ScoreSummary::deserialize(members).map(|head| Entry::Head(Box::new(head)))
            } else {
                TrajectoryReport::deserialize(members).map(|found| Entry::Trajectory(Box::new(found)))
            };
        }
        Ok(Entry::Other)
    }
}

/// All members of an object: those that were read already, the one of which only the name was read, and the rest.
struct Members<A> {
    before: IntoIter<(String, Value)>,
    /// The value of the member of `before` whose name was given last.
    waiting: Option<Value>,
    name: Option<String>,
    rest: A,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        let name = match self.before.next() {
            Some((name, value)) => {
                self.waiting = Some(value);
                Some(name)
            }
            None => self.name.take(),
        };
        match name {
            Some(name) => seed.deserialize(name.into_deserializer()).map(Some),
            None => self.rest.next_key_seed(seed),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        match self.waiting.take() {
            Some(value) => seed.deserialize(value).map_err(A::Error::custom),
            None => self.rest.next_value_seed(seed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs that sort the members of objects put others before those that tell a head from a trajectory.
    #[test]
    fn entries_are_told_apart_in_any_order_of_members() {
        let read = |json: &str| serde_json::from_str::<Entry>(json);
        let trajectory = r#"{"id": "a", "matches": [{"similarity": 0.7}], "metrics": {"reference_calls": 1,
            "predicted_calls": 1, "step_coherence": 1, "merge_purity": 1, "order_consistency": 1, "average_steps": 1},
            "unmatched_references": []}"#;
        let Ok(Entry::Trajectory(found)) = read(trajectory) else { panic!("no trajectory") };
        assert_eq!((found.id.as_str(), found.matches[0].similarity), ("a", 0.7));
        let head = format!(
            r#"{{"profile": "paper", "by_tool": 7, "trajectories": [{trajectory}], "schema": "s", "similarity": "typed"}}"#
        );
        let Ok(Entry::Head(found)) = read(&head) else { panic!("no head") };
        assert_eq!((found.schema.as_str(), found.profile.as_str()), ("s", "paper"));
        assert_eq!((found.similarity.as_str(), found.trajectories.len()), ("typed", 1));
        assert!(matches!(read(r#"{"id": "a", "steps": []}"#), Ok(Entry::Other)));
        assert!(read(r#"{"id": 7, "metrics": {}}"#).is_err() && read("[]").is_err());
    }
}
