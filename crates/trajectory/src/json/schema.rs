//! JSON values as parts of a JSON Schema.

use m3_support::schema_parts::SchemaNode;

use super::Json;

impl SchemaNode for Json {
    fn member(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn members(&self) -> impl Iterator<Item = &Self> {
        let members = if let Json::Object(members) = self { members.as_slice() } else { &[] };
        members.iter().map(|(_, value)| value)
    }

    fn items(&self) -> &[Self] {
        if let Json::Array(items) = self { items } else { &[] }
    }

    fn text(&self) -> Option<&str> {
        self.as_str()
    }
}
