//! Which calls name the same files, found by an index: time grows with the paths, not with their pairs.

use std::collections::HashMap;

use super::effects::Effects;
use super::paths::FilePath;

/// The most first and last parts by which a path is compared, besides the whole path.
const MAX_DEPTH: usize = 64;

/// The paths of a chain, and which of them may be the same file or contain one another.
#[derive(Debug, Default)]
pub struct PathOverlaps {
    /// For each call the numbers of its paths, as in [`Effects::paths`].
    of_call: Vec<Vec<usize>>,
    /// For each path, the calls that name it, in order.
    calls: Vec<Vec<usize>>,
    /// For each path, the paths that may be the same or contain one another with it, itself included.
    met: Vec<Vec<usize>>,
}

impl PathOverlaps {
    /// The overlaps of calls with these effects.
    #[must_use]
    pub fn new(effects: &[Effects]) -> Self {
        let mut numbers: HashMap<&FilePath, usize> = HashMap::new();
        let mut paths: Vec<&FilePath> = Vec::new();
        let mut overlaps = Self::default();
        for (call, effects) in effects.iter().enumerate() {
            let mut own = Vec::with_capacity(effects.paths.len());
            for found in &effects.paths {
                let number = *numbers.entry(&found.path).or_insert(paths.len());
                if number == paths.len() {
                    paths.push(&found.path);
                    overlaps.calls.push(Vec::new());
                }
                if overlaps.calls[number].last() != Some(&call) {
                    overlaps.calls[number].push(call);
                }
                own.push(number);
            }
            overlaps.of_call.push(own);
        }
        overlaps.met = met(&paths);
        overlaps
    }

    /// For each call, whether one of its paths may overlap with one of this call.
    #[must_use]
    pub fn with(&self, call: usize) -> Vec<bool> {
        let mut meets = vec![false; self.of_call.len()];
        for &path in self.of_call.get(call).into_iter().flatten() {
            for &other in &self.met[path] {
                self.calls[other].iter().for_each(|&found| meets[found] = true);
            }
        }
        meets
    }
}

/// For each path, the paths that it may overlap with: shorter ones that it ends with, and folders that it begins
/// with.
fn met(paths: &[&FilePath]) -> Vec<Vec<usize>> {
    let mut by_parts: HashMap<&[String], Vec<usize>> = HashMap::new();
    for (number, path) in paths.iter().enumerate() {
        by_parts.entry(path.parts()).or_default().push(number);
    }
    let mut met: Vec<Vec<usize>> = (0..paths.len()).map(|number| vec![number]).collect();
    for (number, path) in paths.iter().enumerate() {
        let parts = path.parts();
        let ends = (0..parts.len()).filter(|start| *start == 0 || parts.len() - start <= MAX_DEPTH);
        let ends = ends.map(|start| &parts[start..]);
        let begins = (1..parts.len().min(MAX_DEPTH)).map(|end| &parts[..end]);
        for other in ends.chain(begins).filter_map(|parts| by_parts.get(parts)).flatten() {
            if *other != number && path.may_meet(paths[*other]) {
                met[number].push(*other);
                met[*other].push(number);
            }
        }
    }
    for others in &mut met {
        others.sort_unstable();
        others.dedup();
    }
    met
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tests::call;

    #[test]
    fn the_index_finds_what_a_comparison_of_all_pairs_does() {
        let texts = [
            "a.png",
            "./a.png",
            "/a.png",
            "media/a.png",
            "/x/media/a.png",
            "./media",
            "/x",
            "./x/media",
            "b.png",
            "/x/media/deep/b.png",
            "~/a.png",
            "../a.png",
            "media\\a.png",
            "./out",
            "out/a/b.png",
            "/out/a",
        ];
        let effects: Vec<Effects> = texts
            .iter()
            .map(|text| {
                Effects::from_call(&call((0, 0), "s/read", json!({"path": text, "with": "z.txt"}), None))
            })
            .collect();
        let overlaps = PathOverlaps::new(&effects);
        for (first, left) in texts.iter().enumerate() {
            let met = &overlaps.met[overlaps.of_call[first][0]];
            for (second, right) in texts.iter().enumerate() {
                let is_met = met.contains(&overlaps.of_call[second][0]);
                let path = |text: &str| FilePath::new(text).unwrap();
                assert_eq!(is_met, path(left).may_meet(&path(right)), "{left} {right}");
            }
            assert_eq!(overlaps.with(first), vec![true; texts.len()], "all name z.txt");
        }
    }
}
