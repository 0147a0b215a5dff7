//! The images of trajectories, scaled down to be embedded in a page. Their paths come from files of others, so
//! nothing outside of the image folders is opened.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::codecs::jpeg::JpegEncoder;
use image::{DynamicImage, ImageFormat, RgbaImage};
use m3_images::ImageFileError;
use m3_images::task_image::{NotFound, locate_in, opened};
use m3_support::workspace::Workspace;

/// The longest side of an embedded image, in pixels.
const LONGEST_SIDE: u32 = 384;

/// The longest side if a page has many images, in pixels: 200 of them should have some 2 MB.
const LONGEST_SIDE_OF_MANY: u32 = 240;

/// More images than this count as many.
const MANY: usize = 60;

/// Quality of the JPEG, of 100: photographs of this size have some 10 to 20 kB.
const QUALITY: u8 = 72;

/// Quality of the JPEG if a page has many images: some 6 kB each.
const QUALITY_OF_MANY: u8 = 55;

/// The note for a folder, a device or a pipe.
const NOT_A_FILE: &str = "it is not a file";

/// A trajectory's image on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Picture {
    /// The image itself, small, as a `data:` address.
    Embedded {
        /// The address; trajectories of the same image share it.
        address: Arc<str>,
    },
    /// Why the image is not shown.
    Note(&'static str),
}

/// Finds images in the given folders only.
#[derive(Debug)]
pub struct Pictures {
    folders: Vec<Workspace>,
    longest_side: u32,
    quality: u8,
    /// The picture of each file, because many trajectories may name the same one.
    known: HashMap<PathBuf, Picture>,
}

/// The media type and the content of an image that was scaled down, or the reason why the image is not shown.
type Small = Result<(&'static str, Vec<u8>), &'static str>;

impl Pictures {
    /// Finds the images of `count` trajectories, in `folders`, searched in this order. Folders that do not exist are
    /// left out.
    #[must_use]
    pub fn new(folders: &[PathBuf], count: usize) -> Self {
        let folders = opened(folders);
        let (longest_side, quality) =
            if count > MANY { (LONGEST_SIDE_OF_MANY, QUALITY_OF_MANY) } else { (LONGEST_SIDE, QUALITY) };
        Self { folders, longest_side, quality, known: HashMap::new() }
    }

    /// Finds images in `folders`, scaled to at most this many pixels on the longest side, as JPEG of this quality, of
    /// 100.
    #[must_use]
    pub fn of_size(folders: &[PathBuf], longest_side: u32, quality: u8) -> Self {
        Self { longest_side, quality, ..Self::new(folders, 1) }
    }

    /// Scales down an image that is open already, for a separate file. Returns its media type and content.
    ///
    /// # Errors
    /// The reason why the image is not shown.
    pub fn of_pixels(&self, image: &RgbaImage) -> Small {
        if image.width() == 0 || image.height() == 0 {
            return Err("it has no pixels");
        }
        self.small(&DynamicImage::from(image.clone()))
    }

    /// Scales down the image at a path, for a separate file. Returns its media type and content.
    ///
    /// # Errors
    /// The reason why the image is not shown.
    pub fn file(&self, path: &str) -> Small {
        self.load(&self.locate(path)?)
    }

    /// Scales down an image that somebody sent, for a separate file. Returns its media type and content.
    ///
    /// # Errors
    /// The reason why the image is not shown.
    pub fn sent(&self, bytes: &[u8]) -> Small {
        let image = m3_images::OpenedImage::new(bytes).and_then(|image| image.decode(u64::MAX));
        self.small(&image.map_err(note)?)
    }

    /// The image of a trajectory. Each file is decoded once.
    pub fn picture(&mut self, path: &str) -> Picture {
        let path = match self.locate(path) {
            Ok(path) => path,
            Err(note) => return Picture::Note(note),
        };
        if let Some(known) = self.known.get(&path) {
            return known.clone();
        }
        let picture = match self.load(&path) {
            Ok((kind, bytes)) => {
                let address = format!("data:{kind};base64,{}", STANDARD.encode(bytes)).into();
                Picture::Embedded { address }
            }
            Err(note) => Picture::Note(note),
        };
        self.known.insert(path, picture.clone());
        picture
    }

    /// The path of the file, if it is in one of the folders.
    fn locate(&self, path: &str) -> Result<PathBuf, &'static str> {
        locate_in(path, &self.folders).map_err(|not_found| match not_found {
            NotFound::Missing => "no such file in the image folder",
            NotFound::Outside(_) => "the path leads out of the image folder and was not followed",
            NotFound::NotAFile => NOT_A_FILE,
        })
    }

    fn load(&self, path: &Path) -> Small {
        self.small(&m3_images::read(path, u64::MAX).map_err(note)?)
    }

    /// Scales an image down: as JPEG, or as PNG if parts are transparent.
    fn small(&self, image: &DynamicImage) -> Small {
        const FAILED: &str = "the image cannot be made smaller";
        let is_large = image.width().max(image.height()) > self.longest_side;
        let small =
            if is_large { image.thumbnail(self.longest_side, self.longest_side) } else { image.clone() };
        let mut bytes = Cursor::new(Vec::new());
        let rgba = small.to_rgba8();
        let kind = if rgba.pixels().all(|pixel| pixel.0[3] == u8::MAX) {
            let encoder = JpegEncoder::new_with_quality(&mut bytes, self.quality);
            small.to_rgb8().write_with_encoder(encoder).map_err(|_| FAILED)?;
            "image/jpeg"
        } else {
            rgba.write_to(&mut bytes, ImageFormat::Png).map_err(|_| FAILED)?;
            "image/png"
        };
        Ok((kind, bytes.into_inner()))
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps errors")]
fn note(error: ImageFileError) -> &'static str {
    match error {
        ImageFileError::NotAFile => NOT_A_FILE,
        ImageFileError::TooLarge { .. } => "the file is too large",
        ImageFileError::Unreadable(_) => "the file cannot be read",
        ImageFileError::NotAnImage(_) | ImageFileError::TooManyPixels { .. } => {
            "the file is not an image that can be shown"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Pictures) {
        let root = tempfile::tempdir().unwrap();
        let inside = root.path().join("images");
        std::fs::create_dir(&inside).unwrap();
        let image = |width, height, alpha| {
            DynamicImage::from(RgbaImage::from_pixel(width, height, image::Rgba([200, 30, 30, alpha])))
        };
        image(800, 400, 255).save(inside.join("opaque.png")).unwrap();
        image(20, 10, 100).save(inside.join("clear.webp")).unwrap();
        image(20, 10, 255).save(root.path().join("outside.png")).unwrap();
        std::fs::write(inside.join("text.png"), "<svg onload=alert(1)>").unwrap();
        let pictures = Pictures::new(std::slice::from_ref(&inside), 1);
        (root, pictures)
    }

    /// Width and height of the picture at an address.
    fn size(address: &str) -> (u32, u32) {
        let bytes = STANDARD.decode(address.split_once(',').unwrap().1).unwrap();
        let image = image::load_from_memory(&bytes).unwrap();
        (image.width(), image.height())
    }

    #[test]
    fn images_are_made_small() {
        let (_root, mut pictures) = folder();
        let Picture::Embedded { address } = pictures.picture("opaque.png") else { panic!("an image") };
        assert!(address.starts_with("data:image/jpeg;base64,"));
        assert_eq!(size(&address), (384, 192));
        let Picture::Embedded { address } = pictures.picture("./clear.webp") else { panic!("an image") };
        assert!(address.starts_with("data:image/png;base64,"));
        assert_eq!(size(&address).0, 20);
    }

    /// The file has other content by then, so decoding it again would give no image.
    #[test]
    fn each_file_is_decoded_once() {
        let (root, mut pictures) = folder();
        let first = pictures.picture("opaque.png");
        std::fs::write(root.path().join("images/opaque.png"), "no image").unwrap();
        assert!(matches!(first, Picture::Embedded { .. }));
        assert_eq!(pictures.picture("./opaque.png"), first);
    }

    #[test]
    fn paths_that_lead_out_are_not_followed() {
        let (root, mut pictures) = folder();
        let mut note = |path: &str| match pictures.picture(path) {
            Picture::Note(note) => note,
            Picture::Embedded { .. } => panic!("`{path}` was followed"),
        };
        let outside = root.path().join("outside.png");
        for path in ["../outside.png", "x/../../outside.png", outside.to_str().unwrap(), "/etc/passwd"] {
            assert!(note(path).contains("leads out"), "{path}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&outside, root.path().join("images/link.png")).unwrap();
            assert!(note("link.png").contains("leads out"));
        }
        assert_eq!(note("none.png"), "no such file in the image folder");
        assert_eq!(note("text.png"), "the file is not an image that can be shown");
        assert_eq!([note("."), note("")], ["it is not a file"; 2]);
        assert_eq!(note("a\0b"), "no such file in the image folder");
    }
}
