//! Tasks that are run several times.

use super::{command, ids, model, output_of, predictions};
use crate::support::{Folder, json_of, stdout};

#[test]
fn every_repetition_has_a_file_of_its_own() {
    let (folder, model) = (Folder::new(), model());
    let output = output_of(&folder);
    let two = ["--id", "00010000", "--id", "00010001"];
    let table = stdout(command(&model, &output).args(two).args(["--repeat", "3"]));
    assert!(table.contains("tasks      6\n"), "{table}");
    for name in ["predictions.json", "predictions-2.json", "predictions-3.json"] {
        let found = json_of(output.join(name));
        assert_eq!(ids(found.as_array().unwrap()), ["00010000", "00010001"], "{name}");
    }
    let repeat = |name: &str| json_of(output.join("predictions").join(name))["run"]["repeat"].clone();
    assert_eq!((repeat("00010000.json"), repeat("00010000~3.json")), (1.into(), 3.into()));
    assert!(output.join("workspaces/00010001~2").is_dir());
    // Fewer repetitions need no requests, more need only the missing ones.
    let asked = model.requests().len();
    stdout(command(&model, &output).args(two));
    assert_eq!(model.requests().len(), asked);
    stdout(command(&model, &output).args(two).args(["--repeat", "4"]));
    assert_eq!(model.requests().len(), asked + 2 * 2);
    assert_eq!(predictions(&output).len(), 2);
}
