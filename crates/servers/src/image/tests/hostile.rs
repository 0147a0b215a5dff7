//! Tests of arguments that are wrong, huge, or random.

use m3_mcp::{Answer, Toolbox as _};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Desk, WHITE, on_a};

#[test]
fn arguments_that_the_schema_refuses_are_invalid() {
    let desk = Desk::white(4, 4);
    for (tool, arguments, expected) in [
        ("crop", json!({"x1": 0}), "\"y1\" is a required property"),
        ("crop", json!({"x1": "0", "y1": 0, "x2": 1, "y2": 1}), "`/x1`"),
        ("crop", json!({"x1": 0.5, "y1": 0, "x2": 1, "y2": 1}), "`/x1`"),
        ("draw_circles", json!({"circles": [{"center_x": 1, "center_y": 2}]}), "`/circles/0`"),
        ("draw_texts", json!({"texts": "hello"}), "`/texts`"),
        ("change_color", json!({"palette": "neon"}), "`/palette`"),
        ("resize", json!({"interpolation": "best"}), "`/interpolation`"),
        ("rotate", json!({"angle": null}), "`/angle`"),
    ] {
        match desk.answer(tool, &on_a(arguments)) {
            Answer::InvalidArguments(message) => assert!(message.contains(expected), "{tool}: {message}"),
            other => panic!("{tool}: {other:?}"),
        }
    }
    assert_eq!(desk.answer("detect", &json!({})), Answer::UnknownTool);
}

#[test]
fn values_that_make_no_sense_are_named() {
    let desk = Desk::white(4, 4);
    for (tool, arguments, expected) in [
        (
            "draw_circles",
            json!({"circles": [{"center_x": 1, "center_y": 2, "radius": -1}]}),
            "`circles[0].radius`",
        ),
        (
            "draw_circles",
            json!({"circles": [{"center_x": 1, "center_y": 2, "radius": 1, "color": [1, 2]}]}),
            "`circles[0].color`",
        ),
        (
            "draw_lines",
            json!({"lines": [{"x1": 1, "y1": 2, "x2": 1, "y2": 2, "thickness": 0}]}),
            "`lines[0].thickness`",
        ),
        (
            "draw_arrows",
            json!({"arrows": [{"x1": 1, "y1": 2, "x2": 1, "y2": 2, "tip_length": 1e300}]}),
            "`arrows[0].tip_length`",
        ),
        (
            "draw_texts",
            json!({"texts": [{"text": "a", "x": 0, "y": 0, "font_scale": 1e9}]}),
            "`texts[0].font_scale`",
        ),
        ("blur", json!({"areas": [{"x1": 1, "y1": 1}]}), "`areas[0]`"),
        ("blur", json!({"areas": [{"polygon": [[1, 2, 3]]}]}), "`areas[0].polygon`"),
        ("blur", json!({"areas": [{"polygon": []}]}), "`areas[0].polygon`"),
        (
            "blur",
            json!({"areas": [{"x1": 1, "y1": 1, "x2": 2, "y2": 2, "blur_strength": 100_000}]}),
            "`areas[0].blur_strength`",
        ),
        ("resize", json!({}), "`width` is missing"),
        ("resize", json!({"width": 0}), "`width`"),
        ("resize", json!({"scale_factor": -1}), "`scale_factor`"),
    ] {
        let failure = desk.failure(tool, arguments);
        assert!(failure.contains(expected), "{tool}: {failure}");
    }
}

#[test]
fn results_that_are_too_large_are_refused() {
    let desk = Desk::white(400, 40);
    for (tool, arguments) in [
        ("resize", json!({"width": 100_000, "height": 1})),
        ("resize", json!({"scale_factor": 1e300})),
        ("resize", json!({"width": 1e300})),
        ("resize", json!({"width": 16_000, "height": 16_000})),
    ] {
        let failure = desk.failure(tool, arguments);
        assert!(failure.contains("at most 25 million pixels"), "{tool}: {failure}");
    }
}

/// A PNG of 142 bytes whose header claims 16000 x 16000 pixels.
#[test]
fn images_that_are_too_large_are_not_decoded() {
    let desk = Desk::white(4, 4);
    let path = desk.folder.path().join("a.png");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[16..24].copy_from_slice(&[0, 0, 62, 128, 0, 0, 62, 128]);
    let checksum = crc32fast::hash(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&checksum.to_be_bytes());
    std::fs::write(path, bytes).unwrap();
    let failure = desk.failure("rotate", json!({"angle": 1}));
    assert!(failure.contains("16000 x 16000 pixels"), "{failure}");
    let metainfo = desk.result("get_metainfo", &json!({"input_path": "a.png"})).structured_content.unwrap();
    assert_eq!(metainfo["dimensions"]["width"], 16_000, "its size may be asked for");
}

/// Without limits, each of these calls would take minutes.
#[test]
fn what_would_take_minutes_is_refused() {
    let desk = Desk::white(2_000, 2_000);
    let far = i64::MAX;
    let circles: Vec<Value> = (0..1_000)
        .map(|index| json!({"center_x": index, "center_y": 5, "radius": far, "filled": true}))
        .collect();
    let failure = desk.failure("draw_circles", json!({"circles": circles}));
    assert!(failure.contains("too much to draw"), "{failure}");
    let many = vec![json!({"x1": 0, "y1": 0, "x2": 1, "y2": 1}); 1_001];
    assert!(desk.failure("draw_lines", json!({"lines": many})).contains("more than 1000"));
    let long = "x".repeat(10 << 20);
    let texts = json!([{"text": long, "x": 0, "y": 50}]);
    assert!(desk.failure("draw_texts", json!({"texts": texts})).contains("100000 bytes"));
    let texts =
        vec![json!({"text": "W".repeat(90), "x": 0, "y": 1_900, "font_scale": 100, "thickness": 900}); 1_000];
    assert!(desk.failure("draw_texts", json!({"texts": texts})).contains("too much to draw"));
    let areas = vec![json!({"x1": 0, "y1": 0, "x2": far, "y2": far, "blur_strength": 999}); 1_000];
    assert!(desk.failure("blur", json!({"areas": areas})).contains("too much to draw"));
}

/// Thin images, wide images and single pixels.
#[test]
fn extreme_shapes_are_resized() {
    for (width, height) in [(16_384, 1), (1, 16_384), (1, 1)] {
        let desk = Desk::white(width, height);
        for method in ["nearest", "linear", "area", "cubic", "lanczos"] {
            for (width, height) in [(1, 1), (1, 1_500), (1_500, 1), (2, 3)] {
                resized_white(&desk, width, height, method);
            }
        }
    }
}

/// One image of more pixels than 32 bits can add up; and both orders of resizing through 16384 x 1500 pixels.
#[test]
fn large_images_are_resized() {
    let desk = Desk::white(5_000, 5_000);
    resized_white(&desk, 1, 1, "area");
    resized_white(&desk, 2, 1, "area");
    resized_white(&desk, 1, 16_384, "linear");
}

fn resized_white(desk: &Desk, width: u32, height: u32, method: &str) {
    let arguments =
        json!({"width": width, "height": height, "interpolation": method, "output_path": "b.bmp"});
    let image = desk.picture("resize", arguments);
    assert_eq!(image.dimensions(), (width, height));
    assert!(image.pixels().all(|pixel| *pixel == WHITE), "{method} {width} {height}");
}

#[test]
fn calls_at_the_same_time_do_not_replace_each_other() {
    let desk = Desk::white(40, 40);
    let calls: Vec<_> = (1..=8)
        .map(|side: u32| {
            let arguments = json!({"input_path": "a.png", "x1": 0, "y1": 0, "x2": side, "y2": side});
            desk.server.call("crop", arguments.as_object().unwrap().clone())
        })
        .collect();
    let answers = desk.runtime.block_on(async {
        let mut answers = Vec::new();
        let mut calls: Vec<_> = calls;
        std::future::poll_fn(|context| {
            calls.retain_mut(|call| match call.as_mut().poll(context) {
                std::task::Poll::Ready(answer) => {
                    answers.push(answer);
                    false
                }
                std::task::Poll::Pending => true,
            });
            if calls.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
        })
        .await;
        answers
    });
    let mut sides = Vec::new();
    for answer in answers {
        let Answer::Result(result) = answer else { panic!("{answer:?}") };
        let output = result.structured_content.unwrap();
        let image = desk.read(output["result"][0].as_str().unwrap());
        assert_eq!(output["width"], image.width());
        sides.push(image.width());
    }
    sides.sort_unstable();
    assert_eq!(sides, [1, 2, 3, 4, 5, 6, 7, 8]);
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (-40_i64..60).prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => prop_oneof![Just(1e300), Just(-1e300), Just(5e-324), Just(-0.0), Just(0.5), Just(1e18)].prop_map(Value::from),
    ]
}

fn color() -> impl Strategy<Value = Value> {
    proptest::collection::vec(number(), 2..5).prop_map(Value::from)
}

/// An object with some of the keys of items.
fn item() -> impl Strategy<Value = Value> {
    let names = ["x1", "y1", "x2", "y2", "x", "y", "center_x", "center_y", "radius"];
    let numbers = proptest::collection::vec(number(), names.len());
    let corner = proptest::collection::vec(number(), 2).prop_map(Value::from);
    let extras = (
        proptest::option::of(color()),
        proptest::option::of(number()),
        proptest::option::of(prop_oneof![Just(json!(0.3)), Just(json!(7)), number()]),
        proptest::option::of(proptest::collection::vec(corner, 0..6).prop_map(Value::from)),
        any::<bool>(),
        ".{0,12}",
        proptest::option::of(number()),
    );
    (numbers, extras).prop_map(
        move |(numbers, (color, thickness, scale, polygon, filled, text, strength))| {
            let mut item = json!({"text": text, "filled": filled});
            for (name, number) in names.into_iter().zip(numbers) {
                item[name] = number;
            }
            for (name, value) in [
                ("color", color),
                ("thickness", thickness),
                ("font_scale", scale.clone()),
                ("tip_length", scale),
                ("polygon", polygon),
                ("blur_strength", strength),
            ] {
                if let Some(value) = value {
                    item[name] = value;
                }
            }
            item
        },
    )
}

fn no_panic(answer: &Answer) -> Result<(), TestCaseError> {
    match answer {
        Answer::Result(_) | Answer::InvalidArguments(_) => Ok(()),
        other => Err(TestCaseError::fail(format!("{other:?}"))),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_item_crashes_a_tool(
        items in proptest::collection::vec(item(), 1..4),
        tool in 0_usize..6,
        invert in any::<bool>(),
        (width, height) in (1_u32..40, 1_u32..40),
    ) {
        let desk = Desk::white(width, height);
        let (tool, list) = [
            ("draw_circles", "circles"), ("draw_rectangles", "rectangles"), ("draw_lines", "lines"),
            ("draw_arrows", "arrows"), ("draw_texts", "texts"), ("blur", "areas"),
        ][tool];
        let mut arguments = json!({"input_path": "a.png", "output_path": "b.png", "invert_areas": invert});
        arguments[list] = Value::from(items);
        let answer = desk.answer(tool, &arguments);
        no_panic(&answer)?;
        if let Answer::Result(result) = answer && !result.is_error {
            prop_assert_eq!(desk.read("b.png").dimensions(), (width, height));
        }
    }

    #[test]
    fn no_number_crashes_a_tool(
        numbers in proptest::collection::vec(number(), 5),
        factor in prop_oneof![-1.0..3.0, any::<f64>().prop_filter("JSON has finite numbers", |value| value.is_finite())],
        method in proptest::sample::select(vec!["nearest", "linear", "area", "cubic", "lanczos"]),
        tool in 0_usize..5,
        (width, height) in (1_u32..40, 1_u32..40),
    ) {
        let desk = Desk::white(width, height);
        let [a, b, c, d, _] = numbers.as_slice() else { unreachable!() };
        let (tool, mut arguments) = match tool {
            0 => ("crop", json!({"x1": a, "y1": b, "x2": c, "y2": d})),
            1 => ("resize", json!({"width": a, "height": b, "interpolation": method})),
            2 => ("resize", json!({"scale_factor": factor, "interpolation": method})),
            3 => ("rotate", json!({"angle": factor * 100.0})),
            _ => ("overlay", json!({"base_image_path": "a.png", "overlay_image_path": "a.png", "x": a, "y": b})),
        };
        arguments["input_path"] = json!("a.png");
        arguments["output_path"] = json!("b.png");
        let answer = desk.answer(tool, &arguments);
        no_panic(&answer)?;
        if let Answer::Result(result) = answer && !result.is_error {
            let (made_width, made_height) = desk.read("b.png").dimensions();
            let output = result.structured_content.unwrap();
            prop_assert_eq!((&output["width"], &output["height"]), (&json!(made_width), &json!(made_height)));
            match tool {
                "overlay" => prop_assert_eq!((made_width, made_height), (width, height)),
                "crop" => prop_assert!(made_width <= width && made_height <= height),
                // The width is between that of the sides and that of the diagonal.
                "rotate" => prop_assert!(f64::from(made_width) <= f64::from(width).hypot(f64::from(height)) + 1e-3),
                _ => {}
            }
        }
    }

    #[test]
    fn no_file_crashes_a_tool(bytes in proptest::collection::vec(any::<u8>(), 0..200), kind in 0_usize..7) {
        let desk = Desk::new();
        let heads: [&[u8]; 7] = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"\xff\xd8\xff\xe1", b"GIF89a", b"RIFF\x50\0\0\0WEBPVP8L", b"BM", b"II\x2a\0", b""];
        let mut file = heads[kind].to_vec();
        file.extend(bytes);
        std::fs::write(desk.folder.path().join("a.png"), file).unwrap();
        for tool in ["get_metainfo", "rotate"] {
            no_panic(&desk.answer(tool, &json!({"input_path": "a.png", "angle": 30})))?;
        }
    }
}
