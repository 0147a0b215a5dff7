//! Files as values: who reads what another call wrote.

use super::effects::{Effects, PathUse};
use super::uses::Use;
use crate::judge::{Chain, Standing};

/// A source of a file is the last call that wrote it before.
pub(super) fn file_uses(chain: &Chain) -> Vec<Use> {
    let effects: Vec<Effects> = chain.calls.iter().map(Effects::of).collect();
    let mut written: Vec<(usize, &PathUse)> = Vec::new();
    let mut uses = Vec::new();
    let mut pending: Vec<usize> = Vec::new();
    let mut step = 0;
    for (to, call) in chain.calls.iter().enumerate() {
        if call.place.step != step {
            // What is written within a step is there for the next ones.
            step = call.place.step;
            for from in pending.drain(..) {
                written.extend(
                    effects[from].paths.iter().filter(|path| path.is_written).map(|path| (from, path)),
                );
            }
        }
        if call.standing == Standing::Succeeded {
            pending.push(to);
        }
        for read in effects[to].paths.iter().filter(|path| !path.is_named_output) {
            let wrote = |(_, path): &&(usize, &PathUse)| path.path.may_meet(&read.path);
            let Some(&(from, path)) = written.iter().rev().take(MAX_WRITTEN).find(wrote) else { continue };
            uses.push(Use {
                from,
                to,
                value: crate::text::shortened(&read.text, 80),
                in_result: format!("arguments{}", path.pointer),
                in_arguments: read.pointer.clone(),
                sources: std::sync::Arc::from([from]),
                times: 1,
            });
        }
    }
    uses
}

/// Files that were written before so many others are not looked at.
const MAX_WRITTEN: usize = 5000;
