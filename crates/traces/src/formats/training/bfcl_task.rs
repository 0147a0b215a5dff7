//! The facts of a BFCL record about its task: the category, the language and the offered functions.

use crate::formats::prelude::*;

/// The facts of a record about its task.
#[derive(Debug, PartialEq)]
pub(super) struct TaskFacts {
    /// The category, such as `live_multiple` or `multi_turn_base`.
    pub(super) category: Option<String>,
    /// The members `language`, unless it is Python, and `functions`, which the suite `bfcl` reads.
    pub(super) extra: Vec<(String, Json)>,
    /// The functions as tools of a catalog.
    pub(super) tools: Vec<Json>,
}

impl TaskFacts {
    /// Reads the category and the language from the id, such as `simple_java_12` or `live_multiple_3-1-0`, and the
    /// functions from beside the question.
    pub(super) fn from_json(value: &Json) -> Self {
        let id = value.text("id").unwrap_or_default();
        let category = id.trim_end_matches(|c: char| c.is_ascii_digit() || c == '-').strip_suffix('_');
        let mut words = category.into_iter().flat_map(|category| category.split('_'));
        let language = words.find(|word| matches!(*word, "java" | "javascript"));
        let functions = value.list("function");
        let mut extra = Vec::new();
        extra.extend(language.map(|language| ("language".to_owned(), string(language))));
        if !functions.is_empty() {
            let functions = Json::Array(functions.iter().map(function).collect());
            extra.push(("functions".to_owned(), functions));
        }
        let tools = functions.iter().filter_map(|function| tool(function, language.is_some()));
        Self { category: category.map(str::to_owned), extra, tools: tools.collect() }
    }

    /// Whether the task has no list of accepted calls: the right answer is no call, or any call.
    pub(super) fn has_no_gold(&self) -> bool {
        self.category.as_ref().is_some_and(|category| category.ends_with("relevance"))
    }
}

/// The name of a function and the types of its parameters: nothing else decides whether a call is right.
fn function(value: &Json) -> Json {
    let schema = value.member("parameters");
    let properties = properties(value).iter().map(|(name, schema)| {
        let items = schema.member("items").map(|items| Json::Object(members_named(items, &["type"])));
        let mut members = members_named(schema, &["type"]);
        members.extend(items.map(|items| ("items".to_owned(), items)));
        (name.clone(), Json::Object(members))
    });
    let mut parameters = vec![("properties".to_owned(), Json::Object(properties.collect()))];
    parameters.extend(schema.map(|schema| members_named(schema, &["type", "required"])).unwrap_or_default());
    let mut members = members_named(value, &["name"]);
    members.push(("parameters".to_owned(), Json::Object(parameters)));
    Json::Object(members)
}

fn properties(function: &Json) -> &[(String, Json)] {
    function.below(&["parameters", "properties"]).map(members).unwrap_or_default()
}

/// The members with these names.
fn members_named(value: &Json, names: &[&str]) -> Vec<(String, Json)> {
    members(value).iter().filter(|(name, _)| names.contains(&name.as_str())).cloned().collect()
}

/// A function as a tool, with a JSON Schema. `is_source` says that values are source text of another language, as BFCL
/// asks models for them.
fn tool(function: &Json, is_source: bool) -> Option<Json> {
    let mut members = vec![("name".to_owned(), string(function.text("name")?))];
    members.extend(function.text("description").map(|text| ("description".to_owned(), string(text))));
    let own = properties(function).iter();
    let own = own.map(|(name, it)| (name.clone(), if is_source { source(it) } else { schema(it) }));
    let mut parameters =
        vec![("type".to_owned(), string("object")), ("properties".to_owned(), Json::Object(own.collect()))];
    parameters.extend(
        function.member("parameters").map(|all| members_named(all, &["required"])).unwrap_or_default(),
    );
    members.push(("inputSchema".to_owned(), Json::Object(parameters)));
    Some(Json::Object(members))
}

/// A parameter whose value is a text of source: its type becomes a part of its description.
fn source(parameter: &Json) -> Json {
    let words = ["description", "type"].iter().filter_map(|key| parameter.text(key)).collect::<Vec<_>>();
    object([("type", string("string")), ("description", string(&words.join(" Type: ")))])
}

/// BFCL's schema as a JSON Schema: Python's names of types become those of JSON Schema, and the type `any` is left out.
fn schema(value: &Json) -> Json {
    let member = |(key, value): &(String, Json)| {
        let value = match (key.as_str(), value) {
            ("type", Json::String(name)) => match name.as_str() {
                "dict" => string("object"),
                "tuple" => string("array"),
                "float" => string("number"),
                "any" => return None,
                _ => value.clone(),
            },
            ("items", value) => schema(value),
            ("properties", Json::Object(all)) => {
                Json::Object(all.iter().map(|(name, it)| (name.clone(), schema(it))).collect())
            }
            _ => value.clone(),
        };
        Some((key.clone(), value))
    };
    match value {
        Json::Object(all) => Json::Object(all.iter().filter_map(member).collect()),
        other => other.clone(),
    }
}

/// The user's messages as one question, and whether the conversation has several messages.
pub(super) fn question(value: &Json) -> (Option<String>, bool) {
    let messages: Vec<&Json> = value.list("question").iter().flat_map(Json::items).collect();
    let own: Vec<&str> = messages
        .iter()
        .filter(|message| message.says("role", "user"))
        .filter_map(|message| message.text("content"))
        .collect();
    ((!own.is_empty()).then(|| own.join("\n\n")), messages.len() > 1)
}

#[cfg(test)]
mod tests {
    use m3_trajectory::json::{Keys, parse};

    use super::*;

    fn json(text: &str) -> Json {
        parse(text.as_bytes()).unwrap().0
    }

    #[test]
    fn functions_are_kept_for_the_checker_and_for_a_catalog() {
        let facts = TaskFacts::from_json(&json(
            r#"{"id": "live_simple_3-1-0", "function": [{"name": "f", "description": "d", "parameters": {"type": "dict", "required": ["x"],
            "properties": {"x": {"type": "tuple", "description": "e", "items": {"type": "float"}}, "y": {"type": "any", "default": 1}}}}]}"#,
        ));
        assert_eq!(facts.category.as_deref(), Some("live_simple"));
        let functions = r#"[{"name":"f","parameters":{"properties":{"x":{"type":"tuple","items":{"type":"float"}},"y":{"type":"any"}},"type":"dict","required":["x"]}}]"#;
        assert_eq!(facts.extra, [("functions".to_owned(), json(functions))]);
        let tool = r#"{"name":"f","description":"d","inputSchema":{"type":"object","properties":{"x":{"type":"array","description":"e","items":{"type":"number"}},"y":{"default":1}},"required":["x"]}}"#;
        assert_eq!(facts.tools.iter().map(|it| it.to_text(Keys::AsRead)).collect::<Vec<_>>(), [tool]);
    }

    #[test]
    fn values_of_other_languages_are_texts() {
        let facts = TaskFacts::from_json(&json(
            r#"{"id": "simple_java_12", "function": [{"name": "f", "parameters": {"properties": {"x": {"type": "long", "description": "How long."}}}}]}"#,
        ));
        assert_eq!(facts.extra[0], ("language".to_owned(), string("java")));
        let x = facts.tools[0].below(&["inputSchema", "properties", "x"]).unwrap();
        assert_eq!(x.to_text(Keys::AsRead), r#"{"type":"string","description":"How long. Type: long"}"#);
    }

    #[test]
    fn categories_are_in_ids() {
        let facts = |id: &str| TaskFacts::from_json(&json(&format!("{{\"id\": \"{id}\"}}")));
        assert_eq!(facts("live_parallel_multiple_3-1-0").category.as_deref(), Some("live_parallel_multiple"));
        assert!(facts("live_irrelevance_1-0-0").has_no_gold() && !facts("multiple_1").has_no_gold());
        assert_eq!(facts("multi_turn_base_3").category.as_deref(), Some("multi_turn_base"));
        assert_eq!(facts("simple").category, None);
    }

    #[test]
    fn a_question_is_what_the_user_says() {
        let question_of = |turns: &str| question(&json(&format!("{{\"question\": {turns}}}")));
        assert_eq!(question_of(r#"[[{"role": "user", "content": "q"}]]"#), (Some("q".to_owned()), false));
        let several = r#"[[{"role": "system", "content": "s"}, {"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]"#;
        assert_eq!(question_of(several), (Some("a\n\nb".to_owned()), true));
        assert_eq!(question_of("[]"), (None, false));
    }
}
