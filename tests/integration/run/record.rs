//! What `--record` adds to a cassette that is there already.

use super::{command, model, output_of};
use crate::support::{Folder, failure, m3_bare, stdout};

#[cfg(unix)]
#[test]
fn a_cassette_is_not_played_and_recorded_into_at_once() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.cassette");
    stdout(command(&model, &output_of(&folder)).args(["--id", "00010000", "--record"]).arg(&cassette));
    let before = std::fs::read(&cassette).unwrap();
    let link = folder.path().join("link.cassette");
    std::os::unix::fs::symlink(&cassette, &link).unwrap();
    let again = folder.path().join("again");
    for name in [&cassette, &link] {
        let mut command = m3_bare(folder.path());
        command.args(["run", "trajectories/tasks.json", "--mode", "native", "--id", "00010000", "--llm"]);
        command.arg(format!("replay:{}", cassette.display())).arg("-o").arg(&again);
        let (code, said) = failure(command.arg("--record").arg(name));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("is played, and cannot be recorded into as well"), "{said}");
    }
    assert_eq!(std::fs::read(&cassette).unwrap(), before);
    assert!(!again.exists());
}

/// The tools are the same each time, however often the run is begun.
#[test]
fn tools_are_recorded_once_however_often_a_run_is_begun() {
    let (folder, model) = (Folder::new(), model());
    let cassette = folder.path().join("run.cassette");
    for _ in 0..3 {
        stdout(command(&model, &output_of(&folder)).args(["--id", "00010000", "--record"]).arg(&cassette));
    }
    let content = std::fs::read_to_string(&cassette).unwrap();
    let count = |kind: &str| content.lines().filter(|line| line.contains(kind)).count();
    assert_eq!((count("{\"kind\":\"catalog\""), count("{\"kind\":\"session\"")), (1, 2));
    stdout(command(&model, &output_of(&folder)).args(["--server", "math", "--record"]).arg(&cassette));
    assert_eq!(std::fs::read_to_string(&cassette).unwrap().matches("{\"kind\":\"catalog\"").count(), 2);
}
