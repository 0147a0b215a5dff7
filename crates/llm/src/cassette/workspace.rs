//! The workspace's path, which differs between runs, and `{workspace}`, which stands for it in cassettes.
//!
//! A text that itself contains `{workspace}` is kept unchanged: cassettes write it as `{workspace:}`, and
//! `{workspace:}` is `{workspace::}`, and so on.

use std::borrow::Cow;
use std::path::Path;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value};

const OPEN: &str = "{workspace";

/// A workspace, with all notations of its path.
#[derive(Debug)]
pub(super) struct Workspace {
    /// The path to put in during a replay.
    path: Option<String>,
    /// Finds the paths and [`OPEN`], which is the last pattern.
    finder: Option<AhoCorasick>,
    forms: usize,
}

impl Workspace {
    pub(super) fn new(workspace: Option<&Path>) -> Self {
        let given = workspace.and_then(|path| std::path::absolute(path).ok());
        let canonical = workspace.and_then(|path| std::fs::canonicalize(path).ok());
        let text = |path: &Option<std::path::PathBuf>| {
            let text = path.as_ref()?.to_str()?.trim_end_matches('/');
            // A workspace that is the root is not replaced: `/` is in every path.
            (text.len() > 1).then(|| text.to_owned())
        };
        let path = text(&given);
        let mut patterns: Vec<String> = [path.clone(), text(&canonical)].into_iter().flatten().collect();
        let forms = patterns.len();
        patterns.push(OPEN.to_owned());
        let finder = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(patterns).ok();
        Self { path, finder, forms }
    }

    /// The text as it is recorded.
    pub(super) fn hide<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(finder) = self.finder.as_ref().filter(|finder| finder.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for hit in finder.find_iter(text) {
            let rest = &text[hit.end()..];
            out.push_str(&text[done..hit.start()]);
            done = hit.end();
            if hit.pattern().as_usize() == self.forms {
                out.push_str(OPEN);
                if rest.trim_start_matches(':').starts_with('}') {
                    out.push(':');
                }
            } else if rest.starts_with(|c: char| c.is_alphanumeric() || "_-".contains(c)) {
                // A longer path that only begins like the workspace's.
                out.push_str(&text[hit.range()]);
            } else {
                out.push_str("{workspace}");
            }
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The text as it was before recording, with this workspace's path. Without a workspace `{workspace}` stays.
    pub(super) fn reveal<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if !text.contains(OPEN) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut done = 0;
        for (start, _) in text.match_indices(OPEN) {
            out.push_str(&text[done..start]);
            done = start + OPEN.len();
            let rest = &text[done..];
            match &self.path {
                Some(path) if rest.starts_with('}') => {
                    out.push_str(path);
                    done += 1;
                }
                _ => {
                    out.push_str(OPEN);
                    if rest.starts_with(':') && rest.trim_start_matches(':').starts_with('}') {
                        done += 1;
                    }
                }
            }
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    /// The value as it is recorded.
    pub(super) fn hide_in(&self, value: &mut Value) {
        change_texts(value, &|text| self.hide(text));
    }

    /// The value as it was before recording.
    pub(super) fn reveal_in(&self, value: &mut Value) {
        change_texts(value, &|text| self.reveal(text));
    }
}

fn change_texts(value: &mut Value, change: &dyn Fn(&str) -> Cow<'_, str>) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_texts(item, change)),
        Value::Object(members) => {
            members.values_mut().for_each(|item| change_texts(item, change));
            if members.keys().any(|key| matches!(change(key), Cow::Owned(_))) {
                let renamed: Map<String, Value> = std::mem::take(members)
                    .into_iter()
                    .map(|(key, value)| (change(&key).into_owned(), value))
                    .collect();
                *members = renamed;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn workspace(path: &str) -> Workspace {
        Workspace::new(Some(Path::new(path)))
    }

    #[test]
    fn paths_are_moved_and_literal_placeholders_stay() {
        let (here, there) = (workspace("/runs/a/task1"), workspace("/runs/b/task1/"));
        for (text, hidden, moved) in [
            ("/runs/a/task1/x.png", "{workspace}/x.png", "/runs/b/task1/x.png"),
            ("in /runs/a/task1.", "in {workspace}.", "in /runs/b/task1."),
            ("{/runs/a/task1}", "{{workspace}}", "{/runs/b/task1}"),
            ("/runs/a/task10/x.png", "/runs/a/task10/x.png", "/runs/a/task10/x.png"),
            ("{workspace}/x", "{workspace:}/x", "{workspace}/x"),
            ("{workspace:}{workspace x}", "{workspace::}{workspace x}", "{workspace:}{workspace x}"),
            ("{workspace/runs/a/task1}", "{workspace{workspace}}", "{workspace/runs/b/task1}"),
        ] {
            assert_eq!(here.hide(text), hidden);
            assert_eq!(there.reveal(hidden), moved);
            assert_eq!(here.reveal(hidden), text);
        }
        let mut value = json!({"/runs/a/task1": ["/runs/a/task1", 1, null]});
        here.hide_in(&mut value);
        assert_eq!(value, json!({"{workspace}": ["{workspace}", 1, null]}));
        there.reveal_in(&mut value);
        assert_eq!(value, json!({"/runs/b/task1": ["/runs/b/task1", 1, null]}));
        let none = Workspace::new(None);
        assert_eq!(none.reveal(&none.hide("{workspace} /runs/a")), "{workspace} /runs/a");
        assert_eq!(workspace("/").hide("/x"), "/x");
    }

    #[cfg(unix)]
    #[test]
    fn the_path_behind_links_is_the_same_workspace() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().canonicalize().unwrap().join("real");
        let link = folder.path().join("link");
        std::fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let text = format!("{}/a {}/b", link.display(), real.display());
        let workspace = Workspace::new(Some(&link));
        assert_eq!(workspace.hide(&text), "{workspace}/a {workspace}/b");
        assert_eq!(workspace.reveal("{workspace}/a"), format!("{}/a", link.display()));
    }

    proptest! {
        #[test]
        fn what_is_hidden_comes_back(pieces in prop::collection::vec("/w/t|\\{workspace|:|\\}|\\{|a|/", 0..12)) {
            let text = pieces.concat();
            let workspace = workspace("/w/t");
            let hidden = workspace.hide(&text);
            prop_assert_eq!(workspace.reveal(&hidden), text.as_str());
        }
    }
}
