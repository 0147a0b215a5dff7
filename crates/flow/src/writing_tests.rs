//! Values that arguments write differently from the result, and short values.

use serde_json::{Value, json};

use super::dependencies;
use super::tests::{between, call, chain};

const SENTENCE: &str = "the quick brown fox jumps over lazy dogs near that old stone river bridge today";

#[test]
fn values_in_another_writing_are_found() {
    let table = [
        ("a number in a formula", json!({"price": 129}), json!({"expression": "129*37"})),
        ("a fraction in a formula", json!({"price": 129.5, "sku": "x"}), json!({"expression": "129.5 * 3"})),
        ("a small one in a formula", json!({"count": 17}), json!({"expression": "sqrt(17) / 2"})),
        ("a number with its unit", json!({"price": 129}), json!({"amount": "129 EUR"})),
        ("a sentence in a text", json!(SENTENCE), json!({"text": format!("Please: {SENTENCE}")})),
        (
            "a sentence of several",
            json!(format!("First things. {SENTENCE}. And so on")),
            json!({"text": format!("translate {SENTENCE} please")}),
        ),
        (
            "a part of a sentence",
            json!(SENTENCE),
            json!({"text": "say: fox jumps over lazy dogs near that old stone"}),
        ),
        (
            "a value in a long text",
            json!({"species": "Tautog"}),
            json!({"text": format!("{SENTENCE} {SENTENCE} namely the tautog and {SENTENCE}")}),
        ),
        (
            "in an address",
            json!({"name": "Barnegat Inlet"}),
            json!({"url": "https://x.org/?q=Barnegat%20Inlet"}),
        ),
        ("from an address", json!({"url": "https://x.org/Barnegat%20Inlet"}), json!({"q": "Barnegat Inlet"})),
        ("without accents", json!({"name": "São Tomé"}), json!({"title": "Sao Tome"})),
        ("with accents", json!({"name": "Lodz"}), json!({"title": "Łódź"})),
        ("names that share a word", json!({"country": "PT", "n": 3}), json!({"country_code": "PT"})),
        ("names that mean the same", json!({"symbol": "T", "name": "AT&T"}), json!({"ticker": "T"})),
        ("all that a result is", json!({"state": "NY"}), json!({"region": "NY"})),
        ("all that a text is", json!("celsius"), json!({"units": "celsius"})),
        ("a colour", json!({"r": 12, "g": 250, "b": 33}), json!({"rgb": [12, 250, 33]})),
        ("a colour as text", json!({"r": 12, "g": 250, "b": 33}), json!({"color": "rgb(12, 250, 33)"})),
        (
            "a box among many numbers",
            json!({"boxes": (10..90).collect::<Vec<_>>(), "bbox": [34, 56, 78, 91]}),
            json!({"x1": 34, "y1": 56, "x2": 78, "y2": 91}),
        ),
        ("a small number of two", json!({"km": 42, "minutes": 35}), json!({"distance": 42})),
        ("a sum", json!("90"), json!({"a": 90, "b": 3})),
        ("a rounded value", json!({"temp_c": 21.4}), json!({"value": 21, "to": "F"})),
        ("the name of a file", json!("saved mask to /tmp/m3/mask_001.png"), json!({"mask": "mask_001.png"})),
    ];
    for (what, result, arguments) in table {
        assert!(!between(result, arguments).is_empty(), "{what}");
    }
}

#[test]
fn short_values_without_anything_else_in_common_are_none() {
    let table = [
        ("one of several", json!({"country": "PT", "name": "Porto"}), json!({"code": "PT"})),
        ("words of many names", json!({"start_time": 5, "n": [7, 8]}), json!({"end_time": 5})),
        ("counts", json!([1, 2, 3, 4, 5, 6]), json!({"ids": [1, 2, 3, 4, 5, 6]})),
        ("in another order", json!({"all": [12, 33, 250, 19]}), json!({"rgb": [33, 12]})),
        ("a common word", json!("ok"), json!({"answer": "ok"})),
        ("a place in a list of another server", json!([{"n": "a"}, {"n": "b"}]), json!({"index": 1})),
    ];
    for (what, result, arguments) in table {
        assert_eq!(between(result, arguments), [], "{what}");
    }
}

#[test]
fn a_place_in_a_list_is_one_of_the_last_list_of_the_server() {
    let find = |arguments: Value, result: Value| {
        let calls = vec![
            call((0, 0), "s/list", json!({"q": "lamps"}), Some(result)),
            call((1, 0), "s/open", arguments, Some(json!("x"))),
        ];
        dependencies(&chain("What?", calls)).len()
    };
    let two = || json!([{"n": "a"}, {"n": "b"}]);
    assert_eq!(find(json!({"index": 1}), two()), 1);
    assert_eq!(find(json!({"item_index": 2}), json!("1. a\n2. b")), 1);
    assert_eq!(find(json!({"index": 7}), two()), 0);
    assert_eq!(find(json!({"count": 1}), two()), 0);
    assert_eq!(find(json!({"index": 1}), json!("done")), 0);
}

#[test]
fn a_small_number_of_the_task_is_its_own_only_under_its_name() {
    let find = |question: &str| {
        let calls = vec![
            call((0, 0), "h/find", json!({"q": "zz"}), Some(json!({"age": 10, "of": 3, "n": 4, "m": 5}))),
            call((1, 0), "h/events", json!({"age": 10}), Some(json!("x"))),
        ];
        dependencies(&chain(question, calls)).len()
    };
    assert_eq!(find("How many of the 10 are old?"), 1);
    assert_eq!(find("What happens at the age of 10?"), 0);
}
