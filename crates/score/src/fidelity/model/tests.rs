//! What boosting, calibration and the file of a model must hold.

use super::boost::{self, Growth, Row};
use super::calibrate::{isotonic, on_curve};
use super::{Model, balanced_threshold, sigmoid};
use crate::fidelity::evidence::{SIGNS, Sign};

const GROWTH: Growth = Growth { trees: 150, leaves: 6, least_rows: 5, rate: 0.1 };

fn place(name: &str) -> usize {
    SIGNS.iter().position(|(known, _)| *known == name).unwrap()
}

/// Numbers in [0, 1) without a pattern (the fractions of multiples of the golden ratio).
fn scattered(at: usize) -> f64 {
    (at as f64 * 0.618_033_988_749_895).fract()
}

/// Rows whose label follows from `rule`, against its sign where `is_turned`, and from whether `one_words` is there.
fn rows(is_turned: bool) -> (Vec<Vec<f64>>, Vec<bool>) {
    let (rule, asked) = (place("rule"), place("one_words"));
    (0..400)
        .map(|at| {
            let mut numbers = vec![f64::NAN; SIGNS.len()];
            numbers[rule] = scattered(at);
            if at % 3 == 0 {
                numbers[asked] = 1.0;
            }
            (numbers, ((scattered(at) > 0.5) != is_turned) && at % 3 != 0)
        })
        .unzip()
}

fn fitted(is_turned: bool) -> (Model, Vec<Vec<f64>>, Vec<bool>) {
    let (numbers, labels) = rows(is_turned);
    let of = |(numbers, &is_same): (&'_ Vec<f64>, &bool)| -> (Vec<f64>, bool) { (numbers.clone(), is_same) };
    let pairs: Vec<(Vec<f64>, bool)> = numbers.iter().zip(&labels).map(of).collect();
    let rows: Vec<Row<'_>> =
        pairs.iter().map(|(numbers, is_same)| Row { numbers, is_same: *is_same, weight: 1.0 }).collect();
    (boost::fit(&rows, GROWTH, 1), numbers, labels)
}

#[test]
fn trees_learn_what_tells_labels_apart_missing_numbers_too() {
    let (model, numbers, labels) = fitted(false);
    let right =
        numbers.iter().zip(&labels).filter(|(row, label)| (model.log_odds(row) > 0.0) == **label).count();
    assert!(right >= 390, "{right}");
}

#[test]
fn no_number_moves_the_result_against_its_sign() {
    // The labels are the other way round: a tree that followed them would break the sign.
    for is_turned in [false, true] {
        let (model, numbers, _) = fitted(is_turned);
        for (at, (name, sign)) in SIGNS.iter().enumerate() {
            let (low, high) = (0.1, 0.9);
            let of = |value: f64| {
                let mut row = numbers[7].clone();
                row[at] = value;
                model.log_odds(&row)
            };
            match sign {
                Sign::Up => assert!(of(low) <= of(high) + 1e-12, "{name}"),
                Sign::Down => assert!(of(low) >= of(high) - 1e-12, "{name}"),
                Sign::Free => {}
            }
        }
    }
}

#[test]
fn the_same_rows_give_the_same_file_and_it_is_read_back() {
    let model = fitted(false).0.with_sources(Vec::new());
    let text = model.to_json();
    assert_eq!(text, fitted(false).0.with_sources(Vec::new()).to_json());
    assert_eq!(Model::read(text.as_bytes()).unwrap(), model);
}

#[test]
fn a_curve_rises_and_follows_the_shares() {
    // Ninety of a hundred are of the same above zero, ten below; one stretch falls and is pooled.
    let scored: Vec<(f64, bool, f64)> = (0..1000)
        .map(|at| {
            let x = f64::from(at) / 100.0 - 5.0;
            let often = if (1.0..2.0).contains(&x) {
                4
            } else if x > 0.0 {
                9
            } else {
                1
            };
            (x, at % 10 < often, 1.0)
        })
        .collect();
    let curve = isotonic(&scored);
    assert!(curve.is_sorted_by(|a, b| a.0 < b.0 && a.1 < b.1), "{curve:?}");
    assert!((sigmoid(on_curve(&curve, -3.0)) - 0.1).abs() < 0.03);
    assert!((sigmoid(on_curve(&curve, 4.0)) - 0.9).abs() < 0.03);
    let (first, last) = (curve[0], curve[curve.len() - 1]);
    assert!((on_curve(&curve, first.0 - 2.0) - (first.1 - 2.0)).abs() < 1e-12);
    assert!((on_curve(&curve, last.0 + 2.0) - (last.1 + 2.0)).abs() < 1e-12);
    assert!((on_curve(&[], 0.7) - 0.7).abs() < 1e-12);
}

#[test]
fn a_threshold_balances_both_errors_over_sources() {
    // By hand: between 0.3 and 0.6 both sources are parted without an error, in the middle of that at 0.45.
    let sources = [vec![(0.1, false), (0.9, true)], vec![(0.3, false), (0.6, true)], vec![(0.99, true)]];
    assert!((balanced_threshold(&sources) - 0.45).abs() < 0.011);
    // From above 0.2 to 0.3 half of each is wrong.
    let mixed = [vec![(0.1, false), (0.2, true), (0.3, false), (0.9, true)]];
    assert!((balanced_threshold(&mixed) - 0.255).abs() < 0.011);
    assert!((0.02..=0.98).contains(&balanced_threshold(&[])));
}

#[test]
fn the_built_in_model_is_read() {
    let model = Model::built_in();
    assert!(model.trees.len() > 100 && !model.digest().is_empty() && model.sources().len() > 10);
    assert_eq!(model.to_json().as_bytes(), super::BUILT_IN);
}
