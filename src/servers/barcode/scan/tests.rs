//! Tests of the scanner, on the pictures of the small benchmark and on codes that rxing's own encoder draws.

use imageproc::noise::gaussian_noise_mut;
use rxing::{MultiFormatWriter, Writer as _};

use super::*;

fn picture(name: &str) -> DynamicImage {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("images").join(name);
    image::open(path).unwrap()
}

fn found(image: &DynamicImage) -> Vec<(&'static str, String)> {
    scan(image).into_iter().map(|code| (code.kind, code.text)).collect()
}

/// A code with `module` pixels a module, bars 40 modules high, and white around it.
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
    let white = Border::Constant(Luma([255]));
    rotate_about_center(&room, degrees.to_radians(), Interpolation::Bilinear, white).into()
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
fn probe() {
    for name in ["shelf.png", "parcel.png", "badges.png", "poster.png", "receipt.png", "crowd.png", "plan.png"] {
        let begin = std::time::Instant::now();
        println!("{name} {:?} {:?}", scan(&picture(name)), begin.elapsed());
    }
    for (format, kind, text) in SAMPLES {
        for module in [2] {
            let begin = std::time::Instant::now();
            let image = drawn(text, format, module);
            let f = scan(&image.clone().into());
            println!("{} {kind} {module} {:?} {:?} {f:?}", f.len()==1 && f[0].kind==kind && f[0].text==text, image.dimensions(), begin.elapsed());
        }
        for degrees in (0..360).step_by(15) {
            let f = scan(&turned(&drawn(text, format, 2 + (degrees/15) % 2), degrees as f32 + 0.5));
            if !(f.len()==1 && f[0].kind==kind && f[0].text==text) { println!("BAD {kind} turned {degrees} {f:?}"); }
        }
        for noise in [20.0] {
            let mut image = drawn(text, format, 4);
            gaussian_noise_mut(&mut image, 0.0, noise, 7);
            let f = scan(&image.clone().into());
            println!("{} noise {kind} {noise} {f:?}", f.len()==1 && f[0].kind==kind && f[0].text==text);
        }
    }
}
