//! The outcomes of each model's calls, as shares (figure 6 of the paper).

use super::axis::{self, Axis, Unit};
use super::frame::{self, MARGIN, MAX_ROWS, Names, SMALL, baseline};
use super::marks;
use super::palette::{self, MAX_CATEGORIES};
use super::svg::{Anchor, Canvas, Rectangle, WIDTH};
use super::{legend, text};

const ROW: f64 = 26.0;
const BAR_HEIGHT: f64 = 18.0;

/// Space kept at both sides of a label within its segment.
const PADDING: f64 = 3.0;

/// Stacked shares of outcomes by model.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcomes {
    /// The heading.
    pub title: String,
    /// The name of the axis below: the total whose shares are drawn.
    pub axis: String,
    /// The outcomes from left to right. Eight can be distinguished; if there are more, the eighth and all after it are
    /// added up as "other".
    pub categories: Vec<String>,
    /// The rows from top to bottom; at most [`MAX_ROWS`] are drawn.
    pub models: Vec<ModelOutcomes>,
}

/// One model's outcomes.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelOutcomes {
    /// The model.
    pub name: String,
    /// Counts or shares, one for each category; they are scaled to a sum of 1. Negative values and values that are not
    /// finite count as 0.
    pub amounts: Vec<f64>,
}

impl Outcomes {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let models = self.models.get(..MAX_ROWS).unwrap_or(&self.models);
        let categories = self.shown_categories();
        let (mut canvas, top) = frame::titled(&self.title);
        let top = legend::draw(&mut canvas, &categories, top, |canvas, index, (x, y)| {
            marks::swatch(canvas, index, x, y);
        });
        let names = Names::new(models.iter().map(|model| model.name.as_str()));
        let last_label = text::width("100 %", SMALL) / 2.0;
        let axis = Axis::whole(names.right, WIDTH - MARGIN - last_label, Unit::Percent);

        let row_top = |index: usize| top + ROW * index as f64;
        let bottom = row_top(models.len().max(1));
        for index in 0..models.len() {
            names.draw(&mut canvas, index, row_top(index), ROW);
        }
        axis.draw(&mut canvas, top, bottom, &self.axis);
        for (index, model) in models.iter().enumerate() {
            draw_row(&mut canvas, &axis, &categories, model, row_top(index) + ROW / 2.0);
        }
        let note = frame::count_note(self.models.len(), "models");
        frame::finish(canvas, &self.title, note, bottom + axis::HEIGHT)
    }

    fn shown_categories(&self) -> Vec<String> {
        if self.categories.len() <= MAX_CATEGORIES {
            return self.categories.clone();
        }
        let named = self.categories.iter().take(MAX_CATEGORIES - 1).cloned();
        named.chain(["other".to_owned()]).collect()
    }
}

/// The share of each of `categories` categories, the last one with all that come after it; `None` if all are 0.
fn shares(amounts: &[f64], categories: usize) -> Option<Vec<f64>> {
    let greatest = amounts.iter().copied().filter(|amount| amount.is_finite()).fold(0.0, f64::max);
    if greatest <= 0.0 || categories == 0 {
        return None;
    }
    // Amounts are divided first, because the sum of large numbers may not be finite.
    let amount = |&amount: &f64| if amount.is_finite() { amount.max(0.0) / greatest } else { 0.0 };
    let total: f64 = amounts.iter().map(amount).sum();
    let (named, rest) = amounts.split_at(amounts.len().min(categories - 1));
    let rest: f64 = rest.iter().map(amount).sum();
    let mut shares: Vec<f64> = named.iter().map(|x| amount(x) / total).collect();
    shares.push(rest / total);
    Some(shares)
}

fn draw_row(canvas: &mut Canvas, axis: &Axis, categories: &[String], model: &ModelOutcomes, middle: f64) {
    let Some(shares) = shares(&model.amounts, categories.len()) else {
        canvas.text((axis.left + PADDING, baseline(middle, SMALL)), SMALL, Anchor::Start, "no calls");
        return;
    };
    let mut start = 0.0;
    for (index, (share, category)) in shares.into_iter().zip(categories).enumerate() {
        let (x, right) = (axis.x(start), axis.x(start + share));
        start += share;
        if share <= 0.0 {
            continue;
        }
        let area = Rectangle { x, y: middle - BAR_HEIGHT / 2.0, width: right - x, height: BAR_HEIGHT };
        let (name, category) = (text::brief(&model.name), text::brief(category));
        let description = format!("{name}, {category}: {:.1} %", share * 100.0);
        canvas.described(&description, |canvas| draw_segment(canvas, area, index, share));
    }
}

/// Draws a segment with its share, if that has room, on a plate that keeps the pattern off the digits.
fn draw_segment(canvas: &mut Canvas, area: Rectangle, index: usize, share: f64) {
    canvas.patterned(area, index);
    let content = &format!("{:.0} %", share * 100.0);
    let width = text::width(content, SMALL) + 2.0 * PADDING;
    if width + 2.0 > area.width {
        return;
    }
    let look = palette::category(index);
    let x = area.x + area.width / 2.0;
    if !look.pattern.is_empty() {
        let plate = Rectangle { x: x - width / 2.0, y: area.y + 2.0, width, height: area.height - 4.0 };
        canvas.rectangle(plate, look.colour);
    }
    let y = baseline(area.y + area.height / 2.0, SMALL);
    canvas.coloured_text((x, y), SMALL, Anchor::Middle, look.ink, content);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_one() {
        assert_eq!(shares(&[1.0, 3.0], 2), Some(vec![0.25, 0.75]));
        assert_eq!(shares(&[1.0, 1.0, 1.0, 1.0], 2), Some(vec![0.25, 0.75]), "the rest is added up");
        assert_eq!(shares(&[-1.0, f64::NAN, 2.0], 3), Some(vec![0.0, 0.0, 1.0]));
        assert_eq!(shares(&[f64::MAX, f64::MAX], 2), Some(vec![0.5, 0.5]));
        assert_eq!(shares(&[2.0], 2), Some(vec![1.0, 0.0]), "amounts that are missing");
        assert_eq!([shares(&[], 2), shares(&[0.0, f64::INFINITY], 2), shares(&[1.0], 0)], [None, None, None]);
    }
}
