//! Where codes are in an image: corners, boxes, and how far the bars of a code reach.

use image::{GrayImage, Luma};
use serde::Serialize;

/// A place in pixels; the center of the top left pixel is (0.5, 0.5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Place {
    /// The place at this distance along a direction.
    fn toward(self, direction: Self, distance: f32) -> Self {
        Self { x: self.x + direction.x * distance, y: self.y + direction.y * distance }
    }
}

/// The corners of a code, one after the other around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Corners(pub(super) [Place; 4]);

/// The pixels around a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) struct Rect {
    pub(super) x: u32,
    pub(super) y: u32,
    pub(super) width: u32,
    pub(super) height: u32,
}

impl Rect {
    /// Whether both share a pixel, or are closer than a tenth of their sides.
    pub(super) fn touches(self, other: Self) -> bool {
        let share = |a: u32, a_length: u32, b: u32, b_length: u32| {
            let near = a_length.max(b_length) / 10;
            a <= b + b_length + near && b <= a + a_length + near
        };
        share(self.x, self.width, other.x, other.width) && share(self.y, self.height, other.y, other.height)
    }

    /// The smallest box around both.
    pub(super) fn with(self, other: Self) -> Self {
        let (x, y) = (self.x.min(other.x), self.y.min(other.y));
        let right = (self.x + self.width).max(other.x + other.width);
        let bottom = (self.y + self.height).max(other.y + other.height);
        Self { x, y, width: right - x, height: bottom - y }
    }
}

impl Corners {
    /// Sorts four places, given in any order, around their center.
    pub(super) fn around(mut places: [Place; 4]) -> Self {
        let x = places.iter().map(|place| place.x).sum::<f32>() / 4.0;
        let y = places.iter().map(|place| place.y).sum::<f32>() / 4.0;
        let angle = |place: &Place| (place.y - y).atan2(place.x - x);
        places.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
        Self(places)
    }

    pub(super) fn map(self, to: impl Fn(Place) -> Place) -> Self {
        Self(self.0.map(to))
    }

    /// The smallest upright box around the code, cut to the image.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "cut to the image before")]
    pub(super) fn rect(self, (width, height): (u32, u32)) -> Rect {
        let bounds = |of: fn(&Place) -> f32, most: u32| {
            let values = self.0.iter().map(of);
            let low = values.clone().fold(f32::INFINITY, f32::min).floor().clamp(0.0, most as f32);
            let high = values.fold(f32::NEG_INFINITY, f32::max).ceil().clamp(0.0, most as f32);
            (low as u32, (high - low) as u32)
        };
        let (x, width) = bounds(|place| place.x, width);
        let (y, height) = bounds(|place| place.y, height);
        Rect { x, y, width, height }
    }

    /// Paints the code white, so that it is not found again.
    pub(super) fn erase(self, image: &mut GrayImage) {
        let Rect { x, y, width, height } = self.rect(image.dimensions());
        for row in y..y + height {
            for column in x..x + width {
                if self.contains(Place { x: column as f32 + 0.5, y: row as f32 + 0.5 }) {
                    image.put_pixel(column, row, Luma([u8::MAX]));
                }
            }
        }
    }

    /// Whether a place is on the same side of all four edges, or on one.
    fn contains(self, place: Place) -> bool {
        let mut sides = [false; 2];
        for (index, from) in self.0.iter().enumerate() {
            let to = self.0[(index + 1) % 4];
            let cross = (to.x - from.x) * (place.y - from.y) - (to.y - from.y) * (place.x - from.x);
            if cross != 0.0 {
                sides[usize::from(cross > 0.0)] = true;
            }
        }
        sides != [true, true]
    }
}

/// The share of equally dark pixels from which on a neighbouring row belongs to the same code. Half a pixel beside
/// bars of two pixels, a quarter of them differs; in something that is not a bar, half of them differs.
const ALIKE: f32 = 0.75;

/// More modules of white than this end a code: its own bars are at most four modules apart, and the quiet zone has at
/// least seven (ISO/IEC 15417 and 15420).
const QUIET_MODULES: f32 = 5.0;

/// The lines across a code of bars that rxing gives end in the middle of its first and its last character, of at most
/// 13 modules. Bars farther outside mean that the code found is only a part of a longer one.
const MOST_MODULES_OUTSIDE: f32 = 8.0;

/// Bars that lean more than this, in columns per row, are read again in a turned image.
const MOST_LEAN: f32 = 0.3;

/// The bars that a line crosses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bars {
    /// The corners of the whole code.
    pub(super) corners: Corners,
    /// The height in pixels, along the bars.
    pub(super) height: f32,
    /// The height divided by the length of the line.
    pub(super) ratio: f32,
    /// Whether the bars are upright and end roughly where the line does.
    pub(super) is_whole: bool,
}

/// The whole of a code of bars from one line across it, which ends somewhere within its first and last bars. `None` for
/// a line without bars.
pub(super) fn bars(image: &GrayImage, start: Place, end: Place) -> Option<Bars> {
    let length = (end.x - start.x).hypot(end.y - start.y);
    if length < 1.0 || length.is_nan() {
        return None;
    }
    let along = Place { x: (end.x - start.x) / length, y: (end.y - start.y) / length };
    let across = Place { x: -along.y, y: along.x };
    let line = Line { image, start, along, length };
    let pattern = line.dark_beside(across, 0.0, 0.0);
    let module = narrowest(&pattern)?;
    let (before, after) = (line.reach(-1.0, module), line.reach(1.0, module));
    let (up, up_shift) = line.extent(&pattern, across, -1.0);
    let (down, down_shift) = line.extent(&pattern, across, 1.0);
    let corner =
        |rows: f32, shift: f32, columns: f32| start.toward(across, rows).toward(along, shift + columns);
    let corners = Corners([
        corner(-up, up_shift, -before),
        corner(-up, up_shift, length + after),
        corner(down, down_shift, length + after),
        corner(down, down_shift, -before),
    ]);
    let height = up + down + 1.0;
    let lean = (up_shift - down_shift).abs() / height;
    let is_whole = lean <= MOST_LEAN && before.max(after) <= MOST_MODULES_OUTSIDE * module;
    Some(Bars { corners, height, ratio: height / length, is_whole })
}

/// A line across the bars.
struct Line<'a> {
    image: &'a GrayImage,
    start: Place,
    along: Place,
    length: f32,
}

impl Line<'_> {
    fn luma(&self, place: Place) -> Option<u8> {
        let inside = |value: f32, most: u32| (value >= 0.0 && value < most as f32).then_some(value);
        let x = inside(place.x, self.image.width())?;
        let y = inside(place.y, self.image.height())?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "inside of the image")]
        let pixel = self.image.get_pixel(x as u32, y as u32);
        Some(pixel.0[0])
    }

    /// The pixels of the line, or of the one `rows` beside it, moved by `shift` along it: whether each is darker than
    /// the mean of the line's darkest and lightest pixel. Empty if that line leaves the image.
    fn dark_beside(&self, across: Place, rows: f32, shift: f32) -> Vec<bool> {
        let start = self.start.toward(across, rows).toward(self.along, shift);
        let mut values = Vec::new();
        let mut step = 0.0;
        while step <= self.length {
            let Some(value) = self.luma(start.toward(self.along, step)) else { return Vec::new() };
            values.push(value);
            step += 1.0;
        }
        let (low, high) = values.iter().fold((u8::MAX, 0), |(low, high), &v| (v.min(low), v.max(high)));
        let middle = u8::midpoint(low, high);
        values.into_iter().map(|value| value < middle).collect()
    }

    /// How far the bars continue beyond an end of the line.
    fn reach(&self, sign: f32, module: f32) -> f32 {
        let end = if sign > 0.0 { self.start.toward(self.along, self.length) } else { self.start };
        let (mut last, mut step) = (0.0, 1.0);
        while step - last <= QUIET_MODULES * module {
            match self.luma(end.toward(self.along, sign * step)) {
                Some(value) if value < 128 => last = step,
                Some(_) => {}
                None => break,
            }
            step += 1.0;
        }
        last
    }

    /// How many rows on one side look like this one, and how far the bars have moved along the line by then: they
    /// lean if the code is not upright.
    fn extent(&self, pattern: &[bool], across: Place, sign: f32) -> (f32, f32) {
        let (mut rows, mut shift) = (0.0, 0.0);
        loop {
            let next = rows + 1.0;
            let candidates = [shift, shift - 1.0, shift + 1.0];
            let likeness =
                candidates.map(|shift| alike(pattern, &self.dark_beside(across, sign * next, shift)));
            let best = likeness.into_iter().fold(0.0, f32::max);
            if best < ALIKE {
                return (rows, shift);
            }
            // The first of those that are equally alike.
            let at = likeness.iter().position(|likeness| *likeness >= best).unwrap_or_default();
            (rows, shift) = (next, candidates[at]);
        }
    }
}

fn alike(pattern: &[bool], other: &[bool]) -> f32 {
    if other.len() != pattern.len() {
        return 0.0;
    }
    pattern.iter().zip(other).filter(|(a, b)| a == b).count() as f32 / pattern.len() as f32
}

/// The length of the shortest runs, which are one module wide. The shortest quarter of all runs is skipped, because
/// it may be noise; in every code at least a third of the runs is one module wide.
fn narrowest(pattern: &[bool]) -> Option<f32> {
    let mut runs: Vec<usize> = pattern.chunk_by(|a, b| a == b).map(<[bool]>::len).collect();
    runs.sort_unstable();
    runs.get(runs.len() / 4).map(|&run| run as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_cut_to_the_image() {
        let place = |x, y| Place { x, y };
        let corners = Corners([place(-3.0, 2.2), place(9.5, 2.0), place(9.0, 7.1), place(-2.0, 7.0)]);
        assert_eq!(corners.rect((8, 20)), Rect { x: 0, y: 2, width: 8, height: 6 });
    }

    #[test]
    fn only_the_inside_is_erased() {
        let place = |x, y| Place { x, y };
        let mut image = GrayImage::new(10, 10);
        // A square on its tip.
        Corners([place(5.0, 1.0), place(9.0, 5.0), place(5.0, 9.0), place(1.0, 5.0)]).erase(&mut image);
        assert_eq!(image.get_pixel(5, 5).0, [255]);
        assert_eq!(image.get_pixel(1, 1).0, [0]);
        assert_eq!(image.get_pixel(8, 8).0, [0]);
        // If all corners are the same place, there is nothing to erase and nothing may fail.
        Corners([place(3.0, 3.0); 4]).erase(&mut image);
        assert_eq!(image.get_pixel(2, 2).0, [0]);
    }

    #[test]
    fn bars_are_followed_to_their_ends() {
        // Bars of two pixels from column 20 to 61 and row 10 to 29.
        let mut image = GrayImage::from_pixel(100, 50, Luma([255]));
        for row in 10..30 {
            for column in (20..62).filter(|column| column % 4 < 2) {
                image.put_pixel(column, row, Luma([0]));
            }
        }
        let line = |row| (Place { x: 24.5, y: row }, Place { x: 57.5, y: row });
        let (start, end) = line(15.5);
        let shape = bars(&image, start, end).unwrap();
        let rect = shape.corners.rect(image.dimensions());
        assert!(shape.is_whole);
        assert!(rect.x.abs_diff(20) <= 1 && (rect.x + rect.width).abs_diff(62) <= 1, "{rect:?}");
        assert!(rect.y.abs_diff(10) <= 1 && (rect.y + rect.height).abs_diff(30) <= 1, "{rect:?}");
        assert!((shape.height - 20.0).abs() <= 1.0, "{shape:?}");
        // Half of the bars count as part of a longer code.
        assert!(!bars(&image, start, Place { x: 37.5, ..end }).unwrap().is_whole);
        assert_eq!(bars(&image, start, start), None);
        assert_eq!(bars(&image, start, Place { x: f32::NAN, ..end }), None);
    }
}
