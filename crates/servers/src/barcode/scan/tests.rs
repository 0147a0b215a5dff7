//! Tests of the scanner, on the pictures of the small benchmark and on codes that rxing's own encoder draws.

use std::f64::consts::TAU;

use rand::{RngExt as _, SeedableRng as _, rngs::ChaCha8Rng};
use rxing::{MultiFormatWriter, Writer as _};

use super::*;

/// Adds to each pixel a number of the normal distribution (Box and Muller).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "casts of floats stop at the ends of the range"
)]
fn add_noise(image: &mut GrayImage, deviation: f64) {
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let mut number = || 1.0 - random.random::<f64>();
    for byte in image.iter_mut() {
        let noise = deviation * (-2.0 * number().ln()).sqrt() * (TAU * number()).cos();
        *byte = (f64::from(*byte) + noise) as u8;
    }
}

fn picture(name: &str) -> DynamicImage {
    image::open(m3_testkit::root().join("images").join(name)).unwrap()
}

fn found(image: &DynamicImage) -> Vec<(&'static str, String)> {
    scan(image).into_iter().map(|code| (code.kind, code.text)).collect()
}

fn only(kind: &'static str, text: &str) -> Vec<(&'static str, String)> {
    vec![(kind, text.to_owned())]
}

/// A code with `module` pixels a module, bars 40 modules high, and 12 modules of white around it.
fn drawn(text: &str, format: BarcodeFormat, module: u32) -> GrayImage {
    let is_square = format == BarcodeFormat::QR_CODE;
    let matrix = MultiFormatWriter.encode(text, &format, 0, if is_square { 0 } else { 40 }).unwrap();
    let margin = 12 * module;
    let size = |modules: u32| modules * module + 2 * margin;
    let mut image = GrayImage::from_pixel(size(matrix.width()), size(matrix.height()), Luma([255]));
    for (x, y, pixel) in image.enumerate_pixels_mut() {
        let at = |value: u32, modules: u32| {
            value.checked_sub(margin).map(|value| value / module).filter(|&value| value < modules)
        };
        if let (Some(column), Some(row)) = (at(x, matrix.width()), at(y, matrix.height()))
            && matrix.get(column, row)
        {
            *pixel = Luma([0]);
        }
    }
    image
}

/// The image on a larger one, turned clockwise.
fn turned(image: &GrayImage, degrees: f32) -> DynamicImage {
    let side = image.width() + image.height();
    let mut room = GrayImage::from_pixel(side, side, Luma([255]));
    let place = |length: u32| i64::from((side - length) / 2);
    imageops::replace(&mut room, image, place(image.width()), place(image.height()));
    let center = (side as f32 / 2.0, side as f32 / 2.0);
    let turn = Turn { angle: degrees.to_radians(), center, new_center: center };
    turn.of(&room, (side, side), Luma([255])).into()
}

/// Check digits by hand: 590123412345 has 5+0+2+4+2+4 = 17 and 9+1+3+1+3+5 = 22, so 17 + 3 * 22 = 83 and 7;
/// 9638507 has 3 * (9+3+5+7) + 6+8+0 = 86 and 4; 03600029145 has 3 * (0+6+0+2+1+5) + 3+0+0+9+4 = 58 and 2; the
/// UPC-E 0425261 stands for 04210000526, which has 3 * (0+2+0+0+5+6) + 4+1+0+0+2 = 46 and 4.
const SAMPLES: [(BarcodeFormat, &str, &str); 6] = [
    (BarcodeFormat::EAN_13, "EAN13", "5901234123457"),
    (BarcodeFormat::EAN_8, "EAN8", "96385074"),
    (BarcodeFormat::UPC_A, "UPCA", "036000291452"),
    (BarcodeFormat::UPC_E, "UPCE", "04252614"),
    (BarcodeFormat::CODE_128, "CODE128", "Parcel 42/b"),
    (BarcodeFormat::QR_CODE, "QRCODE", "https://example.org/?q=\u{e9}"),
];

#[test]
fn the_pictures_of_the_small_benchmark_are_read() {
    // The codes that images/make.py draws.
    let texts = |name: &str| {
        let mut texts: Vec<String> = found(&picture(name)).into_iter().map(|(_, text)| text).collect();
        texts.sort();
        texts
    };
    assert_eq!(texts("shelf.png"), ["4006381333931", "9780201379624"]);
    assert_eq!(texts("parcel.png"), ["HB-2044-7719-EX", "https://example.org/track/HB20447719"]);
    assert_eq!(texts("badges.png"), ["Ada:speaker:2026", "Grace:staff:2026", "Linus:guest:2026"]);
    assert_eq!(texts("poster.png"), ["https://example.org/night"]);
    for name in ["receipt.png", "crowd.png", "plan.png", "chart.png", "dice.png"] {
        assert!(texts(name).is_empty(), "{name}");
    }
}

#[test]
fn codes_are_read_in_every_size_with_a_box_around_them() {
    for (format, kind, text) in SAMPLES {
        for module in [1, 2, 7] {
            let image = drawn(text, format, module);
            let codes = scan(&image.clone().into());
            let [code] = codes.as_slice() else { panic!("{kind} with {module}: {codes:?}") };
            assert_eq!((code.kind, code.text.as_str()), (kind, text), "{module} pixels a module");
            // 12 modules of white on each side; rxing draws some more within its matrix.
            let Rect { x, y, width, height } = code.rect;
            let margin = 12 * module - module;
            assert!(x >= margin && y >= margin, "{kind} with {module}: {:?}", code.rect);
            assert!(x + width <= image.width() - margin && y + height <= image.height() - margin, "{code:?}");
            let is_square = kind == "QRCODE";
            assert!(height >= if is_square { 20 * module } else { 38 * module }, "{code:?}");
            assert!(width >= if is_square { height - module } else { 48 * module }, "{code:?}");
        }
    }
}

#[test]
fn codes_are_read_at_every_angle_and_nothing_else_is() {
    for (format, kind, text) in SAMPLES {
        for degrees in [7.0, 15.5, 30.5, 45.0, 60.0, 90.0, 135.0, 180.0, 270.0, 285.5] {
            let image = turned(&drawn(text, format, 2), degrees);
            assert_eq!(found(&image), only(kind, text), "turned by {degrees} degrees");
        }
    }
}

#[test]
fn noise_transparency_and_white_on_black_are_read() {
    for (format, kind, text) in SAMPLES {
        let mut noisy = drawn(text, format, 4);
        add_noise(&mut noisy, 20.0);
        assert_eq!(found(&noisy.into()), only(kind, text), "with noise");
        let mut inverted = drawn(text, format, 3);
        imageops::invert(&mut inverted);
        assert_eq!(found(&inverted.into()), only(kind, text), "white on black");
    }
    let code = drawn("5901234123457", BarcodeFormat::EAN_13, 3);
    let clear = image::RgbaImage::from_fn(code.width(), code.height(), |x, y| {
        image::Rgba([0, 0, 0, 255 - code.get_pixel(x, y).0[0]])
    });
    assert_eq!(found(&clear.into()), only("EAN13", "5901234123457"), "on nothing");
}

#[test]
fn several_codes_are_found_even_alike_ones() {
    let ean = drawn("5901234123457", BarcodeFormat::EAN_13, 2);
    let square = drawn("one", BarcodeFormat::QR_CODE, 4);
    let mut sheet = GrayImage::from_pixel(900, 700, Luma([255]));
    imageops::replace(&mut sheet, &ean, 20, 20);
    imageops::replace(&mut sheet, &ean, 500, 20);
    imageops::replace(&mut sheet, &square, 20, 300);
    imageops::replace(&mut sheet, &square, 300, 300);
    imageops::replace(&mut sheet, &drawn("A-1", BarcodeFormat::CODE_128, 2), 560, 400);
    let mut found = found(&sheet.into());
    found.sort();
    let expected = [
        ("CODE128", "A-1"),
        ("EAN13", "5901234123457"),
        ("EAN13", "5901234123457"),
        ("QRCODE", "one"),
        ("QRCODE", "one"),
    ];
    assert_eq!(found, expected.map(|(kind, text)| (kind, text.to_owned())));
}

#[test]
fn a_wrong_check_digit_is_no_code() {
    // The bars of 5901234123457 with two of their modules changed: digits that do not fit the last one.
    let mut image = drawn("5901234123457", BarcodeFormat::EAN_13, 4);
    let middle = image.width() / 4;
    for y in 0..image.height() {
        for x in middle..middle + 24 {
            image.put_pixel(x, y, Luma([0]));
        }
    }
    assert!(found(&image.into()).is_empty());
}

#[test]
fn tiny_and_odd_images_hold_nothing() {
    for (width, height) in [(1, 1), (1, 500), (500, 1), (39, 39), (3000, 2)] {
        for value in [0, 128, 255] {
            let image = GrayImage::from_pixel(width, height, Luma([value]));
            assert!(found(&image.into()).is_empty(), "{width} x {height} of {value}");
        }
    }
    let stripes = GrayImage::from_fn(600, 400, |x, _| Luma([if x % 6 < 3 { 0 } else { 255 }]));
    assert!(found(&stripes.into()).is_empty());
}
