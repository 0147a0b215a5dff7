//! The types of tools' parameters, for formats that do not mark which texts are numbers.

use crate::formats::prelude::*;
use crate::literal::value;

/// The types of arguments, by tool and name.
#[derive(Debug, Default)]
pub(super) struct Types(HashMap<String, HashMap<String, Json>>);

impl Types {
    /// The types of a list of tools, or of its JSON.
    pub(super) fn from_tools(tools: &Json) -> Self {
        let mut types = Self::default();
        types.add(tools);
        types
    }

    /// Adds tools: a list, one of them, or the JSON of either.
    fn add(&mut self, tools: &Json) {
        match tools {
            Json::String(text) => {
                if let Some(value @ (Json::Array(_) | Json::Object(_))) = value(text) {
                    self.add(&value);
                }
            }
            Json::Array(tools) => tools.iter().for_each(|tool| self.add(tool)),
            Json::Object(_) => {
                let function = tools.member("function").unwrap_or(tools);
                let parameters = function.member("parameters");
                // Some layouts leave out the schema around the parameters.
                let properties = parameters.and_then(|it| it.member("properties")).or(parameters);
                let types = properties.map(members).unwrap_or_default().iter();
                let types = types.filter_map(|(key, it)| Some((key.clone(), it.member("type")?.clone())));
                if let Some(name) = function.text("name") {
                    self.0.insert(name.to_owned(), types.collect());
                }
            }
            _ => {}
        }
    }

    /// Adds the tools of a prompt, between `<tools>` and `</tools>`: one list, or one tool per line.
    pub(super) fn add_prompt(&mut self, prompt: &str) {
        for piece in prompt.split("<tools>").skip(1) {
            let text = piece.split("</tools>").next().unwrap_or_default().trim();
            match parse(text.as_bytes()) {
                Ok((value, _)) => self.add(&value),
                Err(_) => text.lines().for_each(|line| self.add(&string(line))),
            }
        }
    }

    /// The value of an argument that is written as a text, and whether its type is known.
    pub(super) fn value(&self, tool: &str, key: &str, text: &str) -> (Json, bool) {
        let Some(kind) = self.0.get(tool).and_then(|types| types.get(key)) else {
            return (string(text), false);
        };
        let is_text = |kind: &Json| matches!(kind.as_str(), Some("string" | "str"));
        if is_text(kind) || kind.items().iter().any(is_text) {
            return (string(text), true);
        }
        (value(text).unwrap_or_else(|| string(text)), true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_tells_numbers_from_texts() {
        let mut types = Types::default();
        types.add_prompt(
            "<tools></tools> tags: <tools>\n{\"type\": \"function\", \"function\": {\"name\": \"t\", \"parameters\": {\"properties\": \
             {\"n\": {\"type\": \"number\"}, \"s\": {\"type\": [\"string\", \"null\"]}, \"b\": {\"type\": \"boolean\"}}}}}\n</tools>",
        );
        let value = |key: &str, text: &str| types.value("t", key, text);
        assert_eq!(value("n", "-3"), (Json::Integer(-3), true));
        assert_eq!(value("n", "three"), (string("three"), true));
        assert_eq!(value("s", "19"), (string("19"), true));
        assert_eq!(value("b", "True"), (Json::Bool(true), true));
        assert_eq!(value("x", "19"), (string("19"), false));
        let flat = Types::from_tools(&string(r#"[{"name": "t", "parameters": {"n": {"type": "int"}}}]"#));
        assert_eq!(flat.value("t", "n", "1"), (Json::Integer(1), true));
    }
}
