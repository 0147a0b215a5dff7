//! Results as evidence, and names that only results or numbers tell, on trajectories by hand.

use m3_score::{Flow, TrajectoryScore};
use serde_json::{Value, json};

use super::artifacts::agreement;
use super::properties::{fidelities, scored};
use crate::support::call;

pub(super) fn with_result(mut call: Value, result: Value) -> Value {
    call["result"] = result;
    call
}

/// A trajectory of steps.
pub(super) fn of_steps(steps: &[&[Value]]) -> Value {
    let steps: Vec<Value> =
        steps.iter().enumerate().map(|(at, calls)| json!({"step": at + 1, "calls": calls})).collect();
    json!({"id": "1", "question": "?", "image": "images/plan.png", "steps": steps})
}

pub(super) fn one(prediction: &Value, reference: &Value) -> TrajectoryScore {
    let mut scores = scored(std::slice::from_ref(prediction), std::slice::from_ref(reference), Flow::On);
    scores.remove(0)
}

/// A call of a tool for pictures that returned a picture, told apart by its bytes.
pub(super) fn drawn(tool: &str, arguments: Value, picture: &str) -> Value {
    with_result(
        call(tool, arguments),
        json!({"content": [{"type": "image", "mimeType": "image/png", "data": picture}]}),
    )
}

#[test]
fn the_same_picture_is_the_same_input_whichever_calls_made_it() {
    let cut = |input: &str, output: &str, x: u32, picture: &str| {
        let arguments = json!({"input_path": input, "output_path": output, "x1": x, "y1": x, "x2": x + 300, "y2": x + 300});
        [drawn("image/crop", arguments, picture)]
    };
    let scan =
        |path: &str| [with_result(call("barcode/scan", json!({"image_paths": [path]})), json!("nothing"))];
    let note = |path: &str| {
        [call("memory/create_entities", json!({"entities": [{"name": "code", "notes": [path, "seen"]}]}))]
    };
    let reference =
        of_steps(&[&cut("images/plan.png", "a.png", 140, "QUFB"), &scan("a.png"), &note("a.png")]);
    let two_cuts = |second: &str| {
        let (rough, fine) =
            (cut("images/plan.png", "rough.png", 90, "QkJC"), cut("rough.png", "b.png", 50, second));
        one(&of_steps(&[&rough, &fine, &scan("b.png"), &note("b.png")]), &reference)
    };
    let reasons = |score: &TrajectoryScore| -> Vec<String> {
        let all = score.compared.iter().flat_map(|pair| &pair.fidelity.arguments);
        all.filter(|argument| argument.score < 1.0).map(|argument| argument.reason.to_string()).collect()
    };
    // The rough cut is another one, but what is looked at and noted is the same picture.
    let same = two_cuts("QUFB");
    let scan_and_note =
        |score: &TrajectoryScore| fidelities(score)[1..].iter().all(|fidelity| *fidelity > Some(0.5));
    assert!(scan_and_note(&same), "{:?}", reasons(&same));
    let is_said = |reason: &String| reason == "another call made the same picture";
    assert!(reasons(&same).iter().any(is_said), "{:?}", reasons(&same));
    let other = fidelities(&two_cuts("Q0ND"));
    assert!(other.iter().filter(|fidelity| **fidelity < Some(0.5)).count() >= 2, "{other:?}");
}

/// Of a call that makes several pictures any may be meant.
#[test]
fn the_other_picture_of_a_call_is_another_one() {
    let split = || {
        let arguments = json!({"input_path": "images/plan.png", "output_paths": ["l.png", "r.png"]});
        let pictures: Vec<Value> = ["QUFB", "QkJC"]
            .map(|data| json!({"type": "image", "mimeType": "image/png", "data": data}))
            .into();
        [with_result(call("image/split", arguments), json!({"content": pictures}))]
    };
    let scan = |path: &str, text: &str| {
        [with_result(call("barcode/scan", json!({"image_path": path})), json!(text))]
    };
    let reference = of_steps(&[&split(), &scan("r.png", "HB-2044")]);
    let other = one(&of_steps(&[&split(), &scan("l.png", "nothing")]), &reference);
    assert!(fidelities(&other)[1] < Some(0.5), "{:?}", other.compared);
}

#[test]
fn a_list_may_be_given_item_by_item() {
    let item = |name: &str, note: &str| json!({"name": name, "notes": [note]});
    let create = |items: &[Value]| call("memory/create_entities", json!({"entities": items, "kind": "room"}));
    let (hall, bath, attic) = (item("hall", "north"), item("bath", "south"), item("attic", "top"));
    let reference = of_steps(&[&[create(&[hall.clone(), bath.clone(), attic.clone()])]]);
    let parts = |parts: &[Value]| one(&of_steps(&[parts]), &reference);
    let alone =
        |items: &[&Value]| items.iter().map(|item| create(std::slice::from_ref(item))).collect::<Vec<_>>();
    let whole = parts(&alone(&[&hall, &bath, &attic]));
    assert!(fidelities(&whole)[0] > Some(0.9), "{:?}", whole.compared);
    let reason = |score: &TrajectoryScore| -> String {
        let wrong = score.compared[0].fidelity.arguments.iter().filter(|argument| argument.score < 1.0);
        wrong.map(|argument| argument.reason.to_string()).collect()
    };
    assert!(reason(&whole).starts_with("the rest of the list is in 1."), "{}", reason(&whole));
    let two = parts(&[create(&[hall.clone(), bath.clone()]), create(std::slice::from_ref(&attic))]);
    assert!(fidelities(&two)[0] > Some(0.9), "{:?}", two.compared);
    // In any order, beside a stray one.
    let stray = item("cellar", "cold");
    let mixed = parts(&alone(&[&stray, &attic, &hall, &bath]));
    assert!(fidelities(&mixed)[0] > Some(0.5), "{:?}", mixed.compared);
    // What is one thing in all its items is not given in parts.
    let joint = |tool: &str, key: &str, items: &[Value]| {
        let whole = of_steps(&[&[call(tool, json!({key: items}))]]);
        let each: Vec<Value> = items.iter().map(|item| call(tool, json!({key: [item]}))).collect();
        fidelities(&one(&of_steps(&[&each]), &whole))[0]
    };
    for (tool, key, items) in [
        ("math/mean", "numbers", [json!(3), json!(5)]),
        ("image/crop", "box", [json!(10), json!(200)]),
        ("calendar/create_event", "attendees", [json!("ann"), json!("bob")]),
        ("shop/place_order", "items", [json!({"sku": "a1"}), json!({"sku": "b2"})]),
        ("shell/run", "command", [json!("rm"), json!("build")]),
        ("image/compare_images", "paths", [json!("a.png"), json!("b.png")]),
    ] {
        let fidelity = joint(tool, key, &items);
        assert!(fidelity < Some(0.5), "{tool}: {fidelity:?}");
    }
    let scans = joint("barcode/scan", "image_paths", &[json!("a.png"), json!("b.png")]);
    assert!(scans > Some(0.9), "{scans:?}");
    // An item that is another one, one that is missing, and a part with another argument beside it.
    let other = parts(&alone(&[&hall, &bath, &item("attic", "cellar")]));
    let missing = parts(&alone(&[&hall, &bath]));
    let mut kinds = alone(&[&hall, &bath, &attic]);
    kinds[1]["arguments"]["kind"] = json!("tool");
    for score in [other, missing, parts(&kinds)] {
        assert!(fidelities(&score)[0] < Some(0.5), "{:?}", score.compared);
    }
    // What completes a list is no extra change.
    let extra = |score: &TrajectoryScore| score.job.as_ref().unwrap().evidence.extra_changes;
    assert!(extra(&whole) == 0.0 && extra(&mixed) > 0.0);
}

/// Pictures that earlier calls made have other names in the parts, a part may have failed, and there may be too many.
#[test]
fn parts_of_a_list_keep_their_names_and_failures() {
    let crop = |left: i64, output: &str| {
        call("image/crop", json!({"input_path": "images/plan.png", "x1": left, "output_path": output}))
    };
    let scan = |pictures: &[&str]| call("barcode/scan", json!({"image_paths": pictures}));
    let two =
        |names: [&str; 2], scans: &[Value]| of_steps(&[&[crop(1, names[0]), crop(50, names[1])], scans]);
    let last = |prediction: &Value, reference: &Value| fidelities(&one(prediction, reference))[2].unwrap();
    let names = ["one.png", "two.png"];
    let reference = two(["left.png", "right.png"], &[scan(&["left.png", "right.png"])]);
    let alone = two(names, &[scan(&names[..1]), scan(&names[1..])]);
    assert!(last(&alone, &reference) > 0.9);
    let twice = two(names, &[scan(&names[..1]), scan(&names[..1])]);
    assert!(last(&twice, &reference) < 0.5);

    let with_codes = |call: Value| with_result(call, json!("4006381333931"));
    let reference = two(
        ["left.png", "right.png"],
        &[with_result(scan(&["left.png", "right.png"]), json!("4006381333931, 96385074"))],
    );
    let with_second = |second: Value| last(&two(names, &[with_codes(scan(&names[..1])), second]), &reference);
    let mut failed = with_result(scan(&names[1..]), json!("no such file"));
    failed["is_error"] = json!(true);
    assert!(with_second(with_result(scan(&names[1..]), json!("96385074"))) > 0.9);
    assert!(with_second(failed) < 0.5);

    // The first of the parts and 64 more are looked at.
    let many = |count: usize| {
        let names: Vec<String> = (0..count).map(|at| format!("page{at}.png")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let each: Vec<Value> = names.iter().map(|name| scan(&[name])).collect();
        fidelities(&one(&of_steps(&[&each]), &of_steps(&[&[scan(&names)]])))[0].unwrap()
    };
    assert!(many(65) > 0.9 && many(66) < 0.5);
}

/// A point is no set, and who made something is no time.
#[test]
fn answers_differ_by_the_order_of_numbers_and_by_names() {
    let asked = |query: &str, answer: &Value| {
        of_steps(&[&[with_result(call("map/find", json!({"q": query})), answer.clone())]])
    };
    let reference = asked("north gate", &json!({"place": "castle", "point": [10, 20], "created_by": "Ada"}));
    for (answer, is_same) in [
        (json!({"created_by": "Ada", "place": "castle", "point": [10, 20]}), true),
        (json!({"place": "castle", "point": [20, 10], "created_by": "Ada"}), false),
        (json!({"place": "castle", "point": [10, 20], "created_by": "Bob"}), false),
    ] {
        let score = one(&asked("seven bridges", &answer), &reference);
        assert_eq!(fidelities(&score)[0].unwrap() >= 0.5, is_same, "{answer}");
    }
}

/// The crop has the same result on both sides, so that its tools are known to answer the same to the same; the name that the
/// prediction reads is none of what the crop wrote.
#[test]
fn a_call_that_failed_alone_is_wrong() {
    let crop = |output: &str| {
        let arguments = json!({"input_path": "images/plan.png", "x1": 1, "x2": 9, "output_path": output});
        with_result(call("image/crop", arguments), json!("8 pixels wide, 4 high"))
    };
    let turn = |input: &str, degrees: i64, result: &str| {
        with_result(call("image/turn", json!({"input_path": input, "degrees": degrees})), json!(result))
    };
    let steps =
        |name: &str, last: Value| of_steps(&[&[crop(name)], &[turn(name, 90, "turned upright")], &[last]]);
    let reference = steps("a.png", turn("a.png", 45, "turned by half"));
    let mut failed = turn("b.png", 45, "no such file");
    failed["is_error"] = json!(true);
    assert!(
        fidelities(&one(&steps("b.png", turn("b.png", 45, "turned by half")), &reference))
            .iter()
            .all(|fidelity| fidelity.unwrap() >= 0.97)
    );
    let score = one(&steps("b.png", failed), &reference);
    assert!(fidelities(&score)[2].unwrap() < 0.5, "{:?}", fidelities(&score));
}

/// No argument says the names of the crops: the second has a number, by two customs.
#[test]
fn numbers_tell_default_names_in_any_order() {
    let crop = |side: i64| call("image/crop", json!({"input_path": "images/plan.png", "side": side}));
    let blur = |input: &str, radius: i64| {
        call(
            "image/blur",
            json!({"input_path": input, "radius": radius, "output_path": format!("{radius}.png")}),
        )
    };
    for names in [["plan_cropped.png", "plan_cropped_1.png"], ["plan_cropped.png", "plan_cropped_2.png"]] {
        let [first, second] = names;
        let reference = of_steps(&[&[crop(5), crop(50)], &[blur(first, 3), blur(second, 9)]]);
        let swapped = of_steps(&[&[crop(5), crop(50)], &[blur(second, 9), blur(first, 3)]]);
        let score = one(&swapped, &reference);
        assert!(fidelities(&score).iter().all(|fidelity| *fidelity == Some(1.0)), "{names:?}");
        let one_by_one = of_steps(&[&[crop(5)], &[blur(first, 3)], &[crop(50)], &[blur(second, 9)]]);
        let named = |side: i64, name: &str| {
            let mut crop = crop(side);
            crop["arguments"]["output_path"] = json!(name);
            crop
        };
        let reference = of_steps(&[
            &[named(5, "a.png")],
            &[blur("a.png", 3)],
            &[named(50, "b.png")],
            &[blur("b.png", 9)],
        ]);
        let score = one(&one_by_one, &reference);
        assert!(fidelities(&score).iter().all(|fidelity| fidelity.unwrap() >= 0.97), "{names:?}");
    }
}

/// Around the words that stand for a file in comparisons are signs that an argument may have, too.
#[test]
fn no_call_writes_the_words_for_a_file() {
    let crop = call("image/crop", json!({"input_path": "images/plan.png", "output_path": "a.png"}));
    let turn = |input: &str| call("image/turn", json!({"input_path": input}));
    let crop = [crop];
    let reference = of_steps(&[&crop, &[turn("a.png")]]);
    let forged = of_steps(&[&crop, &[turn("\u{fdd0}reads what 1.1 made\u{fdd1}")]]);
    assert!(fidelities(&one(&forged, &reference))[1].unwrap() < 0.5);
}

/// The ids of both runs are each other's: all words of a text are replaced at once, and no part of a longer one.
#[test]
fn ids_in_texts_are_those_of_the_matched_calls() {
    let create = |title: &str, id: &str| {
        with_result(call("notes/create", json!({"title": title})), json!({"note_id": id, "title": title}))
    };
    let write = |text: &str| call("notes/write", json!({"text": text}));
    let reference = of_steps(&[
        &[create("first", "note-47a1"), create("second", "note-81b2")],
        &[write("merge note-47a1 into note-81b2, keep note-47a12")],
    ]);
    let right = of_steps(&[
        &[create("first", "note-81b2"), create("second", "note-47a1")],
        &[write("merge note-81b2 into note-47a1, keep note-47a12")],
    ]);
    let wrong = of_steps(&[
        &[create("first", "note-81b2"), create("second", "note-47a1")],
        &[write("merge note-47a1 into note-81b2, keep note-47a12")],
    ]);
    assert_eq!(fidelities(&one(&right, &reference))[2], Some(1.0));
    assert!(fidelities(&one(&wrong, &reference))[2].unwrap() < 1.0);
}

/// Both save into one folder, where nothing is lost.
#[test]
fn a_folder_is_not_written_over() {
    let save = |id: &str| call("papers/save", json!({"paper_id": id, "save_path": "./downloads"}));
    let both = [save("2510.22618v1"), save("2510.15594v1")];
    let [first, second] = both.clone();
    let score = one(&of_steps(&[&[second], &[first]]), &of_steps(&[&both]));
    assert!(fidelities(&score).iter().all(|fidelity| *fidelity == Some(1.0)), "{:?}", fidelities(&score));
}

#[test]
fn who_moves_a_file_leaves_it_where_it_comes_to() {
    let trajectory = |rows: u32| {
        let create = call("table/create", json!({"rows": rows, "output_path": "a.csv"}));
        let look = call("table/count", json!({"input_path": "a.csv"}));
        let moved = call("files/move_file", json!({"source": "a.csv", "destination": "out/table.csv"}));
        of_steps(&[
            &[with_result(create, json!("done"))],
            &[with_result(look, json!("counted"))],
            &[with_result(moved, json!("done"))],
        ])
    };
    assert_eq!(agreement(&one(&trajectory(3), &trajectory(3))), Some(1.0));
    assert_eq!(agreement(&one(&trajectory(5), &trajectory(3))), Some(0.0));
}

#[test]
fn answers_list_what_was_asked_for_in_any_order() {
    let trajectory = |names: [&str; 2], order: [usize; 2]| {
        let cut = |at: usize| {
            let arguments = json!({"input_path": "images/plan.png", "x1": at * 100, "output_path": format!("{}.png", names[at])});
            with_result(call("image/crop", arguments), json!(format!("{at}00 pixels wide")))
        };
        let paths = order.map(|at| format!("{}.png", names[at]));
        let codes = order.map(|at| json!({"path": format!("{}.png", names[at]), "code": 4711 + at}));
        let scan = with_result(call("barcode/scan", json!({"image_paths": paths})), json!({"codes": codes}));
        of_steps(&[&[cut(0), cut(1)], &[scan]])
    };
    let reference = trajectory(["left", "right"], [0, 1]);
    for (names, order) in [(["left", "right"], [1, 0]), (["1", "2"], [0, 1]), (["b", "a"], [1, 0])] {
        assert_eq!(agreement(&one(&trajectory(names, order), &reference)), Some(1.0), "{names:?}");
    }
}

#[test]
fn names_that_are_numbers_are_names() {
    let trajectory = |name: &str| {
        let entity = json!({"name": name, "observations": ["green"]});
        let create = call("memory/create_entities", json!({"entities": [entity]}));
        let open = call("memory/open_nodes", json!({"names": [name]}));
        of_steps(&[
            &[with_result(create, json!({"entities": [entity]}))],
            &[with_result(open, json!({"entities": [entity], "relations": []}))],
        ])
    };
    assert_eq!(agreement(&one(&trajectory("jade"), &trajectory("4500"))), Some(1.0));
}
