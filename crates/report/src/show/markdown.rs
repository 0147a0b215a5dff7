//! A trajectory in Markdown. Texts by others are written as code, where nothing in them is markup.

use std::io::{self, Write};

use super::{Row, ShownCall, ShownTrajectory};
use crate::sheet::escape_markdown as escape;

impl ShownTrajectory {
    /// Writes the trajectory in Markdown.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn write_markdown(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "# {}\n", escape(&self.title))?;
        if let Some(task_type) = &self.task_type {
            writeln!(out, "- Type: {}", escape(task_type))?;
        }
        for Row { label, text } in &self.run {
            writeln!(out, "- {label}: {}", escape(&text.replace('\n', " ")))?;
        }
        if self.task_type.is_some() || !self.run.is_empty() {
            writeln!(out)?;
        }
        if let Some(image) = &self.image {
            writeln!(out, "**IMG** {}\n", code(image))?;
        }
        for image in &self.sent {
            writeln!(out, "- Sent: {}", code(image))?;
        }
        if !self.sent.is_empty() {
            writeln!(out)?;
        }
        if let Some(question) = &self.question {
            writeln!(out, "**Q**\n")?;
            block(question, out)?;
        }
        for (place, step) in self.steps.iter().enumerate() {
            writeln!(out, "## Step {}\n", place + 1)?;
            for (place, call) in step.calls.iter().enumerate() {
                if place > 0 {
                    writeln!(out, "---\n")?;
                }
                write_call(call, out)?;
            }
            if step.calls.is_empty() {
                writeln!(out, "No calls.\n")?;
            }
            note(step.more.as_deref(), out)?;
        }
        note(self.more_steps.as_deref(), out)?;
        if let Some(reply) = &self.reply {
            writeln!(out, "## Final Reply\n")?;
            block(reply, out)?;
        }
        if !self.messages.is_empty() {
            writeln!(out, "## Dialogue\n")?;
        }
        for message in &self.messages {
            writeln!(out, "### {}\n", escape(&message.title))?;
            for Row { label, text } in &message.rows {
                writeln!(out, "**{label}**\n")?;
                block(text, out)?;
            }
        }
        out.flush()
    }
}

fn write_call(call: &ShownCall, out: &mut impl Write) -> io::Result<()> {
    let note = if call.note.is_empty() { String::new() } else { format!(" ({})", escape(&call.note)) };
    let note = if call.is_failed { format!(" **{}**", note.trim_start()) } else { note };
    writeln!(out, "**Tool** {}{note}\n\n**ARG**\n", code(&call.tool))?;
    block(&call.arguments, out)?;
    if let Some(output) = &call.output {
        writeln!(out, "**OUT**\n")?;
        block(output, out)?;
    }
    Ok(())
}

fn note(text: Option<&str>, out: &mut impl Write) -> io::Result<()> {
    text.map_or(Ok(()), |text| writeln!(out, "{text}.\n"))
}

/// The longest run of backticks in a text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A text on one line, as code.
fn code(text: &str) -> String {
    let text = text.replace('\n', " ");
    let ticks = "`".repeat(longest_run(&text) + 1);
    // Blanks separate the text's own backticks from those around it.
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// A text of several lines, as code.
fn block(text: &str, out: &mut impl Write) -> io::Result<()> {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    writeln!(out, "{fence}text\n{text}\n{fence}\n")
}
