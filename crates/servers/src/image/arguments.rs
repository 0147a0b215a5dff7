//! Types of arguments that several tools share. The schema has been checked before; this checks what a schema cannot
//! express.

use serde::Deserialize;

use super::canvas::byte;
use super::failure::Failure;

/// The most items that one call may draw.
const MOST_ITEMS: usize = 1_000;

/// The farthest coordinate and the longest length, in pixels: larger values are reduced to it. Its squares are exact
/// enough as `f64`.
const FARTHEST: f64 = 1e9;

/// The widest line, in pixels; OpenCV's own limit (`MAX_THICKNESS`).
const THICKEST: f64 = 32_767.0;

/// A whole number of pixels, which JSON may write as `3`, `3.0` or `1e300`.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(from = "f64")]
pub(super) struct Pixels(pub(super) f64);

impl From<f64> for Pixels {
    fn from(value: f64) -> Self {
        Self(value.clamp(-FARTHEST, FARTHEST))
    }
}

impl Pixels {
    /// The pixels as an integer.
    #[expect(clippy::cast_possible_truncation, reason = "at most a billion")]
    pub(super) const fn whole(self) -> i64 {
        self.0 as i64
    }
}

/// A color as OpenCV writes it: blue, green, red. Black unless named.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub(super) struct Color(Vec<Pixels>);

impl Default for Color {
    fn default() -> Self {
        Self(vec![Pixels(0.0); 3])
    }
}

impl Color {
    /// The color as red, green, blue. Values beyond 0 to 255 become the nearest of these, as in OpenCV.
    ///
    /// # Errors
    /// [`Failure::Argument`] without exactly three numbers.
    pub(super) fn red_first(&self, place: &str) -> Result<[u8; 3], Failure> {
        let &[blue, green, red] = self.0.as_slice() else {
            let problem = "is not three numbers, [blue, green, red]";
            return Err(Failure::argument(format!("{place}.color"), problem));
        };
        let value = |part: Pixels| byte(u32::try_from(part.whole().max(0)).unwrap_or(u32::MAX));
        Ok([red, green, blue].map(value))
    }
}

/// The width of a line; 1 by default.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(transparent)]
pub(super) struct Thickness(Pixels);

impl Default for Thickness {
    fn default() -> Self {
        Self(Pixels(1.0))
    }
}

impl Thickness {
    /// The width of a line, in pixels.
    ///
    /// # Errors
    /// [`Failure::Argument`] if it is less than 1.
    pub(super) fn line(self, place: &str) -> Result<f64, Failure> {
        if self.0.0 < 1.0 {
            return Err(Failure::argument(format!("{place}.thickness"), "is less than 1"));
        }
        Ok(self.0.0.min(THICKEST))
    }

    /// The width of an outline; `None` if the shape is filled.
    ///
    /// # Errors
    /// [`Failure::Argument`] if it is 0.
    pub(super) fn outline(self, filled: bool, place: &str) -> Result<Option<f64>, Failure> {
        if filled || self.0.0 < 0.0 {
            return Ok(None);
        }
        self.line(place).map(Some)
    }
}

/// Refuses more items than one call may draw.
///
/// # Errors
/// [`Failure::Argument`].
pub(super) fn few<T>(list: &str, items: &[T]) -> Result<(), Failure> {
    if items.len() > MOST_ITEMS {
        return Err(Failure::argument(list, "has more than 1000 items"));
    }
    Ok(())
}
