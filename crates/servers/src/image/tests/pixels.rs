//! Tests of the tools' effect on pixels. Expected pictures are drawn by hand from the definitions in the code's
//! comments.

use image::{Rgba, RgbaImage};
use serde_json::{Value, json};

use super::{Desk, WHITE, drawing};

/// Six pixels of different colors:
/// ```text
/// 10 20 30
/// 40 50 60
/// ```
fn six() -> RgbaImage {
    RgbaImage::from_fn(3, 2, |x, y| {
        let value = u8::try_from(10 * (3 * y + x + 1)).unwrap();
        Rgba([value, value + 1, value + 2, 255])
    })
}

/// The red values, row by row.
fn reds(image: &RgbaImage) -> Vec<Vec<u8>> {
    image.rows().map(|row| row.map(|pixel| pixel.0[0]).collect()).collect()
}

#[test]
fn crop_leaves_out_the_last_edges() {
    let desk = Desk::with(&six());
    let crop = |x1: i64, y1: i64, x2: i64, y2: i64| {
        reds(&desk.picture("crop", json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2})))
    };
    assert_eq!(crop(1, 0, 3, 1), [[20, 30]]);
    assert_eq!(crop(0, 1, 2, 2), [[40, 50]]);
    assert_eq!(crop(-5, -5, 2, 1), [[10, 20]], "what reaches beyond is cut off");
    assert_eq!(crop(2, 1, i64::MAX, i64::MAX), [[60]]);
}

#[test]
fn crop_of_nothing_tells_the_size() {
    let desk = Desk::with(&six());
    for [x1, y1, x2, y2] in [[1, 0, 1, 2], [2, 0, 1, 2], [3, 0, 9, 2], [0, -4, 3, 0], [0, 5, 3, 9]] {
        let failure = desk.failure("crop", json!({"x1": x1, "y1": y1, "x2": x2, "y2": y2}));
        assert!(failure.contains("3 x 2 pixels"), "{failure}");
    }
}

#[test]
fn positive_angles_turn_counterclockwise() {
    let desk = Desk::with(&six());
    let rotate = |angle: f64| reds(&desk.picture("rotate", json!({"angle": angle})));
    assert_eq!(rotate(90.0), [[30, 60], [20, 50], [10, 40]]);
    assert_eq!(rotate(-90.0), [[40, 10], [50, 20], [60, 30]]);
    assert_eq!(rotate(180.0), [[60, 50, 40], [30, 20, 10]]);
    assert_eq!(rotate(720.0), reds(&six()));
}

/// The square's corners are 20 / sqrt(2) = 14.14 from its center: the result is 28 wide.
#[test]
fn other_angles_keep_everything_and_leave_black_corners() {
    let mut square = RgbaImage::from_pixel(20, 20, WHITE);
    // The upper left corner is red: turned by 45 degrees counterclockwise it is at the left.
    for (x, y) in [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (1, 2), (2, 2)] {
        square.put_pixel(x, y, Rgba([255, 0, 0, 255]));
    }
    let turned = Desk::with(&square).picture("rotate", json!({"angle": 45}));
    assert_eq!(turned.dimensions(), (28, 28));
    for corner in [(0, 0), (27, 0), (0, 27), (27, 27)] {
        assert_eq!(turned[corner], Rgba([0, 0, 0, 255]));
    }
    assert_eq!(turned[(14, 14)], WHITE);
    let [red, green, ..] = turned[(2, 14)].0;
    assert!(red > 200 && green < 100, "{:?}", turned[(2, 14)]);
}

#[test]
fn resize_takes_the_nearest_pixel() {
    let desk = Desk::with(&six());
    let doubled = desk.picture("resize", json!({"scale_factor": 2, "interpolation": "nearest"}));
    let rows = [[10, 10, 20, 20, 30, 30], [40, 40, 50, 50, 60, 60]];
    assert_eq!(reds(&doubled), [rows[0], rows[0], rows[1], rows[1]]);
}

/// Two columns are as dark as their mean: (10 + 20) / 2.
#[test]
fn resize_by_area_takes_the_mean() {
    let two = RgbaImage::from_fn(2, 1, |x, _| Rgba([if x == 0 { 10 } else { 20 }, 0, 0, 255]));
    let desk = Desk::with(&two);
    for interpolation in ["area", "linear"] {
        let one = desk.picture("resize", json!({"width": 1, "height": 1, "interpolation": interpolation}));
        assert_eq!(reds(&one), [[15]], "{interpolation}");
    }
}

#[test]
fn a_side_that_is_not_named_keeps_the_proportions() {
    let desk = Desk::white(300, 200);
    let size = |arguments: Value| desk.picture("resize", arguments).dimensions();
    assert_eq!(size(json!({"width": 150})), (150, 100));
    assert_eq!(size(json!({"height": 50, "width": null})), (75, 50));
    assert_eq!(size(json!({"width": 10, "height": 20})), (10, 20));
    assert_eq!(size(json!({"scale_factor": 0.1, "width": 7})), (30, 20), "the factor goes first");
    // 200 * 100 / 300 = 66.7, rounded down as `imagesorcery-mcp` does.
    assert_eq!(size(json!({"width": 100})), (100, 66));
    assert_eq!(size(json!({"width": 1})), (1, 1), "0.67, but at least 1");
}

/// ITU-R BT.601: 0.299 * 200 + 0.587 * 100 + 0.114 * 50 = 124.2.
#[test]
fn gray_is_luma() {
    let desk = Desk::with(&RgbaImage::from_pixel(1, 1, Rgba([200, 100, 50, 255])));
    let gray = desk.picture("change_color", json!({"palette": "grayscale"}));
    assert_eq!(gray[(0, 0)], Rgba([124, 124, 124, 255]));
}

/// W3C Filter Effects, "Sepia", at 1: red 0.393 * 100 + 0.769 * 60 + 0.189 * 20 = 89.22, green 0.349 * 100 +
/// 0.686 * 60 + 0.168 * 20 = 79.42, blue 0.272 * 100 + 0.534 * 60 + 0.131 * 20 = 61.86. White: 1.351 * 255
/// and 1.203 * 255 are too much, 0.937 * 255 = 238.9.
#[test]
fn sepia_is_that_of_the_web() {
    let mut image = RgbaImage::from_pixel(2, 1, Rgba([100, 60, 20, 77]));
    image.put_pixel(1, 0, WHITE);
    let sepia = Desk::with(&image).picture("change_color", json!({"palette": "sepia"}));
    assert_eq!(sepia[(0, 0)], Rgba([89, 79, 62, 77]));
    assert_eq!(sepia[(1, 0)], Rgba([255, 255, 239, 255]));
}

#[expect(clippy::needless_pass_by_value, reason = "arguments are written where the call is")]
fn rectangle(arguments: Value) -> Vec<String> {
    drawing(&Desk::white(7, 6).picture("draw_rectangles", json!({"rectangles": [arguments]})))
}

#[test]
fn rectangles_have_all_four_edges() {
    let thin = [".......", ".#####.", ".#...#.", ".#...#.", ".#####.", "......."];
    assert_eq!(rectangle(json!({"x1": 1, "y1": 1, "x2": 5, "y2": 4})), thin);
    assert_eq!(rectangle(json!({"x1": 5, "y1": 1, "x2": 1, "y2": 4})), thin, "any two corners");
    let full = [".......", ".#####.", ".#####.", ".#####.", ".#####.", "......."];
    assert_eq!(rectangle(json!({"x1": 1, "y1": 1, "x2": 5, "y2": 4, "filled": true})), full);
    assert_eq!(rectangle(json!({"x1": 1, "y1": 1, "x2": 5, "y2": 4, "thickness": -1})), full);
    // Two wide: the second line is outside.
    let wide = ["#######", "#######", "##...##", "##...##", "#######", "#######"];
    assert_eq!(rectangle(json!({"x1": 1, "y1": 1, "x2": 5, "y2": 4, "thickness": 2})), wide);
    // Three wide: one on both sides of the edge, which leaves nothing of this hole.
    assert_eq!(rectangle(json!({"x1": 1, "y1": 1, "x2": 5, "y2": 4, "thickness": 3})), ["#######"; 6]);
    assert_eq!(rectangle(json!({"x1": -9, "y1": 2, "x2": 3, "y2": 99}))[2], "####...");
}

/// Radius 2 around (3, 3), filled: distances of at most 2. Outline: at least 1.5 and less than 2.5, so squares of
/// distances 4 and 5, and not 8.
#[test]
fn circles_are_round() {
    let circle = |arguments: Value| {
        drawing(&Desk::white(7, 7).picture("draw_circles", json!({"circles": [arguments]})))
    };
    let filled = [".......", "...#...", "..###..", ".#####.", "..###..", "...#...", "......."];
    assert_eq!(circle(json!({"center_x": 3, "center_y": 3, "radius": 2, "filled": true})), filled);
    assert_eq!(circle(json!({"center_x": 3, "center_y": 3, "radius": 2, "thickness": -1})), filled);
    let outline = [".......", "..###..", ".#...#.", ".#...#.", ".#...#.", "..###..", "......."];
    assert_eq!(circle(json!({"center_x": 3, "center_y": 3, "radius": 2})), outline);
    let point = [".......", ".......", ".......", "...#...", ".......", ".......", "......."];
    assert_eq!(circle(json!({"center_x": 3, "center_y": 3, "radius": 0})), point);
    assert_eq!(circle(json!({"center_x": 100, "center_y": 3, "radius": 2})), ["......."; 7]);
}

#[test]
fn colors_are_blue_green_red() {
    let circles = json!([
        {"center_x": 0, "center_y": 0, "radius": 0, "color": [1, 2, 3]},
        {"center_x": 1, "center_y": 0, "radius": 0, "color": [-1, 300, 255]},
        {"center_x": 2, "center_y": 0, "radius": 0},
    ]);
    let image = Desk::white(4, 1).picture("draw_circles", json!({"circles": circles}));
    let expected = [[3, 2, 1, 255], [255, 255, 0, 255], [0, 0, 0, 255], [255; 4]].map(Rgba);
    assert_eq!(image.pixels().copied().collect::<Vec<_>>(), expected);
}

#[test]
fn lines_are_as_wide_as_asked_for() {
    let line =
        |arguments: Value| drawing(&Desk::white(7, 5).picture("draw_lines", json!({"lines": [arguments]})));
    let thin = [".......", ".......", ".#####.", ".......", "......."];
    assert_eq!(line(json!({"x1": 1, "y1": 2, "x2": 5, "y2": 2})), thin);
    assert_eq!(line(json!({"x1": 5, "y1": 2, "x2": 1, "y2": 2})), thin);
    assert_eq!(
        line(json!({"x1": 0, "y1": 0, "x2": 4, "y2": 4})),
        ["#......", ".#.....", "..#....", "...#...", "....#.."]
    );
    // The middle is at 1.5: rows 1 and 2. The ends are round: half a pixel up and left, then 1 away.
    let wide = line(json!({"x1": 2, "y1": 2, "x2": 4, "y2": 2, "thickness": 2}));
    assert_eq!(wide, [".......", ".####..", ".####..", ".......", "......."]);
    let three = line(json!({"x1": -10, "y1": 2, "x2": 99, "y2": 2, "thickness": 3}));
    assert_eq!(three, [".......", "#######", "#######", "#######", "......."]);
    assert_eq!(line(json!({"x1": 3, "y1": 1, "x2": 3, "y2": 1}))[1], "...#...", "a point");
}

/// From (1, 5) to (9, 5), tip 4 long: its ends are 4 * sqrt(1/2) = 2.83 back and to the side, so (6, 2), (6, 8).
#[test]
fn arrows_have_a_tip() {
    let arrows = json!([{"x1": 1, "y1": 5, "x2": 9, "y2": 5, "tip_length": 0.5}]);
    let image = Desk::white(11, 11).picture("draw_arrows", json!({"arrows": arrows}));
    let is_drawn = |x, y| image[(x, y)] != WHITE;
    assert!((1..=9).all(|x| is_drawn(x, 5)));
    assert!([(8, 4), (7, 3), (6, 2), (8, 6), (7, 7), (6, 8)].iter().all(|&(x, y)| is_drawn(x, y)));
    assert!(!is_drawn(5, 1) && !is_drawn(4, 4) && !is_drawn(10, 5));
}

/// Half of 255 over 101 is 128/255 * 255 + 127/255 * 101 = 178.3; under a transparent pixel nothing changes.
#[test]
fn overlays_shine_through() {
    let mut base = RgbaImage::from_pixel(3, 1, Rgba([101, 101, 101, 255]));
    base.put_pixel(2, 0, Rgba([9, 9, 9, 0]));
    let desk = Desk::with(&base);
    let top = RgbaImage::from_fn(3, 1, |x, _| Rgba([255, 0, 255, if x == 0 { 0 } else { 128 }]));
    top.save(desk.folder.path().join("top.png")).unwrap();
    let lay = |x: i64| {
        let arguments = json!({"base_image_path": "a.png", "overlay_image_path": "top.png", "x": x, "y": 0});
        desk.picture("overlay", arguments).pixels().copied().collect::<Vec<_>>()
    };
    let (gray, mixed) = (Rgba([101, 101, 101, 255]), Rgba([178, 50, 178, 255]));
    assert_eq!(lay(0), [gray, mixed, Rgba([255, 0, 255, 128])]);
    assert_eq!(lay(-2), [mixed, gray, Rgba([9, 9, 9, 0])], "cut off at the left");
    for (x, y) in [(3, 0), (-3, 0), (i64::MAX, 0), (0, i64::MIN)] {
        let arguments = json!({"base_image_path": "a.png", "overlay_image_path": "top.png", "x": x, "y": y});
        let failure = desk.failure("overlay", arguments);
        assert!(failure.contains("which is 3 x 1 pixels"), "{failure}");
    }
}

/// A kernel of 3 has weights e^(-1/1.28) : 1 : e^(-1/1.28) with OpenCV's sigma 0.8, so 0.2390, 0.5220, 0.2390;
/// white beside black becomes 255 * 0.2390 = 60.9.
#[test]
fn blur_is_gaussian_and_stays_in_its_area() {
    let image = RgbaImage::from_fn(8, 3, |x, _| if x < 4 { Rgba([0, 0, 0, 255]) } else { WHITE });
    let desk = Desk::with(&image);
    let blur = |arguments: Value| reds(&desk.picture("blur", arguments))[1].clone();
    let area = json!({"x1": 0, "y1": 0, "x2": 3, "y2": 2, "blur_strength": 3});
    assert_eq!(blur(json!({"areas": [area]})), [0, 0, 0, 61, 255, 255, 255, 255]);
    let inverted = blur(json!({"areas": [area], "invert_areas": true}));
    assert_eq!(inverted, [0, 0, 0, 0, 194, 255, 255, 255], "255 - 60.9");
    let polygon = json!({"polygon": [[4, 0], [7, 0], [7, 2], [4, 2]], "blur_strength": 2});
    assert_eq!(blur(json!({"areas": [polygon]})), [0, 0, 0, 0, 194, 255, 255, 255], "2 is made 3");
    assert_eq!(blur(json!({"areas": []})), [0, 0, 0, 0, 255, 255, 255, 255]);
    for invert in [false, true] {
        let outside = json!({"x1": 8, "y1": 0, "x2": 9, "y2": 2});
        let failure = desk.failure("blur", json!({"areas": [area, outside], "invert_areas": invert}));
        assert!(failure.starts_with("`areas[1]` has no pixel of the image, which is 8 x 3"), "{failure}");
    }
}

/// A large area with a large kernel: three box blurs approximate the Gaussian, symmetrically around the edge.
#[test]
fn large_blurs_are_nearly_gaussian() {
    let image = RgbaImage::from_fn(2_000, 1_100, |x, _| if x < 1_000 { Rgba([0, 0, 0, 255]) } else { WHITE });
    let desk = Desk::with(&image);
    let areas = json!([{"x1": 0, "y1": 0, "x2": 1999, "y2": 1099, "blur_strength": 101}]);
    let row = &reds(&desk.picture("blur", json!({"areas": areas})))[550];
    // A kernel of 101 has the standard deviation 0.3 * 49 + 0.8 = 15.5; at that distance from the edge the
    // normal distribution function is 0.159 and 0.841.
    let near = |x: usize, part: f64| (f64::from(row[x]) / 255.0 - part).abs() < 0.03;
    assert!(near(1000 - 16, 0.159) && near(1000, 0.5) && near(1000 + 15, 0.841), "{:?}", &row[980..1020]);
    assert!(row[900] == 0 && row[1100] == 255);
}

#[test]
fn blur_hides_what_was_there() {
    // A fine pattern, which a strong blur turns into nearly uniform gray.
    let image =
        RgbaImage::from_fn(
            200,
            100,
            |x, y| {
                if (x / 3 + y / 3) % 2 == 0 { Rgba([0, 0, 0, 255]) } else { WHITE }
            },
        );
    let desk = Desk::with(&image);
    let areas = json!([{"polygon": [[20, 20], [180, 20], [100, 90]], "blur_strength": 45}]);
    let blurred = desk.picture("blur", json!({"areas": areas}));
    let inside = blurred[(100, 40)].0[0];
    assert!((110..=145).contains(&inside), "{inside}");
    assert_eq!(blurred[(20, 80)], image[(20, 80)], "outside of the polygon");
}

#[test]
fn metainfo_tells_the_size() {
    let desk = Desk::white(30, 20);
    let result = desk.result("get_metainfo", &json!({"input_path": "./a.png"}));
    let metainfo = result.structured_content.unwrap();
    assert_eq!(metainfo["dimensions"], json!({"width": 30, "height": 20, "aspect_ratio": 1.5}));
    assert_eq!((&metainfo["format"], &metainfo["color_mode"]), (&json!("PNG"), &json!("RGBA")));
    assert_eq!(metainfo["size_bytes"], std::fs::metadata(desk.folder.path().join("a.png")).unwrap().len());
    assert_eq!((&metainfo["filename"], &metainfo["path"]), (&json!("a.png"), &json!("./a.png")));
}
