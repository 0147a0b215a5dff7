//! Colours in the writings of CSS: by name, in hexadecimal digits, and as `rgb()`, `hsl()` and `hwb()` with or without alpha.
//!
//! The reader is as lenient as browsers: commas may be left out, and components out of range become the nearest in it.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A colour: red, green, blue and alpha.
pub(super) type Color = [u8; 4];

/// The colours that have names.
static NAMES: LazyLock<HashMap<&str, Color>> = LazyLock::new(|| {
    let lines = include_str!("../tables/colors.txt").lines().filter_map(|line| line.split_once(' '));
    lines.filter_map(|(name, digits)| Some((name, hexadecimal(digits)?))).collect()
});

/// Reads a text in lower case that holds one colour and nothing else.
pub(super) fn color(text: &str) -> Option<Color> {
    let mut reader = Reader { rest: text };
    reader.skip_spaces();
    let color = if reader.takes("#") {
        let digits = reader.take_while(|byte| byte.is_ascii_hexdigit());
        hexadecimal(digits)?
    } else {
        let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        match (reader.take_while(is_of_word), reader.takes("(")) {
            ("rgb" | "rgba", true) => reader.rgb()?,
            ("hsl" | "hsla", true) => reader.hsl()?,
            ("hwb", true) => reader.hwb()?,
            (name, false) => *NAMES.get(name)?,
            _ => return None,
        }
    };
    reader.skip_spaces();
    reader.rest.is_empty().then_some(color)
}

/// The colour of three, four, six or eight hexadecimal digits.
fn hexadecimal(digits: &str) -> Option<Color> {
    let values = || digits.bytes().map(|digit| char::from(digit).to_digit(16));
    let values: Vec<u8> = values().map(|digit| u8::try_from(digit?).ok()).collect::<Option<_>>()?;
    let channels: Vec<u8> = match values.len() {
        3 | 4 => values.iter().map(|value| value * 0x11).collect(),
        6 | 8 => values.chunks(2).map(|pair| pair[0] * 0x10 + pair[1]).collect(),
        _ => return None,
    };
    Some([channels[0], channels[1], channels[2], channels.get(3).copied().unwrap_or(u8::MAX)])
}

/// A number as a channel; a number out of range becomes the nearest in it.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats stop at the ends of the range"
)]
fn channel(value: f64) -> u8 {
    value.round() as u8
}

/// The opaque colour of three channels, which are given as shares of the largest value.
fn opaque(shares: [f32; 3]) -> Color {
    let [red, green, blue] = shares.map(|share| channel(f64::from(share * 255.0)));
    [red, green, blue, u8::MAX]
}

/// The channels, as shares, of a hue in sixths of a turn, a saturation and a lightness (CSS Color 3, 4.2.4).
fn shares_of_hue(hue: f32, saturation: f32, lightness: f32) -> [f32; 3] {
    let high = if lightness <= 0.5 {
        lightness * (saturation + 1.0)
    } else {
        lightness + saturation - (lightness * saturation)
    };
    let low = lightness * 2.0 - high;
    [hue + 2.0, hue, hue - 2.0].map(|hue| {
        let hue = if hue < 0.0 { hue + 6.0 } else { hue };
        let hue = if hue >= 6.0 { hue - 6.0 } else { hue };
        match hue {
            ..1.0 => (high - low) * hue + low,
            ..3.0 => high,
            ..4.0 => (high - low) * (4.0 - hue) + low,
            _ => low,
        }
    })
}

/// A reader that holds the rest of a text.
struct Reader<'t> {
    rest: &'t str,
}

impl<'t> Reader<'t> {
    /// Takes the longest start of such bytes, all of which must be ASCII.
    fn take_while(&mut self, is_like_that: impl Fn(u8) -> bool) -> &'t str {
        let length = self.rest.bytes().take_while(|byte| is_like_that(*byte)).count();
        let (start, rest) = self.rest.split_at(length);
        self.rest = rest;
        start
    }

    /// Takes `start` if the text goes on with it; returns whether it does.
    fn takes(&mut self, start: &str) -> bool {
        let rest = self.rest.strip_prefix(start);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_spaces(&mut self) {
        self.take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    }

    fn skip_separator(&mut self) {
        self.skip_spaces();
        self.takes(",");
    }

    fn skip_digits(&mut self) {
        self.take_while(|byte| byte.is_ascii_digit());
    }

    /// Reads a number as SVG writes them. An `e` without an exponent is an error, unless it starts a unit.
    fn number(&mut self) -> Option<f64> {
        self.skip_spaces();
        let start = self.rest;
        if !self.takes("+") {
            self.takes("-");
        }
        if !self.rest.starts_with(|next: char| next.is_ascii_digit() || next == '.') {
            return None;
        }
        self.skip_digits();
        if self.takes(".") {
            self.skip_digits();
        }
        if let Some(exponent) = self.rest.strip_prefix('e')
            && !exponent.starts_with(['m', 'x'])
        {
            self.rest = exponent;
            let is_signed = self.takes("+") || self.takes("-");
            if !is_signed && !self.rest.starts_with(|next: char| next.is_ascii_digit()) {
                return None;
            }
            self.skip_digits();
        }
        let number: f64 = start[..start.len() - self.rest.len()].parse().ok()?;
        number.is_finite().then_some(number)
    }

    /// Reads a number and the separator after it.
    fn item(&mut self) -> Option<f64> {
        let number = self.number()?;
        self.skip_separator();
        Some(number)
    }

    /// Reads a number, or percents as a share.
    fn share(&mut self) -> Option<f64> {
        let number = self.number()?;
        Some(if self.takes("%") { number / 100.0 } else { number })
    }

    /// Reads a share and the separator after it.
    fn share_item(&mut self) -> Option<f64> {
        let share = self.share()?;
        self.skip_separator();
        Some(share)
    }

    /// Reads an angle, as a hue in sixths of a turn.
    #[expect(clippy::cast_possible_truncation, reason = "hues are shades")]
    fn hue(&mut self) -> Option<f32> {
        let number = self.number()?;
        let degrees = if self.takes("deg") {
            number
        } else if self.takes("grad") {
            number * 180.0 / 200.0
        } else if self.takes("rad") {
            number.to_degrees()
        } else if self.takes("turn") {
            number * 360.0
        } else {
            number
        };
        Some((((degrees % 360.0) + 360.0) % 360.0) as f32 / 60.0)
    }

    /// Reads the end of a colour: alpha, if there is one, and a bracket.
    fn closed(&mut self, mut color: Color, alpha: impl Fn(&mut Self) -> Option<f64>) -> Option<Color> {
        self.skip_spaces();
        if !self.rest.starts_with(')') {
            if self.takes("/") {
                self.skip_spaces();
            }
            color[3] = channel(alpha(self)? * 255.0);
        }
        self.skip_spaces();
        self.takes(")").then_some(color)
    }

    fn rgb(&mut self) -> Option<Color> {
        let red = self.number()?;
        let is_percent = self.takes("%");
        self.skip_separator();
        let color = if is_percent {
            let red = channel((red / 100.0) * 255.0);
            [red, channel(self.share_item()? * 255.0), channel(self.share_item()? * 255.0), u8::MAX]
        } else {
            [channel(red), channel(self.item()?), channel(self.item()?), u8::MAX]
        };
        self.closed(color, Self::item)
    }

    #[expect(clippy::cast_possible_truncation, reason = "they are shades")]
    fn hsl(&mut self) -> Option<Color> {
        let hue = self.hue()?;
        self.skip_separator();
        let saturation = self.share_item()?.clamp(0.0, 1.0) as f32;
        let lightness = self.share_item()?.clamp(0.0, 1.0) as f32;
        self.closed(opaque(shares_of_hue(hue, saturation, lightness)), Self::share_item)
    }

    /// Reads hue, whiteness and blackness (CSS Color 4, 8).
    #[expect(clippy::cast_possible_truncation, reason = "they are shades")]
    fn hwb(&mut self) -> Option<Color> {
        let hue = self.hue()?;
        let mut percents = || {
            let number = self.number()?;
            self.takes("%");
            Some((number / 100.0).clamp(0.0, 1.0) as f32)
        };
        let (white, black) = (percents()?, percents()?);
        let color = if white + black >= 1.0 {
            opaque([white / (white + black); 3])
        } else {
            let factor = 1.0 - white - black;
            opaque(shares_of_hue(hue, 1.0, 0.5).map(|share| share * factor + white))
        };
        self.skip_spaces();
        if self.rest.starts_with('/') {
            self.closed(color, Self::share)
        } else {
            self.takes(")").then_some(color)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::str::FromStr as _;

    use proptest::prelude::*;

    use super::*;

    /// The colour by the crate `svgtypes`, whose five packages m3 does without outside of tests.
    fn of_svg(text: &str) -> Option<Color> {
        let color = svgtypes::Color::from_str(text).ok()?;
        Some([color.red, color.green, color.blue, color.alpha])
    }

    #[test]
    fn colours_by_hand() {
        for (text, expected) in [
            ("red", [255, 0, 0, 255]),
            ("transparent", [0, 0, 0, 0]),
            ("#f80", [255, 136, 0, 255]),
            (" #ff880080 ", [255, 136, 0, 128]),
            ("rgb(255, 136, 0)", [255, 136, 0, 255]),
            ("rgb(100% 50% 0% / 0.5)", [255, 128, 0, 128]),
            ("rgba(300, -5, 0, 1)", [255, 0, 0, 255]),
            ("hsl(120, 100%, 25%)", [0, 128, 0, 255]),
            ("hsl(0.5turn 100% 50%)", [0, 255, 255, 255]),
            ("hwb(0 20% 20%)", [204, 51, 51, 255]),
        ] {
            assert_eq!(color(text), Some(expected), "{text}");
        }
        for text in
            ["", "#", "#12", "#12345g", "rgb", "rgb(1,2)", "rgb(1,2,3", "redd", "red blue", "hsl(1e,2,3)"]
        {
            assert_eq!(color(text), None, "{text}");
        }
    }

    #[test]
    fn every_name_is_one_of_svg() {
        assert_eq!(NAMES.len(), 148);
        for (name, expected) in &*NAMES {
            assert_eq!(of_svg(name), Some(*expected), "{name}");
        }
    }

    fn written() -> impl Strategy<Value = String> {
        let number = prop_oneof![
            "[-+]?[0-9]{1,3}",
            "[-+]?[0-9]{0,3}\\.[0-9]{0,3}",
            "[0-9]{1,2}e[-+]?[0-9]{0,2}",
            Just("e".to_owned())
        ];
        let unit = prop::sample::select(vec!["", "", "", "%", "%", "deg", "rad", "grad", "turn", "em", " "]);
        let between = prop::sample::select(vec![",", ", ", " ", "", " / ", "/", " ,", "\t"]);
        let name = prop::sample::select(vec!["rgb", "rgba", "hsl", "hsla", "hwb", "rgbx", " rgb"]);
        let parts = prop::collection::vec((number, unit, between), 0..6);
        let ends = (
            prop::sample::select(vec!["(", "( ", ""]),
            prop::sample::select(vec![")", " )", "", ") x", ")) "]),
        );
        (name, parts, ends).prop_map(|(name, parts, (open, close))| {
            let parts: String =
                parts.iter().flat_map(|(number, unit, between)| [number, *unit, *between]).collect();
            format!("{name}{open}{parts}{close}")
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 20_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_reads_what_a_reader_of_svg_reads(text in prop_oneof![4 => written(), 1 => "#[0-9a-g]{0,9}", 1 => "[a-z#(),%0-9 é-]{0,12}"]) {
            prop_assert_eq!(color(&text), of_svg(&text));
        }
    }
}
