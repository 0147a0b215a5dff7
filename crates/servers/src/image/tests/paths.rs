//! Tests of which files are read and written, and in which formats.

use image::{GenericImageView as _, Rgba, RgbaImage};
use m3_mcp::{Answer, Toolbox as _};
use serde_json::{Value, json};

use super::{Desk, WHITE, shown};

const CROP: [(&str, i64); 4] = [("x1", 0), ("y1", 0), ("x2", 2), ("y2", 1)];

fn crop(input: &str, output: Option<&str>) -> Value {
    let mut arguments = json!({"input_path": input, "output_path": output});
    for (name, value) in CROP {
        arguments[name] = json!(value);
    }
    arguments
}

#[test]
fn results_go_beside_the_input_and_replace_nothing() {
    let desk = Desk::white(4, 4);
    assert_eq!(desk.path("crop", &crop("./a.png", None)), "./a_cropped.png");
    assert_eq!(desk.path("crop", &crop("a.png", None)), "a_cropped_2.png");
    assert_eq!(desk.path("crop", &crop("a.png", Some(""))), "a_cropped_3.png");
    assert_eq!(desk.read("a_cropped.png").dimensions(), (2, 1));
    let gray = json!({"input_path": "a.png", "palette": "grayscale"});
    assert_eq!(desk.path("change_color", &gray), "a_grayscale.png");
}

/// A call looks for its input as soon as it arrives, before its result is awaited: a picture made afterwards comes
/// too late.
#[test]
fn of_two_calls_at_once_neither_finds_what_the_other_makes() {
    let desk = Desk::white(4, 4);
    let arguments = json!({"input_path": "b.png", "angle": 90, "output_path": "c.png"});
    let mut turn = desk.server.call("rotate", arguments.as_object().unwrap().clone());
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    let answer = turn.as_mut().poll(&mut context);
    desk.path("crop", &crop("a.png", Some("b.png")));
    assert!(matches!(answer, std::task::Poll::Ready(Answer::Result(result)) if result.is_error));
}

#[test]
fn a_path_that_is_named_is_written_even_over_the_input() {
    let desk = Desk::white(4, 4);
    assert_eq!(desk.path("crop", &crop("a.png", Some("deep/er/b.jpg"))), "deep/er/b.jpg");
    assert_eq!(image::open(desk.folder.path().join("deep/er/b.jpg")).unwrap().dimensions(), (2, 1));
    assert_eq!(desk.path("crop", &crop("a.png", Some("a.png"))), "a.png");
    assert_eq!(desk.read("a.png").dimensions(), (2, 1));
    assert_eq!(desk.path("crop", &crop("a.png", Some("plain"))), "plain.png");
}

#[test]
fn every_format_is_written_as_its_name_says() {
    let desk = Desk::with(&RgbaImage::from_pixel(4, 4, Rgba([200, 40, 40, 255])));
    for (extension, format) in [
        ("png", image::ImageFormat::Png),
        ("jpg", image::ImageFormat::Jpeg),
        ("JPEG", image::ImageFormat::Jpeg),
        ("webp", image::ImageFormat::WebP),
        ("gif", image::ImageFormat::Gif),
        ("bmp", image::ImageFormat::Bmp),
        ("tiff", image::ImageFormat::Tiff),
    ] {
        let path = desk.path("crop", &crop("a.png", Some(&format!("b.{extension}"))));
        let bytes = std::fs::read(desk.folder.path().join(&path)).unwrap();
        assert_eq!(image::guess_format(&bytes).unwrap(), format, "{extension}");
        let again = desk.result("rotate", &json!({"input_path": path, "angle": 0}));
        let [red, green, blue, alpha] = shown(&again)[(0, 0)].0.map(i32::from);
        assert!((red - 200).abs() < 8 && (green - 40).abs() < 8 && (blue - 40).abs() < 8, "{extension}");
        assert_eq!(alpha, 255);
    }
    for path in ["b.txt", "b.py", "b.svg", "b.ico", ".bashrc.sh"] {
        let failure = desk.failure("crop", crop("a.png", Some(path)));
        assert!(failure.contains("names no format"), "{failure}");
        assert!(!desk.folder.path().join(path).exists());
    }
}

#[test]
fn transparency_is_kept_where_the_format_has_it() {
    let desk = Desk::with(&RgbaImage::from_pixel(4, 4, Rgba([0, 0, 0, 0])));
    assert_eq!(desk.read(&desk.path("crop", &crop("a.png", None)))[(0, 0)].0[3], 0);
    let [red, ..] = desk.read(&desk.path("crop", &crop("a.png", Some("b.jpg"))))[(0, 0)].0;
    assert!(red > 250, "white shows through");
}

/// A JPEG whose EXIF data say that it is to be turned by 90 degrees clockwise: what is stored 4 wide and 2 high is
/// shown 2 wide and 4 high.
#[test]
fn images_are_turned_as_their_exif_data_say() {
    let desk = Desk::new();
    let stored =
        RgbaImage::from_fn(16, 8, |x, _| if x < 8 { Rgba([255, 0, 0, 255]) } else { Rgba([0, 0, 255, 255]) });
    let mut jpeg = std::io::Cursor::new(Vec::new());
    image::DynamicImage::from(stored).into_rgb8().write_to(&mut jpeg, image::ImageFormat::Jpeg).unwrap();
    // TIFF, little-endian, one entry: tag 0x0112 (orientation), type 3 (short), count 1, value 6 (EXIF 2.32, 4.6.4).
    let exif = b"Exif\0\0II\x2a\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    let mut bytes = jpeg.into_inner();
    let mut segment = vec![0xff, 0xe1, 0, u8::try_from(exif.len() + 2).unwrap()];
    segment.extend_from_slice(exif);
    bytes.splice(2..2, segment);
    std::fs::write(desk.folder.path().join("photo.jpg"), bytes).unwrap();
    let metainfo =
        desk.result("get_metainfo", &json!({"input_path": "photo.jpg"})).structured_content.unwrap();
    assert_eq!(metainfo["dimensions"]["width"], 8);
    assert_eq!(metainfo["exif_orientation"], 6);
    let image = desk
        .read(&desk.path("rotate", &json!({"input_path": "photo.jpg", "angle": 0, "output_path": "b.png"})));
    assert_eq!(image.dimensions(), (8, 16));
    assert!(image[(4, 2)].0[0] > 200 && image[(4, 13)].0[2] > 200, "the left is on top now");
}

#[test]
fn nothing_outside_is_read_or_written() {
    let outside = tempfile::tempdir().unwrap();
    RgbaImage::from_pixel(4, 4, WHITE).save(outside.path().join("o.png")).unwrap();
    let desk = Desk::white(4, 4);
    let target = outside.path().join("o.png");
    let target = target.to_str().unwrap();
    for path in ["../o.png", target, "/etc/passwd", "/dev/zero", "/x.png"] {
        for arguments in [crop(path, Some("b.png")), crop("a.png", Some(path))] {
            let failure = desk.failure("crop", arguments);
            assert!(
                failure.contains("leads out") || failure.contains("names no format"),
                "{path}: {failure}"
            );
        }
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(target, desk.folder.path().join("link.png")).unwrap();
        std::os::unix::fs::symlink(outside.path(), desk.folder.path().join("way")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("new.png"), desk.folder.path().join("a_cropped.png"))
            .unwrap();
        for arguments in [
            crop("link.png", Some("b.png")),
            crop("a.png", Some("link.png")),
            crop("way/o.png", Some("b.png")),
            crop("a.png", Some("way/n.png")),
            crop("a.png", None),
        ] {
            let failure = desk.failure("crop", arguments);
            assert!(failure.contains("leads out"), "{failure}");
        }
    }
    let names: Vec<_> =
        std::fs::read_dir(outside.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["o.png"]);
    assert_eq!(image::open(target).unwrap().dimensions(), (4, 4));
}

#[test]
fn large_pictures_are_shown_smaller_and_said_to_be() {
    let desk = Desk::white(3136, 1000);
    let result = desk.result("rotate", &json!({"input_path": "a.png", "angle": 180}));
    assert_eq!(shown(&result).dimensions(), (1568, 500));
    let text = result.all_text();
    assert!(text.contains("1568 x 500 pixels") && text.contains("3136 x 1000"), "{text}");
    assert_eq!(result.structured_content.unwrap()["width"], 3136);
    let small = desk.result("crop", &crop("a.png", None));
    assert_eq!(shown(&small).dimensions(), (2, 1));
    assert_eq!(small.all_text(), r#"{"height":1,"result":["a_cropped.png"],"width":2}"#);
}

/// Noise does not compress: 1500 x 1500 pixels of it have 6.75 MB.
#[test]
fn pictures_of_many_bytes_are_shown_smaller() {
    let mut state = 1_u32;
    let noise = RgbaImage::from_fn(1500, 1500, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let [red, green, blue, _] = state.to_be_bytes();
        Rgba([red, green, blue, 255])
    });
    let desk = Desk::with(&noise);
    let result = desk.result("rotate", &json!({"input_path": "a.png", "angle": 90}));
    assert!(shown(&result).width() < 1000);
    assert!(result.all_text().contains("the file has 1500 x 1500"));
}

#[test]
fn what_is_no_image_is_said() {
    let desk = Desk::white(4, 4);
    std::fs::write(desk.folder.path().join("text.png"), "no image").unwrap();
    std::fs::write(desk.folder.path().join("empty.png"), "").unwrap();
    std::fs::create_dir(desk.folder.path().join("folder.png")).unwrap();
    for (path, expected) in [
        ("text.png", "is not an image"),
        ("empty.png", "is not an image"),
        ("folder.png", "not a plain file"),
        ("none.png", "no file `none.png` in the workspace"),
        ("\u{1b}[2J.png", "no file `\\u{1b}[2J.png`"),
    ] {
        for tool in ["crop", "get_metainfo"] {
            let failure = desk.failure(tool, crop(path, None));
            assert!(failure.contains(expected), "{failure}");
        }
    }
}
