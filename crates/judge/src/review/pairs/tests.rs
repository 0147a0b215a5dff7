//! Tests of pairs: sides are shuffled and hidden, and preferences are counted for the right side.

use std::path::Path;
use std::sync::Arc;

use super::*;

fn desk(folder: &Path, count: usize) -> PairsDesk {
    let trajectory = |id: usize, secret: &str| Trajectory {
        id: format!("{id:04}"),
        final_reply: Some(secret.to_owned()),
        extra: vec![("judge".to_owned(), Json::String(secret.to_owned()))],
        ..Trajectory::default()
    };
    let pairs = (0..count).map(|id| [trajectory(id, "secret one"), trajectory(id, "secret two")]).collect();
    let images: Images = Arc::new(|_, _| Err("none".to_owned()));
    PairsDesk::new(Pairs::open(pairs, &folder.join("p.jsonl")).unwrap(), images, "x", "Ada")
}

fn send(desk: &mut PairsDesk, place: usize, name: &str, choice: &str) -> u16 {
    let body = json!({"place": place, "name": name, "choice": choice}).to_string();
    desk.answer(&Request { is_post: true, path: "api/prefer", query: "", body: body.as_bytes() }).status
}

fn get(desk: &mut PairsDesk, path: &str, query: &str) -> (u16, String) {
    let reply = desk.answer(&Request { is_post: false, path, query, body: b"" });
    (reply.status, String::from_utf8(reply.body).unwrap())
}

#[test]
fn sides_and_order_differ_between_people_and_stay_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let desk = desk(folder.path(), 200);
    let left = |name: &str| -> Vec<Version> {
        desk.pairs.list.iter().map(|[one, _]| on_the_left(&one.id, name)).collect()
    };
    let originals = left("Ada").iter().filter(|side| **side == Version::Original).count();
    // 200 throws of a coin leave this range about once in 10^7 times.
    assert!((63..=137).contains(&originals), "{originals}");
    assert_ne!(left("Ada"), left("Bob"));
    assert_eq!(left("Ada"), left("Ada"));
    assert_ne!(desk.pairs.order("Ada"), desk.pairs.order("Bob"));
}

#[test]
fn choices_are_counted_for_what_stood_there_and_may_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 40);
    for place in 0..40 {
        let id = desk.pairs.list[desk.pairs.order("Ada")[place]][0].id.clone();
        let is_left = on_the_left(&id, "Ada") == Version::Reconstructed;
        assert_eq!(send(&mut desk, place, "Ada", if is_left { "left" } else { "right" }), 200);
    }
    assert_eq!(send(&mut desk, 0, "Ada", "tie"), 200);
    assert_eq!(send(&mut desk, 0, "Bob", "tie"), 200);
    let summary = desk.pairs.summary();
    assert_eq!(summary.people["Ada"], Counts { reconstructed: 39, original: 0, ties: 1 });
    assert_eq!(summary.all, Counts { reconstructed: 39, original: 0, ties: 2 });
    assert_eq!(summary.all.share(), Some(1.0));
    assert_eq!((send(&mut desk, 40, "Ada", "tie"), send(&mut desk, 0, "", "tie")), (404, 422));
}

#[test]
fn nothing_tells_which_is_which_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut desk = desk(folder.path(), 2);
    for place in 0..2 {
        assert_eq!(get(&mut desk, "api/end", "name=Ada").0, 409);
        let (status, pair) = get(&mut desk, "api/pair", &format!("place={place}&name=Ada"));
        assert_eq!(status, 200);
        for word in ["secret", "original", "reconstructed", "judge"] {
            assert!(!pair.contains(word), "{pair}");
        }
        send(&mut desk, place, "Ada", "left");
        let (_, list) = get(&mut desk, "api/pairs", "name=Ada");
        assert!(!list.contains("original"), "{list}");
    }
    let (status, end) = get(&mut desk, "api/end", "name=Ada");
    assert_eq!(status, 200);
    assert!(end.contains("\"people\":1"), "{end}");
}

/// The paper's 589 of 600 (section 6.4), with the interval of `stats::agreement::wilson`.
#[test]
fn the_share_leaves_ties_aside() {
    let counts = Counts { reconstructed: 589, original: 11, ties: 50 };
    assert!((counts.share().unwrap() - 0.9817).abs() < 5e-5);
    let (low, high) = counts.interval().unwrap();
    assert!((low - 0.9675).abs() < 5e-5 && (high - 0.9897).abs() < 5e-5, "{low} {high}");
    assert_eq!(Counts::default().share(), None);
    assert_eq!(Counts::default().interval(), None);
}
