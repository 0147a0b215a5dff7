//! Draws SVG as PNG, with the shipped font only: the same picture on every machine.

use std::error::Error;
use std::sync::{Arc, LazyLock};

use m3_images::font::FONT;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{ImageHrefResolver, Options, Tree, fontdb};

use super::text::FAMILY;

/// The most pixels of a PNG; each takes 4 bytes of memory while it is drawn.
const MAX_PIXELS: u64 = 100_000_000;

/// Why there is no PNG.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// The text is not SVG that can be drawn.
    #[error("failed to read the SVG of a picture: {0}")]
    Svg(#[from] resvg::usvg::Error),
    /// The scale is not a positive number, or the PNG would have too many pixels.
    #[error("failed to draw a picture of {width} x {height} units at scale {scale} (hint: try a scale of 2)")]
    Size {
        /// Width of the SVG in its own units.
        width: f32,
        /// Height of the SVG in its own units.
        height: f32,
        /// The requested scale, in pixels per unit.
        scale: f32,
    },
    /// The pixels could not be written as PNG.
    #[error("failed to write the PNG of a picture: {0}")]
    Encode(#[source] Box<dyn Error + Send + Sync>),
}

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    fonts.set_sans_serif_family(FAMILY);
    Arc::new(fonts)
});

/// Draws `svg` with `scale` pixels to a unit; 2 suits screens, 4 print (a picture is 800 units wide).
///
/// Characters that the shipped font lacks (it has Latin, Greek and Cyrillic) appear as empty boxes.
///
/// # Errors
///
/// When `svg` is not SVG, `scale` is not a positive number, or the PNG would have over 100 million pixels.
pub fn to_png(svg: &str, scale: f32) -> Result<Vec<u8>, FiguresError> {
    let tree = Tree::from_str(svg, &options())?;
    let size = tree.size();
    let too_large = || FiguresError::Size { width: size.width(), height: size.height(), scale };
    let is_positive = scale.is_finite() && scale > 0.0;
    let pixels = is_positive.then(|| size.to_int_size().scale_by(scale)).flatten().ok_or_else(too_large)?;
    if u64::from(pixels.width()) * u64::from(pixels.height()) > MAX_PIXELS {
        return Err(too_large());
    }
    let mut pixmap = Pixmap::new(pixels.width(), pixels.height()).ok_or_else(too_large)?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| FiguresError::Encode(error.into()))
}

/// The options of the renderer: the shipped font, and no files or addresses, whatever the SVG names.
pub(super) fn options() -> Options<'static> {
    Options {
        font_family: FAMILY.to_owned(),
        fontdb: Arc::clone(&FONTS),
        image_href_resolver: ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "<svg xmlns='http://www.w3.org/2000/svg' width='10' height='20'/>";

    #[test]
    fn a_png_has_the_size_asked_for() {
        let png = to_png(SMALL, 1.5).unwrap();
        let pixmap = Pixmap::decode_png(&png).unwrap();
        assert_eq!((pixmap.width(), pixmap.height()), (15, 30));
    }

    #[test]
    fn what_cannot_be_drawn_is_an_error() {
        assert!(matches!(to_png("<svg", 1.0), Err(FiguresError::Svg(_))));
        for scale in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e5] {
            assert!(matches!(to_png(SMALL, scale), Err(FiguresError::Size { .. })), "{scale}");
        }
    }
}
