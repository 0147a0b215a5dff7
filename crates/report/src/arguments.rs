//! Two lists for people from a score: the arguments that are wrong most often, and the pairs that only the embedding
//! accepts.

use m3_score::Similarity;
use unicode_width::UnicodeWidthStr as _;

use m3_score::{RejectedMatch, WrongArgument};

use super::{ScoreSummary, shortened, visible};

/// The most rows that are shown of a list.
const SHOWN: usize = 3;

/// The gap between two columns.
const GAP: &str = "  ";

/// The longest id before an example.
const ID_WIDTH: usize = 16;

/// The longest value that is shown, in characters.
const VALUE_WIDTH: usize = 14;

/// The width of an argument's name in front of what is wrong with it, on a terminal.
pub(super) const ARGUMENT_WIDTH: usize = 16;

/// A note that there is more, and how to see it.
pub(super) const POINTER: &str = "All: m3 score .. --format json. One task: m3 audit .. --id ID";

/// A list of arguments or of pairs.
pub(super) struct Findings {
    pub(super) title: String,
    pub(super) columns: Vec<Column>,
    /// The rows, untrusted and of any length.
    pub(super) rows: Vec<Vec<String>>,
}

/// A column of [`Findings`].
pub(super) struct Column {
    pub(super) name: &'static str,
    /// Which end is cut if necessary.
    cut: CutAt,
    /// The smallest width.
    least: usize,
    pub(super) is_number: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CutAt {
    /// The end is cut: the beginning says most.
    End,
    /// The beginning is cut: the end says most, as in the name of a tool or the path of an argument.
    Start,
}

impl Column {
    pub(super) fn text(name: &'static str, cut: CutAt, least: usize) -> Self {
        Self { name, cut, least, is_number: false }
    }

    pub(super) fn number(name: &'static str) -> Self {
        Self { name, cut: CutAt::End, least: usize::MAX, is_number: true }
    }
}

/// The lists of a score that are not empty. `argument_width` is the width of an argument's name in front of what is
/// wrong with it.
pub(super) fn findings(summary: &ScoreSummary, argument_width: usize) -> Vec<Findings> {
    let mut lists = vec![wrong_arguments(summary), rejected_matches(summary, argument_width)];
    lists.retain(|list| !list.rows.is_empty());
    lists
}

fn wrong_arguments(summary: &ScoreSummary) -> Findings {
    let row = |found: &WrongArgument| {
        vec![
            format!("{} of {}", found.wrong, found.pairs),
            found.tool.clone(),
            named(&found.argument).to_owned(),
            format!(
                "{}: {}",
                shortened(&found.id, ID_WIDTH),
                in_short(found.values.reference.as_deref(), found.values.predicted.as_deref(), &found.reason)
            ),
        ]
    };
    let rows: Vec<_> = summary.wrong_arguments.iter().take(SHOWN).map(row).collect();
    let title = format!("arguments most often wrong ({} of {})", rows.len(), summary.wrong_arguments.len());
    let columns = vec![
        Column::number("pairs"),
        Column::text("tool", CutAt::Start, 20),
        Column::text("argument", CutAt::Start, 12),
        Column::text("for example", CutAt::End, 24),
    ];
    Findings { title, columns, rows }
}

fn rejected_matches(summary: &ScoreSummary, argument_width: usize) -> Findings {
    let row = |found: &RejectedMatch| {
        let argument = cut_start(named(&found.argument), argument_width);
        vec![
            similarity(found.similarity),
            match found.repeat {
                Some(repeat) => format!("{} ({repeat})", found.id),
                None => found.id.clone(),
            },
            format!("{} -> {}", found.reference, found.predicted),
            found.tool.clone(),
            format!(
                "{argument}: {}",
                in_short(found.values.reference.as_deref(), found.values.predicted.as_deref(), &found.reason)
            ),
        ]
    };
    let rejected = &summary.rejected_matches;
    let (title, compared) = if summary.similarity == Similarity::Cosine.name() {
        ("look alike, but arguments are wrong", "cosine")
    } else {
        ("matched, although fidelity rejects them", "fidelity")
    };
    let columns = vec![
        Column::number(compared),
        Column::text("id", CutAt::End, 8),
        Column::text("calls", CutAt::End, 10),
        Column::text("tool", CutAt::Start, 16),
        Column::text("what is wrong", CutAt::End, 28),
    ];
    Findings {
        title: format!("{title} ({} of {} pairs)", rejected.count, summary.aggregate.matched),
        columns,
        rows: rejected.matches.iter().take(SHOWN).map(row).collect(),
    }
}

/// What is wrong with an argument: its values if both are short, as in the audit, else the reason.
fn in_short(reference: Option<&str>, predicted: Option<&str>, reason: &str) -> String {
    let is_short = |value: &str| value.chars().nth(VALUE_WIDTH).is_none();
    match (reference, predicted) {
        (Some(a), Some(b)) if is_short(a) && is_short(b) => format!("{a} -> {b}"),
        (Some(a), None) if is_short(a) => format!("{a} -> missing"),
        (None, Some(b)) if is_short(b) => format!("extra {b}"),
        _ => reason.to_owned(),
    }
}

/// An argument's name, or `(all)` for the arguments as a whole.
fn named(argument: &str) -> &str {
    if argument.is_empty() { "(all)" } else { argument }
}

/// A similarity with four digits; 1.0000 only for calls that the encoder cannot distinguish.
fn similarity(similarity: f64) -> String {
    if similarity < 1.0 { format!("{:.4}", similarity.min(0.9999)) } else { "1.0000".to_owned() }
}

impl Findings {
    /// The heading and the rows as lines of at most this many columns, 80 or more.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        let heads: Vec<String> = self.columns.iter().map(|column| column.name.to_owned()).collect();
        // No cell may be wider than the whole line.
        let cut = |row: &Vec<String>, widths: &[usize]| -> Vec<String> {
            let cells = row.iter().zip(&self.columns).zip(widths);
            cells.map(|((text, column), width)| column.cut(text, *width)).collect()
        };
        let widest = vec![columns; self.columns.len()];
        let rows: Vec<Vec<String>> = self.rows.iter().map(|row| cut(row, &widest)).collect();
        let width = |column: usize| {
            let cells = rows.iter().chain([&heads]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.width()).max().unwrap_or(0)
        };
        let widths = self.narrowed((0..self.columns.len()).map(width).collect(), columns);
        [&heads].into_iter().chain(&rows).map(|row| self.line(&cut(row, &widths), &widths)).collect()
    }

    /// Makes the widest column narrower until all fit, or none can be narrowed.
    fn narrowed(&self, mut widths: Vec<usize>, columns: usize) -> Vec<usize> {
        let room = columns - GAP.len() * widths.len().saturating_sub(1);
        while widths.iter().sum::<usize>() > room {
            let wide = widths.iter_mut().zip(&self.columns).filter(|(width, column)| **width > column.least);
            let Some((width, _)) = wide.max_by_key(|(width, _)| **width) else { break };
            *width -= 1;
        }
        widths
    }

    fn line(&self, cells: &[String], widths: &[usize]) -> String {
        let cell = |((text, column), width): ((&String, &Column), &usize)| {
            let padding = " ".repeat(width.saturating_sub(text.width()));
            if column.is_number { format!("{padding}{text}") } else { format!("{text}{padding}") }
        };
        let cells: Vec<String> = cells.iter().zip(&self.columns).zip(widths).map(cell).collect();
        cells.join(GAP).trim_end().to_owned()
    }
}

impl Column {
    fn cut(&self, text: &str, width: usize) -> String {
        match self.cut {
            CutAt::End => shortened(text, width),
            CutAt::Start => cut_start(text, width),
        }
    }
}

/// The end of a text, made [`visible`], in at most `width` columns of a terminal; an ellipsis stands for the rest.
fn cut_start(text: &str, width: usize) -> String {
    // Few characters take no column, so the beginning of a long text need not be read.
    let start = text.ceil_char_boundary(text.len().saturating_sub(width.saturating_mul(16)));
    let shown = visible(&text[start..], false);
    if start == 0 && shown.width() <= width {
        return shown.into_owned();
    }
    let mut places = shown.char_indices().map(|(place, _)| place).chain([shown.len()]);
    let place = places.find(|place| shown[*place..].width() < width).unwrap_or(shown.len());
    format!("…{}", &shown[place..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_names_the_end_is_kept() {
        assert_eq!(cut_start("google-maps/geocode", 19), "google-maps/geocode");
        assert_eq!(cut_start("google-maps/geocode", 9), "…/geocode");
        assert_eq!(cut_start("漢字漢字", 7), "…字漢字");
        assert_eq!(cut_start("\u{1b}[2J", 20), "\\u{1b}[2J");
        assert!(cut_start(&"☺\u{fe0f}".repeat(50), 24).width() <= 24);
        assert!(cut_start(&"e\u{301}".repeat(10_000), 3).width() <= 3);
    }

    #[test]
    fn lists_are_as_wide_as_a_terminal_at_most() {
        let list = |row: [&str; 4]| Findings {
            title: String::new(),
            columns: vec![
                Column::number("pairs"),
                Column::text("tool", CutAt::Start, 20),
                Column::text("argument", CutAt::Start, 12),
                Column::text("for example", CutAt::End, 24),
            ],
            rows: vec![row.map(str::to_owned).to_vec()],
        };
        let short = list(["1 of 2", "s/t", "lng", "a: another place"]).lines(80);
        assert_eq!(
            short,
            [" pairs  tool  argument  for example", "1 of 2  s/t   lng       a: another place"]
        );
        let long = "漢字\u{202e}".repeat(100_000);
        let lines = list(["15 of 79", &long, &long, &long]).lines(80);
        assert!(lines.iter().all(|line| line.width() <= 80), "{lines:?}");
        assert!(!lines.join("").contains('\u{202e}'));
    }
}
