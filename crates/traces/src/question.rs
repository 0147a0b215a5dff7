//! The question of the user, among the texts that programs put into messages of the user.

use crate::content::{Content, Part};

/// The elements that programs are known to put into messages of the user: Claude Code, Codex, Gemini CLI, Copilot, Cline.
/// All others belong to the question: `<question>`, `<task>`, `<user_query>`, `<image>`, data in XML.
const REMINDERS: &str = "bash-input bash-stderr bash-stdout command-args command-contents command-message command-name \
    current_datetime editorContext environment_context environment_details environment_info \
    ide_opened_file ide_selection local-command-caveat local-command-stderr local-command-stdout \
    reminderInstructions session_context skill subagent_notification system-reminder system_reminder \
    task-notification turn_aborted user-prompt-submit-hook user_instructions user_shell_command \
    workspace_info";

/// How texts begin that programs put into messages of the user: Codex a file of instructions, Gemini CLI what it is.
const INSTRUCTIONS: [&str; 2] =
    ["# AGENTS.md instructions", "This is the Gemini CLI. We are setting up the context"];

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

/// Whether a text is nothing but reminders such as `<environment_context>..</environment_context>`, or a file of
/// instructions.
fn is_reminder(text: &str) -> bool {
    let mut rest = text.trim();
    if rest.is_empty() || INSTRUCTIONS.iter().any(|begin| rest.starts_with(begin)) {
        return !rest.is_empty();
    }
    while let Some(inner) = rest.strip_prefix('<') {
        let name = inner.split(['>', ' ', '\n']).next().unwrap_or_default();
        if !REMINDERS.split(' ').any(|element| element == name) {
            return false;
        }
        match after_element(inner, name) {
            Some(after) => rest = after.trim_start(),
            // The text of a reminder may have a start tag of its own name without an end.
            None => return rest.ends_with(&format!("</{name}>")),
        }
    }
    rest.is_empty()
}

/// The text after an element that has begun, which may contain others of its name.
fn after_element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    let (mut depth, mut rest) = (1_usize, text);
    while depth > 0 {
        let at = rest.find(&end)?;
        depth += rest.get(..at)?.matches(&start).count();
        depth -= 1;
        rest = rest.get(at + end.len()..)?;
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_program_adds_is_a_reminder() {
        let is_question = |text: &str| question(Content::of_text(text)).is_some();
        for text in [
            "<question>What is 2 + 2?</question>",
            "<task>Write a poem</task>",
            "<b>Bold</b>",
            "<image></image>",
            "<order><id>3</id></order>",
            "<user_query>\nWhat?\n</user_query>",
            "<system-reminder>x</system-reminder>\nWhat?",
            "<system-reminder>x</system-reminder>\n<task>y</task>\n<b>z</b>",
            "<system-reminder>x</system-reminder>\nWhat?\n<system-reminder>y</system-reminder>",
            "# AGENTS.md\nMake this file shorter.",
            "<system-reminder>is how it begins",
        ] {
            assert!(is_question(text), "{text}");
        }
        for text in [
            "<system-reminder>\nx</system-reminder>",
            "<system-reminder>x <system-reminder>y</system-reminder> z</system-reminder>",
            "<system-reminder>the tag <system-reminder> begins it</system-reminder>",
            "<command-name>/model</command-name>\n<command-args></command-args>",
            "<ide_opened_file path=\"a\">x</ide_opened_file>",
            "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>",
        ] {
            assert!(!is_question(text), "{text}");
        }
    }
}
