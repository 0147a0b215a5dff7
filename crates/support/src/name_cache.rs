//! Caches the result of parsing a name: parsing takes longer than a look-up, and most calls have the same few names.

use std::collections::HashMap;

/// The most names in the cache; it is emptied when a further name comes.
const MOST: usize = 4096;

/// The longest name in the cache, in bytes; longer names are parsed each time.
const LONGEST: usize = 64;

/// A bounded cache from names to their parsed values.
#[derive(Debug)]
pub struct NameCache<T>(HashMap<String, T>);

impl<T> Default for NameCache<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> NameCache<T> {
    /// The cached result for a name, or that of `read`, which is then cached.
    pub fn of_name(&mut self, name: &str, read: impl FnOnce(&str) -> T) -> T {
        if let Some(known) = self.0.get(name) {
            return known.clone();
        }
        let value = read(name);
        if name.len() <= LONGEST {
            if self.0.len() >= MOST {
                self.0.clear();
            }
            self.0.insert(name.to_owned(), value.clone());
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_short_names_are_remembered() {
        let (mut names, mut reads) = (NameCache::default(), 0);
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
