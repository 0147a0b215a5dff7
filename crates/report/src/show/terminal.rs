//! A trajectory at a terminal: labels in the first column, texts beside them, readable without colour.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};
use m3_support::text::{counted, shortened};

use super::{ShownCall, ShownTrajectory};
use crate::audit::text::{padded, width, wrapped};

/// The width of the column of labels.
const LABEL: usize = 8;

/// The most lines of a text: of a longer one, both ends are shown.
const LINES: usize = 30;

/// The most lines of a call's result.
const OUTPUT_LINES: usize = 16;

/// The most lines of a message of the dialogue.
const MESSAGE_LINES: usize = 80;

/// The most lines of the question and of the answer.
const REPLY_LINES: usize = 200;

impl ShownTrajectory {
    /// Writes the trajectory for a terminal of `columns`, in bold type and colours if `is_styled`.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn write_text(&self, out: &mut impl Write, columns: usize, is_styled: bool) -> io::Result<()> {
        let style = |style: Style| if is_styled { style } else { Style::new() };
        let page = Page {
            out,
            columns,
            bold: style(Style::new().bold()),
            label: style(AnsiColor::Cyan.on_default()),
            failed: style(AnsiColor::Red.on_default().bold()),
            faint: style(Style::new().dimmed()),
        };
        page.write(self)
    }
}

struct Page<'a, W> {
    out: &'a mut W,
    columns: usize,
    bold: Style,
    label: Style,
    failed: Style,
    faint: Style,
}

impl<W: Write> Page<'_, W> {
    fn write(mut self, shown: &ShownTrajectory) -> io::Result<()> {
        let Self { bold, .. } = self;
        // The type follows an id that fits; a longer id is wrapped.
        let mut lines = wrapped(&shown.title, self.columns).into_iter();
        let first = lines.next().unwrap_or_default();
        let room = self.columns.saturating_sub(width(&first) + 2);
        let task_type = shown.task_type.as_deref().filter(|name| lines.len() == 0 && width(name) <= room);
        let beside = task_type.map(|name| format!("  {name}")).unwrap_or_default();
        writeln!(self.out, "{bold}{first}{bold:#}{beside}")?;
        for line in lines {
            writeln!(self.out, "{bold}{line}{bold:#}")?;
        }
        if let Some(name) = shown.task_type.as_ref().filter(|_| task_type.is_none()) {
            self.row("Type", name, LINES)?;
        }
        for row in &shown.run {
            self.row(row.label, &row.text, LINES)?;
        }
        writeln!(self.out)?;
        if let Some(image) = &shown.image {
            self.row("IMG", image, LINES)?;
        }
        for (place, image) in shown.sent.iter().enumerate() {
            self.row(if place == 0 { "Sent" } else { "" }, image, LINES)?;
        }
        if let Some(question) = &shown.question {
            self.row("Q", question, REPLY_LINES)?;
        }
        for (place, step) in shown.steps.iter().enumerate() {
            self.heading(&format!("Step {}", place + 1))?;
            for (place, call) in step.calls.iter().enumerate() {
                if place > 0 {
                    self.dashes()?;
                }
                self.call(call)?;
            }
            if step.calls.is_empty() {
                writeln!(self.out, "(no calls)")?;
            }
            self.note(step.more.as_deref())?;
        }
        self.note(shown.more_steps.as_deref())?;
        if let Some(reply) = &shown.reply {
            self.heading("Final Reply")?;
            let reply = if reply.is_empty() { "(none)" } else { reply };
            self.text(reply, self.columns, REPLY_LINES, |_| String::new())?;
        }
        if !shown.messages.is_empty() {
            self.heading("Dialogue")?;
        }
        for (place, message) in shown.messages.iter().enumerate() {
            if place > 0 {
                self.dashes()?;
            }
            let title = shortened(&message.title, self.columns);
            writeln!(self.out, "{bold}{title}{bold:#}")?;
            for row in &message.rows {
                self.row(row.label, &row.text, MESSAGE_LINES)?;
            }
        }
        self.out.flush()
    }

    fn heading(&mut self, text: &str) -> io::Result<()> {
        let Self { bold, faint, columns, .. } = *self;
        writeln!(self.out, "\n{bold}{text}{bold:#}\n{faint}{}{faint:#}", "─".repeat(columns))
    }

    /// A line between calls that are made at once.
    fn dashes(&mut self) -> io::Result<()> {
        let Self { faint, columns, .. } = *self;
        writeln!(self.out, "{faint}{}{faint:#}", "- ".repeat(columns.div_ceil(2)).trim_end())
    }

    fn note(&mut self, text: Option<&str>) -> io::Result<()> {
        text.map_or(Ok(()), |text| writeln!(self.out, "… {text}"))
    }

    /// Writes a call: the tool, with its outcome at the right edge, or on the next line if there is no room.
    fn call(&mut self, call: &ShownCall) -> io::Result<()> {
        let Self { label, failed, faint, columns, .. } = *self;
        let style = if call.is_failed { failed } else { faint };
        let (tool, note) = (wrapped(&call.tool, columns - LABEL), &call.note);
        let room = columns.saturating_sub(LABEL + width(&call.tool) + width(note));
        if tool.len() == 1 && room >= 2 && !note.is_empty() {
            let blanks = " ".repeat(room);
            let name = padded("Tool", LABEL);
            writeln!(self.out, "{label}{name}{label:#}{}{blanks}{style}{note}{style:#}", call.tool)?;
        } else {
            self.row("Tool", &call.tool, LINES)?;
            for line in wrapped(note, columns - LABEL).iter().filter(|line| !line.is_empty()) {
                writeln!(self.out, "{}{style}{line}{style:#}", " ".repeat(LABEL))?;
            }
        }
        self.row("ARG", &call.arguments, LINES)?;
        call.output.as_ref().map_or(Ok(()), |output| self.row("OUT", output, OUTPUT_LINES))
    }

    /// A label and the text beside it.
    fn row(&mut self, name: &str, text: &str, most: usize) -> io::Result<()> {
        let label = self.label;
        let text = if text.is_empty() { "(empty)" } else { text };
        self.text(text, self.columns - LABEL, most, |place| {
            let name = padded(if place == 0 { name } else { "" }, LABEL);
            if place == 0 { format!("{label}{name}{label:#}") } else { name }
        })
    }

    /// The lines of a text; `before` returns what is put in front of each.
    fn text(
        &mut self,
        text: &str,
        columns: usize,
        most: usize,
        before: impl Fn(usize) -> String,
    ) -> io::Result<()> {
        let lines = lines(text, columns);
        let cut = lines.len().saturating_sub(most);
        // Three quarters are from the start, as in a long line.
        let first = if cut > 0 { most - most / 4 } else { lines.len() };
        let note = (cut > 0).then(|| {
            // If the text was cut before, this also removes the note about it.
            let taken = lines[first..first + cut].join(" ");
            let had_note = ["character cut]", "characters cut]"].iter().any(|note| taken.contains(note));
            format!("… [{}{} cut] …", counted(cut, "line"), if had_note { " and more" } else { "" })
        });
        let shown = lines[..first].iter().chain(&note).chain(&lines[(first + cut).min(lines.len())..]);
        for (place, line) in shown.enumerate() {
            writeln!(self.out, "{}", format!("{}{line}", before(place)).trim_end())?;
        }
        Ok(())
    }
}

/// The lines of a text, wrapped; leading blanks are kept.
fn lines(text: &str, columns: usize) -> Vec<String> {
    let wrap = |line: &str| {
        if width(line) <= columns {
            return vec![line.to_owned()];
        }
        let blanks = line.chars().take_while(|c| *c == ' ').count().min(columns / 3);
        let indent = " ".repeat(blanks);
        wrapped(line, columns - blanks).into_iter().map(|line| format!("{indent}{line}")).collect()
    };
    text.split('\n').flat_map(wrap).collect()
}
