//! The ids of trajectories: unique within a file, with the file's name where a trace has no id.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

/// Makes ids unique: the same id again gets `~2`.
#[derive(Debug, Default)]
pub struct Ids {
    known: HashMap<String, u64>,
}

impl Ids {
    /// The id if it is new, else the id with the next free number.
    pub fn unique(&mut self, id: String) -> String {
        let count = match self.known.entry(id.clone()) {
            Entry::Vacant(new) => {
                new.insert(1);
                return id;
            }
            Entry::Occupied(known) => *known.get(),
        };
        let mut number = count + 1;
        while self.known.contains_key(&format!("{id}~{number}")) {
            number += 1;
        }
        self.known.insert(id.clone(), number);
        let id = format!("{id}~{number}");
        self.known.insert(id.clone(), 1);
        id
    }
}

/// The name of a file without its endings, for trajectories without an id.
#[must_use]
pub fn stem(path: &str) -> String {
    let name = Path::new(path).file_name().map_or_else(|| "trace".into(), |name| name.to_string_lossy());
    let name = m3_support::unpack::unpacked_name(&name);
    let stem = Path::new(name).file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
    if stem.is_empty() || name == "-" || path == "standard input" {
        "trace".to_owned()
    } else {
        stem.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_comes_again_is_told_apart() {
        let mut ids = Ids::default();
        let given = ["a", "a~2", "a", "a", "b"].map(|id| ids.unique(id.to_owned()));
        assert_eq!(given, ["a", "a~2", "a~3", "a~4", "b"]);
    }

    #[test]
    fn a_file_gives_its_name() {
        let given = ["a/b.jsonl.gz", "b", "-", "", "../x.eval"].map(stem);
        assert_eq!(given, ["b", "b", "trace", "trace", "x"]);
    }
}
