//! Tests of writing on pictures.

use image::Rgba;
use serde_json::{Value, json};

use super::{Desk, WHITE};

/// The first and last column and the first and last row that are not white; and how dark the whole image is.
#[expect(clippy::needless_pass_by_value, reason = "arguments are written where the call is")]
fn ink(arguments: Value) -> (Option<[u32; 4]>, u64) {
    let image = Desk::white(200, 80).picture("draw_texts", json!({"texts": [arguments]}));
    let mut bounds: Option<[u32; 4]> = None;
    let mut dark = 0;
    for (x, y, pixel) in image.enumerate_pixels() {
        dark += u64::from(255 - pixel.0[1]);
        if *pixel != WHITE {
            let [left, right, top, bottom] = bounds.unwrap_or([x, x, y, y]);
            bounds = Some([left.min(x), right.max(x), top.min(y), bottom.max(y)]);
        }
    }
    (bounds, dark)
}

/// At scale 1 a capital is 21 pixels high and stands on the baseline. DejaVu Sans 2.37 by fontTools: H begins
/// 201 and ends 1339 of 2048 units right of the start; one em is 28.8 pixels.
#[test]
fn a_capital_is_21_pixels_high() {
    let (bounds, _) = ink(json!({"text": "H", "x": 50, "y": 60}));
    let [left, right, top, bottom] = bounds.unwrap();
    assert_eq!((top, bottom), (39, 59));
    assert!((52..=53).contains(&left) && (67..=69).contains(&right), "{left} {right}");
    let (bounds, _) = ink(json!({"text": "H", "x": 50, "y": 60, "font_scale": 2}));
    assert_eq!(bounds.unwrap()[2], 18);
}

#[test]
fn thick_letters_are_bolder() {
    let dark = |thickness: u32| ink(json!({"text": "Hazard", "x": 9, "y": 60, "thickness": thickness})).1;
    assert_eq!(dark(1), dark(2));
    assert!(dark(6) > dark(2) * 3 / 2, "{} {}", dark(2), dark(6));
    assert_eq!(dark(40), dark(3000), "but never without limit");
}

#[test]
fn each_line_has_its_own_baseline() {
    let rows = |text: &str| ink(json!({"text": text, "x": 9, "y": 30})).0.unwrap()[3];
    // The font's own line height: (1901 + 483) of 2048 units, 33.5 pixels.
    assert!((62..=64).contains(&rows("H\nH")), "{}", rows("H\nH"));
    assert_eq!(rows("H\r\nH"), rows("H\nH"));
    assert_eq!(rows("H\n"), rows("H"));
}

#[test]
fn characters_that_the_font_lacks_are_boxes() {
    let of = |text: &str| ink(json!({"text": text, "x": 9, "y": 60}));
    assert_eq!(of("漢"), of("\u{1f600}"));
    assert!(of("漢").0.is_some());
    assert_ne!(of("é"), of("漢"));
    assert_ne!(of("Ж"), of("漢"));
    assert_ne!(of("Ω"), of("漢"));
    assert_eq!(of(""), (None, 0));
    assert_eq!(of("   "), (None, 0));
}

#[test]
fn text_has_its_color() {
    let texts = json!([{"text": "l", "x": 5, "y": 60, "font_scale": 2, "color": [0, 0, 255]}]);
    let image = Desk::white(30, 70).picture("draw_texts", json!({"texts": texts}));
    assert!(image.pixels().any(|pixel| *pixel == Rgba([255, 0, 0, 255])));
}
