//! Parts of the labels and figures, with results by hand.

use image::{Rgb, RgbImage};

use super::workflows::figures::area;
use super::workflows::graphs::Names;
use super::workflows::label::one_to_one;
use super::workflows::pictures::alike_pictures;

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
