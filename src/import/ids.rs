//! The ids of imported trajectories, by a template.

use std::str::FromStr;

/// The template of an id: text with `{file}`, the name of the file without its ending, `{sample}`, the id in the file,
/// and `{format}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IdTemplate(String);

/// The names that a template may have.
const NAMES: [&str; 3] = ["file", "sample", "format"];

impl Default for IdTemplate {
    fn default() -> Self {
        Self("{sample}".to_owned())
    }
}

impl FromStr for IdTemplate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').ok_or("a `{` without a `}`")?;
            if !NAMES.contains(&name) {
                return Err(format!("`{{{name}}}` is none of {{file}}, {{sample}} and {{format}}"));
            }
            rest = after;
        }
        if text.is_empty() { Err("an id should not be empty".to_owned()) } else { Ok(Self(text.to_owned())) }
    }
}

impl IdTemplate {
    /// The id of a trajectory; `{sample}` is the name of the file if the file gives no id.
    pub(crate) fn fill(&self, file: &str, sample: Option<&str>, format: &str) -> String {
        let mut out = String::new();
        let mut rest = self.0.as_str();
        // Names are filled in one pass: an id may hold `{file}` itself.
        while let Some((before, after)) = rest.split_once('{') {
            let (name, after) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(match name {
                "file" => file,
                "format" => format,
                _ => sample.unwrap_or(file),
            });
            rest = after;
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_filled_once() {
        let template: IdTemplate = "{file}/{sample}".parse().unwrap();
        assert_eq!(template.fill("log", Some("{file}"), "x"), "log/{file}");
        assert_eq!(template.fill("log", None, "x"), "log/log");
        for wrong in ["{", "{x}", ""] {
            assert!(wrong.parse::<IdTemplate>().is_err(), "{wrong}");
        }
    }
}
