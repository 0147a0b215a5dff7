//! Writes SVG. Text is escaped here and nowhere else; coordinates that are not numbers become 0.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Write};

use super::palette::{INK, category, pattern_definitions, pattern_id};
use super::text::FAMILY;

/// Width of every picture.
pub(super) const WIDTH: f64 = 800.0;

/// Where a text lies relative to its x.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    /// The text begins there.
    Start,
    /// The text is centred there.
    Middle,
    /// The text ends there.
    End,
}

/// A rectangle from its upper left corner.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rectangle {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// A picture that grows element by element; later ones cover earlier ones.
#[derive(Debug, Default)]
pub(super) struct Canvas {
    body: String,
    /// Categories whose pattern is used.
    patterned: BTreeSet<usize>,
}

impl Canvas {
    /// A filled rectangle; `fill` is a colour.
    pub(super) fn rectangle(&mut self, r: Rectangle, fill: &str) {
        self.element(format_args!("<rect {} fill=\"{fill}\"/>", RectangleAttributes(r)));
    }

    /// A filled rectangle with a thin outline and the pattern of category `index` over it.
    pub(super) fn patterned(&mut self, r: Rectangle, index: usize) {
        let category = category(index);
        let fill = category.colour;
        self.element(format_args!(
            "<rect {} fill=\"{fill}\" stroke=\"#444\" stroke-width=\"0.5\"/>",
            RectangleAttributes(r)
        ));
        if !category.pattern.is_empty() {
            self.patterned.insert(index);
            let id = pattern_id(index);
            self.element(format_args!("<rect {} fill=\"url(#{id})\"/>", RectangleAttributes(r)));
        }
    }

    /// A line between two points.
    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), stroke: &str, stroke_width: f64) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Number);
        let width = Number(stroke_width);
        self.element(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{stroke}\" stroke-width=\"{width}\"/>"
        ));
    }

    /// A dashed dark line with a white edge, which shows over bars as well.
    pub(super) fn dashed(&mut self, from: (f64, f64), to: (f64, f64)) {
        self.line(from, to, "#fff", 4.0);
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Number);
        self.element(format_args!(
            "<line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"#000\" stroke-width=\"1.5\" stroke-dasharray=\"6 3\"/>"
        ));
    }

    /// A closed outline through `points`, filled and with a dark edge.
    pub(super) fn outline(&mut self, points: &[(f64, f64)], fill: &str) {
        let points: Vec<String> =
            points.iter().map(|&(x, y)| format!("{},{}", Number(x), Number(y))).collect();
        let points = points.join(" ");
        self.element(format_args!("<polygon points=\"{points}\" fill=\"{fill}\" {EDGE}/>"));
    }

    /// A disc with a dark edge.
    pub(super) fn disc(&mut self, centre: (f64, f64), radius: f64, fill: &str) {
        let [x, y, r] = [centre.0, centre.1, radius].map(Number);
        self.element(format_args!("<circle cx=\"{x}\" cy=\"{y}\" r=\"{r}\" fill=\"{fill}\" {EDGE}/>"));
    }

    /// A line of dark text on the baseline y, of a font size in units of the picture.
    pub(super) fn text(&mut self, place: (f64, f64), size: f64, anchor: Anchor, content: &str) {
        self.coloured_text(place, size, anchor, INK, content);
    }

    /// A line of text in a colour, otherwise as by [`Self::text`].
    pub(super) fn coloured_text(
        &mut self,
        (x, y): (f64, f64),
        size: f64,
        anchor: Anchor,
        colour: &str,
        content: &str,
    ) {
        let [x, y, size] = [x, y, size].map(Number);
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let content = EscapedText(content);
        self.element(format_args!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\"{anchor} fill=\"{colour}\">{content}</text>"
        ));
    }

    /// Draws with `draw`, in a group with a description that viewers show under the pointer.
    pub(super) fn described(&mut self, description: &str, draw: impl FnOnce(&mut Self)) {
        self.element(format_args!("<g><title>{}</title>", EscapedText(description)));
        draw(self);
        self.element(format_args!("</g>"));
    }

    /// The whole file, as high as `height`.
    pub(super) fn finish(self, title: &str, height: f64) -> String {
        let [width, height] = [WIDTH, height].map(Number);
        let title = EscapedText(title);
        let definitions = pattern_definitions(&self.patterned);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FAMILY}, sans-serif\">\n\
             <title>{title}</title>\n{definitions}\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n{}</svg>\n",
            self.body
        )
    }

    fn element(&mut self, element: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "{element}");
    }
}

/// The edge of markers: it keeps light colours apart from the paper.
const EDGE: &str = "stroke=\"#222\" stroke-width=\"0.8\" stroke-linejoin=\"round\"";

/// A coordinate with at most two decimals.
struct Number(f64);

impl Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let finite = if self.0.is_finite() { self.0 } else { 0.0 };
        let text = format!("{finite:.2}");
        f.write_str(text.trim_end_matches('0').trim_end_matches('.'))
    }
}

/// The attributes of a rectangle; a negative extent would be an error in SVG.
struct RectangleAttributes(Rectangle);

impl Display for RectangleAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rectangle { x, y, width, height } = self.0;
        let [x, y, width, height] = [x, y, width.max(0.0), height.max(0.0)].map(Number);
        write!(f, "x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"")
    }
}

/// Text as XML: markup escaped, characters that XML forbids replaced.
struct EscapedText<'a>(&'a str);

impl Display for EscapedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\t' | '\n' => f.write_char(' ')?,
                '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                    f.write_char('\u{fffd}')?;
                }
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let escaped = EscapedText("<a b='\"'>&\u{1}\u{ffff}").to_string();
        assert_eq!(escaped, "&lt;a b=&#39;&quot;&#39;&gt;&amp;\u{fffd}\u{fffd}");
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let numbers = [1.0, 0.125, 100.0, f64::NAN, f64::NEG_INFINITY].map(|x| Number(x).to_string());
        assert_eq!(numbers, ["1", "0.12", "100", "0", "0"]);
    }
}
