//! One metric by type of task, a marker for each model (figure 7 of the paper).

use super::axis::{self, Axis};
use super::frame::{self, MARGIN, MAX_ROWS, Names};
use super::svg::{Canvas, WIDTH};
use super::{legend, marks, text};

/// The least height of a row.
const ROW: f64 = 22.0;

/// Distance between the centres of markers that would cover each other.
const PITCH: f64 = 2.0 * marks::RADIUS + 1.0;

/// Lines of markers within a row; markers that find none free cover others.
const MAX_LANES: usize = 9;

/// One metric by type of task for chosen models.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricByTask {
    /// The heading.
    pub title: String,
    /// The metric, below the axis.
    pub axis: String,
    /// The models; at most 64 can be distinguished, and more are left out.
    pub models: Vec<String>,
    /// The rows from top to bottom; at most [`MAX_ROWS`] are drawn.
    pub tasks: Vec<TaskValues>,
}

/// A type of task with the models' values.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskValues {
    /// The type.
    pub name: String,
    /// A value in [0, 1] for each model, in the order of the models; `None` if it is missing.
    pub values: Vec<Option<f64>>,
}

/// A marker in a row: the model, x, and the line of markers above (negative) or below the row's middle.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Marker {
    model: usize,
    value: f64,
    x: f64,
    lane: f64,
}

impl MetricByTask {
    /// The figure as SVG.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let models = self.models.get(..marks::MARKERS).unwrap_or(&self.models);
        let tasks = self.tasks.get(..MAX_ROWS).unwrap_or(&self.tasks);
        let (mut canvas, top) = frame::titled(&self.title);
        let top = legend::draw(&mut canvas, models, top, |canvas, index, (x, y)| {
            marks::marker(canvas, index, (x + 8.0, y + 6.0));
        });
        let names = Names::new(tasks.iter().map(|task| task.name.as_str()));
        let all = tasks.iter().flat_map(|task| finite(task, models.len())).map(|(_, value)| value);
        let axis = Axis::up_to(names.right + marks::RADIUS, WIDTH - MARGIN - 2.0 * marks::RADIUS, all);

        let mut rows = Vec::with_capacity(tasks.len());
        let mut bottom = top;
        for (index, task) in tasks.iter().enumerate() {
            let markers = place_markers(task, models.len(), &axis);
            let highest = markers.iter().map(|marker| marker.lane).fold(0.0, f64::min);
            let lowest = markers.iter().map(|marker| marker.lane).fold(0.0, f64::max);
            let height = ROW.max((lowest - highest + 1.0) * PITCH + 6.0);
            names.draw(&mut canvas, index, bottom, height);
            rows.push((task, markers, bottom + height / 2.0 - f64::midpoint(highest, lowest) * PITCH));
            bottom += height;
        }
        axis.draw(&mut canvas, top, bottom.max(top + ROW), &self.axis);
        for (task, markers, line) in rows {
            draw_row(&mut canvas, models, task, &markers, line);
        }
        frame::finish(canvas, &self.title, self.notes(models.len()), bottom.max(top + ROW) + axis::HEIGHT)
    }

    fn notes(&self, shown: usize) -> Vec<String> {
        let is_missing = |task: &TaskValues| finite(task, shown).count() < shown;
        let missing = self.tasks.iter().any(is_missing);
        let missing = missing.then(|| "No marker: the model has no value for this type of task.".to_owned());
        let left_out = self.models.len() - shown;
        let left_out =
            (left_out > 0).then(|| format!("The first {shown} models are shown, {left_out} are left out."));
        let count = frame::count_note(self.tasks.len(), "types of task");
        [missing, left_out, count].into_iter().flatten().collect()
    }
}

/// The values that can be drawn, with the models they belong to.
fn finite(task: &TaskValues, models: usize) -> impl Iterator<Item = (usize, f64)> {
    let values = task.values.iter().take(models).enumerate();
    values.filter_map(|(model, value)| value.filter(|value| value.is_finite()).map(|value| (model, value)))
}

/// Finds a place for each marker: on the middle line if that is free, else on the nearest free line.
fn place_markers(task: &TaskValues, models: usize, axis: &Axis) -> Vec<Marker> {
    let mut markers: Vec<Marker> = finite(task, models)
        .map(|(model, value)| Marker { model, value, x: axis.x(value), lane: 0.0 })
        .collect();
    markers.sort_by(|a, b| a.x.total_cmp(&b.x));
    let mut ends = [f64::NEG_INFINITY; MAX_LANES];
    for marker in &mut markers {
        let free = ends.iter().position(|end| marker.x - end >= PITCH);
        let lane = free.unwrap_or(marker.model % MAX_LANES);
        if let Some(end) = ends.get_mut(lane) {
            *end = marker.x;
        }
        // The lines are 0, -1, 1, -2, 2 and so on.
        let distance = lane.div_ceil(2) as f64;
        marker.lane = if lane % 2 == 1 { -distance } else { distance };
    }
    markers
}

fn draw_row(canvas: &mut Canvas, models: &[String], task: &TaskValues, markers: &[Marker], line: f64) {
    if let (Some(first), Some(last)) = (markers.first(), markers.last()) {
        canvas.line((first.x, line), (last.x, line), "#999", 1.0);
    }
    for marker in markers {
        let model = models.get(marker.model).map_or("", String::as_str);
        let value = text::value(marker.value);
        let description = format!("{}, {}: {value}", text::brief(model), text::brief(&task.name));
        canvas.described(&description, |canvas| {
            marks::marker(canvas, marker.model, (marker.x, line + marker.lane * PITCH));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Unit;

    #[test]
    fn markers_of_equal_values_lie_beside_each_other() {
        let axis = Axis::whole(0.0, 1_000.0, Unit::Fraction);
        let values = [Some(0.5), None, Some(0.5), Some(f64::NAN), Some(0.505), Some(0.52)].to_vec();
        let task = TaskValues { name: String::new(), values };
        let lanes: Vec<(usize, f64)> =
            place_markers(&task, 6, &axis).iter().map(|m| (m.model, m.lane)).collect();
        assert_eq!(lanes, [(0, 0.0), (2, -1.0), (4, 1.0), (5, 0.0)]);
    }
}
