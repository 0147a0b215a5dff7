//! What boosting, calibration and a tree in a file must hold.

use super::*;

const GROWTH: Growth = Growth { trees: 150, leaves: 6, least_rows: 5, rate: 0.1 };

const SIGNS: [Sign; 4] = [Sign::Up, Sign::Free, Sign::Down, Sign::Free];

/// Numbers in [0, 1) without a pattern (the fractions of multiples of the golden ratio).
fn scattered(at: usize) -> f64 {
    (at as f64 * 0.618_033_988_749_895).fract()
}

/// Rows whose label follows from the first number, against its sign where `is_turned`, and from whether the second is
/// there.
fn rows(is_turned: bool) -> (Vec<[f64; 4]>, Vec<bool>) {
    (0..400)
        .map(|at| {
            let second = if at % 3 == 0 { 1.0 } else { f64::NAN };
            let label = ((scattered(at) > 0.5) != is_turned) && at % 3 != 0;
            ([scattered(at), second, scattered(at + 7), f64::NAN], label)
        })
        .unzip()
}

fn trees(rows: &[[f64; 4]], labels: &[bool]) -> Vec<Tree> {
    let row = |(numbers, &label): (&'_ [f64; 4], &bool)| (numbers.to_vec(), label);
    let rows: Vec<(Vec<f64>, bool)> = rows.iter().zip(labels).map(row).collect();
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(numbers, label)| Row { numbers, label: *label, weight: 1.0 }).collect();
    boost(&rows, &vec![0.0; rows.len()], &SIGNS, GROWTH, 1)
}

fn sum(trees: &[Tree], row: &[f64]) -> f64 {
    trees.iter().map(|tree| tree.value(row)).sum()
}

#[test]
fn trees_learn_what_tells_labels_apart_missing_numbers_too() {
    let (rows, labels) = rows(false);
    let trees = trees(&rows, &labels);
    let right = rows.iter().zip(&labels).filter(|(row, label)| (sum(&trees, *row) > 0.0) == **label).count();
    assert!(right >= 390, "{right}");
}

#[test]
fn no_number_moves_the_result_against_its_sign() {
    // The labels are the other way round: a tree that followed them would break the sign.
    for is_turned in [false, true] {
        let (rows, labels) = rows(is_turned);
        let trees = trees(&rows, &labels);
        for (at, sign) in SIGNS.iter().enumerate() {
            let of = |value: f64| {
                let mut row = rows[7];
                row[at] = value;
                sum(&trees, &row)
            };
            match sign {
                Sign::Up => assert!(of(0.1) <= of(0.9) + 1e-12, "{at}"),
                Sign::Down => assert!(of(0.1) >= of(0.9) - 1e-12, "{at}"),
                Sign::Free => {}
            }
        }
    }
}

#[test]
fn the_same_rows_give_the_same_trees_and_they_are_read_back() {
    let (rows, labels) = rows(false);
    let text = serde_json::to_string(&trees(&rows, &labels)).unwrap();
    assert_eq!(text, serde_json::to_string(&trees(&rows, &labels)).unwrap());
    assert_eq!(serde_json::from_str::<Vec<Tree>>(&text).unwrap(), trees(&rows, &labels));
}

#[test]
fn a_tree_whose_ways_lead_nowhere_is_refused() {
    for text in [
        r#"{"nodes": [[0, 0.5, 0, 0, -1]], "leaves": [1.0]}"#,
        r#"{"nodes": [[0, 0.5, 0, 5, -1]], "leaves": [1.0]}"#,
        r#"{"nodes": [[0, 0.5, 0, -2, -1]], "leaves": [1.0]}"#,
        r#"{"nodes": [], "leaves": []}"#,
    ] {
        assert!(serde_json::from_str::<Tree>(text).is_err(), "{text}");
    }
    let one = serde_json::from_str::<Tree>(r#"{"nodes": [], "leaves": [0.25]}"#).unwrap();
    assert!((one.value(&[]) - 0.25).abs() < 1e-12);
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

/// The mean of two forests is all their trees with half their values.
#[test]
fn a_tree_of_half_its_values_adds_half() {
    let (rows, labels) = rows(false);
    for tree in trees(&rows, &labels).into_iter().take(5) {
        let whole = tree.value(&rows[3]);
        assert!((tree.scaled(0.5).value(&rows[3]) - whole / 2.0).abs() < 1e-6);
    }
}
