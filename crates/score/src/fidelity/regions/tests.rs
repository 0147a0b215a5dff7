use std::f64::consts::PI;
use std::fmt::Write as _;

use m3_trajectory::json::parse;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::Fidelity;
use super::super::constants::THRESHOLD;
use super::*;

fn regions_of(tool: &str, schema: Option<&Value>, a: &Value, b: &Value) -> Regions {
    let (a, b, schema) = (Json::from(a), Json::from(b), schema.map(Json::from));
    let pair = CallPair { tool, a: Some(&a), b: Some(&b), question: None, schema: None };
    Regions::new(pair, schema.as_ref().map(Schema::new))
}

/// The mean overlap, if there is any region.
fn mean(regions: &Regions) -> Option<f64> {
    let SumAndCount { sum, count } = regions.overlaps;
    (count > 0).then(|| sum / count as f64)
}

fn overlap(tool: &str, a: &Value, b: &Value) -> Option<f64> {
    mean(&regions_of(tool, None, a, b))
}

fn near(found: Option<f64>, expected: f64) {
    assert!(found.is_some_and(|found| (found - expected).abs() < 1e-12), "{found:?} {expected}");
}

/// Each pair of rows says the box of 0, 0 to 4, 4, and that box moved by 1 along x: 3 x 4 of 5 x 4.
#[test]
fn boxes_are_found_however_they_are_written() {
    for (a, b) in [
        (json!({"x1": 0, "y1": 0, "x2": 4, "y2": 4}), json!({"x1": 1, "y1": 0, "x2": 5, "y2": 4})),
        (
            json!({"xMin": 0, "yMin": 0, "xMax": 4, "yMax": 4}),
            json!({"x_min": 1, "y_min": 0, "x_max": 5, "y_max": 4}),
        ),
        (
            json!({"left": 0, "top": 0, "right": 4, "bottom": 4}),
            json!({"left": 5, "top": 4, "right": 1, "bottom": 0}),
        ),
        (
            json!({"x": 0, "y": 0, "width": 4, "height": 4}),
            json!({"x": 1, "y": 0, "width": "4", "height": 4.0}),
        ),
        (json!({"cx": 2, "cy": 2, "w": 4, "h": 4}), json!({"cx": 3, "cy": 2, "w": 4, "h": 4})),
        (
            json!({"crop_x": 0, "crop_y": 0, "crop_width": 4, "crop_height": 4}),
            json!({"crop_x": 1, "crop_y": 0, "crop_width": 4, "crop_height": 4}),
        ),
        (
            json!({"top_left": [0, 0], "bottom_right": [4, 4]}),
            json!({"top_left": {"x": 1, "y": 0}, "bottom_right": "5, 4"}),
        ),
        (
            json!({"position": {"x": 0, "y": 0}, "size": {"width": 4, "height": 4}}),
            json!({"position": [1, 0], "size": [4, 4]}),
        ),
        (json!({"bbox": [0, 0, 4, 4]}), json!({"bbox": [1, 0, 5, 4]})),
        (json!({"bbox_2d": [0, 0, 4, 4]}), json!({"bbox_2d": "[1, 0, 5, 4]"})),
        (json!({"regions": [[0, 0, 4, 4]]}), json!({"regions": "[[1, 0, 5, 4]]"})),
        (
            json!({"areas": [{"x1": 0, "y1": 0, "x2": 4, "y2": 4, "strength": 9}]}),
            json!({"areas": [{"x1": 1, "y1": 0, "x2": 5, "y2": 4}]}),
        ),
        // In another argument of the same tool.
        (json!({"x1": 0, "y1": 0, "x2": 4, "y2": 4}), json!({"box": [1, 0, 5, 4]})),
    ] {
        near(overlap("image/crop", &a, &b), 0.6);
        near(overlap("image/crop", &b, &a), 0.6);
        near(overlap("image/crop", &a, &a), 1.0);
    }
}

#[test]
fn four_numbers_are_read_as_the_name_or_the_schema_says() {
    // 10, 20 to 30, 50 and to 40, 50; or 30 and 40 wide from there, 50 high.
    let (a, b) = (json!({"it": [10, 20, 30, 50]}), json!({"it": [10, 20, 40, 50]}));
    let schema = |text: &str| json!({"properties": {"it": {"type": "array", "description": text}}});
    let overlap_by = |text: &str| mean(&regions_of("s/t", Some(&schema(text)), &a, &b));
    near(overlap_by("The area as [x1, y1, x2, y2], in pixels."), 2.0 / 3.0);
    near(overlap_by("left, top, right, bottom"), 2.0 / 3.0);
    near(overlap_by("[x, y, width, height]"), 0.75);
    near(overlap_by("Format: xywh"), 0.75);
    assert_eq!(overlap_by("Four numbers"), None);
    // All of the reference's must be corners if any is: this one is not.
    let (a, b) = (
        json!({"boxes": [[10, 20, 30, 50], [90, 20, 30, 50]]}),
        json!({"boxes": [[10, 20, 40, 50], [90, 20, 30, 50]]}),
    );
    near(overlap("s/t", &a, &b), f64::midpoint(0.75, 1.0));
}

/// By the lens of two circles: of equal ones one radius apart it is (2 pi / 3 - sqrt(3) / 2) r^2.
#[test]
fn circles_points_and_lines_are_found() {
    let lens = 2.0 * PI / 3.0 - 3.0_f64.sqrt() / 2.0;
    let lens = lens / (2.0 * PI - lens);
    let circle =
        |x: f64| json!({"circles": [{"center_x": x, "center_y": 300, "radius": 210, "thickness": 4}]});
    near(overlap("image/draw_circles", &circle(400.0), &circle(610.0)), lens);
    let (a, b) = (
        json!({"center": [400, 300], "radius": 210}),
        json!({"center": {"x": 610, "y": 300}, "radius": 210}),
    );
    near(overlap("image/draw_circles", &a, &b), lens);
    // The farthest coordinate is 500: a point is a disc of 7 % of that, 35 pixels.
    for (a, b) in [
        (json!({"coordinate": [500, 300]}), json!({"coordinate": [535, 300]})),
        (json!({"x": 500, "y": 300}), json!({"x": 535, "y": 300})),
        (json!({"target_x": 500, "target_y": 300}), json!({"target_x": 535, "target_y": 300})),
        (json!({"points": [[500, 300]]}), json!({"points": [[535, 300]]})),
        (json!({"point": "500, 300"}), json!({"point": "(535, 300)"})),
    ] {
        near(overlap("screen/click", &a, &b), lens);
    }
    // A small picture: 20 pixels. Shares of a picture: 0.07.
    near(overlap("screen/click", &json!({"x": 9, "y": 9}), &json!({"x": 29, "y": 9})), lens);
    near(overlap("screen/click", &json!({"x": 0.5, "y": 0.5}), &json!({"x": 0.57, "y": 0.5})), lens);
    // One end of two is right; an arrow has a direction, a line has none.
    let line = |name: &str, [x1, x2]: [i64; 2]| json!({name: [{"x1": x1, "y1": 90, "x2": x2, "y2": 90}]});
    near(overlap("image/draw_lines", &line("lines", [10, 500]), &line("lines", [10, 300])), 0.5);
    near(overlap("image/draw_lines", &line("lines", [10, 500]), &line("lines", [500, 10])), 1.0);
    near(overlap("image/draw_arrows", &line("arrows", [10, 500]), &line("arrows", [500, 10])), 0.0);
}

#[test]
fn what_only_looks_like_a_region_is_none() {
    for (tool, arguments) in [
        ("math/power", json!({"x": 400, "y": 300})),
        ("chart/scatter", json!({"data": [{"x": 400, "y": 300}]})),
        ("map/tile", json!({"x": 175, "y": 408, "z": 10})),
        ("map/search", json!({"center": {"latitude": 52.1, "longitude": 4.3}, "radius": 500})),
        ("map/route", json!({"coordinates": [52, 4]})),
        ("image/resize", json!({"width": 400, "height": 300})),
        ("image/frame", json!({"margins": {"left": 9, "top": 9, "right": 19, "bottom": 19}})),
        ("image/draw_lines", json!({"color": [0, 0, 255], "thickness": 3})),
        ("stats/mean", json!({"values": [1, 2, 3, 4]})),
        ("image/crop", json!({"x1": null, "y1": true, "x2": "left", "y2": 4})),
        ("image/crop", json!({"x1": 1e300, "y1": 0, "x2": 4, "y2": 4})),
        ("image/draw_circle", json!({"cx": 4, "cy": 4, "r": -4})),
    ] {
        assert_eq!(overlap(tool, &arguments, &arguments), None, "{tool} {arguments}");
    }
}

/// By hand: of four boxes one is equal, one moved by half (1/3), one without a partner, and the other call has one more in
/// another argument: (1 + 1/3 + 0 + 0 + 0) / 5, where the box of `source` is not compared with that of `target`.
#[test]
fn regions_of_an_argument_are_paired_one_to_one() {
    let a = json!({"areas": [[0, 0, 4, 4], [10, 0, 14, 4], [20, 0, 24, 4]], "source_box": [0, 0, 4, 4], "target_box": [90, 0, 94, 4]});
    let b = json!({"areas": [[12, 0, 16, 4], [0, 0, 4, 4]], "source_box": [90, 0, 94, 4], "target_box": [0, 0, 4, 4]});
    let regions = regions_of("image/move", None, &a, &b);
    near(mean(&regions), (1.0 + 1.0 / 3.0) / 5.0);
    let shown: Vec<_> = regions
        .each
        .iter()
        .map(|it| (it.reference.as_deref(), it.predicted.as_deref(), it.overlap > 0.0))
        .collect();
    let expected = [
        (Some("areas[0]"), Some("areas[1]"), true),
        (Some("areas[1]"), Some("areas[0]"), true),
        (Some("areas[2]"), None, false),
        (Some("source_box"), Some("source_box"), false),
        (Some("target_box"), Some("target_box"), false),
    ];
    assert_eq!(shown, expected);
    // The other way round the one that is left over is one too many.
    let regions = regions_of("image/move", None, &b, &a);
    near(mean(&regions), (1.0 + 1.0 / 3.0) / 5.0);
    let last = regions.each.last().unwrap();
    assert_eq!((last.reference.as_deref(), last.predicted.as_deref()), (None, Some("areas[2]")));
    // A reference without a region asks for none.
    assert_eq!(overlap("image/move", &json!({"angle": 9}), &a), None);
    near(overlap("image/move", &a, &json!({"angle": 9})), 0.0);
    near(overlap("image/move", &a, &json!({"areas": [[0, 0, f64::MAX, 4]]})), 0.0);
}

/// The best pairs, not the nearest one by one: 2/3 + 2/3 is more than 1 and nothing.
#[test]
fn pairs_are_those_of_the_best_sum() {
    let boxes = |boxes: &[[i64; 2]]| json!({"boxes": boxes.iter().map(|[x1, x2]| json!([x1, 0, x2, 4])).collect::<Vec<_>>()});
    let share = overlap("s/t", &boxes(&[[0, 10], [4, 14]]), &boxes(&[[2, 12], [-2, 8]]));
    near(share, 2.0 / 3.0);
}

/// Ten thousand boxes, all different from the others: paired without ten billion steps.
#[test]
fn many_regions_are_bounded_work() {
    let boxes = |shift: usize| {
        let mut text = String::from(r#"{"boxes": ["#);
        for index in 0..10_000 {
            let x = 10 * index + shift;
            let _ = write!(text, "{}[{x}, 0, {}, 4]", if index > 0 { "," } else { "" }, x + 8);
        }
        parse((text + "]}").as_bytes()).unwrap().0
    };
    let (a, b) = (boxes(0), boxes(4));
    let compare = |b: &Json| {
        Regions::new(CallPair { tool: "s/t", a: Some(&a), b: Some(b), question: None, schema: None }, None)
    };
    near(mean(&compare(&b)), 1.0 / 3.0);
    assert_eq!(compare(&a).overlaps, SumAndCount { sum: 10_000.0, count: 10_000 });
    let mut regions = compare(&b);
    regions.limit(&mut []);
    assert_eq!(regions.each.len(), MOST_NAMED);
    let deep = format!(r#"{{"a": {}{}}}"#, "[".repeat(190), "]".repeat(190));
    let deep = parse(deep.as_bytes()).unwrap().0;
    assert_eq!(compare(&deep).overlaps, SumAndCount { sum: 0.0, count: 10_000 });
}

/// Fidelity compares the numbers of a region by its size: 5 pixels are nothing of 400 and much of 20.
#[test]
fn fidelity_knows_the_size_of_a_region() {
    let fidelity = |tool: &str, a: &Value, b: &Value| {
        let (a, b) = (Json::from(a), Json::from(b));
        Fidelity::new(None)
            .compare(CallPair { tool, a: Some(&a), b: Some(&b), question: None, schema: None })
            .score
    };
    for (a, near, other) in [
        (
            json!({"circles": [{"center_x": 735, "center_y": 360, "radius": 210}]}),
            json!({"circles": [{"center_x": 735, "center_y": 360, "radius": 211}]}),
            json!({"circles": [{"center_x": 735, "center_y": 360, "radius": 90}]}),
        ),
        (
            json!({"cx": 735, "cy": 360, "r": 210}),
            json!({"cx": 730, "cy": 360, "r": 210}),
            json!({"cx": 135, "cy": 360, "r": 210}),
        ),
        (
            json!({"center": [735, 360], "radius": 210}),
            json!({"center": [730, 360], "radius": 212}),
            json!({"center": [135, 360], "radius": 210}),
        ),
        (
            json!({"x0": 60, "y0": 40, "x1": 460, "y1": 440}),
            json!({"x0": 60, "y0": 40, "x1": 461, "y1": 440}),
            json!({"x0": 460, "y0": 40, "x1": 860, "y1": 440}),
        ),
        (
            json!({"region": [0, 0, 20, 20]}),
            json!({"region": [0, 0, 20.5, 20]}),
            json!({"region": [5, 0, 25, 20]}),
        ),
        (json!({"bbox": "0, 0, 400, 400"}), json!({"bbox": "0,0,405,400"}), json!({"bbox": "400,0,800,400"})),
        (json!({"point": [300, 200]}), json!({"point": [301, 200]}), json!({"point": [330, 200]})),
        // A line is as long as it is along an axis, but at least as long as a point.
        (
            json!({"arrows": [{"x1": 10, "y1": 90, "x2": 510, "y2": 90}]}),
            json!({"arrows": [{"x1": 10, "y1": 90, "x2": 505, "y2": 91}]}),
            json!({"arrows": [{"x1": 510, "y1": 90, "x2": 10, "y2": 90}]}),
        ),
    ] {
        assert!(fidelity("image/draw", &a, &near) > 0.8, "{a} {near}");
        assert!(fidelity("image/draw", &a, &other) < THRESHOLD, "{a} {other}");
        let turned = fidelity("image/draw", &near, &a) - fidelity("image/draw", &a, &near);
        assert!(turned.abs() < 1e-12, "{a} {near} {turned}");
    }
    // Of no region: a radius of a search, and coordinates of a place on a map.
    let (a, b) = (
        json!({"latitude": 52, "longitude": 4, "radius": 210}),
        json!({"latitude": 52, "longitude": 4, "radius": 211}),
    );
    assert!(fidelity("map/near", &a, &b) < THRESHOLD);
    let (a, b) = (json!({"coordinates": [52.1, 4.3]}), json!({"coordinates": [53.1, 4.3]}));
    assert!(fidelity("map/near", &a, &b) < THRESHOLD);
}

fn number() -> impl Strategy<Value = Json> {
    prop_oneof![
        (-50_i64..900).prop_map(Json::Integer),
        any::<f64>().prop_map(Json::Float),
        "[0-9,. -]{0,9}".prop_map(Json::String),
        Just(Json::Null),
        prop::collection::vec((-50_i64..900).prop_map(Json::Integer), 0..5).prop_map(Json::Array),
    ]
}

fn arguments() -> impl Strategy<Value = Json> {
    let names = [
        "x1", "y1", "x2", "y2", "x", "y", "width", "height", "center_x", "center_y", "radius", "bbox",
        "point", "center",
    ];
    let members = || {
        prop::collection::btree_map(prop::sample::select(names.to_vec()), number(), 0..9).prop_map(
            |members| members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Vec<_>>(),
        )
    };
    (members(), prop::collection::vec(members().prop_map(Json::Object), 0..5)).prop_map(
        |(mut members, areas)| {
            members.push(("areas".to_owned(), Json::Array(areas)));
            Json::Object(members)
        },
    )
}

proptest! {
    /// Whatever stands there: a mean in [0, 1]; 1 beside itself; the order of members and of lists is nothing.
    #[test]
    fn overlaps_are_shares(a in arguments(), b in arguments()) {
        let of = |a: &Json, b: &Json| {
            Regions::new(CallPair { tool: "image/draw", a: Some(a), b: Some(b), question: None, schema: None }, None)
        };
        let regions = of(&a, &b);
        let SumAndCount { sum, count } = regions.overlaps;
        prop_assert!((0.0..=count as f64).contains(&sum) && regions.each.len() as u64 == count, "{regions:?}");
        let own = of(&a, &a).overlaps;
        prop_assert!((own.sum - own.count as f64).abs() < 1e-9 && (own.count > 0) == (count > 0), "{own:?}");
        let Json::Object(mut members) = a.clone() else { unreachable!() };
        members.reverse();
        if let Some((_, Json::Array(areas))) = members.iter_mut().find(|(key, _)| key == "areas") {
            areas.reverse();
        }
        let turned = of(&Json::Object(members), &b).overlaps;
        prop_assert!(turned.count == count && (turned.sum - sum).abs() < 1e-6, "{turned:?} {regions:?}");
    }
}

/// Sides that are each a little off bound another part, whatever the argument is called: two boxes of 40 by 40 pixels that
/// share 35 by 35 overlap by 0.62.
#[test]
fn sides_are_no_better_than_their_box() {
    use super::super::Fidelity;

    for (reference, predicted) in [
        (r#"{"box": [100, 100, 140, 140]}"#, r#"{"box": [105, 105, 145, 145]}"#),
        (r#"{"bbox": [100, 100, 140, 140]}"#, r#"{"bbox": [105, 105, 145, 145]}"#),
        (
            r#"{"crop_x1": 100, "crop_y1": 100, "crop_x2": 140, "crop_y2": 140}"#,
            r#"{"crop_x1": 105, "crop_y1": 105, "crop_x2": 145, "crop_y2": 145}"#,
        ),
        (
            r#"{"x1": 100, "y1": 100, "x2": 140, "y2": 140}"#,
            r#"{"x1": 105, "y1": 105, "x2": 145, "y2": 145}"#,
        ),
    ] {
        let (a, b) = (parse(reference.as_bytes()).unwrap().0, parse(predicted.as_bytes()).unwrap().0);
        let pair = CallPair { tool: "image/crop", a: Some(&a), b: Some(&b), question: None, schema: None };
        let fidelity = Fidelity::new(None).compare(pair);
        assert!(fidelity.score < 0.5, "{reference}: {}", fidelity.score);
    }
}

#[test]
fn boxes_may_be_listed_in_any_order() {
    let read = |text: &str| parse(text.as_bytes()).unwrap().0;
    let fidelity = |a: &Json, b: &Json| {
        let pair = CallPair { tool: "server/tool", a: Some(a), b: Some(b), question: None, schema: None };
        Fidelity::new(None).compare(pair).score
    };
    let call = |boxes: &str| read(&format!(r#"{{"input_path": "a.png", "boxes": {boxes}}}"#));
    let reference = call("[[1, 1, 20, 20], [30, 30, 44, 44]]");
    assert!(fidelity(&reference, &call("[[30, 30, 44, 44], [1, 1, 20, 20]]")) > 0.9);
    assert!(fidelity(&reference, &call("[[30, 30, 45, 44], [1, 1, 20, 20]]")) > 0.5);
    assert!(fidelity(&reference, &call("[[30, 30, 44, 44], [30, 1, 44, 20]]")) < 0.5);
    let corners = |points: &str| read(&format!(r#"{{"input_path": "a.png", "polygon": {points}}}"#));
    let area = corners("[[1, 1], [20, 1], [20, 20], [1, 20]]");
    assert!(fidelity(&area, &corners("[[20, 20], [1, 1], [20, 1], [1, 20]]")) < 0.9);
}
