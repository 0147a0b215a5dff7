//! What the threshold and the file of a model must hold.

use super::{BUILT_IN_DIGEST, Model, balanced_threshold};

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
    assert!(model.trees.len() > 100 && model.sources().len() > 10);
    assert_eq!(model.digest(), BUILT_IN_DIGEST, "`BUILT_IN_DIGEST` should be the first of both");
    assert_eq!(model.to_json().as_bytes(), super::BUILT_IN);
}
