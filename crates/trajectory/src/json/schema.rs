//! JSON values as parts of a JSON Schema.

use m3_support::schema_parts::{MOST_DEFINITIONS, SchemaNode};

use super::Json;

impl SchemaNode for Json {
    fn member(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) if members.len() > MOST_DEFINITIONS => None,
            _ => self.get(name),
        }
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

#[cfg(test)]
mod tests {
    use m3_support::schema_parts::referenced;

    use super::super::parse;
    use super::*;

    /// Members stand in a list.
    #[test]
    fn nothing_is_searched_for_among_very_many_members() {
        let schema = |count: usize| {
            let all: Vec<String> = (0..count).map(|at| format!(r#""d{at}": {{"type": "string"}}"#)).collect();
            parse(format!(r#"{{"$defs": {{{}}}}}"#, all.join(",")).as_bytes()).unwrap().0
        };
        let (few, many) = (schema(MOST_DEFINITIONS), schema(MOST_DEFINITIONS + 1));
        assert!(referenced(&few, "#/$defs/d999").is_some());
        assert!(referenced(&many, "#/$defs/d999").is_none());
    }
}
