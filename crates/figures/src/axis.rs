//! The horizontal axis from 0 up to at most 1, with as many ticks as have room.

use super::frame::{GAP, SMALL, baseline};
use super::palette::{self, INK};
use super::svg::{Anchor, Canvas, Rectangle};
use super::text;

/// The colour of lines across the plot.
const GRID: &str = "#d0d0d0";

/// Height of a bar, and half of the height of the lines across the ends of a whisker.
const BAR_HEIGHT: f64 = 14.0;
const CAP: f64 = 4.0;

/// Steps between ticks, in hundredths.
const STEPS: [u32; 7] = [1, 2, 5, 10, 20, 50, 100];

/// Free space between two labels.
const TICK_GAP: f64 = 24.0;

/// Height of the labels and the name of an axis below the plot.
pub(super) const HEIGHT: f64 = 42.0;

/// The notation of ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// A fraction, such as 0.25.
    Fraction,
    /// A percentage, such as 25 %.
    Percent,
}

/// Maps values to x.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    /// x of 0.
    pub(super) left: f64,
    /// x of `end`.
    pub(super) right: f64,
    /// The last value on the axis, in hundredths: 1 to 100.
    end: u32,
    unit: Unit,
}

impl Axis {
    /// An axis from 0 at `left` to 1 at `right`.
    pub(super) fn whole(left: f64, right: f64, unit: Unit) -> Self {
        Self { left, right, end: 100, unit }
    }

    /// An axis from 0 to the first tenth that is not below any of `values`. It begins at 0 because the length
    /// of a bar is read as its value.
    pub(super) fn up_to(left: f64, right: f64, values: impl Iterator<Item = f64>) -> Self {
        let greatest = values.filter(|value| value.is_finite()).fold(0.0, f64::max);
        let ends = (1..10).map(|tenth| tenth * 10);
        let end = ends.into_iter().find(|&end| greatest > 0.0 && f64::from(end) / 100.0 >= greatest);
        Self { left, right, end: end.unwrap_or(100), unit: Unit::Fraction }
    }

    /// The x of `value`; a value beyond an end is at that end.
    pub(super) fn x(&self, value: f64) -> f64 {
        let share = (value * 100.0 / f64::from(self.end)).clamp(0.0, 1.0);
        self.left + share * (self.right - self.left)
    }

    /// Draws lines from `top` to `bottom` with their labels and the name of the axis below. Call it before the data are
    /// drawn, so that the lines are behind.
    pub(super) fn draw(&self, canvas: &mut Canvas, top: f64, bottom: f64, name: &str) {
        let step = self.step();
        for tick in (0..=self.end / step).map(|i| i * step) {
            let x = self.x(f64::from(tick) / 100.0);
            let colour = if tick == 0 { INK } else { GRID };
            canvas.line((x, top), (x, bottom), colour, 1.0);
            canvas.text((x, bottom + 17.0), SMALL, Anchor::Middle, &self.label(tick, step));
        }
        let name = text::fitted(name, SMALL, self.right - self.left);
        let middle = f64::midpoint(self.left, self.right);
        canvas.text((middle, bottom + 34.0), SMALL, Anchor::Middle, &name);
    }

    /// Draws the vertical axis: lines across the plot, each at its y and with its label at the left, from 0 upwards.
    pub(super) fn draw_side(&self, canvas: &mut Canvas, ticks: impl Iterator<Item = (f64, String)>) {
        for (index, (y, label)) in ticks.enumerate() {
            let colour = if index == 0 { INK } else { GRID };
            canvas.line((self.left, y), (self.right, y), colour, 1.0);
            canvas.text((self.left - GAP, baseline(y, SMALL)), SMALL, Anchor::End, &label);
        }
    }

    /// Draws a bar from 0 to `value`, if that is finite, and an interval as a whisker, both around the y `middle`.
    /// Returns the x at which both have ended.
    pub(super) fn draw_bar(
        &self,
        canvas: &mut Canvas,
        value: f64,
        interval: Option<(f64, f64)>,
        middle: f64,
    ) -> f64 {
        let mut end = self.left;
        if value.is_finite() {
            end = self.x(value);
            let (y, width) = (middle - BAR_HEIGHT / 2.0, end - self.left);
            canvas.rectangle(Rectangle { x: self.left, y, width, height: BAR_HEIGHT }, palette::BAR);
        }
        if let Some((low, high)) = interval {
            let (low, high) = (self.x(low), self.x(high));
            canvas.line((low, middle), (high, middle), INK, 1.5);
            for x in [low, high] {
                canvas.line((x, middle - CAP), (x, middle + CAP), INK, 1.5);
            }
            end = end.max(high);
        }
        end
    }

    /// The smallest step that divides the axis without a rest and leaves room between labels.
    fn step(&self) -> u32 {
        let has_room = |step: u32| {
            let distance = (self.right - self.left) * f64::from(step) / f64::from(self.end);
            distance >= text::width(&self.label(self.end, step), SMALL) + TICK_GAP
        };
        let steps = STEPS.into_iter().filter(|&step| self.end.is_multiple_of(step));
        steps.into_iter().find(|&step| has_room(step)).unwrap_or(self.end)
    }

    fn label(&self, hundredths: u32, step: u32) -> String {
        match self.unit {
            Unit::Percent => format!("{hundredths} %"),
            Unit::Fraction if step.is_multiple_of(10) => format!("{:.1}", f64::from(hundredths) / 100.0),
            Unit::Fraction => format!("{:.2}", f64::from(hundredths) / 100.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_the_next_tenth() {
        let end = |values: &[f64]| Axis::up_to(0.0, 100.0, values.iter().copied()).end;
        assert_eq!([end(&[0.482]), end(&[0.5, 0.01]), end(&[0.0001])], [50, 50, 10]);
        assert_eq!(
            [end(&[]), end(&[0.0]), end(&[0.91]), end(&[7.0]), end(&[f64::NAN, f64::INFINITY])],
            [100; 5]
        );
    }

    #[test]
    fn values_beyond_the_ends_lie_on_them() {
        let axis = Axis::whole(10.0, 110.0, Unit::Percent);
        let xs = [0.0, 0.5, 1.0, -3.0, 8.0, f64::INFINITY].map(|value| axis.x(value));
        assert_eq!(xs.map(|x| format!("{x}")), ["10", "60", "110", "10", "110", "110"]);
    }

    #[test]
    fn ticks_thin_out() {
        let step = |width| Axis::whole(0.0, width, Unit::Fraction).step();
        assert_eq!([step(700.0), step(300.0), step(100.0), step(10.0)], [10, 20, 50, 100]);
    }
}
