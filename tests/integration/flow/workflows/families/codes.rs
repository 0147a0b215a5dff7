//! Codes that are read, and what is made with what they say and where they are.

use serde_json::json;

use super::super::plan::{Argument, named};
use super::super::scenes::{Region, WITH_CODES};
use super::draft::{Draft, Picture};

/// A picture with several codes, and its parts with one each.
pub(super) fn with_codes(draft: &mut Draft<'_>) -> Vec<Region> {
    let (image, regions) = draft.random.one(&WITH_CODES);
    draft.plan.image = image;
    regions.to_vec()
}

/// Reads these pictures in one call.
pub(super) fn scan(draft: &mut Draft<'_>, pictures: &[Picture]) -> usize {
    let paths = pictures.iter().map(|picture| picture.file.clone()).collect();
    draft.plan.call("barcode/scan", named([("image_paths", Argument::List(paths))]))
}

/// Cuts parts out and reads them together.
pub(super) fn scan_parts(draft: &mut Draft<'_>) {
    let regions = with_codes(draft);
    let count = usize::try_from(draft.random.within(1, 3)).unwrap().min(regions.len());
    let regions = draft.random.some(&regions, count);
    let mut parts: Vec<Picture> = regions.iter().map(|region| draft.cut_out(region)).collect();
    let words: Vec<&str> = regions.iter().map(|region| region.words).collect();
    draft
        .say(&format!("What does the code of {} say? Look at each part alone.", words.join(" and that of ")));
    draft.plan.step();
    if draft.random.chance(0.4) {
        draft.say("Turn every part upside down first.");
        parts = parts
            .iter()
            .map(|part| {
                let output = draft.output(&format!("{}-turned", part.name));
                let call = draft.plan.call(
                    "image/rotate",
                    named([
                        ("input_path", part.file.clone()),
                        ("angle", Argument::value(180)),
                        ("output_path", Argument::Path(output)),
                    ]),
                );
                Picture { file: Argument::File(call), ..part.clone() }
            })
            .collect();
        draft.plan.step();
    }
    scan(draft, &parts);
}

/// Reads a part, frames the code where it is, and writes on the picture what it says.
pub(super) fn mark_code(draft: &mut Draft<'_>) {
    let regions = with_codes(draft);
    let region = draft.random.some(&regions, 1)[0];
    let part = draft.cut_out(&region);
    draft.plan.step();
    let read = scan(draft, std::slice::from_ref(&part));
    draft.plan.step();
    draft.say(&format!(
        "Cut out {}, frame the code in it in red, and write in blue above the frame what it says.",
        region.words
    ));
    let edge =
        |name: &str, plus| Argument::whole(read, &format!("/images/0/results/0/rect/{name}"), 1.0, plus);
    let frame = named([
        ("x1", edge("x", -4.0)),
        ("y1", edge("y", -4.0)),
        ("x2", Argument::value(region.size().0 - 10)),
        ("y2", Argument::value(region.size().1 - 10)),
        ("color", Argument::value(json!([0, 0, 255]))),
        ("thickness", Argument::value(3)),
    ]);
    let output = draft.output(&format!("{}-framed", part.name));
    let framed = draft.plan.call(
        "image/draw_rectangles",
        named([
            ("input_path", part.file),
            ("rectangles", Argument::List(vec![Argument::Object(frame)])),
            ("output_path", Argument::Path(output)),
        ]),
    );
    draft.plan.step();
    let text = named([
        ("text", Argument::answer(read, "/images/0/results/0/data")),
        ("x", Argument::value(4)),
        ("y", edge("y", -10.0)),
        ("font_scale", Argument::value(0.7)),
        ("color", Argument::value(json!([255, 0, 0]))),
    ]);
    let output = draft.result("marked");
    draft.plan.call(
        "image/draw_texts",
        named([
            ("input_path", Argument::File(framed)),
            ("texts", Argument::List(vec![Argument::Object(text)])),
            ("output_path", Argument::Path(output)),
        ]),
    );
}
