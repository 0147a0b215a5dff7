//! Widths of text in the shipped font, and names made safe and short enough for their place.
//!
//! The font has neither kerning nor ligatures, so a width is a sum of advances. Viewers without DejaVu Sans
//! fall back to another font; nearly all are narrower, so what fits here fits there.

use std::sync::LazyLock;

use m3_images::font::FONT;
use m3_support::text::push_visible;
use skrifa::charmap::Charmap;
use skrifa::instance::{LocationRef, Size};
use skrifa::metrics::GlyphMetrics;
use skrifa::{FontRef, MetadataProvider as _};

/// The family of [`FONT`].
pub(super) const FAMILY: &str = "DejaVu Sans";

/// The most bytes of a name that are looked at, half from each end; no column shows as many characters.
const LONGEST: usize = 1_000;

/// The most combining marks kept on one character; more would grow over the lines above and below.
const MARKS: usize = 2;

static WIDTHS: LazyLock<Option<Widths>> = LazyLock::new(|| {
    let font = FontRef::new(FONT).ok()?;
    let metrics = font.glyph_metrics(Size::new(1.0), LocationRef::default());
    Some(Widths { charmap: font.charmap(), metrics })
});

struct Widths {
    charmap: Charmap<'static>,
    metrics: GlyphMetrics<'static>,
}

/// The advance of `c` in em. A character that the font lacks comes from some other font: one em is the width
/// of Chinese characters, and emoji are a little wider.
fn advance(c: char) -> f64 {
    let known = WIDTHS.as_ref().and_then(|widths| widths.metrics.advance_width(widths.charmap.map(c)?));
    known.map_or(if c < '\u{1f000}' { 1.0 } else { 1.4 }, f64::from)
}

/// The width of `text` at `size`, both in units of the picture.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(advance).sum::<f64>() * size
}

/// `text` made visible, and if it is wider than `limit` at `size`, with an ellipsis in place of its middle:
/// the names of two models often differ only at the end.
pub(super) fn fitted(text: &str, size: f64, limit: f64) -> String {
    let text = visible(text);
    if width(&text, size) <= limit {
        return text;
    }
    let room = (limit - width("…", size)).max(0.0);
    let head_bytes = bytes_within(text.chars(), size, room * 0.6);
    let (head, rest) = text.split_at(head_bytes);
    let tail_bytes = bytes_within(rest.chars().rev(), size, room - width(head, size));
    let tail = rest.get(rest.len() - tail_bytes..).unwrap_or_default();
    format!("{head}…{}", tail.trim_start_matches(is_mark))
}

/// `text` made visible and short enough for a description, about 60 capitals.
pub(super) fn brief(text: &str) -> String {
    fitted(text, 1.0, 45.0)
}

/// The bytes of the first characters that fit into `room`.
fn bytes_within(text: impl Iterator<Item = char>, size: f64, room: f64) -> usize {
    let mut total = 0.0;
    text.take_while(|&c| {
        total += advance(c) * size;
        total <= room
    })
    .map(char::len_utf8)
    .sum()
}

/// Replaces characters that would act on the text instead of being part of it: control characters, marks of direction,
/// characters of no width and those that XML cannot express. Of a very long text only the ends are kept.
pub(super) fn visible(text: &str) -> String {
    let (head, tail) = if text.len() <= LONGEST {
        (text, "")
    } else {
        let tail_start = text.ceil_char_boundary(text.len() - LONGEST / 2);
        (
            text.get(..text.floor_char_boundary(LONGEST / 2)).unwrap_or_default(),
            text.get(tail_start..).unwrap_or_default(),
        )
    };
    let mut out = String::with_capacity(head.len());
    let mut marks = 0;
    let gap = if tail.is_empty() { "" } else { "…" };
    for c in head.chars().chain(gap.chars()).chain(tail.chars()) {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MARKS {
            continue;
        }
        push_visible(&mut out, c);
    }
    out
}

/// Marks that stack on the character before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}')
}

/// A value as pictures print it; `no value` if it is not finite.
pub(super) fn value(value: f64) -> String {
    match value {
        v if !v.is_finite() => "no value".to_owned(),
        v if v.abs() < 1_000.0 => format!("{v:.3}"),
        v => format!("{v:.1e}"),
    }
}

/// A whole number with commas between its thousands.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_those_of_the_font() {
        // DejaVu Sans 2.37 by fontTools, units per em 2048: H 1540, i 569, … 2048.
        assert!((width("Hi…", 10.0) - (1540.0 + 569.0 + 2048.0) / 2048.0 * 10.0).abs() < 1e-4);
        assert!((width("漢", 10.0) - 10.0).abs() < 1e-9, "not in the font");
    }

    #[test]
    fn long_names_lose_their_middle() {
        let name = "Llama-4-Scout-17B16E-Instruct-2025-04";
        let short = fitted(name, 12.0, 150.0);
        assert_eq!(short, "Llama-4-Scou…-2025-04");
        assert!(width(&short, 12.0) <= 150.0);
        assert_eq!(fitted(name, 12.0, 1_000.0), name);
        assert_eq!(fitted(name, 12.0, 0.0), "…");
    }

    #[test]
    fn what_acts_on_text_is_shown() {
        assert_eq!(visible("a\u{202e}b\n\u{0}\u{ffff}"), "a\\u{202e}b\\n\\u{0}\\u{ffff}");
        assert_eq!(visible(&format!("e{}x", "\u{301}".repeat(50))), "e\u{301}\u{301}x");
        assert!(visible(&"é".repeat(5_000_000)).len() <= LONGEST + "…".len());
    }

    #[test]
    fn numbers_of_any_size_are_short() {
        assert_eq!([value(0.4816), value(f64::NAN), value(-1e300)], ["0.482", "no value", "-1.0e300"]);
        assert_eq!([thousands(0), thousands(999), thousands(1_234_567)], ["0", "999", "1,234,567"]);
    }
}
