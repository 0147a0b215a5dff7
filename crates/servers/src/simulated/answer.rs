//! The results of simulated servers, recorded or made up, each with a mark that says which.
//!
//! Under `_meta` of every result: `m3/recorded` for one that was recorded, `m3/simulated` for one that was not; and
//! in special cases `m3/fault` (`failure`), `m3/refused` (arguments that the schema does not accept) and
//! `m3/no-recording`. Made-up results say so in their text too, so that neither a model nor a reader of a record
//! takes them for facts: a result from an output schema ends with the text [`MARK`]. Injected failures and refusals
//! look as those of real servers do, and are marked under `_meta` alone.

use m3_mcp::arguments::{ArgumentSchema, properties};
use m3_mcp::{Content, ToolResult};
use m3_support::text::shortened;
use serde_json::{Map, Value, json};

use super::faults::FailureForm;
use super::generate;
use crate::seed::Seed;

/// The last text of a result that was made from an output schema.
pub const MARK: &str = "(simulated result)";

/// The beginning of an answer that `--strict` refuses to make up.
pub const NO_RECORDING: &str = "no recording of";

/// The most columns of arguments that a text names.
const MAX_ARGUMENTS: usize = 500;

/// An output schema, with its compiled form.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) schema: Map<String, Value>,
    pub(super) judge: ArgumentSchema,
}

impl Output {
    fn accepts(&self, value: &Value) -> bool {
        self.judge.accepts(value)
    }

    /// Whether results are wrapped, as Python's servers do with results that are not objects: the schema has only the
    /// property `result`.
    fn wraps(&self) -> bool {
        properties(&self.schema).is_some_and(|members| members.len() == 1 && members.contains_key("result"))
    }

    /// A text, or the JSON it contains, as the structured content that the schema requires.
    fn of_text(&self, text: &str) -> Option<Value> {
        let parsed: Option<Value> = serde_json::from_str(text).ok();
        let wrapped =
            parsed.clone().into_iter().chain([Value::from(text)]).map(|value| json!({ "result": value }));
        parsed.into_iter().filter(Value::is_object).chain(wrapped).find(|value| self.accepts(value))
    }
}

/// A recorded result. If it is only text and the tool's schema requires structured content, this is made from the
/// text if possible, because clients may refuse a result without it.
pub(super) fn recorded(result: &ToolResult, output: Option<&Output>) -> ToolResult {
    let mut result = result.clone();
    if let (None, false, Some(output)) = (&result.structured_content, result.is_error, output) {
        result.structured_content = output.of_text(&result.all_text());
    }
    marked(result, &[("m3/recorded", json!(true))])
}

/// A result made from the output schema and the arguments. Without a usable schema, a text that names the tool and
/// the arguments.
pub(super) fn made(
    tool: &str,
    arguments: &Map<String, Value>,
    output: Option<&Output>,
    seed: &Seed,
) -> ToolResult {
    let text = format!("simulated result of `{}` for {}", shortened(tool, MAX_ARGUMENTS), named(arguments));
    let Some(output) = output else { return simulated(ToolResult::text(text)) };
    // If the schema is a single wrapped text, a text about the call is more useful than a generated word.
    let plain = json!({ "result": text.as_str() });
    let value = if output.wraps() && output.accepts(&plain) {
        Some(plain)
    } else {
        generate::value(&output.schema, &output.judge, arguments, seed).filter(Value::is_object)
    };
    let Some(value) = value else { return simulated(ToolResult::text(text)) };
    let mut content = texts(&value, output.wraps());
    content.push(Content::Text(MARK.to_owned()));
    simulated(ToolResult { content, structured_content: Some(value), ..ToolResult::default() })
}

/// The answer to a call that was not recorded, with `--strict`.
pub(super) fn not_recorded(server: &str, tool: &str, arguments: &Map<String, Value>) -> ToolResult {
    let name = shortened(&format!("{server}/{tool}"), MAX_ARGUMENTS);
    let text = format!("{NO_RECORDING} `{name}` with the arguments {}", named(arguments));
    marked(ToolResult::error(text), &[("m3/simulated", json!(true)), ("m3/no-recording", json!(true))])
}

/// The answer to arguments that the tool refuses, in its server's words.
pub(super) fn refused(text: String) -> ToolResult {
    marked(ToolResult::error(text), &[("m3/simulated", json!(true)), ("m3/refused", json!(true))])
}

/// An injected failure. A failure that only its text reports takes a form that the output schema accepts; if no form
/// fits, the result sets `isError` instead.
pub(super) fn failed(form: FailureForm, text: &str, output: Option<&Output>) -> ToolResult {
    let result = match (form, output) {
        (FailureForm::Signalled, _) => ToolResult::error(text),
        (FailureForm::Silent, _) => ToolResult::default(),
        (FailureForm::Told, None) => ToolResult::text(text),
        (FailureForm::Told, Some(output)) => {
            let forms = [
                json!({ "result": text }),
                json!({ "result": { "error": text } }),
                json!({ "result": [{ "error": text }] }),
                json!({ "result": [text] }),
                json!({ "error": text }),
            ];
            match forms.into_iter().find(|form| output.accepts(form)) {
                Some(value) => {
                    let content = texts(&value, output.wraps());
                    ToolResult { content, structured_content: Some(value), ..ToolResult::default() }
                }
                None => ToolResult::error(text),
            }
        }
    };
    marked(result, &[("m3/simulated", json!(true)), ("m3/fault", json!("failure"))])
}

fn simulated(result: ToolResult) -> ToolResult {
    marked(result, &[("m3/simulated", json!(true))])
}

fn marked(mut result: ToolResult, marks: &[(&str, Value)]) -> ToolResult {
    let meta = result.extra.entry("_meta").or_insert_with(|| json!({}));
    if !meta.is_object() {
        *meta = json!({});
    }
    if let Value::Object(meta) = meta {
        meta.extend(marks.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    }
    result
}

/// Structured content as text. Python's servers write wrapped values directly: a text unchanged, a list item by item.
fn texts(value: &Value, is_wrapped: bool) -> Vec<Content> {
    let text = |value: &Value| Content::Text(value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    match value.get("result").filter(|_| is_wrapped) {
        Some(Value::Array(items)) => items.iter().map(text).collect(),
        Some(result) => vec![text(result)],
        None => vec![text(value)],
    }
}

fn named(arguments: &Map<String, Value>) -> String {
    shortened(&Value::Object(arguments.clone()).to_string(), MAX_ARGUMENTS)
}
