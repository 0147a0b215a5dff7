//! Which words in arguments are names that a trajectory is free to choose, and which only look like such names. The
//! trajectories are written by hand.

use m3_score::{Flow, TrajectoryScore};
use serde_json::{Value, json};

use super::properties::scored;
use super::results::{of_steps, with_result};
use crate::support::call;

/// The fidelity of each compared call, and the reasons for its wrong arguments.
fn compared(score: &TrajectoryScore) -> Vec<(f64, Vec<String>)> {
    let of = |pair: &m3_score::ComparedPair| {
        let wrong = pair.fidelity.arguments.iter().filter(|argument| argument.score < 0.5);
        (pair.fidelity.score, wrong.map(|argument| argument.reason.to_string()).collect())
    };
    score.compared.iter().map(of).collect()
}

fn one(question: &str, prediction: &[&[Value]], reference: &[&[Value]]) -> Vec<(f64, Vec<String>)> {
    compared(&score(question, prediction, reference))
}

fn score(question: &str, prediction: &[&[Value]], reference: &[&[Value]]) -> TrajectoryScore {
    let [mut prediction, mut reference] = [prediction, reference].map(of_steps);
    prediction["question"] = json!(question);
    reference["question"] = json!(question);
    scored(&[prediction], &[reference], Flow::On).remove(0)
}

#[test]
fn words_with_a_dot_are_no_files() {
    let told = json!("The U.S. economy, as booking.com and numbeo.com have it, grew.");
    let search = |query: &str| with_result(call("web/brave_search", json!({"q": query})), told.clone());
    let trajectory = |query: &str| [[search("economy")], [search(query)]];
    let asks = |query: &str, other: &str| {
        let (a, b) = (trajectory(query), trajectory(other));
        one("?", &[&b[0], &b[1]], &[&a[0], &a[1]])[1].clone()
    };
    let (_, reasons) = asks("U.S. GDP 2020", "GDP of the United States 2020");
    assert!(!reasons.iter().any(|reason| reason.contains("made")), "{reasons:?}");
    let host = |host: &str| [call("net/get_whois", json!({"target": host}))];
    let other = one("?", &[&host("golem.de")], &[&host("heise.de")]);
    assert!(other[0].0 < 0.5, "{other:?}");
    let city = |city: &str| [call("travel/book_trip", json!({"destination": city}))];
    assert!(one("?", &[&city("Oslo")], &[&city("Washington D.C")])[0].0 < 0.5);
}

#[test]
fn names_of_one_character_are_free_too() {
    let remember = |first: &str, second: &str| {
        let (room, hall) =
            (json!({"name": first, "notes": ["north"]}), json!({"name": second, "notes": ["south"]}));
        let relation = json!({"from": first, "to": second, "type": "leads to"});
        [
            vec![call("memory/create_entities", json!({"entities": [room, hall]}))],
            vec![call("memory/create_relations", json!({"relations": [relation]}))],
        ]
    };
    let reference = remember("living-room", "hall");
    let score = |first: &str, second: &str, question: &str| {
        let prediction = remember(first, second);
        let all = one(question, &[&prediction[0], &prediction[1]], &[&reference[0], &reference[1]]);
        all.iter().map(|(score, _)| *score).fold(1.0, f64::min)
    };
    assert!(score("1", "2", "Remember both rooms.") >= 0.97);
    assert!(score("1", "2", "Remember both rooms as living-room and hall.") < 0.5);
    // The argument `"page": "1"` means a page, not the room named `1`.
    let search = |name: &str| [call("memory/search_nodes", json!({"query": name, "page": "1"}))];
    let prediction = remember("1", "2");
    let all = one(
        "Remember both rooms.",
        &[&prediction[0], &search("1")],
        &[&reference[0], &search("living-room")],
    );
    assert!(all[1].0 >= 0.97, "{all:?}");
}

#[test]
fn names_that_the_question_has_as_names_are_not_free() {
    let remember = |who: &str, what: &str| {
        [
            vec![call(
                "memory/create_entities",
                json!({"entities": [{"name": who, "type": "person"}, {"name": what, "type": "firm"}]}),
            )],
            vec![call(
                "memory/create_relations",
                json!({"relations": [{"from": who, "to": what, "type": "works at"}]}),
            )],
        ]
    };
    let fidelity = |question: &str, names: [&str; 2], others: [&str; 2]| {
        let (a, b) = (remember(names[0], names[1]), remember(others[0], others[1]));
        one(question, &[&b[0], &b[1]], &[&a[0], &a[1]])[1].0
    };
    let question = "Record in the graph that Alice works at Acme.";
    assert!(fidelity(question, ["Alice", "Acme"], ["Zoe", "Initech"]) < 0.5);
    assert!(fidelity("Record as n-1 that she works at n-2.", ["n-1", "n-2"], ["k-7", "k-9"]) < 0.9);
    assert!((fidelity("Record who works where.", ["n-1", "n-2"], ["k-7", "k-9"]) - 1.0).abs() < 1e-12);
    // Exchanged names are right as long as each is used for the thing that it was given to.
    assert!(fidelity("Record who works where.", ["n-1", "n-2"], ["n-2", "n-1"]) > 0.9);
}

#[test]
fn a_title_that_is_called_like_a_name_is_a_title() {
    let sheet = |name: &str| {
        [
            vec![call("excel/create_worksheet", json!({"sheet_name": name}))],
            vec![call("excel/create_chart", json!({"sheet_name": name, "title": "Revenue"}))],
        ]
    };
    let (a, b) = (sheet("Sheet2"), sheet("Revenue"));
    let found = one("Make a sheet with a chart.", &[&b[0], &b[1]], &[&a[0], &a[1]]);
    assert_eq!(found[1].1, Vec::<String>::new(), "{found:?}");
}

#[test]
fn the_kind_of_the_picture_that_is_given_says_nothing_of_what_is_made() {
    let crop =
        |output: &str| [call("image/crop", json!({"input_path": "images/plan.png", "output_path": output}))];
    let fidelity = |question: &str| one(question, &[&crop("a.jpg")], &[&crop("a.png")])[0].0;
    assert!(fidelity("Cut the kitchen out of images/plan.png.") >= 0.5);
    assert!(fidelity("Cut the kitchen out and save it as a PNG.") < 0.5);
}

#[test]
fn who_does_more_than_move_makes_something_else() {
    let trajectory = |read: &str| {
        [
            vec![call("table/clean", json!({"input_path": "t.csv", "output_path": "clean.csv"}))],
            vec![call(
                "table/rename_columns",
                json!({"input_path": "clean.csv", "mapping": {"a": "b"}, "output_path": "renamed.csv"}),
            )],
            vec![call("table/plot", json!({"input_path": read, "output_path": "plot.svg"}))],
        ]
    };
    let (a, b) = (trajectory("renamed.csv"), trajectory("clean.csv"));
    let found = one("?", &[&b[0], &b[1], &b[2]], &[&a[0], &a[1], &a[2]]);
    assert!(found[2].0 < 0.5, "{found:?}");
}

#[test]
fn many_calls_of_a_tool_and_many_files_are_paired_too() {
    let crop = |at: usize, name: &str| {
        let arguments =
            json!({"input_path": "images/plan.png", "output_path": format!("{name}{at}.png"), "x1": 7 * at});
        with_result(call("image/crop", arguments), json!(format!("{at} of them")))
    };
    let turn = |at: usize, name: &str| {
        let [input, output] = [name, "turned-"].map(|name| format!("{name}{at}.png"));
        with_result(
            call("image/rotate", json!({"input_path": input, "output_path": output})),
            json!(format!("turned {at}")),
        )
    };
    let trajectory = |name: &str| {
        [(0..90).map(|at| crop(at, name)).collect(), (0..90).map(|at| turn(at, name)).collect::<Vec<_>>()]
    };
    let (a, b) = (trajectory("part-"), trajectory("z"));
    let score = score("?", &[&b[0], &b[1]], &[&a[0], &a[1]]);
    assert_eq!(score.artifact_agreement, Some(1.0));
    assert!(compared(&score).iter().all(|(fidelity, _)| (fidelity - 1.0).abs() < 1e-9));
}

#[test]
fn a_reference_that_was_recorded_by_a_broken_server_keeps_its_files() {
    let trajectory = |name: &str, has_failed: bool| {
        let crop = |mut call: Value| {
            call["is_error"] = json!(has_failed);
            with_result(call, json!("cannot be had"))
        };
        [
            vec![crop(call(
                "image/crop",
                json!({"input_path": "images/plan.png", "output_path": name, "x1": 3}),
            ))],
            vec![call("image/rotate", json!({"input_path": name, "output_path": "b.png"}))],
        ]
    };
    let fidelity = |failed: [bool; 2]| {
        let (a, b) = (trajectory("a.png", failed[0]), trajectory("part.png", failed[1]));
        one("?", &[&b[0], &b[1]], &[&a[0], &a[1]])
            .into_iter()
            .map(|(fidelity, _)| fidelity)
            .fold(1.0, f64::min)
    };
    assert!((fidelity([true, false]) - 1.0).abs() < 1e-12 && (fidelity([true, true]) - 1.0).abs() < 1e-12);
    assert!(fidelity([false, true]) < 0.5);
}

#[test]
fn answers_are_told_apart_by_every_digit_and_by_no_record_of_the_prediction() {
    let find = |query: &str, answer: Value| [with_result(call("papers/find", json!({"q": query})), answer)];
    let ids = |a: Value, b: Value| one("?", &[&find("coral reefs", b)], &[&find("volcanoes", a)])[0].0;
    assert!(ids(json!({"corpusId": 235_352_342}), json!({"corpusId": 235_352_399})) < 0.5);
    assert!(ids(json!({"isbn": "0012"}), json!({"isbn": "12"})) < 0.5);
    assert!(
        ids(
            json!({"corpusId": 235_352_342, "score": 0.1 + 0.2}),
            json!({"score": 0.3, "corpusId": 235_352_342})
        ) > 0.5
    );

    let send = |to: &str, answer: &str| {
        with_result(call("mail/send", json!({"to": to, "text": "Hello"})), json!(answer))
    };
    let alike = "Message queued for delivery";
    let reference: Vec<Value> = ["a@x.org", "b@x.org", "c@x.org"].map(|to| send(to, alike)).into();
    let mut prediction: Vec<Value> = ["d@y.org", "e@y.org", "f@y.org"].map(|to| send(to, alike)).into();
    prediction.push(send("g@y.org", "Message queued, second try"));
    let found = one("?", &[&prediction], &[&reference]);
    assert!(found.iter().all(|(fidelity, _)| *fidelity < 0.95), "{found:?}");
}
