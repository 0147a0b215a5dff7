//! The question of the user, among the texts that programs put into messages of the user.

use crate::content::{Content, Part};

/// The question in a message of the user, if it has one. Programs put reminders in angle brackets and files of
/// instructions into such messages, alone or beside the question.
pub(crate) fn question(mut content: Content) -> Option<Content> {
    content.parts.retain(|part| match part {
        Part::Text(text) => !is_reminder(text),
        Part::Media(_) => true,
    });
    let is_asked = content.media().next().is_some() || !content.text().trim().is_empty();
    is_asked.then_some(content)
}

/// Whether a text is nothing but elements such as `<environment_context>..</environment_context>`, or a file of instructions.
fn is_reminder(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() || rest.starts_with("# AGENTS.md") {
        return !rest.is_empty();
    }
    while let Some(inner) = rest.strip_prefix('<') {
        let name = inner.split(['>', ' ', '\n']).next().unwrap_or_default();
        let end = format!("</{name}>");
        // An element may contain others of its name, so an end tag at the end of the text ends it.
        if !name.is_empty() && rest.ends_with(&end) {
            return true;
        }
        match inner.split_once(&end) {
            Some((_, after)) if !name.is_empty() => rest = after.trim_start(),
            _ => return false,
        }
    }
    rest.is_empty()
}
