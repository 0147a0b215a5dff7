//! Tables of trajectories, and what their names of files stand for.

use m3_trajectory::json::Json;
use serde_json::{Value, json};

use super::lineage::{CallView, Lineage, Role};
use super::{Content, contents};

/// A call of a step: tool and arguments.
type Calls = Vec<(usize, &'static str, Value)>;

fn lineage(image: Option<&str>, calls: &Calls) -> (Lineage, Vec<Content>) {
    let arguments: Vec<Json> = calls.iter().map(|(_, _, arguments)| Json::from(arguments)).collect();
    let view = |((step, tool, _), arguments): (&(usize, &'static str, Value), _)| CallView {
        step: *step,
        tool,
        arguments: Some(arguments),
        result: None,
        has_failed: false,
    };
    let views: Vec<CallView<'_>> = calls.iter().zip(&arguments).map(view).collect();
    let lineage = Lineage::new(&views, image);
    let contents = contents(&views, &lineage);
    (lineage, contents)
}

/// What each name of each call stands for, such as `w0` (writes version 0), `r0` (reads it), `s0` (reads it within its step), `c0`
/// (changes it), `image`.
fn roles(image: &str, calls: &Calls) -> Vec<Vec<String>> {
    let (lineage, _) = lineage(Some(image), calls);
    let role = |role: Role| match role {
        Role::Writes(version) => format!("w{version}"),
        Role::Reads { version, is_of_step: false } => format!("r{version}"),
        Role::Reads { version, .. } => format!("s{version}"),
        Role::Changes(version) => format!("c{version}"),
        Role::ReadsTaskImage => "image".to_owned(),
    };
    let roles =
        lineage.mentions.iter().map(|mentions| mentions.iter().map(|mention| role(mention.role)).collect());
    roles.collect()
}

fn crop(step: usize, from: &str, to: &str) -> (usize, &'static str, Value) {
    (step, "image/crop", json!({"input_path": from, "output_path": to}))
}

fn rotate(step: usize, from: &str) -> (usize, &'static str, Value) {
    (step, "image/rotate", json!({"input_path": from, "angle": 90}))
}

#[test]
fn a_file_is_what_the_last_call_before_made_of_it() {
    let calls = vec![crop(0, "images/a.png", "b.png"), crop(1, "b.png", "b.png"), rotate(2, "./b.png")];
    assert_eq!(roles("images/a.png", &calls), [vec!["image", "w0"], vec!["r0", "w1"], vec!["r1"]]);
    // Of the same step only where nothing else makes it.
    let calls = vec![
        crop(0, "images/a.png", "b.png"),
        rotate(0, "b.png"),
        crop(1, "b.png", "b.png"),
        rotate(1, "b.png"),
    ];
    assert_eq!(
        roles("images/a.png", &calls),
        [vec!["image", "w0"], vec!["s0"], vec!["r0", "w1"], vec!["r0"]]
    );
}

#[test]
fn the_image_of_the_task_has_several_names() {
    let calls = vec![
        rotate(0, "images/a.png"),
        rotate(0, "a.png"),
        rotate(0, "./media/a.png"),
        rotate(0, "/srv/x/images/a.png"),
        rotate(0, "images/b.png"),
    ];
    let image = || vec!["image".to_owned()];
    assert_eq!(roles("images/a.png", &calls), [image(), image(), image(), image(), Vec::new()]);
    // A new file of its name in another place is none, once it is made.
    let calls = vec![crop(0, "images/a.png", "a.png"), rotate(1, "a.png"), rotate(1, "images/a.png")];
    assert_eq!(roles("images/a.png", &calls), [vec!["image", "w0"], vec!["r0"], vec!["image"]]);
    let (written, _) = lineage(Some("images/a.png"), &vec![crop(0, "a.png", "/srv/x/images/a.png")]);
    assert!(written.versions[0].replaces_task_image);
}

#[test]
fn names_that_no_argument_gives_begin_with_what_is_read() {
    let crop = |step| (step, "image/crop", json!({"input_path": "images/a.png", "x1": step}));
    let calls = vec![
        crop(0),
        crop(0),
        rotate(1, "images/a_cropped_2.png"),
        rotate(1, "images/a_cropped.png"),
        (2, "barcode/scan", json!({"image_paths": ["a_cropped_rotated.png", "a_cropped_2_rotated.png"]})),
    ];
    let (lineage, _) = lineage(Some("images/a.png"), &calls);
    let makers = |call: usize| -> Vec<usize> {
        let used = lineage.mentions[call].iter().filter_map(|mention| mention.role.used_version());
        used.map(|version| lineage.versions[version].call).collect()
    };
    assert_eq!((makers(2), makers(3), makers(4)), (vec![1], vec![0], vec![3, 2]));
}

#[test]
fn endings_folders_and_texts() {
    let calls = vec![
        (0, "image/crop", json!({"input_path": "a.png", "output_path": "part"})),
        (0, "image/split", json!({"input_path": "a.png", "out_dir": "parts"})),
        rotate(1, "part.png"),
        rotate(1, "parts/1.png"),
        (2, "shell/run", json!({"command": "show part and parts/1.png."})),
    ];
    let (lineage, _) = lineage(Some("a.png"), &calls);
    let spans: Vec<_> =
        lineage.mentions[3].iter().map(|mention| (mention.span.clone(), mention.role)).collect();
    assert_eq!(spans, [(0..5, Role::Reads { version: 1, is_of_step: false })]);
    assert_eq!(lineage.mentions[2][0].role, Role::Reads { version: 0, is_of_step: false });
    let words: Vec<_> =
        lineage.mentions[4].iter().map(|mention| (mention.span.start, mention.span.end)).collect();
    assert_eq!(words, [(5, 9)]);
}

#[test]
fn a_file_that_is_changed_in_place_is_one() {
    let calls = vec![
        (0, "excel/create_workbook", json!({"filepath": "a.xlsx"})),
        (1, "excel/write_data", json!({"filepath": "a.xlsx", "data": [1]})),
        (2, "excel/write_data", json!({"filepath": "./a.xlsx", "data": [2]})),
        (3, "excel/read_data", json!({"filepath": "a.xlsx"})),
        (3, "excel/write_data", json!({"filepath": "other.xlsx", "data": [2]})),
        (4, "memory/create_entities", json!({"entities": [{"name": "x", "observations": ["a.png"]}]})),
    ];
    // `write_data` creates what was not there, too; what holds no path is not written.
    assert_eq!(roles("i.png", &calls), [vec!["c0"], vec!["c0"], vec!["c0"], vec!["r0"], vec!["c1"], vec![]]);
    // A file that was there before is no variable.
    let edited = vec![(0, "files/edit_file", json!({"path": "notes.md", "edits": []}))];
    assert_eq!(roles("i.png", &edited), [Vec::<String>::new()]);
}

#[test]
fn what_is_asked_for_twice_holds_the_same() {
    let keys = |calls: Calls| -> Vec<u64> {
        lineage(Some("a.png"), &calls).1.into_iter().map(|content| content.key).collect()
    };
    let keys = keys(vec![
        crop(0, "a.png", "b.png"),
        crop(1, "a.png", "c.png"),
        (2, "image/rotate", json!({"input_path": "b.png", "output_path": "d.png"})),
        (2, "image/rotate", json!({"output_path": "e.png", "input_path": "c.png"})),
        (3, "files/move_file", json!({"source": "e.png", "destination": "f.png"})),
        (3, "image/rotate", json!({"input_path": "a.png", "output_path": "g.png"})),
    ]);
    assert_eq!(keys[0], keys[1]);
    assert_eq!([keys[2], keys[2]], [keys[3], keys[4]]);
    assert!(keys[5] != keys[2] && keys[0] != keys[2]);
}

#[test]
fn nothing_hostile_takes_long() {
    let mut calls: Calls = (0..3000).map(|step| crop(step, "a.png", "a.png")).collect();
    calls.extend(
        (0..500).map(|step| (3000 + step, "x/y", json!({"text": "a.png ".repeat(5000), "out_dir": "a.png"}))),
    );
    let (lineage, contents) = lineage(Some("a.png"), &calls);
    assert_eq!(lineage.versions.len(), contents.len());
    let texts =
        ["", "/", ".", "..", "\u{0}", "a/../../b.png", "é/ß.png", "//x//y.png", "C:\\a\\b.png", ".png"];
    let calls: Calls = texts.iter().map(|text| crop(0, text, text)).collect();
    let _ = self::lineage(Some(""), &calls);
}

#[test]
fn what_is_made_of_files_without_names_is_told_apart() {
    let crop = |x: u32| (0, "image/crop", json!({"input_path": "images/a.png", "x1": x}));
    let draw = |from: &str, to: &str| (1, "image/draw", json!({"input_path": from, "output_path": to}));
    let calls = |second: u32| {
        let drawn = [draw("images/a_cropped.png", "b.png"), draw("images/a_cropped_2.png", "c.png")];
        [crop(1), crop(second)].into_iter().chain(drawn).collect::<Calls>()
    };
    let are_same = |calls: &Calls| {
        let (lineage, contents) = lineage(Some("images/a.png"), calls);
        let key = |path: &str| {
            let version = lineage.versions.iter().position(|version| version.path == path).unwrap();
            contents[version].key
        };
        key("b.png") == key("c.png")
    };
    assert!(!are_same(&calls(2)) && are_same(&calls(1)));
}
