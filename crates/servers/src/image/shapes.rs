//! The tools that draw shapes: circles, rectangles, lines, arrows.

use image::RgbaImage;
use serde::Deserialize;

use super::Edit;
use super::arguments::{Color, Pixels, Thickness, few};
use super::canvas::Canvas;
use super::failure::Failure;
use super::spans::{Edges, Point, Shape};
use crate::Workspace;

/// Defines a tool that draws a list of items of one kind: its arguments, and how it draws them.
macro_rules! drawing {
    ($tool:ident, $list:ident: $item:ident) => {
        #[doc = concat!("Arguments of `draw_", stringify!($list), "`.")]
        #[derive(Debug, Deserialize)]
        pub(super) struct $tool {
            $list: Vec<$item>,
        }

        impl Edit for $tool {
            fn edit(&self, image: RgbaImage, _: &Workspace) -> Result<RgbaImage, Failure> {
                draw(stringify!($list), &self.$list, image, $item::draw)
            }
        }
    };
}

drawing!(DrawCircles, circles: Circle);
drawing!(DrawRectangles, rectangles: Rectangle);
drawing!(DrawLines, lines: Line);
drawing!(DrawArrows, arrows: Arrow);

#[derive(Debug, Deserialize)]
struct Circle {
    center_x: Pixels,
    center_y: Pixels,
    radius: Pixels,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    thickness: Thickness,
    #[serde(default)]
    filled: bool,
}

#[derive(Debug, Deserialize)]
struct Rectangle {
    #[serde(flatten)]
    ends: Ends,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    thickness: Thickness,
    #[serde(default)]
    filled: bool,
}

#[derive(Debug, Deserialize)]
struct Line {
    #[serde(flatten)]
    ends: Ends,
    #[serde(default)]
    color: Color,
    #[serde(default)]
    thickness: Thickness,
}

#[derive(Debug, Deserialize)]
struct Arrow {
    #[serde(flatten)]
    line: Line,
    #[serde(default = "tenth")]
    tip_length: f64,
}

/// Two points: opposite corners, or start and end.
#[derive(Debug, Clone, Copy, Deserialize)]
struct Ends {
    x1: Pixels,
    y1: Pixels,
    x2: Pixels,
    y2: Pixels,
}

const fn tenth() -> f64 {
    0.1
}

impl Ends {
    fn points(self) -> (Point, Point) {
        (Point { x: self.x1.0, y: self.y1.0 }, Point { x: self.x2.0, y: self.y2.0 })
    }
}

/// Draws all items in order. Each gets its place in the arguments, for messages.
fn draw<T>(
    list: &str,
    items: &[T],
    image: RgbaImage,
    one: impl Fn(&T, &str, &mut Canvas) -> Result<(), Failure>,
) -> Result<RgbaImage, Failure> {
    few(list, items)?;
    let mut canvas = Canvas::new(image);
    for (index, item) in items.iter().enumerate() {
        one(item, &format!("{list}[{index}]"), &mut canvas)?;
    }
    Ok(canvas.image)
}

impl Circle {
    fn draw(&self, place: &str, canvas: &mut Canvas) -> Result<(), Failure> {
        let (center, radius) = (Point { x: self.center_x.0, y: self.center_y.0 }, self.radius.0);
        if radius < 0.0 {
            let problem = "is negative; it must be 0 or more";
            return Err(Failure::argument(format!("{place}.radius"), problem));
        }
        let shape = match self.thickness.outline(self.filled, place)? {
            None => Shape::Disc { center, radius },
            Some(width) => Shape::Ring { center, inner: radius - width / 2.0, outer: radius + width / 2.0 },
        };
        canvas.fill(&shape, self.color.red_first(place)?)
    }
}

impl Rectangle {
    fn draw(&self, place: &str, canvas: &mut Canvas) -> Result<(), Failure> {
        let (a, b) = self.ends.points();
        let edges = Edges::between(a, b);
        let shape = match self.thickness.outline(self.filled, place)? {
            None => Shape::Rectangle(edges),
            // A line of odd width lies evenly on both sides of the edge; of one of even width, more lies outside.
            Some(width) => Shape::Frame {
                outer: edges.grown((width / 2.0).floor()),
                hole: edges.grown(-((width - 1.0) / 2.0).floor() - 1.0),
            },
        };
        canvas.fill(&shape, self.color.red_first(place)?)
    }
}

impl Line {
    fn draw(&self, place: &str, canvas: &mut Canvas) -> Result<(), Failure> {
        let (from, to) = self.ends.points();
        self.stroke(from, to, place, canvas)
    }

    fn stroke(&self, from: Point, to: Point, place: &str, canvas: &mut Canvas) -> Result<(), Failure> {
        let width = self.thickness.line(place)?;
        // A line of even width has no middle pixel; its middle is half a pixel up and left.
        let shift = if width % 2.0 == 0.0 { 0.5 } else { 0.0 };
        let moved = |point: Point| Point { x: point.x - shift, y: point.y - shift };
        let shape = Shape::Line { from: moved(from), to: moved(to), radius: width / 2.0 };
        canvas.fill(&shape, self.color.red_first(place)?)
    }
}

impl Arrow {
    /// Draws an arrow. Its tip is two lines back from the end, 45 degrees to both sides, as in OpenCV's
    /// `arrowedLine`.
    fn draw(&self, place: &str, canvas: &mut Canvas) -> Result<(), Failure> {
        if !(0.0..=1.0).contains(&self.tip_length) {
            return Err(Failure::argument(format!("{place}.tip_length"), "is not between 0 and 1"));
        }
        let (from, to) = self.line.ends.points();
        self.line.stroke(from, to, place, canvas)?;
        let (back_x, back_y) = ((from.x - to.x) * self.tip_length, (from.y - to.y) * self.tip_length);
        for side in [1.0, -1.0] {
            // Turned by 45 degrees: both coordinates by the root of one half.
            let x = (back_x - side * back_y) * std::f64::consts::FRAC_1_SQRT_2;
            let y = (side * back_x + back_y) * std::f64::consts::FRAC_1_SQRT_2;
            let end = Point { x: (to.x + x).round(), y: (to.y + y).round() };
            self.line.stroke(to, end, place, canvas)?;
        }
        Ok(())
    }
}
