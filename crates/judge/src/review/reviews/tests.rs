//! Tests of decisions: which count, which are undone, and what happens to a decision that comes too late.

use m3_trajectory::json::{self, Json, Keys};
use m3_trajectory::{Call, Step};

use super::super::arrangement::PlacedCall;
use super::super::checks::{LONGEST_NAME, LONGEST_NOTE};
use super::*;

fn references(ids: &[&str]) -> Vec<Trajectory> {
    let call = Call { tool: "a/b".to_owned(), arguments: None, result: None, extra: Vec::new() };
    let steps = vec![Step { calls: vec![call], ..Step::default() }];
    let reference =
        |id: &&str| Trajectory { id: (*id).to_owned(), steps: steps.clone(), ..Trajectory::default() };
    ids.iter().map(reference).collect()
}

fn accept() -> Action {
    Action::Accept { note: String::new() }
}

fn edit() -> Action {
    let revision = Revision::of(&references(&["a"])[0]);
    Action::Edit { revision, change: "moved".to_owned(), note: String::new() }
}

fn reject(note: &str) -> Action {
    Action::Reject { note: note.to_owned() }
}

#[test]
fn decisions_follow_one_another_and_are_undone_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut reviews = Reviews::open(references(&["a", "b"]), &path).unwrap();
    for (base, action) in [(0, edit()), (1, accept()), (2, reject("no"))] {
        reviews.decide(0, base, "Ada", action).unwrap();
    }
    assert_eq!((reviews.state(0), reviews.state(1)), (State::Rejected, State::Open));
    let mut states = Vec::new();
    for base in 3..6 {
        reviews.decide(0, base, "Ada", Action::Undo).unwrap();
        states.push((reviews.state(0), reviews.revision(0).is_some()));
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
    // A decision that the person has not seen cannot be undone.
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

#[test]
fn what_nobody_judges_may_change_and_lines_of_earlier_versions_count() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let made_of = |file: &str| {
        let mut made = references(&["a"]);
        let runs = json::parse(format!(r#"{{"runs": [{{"file": "{file}"}}]}}"#).as_bytes()).unwrap().0;
        made[0].extra.push(("judge".to_owned(), runs));
        made
    };
    Reviews::open(made_of("runs/first"), &path).unwrap().decide(0, 0, "Ada", accept()).unwrap();
    let again = Reviews::open(made_of("./runs/first"), &path).unwrap();
    assert_eq!((again.state(0), again.foreign()), (State::Accepted, 0));
    // A line of an earlier version, with the hash of the whole reference.
    let whole = made_of("x")[0].to_json().to_text(Keys::AsRead);
    let whole = m3_support::text::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(whole));
    let text = std::fs::read_to_string(&path).unwrap();
    let known = Reviews::open(made_of("x"), &path).unwrap().last(0).unwrap().reference.clone();
    std::fs::write(&path, text.replace(&known, &whole)).unwrap();
    assert_eq!(Reviews::open(made_of("x"), &path).unwrap().state(0), State::Accepted);
    assert_eq!(Reviews::open(made_of("y"), &path).unwrap().foreign(), 1);
    let mut changed = made_of("x");
    changed[0].steps[0].calls[0].result = Some(Json::Null);
    assert_eq!(Reviews::open(changed, &path).unwrap().foreign(), 1);
}

#[test]
fn who_has_seen_what_is_not_there_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = Reviews::open(references(&["a"]), &folder.path().join("r.jsonl")).unwrap();
    let refused = reviews.decide(0, 2, "Ada", accept());
    assert!(matches!(refused, Err(DecideError::Unseen { base: 2 })), "{refused:?}");
    let kept: Vec<bool> = reviews.history(0).map(|(decision, _)| decision.set_aside).collect();
    assert_eq!((reviews.state(0), reviews.version(0), kept), (State::Open, 0, vec![true]));
}

#[test]
fn several_decisions_are_taken_together() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut reviews = Reviews::open(references(&["a"]), &path).unwrap();
    // If one decision is not acceptable, none is written.
    assert!(reviews.decide_all(0, 0, "Ada", vec![edit(), reject("")]).is_err());
    assert!(!path.exists());
    reviews.decide_all(0, 0, "Ada", vec![edit(), accept()]).unwrap();
    let bases: Vec<u64> = reviews.history(0).map(|(decision, _)| decision.base).collect();
    assert_eq!((reviews.version(0), bases, reviews.state(0)), (2, vec![0, 1], State::Accepted));
    assert!(reviews.decide_all(0, 1, "Bob", vec![edit(), accept()]).is_err());
    assert_eq!(reviews.history(0).filter(|(decision, _)| decision.set_aside).count(), 2);
}

#[test]
fn what_has_no_calls_can_only_be_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let mut empty = references(&["a"]);
    empty[0].steps.clear();
    let mut reviews = Reviews::open(empty, &folder.path().join("r.jsonl")).unwrap();
    assert!(matches!(reviews.decide(0, 0, "Ada", accept()), Err(DecideError::Incomplete(_))));
    reviews.decide(0, 0, "Ada", reject("it does nothing")).unwrap();
    // With an answer it says something: the task may need no call.
    let revision = Revision { reply: Some("7".to_owned()), ..Revision::default() };
    let edit = Action::Edit { revision, change: String::new(), note: String::new() };
    reviews.decide_all(0, 1, "Ada", vec![edit, accept()]).unwrap();
    assert_eq!(reviews.current(0).answer(&reviews.references()[0]), Some("7"));
}

/// The lines as they were before answers could be edited and calls added.
#[test]
fn edits_of_earlier_versions_are_read() {
    let line = r#"{"action":"edit","steps":[[{"call":1},{"call":0,"arguments":"{}"}]],"change":"moved"}"#;
    let action: Action = serde_json::from_str(line).unwrap();
    let placed = |call, arguments: Option<&str>| PlacedCall {
        call,
        tool: None,
        arguments: arguments.map(str::to_owned),
    };
    let steps = vec![vec![placed(1, None), placed(0, Some("{}"))]];
    assert_eq!(action.revision(), Some(&Revision { steps, reply: None }));
    // And written as then.
    assert_eq!(serde_json::to_string(&action).unwrap(), line);
}

#[test]
fn a_line_that_does_not_fit_its_reference_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let mut reviews = Reviews::open(references(&["a"]), &path).unwrap();
    reviews.decide(0, 0, "Ada", accept()).unwrap();
    reviews.decide(0, 1, "Ada", edit()).unwrap();
    let sound = std::fs::read_to_string(&path).unwrap();
    let steps = r#""steps":[[{"call":0}]]"#;
    assert_eq!(sound.matches(steps).count(), 1);
    for (calls, message) in [
        (r#"{"call":0},{"call":99}"#, "a call is not one of the reference"),
        (r#"{"call":0},{"call":0}"#, "a call stands twice"),
        (r#"{"call":0,"arguments":"{"}"#, "this is not JSON"),
        (r#"{"call":0,"tool":"a/c"}"#, "a call of the file keeps its tool"),
        ("", "no call is left"),
    ] {
        let text = sound.replace(steps, &format!(r#""steps":[[{calls}]]"#));
        std::fs::write(&path, text).unwrap();
        let refused = Reviews::open(references(&["a"]), &path).unwrap_err();
        assert!(
            matches!(&refused, JournalError::Line { line: 2, message: said, .. } if said.contains(message)),
            "{refused}"
        );
        // It says nothing of another reference.
        assert_eq!(Reviews::open(references(&["b"]), &path).unwrap().foreign(), 2);
    }
    // A process that had opened the file before is told each time.
    std::fs::write(&path, &sound).unwrap();
    let mut before = Reviews::open(references(&["a"]), &path).unwrap();
    let wrong = sound.lines().last().unwrap().replace(steps, r#""steps":[[{"call":99}]]"#);
    std::fs::write(&path, format!("{sound}{wrong}\n")).unwrap();
    for _ in 0..2 {
        assert!(matches!(before.refresh(), Err(JournalError::Line { line: 3, .. })));
    }
    assert_eq!((before.len(), before.version(0)), (2, 2));
}
