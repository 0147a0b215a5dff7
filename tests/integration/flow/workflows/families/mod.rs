//! The reference workflows, by family: what they ask for, what they call, and what later calls use of it.

mod codes;
mod draft;
mod edits;
mod files;
mod memory;
mod numbers;
mod pictures;
mod versions;

use self::draft::Draft;
use super::plan::Plan;
use super::random::Random;

/// A family of workflows.
struct Family {
    /// Its name; the `type` of its trajectories.
    name: &'static str,
    /// Whether it needs servers of other authors.
    needs_others: bool,
    /// Makes one.
    make: fn(&mut Draft<'_>),
}

const fn ours(name: &'static str, make: fn(&mut Draft<'_>)) -> Family {
    Family { name, needs_others: false, make }
}

const fn with_others(name: &'static str, make: fn(&mut Draft<'_>)) -> Family {
    Family { name, needs_others: true, make }
}

const FAMILIES: [Family; 22] = [
    ours("chain", pictures::chain),
    ours("fork", pictures::fork),
    ours("branches", pictures::branches),
    ours("join", pictures::join),
    ours("patch", pictures::patch),
    ours("measure", pictures::measure),
    ours("in_place", versions::in_place),
    ours("default_names", versions::default_names),
    ours("scan_parts", codes::scan_parts),
    ours("mark_code", codes::mark_code),
    ours("price", numbers::price),
    ours("written_number", numbers::written_number),
    ours("compare", numbers::compare),
    with_others("folder", files::folder),
    with_others("note", files::note),
    with_others("list_of_codes", files::list_of_codes),
    with_others("draft_of_text", files::draft_of_text),
    with_others("index", files::index),
    with_others("people", memory::people),
    with_others("rooms", memory::rooms),
    with_others("things", memory::things),
    with_others("picture_of", memory::picture_of),
];

/// This many workflows, of all families in turn; each attempt makes others of the same families.
pub(crate) fn plans(seed: u64, count: usize, attempt: u64, has_others: bool) -> Vec<Plan> {
    let mut random = Random::new(seed, 0);
    let mut families: Vec<&Family> =
        FAMILIES.iter().filter(|family| has_others || !family.needs_others).collect();
    random.shuffle(&mut families);
    let of_turn = |index: usize| families[index % families.len()];
    let mut plans: Vec<Plan> = Vec::new();
    for index in 0..count {
        let family = of_turn(index);
        let mut random = Random::new(seed, 1 + index as u64 + attempt * 1_000_000);
        let mut draft = Draft::new(family.name, &mut random);
        (family.make)(&mut draft);
        plans.push(draft.finish());
    }
    plans
}
