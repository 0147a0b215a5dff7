//! The texts that models get: the templates in `prompts/`, filled in.

use std::collections::HashSet;

use askama::Template;
use m3_mcp::arguments::{properties, required};
use m3_mcp::results::readable;
use m3_mcp::{Tool, ToolCatalog, ToolName};
use m3_support::text::hexadecimal;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::Mode;

/// The version of the text that this file and its neighbours add to the templates. Raise it when that text changes.
const VERSION: u32 = 2;

/// A template file, by name and content.
macro_rules! file {
    ($name:literal) => {
        ($name, include_str!(concat!("prompts/", $name)))
    };
}

/// The files that every mode uses.
const COMMON: [(&str, &str); 3] = [file!("task.txt"), file!("cues.txt"), file!("compress.txt")];

/// SHA-256 in hexadecimal of all texts that models get in a mode, before they are filled in.
#[must_use]
pub fn prompts_hash(mode: Mode) -> String {
    let own: &[(&str, &str)] = match mode {
        Mode::Staged => &[
            file!("staged_plan.txt"),
            file!("staged_calls.txt"),
            file!("staged_decision.txt"),
            file!("staged_answer.txt"),
        ],
        Mode::Native => &[file!("native.txt"), ("schemas", "2")],
        Mode::React => &[file!("react.txt")],
    };
    let mut hash = Sha256::new();
    hash.update(VERSION.to_le_bytes());
    for (name, content) in COMMON.iter().chain(own) {
        for part in [name, content] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
    }
    hexadecimal(&hash.finalize())
}

/// A tool with its arguments in words.
pub(super) struct ToolInWords {
    name: String,
    description: String,
    arguments: Vec<String>,
}

/// A tool with the schema of its arguments.
pub(super) struct ToolWithSchema {
    name: String,
    description: String,
    schema: String,
}

/// The first message: the task.
#[derive(Template)]
#[template(path = "task.txt", escape = "none")]
pub(super) struct TaskPrompt<'a> {
    pub(super) instruction: &'a str,
    pub(super) image: Option<&'a str>,
    /// How the image was scaled, as [`Picture::scaled_in_words`](m3_llm::Picture::scaled_in_words) says.
    pub(super) scaled: Option<String>,
}

#[derive(Template)]
#[template(path = "staged_plan.txt", escape = "none")]
pub(super) struct PlanPrompt {
    pub(super) tools: Vec<ToolInWords>,
}

#[derive(Template)]
#[template(path = "staged_calls.txt", escape = "none")]
pub(super) struct CallsPrompt {
    pub(super) tools: Vec<ToolWithSchema>,
    pub(super) most_calls: u32,
}

#[derive(Template)]
#[template(path = "staged_decision.txt", escape = "none")]
pub(super) struct DecisionPrompt;

#[derive(Template)]
#[template(path = "staged_answer.txt", escape = "none")]
pub(super) struct AnswerPrompt;

#[derive(Template)]
#[template(path = "native.txt", escape = "none")]
pub(super) struct NativePrompt {
    pub(super) most_calls: u32,
}

#[derive(Template)]
#[template(path = "react.txt", escape = "none")]
pub(super) struct ReactPrompt {
    pub(super) tools: Vec<ToolWithSchema>,
    pub(super) most_calls: u32,
}

#[derive(Template)]
#[template(path = "compress.txt", escape = "none")]
pub(super) struct CompressPrompt<'a> {
    pub(super) instruction: &'a str,
    pub(super) tool: &'a str,
    pub(super) limit: usize,
}

#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "plan")]
pub(super) struct PlanCue {
    pub(super) step: u32,
    pub(super) steps: u32,
}

#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "calls")]
pub(super) struct CallsCue {
    pub(super) unknown: String,
    pub(super) images: String,
}

#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "decision")]
pub(super) struct DecisionCue;

#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "answer")]
pub(super) struct AnswerCue;

/// Asks for the answer when a limit is reached.
#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "last")]
pub(super) struct LastCue<'a> {
    pub(super) reason: &'a str,
}

/// Asks for the answer in the `react` mode when a limit is reached.
#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "last_react")]
pub(super) struct LastReactCue<'a> {
    pub(super) reason: &'a str,
}

/// Asks for a reply that can be read.
#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "again")]
pub(super) struct AgainCue<'a> {
    pub(super) reason: &'a str,
}

/// The result of a call, in the modes that call in text.
#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "observation")]
pub(super) struct ObservationCue<'a> {
    pub(super) heading: &'a str,
    pub(super) number: usize,
    pub(super) tool: &'a str,
    pub(super) is_error: bool,
    pub(super) text: &'a str,
}

/// The image files of the workspace.
#[derive(Template)]
#[template(path = "cues.txt", escape = "none", block = "pool")]
pub(super) struct PoolCue {
    pub(super) images: String,
}

/// Fills a template in. Writing to a string does not fail; the templates are checked when they are compiled.
pub(super) fn filled(template: &impl Template) -> String {
    template.render().unwrap_or_default()
}

/// Paths as part of a sentence.
pub(super) fn quoted(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| format!("`{path}`")).collect();
    quoted.join(", ")
}

/// All tools with their arguments in words.
pub(super) fn in_words(catalog: &ToolCatalog) -> Vec<ToolInWords> {
    let tool = |(name, tool): (ToolName, &Tool)| ToolInWords {
        name: name.to_string(),
        description: description(tool),
        arguments: arguments_in_words(&tool.input_schema),
    };
    catalog.tools().map(tool).collect()
}

/// The tools that `is_wanted` selects, with the schemas of their arguments.
pub(super) fn with_schemas(
    catalog: &ToolCatalog,
    is_wanted: impl Fn(&ToolName) -> bool,
) -> Vec<ToolWithSchema> {
    let tool = |(name, tool): (ToolName, &Tool)| ToolWithSchema {
        name: name.to_string(),
        description: description(tool),
        schema: readable(&Value::Object(schema(tool)).to_string()).into_owned(),
    };
    catalog.tools().filter(|(name, _)| is_wanted(name)).map(tool).collect()
}

/// The tool's description, without characters that are invisible to a reader.
pub(super) fn description(tool: &Tool) -> String {
    readable(tool.description.as_deref().unwrap_or_default().trim()).into_owned()
}

/// The schema of the arguments, without `$schema`; its type is always an object.
pub(super) fn schema(tool: &Tool) -> Map<String, Value> {
    let mut schema = tool.input_schema.clone();
    schema.remove("$schema");
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

/// `name (type, required): description` for each argument.
fn arguments_in_words(schema: &Map<String, Value>) -> Vec<String> {
    let all_required: HashSet<&str> = required(schema).collect();
    let argument = |(name, property): (&String, &Value)| {
        let mut facts = vec![kind(property)];
        if all_required.contains(name.as_str()) {
            facts.push("required".to_owned());
        }
        let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
        let description =
            if description.is_empty() { String::new() } else { format!(": {}", description.trim()) };
        readable(&format!("{name} ({}){description}", facts.join(", "))).into_owned()
    };
    properties(schema).into_iter().flatten().map(argument).collect()
}

/// The type of an argument in words; for alternatives, the types that they name.
fn kind(property: &Value) -> String {
    let alternatives = ["anyOf", "oneOf"].iter().find_map(|key| property.get(key)?.as_array());
    match (property.get("type"), alternatives) {
        (Some(Value::String(kind)), _) => kind.clone(),
        (Some(Value::Array(kinds)), _) => {
            kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or ")
        }
        (None, Some(alternatives)) => {
            let kinds: Vec<&str> = alternatives.iter().filter_map(|one| one.get("type")?.as_str()).collect();
            if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
        }
        _ => "any".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool() -> ToolCatalog {
        let tool = json!({"name": "summary", "description": "Sums up.\u{202e}", "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {
                "title": {"type": "string", "description": "Of the page."},
                "length": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "more": {"enum": [1, 2]},
            },
            "required": ["title"],
        }});
        ToolCatalog { servers: vec![m3_mcp::ServerTools::from_wire("wiki", vec![tool])] }
    }

    #[test]
    fn the_plan_has_every_tool_with_its_arguments() {
        let prompt = filled(&PlanPrompt { tools: in_words(&tool()) });
        assert!(prompt.starts_with("You solve tasks"), "{prompt}");
        let listing = "wiki/summary: Sums up.\\u{202e}\n  - length (integer or null)\n  - more (any)\n  \
                    - title (string, required): Of the page.";
        assert!(prompt.trim_end().ends_with(listing), "{prompt}");
    }

    #[test]
    fn schemas_are_given_without_what_says_nothing() {
        let prompt = filled(&CallsPrompt { tools: with_schemas(&tool(), |_| true), most_calls: 10 });
        assert!(prompt.contains("1 to 10 calls") && prompt.contains(r#""required":["title"]"#), "{prompt}");
        assert!(prompt.contains(r#""type":"object""#) && !prompt.contains("$schema"), "{prompt}");
    }

    #[test]
    fn the_task_names_its_image() {
        let task = |image, scaled| filled(&TaskPrompt { instruction: "How old <is> it?", image, scaled });
        assert_eq!(task(None, None), "How old <is> it?");
        let with = task(Some("images/a.png"), None);
        assert!(with.starts_with("How old <is> it?\n\nThe image"), "{with}");
        assert!(with.ends_with(" the file `images/a.png`, in the folder they work in."), "{with}");
        let scaled = task(Some("images/a.png"), Some("is shown small".to_owned()));
        assert_eq!(scaled, format!("{with} It is shown small."));
    }

    #[test]
    fn cues_say_what_they_are_given() {
        let cue = CallsCue { unknown: String::new(), images: quoted(&["a.png".to_owned()]) };
        assert_eq!(filled(&cue), "Image files that calls may name: `a.png`.\nWrite the calls of this step.");
        let cue = CallsCue { unknown: "`x/y`".to_owned(), images: String::new() };
        assert_eq!(filled(&cue), "These are none of the tools: `x/y`.\nWrite the calls of this step.");
        let cue = ObservationCue { heading: "Result", number: 2, tool: "a/b", is_error: true, text: "no" };
        assert_eq!(filled(&cue), "Result 2, a/b, failed:\nno");
    }

    #[test]
    fn modes_have_hashes_of_their_own() {
        let hashes = [Mode::Staged, Mode::Native, Mode::React].map(prompts_hash);
        assert!(hashes.iter().all(|hash| hash.len() == 64));
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2] && hashes[0] != hashes[2]);
    }
}
