//! JSON Schemas of the trajectories that commands write: what every trajectory has, and the members that a command records.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use super::member::Member;
use super::model::Trajectory;

/// The schema of trajectories with recorded members, as a command writes them.
pub struct TrajectorySchema {
    generator: SchemaGenerator,
    schema: Schema,
}

impl TrajectorySchema {
    /// Begins with the schema of trajectories alone. `title` names the kind of file, `description` says who writes it.
    #[must_use]
    pub fn new(title: &str, description: &str) -> Self {
        let mut generator = SchemaGenerator::default();
        let mut schema = Trajectory::json_schema(&mut generator);
        for (key, value) in [("title", title), ("description", description)] {
            schema.insert(key.to_owned(), value.into());
        }
        Self { generator, schema }
    }

    /// Adds a member that is always there.
    #[must_use]
    pub fn with<M: Member + Serialize + JsonSchema>(mut self) -> Self {
        if let Some(Value::Array(required)) = self.schema.get_mut("required") {
            required.push(M::KEY.into());
        }
        self.with_optional::<M>()
    }

    /// Adds a member that may be missing.
    #[must_use]
    pub fn with_optional<M: Member + Serialize + JsonSchema>(mut self) -> Self {
        let member = self.generator.subschema_for::<M>();
        if let Some(Value::Object(properties)) = self.schema.get_mut("properties") {
            properties.insert(M::KEY.to_owned(), member.into());
        }
        self
    }

    /// The schema, with the definitions that it refers to.
    #[must_use]
    pub fn finish(mut self) -> Schema {
        self.schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        self.schema.insert("$defs".to_owned(), Value::Object(self.generator.take_definitions(true)));
        self.schema
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Json, Keys};
    use crate::{Call, Step};

    /// The keys of a JSON object, sorted.
    fn keys(object: &Value) -> Vec<&str> {
        let mut keys: Vec<&str> = object.as_object().unwrap().keys().map(String::as_str).collect();
        keys.sort_unstable();
        keys
    }

    #[test]
    fn the_schema_names_what_is_written() {
        let text = |text: &str| Some(text.to_owned());
        let (arguments, result) = (Some(Json::Object(Vec::new())), Some(Json::Null));
        let call = Call { tool: "a/b".to_owned(), arguments, result, extra: Vec::new() };
        let step = Step { number: Some(1), calls: vec![call], ..Step::default() };
        let whole = Trajectory {
            id: "a".to_owned(),
            image: text("a.png"),
            task_type: text("crop"),
            question: text("What?"),
            steps: vec![step],
            final_reply: text("That."),
            extra: Vec::new(),
        };
        let written: Value = serde_json::from_str(&whole.to_json().to_text(Keys::AsRead)).unwrap();
        let schema = TrajectorySchema::new("t", "d").finish();
        let schema = schema.as_value();
        assert_eq!(keys(&schema["properties"]), keys(&written));
        let step = &written["steps"][0];
        assert_eq!(keys(&schema["$defs"]["Step"]["properties"]), keys(step));
        assert_eq!(keys(&schema["$defs"]["Call"]["properties"]), keys(&step["calls"][0]));
        let bare: Value =
            serde_json::from_str(&Trajectory::default().to_json().to_text(Keys::AsRead)).unwrap();
        assert_eq!(schema["required"], json!(keys(&bare)));
    }
}
