//! The trajectories of a file, one line each: as wide as the terminal, or as a table in Markdown.

use std::io::{self, Write};

use anstyle::Style;
use m3_trajectory::{FailureClass, Trajectory};

use crate::audit::text::{headline, padded, width};
use crate::sheet::{Cell, Column, Sheet, SheetForm, write_sheets};

/// The widest id and the widest type, in columns.
const ID: usize = 32;
const TYPE: usize = 16;

/// The least room for the question; its rest is cut.
const QUESTION: usize = 10;

/// The most columns of the question that are kept, which are enough to know the task.
const KEPT: usize = 200;

/// A trajectory in a list. Its texts contain nothing that acts on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedTrajectory {
    id: String,
    repeat: u64,
    task_type: String,
    steps: usize,
    calls: usize,
    /// Why the trajectory came to nothing, in words; empty if it did not.
    failure: String,
    question: String,
}

impl ListedTrajectory {
    /// A trajectory of repetition `repeat`.
    #[must_use]
    pub fn new(trajectory: &Trajectory, repeat: u64) -> Self {
        let malformed: usize = trajectory.steps.iter().map(|step| step.malformed.len()).sum();
        Self {
            id: headline(&trajectory.id, ID),
            repeat,
            task_type: headline(trajectory.task_type.as_deref().unwrap_or("-"), TYPE),
            steps: trajectory.steps.len(),
            calls: trajectory.call_count() + malformed,
            failure: FailureClass::of(trajectory)
                .map(|failure| failure.name().replace('_', " "))
                .unwrap_or_default(),
            question: headline(trajectory.instruction().unwrap_or("-"), KEPT),
        }
    }
}

/// The columns before the question, with the cells of each trajectory. The columns of repetitions and of failures are
/// left out if they would be empty.
fn columns(list: &[ListedTrajectory]) -> Vec<(Column, Vec<String>)> {
    type Cells = fn(&ListedTrajectory) -> String;
    let has_repeats = list.iter().any(|it| it.repeat > 1);
    let has_failures = list.iter().any(|it| !it.failure.is_empty());
    let number = |name| Column::number(name, name);
    let all: [(bool, Column, Cells); 6] = [
        (true, Column::text("id"), |it| it.id.clone()),
        (has_repeats, number("repeat"), |it| it.repeat.to_string()),
        (true, Column::text("type"), |it| it.task_type.clone()),
        (true, number("steps"), |it| it.steps.to_string()),
        (true, number("calls"), |it| it.calls.to_string()),
        (has_failures, Column::text("failure"), |it| it.failure.clone()),
    ];
    let shown = all.into_iter().filter(|(is_shown, ..)| *is_shown);
    shown.map(|(_, column, cells)| (column, list.iter().map(cells).collect())).collect()
}

/// Writes the trajectories for a terminal of `room` columns, with bold type if `is_styled`.
///
/// # Errors
/// The writer's reason.
pub fn write_list(
    list: &[ListedTrajectory],
    room: usize,
    is_styled: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let bold = if is_styled { Style::new().bold() } else { Style::new() };
    let mut columns = columns(list);
    // Where there is little room, names leave some to the question.
    for (column, cells) in &mut columns {
        let most = match column.name.as_str() {
            "id" => room / 4,
            "type" => (room / 8).max(8),
            _ => continue,
        };
        for cell in cells {
            *cell = headline(cell, most);
        }
    }
    let widths: Vec<usize> = columns
        .iter()
        .map(|(column, cells)| cells.iter().map(|cell| width(cell)).fold(width(&column.name), usize::max))
        .collect();
    let used: usize = widths.iter().map(|width| width + 2).sum();
    let question = room.saturating_sub(used).max(QUESTION);
    let line = |cell: &dyn Fn(usize) -> Option<String>, last: &str| {
        let mut text = String::new();
        for (index, ((column, _), width)) in columns.iter().zip(&widths).enumerate() {
            let cell = cell(index).unwrap_or_default();
            let filled = if column.is_text { padded(&cell, *width) } else { format!("{cell:>width$}") };
            text.extend([&filled, "  "]);
        }
        text + &headline(last, question)
    };
    let heads = line(&|index| columns.get(index).map(|(column, _)| column.name.clone()), "question");
    writeln!(out, "{bold}{}{bold:#}", heads.trim_end())?;
    for (row, it) in list.iter().enumerate() {
        let cells = |index: usize| columns.get(index).and_then(|(_, cells)| cells.get(row).cloned());
        writeln!(out, "{}", line(&cells, &it.question).trim_end())?;
    }
    out.flush()
}

/// Writes the trajectories as a table in Markdown.
///
/// # Errors
/// The writer's reason.
pub fn write_list_as_markdown(title: &str, list: &[ListedTrajectory], out: &mut dyn Write) -> io::Result<()> {
    let columns = columns(list);
    let row = |(row, it): (usize, &ListedTrajectory)| {
        let cells = columns.iter().map(|(_, cells)| Cell::new(cells.get(row).cloned().unwrap_or_default()));
        cells.chain([Cell::new(it.question.clone())]).collect()
    };
    let sheet = Sheet {
        title: title.to_owned(),
        notes: Vec::new(),
        rows: list.iter().enumerate().map(row).collect(),
        columns: columns.iter().map(|(column, _)| column.clone()).chain([Column::text("question")]).collect(),
    };
    write_sheets(SheetForm::Markdown, &[sheet], out)
}
