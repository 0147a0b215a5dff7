//! Pictures made of pictures: chains, forks, branches and joins.

use serde_json::json;

use super::super::plan::{Argument, named};
use super::super::scenes::scene;
use super::draft::{Draft, Picture};

/// Cut out, then one edit after the other.
pub(super) fn chain(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 1);
    draft.plan.image = image;
    let edits = draft.random.within(1, 3);
    let mut picture = draft.cut_out(&regions[0]);
    let mut words = vec![format!("Cut out {}", regions[0].words)];
    let mut last = None;
    for number in 1..=edits {
        draft.plan.step();
        let edit = draft.choose(&picture);
        words.push(edit.words.clone());
        if number == edits {
            last = Some(edit);
            break;
        }
        let output = draft.output(&format!("{}-{}", picture.name, edit.suffix));
        picture = draft.make(&picture, edit, output);
    }
    draft.say(&format!("{}.", words.join(", then ")));
    let edit = last.unwrap();
    let output = draft.result(&format!("{}-{}", picture.name, edit.suffix));
    draft.make(&picture, edit, output);
}

/// One part, of which two pictures are made.
pub(super) fn fork(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 1);
    draft.plan.image = image;
    let part = draft.cut_out(&regions[0]);
    draft.plan.step();
    let first = draft.choose(&part);
    let second = loop {
        let second = draft.choose(&part);
        if second.tool != first.tool {
            break second;
        }
    };
    draft.say(&format!(
        "Cut out {} and make two pictures of it: for the first {}, for the second {}.",
        regions[0].words, first.words, second.words
    ));
    for edit in [first, second] {
        let output = draft.output(&format!("{}-{}", part.name, edit.suffix));
        draft.make(&part, edit, output);
    }
}

/// Two parts, and an edit of each; often by the same tool, so that only the picture tells the calls apart.
pub(super) fn branches(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let parts = [draft.cut_out(&regions[0]), draft.cut_out(&regions[1])];
    draft.plan.step();
    let first = draft.choose(&parts[0]);
    let is_alike = draft.random.chance(0.6);
    let second = loop {
        let second = draft.choose(&parts[1]);
        if (second.tool == first.tool) == is_alike {
            break second;
        }
    };
    draft.say(&format!(
        "Two pictures, please: {}, where you {}, and {}, where you {}.",
        regions[0].words, first.words, regions[1].words, second.words
    ));
    for (part, edit) in parts.iter().zip([first, second]) {
        let output = draft.output(&format!("{}-{}", part.name, edit.suffix));
        draft.make(part, edit, output);
    }
}

/// Two parts on one picture.
pub(super) fn join(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 2);
    draft.plan.image = image;
    let [base, top] = [draft.cut_out(&regions[0]), draft.cut_out(&regions[1])];
    draft.plan.step();
    let output = draft.output(&format!("{}-small", top.name));
    let small = draft.plan.call(
        "image/resize",
        named([
            ("input_path", top.file),
            ("output_path", Argument::Path(output)),
            ("scale_factor", Argument::value(0.4)),
        ]),
    );
    draft.plan.step();
    draft.say(&format!(
        "Put {}, at 0.4 of its size, into the upper left corner of a picture that shows only {}.",
        regions[1].words, regions[0].words
    ));
    let output = draft.result("joined");
    draft.plan.call(
        "image/overlay",
        named([
            ("base_image_path", base.file),
            ("overlay_image_path", Argument::File(small)),
            ("x", Argument::value(0)),
            ("y", Argument::value(0)),
            ("output_path", Argument::Path(output)),
        ]),
    );
}

/// An edited part goes back into what it was cut out of.
pub(super) fn patch(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 1);
    draft.plan.image = image;
    let base = draft.cut_out(&regions[0]);
    draft.plan.step();
    let (width, height) = base.size;
    let [x1, y1, x2, y2] = [width / 4, height / 4, width * 3 / 4, height * 3 / 4];
    let output = draft.output(&format!("{}-middle", base.name));
    let mut arguments = named([("input_path", base.file.clone()), ("output_path", Argument::Path(output))]);
    let edges = [("x1", x1), ("y1", y1), ("x2", x2), ("y2", y2)];
    arguments.extend(edges.map(|(name, edge)| (name.to_owned(), Argument::value(edge))));
    let middle = Picture {
        file: Argument::File(draft.plan.call("image/crop", arguments)),
        size: (x2 - x1, y2 - y1),
        name: format!("{}-middle", base.name),
    };
    draft.plan.step();
    let edit = loop {
        let edit = draft.choose(&middle);
        if edit.size == middle.size {
            break edit;
        }
    };
    draft.say(&format!(
        "Cut out {}. Then take its middle half in both directions, {}, and put it back there.",
        regions[0].words, edit.words
    ));
    let output = draft.output(&format!("{}-{}", middle.name, edit.suffix));
    let edited = draft.make(&middle, edit, output);
    draft.plan.step();
    let output = draft.result("patched");
    draft.plan.call(
        "image/overlay",
        named([
            ("base_image_path", base.file),
            ("overlay_image_path", edited.file),
            ("x", Argument::value(x1)),
            ("y", Argument::value(y1)),
            ("output_path", Argument::Path(output)),
        ]),
    );
}

/// Looks how large a made picture is, and draws by that.
pub(super) fn measure(draft: &mut Draft<'_>) {
    let (image, regions) = scene(draft.random, 1);
    draft.plan.image = image;
    let part = draft.cut_out(&regions[0]);
    draft.plan.step();
    let factor = *draft.random.one(&[0.35, 0.65]);
    let output = draft.output(&format!("{}-scaled", part.name));
    let scaled = draft.plan.call(
        "image/resize",
        named([
            ("input_path", part.file),
            ("output_path", Argument::Path(output)),
            ("scale_factor", Argument::value(factor)),
        ]),
    );
    draft.plan.step();
    let look = draft.plan.call("image/get_metainfo", named([("input_path", Argument::File(scaled))]));
    draft.plan.step();
    draft.say(&format!(
        "Make {} {factor} times as large, and cover the right half of what you get with a black box.",
        regions[0].words
    ));
    let output = draft.result("covered");
    let number =
        |side: &str, factor, plus| Argument::whole(look, &format!("/dimensions/{side}"), factor, plus);
    let rectangle = named([
        ("x1", number("width", 0.5, 0.0)),
        ("y1", Argument::value(0)),
        ("x2", number("width", 1.0, -1.0)),
        ("y2", number("height", 1.0, -1.0)),
        ("filled", Argument::value(json!(true))),
    ]);
    draft.plan.call(
        "image/draw_rectangles",
        named([
            ("input_path", Argument::File(scaled)),
            ("output_path", Argument::Path(output)),
            ("rectangles", Argument::List(vec![Argument::Object(rectangle)])),
        ]),
    );
}
