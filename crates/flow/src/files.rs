//! Uses of files: which call reads a file that another call wrote.

use std::collections::HashMap;

use super::effects::Effects;
use super::path_overlaps::PathOverlaps;
use super::value_use::Use;
use crate::{Chain, Standing};

/// All uses of files. The source of a file is the last call that wrote it before.
pub(crate) fn file_uses(chain: &Chain) -> Vec<Use> {
    let effects: Vec<Effects> = chain.calls.iter().map(Effects::of).collect();
    let overlaps = PathOverlaps::new(&effects);
    // For each path, the last call that wrote it, and the index of the argument with the path.
    let mut written: HashMap<usize, (usize, usize)> = HashMap::new();
    let mut uses = Vec::new();
    let mut pending: Vec<usize> = Vec::new();
    let mut step = 0;
    for (to, call) in chain.calls.iter().enumerate() {
        if call.place.step != step {
            // A file written within a step exists only for the next steps.
            step = call.place.step;
            for from in pending.drain(..) {
                let paths = effects[from].paths.iter().enumerate().filter(|(_, path)| path.is_written);
                let numbers =
                    paths.filter_map(|(path, _)| Some((overlaps.number(from, path)?, (from, path))));
                written.extend(numbers);
            }
        }
        if call.standing == Standing::Succeeded {
            pending.push(to);
        }
        for (index, read) in effects[to].paths.iter().enumerate().filter(|(_, path)| !path.is_named_output) {
            let last = overlaps.of_path(to, index).iter().filter_map(|path| written.get(path)).max();
            let Some(&(from, path)) = last else { continue };
            uses.push(Use {
                from,
                to,
                value: m3_support::text::shortened(&read.text, 80),
                in_result: format!("arguments{}", effects[from].paths[path].pointer),
                in_arguments: read.pointer.clone(),
                sources: std::sync::Arc::from([from]),
                times: 1,
            });
        }
    }
    uses
}
