//! Variants of the small benchmark's references, made for real and scored with the results of both sides: those that make
//! the same pictures pass, those that make other ones do not.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::{Folder, call, copy_folder, json_of, m3, report, root, stdout};

/// A reference that was changed, the kind of change, and whether it still does what was asked for.
struct Variant {
    kind: &'static str,
    is_right: bool,
    trajectory: Value,
}

fn calls_mut(trajectory: &mut Value) -> Vec<&mut Value> {
    let steps = trajectory["steps"].as_array_mut().unwrap();
    steps.iter_mut().flat_map(|step| step["calls"].as_array_mut().unwrap()).collect()
}

/// The references without results.
fn references() -> Vec<Value> {
    let mut references = json_of(root().join("trajectories/references.json"));
    for reference in references.as_array_mut().unwrap() {
        for call in calls_mut(reference) {
            call.as_object_mut().unwrap().remove("result");
        }
    }
    references.as_array().unwrap().clone()
}

fn reference(id: &str) -> Value {
    references().into_iter().find(|reference| reference["id"] == id).unwrap()
}

/// Changes every value within a value.
fn change(value: &mut Value, to: &dyn Fn(&Value) -> Option<Value>) {
    if let Some(other) = to(value) {
        *value = other;
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| change(item, to)),
        Value::Object(members) => members.values_mut().for_each(|member| change(member, to)),
        _ => {}
    }
}

fn with_arguments(reference: &Value, to: &dyn Fn(&Value) -> Option<Value>) -> Value {
    let mut changed = reference.clone();
    for call in calls_mut(&mut changed) {
        change(&mut call["arguments"], to);
    }
    changed
}

/// The names that a reference gives to what it makes.
fn outputs(reference: &Value) -> Vec<Value> {
    let mut reference = reference.clone();
    let names = calls_mut(&mut reference).into_iter().map(|call| call["arguments"]["output_path"].clone());
    names.filter(Value::is_string).collect()
}

/// Changes of one kind that each reference may have.
fn of_each(reference: &Value) -> Vec<Variant> {
    let mut variants = Vec::new();
    let mut add = |kind, is_right, trajectory: Value| {
        if trajectory != *reference {
            variants.push(Variant { kind, is_right, trajectory });
        }
    };
    let names = outputs(reference);
    let place = |value: &Value| names.iter().position(|name| name == value);
    let image = reference["image"].as_str().unwrap_or_default();
    let renamed = |to: &dyn Fn(usize) -> Value| with_arguments(reference, &|value| place(value).map(to));
    add("other names", true, renamed(&|at| json!(format!("step{at}.png"))));
    add("names among each other", true, renamed(&|at| names[(at + 1) % names.len()].clone()));
    for prefix in ["", "./images/"] {
        let other = format!("{prefix}{}", image.rsplit('/').next().unwrap());
        let path = |value: &Value| (value == image).then(|| json!(other));
        add("another path of the image", true, with_arguments(reference, &path));
    }
    let whole = |value: &Value| serde_json::from_str(value.to_string().strip_suffix(".0")?).ok();
    add("5 for 5.0", true, with_arguments(reference, &whole));
    let made = |value: &Value| place(value).map(|_| json!(image));
    let mut original = with_arguments(reference, &made);
    for (call, own) in calls_mut(&mut original).into_iter().zip(calls_mut(&mut reference.clone())) {
        if own["arguments"]["output_path"].is_string() {
            call["arguments"]["output_path"] = own["arguments"]["output_path"].clone();
        }
    }
    add("the original edited", false, original);
    for (kind, moves) in [("the whole picture", false), ("boxes moved by their width", true)] {
        let mut other = reference.clone();
        for call in calls_mut(&mut other).into_iter().filter(|call| call["name"] == "image/crop") {
            let side = |name: &str| call["arguments"][name].as_i64().unwrap();
            let (x1, x2) = (side("x1"), side("x2"));
            let sides = if moves {
                [("x1", x2), ("x2", x2 + x2 - x1), ("y1", side("y1")), ("y2", side("y2"))]
            } else {
                [("x1", 0), ("x2", 100_000), ("y1", 0), ("y2", 100_000)]
            };
            for (name, value) in sides {
                call["arguments"][name] = json!(value);
            }
        }
        add(kind, false, other);
    }
    variants
}

/// Other ways to the same pictures, and guesses that fail.
fn by_hand() -> Vec<Variant> {
    let step = |number: usize, call: Value| json!({"step": number, "calls": [call]});
    let mut variants = Vec::new();
    // Our servers put what nobody named beside what it was made of.
    for (folder, is_right) in [("images/", true), ("", false)] {
        for (id, name, default) in [
            ("00020001", "living-room.png", "plan_cropped.png"),
            ("00050000", "crowd-blurred.png", "crowd_blurred.png"),
            ("00060000", "ringed.png", "shapes_with_circles.png"),
        ] {
            let path = |value: &Value| (value == name).then(|| json!(format!("{folder}{default}")));
            let mut trajectory = with_arguments(&reference(id), &path);
            calls_mut(&mut trajectory)[0]["arguments"].as_object_mut().unwrap().remove("output_path");
            let kind = if is_right { "a default name" } else { "a default name guessed wrongly" };
            variants.push(Variant { kind, is_right, trajectory });
        }
    }
    let mut add = |kind, trajectory: Value| variants.push(Variant { kind, is_right: true, trajectory });
    let mut crowd = reference("00050000");
    let areas = calls_mut(&mut crowd)[0]["arguments"]["areas"].clone();
    let grey = |input: &str| call("image/change_color", json!({"input_path": input, "palette": "grayscale"}));
    let blur = |input: &str, areas: &Value, output: &str| {
        call("image/blur", json!({"input_path": input, "areas": areas, "output_path": output}))
    };
    let mut grey_first = grey("images/crowd.png");
    grey_first["arguments"]["output_path"] = json!("grey.png");
    crowd["steps"] = json!([step(1, grey_first), step(2, blur("grey.png", &areas, "done.png"))]);
    add("grey before blur", crowd.clone());
    let mut steps = Vec::new();
    for (at, area) in areas.as_array().unwrap().iter().enumerate() {
        let input = if at == 0 { "images/crowd.png".to_owned() } else { format!("b{}.png", at - 1) };
        steps.push(step(at + 1, blur(&input, &json!([area]), &format!("b{at}.png"))));
    }
    steps.push(step(5, grey("b3.png")));
    crowd["steps"] = Value::Array(steps);
    add("four blurs for one", crowd);
    let mut poster = reference("00020000");
    let resize = calls_mut(&mut poster).pop().unwrap();
    // The code is 222 pixels wide and high.
    resize["arguments"] = json!({"input_path": "code.png", "width": 444, "height": 444});
    add("width and height for a factor", poster);
    variants
}

#[test]
fn variants_pass_if_they_make_the_same_pictures() {
    let (Some(mut record), Some(mut m3)) = (m3(), m3()) else { return };
    let folder = Folder::new();
    let mut variants: Vec<Variant> = references().iter().flat_map(of_each).chain(by_hand()).collect();
    let recorded = json_of(root().join("trajectories/references.json"));
    let mut beside = Vec::new();
    for (at, variant) in variants.iter_mut().enumerate() {
        let id = variant.trajectory["id"].clone();
        let mut reference = recorded.as_array().unwrap().iter().find(|own| own["id"] == id).unwrap().clone();
        reference["id"] = json!(format!("{at}"));
        variant.trajectory["id"] = reference["id"].clone();
        beside.push(reference);
    }
    let trajectories: Vec<&Value> = variants.iter().map(|variant| &variant.trajectory).collect();
    let given = folder.json("variants.json", &json!(trajectories));
    let references = folder.json("references.json", &Value::Array(beside));
    copy_folder(&root().join("trajectories/results"), &folder.path().join("results"));
    std::fs::create_dir(folder.path().join("made")).unwrap();
    let made = folder.path().join("made/variants.json");
    record.current_dir(root()).args(["record", "--servers", "servers/local.json", "--images", "images"]);
    stdout(record.arg(given).arg("-o").arg(&made));
    let scored = report(m3.arg("score").arg(&made).arg(references));
    assert_eq!(scored["trajectories"].as_array().unwrap().len(), variants.len());
    let mut wrong = Vec::new();
    for (variant, score) in variants.iter().zip(scored["trajectories"].as_array().unwrap()) {
        let matches = score["matches"].as_array().unwrap().iter();
        let further = score["further_pairs"].as_array().into_iter().flatten();
        let fidelities = matches.chain(further).filter_map(|pair| pair["argument_fidelity"].as_f64());
        let fidelities: Vec<f64> = fidelities.collect();
        let is_compared = fidelities.len() as u64 == score["metrics"]["reference_calls"].as_u64().unwrap();
        let passes = is_compared && fidelities.iter().all(|fidelity| *fidelity >= 0.5);
        if passes != variant.is_right {
            wrong.push(format!("{}: {}", variant.kind, score["metrics"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A prediction cannot hide what it leaves behind.
#[test]
fn pictures_of_a_prediction_that_are_missing_are_like_nothing() {
    let (Some(mut told), Some(mut m3)) = (m3(), m3()) else { return };
    let references = root().join("trajectories/references.json");
    let all = json_of(&references);
    let is_chosen = |trajectory: &&Value| matches!(trajectory["id"].as_str(), Some("00010000" | "00020001"));
    let chosen: Vec<&Value> = all.as_array().unwrap().iter().filter(is_chosen).collect();
    let folder = Folder::new();
    let predictions = folder.json("predictions.json", &json!(chosen));
    let scored = report(m3.arg("score").arg(&predictions).arg(&references));
    let agreement = |id: &str| {
        let mut trajectories = scored["trajectories"].as_array().unwrap().iter();
        trajectories.find(|score| score["id"] == id).unwrap()["metrics"]["artifact_agreement"].as_f64()
    };
    // The first leaves an answer behind, the second a picture.
    assert_eq!([agreement("00010000"), agreement("00020001")], [Some(1.0), Some(0.0)]);
    let output = told.arg("score").arg(&predictions).arg(&references).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("1 picture of results in the predictions is not beside the file that names it"),
        "{said}"
    );
    assert!(said.contains("of `00020001`") && !said.contains("in the references"), "{said}");
}

/// Of every picture that cannot be compared people hear why.
#[test]
fn why_a_picture_cannot_be_compared_is_told() {
    if m3().is_none() {
        return;
    }
    let folder = Folder::new();
    let blurred = |picture: Value| {
        let mut blur = call("image/blur", json!({"input_path": "images/plan.png", "output_path": "a.png"}));
        blur["result"] = json!({"content": [picture]});
        json!([{"id": "1", "question": "?", "image": "images/plan.png", "steps": [{"step": 1, "calls": [blur]}]}])
    };
    let png = STANDARD.encode(std::fs::read(root().join("images/plan.png")).unwrap());
    let references = folder.json("references.json", &blurred(json!({"type": "image", "data": png})));
    let cases = [
        (
            json!({"type": "image"}),
            "results of 1 trajectory in the predictions say `image`, and have neither",
        ),
        (json!({"type": "image", "file": 5}), "nor `file` for it, the first: in a result of `1`"),
        (
            json!({"type": "image", "data": "bm8gcGljdHVyZQ=="}),
            "1 picture of results in the predictions cannot be opened",
        ),
        (
            json!({"type": "image", "data": "A".repeat(25 << 20)}),
            "pictures of results in the predictions are too large",
        ),
        (
            json!({"type": "image", "file": "media/a.png"}),
            "not beside the file that names it, the first: `media/a.png`",
        ),
    ];
    for (picture, words) in cases {
        let predictions = folder.json("predictions.json", &blurred(picture));
        let output = m3().unwrap().arg("score").arg(&predictions).arg(&references).output().unwrap();
        let warning = String::from_utf8(output.stderr).unwrap();
        assert!(warning.contains(words), "{words}: {warning}");
        let audit = stdout(m3().unwrap().arg("audit").arg(&predictions).arg(&references));
        assert!(audit.contains("a picture of them cannot be read"), "{audit}");
    }
}

/// The predictions hold their pictures, the references keep them in files: no tool answers otherwise for that.
#[test]
fn a_picture_is_the_same_sent_and_in_a_file() {
    let folder = Folder::new();
    let recorded = folder.path().join("recorded.json");
    let Some(mut m3) = m3() else { return };
    m3.current_dir(root()).args([
        "record",
        "trajectories/predictions.json",
        "--servers",
        "servers/local.json",
    ]);
    stdout(m3.args(["--inline-pictures", "-o"]).arg(&recorded));
    let mut score = crate::support::m3().unwrap();
    score.current_dir(root()).arg("score").arg(&recorded).arg("trajectories/references.json");
    let table = stdout(&mut score);
    assert!(table.contains("tools answering the same") && !table.contains("varying"), "{table}");
}
