//! Reads a model's plans and decisions in the staged mode.

use serde_json::Value;

use super::json;

/// The tools that a model chooses for a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Plan {
    /// The tools' names as the model wrote them.
    pub(crate) tools: Vec<String>,
    /// What was odd about the plan's form.
    pub(crate) oddities: Vec<String>,
}

/// Reads `{"tools": ["server/tool"], "plan": ".."}`; without such an object, takes the offered tools that the text
/// names. `Err` says why there is no plan.
pub(crate) fn plan<'a>(text: &str, offered: impl Iterator<Item = &'a str>) -> Result<Plan, String> {
    let values = json::find(text);
    let planned = values.as_ref().ok().and_then(|values| {
        values.iter().find_map(|entry| {
            let tools = entry.value.get("tools")?.as_array()?;
            let name = |tool: &Value| {
                let named = tool.as_str().or_else(|| tool.get("name").and_then(Value::as_str));
                named.map(str::to_owned)
            };
            let tools = tools.iter().map(name).collect::<Option<Vec<_>>>()?;
            Some(Plan { tools, oddities: entry.oddities.clone() })
        })
    });
    if let Some(plan) = planned {
        return Ok(plan);
    }
    let mut named: Vec<(usize, &str)> =
        offered.filter_map(|tool| Some((place_of(text, tool)?, tool))).collect();
    if named.is_empty() {
        let reason = match values {
            Ok(_) => "it has JSON, but no `tools` with names of tools".to_owned(),
            Err(reason) => reason,
        };
        return Err(reason);
    }
    named.sort_unstable();
    Ok(Plan {
        tools: named.into_iter().map(|(_, tool)| tool.to_owned()).collect(),
        oddities: vec!["the plan is no JSON object; the tools that it names were taken".to_owned()],
    })
}

/// Where a text names this tool, and not one with a longer name.
fn place_of(text: &str, tool: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    text.match_indices(tool).map(|(at, _)| at).find(|at| {
        let (before, after) = (&text[..*at], &text[at + tool.len()..]);
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Reads a decision: the first word if it is `yes` or `no`, else a `yes` further on if it is the only one of the two in
/// the text. `None` for any other text.
pub(crate) fn decision(text: &str) -> Option<bool> {
    let text = text.replace("<|begin_of_box|>", " ").replace("<|end_of_box|>", " ").to_lowercase();
    let read = |word: &str| match word {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    };
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next()?;
    read(first).or_else(|| {
        // `The answer is yes.` is clear; a sentence with both words, or with another "no", is not.
        let mut decisions = words.filter_map(read);
        let one = decisions.next()?;
        (decisions.next().is_none() && one).then_some(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OFFERED: [&str; 3] = ["wiki/search", "wiki/search_all", "ocr/perform_ocr"];

    #[test]
    fn plans_are_read_as_asked_for_and_by_the_names_in_them() {
        for (text, tools, odd) in [
            (r#"{"tools": ["wiki/search"], "plan": "look it up"}"#, vec!["wiki/search"], 0),
            (r#"{"tools": [{"name": "wiki/search"}], "plan": ""}"#, vec!["wiki/search"], 0),
            (r#"{"tools": [], "plan": "done"}"#, vec![], 0),
            (r#"{"tools": ["made/up"]}"#, vec!["made/up"], 0),
            ("First ocr/perform_ocr, then `wiki/search_all`.", vec!["ocr/perform_ocr", "wiki/search_all"], 1),
        ] {
            let plan = plan(text, OFFERED.into_iter()).unwrap();
            assert_eq!(
                (plan.tools, plan.oddities.len()),
                (tools.into_iter().map(str::to_owned).collect(), odd)
            );
        }
        for text in ["", "I do not know.", r#"{"plan": "none"}"#, "xwiki/search wiki/searching"] {
            assert!(plan(text, OFFERED.into_iter()).is_err(), "{text}");
        }
    }

    #[test]
    fn decisions_are_yes_no_or_unclear() {
        for (text, decided) in [
            ("yes", Some(true)),
            ("Yes.", Some(true)),
            ("**No**, the price is missing.", Some(false)),
            ("<|begin_of_box|>no<|end_of_box|>", Some(false)),
            ("No, yes!", Some(false)),
            ("The answer is: yes", Some(true)),
            ("I have no idea.", None),
            ("It is neither yes nor no.", None),
            ("Nothing", None),
            ("", None),
        ] {
            assert_eq!(decision(text), decided, "{text}");
        }
    }
}
