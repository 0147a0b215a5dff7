//! What is done to a picture: a tool, its arguments, and the words that ask for it.

use serde_json::{Value, json};

use super::super::plan::{Argument, whole};
use super::super::random::Random;

/// A change of a picture.
pub(super) struct Edit {
    pub(super) tool: &'static str,
    pub(super) arguments: Vec<(String, Argument)>,
    /// The words of a question, such as `turn it`.
    pub(super) words: String,
    /// For names of files, such as `turned`.
    pub(super) suffix: &'static str,
    /// Width and height afterwards.
    pub(super) size: (i64, i64),
}

/// Colours in words and as [blue, green, red].
const COLORS: [(&str, [i64; 3]); 4] =
    [("red", [0, 0, 255]), ("green", [0, 160, 0]), ("blue", [255, 0, 0]), ("orange", [0, 140, 255])];

/// Makes an edit of a picture of this size.
type Maker = fn(&mut Random, (i64, i64)) -> Edit;

/// Any edit of a picture of this size.
pub(super) fn edit(random: &mut Random, size: (i64, i64)) -> Edit {
    let makers: [Maker; 8] = [turn, scale, recolor, blur, frame, circle, arrow, label];
    // Turns, sizes and colours are what most workflows on pictures do.
    let chosen = *random.one(&[0, 0, 1, 1, 2, 3, 4, 5, 6, 7]);
    makers[chosen](random, size)
}

fn simple(name: &str, value: Value) -> Vec<(String, Argument)> {
    vec![(name.to_owned(), Argument::Value(value))]
}

fn turn(random: &mut Random, (width, height): (i64, i64)) -> Edit {
    let (angle, words) = *random.one(&[
        (90, "turn it a quarter to the left"),
        (-90, "turn it a quarter to the right"),
        (180, "turn it upside down"),
        (30, "turn it by 30 degrees to the left"),
    ]);
    let size = if angle == 180 { (width, height) } else { (height, width) };
    Edit {
        tool: "image/rotate",
        arguments: simple("angle", json!(angle)),
        words: words.to_owned(),
        suffix: "turned",
        size,
    }
}

fn scale(random: &mut Random, (width, height): (i64, i64)) -> Edit {
    let largest = width.max(height);
    let factors: &[f64] = if largest > 600 { &[0.5, 0.4] } else { &[0.5, 2.0, 1.5] };
    let factor = *random.one(factors);
    let scaled = |side: i64| whole((side as f64 * factor + 1e-6).floor()).as_i64().unwrap();
    Edit {
        tool: "image/resize",
        arguments: simple("scale_factor", json!(factor)),
        words: format!("make it {factor} times as large"),
        suffix: "scaled",
        size: (scaled(width), scaled(height)),
    }
}

fn recolor(random: &mut Random, size: (i64, i64)) -> Edit {
    let (palette, words, suffix) = *random
        .one(&[("grayscale", "make it gray", "gray"), ("sepia", "give it old brown colours", "sepia")]);
    let arguments = simple("palette", json!(palette));
    Edit { tool: "image/change_color", arguments, words: words.to_owned(), suffix, size }
}

/// A rectangle within a picture, with a part of its sides between the picture's edges and its own.
fn inner(random: &mut Random, (width, height): (i64, i64)) -> [i64; 4] {
    let (x1, y1) = (width * random.within(5, 30) / 100, height * random.within(5, 30) / 100);
    let (x2, y2) = (width * random.within(50, 90) / 100, height * random.within(50, 90) / 100);
    [x1, y1, x2, y2]
}

fn blur(random: &mut Random, size: (i64, i64)) -> Edit {
    let [x1, y1, x2, y2] = inner(random, size);
    let strength = *random.one(&[15, 31, 51]);
    let mut areas = vec![json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "blur_strength": strength})];
    if random.chance(0.3) {
        areas.push(json!({"x1": 0, "y1": 0, "x2": x1 / 2, "y2": y1 / 2, "blur_strength": strength}));
    }
    Edit {
        tool: "image/blur",
        arguments: simple("areas", json!(areas)),
        words: "blur what matters in it".to_owned(),
        suffix: "blurred",
        size,
    }
}

fn frame(random: &mut Random, size: (i64, i64)) -> Edit {
    let [x1, y1, x2, y2] = inner(random, size);
    let (color, color_value) = *random.one(&COLORS);
    let thickness = random.within(3, 6);
    let mut rectangles =
        vec![json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2, "color": color_value, "thickness": thickness})];
    if random.chance(0.4) {
        let (right, bottom) = (size.0 - 2, size.1 - 2);
        rectangles
            .push(json!({"x1": right - 16, "y1": bottom - 16, "x2": right, "y2": bottom, "filled": true}));
    }
    Edit {
        tool: "image/draw_rectangles",
        arguments: simple("rectangles", json!(rectangles)),
        words: format!("frame its middle in {color}"),
        suffix: "framed",
        size,
    }
}

fn circle(random: &mut Random, size: (i64, i64)) -> Edit {
    let (color, color_value) = *random.one(&COLORS);
    let radius = size.0.min(size.1) * random.within(20, 40) / 100;
    let circle = json!({"center_x": size.0 / 2, "center_y": size.1 / 2, "radius": radius, "color": color_value,
        "thickness": random.within(4, 6) + size.0.max(size.1) / 150});
    Edit {
        tool: "image/draw_circles",
        arguments: simple("circles", json!([circle])),
        words: format!("draw a {color} ring in its middle"),
        suffix: "ringed",
        size,
    }
}

fn arrow(random: &mut Random, size: (i64, i64)) -> Edit {
    let (color, color_value) = *random.one(&COLORS);
    let arrow = json!({"x1": size.0 / 10, "y1": size.1 / 10, "x2": size.0 / 2, "y2": size.1 / 2,
        "color": color_value, "thickness": random.within(4, 6) + size.0.max(size.1) / 60});
    Edit {
        tool: "image/draw_arrows",
        arguments: simple("arrows", json!([arrow])),
        words: format!("point at its middle with a {color} arrow from the upper left"),
        suffix: "pointed",
        size,
    }
}

fn label(random: &mut Random, size: (i64, i64)) -> Edit {
    let text = *random.one(&["CHECKED", "DRAFT", "No. 7", "COPY"]);
    let label = json!({"text": text, "x": 6, "y": size.1 / 2, "font_scale": size.0 as f64 / 160.0, "color": [0, 0, 255],
        "thickness": 3});
    Edit {
        tool: "image/draw_texts",
        arguments: simple("texts", json!([label])),
        words: format!("write {text} on it in red"),
        suffix: "labelled",
        size,
    }
}
