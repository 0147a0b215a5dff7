//! What calls read and make, to be shown to people, by the rules of the comparison of calls.

use m3_flow::{Lineage, ValueUse, given_names, value_uses};
use m3_trajectory::Trajectory;

use super::values::{are_small, chain};
use super::{PairFacts, asked_names, has_results, lineage, texts_of_task};

/// What the calls of one trajectory read and make.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SideFlow {
    /// The files that calls name, and which call makes each of them.
    pub lineage: Lineage,
    /// Ids and names that one call returns or gives and another one uses.
    pub values: Vec<ValueUse>,
}

/// What the calls of a reference and those of its prediction read and make. Results count where both sides have them, as they
/// do where calls are compared.
#[must_use]
pub fn flow_of(reference: &Trajectory, prediction: &Trajectory) -> [SideFlow; 2] {
    let sides = [reference, prediction];
    let are_recorded = sides.into_iter().all(has_results);
    let facts = PairFacts::new(reference, prediction, are_recorded);
    let has_values = are_small(sides);
    sides.map(|side| {
        let (_, lineage) = lineage(side, facts);
        let mut values = Vec::new();
        if has_values {
            let chain = chain(side, are_recorded, &texts_of_task(sides));
            let asked = asked_names(sides);
            values = if are_recorded { value_uses(&chain, &asked) } else { given_names(&chain, &asked) };
            values.retain(|used| used.to != used.from);
        }
        SideFlow { lineage, values }
    })
}
