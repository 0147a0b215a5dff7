//! Commands in documents and their output: to be executed exactly as written. The example `record_cassettes` uses
//! them too.

use std::path::Path;
use std::process::Command;

/// The content of the code blocks of one language.
pub fn blocks(text: &str, language: &str) -> Vec<String> {
    let start = format!("```{language}\n");
    text.split(&start).skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

/// The commands of a block: one line each, with its continuation lines.
pub fn commands(block: &str) -> Vec<String> {
    let is_begun = |line: &str| [" &&", "\\"].iter().any(|end| line.ends_with(end));
    let (mut commands, mut is_open) = (Vec::<String>::new(), false);
    for line in block.lines() {
        match commands.last_mut().filter(|_| is_open) {
            Some(command) => command.extend(["\n", line]),
            None => commands.push(line.to_owned()),
        }
        is_open = is_begun(line);
    }
    commands
}

/// The document whose commands lead from a run to grades.
pub const PIPELINE: &str = "docs/pipeline.md";

/// The folders of the repository that its commands need, without their subfolders.
const NEEDED: [&str; 4] = ["trajectories", "trajectories/judges", "images", "servers"];

/// Copies what the pipeline needs from the repository into a folder.
pub fn copy_needed(root: &Path, folder: &Path) {
    for name in NEEDED.iter().filter(|name| root.join(name).is_dir()) {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        for entry in std::fs::read_dir(root.join(name)).unwrap().flatten() {
            if entry.path().is_file() {
                std::fs::copy(entry.path(), folder.join(name).join(entry.file_name())).unwrap();
            }
        }
    }
}

/// A shell that executes a document's command in a folder, with this program as `m3`.
pub fn in_folder(mut shell: Command, command: &str, folder: &Path, m3: &Path) -> Command {
    let known = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{known}", m3.parent().unwrap().display());
    shell.args(["-c", command]).env("PATH", path).current_dir(folder);
    shell
}
