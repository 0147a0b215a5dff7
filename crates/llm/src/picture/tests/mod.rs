//! Pictures made from files as cameras, scanners and tools write them, and from damaged ones.

use std::io::Cursor;

use image::codecs::gif::GifEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{Frame, GenericImageView as _, ImageBuffer, Luma, Rgb, Rgba, RgbaImage};
use proptest::prelude::*;

use super::*;

mod sharing;

const WIDE: PictureLimits = PictureLimits { max_side: 8_000, max_bytes: 5 << 20 };

fn limits(max_side: u32, max_bytes: usize) -> PictureLimits {
    PictureLimits { max_side, max_bytes }
}

/// Left half red, right half blue.
fn two_colors(width: u32, height: u32) -> DynamicImage {
    let color = |x| if x < width / 2 { Rgb([220_u8, 20, 20]) } else { Rgb([20, 20, 220]) };
    DynamicImage::from(RgbImage::from_fn(width, height, |x, _| color(x)))
}

/// Noise, which compresses badly.
fn noise(width: u32, height: u32, alpha: bool) -> DynamicImage {
    let mut state = 1_u32;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_le_bytes()[0]
    };
    let image = RgbaImage::from_fn(width, height, |_, _| {
        Rgba([next(), next(), next(), if alpha { next() } else { 255 }])
    });
    if alpha { image.into() } else { DynamicImage::from(image).to_rgb8().into() }
}

type RgbImage = ImageBuffer<Rgb<u8>, Vec<u8>>;

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn picture(bytes: &[u8], limits: &PictureLimits) -> Picture {
    Picture::from_bytes("test", bytes.to_vec(), limits).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    Picture::from_bytes("a\u{1b}.png", bytes.to_vec(), &WIDE).unwrap_err().to_string()
}

fn decoded(picture: &Picture) -> DynamicImage {
    let image = image::load_from_memory(&picture.bytes).unwrap();
    assert_eq!(image.dimensions(), (picture.width, picture.height));
    assert_eq!(m3_images::media::Media::from_bytes(&picture.bytes).mime_type, picture.mime_type);
    image
}

/// A JPEG with EXIF data that give only its orientation (CIPA DC-008, 4.6.4 and 4.5.4).
fn turned_jpeg(image: &DynamicImage, orientation: u8) -> Vec<u8> {
    let plain = encoded(image, ImageFormat::Jpeg);
    let tiff = [
        b"II*\0\x08\0\0\0".as_slice(),
        b"\x01\0",
        &[0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0],
        b"\0\0\0\0",
    ]
    .concat();
    let length = u16::try_from(2 + 6 + tiff.len()).unwrap().to_be_bytes();
    [&plain[..2], b"\xff\xe1", &length, b"Exif\0\0", &tiff, &plain[2..]].concat()
}

/// A PNG of two pictures: `acTL` and `fcTL` before the pixels (PNG, third edition, 11.3.6).
fn animated_png(image: &DynamicImage) -> Vec<u8> {
    let plain = encoded(image, ImageFormat::Png);
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let length = u32::try_from(data.len()).unwrap().to_be_bytes();
        [&length, body.as_slice(), &crc32fast::hash(&body).to_be_bytes()].concat()
    };
    let size = [image.width().to_be_bytes(), image.height().to_be_bytes()].concat();
    let frame = [&[0; 4], size.as_slice(), &[0; 8], &[0, 1, 0, 10, 0, 0]].concat();
    let controls = [chunk(b"acTL", &[0, 0, 0, 1, 0, 0, 0, 0]), chunk(b"fcTL", &frame)].concat();
    // The control chunks come after the signature and the header.
    [&plain[..33], &controls, &plain[33..]].concat()
}

/// A WebP of one frame that declares itself an animation (RFC 9649, 2.7).
fn animated_webp(image: &DynamicImage) -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let length = u32::try_from(data.len()).unwrap().to_le_bytes();
        let padding: &[u8] = if data.len() % 2 == 1 { &[0] } else { &[] };
        [kind, &length, data, padding].concat()
    };
    let pixels = &encoded(image, ImageFormat::WebP)[12..];
    let size = [&(image.width() - 1).to_le_bytes()[..3], &(image.height() - 1).to_le_bytes()[..3]].concat();
    let frame = [&[0; 6], size.as_slice(), &[10, 0, 0, 0], pixels].concat();
    let body = [
        b"WEBP".to_vec(),
        chunk(b"VP8X", &[&[2, 0, 0, 0], size.as_slice()].concat()),
        chunk(b"ANIM", &[0; 6]),
        chunk(b"ANMF", &frame),
    ]
    .concat();
    chunk(b"RIFF", &body)
}

#[test]
fn what_wires_take_is_sent_byte_for_byte() {
    let color = two_colors(40, 20);
    let deep: ImageBuffer<Luma<u16>, Vec<u16>> =
        ImageBuffer::from_fn(9, 7, |x, _| Luma([if x < 4 { 9 } else { 65_000 }]));
    let files = [
        (encoded(&color, ImageFormat::Png), "image/png"),
        (encoded(&noise(8, 8, true), ImageFormat::Png), "image/png"),
        (encoded(&deep.into(), ImageFormat::Png), "image/png"),
        (encoded(&color.grayscale(), ImageFormat::Png), "image/png"),
        (encoded(&color, ImageFormat::Jpeg), "image/jpeg"),
        (turned_jpeg(&color, 1), "image/jpeg"),
        (encoded(&color, ImageFormat::WebP), "image/webp"),
        (encoded(&color, ImageFormat::Gif), "image/gif"),
    ];
    for (file, mime_type) in files {
        let sent = picture(&file, &WIDE);
        assert_eq!((sent.mime_type, &sent.bytes), (mime_type, &file));
        assert!(sent.changes.is_empty(), "{:?}", sent.changes);
        decoded(&sent);
    }
}

/// The expected hash is that of `sha256sum`.
#[test]
fn the_hash_is_that_of_the_bytes() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn formats_that_wires_do_not_take_become_png() {
    for format in [ImageFormat::Bmp, ImageFormat::Tiff] {
        let sent = picture(&encoded(&two_colors(40, 20), format), &WIDE);
        assert_eq!(sent.mime_type, "image/png");
        assert_eq!(sent.changes, ["re-encoded as image/png"]);
        assert_eq!(decoded(&sent).to_rgb8(), two_colors(40, 20).to_rgb8());
    }
    let floats: ImageBuffer<Rgb<f32>, Vec<f32>> = ImageBuffer::from_pixel(5, 5, Rgb([0.0, 0.5, 1.0]));
    let sent = picture(&encoded(&floats.into(), ImageFormat::Tiff), &WIDE);
    assert_eq!(decoded(&sent).to_rgb8().get_pixel(0, 0).0, [0, 128, 255]);
}

/// Where the stored left edge is shown, for each value of the tag (CIPA DC-008, 4.6.4, "Orientation").
#[test]
fn photographs_are_turned_by_their_exif_orientation() {
    let places =
        [(2, "right"), (3, "right"), (4, "left"), (5, "top"), (6, "top"), (7, "bottom"), (8, "bottom")];
    for (orientation, red_at) in places {
        let sent = picture(&turned_jpeg(&two_colors(40, 20), orientation), &WIDE);
        assert_eq!(sent.changes, ["turned by its EXIF orientation", "re-encoded as image/jpeg"]);
        let image = decoded(&sent).to_rgb8();
        let (width, height) = image.dimensions();
        let (x, y) = match red_at {
            "top" => (width / 2, 2),
            "bottom" => (width / 2, height - 3),
            "left" => (2, height / 2),
            _ => (width - 3, height / 2),
        };
        assert_eq!((width, height), if orientation < 5 { (40, 20) } else { (20, 40) });
        assert!(image.get_pixel(x, y).0[0] > 180, "{orientation}: {:?}", image.get_pixel(x, y));
        assert!(image.get_pixel(width - 1 - x, height - 1 - y).0[2] > 180, "{orientation}");
    }
}

#[test]
fn large_images_are_scaled_and_keep_their_kind() {
    let sent = picture(&turned_jpeg(&two_colors(400, 300), 6), &limits(100, 5 << 20));
    assert_eq!((sent.mime_type, sent.width, sent.height), ("image/jpeg", 75, 100));
    let changes = ["turned by its EXIF orientation", "scaled from 300 x 400", "re-encoded as image/jpeg"];
    assert_eq!(sent.changes, changes);
    let deep: ImageBuffer<Rgba<u16>, Vec<u16>> =
        ImageBuffer::from_pixel(300, 10, Rgba([9, 400, 65_000, 30_000]));
    let sent = picture(&encoded(&deep.into(), ImageFormat::Png), &limits(100, 5 << 20));
    assert_eq!((sent.mime_type, sent.width, sent.height), ("image/png", 100, 3));
    let DynamicImage::ImageRgba16(image) = decoded(&sent) else { panic!("16 bits and alpha should stay") };
    assert_eq!(image.get_pixel(50, 1).0, [9, 400, 65_000, 30_000]);
    assert!(
        picture(&encoded(&two_colors(40, 20), ImageFormat::Png), &limits(40, 5 << 20)).changes.is_empty()
    );
    let sent = picture(&encoded(&two_colors(16_000, 1), ImageFormat::Png), &limits(0, 5 << 20));
    assert_eq!((sent.width, sent.height), (1, 1));
}

#[test]
fn of_animations_the_first_picture_is_sent() {
    let mut animated = Vec::new();
    let mut encoder = GifEncoder::new(&mut animated);
    let frames = [[255, 0, 0, 255], [0, 0, 255, 255]];
    let frames = frames.map(|color| Frame::new(RgbaImage::from_pixel(10, 6, Rgba(color))));
    encoder.encode_frames(frames).unwrap();
    drop(encoder);
    let red = RgbaImage::from_pixel(10, 6, Rgba([255, 0, 0, 255])).into();
    for file in [animated, animated_png(&red), animated_webp(&red)] {
        let sent = picture(&file, &WIDE);
        assert_eq!(sent.mime_type, "image/png");
        assert_eq!(sent.changes, ["only the first picture of its animation", "re-encoded as image/png"]);
        // The color may differ slightly, because GIF has a palette.
        let [red, green, blue] = decoded(&sent).to_rgb8().get_pixel(5, 3).0;
        assert!(red > 250 && green < 5 && blue < 5, "{red} {green} {blue}");
    }
}

#[test]
fn what_has_too_many_bytes_loses_quality_then_size() {
    let png = encoded(&noise(200, 100, true), ImageFormat::Png);
    assert!(png.len() > 60_000);
    let mut last = (u32::MAX, usize::MAX);
    for max_bytes in [60_000, 16_000, 10_000, 8_000, 4_000, 1_500] {
        let sent = picture(&png, &limits(200, max_bytes));
        assert_eq!(sent.mime_type, "image/jpeg");
        assert!(sent.bytes.len() <= max_bytes && sent.bytes.len() <= last.1 && sent.width <= last.0);
        let changes = sent.changes.join("; ");
        assert!(changes.contains("its transparency laid on white"), "{changes}");
        assert!(changes.contains(&format!("to have at most {max_bytes} bytes")), "{changes}");
        assert_eq!(changes.contains("scaled from 200 x 100"), sent.width < 200, "{changes}");
        last = (sent.width, sent.bytes.len());
        decoded(&sent);
    }
    assert!(last.0 < 200);
    let error = Picture::from_bytes("x", png, &limits(200, 100)).unwrap_err().to_string();
    assert!(error.starts_with("`x` cannot be made as small as 100 bytes\nhint: "), "{error}");
    // A fully transparent image shows the white behind it.
    let clear = DynamicImage::from(RgbaImage::from_pixel(64, 64, Rgba([0, 0, 0, 0])));
    let sent = Source {
        name: "x",
        changes: Vec::new(),
        is_photo: true,
        size: (64, 64),
        profile: None,
        image: clear,
    };
    let Ok(sent) = sent.encode(5 << 20) else { panic!("it should be written") };
    assert!(
        image::load_from_memory(&sent.bytes).unwrap().to_rgb8().get_pixel(9, 9).0.iter().all(|v| *v > 250)
    );
}

#[test]
fn color_profiles_stay_if_they_are_of_the_colors() {
    let mut profile = vec![0_u8; 128];
    let written = |profile: &[u8]| {
        let mut bytes = Vec::new();
        let mut encoder = PngEncoder::new(&mut bytes);
        image::ImageEncoder::set_icc_profile(&mut encoder, profile.to_vec()).unwrap();
        two_colors(40, 20).write_with_encoder(encoder).unwrap();
        bytes
    };
    let kept = |profile: &[u8]| {
        let sent = picture(&written(profile), &limits(20, 5 << 20));
        OpenedImage::new(&sent.bytes).ok().unwrap().color_profile()
    };
    profile[16..20].copy_from_slice(b"RGB ");
    assert_eq!(kept(&profile), Some(profile.clone()));
    profile[16..20].copy_from_slice(b"CMYK");
    assert_eq!(kept(&profile), None);
}

#[test]
fn what_is_cut_off_is_refused_in_every_format() {
    let image = noise(64, 64, false);
    let formats = [
        ImageFormat::Png,
        ImageFormat::Jpeg,
        ImageFormat::WebP,
        ImageFormat::Gif,
        ImageFormat::Bmp,
        ImageFormat::Tiff,
    ];
    for format in formats {
        let whole = encoded(&image, format);
        for length in [40, whole.len() / 2, whole.len() * 9 / 10] {
            let error = refused(&whole[..length]);
            assert!(
                error.starts_with("`a\\u{1b}.png` is damaged or cut off (image/"),
                "{format:?} {length}: {error}"
            );
        }
        // Bytes after the end of an image do not belong to it.
        picture(&[whole, vec![0xff; 9]].concat(), &WIDE);
    }
}

#[test]
fn what_is_no_image_is_named_as_what_it_is() {
    assert!(
        refused(b"hello").starts_with("`a\\u{1b}.png` is text/plain, not an image that can be shown\nhint: ")
    );
    assert!(refused(b"%PDF-1.7\n").contains("application/pdf"));
    assert!(refused(b"<svg xmlns='http://www.w3.org/2000/svg'/>").contains("image/svg+xml, not an image"));
    assert!(refused(b"\0\0\0\x18ftypheic\0\0\0\0").contains("image/heic, not an image that can be shown"));
    assert!(refused(b"").starts_with("`a\\u{1b}.png` is empty\nhint: "));
}

#[test]
fn only_files_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let error = |path: &Path| Picture::open(path, &WIDE).unwrap_err().to_string();
    assert!(error(folder.path()).contains("` is not a file\nhint: "));
    let missing = error(&folder.path().join("none.png"));
    assert!(missing.starts_with("failed to read `") && missing.contains("none.png"), "{missing}");
    #[cfg(unix)]
    {
        assert!(error(Path::new("/dev/zero")).starts_with("`/dev/zero` is not a file"));
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(error(&pipe).contains("is not a file"));
    }
    let large = folder.path().join("large.png");
    std::fs::File::create(&large).unwrap().set_len((64 << 20) + 1).unwrap();
    assert!(error(&large).contains("is too large: 67108865 bytes\nhint: scale it down"));
}

/// A PNG of one color.
fn solid(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Fast, FilterType::Sub);
    let image = RgbImage::from_pixel(width, height, Rgb([10, 200, 30]));
    image.write_with_encoder(encoder).unwrap();
    bytes
}

#[test]
fn a_hundred_megapixels_are_shown_and_more_are_refused() {
    let sent = picture(&solid(12_500, 8_000), &limits(2_000, 5 << 20));
    assert_eq!((sent.width, sent.height, sent.mime_type), (2_000, 1_280, "image/png"));
    assert_eq!(sent.changes, ["scaled from 12500 x 8000", "re-encoded as image/png"]);
    assert_eq!(decoded(&sent).to_rgb8().get_pixel(1_999, 1_279).0, [10, 200, 30]);
    // Refused because of the size in the header.
    let claiming = |width: u32, height: u32| {
        let mut bytes = solid(1, 1);
        bytes[16..20].copy_from_slice(&width.to_be_bytes());
        bytes[20..24].copy_from_slice(&height.to_be_bytes());
        let sum = crc32fast::hash(&bytes[12..29]).to_be_bytes();
        bytes[29..33].copy_from_slice(&sum);
        refused(&bytes)
    };
    let error = claiming(12_000, 10_001);
    assert!(
        error.contains("is too large: 12000 x 10001 pixels, more than 120 million\nhint: scale it"),
        "{error}"
    );
    assert!(claiming(16_385, 1).contains("a side has more than 16384 pixels"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// One side is exactly the limit, the other rounded to the nearest; fitting the result again changes nothing.
    #[test]
    fn images_keep_their_aspect(width in 1_u32..300, height in 1_u32..300, max_side in 1_u32..300, photo: bool) {
        let format = if photo { ImageFormat::Jpeg } else { ImageFormat::Bmp };
        let limits = limits(max_side, 5 << 20);
        let sent = picture(&encoded(&two_colors(width, height), format), &limits);
        let scale = (f64::from(max_side) / f64::from(width.max(height))).min(1.0);
        for (side, sent) in [(width, sent.width), (height, sent.height)] {
            prop_assert!(sent <= max_side && sent >= 1);
            let wanted = (f64::from(side) * scale).max(1.0);
            prop_assert!((wanted - f64::from(sent)).abs() <= 0.5 + 1e-9, "{wanted} {sent}");
        }
        let again = picture(&sent.bytes, &limits);
        prop_assert!(again.changes.is_empty());
        prop_assert_eq!((&again.bytes, &again.sha256), (&sent.bytes, &sent.sha256));
    }

    /// Any bytes give an image or an error.
    #[test]
    fn damage_does_no_harm(place in 0_usize..4_000, value: u8, kind in 0_usize..6) {
        let formats = [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif, ImageFormat::Bmp,
            ImageFormat::Tiff];
        let mut bytes = encoded(&noise(24, 16, kind % 2 == 0 && kind != 1), formats[kind]);
        let place = place % bytes.len();
        bytes[place] = value;
        let _ = Picture::from_bytes("x", bytes, &limits(20, 5 << 20));
    }
}
