//! Every command of `docs/recipes.md` runs on the small files that it names.

use std::path::Path;

use m3_testkit::sequence::blocks;

use crate::support::{Folder, encoder, program_with_cache, root, text};

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The commands run in the order of the page, each in the folder in which those before it have written their files.
#[test]
#[cfg(unix)]
fn every_recipe_works() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let work = folder.path().join("recipes");
    copy(&root().join("tests/integration/inputs/recipes"), &work);
    let program = assert_cmd::cargo::cargo_bin("m3");
    let paths = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{paths}", program.parent().unwrap().display());
    let page = std::fs::read_to_string(root().join("docs/recipes.md")).unwrap();
    let commands = blocks(&page, "sh");
    assert!(commands.len() >= 15, "{} recipes", commands.len());
    for command in commands {
        let mut shell = program_with_cache("bash", &folder.path().join("cache"), assets);
        shell.args(["-e", "-c", &command]).env("PATH", &path).current_dir(&work);
        let output = shell.output().unwrap();
        let message = text(&output.stderr);
        assert!(output.status.success(), "{command}\n{}\n{message}", text(&output.stdout));
        assert!(!message.contains("error:"), "{command}\n{message}");
    }
    let json = |name: &str| -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(work.join(name)).unwrap()).unwrap()
    };
    // By hand: the arguments of the first row are JSON, the second row has a name alone.
    let expected = json("expected.json");
    assert_eq!(expected[0]["steps"][0]["calls"][0]["arguments"]["city"], "Bern");
    assert_eq!(
        (&expected[1]["id"], expected[1]["steps"][0]["calls"][0].get("arguments")),
        (&"oslo".into(), None)
    );
    assert_eq!(json("should.json")[1]["steps"][0]["calls"][0]["arguments"]["city"], "Oslo");
    assert_eq!(json("good.json").as_array().map(Vec::len), Some(2));
}
