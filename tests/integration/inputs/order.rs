//! Files in the wrong order, folders in place of files, repeated ids.

use serde_json::{Value, json};

use super::{REFERENCES, marked};
use crate::support::{Folder, failure, m3, no_encoder, root, run, text};

fn of_run() -> Value {
    marked("a", &json!({"versions": {"m3": "0.1.0", "schema": "m3.prediction/1"}}))
}

fn of_judge() -> Value {
    marked("a", &json!({"judge": {"schema": "m3.reference/1"}}))
}

fn of_review() -> Value {
    marked("a", &json!({"review": {"schema": "m3.review/1"}}))
}

#[test]
fn swapped_files_that_m3_has_written_are_refused() {
    let folder = Folder::new();
    let ran = folder.json("ran.json", &json!([of_run()]));
    for made in [of_judge(), of_review()] {
        let references = folder.json("references.json", &json!([made]));
        for command in ["score", "audit"] {
            let (code, said) = failure(no_encoder(&folder).arg(command).args([&references, &ran]));
            assert_eq!(code, 2);
            assert!(
                said.contains("the files are in the wrong order")
                    && said.contains("hint: predictions come first"),
                "{said}"
            );
        }
        let Some(mut m3) = m3() else { return };
        let output = run(m3.arg("score").args([&ran, &references]));
        assert!(output.status.success() && text(&output.stderr).is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn one_file_in_the_place_of_the_other_is_a_warning() {
    let folder = Folder::new();
    let [ran, made, plain] = [of_run(), of_judge(), marked("a", &json!({}))].map(|one| json!([one]));
    let file = |name: &str, content: &Value| folder.json(name, content);
    let (ran, made, plain) = (file("ran.json", &ran), file("made.json", &made), file("plain.json", &plain));
    for (files, warning) in [
        ([&plain, &ran], "are predictions of `m3 run`, and are taken as references"),
        ([&ran, &ran], "are predictions of `m3 run`, and are taken as references"),
        ([&made, &plain], "are references of `m3 judge` or `m3 review`, and are scored as predictions"),
        // A judge's references may be compared with a person's.
        ([&made, &made], ""),
    ] {
        let Some(mut m3) = m3() else { return };
        let output = run(m3.arg("score").args(files));
        let said = text(&output.stderr);
        assert!(
            output.status.success() && said.contains(warning) && said.is_empty() == warning.is_empty(),
            "{said}"
        );
    }
}

#[test]
fn the_folder_of_a_run_stands_for_its_predictions() {
    let folder = Folder::new();
    let file = folder.path().join("predictions.json");
    std::fs::copy(root().join("trajectories/predictions.json"), &file).unwrap();
    let Some(mut m3) = m3() else { return };
    let output = run(m3.arg("score").arg(folder.path()).arg(REFERENCES));
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("are read from `{}`", file.display())), "{said}");
    assert!(text(&output.stdout).contains("average              0.9482"));
    // An output must not overwrite its input.
    let mut m3 = crate::support::m3().unwrap();
    let (code, said) = failure(m3.arg("score").arg(folder.path()).arg(REFERENCES).arg("--out").arg(&file));
    assert_eq!(code, 2, "{said}");
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("[\n"));
}

#[test]
fn what_to_do_about_ids_that_stand_twice_is_said_once() {
    let folder = Folder::new();
    let twice: Vec<Value> = (0..15)
        .flat_map(|number| {
            [0, 1].map(
                |reply| json!({"id": format!("{number}"), "steps": [], "final_reply": format!("{reply}")}),
            )
        })
        .collect();
    let path = folder.json("twice.json", &json!(twice));
    let (code, said) = failure(no_encoder(&folder).arg("score").arg(&path).arg(REFERENCES));
    assert_eq!(code, 2);
    assert_eq!(said.matches("duplicate id").count(), 15, "{said}");
    assert_eq!(said.matches("(`duplicates`: `last`)").count(), 1, "{said}");
    // For files that are read, it is reported once, with the first place.
    let output =
        run(no_encoder(&folder).arg("score").arg(&path).arg(REFERENCES).args(["--duplicates", "last"]));
    let said = text(&output.stderr);
    assert_eq!(said.matches("with other content; the last is used").count(), 1, "{said}");
    assert!(said.contains("(14 more like it)"), "{said}");
}
