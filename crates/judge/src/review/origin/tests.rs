//! Tests of what is taken from a reference's run: only what certainly belongs to it.

use m3_trajectory::Step;
use m3_trajectory::json;

use super::*;

fn trajectory(result: Option<&str>) -> Trajectory {
    let call = Call {
        tool: "a/find".to_owned(),
        arguments: Some(json::parse(br#"{"q": 12345678901234567890123}"#).unwrap().0),
        result: result.map(|result| Json::String(result.to_owned())),
        extra: Vec::new(),
    };
    let steps = vec![Step { number: Some(1), calls: vec![call], ..Step::default() }];
    Trajectory { id: "x".to_owned(), steps, ..Trajectory::default() }
}

fn reference(file: &str, content: &str) -> Trajectory {
    let provenance = format!(
        r#"{{"chosen": 0, "runs": [{{"file": "{file}", "index": 1, "content": "{content}",
        "reconstruction": {{"steps": [[{{"step": 0, "call": 0}}]], "dependencies": []}}}}]}}"#
    );
    let mut reference = trajectory(None);
    reference.extra.push((Provenance::KEY.to_owned(), json::parse(provenance.as_bytes()).unwrap().0));
    reference
}

/// The result and the text found for a reference, in a folder with a file of runs `runs.json`.
fn found(reference: &Trajectory, runs: &str) -> (Option<Json>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("runs.json"), runs).unwrap();
    let mut origins = [Origin::of(reference)];
    find_runs(std::slice::from_ref(reference), &mut origins, folder.path());
    let subject = Subject { reference, origin: &origins[0] };
    (subject.result(&subject.calls(), 0).cloned(), subject.origin_in_words().unwrap_or_default())
}

#[test]
fn results_come_from_the_run_and_from_no_other() {
    let run = trajectory(Some("id-7731"));
    let runs = |run: &Trajectory| {
        let first = trajectory(Some("another")).to_json().to_text(Keys::AsRead);
        format!("[{first},{}]", run.to_json().to_text(Keys::AsRead))
    };
    let made_of = reference("runs.json", &content(&run));
    let (result, said) = found(&made_of, &runs(&run));
    assert_eq!(result, Some(Json::String("id-7731".to_owned())));
    assert!(said.contains("trajectory 2 of runs.json"), "{said}");
    let mut changed = run.clone();
    changed.final_reply = Some("7".to_owned());
    for (what, reference, runs) in [
        ("another run", &made_of, runs(&changed)),
        ("fewer", &made_of, format!("[{}]", run.to_json().to_text(Keys::AsRead))),
        ("no runs", &made_of, "shopping list".to_owned()),
        ("no file", &reference("gone.json", &content(&run)), runs(&run)),
        ("a folder", &reference(".", &content(&run)), runs(&run)),
        ("standard input", &reference("-", &content(&run)), runs(&run)),
    ] {
        let (result, said) = found(reference, &runs);
        assert_eq!(result, None, "{what}");
        assert!(said.contains("its results are not shown"), "{what}: {said}");
    }
    // No run is searched for if the reference names none.
    assert_eq!(found(&trajectory(None), &runs(&run)), (None, String::new()));
}

#[test]
fn a_call_that_is_not_as_in_the_run_has_no_result() {
    let run = trajectory(Some("id-7731"));
    let mut edited = reference("runs.json", &content(&run));
    edited.steps[0].calls[0].arguments = Some(json::parse(b"{}").unwrap().0);
    let text = run.to_json().to_text(Keys::AsRead);
    assert_eq!(found(&edited, &format!("[{text},{text}]")).0, None);
}
