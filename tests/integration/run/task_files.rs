//! Messages about a file of tasks and the images that it names.

use std::path::Path;

use serde_json::{Value, json};

use super::{arguments, model, output_of};
use crate::support::{Folder, failure, m3_bare};

/// The message about a file of tasks that cannot be run.
fn refused(folder: &Folder, tasks: &Path) -> String {
    let model = model();
    let mut arguments = arguments(&model, &output_of(folder));
    tasks.to_str().unwrap().clone_into(&mut arguments[1]);
    let (code, said) = failure(m3_bare(folder.path()).args(arguments));
    assert_eq!((code, model.requests().len()), (2, 0), "{said}");
    said
}

#[test]
fn all_problems_of_a_file_of_tasks_are_said_at_once() {
    let folder = Folder::new();
    image::RgbImage::new(8, 8).save(folder.path().join("good.png")).unwrap();
    let task = |id: &str, image: &str| json!({"id": id, "image": image, "question": "what?"});
    let tasks = json!([
        {"question": "whose?"},
        {"id": "silent", "image": "good.png"},
        7,
        task("twice", "good.png"),
        task("twice", "good.png"),
        task("blind", "none.png"),
    ]);
    let said = refused(&folder, &folder.json("tasks.json", &tasks));
    for expected in [
        "/0: no `id`; give each task an id of its own",
        "/1 (id `silent`): a task without `question` and `prompt`, or with empty ones, asks nothing",
        "/2: a task should be an object with `id` and `question`, and is",
        "the id `twice` stands more than once",
        "task `blind`: the image `none.png` is no file in",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert_eq!(said.matches("error: ").count(), 5, "{said}");
}

#[test]
fn tasks_are_spoken_of_as_tasks() {
    let folder = Folder::new();
    for (name, content) in [
        ("none.json", "[]"),
        ("empty.json", ""),
        ("text.json", "what?"),
        ("cut.json", r#"[{"id": "a", "question": "b"}"#),
        ("only.json", r#"[{"id": "a"}]"#),
    ] {
        let said = refused(&folder, &folder.write(name, content));
        assert!(said.contains("error: ") && !said.contains("traject"), "{name}: {said}");
    }
    let said = refused(&folder, &folder.json("t.json", &Value::Array(vec![json!({"id": "a", "steps": []})])));
    assert!(said.contains("has trajectories, not tasks"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_images_is_called_one() {
    use std::os::unix::fs::symlink;
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    image::RgbImage::new(8, 8).save(elsewhere.path().join("dice.png")).unwrap();
    symlink(elsewhere.path().join("dice.png"), folder.path().join("dice.png")).unwrap();
    symlink(elsewhere.path(), folder.path().join("images")).unwrap();
    let task = |id: &str, image: &str| json!({"id": id, "image": image, "question": "what?"});
    let tasks = json!([task("a", "dice.png"), task("b", "images/dice.png"), task("c", "../dice.png")]);
    let path = folder.json("tasks.json", &tasks);
    let said = refused(&folder, &path);
    for image in ["dice.png", "images/dice.png"] {
        let expected = format!("the image `{image}` is a link, or in one, that leads out of `");
        assert!(said.contains(&expected), "{said}");
    }
    assert!(said.contains("`--images DIR`"), "{said}");
    // With the folder that the hint suggests.
    let model = model();
    let mut arguments = arguments(&model, &output_of(&folder));
    path.to_str().unwrap().clone_into(&mut arguments[1]);
    let mut command = m3_bare(folder.path());
    command.args(arguments).args(["--id", "b", "--images"]).arg(elsewhere.path());
    crate::support::stdout(&mut command);
}
