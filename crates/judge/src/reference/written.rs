//! Detects whether a file of references is unchanged since `m3 judge` wrote it: only then may it be replaced, because
//! nobody's work is lost.

use std::path::Path;

use m3_support::text::hexadecimal;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Duplicates, Member as _, TrajectoryFile};
use sha2::{Digest as _, Sha256};

use super::JudgedTask;
use super::provenance::Provenance;

/// The key of the hash within the provenance.
const KEY: &str = "written";

/// A hash over the trajectories of a file, in their order.
#[derive(Default)]
struct Content(Sha256);

impl Content {
    /// Adds a trajectory, without the key of the hash.
    fn add(&mut self, trajectory: &Json) {
        let text = trajectory.to_text(Keys::Sorted);
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    fn hash(self) -> String {
        format!("sha256:{}", hexadecimal(&self.0.finalize()))
    }
}

/// Adds the hash of all these tasks, which are to be written into one file in this order, to the provenance of each.
pub fn seal(tasks: &mut [&mut JudgedTask]) {
    let mut content = Content::default();
    for task in &*tasks {
        content.add(&task.trajectory.to_json());
    }
    let hash = content.hash();
    for task in tasks {
        task.provenance.written = Some(hash.clone());
        task.trajectory.set_member(&task.provenance);
    }
}

/// Whether replacing a file would lose nothing: `m3 judge` wrote it and it has not been changed since, or it is
/// empty.
#[must_use]
pub fn is_as_written(path: &Path) -> bool {
    if is_empty(path) {
        return true;
    }
    let Ok(file) = TrajectoryFile::open(path, Duplicates::Error) else { return false };
    let (mut content, mut hash) = (Content::default(), None);
    for index in 0..file.len() {
        let Ok(trajectory) = file.read(index) else { return false };
        let mut trajectory = trajectory.to_json();
        let Some(own) = take_hash(&mut trajectory) else { return false };
        if *hash.get_or_insert_with(|| own.clone()) != own {
            return false;
        }
        content.add(&trajectory);
    }
    hash.is_none_or(|hash| hash == content.hash())
}

/// Whether a file holds no trajectory: it is empty, or an empty list.
fn is_empty(path: &Path) -> bool {
    let is_short = std::fs::metadata(path).is_ok_and(|file| file.len() <= 16);
    is_short
        && std::fs::read_to_string(path)
            .is_ok_and(|text| matches!(text.split_whitespace().collect::<String>().as_str(), "" | "[]"))
}

/// Takes the hash out of the provenance of a trajectory.
fn take_hash(trajectory: &mut Json) -> Option<String> {
    let Json::Object(members) = trajectory else { return None };
    let (_, provenance) = members.iter_mut().find(|(key, _)| key == Provenance::KEY)?;
    let Json::Object(members) = provenance else { return None };
    let place = members.iter().position(|(key, _)| key == KEY)?;
    match members.remove(place) {
        (_, Json::String(hash)) => Some(hash),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The file that `m3 judge` writes with this content.
    fn file(trajectories: &[&str]) -> String {
        let parsed: Vec<Json> =
            trajectories.iter().map(|text| m3_trajectory::json::parse(text.as_bytes()).unwrap().0).collect();
        let mut content = Content::default();
        for trajectory in &parsed {
            content.add(trajectory);
        }
        let sealed = format!(r#""status":"accepted","written":"{}""#, content.hash());
        format!("[\n{}\n]\n", trajectories.join(",\n")).replace(r#""status":"accepted""#, &sealed)
    }

    fn is_replaced(text: &str) -> bool {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("references.json");
        std::fs::write(&path, text).unwrap();
        is_as_written(&path)
    }

    #[test]
    fn any_change_of_a_file_is_seen() {
        let one = r#"{"id":"a","steps":[{"step":1,"calls":[{"name":"a/b","arguments":{"x":5.0}}]}],"judge":{"runs":[],"status":"accepted"}}"#;
        let two = one.replace(r#""id":"a""#, r#""id":"b""#);
        let whole = file(&[one, &two]);
        assert!(is_replaced(&whole), "{whole}");
        assert!(is_replaced("") && is_replaced("[]\n"));
        let lines: Vec<&str> = whole.lines().collect();
        for (what, changed) in [
            ("an argument", whole.replace("5.0", "5.5")),
            ("the provenance", whole.replacen("\"runs\":[]", "\"runs\":[1]", 1)),
            ("a key", whole.replacen("\"id\":\"a\"", "\"id\":\"a\",\"note\":1", 1)),
            ("one less", format!("[\n{}\n]\n", lines[2])),
            ("one twice", format!("[\n{0},\n{0}\n]\n", lines[2])),
            ("another order", format!("[\n{},\n{}\n]\n", lines[2], lines[1].trim_end_matches(','))),
            ("nothing of m3", r#"[{"id":"a","steps":[]}]"#.to_owned()),
            ("no trajectories", "shopping list".to_owned()),
        ] {
            assert!(changed != whole && !is_replaced(&changed), "{what}: {changed}");
        }
    }
}
