//! Colours, and the patterns of stacked bars. Neighbours differ in both, so that neither colour-blind readers nor grey
//! printers lose one.
//!
//! The colours are those of Okabe and Ito, "Color Universal Design" (2008), <https://jfly.uni-koeln.de/color/>.

use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(super) const BLACK: &str = "#000000";
pub(super) const ORANGE: &str = "#e69f00";
pub(super) const SKY: &str = "#56b4e9";
pub(super) const GREEN: &str = "#009e73";
pub(super) const YELLOW: &str = "#f0e442";
pub(super) const BLUE: &str = "#0072b2";
pub(super) const VERMILION: &str = "#d55e00";
pub(super) const PURPLE: &str = "#cc79a7";

/// The colour of text and lines: a soft black.
pub(super) const INK: &str = "#222";

/// The fill of bars that stand for one thing only; light enough for black whiskers.
pub(super) const BAR: &str = SKY;

/// How a category of stacked bars looks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Category {
    /// The colour of the category's area.
    pub(super) colour: &'static str,
    /// The colour of text on the area.
    pub(super) ink: &'static str,
    /// The pattern that is drawn over the area, in tiles of 8 x 8 units.
    pub(super) pattern: &'static str,
}

/// The category for everything left over.
const LAST: Category = Category { colour: "#cccccc", ink: BLACK, pattern: "" };

/// The looks of categories. Neighbours differ in lightness as well, so that edges show in grey.
const CATEGORIES: [Category; 8] = [
    Category { colour: BLUE, ink: "#fff", pattern: "" },
    Category { colour: YELLOW, ink: BLACK, pattern: "<path d=\"M0 8L8 0M-2 2L2 -2M6 10L10 6\"/>" },
    Category { colour: VERMILION, ink: BLACK, pattern: "<path d=\"M0 0L8 8M-2 6L2 10M6 -2L10 2\"/>" },
    Category { colour: SKY, ink: BLACK, pattern: "<path d=\"M1 2H3M5 6H7\" stroke-width=\"2\"/>" },
    Category { colour: PURPLE, ink: BLACK, pattern: "<path d=\"M0 0L8 8M8 0L0 8\"/>" },
    Category { colour: ORANGE, ink: BLACK, pattern: "<path d=\"M2 0V8M6 0V8\"/>" },
    Category { colour: GREEN, ink: BLACK, pattern: "<path d=\"M0 2H8M0 6H8\"/>" },
    LAST,
];

/// How many categories differ from each other.
pub(super) const MAX_CATEGORIES: usize = CATEGORIES.len();

/// The look of category `index`; those past the last look like the last.
pub(super) fn category(index: usize) -> Category {
    CATEGORIES.get(index).copied().unwrap_or(LAST)
}

/// The id of a category's pattern. It is the same in every figure, because a page may hold several figures.
pub(super) fn pattern_id(index: usize) -> String {
    format!("m3-category-{index}")
}

/// The `<defs>` of the patterns of `categories`; nothing if there are none.
pub(super) fn pattern_definitions(categories: &BTreeSet<usize>) -> String {
    let mut definitions = String::new();
    for &index in categories {
        // Writing to a string cannot fail.
        let _ = writeln!(
            definitions,
            "<pattern id=\"{}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
             <g stroke=\"#222\" stroke-opacity=\"0.55\">{}</g></pattern>",
            pattern_id(index),
            category(index).pattern
        );
    }
    if definitions.is_empty() { definitions } else { format!("<defs>\n{definitions}</defs>\n") }
}
