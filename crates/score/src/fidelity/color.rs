//! Colours, in any writing of CSS, as digits, and as lists and objects of channels.

use std::str::FromStr;

use m3_trajectory::json::Json;

use super::constants::{NOTHING, SAME_OTHERWISE};
use super::name::Name;
use super::{Finding, Kind, number};

/// Longer texts are none.
const LONGEST: usize = 48;

/// Channels of colours that people do not tell apart, of 255.
const UNSEEN: u8 = 2;

/// Red, green, blue and opacity, each to 255.
type Channels = [u8; 4];

/// Compares two texts if both are colours. Words alone are colours only where the argument's name says so.
pub(super) fn compare(name: &Name, a: &str, b: &str) -> Option<Finding> {
    let is_written = |text: &str| text.starts_with('#') || text.starts_with("rgb") || text.starts_with("hsl");
    if !name.is_color() && !is_written(a.trim()) && !is_written(b.trim()) {
        return None;
    }
    Some(channels(read(a)?, read(b)?))
}

/// Compares two values of different shapes, a text and a list or object of channels.
pub(super) fn shapes(name: &Name, a: &Json, b: &Json) -> Option<Finding> {
    if !name.is_color() {
        return None;
    }
    Some(channels(of(a)?, of(b)?))
}

fn channels(a: Channels, b: Channels) -> Finding {
    let apart = a.iter().zip(b).map(|(x, y)| x.abs_diff(y)).max().unwrap_or_default();
    let (score, reason) = match apart {
        0 => (SAME_OTHERWISE, "the same colour"),
        1..=UNSEEN => (0.85, "nearly the same colour"),
        _ => (NOTHING, "another colour"),
    };
    Finding::new(Kind::Choice, score, reason)
}

fn read(text: &str) -> Option<Channels> {
    if text.len() > LONGEST || !text.is_ascii() {
        return None;
    }
    let text = text.trim().to_ascii_lowercase();
    let is_hex = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let digits = text.strip_prefix("0x").unwrap_or(&text);
    let written = if is_hex(digits) && matches!(digits.len(), 3 | 6 | 8) && !text.is_empty() {
        format!("#{digits}")
    } else if text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '(' | '[')) {
        format!("rgb({})", text.trim_matches(['(', ')', '[', ']']))
    } else if text.starts_with(['#', 'r', 'h']) && text.contains(['#', '(']) {
        text
    } else {
        text.chars().filter(|c| !matches!(c, ' ' | '-' | '_')).collect()
    };
    let color = svgtypes::Color::from_str(&written).ok()?;
    Some([color.red, color.green, color.blue, color.alpha])
}

fn of(value: &Json) -> Option<Channels> {
    let parts: Vec<f64> = match value {
        Json::String(text) => return read(text),
        Json::Array(items) if (3..=4).contains(&items.len()) => items.iter().map_while(number::of).collect(),
        Json::Object(members) if (3..=4).contains(&members.len()) => {
            let of = |names: [&str; 2]| {
                let found = members.iter().find(|(key, _)| names.contains(&key.to_lowercase().as_str()))?;
                number::of(&found.1)
            };
            let mut parts = vec![of(["r", "red"])?, of(["g", "green"])?, of(["b", "blue"])?];
            parts.extend(of(["a", "alpha"]));
            parts
        }
        _ => return None,
    };
    let [red, green, blue, ref alpha @ ..] = parts[..] else { return None };
    // Channels are counted to 255 or to 1; opacity to 1 mostly.
    let is_share = [red, green, blue].iter().all(|part| *part <= 1.0)
        && (red.fract() != 0.0 || green.fract() != 0.0 || blue.fract() != 0.0);
    let scale = if is_share { 255.0 } else { 1.0 };
    let opacity = alpha.first().map_or(255.0, |part| if *part <= 1.0 { part * 255.0 } else { *part });
    let channel = |part: f64| -> Option<u8> {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "its range is looked at")]
        (0.0..=255.0).contains(&part).then(|| part.round() as u8)
    };
    Some([channel(red * scale)?, channel(green * scale)?, channel(blue * scale)?, channel(opacity)?])
}
