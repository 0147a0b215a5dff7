//! Parts of the labels and figures, with results by hand, and the document's example.

use image::{Rgb, RgbImage};
use m3_score::Flow;
use m3_score::fidelity::ArgumentComparison;
use serde_json::{Value, json};

use super::properties::scored;
use super::workflows::figures::area;
use super::workflows::graphs::Names;
use super::workflows::label::one_to_one;
use super::workflows::pictures::alike_pictures;
use crate::support::root;

/// By hand: a mean difference of 1 is too much, a part with 2 of 4 pixels one apart is 0.5; sizes may differ by 2.
#[test]
fn pictures_are_one_within_a_difference_and_two_pixels() {
    let plain = |width, height, value| RgbImage::from_pixel(width, height, Rgb([value; 3]));
    assert!(!alike_pictures(&plain(2, 2, 10), &plain(2, 2, 11)));
    let mut half = plain(2, 2, 10);
    half.put_pixel(0, 0, Rgb([11; 3]));
    half.put_pixel(1, 0, Rgb([11; 3]));
    assert!(alike_pictures(&plain(2, 2, 10), &half));
    assert!(alike_pictures(&plain(4, 4, 10), &plain(6, 3, 13)));
    assert!(!alike_pictures(&plain(4, 4, 10), &plain(6, 3, 14)));
    assert!(!alike_pictures(&plain(4, 4, 10), &plain(7, 4, 10)));
}

#[test]
fn each_gets_one_of_its_own() {
    assert_eq!(one_to_one(&[vec![0, 1], vec![0]]), Some(vec![1, 0]));
    assert_eq!(one_to_one(&[vec![0], vec![0]]), None);
    assert_eq!(one_to_one(&[]), Some(Vec::new()));
}

#[test]
fn names_are_translated_as_whole_words_and_all_at_once() {
    let mut names = Names::default();
    names.add("a.png", "b.png");
    names.add("b.png", "a.png");
    names.add("out/1.png", "c.png");
    assert_eq!(names.translate("1: a.png, b.png, aa.png, out/1.png."), "1: b.png, a.png, aa.png, c.png.");
}

/// By hand: of the four pairs, (0.9, 0.5), (0.9, none) and (0.5, none) are won, (0.5, 0.5) is a tie: 3.5 / 4.
#[test]
fn the_area_counts_pairs_that_are_won() {
    let area_of = |right: &[f64], wrong: &[Option<f64>]| {
        area(&right.iter().copied().map(Some).collect::<Vec<_>>(), wrong)
    };
    assert_eq!(area_of(&[0.9, 0.5], &[Some(0.5), None]), Some(3.5 / 4.0));
    assert_eq!(area_of(&[], &[Some(0.5)]), None);
    assert_eq!(area(&[None], &[None]), None);
}

/// The example of `docs/flow.md`: its trajectories, and each row of its table.
#[test]
fn the_example_of_the_document_is_true() {
    let document = std::fs::read_to_string(root().join("docs/flow.md")).unwrap();
    let example = document.split_once("## An example").unwrap().1.split("\n## ").next().unwrap();
    let mut blocks = example.split("```").skip(1).step_by(2);
    let mut block =
        || -> Value { serde_json::from_str(blocks.next().unwrap().strip_prefix("json").unwrap()).unwrap() };
    let (reference, mut prediction) = (block(), block());
    let arguments = |prediction: &Value, call: &str| -> Vec<ArgumentComparison> {
        let scores = scored(std::slice::from_ref(prediction), std::slice::from_ref(&reference), Flow::On);
        let step = call.split_once('.').unwrap().0.parse::<usize>().unwrap() - 1;
        let pair = scores[0].compared.iter().find(|pair| pair.predicted.step == step).unwrap();
        pair.fidelity.arguments.clone()
    };
    let rows: Vec<Vec<&str>> = example
        .lines()
        .filter(|line| line.starts_with("| 1.1") || line.starts_with("| 2.1"))
        .map(|line| line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect())
        .collect();
    assert_eq!(rows.len(), 5);
    for row in rows {
        let [call, argument, score, why] = row[..] else { panic!("{row:?}") };
        let all = arguments(&prediction, call);
        let found = all.iter().find(|found| found.path == format!("/{argument}")).unwrap();
        assert_eq!(format!("{:.2}", found.score), score, "{found:?}");
        assert!(found.reason.contains(why), "{found:?}");
    }
    prediction["steps"][1]["calls"][0]["arguments"]["input_path"] = json!("images/plan.png");
    let all = arguments(&prediction, "2.1");
    let found = all.iter().find(|found| found.path == "/input_path").unwrap();
    assert!(
        (found.score - 0.02).abs() < 1e-12 && found.reason == "reads the task's picture, not what 1.1 made",
        "{found:?}"
    );
}
