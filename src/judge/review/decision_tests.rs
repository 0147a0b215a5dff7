//! Tests of decisions: what counts, what is undone, and what happens to who comes late.

use super::super::checks::{LONGEST_NAME, LONGEST_NOTE};
use super::*;

fn references(ids: &[&str]) -> Vec<Trajectory> {
    ids.iter().map(|id| Trajectory { id: (*id).to_owned(), ..Trajectory::default() }).collect()
}

fn accept() -> Action {
    Action::Accept { note: String::new() }
}

fn reject(note: &str) -> Action {
    Action::Reject { note: note.to_owned() }
}

#[test]
fn decisions_follow_one_another_and_are_undone_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut reviews = Reviews::open(references(&["a", "b"]), &path).unwrap();
    let edit = Action::Edit { steps: Vec::new(), change: "moved".to_owned(), note: String::new() };
    for (base, action) in [(0, edit), (1, accept()), (2, reject("no"))] {
        reviews.decide(0, base, "Ada", action).unwrap();
    }
    assert_eq!((reviews.state(0), reviews.state(1)), (State::Rejected, State::Open));
    let mut states = Vec::new();
    for base in 3..6 {
        reviews.decide(0, base, "Ada", Action::Undo).unwrap();
        states.push((reviews.state(0), reviews.arrangement(0).is_some()));
    }
    assert_eq!(states, [(State::Accepted, true), (State::Edited, true), (State::Open, false)]);
    assert!(matches!(reviews.decide(0, 6, "Ada", Action::Undo), Err(DecideError::NothingToUndo)));
    let again = Reviews::open(references(&["b", "a"]), &path).unwrap();
    assert_eq!((again.state(1), again.version(1), again.len()), (State::Open, 6, 6));
    assert_eq!(again.history(1).filter(|(_, counts)| *counts).count(), 0);
}

#[test]
fn who_comes_late_is_told_and_the_decision_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let open = || Reviews::open(references(&["a"]), &path).unwrap();
    let (mut ada, mut bob) = (open(), open());
    ada.decide(0, 0, "Ada", accept()).unwrap();
    let error = bob.decide(0, 0, "Bob", reject("late")).unwrap_err();
    assert!(matches!(&error, DecideError::Conflict { name, .. } if name == "Ada"), "{error}");
    assert_eq!((bob.state(0), bob.version(0)), (State::Accepted, 1));
    ada.refresh().unwrap();
    let kept: Vec<_> = ada.history(0).map(|(decision, counts)| (decision.set_aside, counts)).collect();
    assert_eq!(kept, [(false, true), (true, false)]);
    bob.decide(0, 1, "Bob", reject("still")).unwrap();
    assert_eq!(bob.state(0), State::Rejected);
    // Nobody undoes what he has not seen.
    assert!(matches!(ada.decide(0, 1, "Ada", Action::Undo), Err(DecideError::Conflict { .. })));
    assert_eq!(ada.state(0), State::Rejected);
}

#[test]
fn a_decision_says_nothing_of_another_reference_of_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    Reviews::open(references(&["a"]), &path).unwrap().decide(0, 0, "Ada", accept()).unwrap();
    let mut changed = references(&["a"]);
    changed[0].question = Some("another".to_owned());
    let reviews = Reviews::open(changed, &path).unwrap();
    assert_eq!((reviews.state(0), reviews.foreign()), (State::Open, 1));
}

#[test]
fn a_rejection_needs_a_note_and_everything_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = Reviews::open(references(&["a"]), &folder.path().join("r.jsonl")).unwrap();
    for (name, action) in [
        ("Ada", reject(" \n")),
        (" ", accept()),
        ("Ada", reject(&"x".repeat(LONGEST_NOTE + 1))),
        (&"x".repeat(LONGEST_NAME + 1), accept()),
    ] {
        assert!(matches!(reviews.decide(0, 0, name, action), Err(DecideError::Incomplete(_))), "{name}");
    }
    assert_eq!(reviews.state(0), State::Open);
    reviews.decide(0, 0, "A\u{202e}da", reject("\u{1b}[31mred\r\nx")).unwrap();
    let decision = reviews.last(0).unwrap();
    assert_eq!((decision.name.as_str(), decision.action.note()), ("A\\u{202e}da", "\\u{1b}[31mred\nx"));
}
