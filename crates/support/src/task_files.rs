//! Names of the files of a task's run: valid and different, whatever the ids of tasks are.

use sha2::{Digest as _, Sha256};

use crate::text::hexadecimal;

/// The longest id that may be a file name as it is, in bytes.
const LONGEST_NAME: usize = 100;

/// The name of the files of a task's run, by its id, different for different ids: the id itself where it is a plain
/// name, else its plain characters and a hash of the whole. Repetitions after the first have `~2`, `~3`.
#[must_use]
pub fn task_file_name(id: &str, repeat: u32) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = id.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && id.len() <= LONGEST_NAME
        && id.chars().all(is_plain)
        && !id.ends_with('.')
        // On file systems that ignore case, two ids would share one file.
        && !id.chars().any(|c| c.is_ascii_uppercase());
    let name = if is_name {
        id.to_owned()
    } else {
        let plain: String = id.chars().filter(|c| is_plain(*c) && *c != '.').take(40).collect();
        let hash = hexadecimal(&Sha256::digest(id));
        format!("{}~{}", plain.to_ascii_lowercase().trim_start_matches('-'), &hash[..16])
    };
    if repeat == 1 { name } else { format!("{name}~{repeat}") }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_id_has_a_file_of_its_own_in_the_folder() {
        let long = "x".repeat(300);
        let ids = [
            "00010000",
            "a.b",
            "A.b",
            "a",
            "A",
            "a~2",
            "..",
            ".",
            "",
            "../../etc/passwd",
            "a/b",
            "a\\b",
            "a\0b",
            "-rf",
            "CON ",
            "é",
            "e",
            "\u{202e}a",
            &long,
            &long[..100],
            &long[..101],
            ".hidden",
            "a.",
            "a\n",
        ];
        let mut names = HashSet::new();
        for id in ids {
            for repeat in [1, 2, 12] {
                let name = task_file_name(id, repeat);
                assert!(names.insert(name.to_lowercase()), "{id:?} {name}");
                assert!(name.len() <= 120 && !name.starts_with(['.', '-']), "{name}");
                assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "._-~".contains(c)), "{name}");
            }
        }
        assert_eq!(task_file_name("00010000", 1), "00010000");
        assert_eq!(task_file_name("00010000", 2), "00010000~2");
    }
}
