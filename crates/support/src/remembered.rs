//! What names say, remembered: reading a name takes longer than finding it again, and most calls have the same few.

use std::collections::HashMap;

/// So many names are remembered; then all are forgotten.
const MOST: usize = 4096;

/// Longer names are read each time, in bytes.
const LONGEST: usize = 64;

/// What was read of names. Memory is limited, whatever the names are.
#[derive(Debug)]
pub struct Remembered<T>(HashMap<String, T>);

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> Remembered<T> {
    /// What `read` says of the name, which is asked where it is not remembered.
    pub fn of_name(&mut self, name: &str, read: impl FnOnce(&str) -> T) -> T {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let found = read(name);
        if name.len() <= LONGEST {
            if self.0.len() >= MOST {
                self.0.clear();
            }
            self.0.insert(name.to_owned(), found.clone());
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_short_names_are_remembered() {
        let (mut names, mut reads) = (Remembered::default(), 0);
        let long = "x".repeat(LONGEST + 1);
        for name in ["path", "path", &long, &long] {
            let length = names.of_name(name, |name| {
                reads += 1;
                name.len()
            });
            assert_eq!(length, name.len());
        }
        assert_eq!(reads, 3);
        for name in 0..2 * MOST {
            names.of_name(&name.to_string(), str::len);
            assert!(names.0.len() <= MOST);
        }
    }
}
