//! The places of models by several metrics: lines that cross where metrics disagree.

use super::frame::{self, GAP, MARGIN, MAX_ROWS, SMALL, TEXT, baseline};
use super::palette;
use super::svg::{Anchor, Canvas, WIDTH};
use super::text;

/// The height of a row, which is a place.
const ROW: f64 = 26.0;

/// The greatest width of a name, at each side.
const NAMES: f64 = 190.0;

/// Space for the headings, on two lines by turns so that neighbours do not touch.
const HEADING: f64 = 36.0;
const LINE: f64 = 14.0;

/// Places of models, a column for each metric.
#[derive(Debug, Clone, PartialEq)]
pub struct RankLines {
    /// The heading.
    pub title: String,
    /// The metrics from left to right.
    pub columns: Vec<String>,
    /// The models; at most [`MAX_ROWS`] are drawn.
    pub lines: Vec<RankedLine>,
}

/// A model with its place by each metric.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedLine {
    /// The model.
    pub name: String,
    /// Places from 1, one for each column; values that are not finite are left out.
    pub ranks: Vec<f64>,
}

impl RankLines {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let lines = self.lines.get(..MAX_ROWS).unwrap_or(&self.lines);
        let (mut canvas, top) = frame::titled(&self.title);
        let top = top + HEADING;
        let names = lines.iter().map(|line| text::width(&text::fitted(&line.name, TEXT, NAMES), TEXT));
        let side = MARGIN + names.fold(0.0, f64::max) + GAP;
        let gaps = self.columns.len().saturating_sub(1).max(1) as f64;
        let x = |column: usize| side + (WIDTH - 2.0 * side) * column as f64 / gaps;
        let y = |rank: f64| top + ROW * (rank.clamp(1.0, lines.len().max(1) as f64) - 0.5);
        let last = self.columns.len().saturating_sub(1);
        for (column, name) in self.columns.iter().enumerate() {
            let anchor = match column {
                0 => Anchor::Start,
                column if column == last => Anchor::End,
                _ => Anchor::Middle,
            };
            let content = &text::fitted(name, SMALL, (WIDTH - 2.0 * side) / gaps * 1.2);
            let y = top - GAP - if column % 2 == 1 { LINE } else { 0.0 };
            canvas.text((x(column), y), SMALL, anchor, content);
            canvas.line((x(column), top), (x(column), top + ROW * lines.len() as f64), "#ddd", 1.0);
        }
        for (index, line) in lines.iter().enumerate() {
            let points: Vec<(f64, f64)> = line
                .ranks
                .iter()
                .take(self.columns.len())
                .enumerate()
                .filter(|(_, rank)| rank.is_finite())
                .map(|(column, rank)| (x(column), y(*rank)))
                .collect();
            draw_line(&mut canvas, line, &points, palette::category(index).colour);
        }
        let bottom = top + ROW * lines.len().max(1) as f64;
        let note = frame::count_note(self.lines.len(), "models");
        frame::finish(canvas, &self.title, note, bottom + GAP)
    }
}

fn draw_line(canvas: &mut Canvas, line: &RankedLine, points: &[(f64, f64)], colour: &str) {
    let shown = |rank: &f64| if rank.is_finite() { rank.to_string() } else { "-".to_owned() };
    let ranks: Vec<String> = line.ranks.iter().map(shown).collect();
    let about = format!("{}: {}", text::brief(&line.name), ranks.join(", "));
    canvas.described(&about, |canvas| {
        for pair in points.windows(2) {
            canvas.line(pair[0], pair[1], colour, 2.5);
        }
        for point in points {
            canvas.disc(*point, 4.0, colour);
        }
    });
    let content = &text::fitted(&line.name, TEXT, NAMES);
    if let Some((x, y)) = points.first() {
        canvas.text((x - GAP, baseline(*y, TEXT)), TEXT, Anchor::End, content);
    }
    if let Some((x, y)) = points.last().filter(|_| points.len() > 1) {
        canvas.text((x + GAP, baseline(*y, TEXT)), TEXT, Anchor::Start, content);
    }
}
