//! Which calls have to keep their order, and the earliest step that this allows for each.

use crate::ChainCall;
use m3_flow::{Conflict, Effects, PathOverlaps};

/// The required order of two calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// The second has to come in a later step.
    After,
    /// The second may not come in an earlier step.
    NotBefore,
    /// Both are in one step and have to stay in one.
    Together,
}

/// A rule for the order of two calls, which are given by their index in the chain.
#[derive(Debug, Clone)]
pub(super) struct Bond {
    /// The call that comes first.
    pub(super) first: usize,
    /// The other call.
    pub(super) second: usize,
    /// The rule.
    pub(super) rule: Rule,
    /// Why the rule holds.
    pub(super) why: Why,
}

/// The reason why two calls keep their order. Its text is built only when needed, because a long run has many such
/// pairs.
#[derive(Debug, Clone)]
pub(super) enum Why {
    /// A reason in words, as a clause.
    Said(String),
    /// Both touch the same file or state.
    Conflict(Conflict),
    /// The first looked at a file that the second uses to make something.
    Looked,
    /// The first call returned a picture, and the second calls another tool.
    Picture,
}

impl Bond {
    /// The reason in words, as a clause.
    pub(super) fn reason(&self, effects: &[Effects]) -> String {
        match &self.why {
            Why::Said(reason) => reason.clone(),
            Why::Conflict(conflict) => effects[self.first].reason(&effects[self.second], *conflict),
            Why::Looked => "the first looked at the file of which the second makes something".to_owned(),
            Why::Picture => "the model had seen the picture that the first gave".to_owned(),
        }
    }
}

/// The order that files, state and pictures require of the calls that stay.
pub(super) fn bonds_of_effects(
    calls: &[ChainCall],
    stays: &[bool],
    effects: &[Effects],
    overlaps: &PathOverlaps,
) -> Vec<Bond> {
    let mut bonds = Vec::new();
    let kept: Vec<usize> = (0..calls.len()).filter(|&call| stays[call]).collect();
    for (position, &first) in kept.iter().enumerate() {
        let meets = overlaps.with(first);
        for &second in &kept[position + 1..] {
            let is_later = calls[first].place.step < calls[second].place.step;
            let rule = if is_later { Rule::After } else { Rule::Together };
            let (one, other, meet) = (&effects[first], &effects[second], meets[second]);
            let why = if let Some(conflict) = one.conflict(other, meet) {
                Why::Conflict(conflict)
            } else if is_later && one.looked_at_what_is_used_by(other, meet) {
                Why::Looked
            } else if is_later && one.shows_picture && calls[first].tool != calls[second].tool {
                Why::Picture
            } else {
                continue;
            };
            bonds.push(Bond { first, second, rule, why });
        }
    }
    bonds
}

/// The earliest step of each call that stays, from 0, and the bond that determines it. For calls that are left out
/// it is 0.
///
/// Bonds lead from a call to a later one of the chain; others are ignored. No call gets a later step than it had.
pub(super) fn earliest_steps(
    calls: &[ChainCall],
    stays: &[bool],
    bonds: &[Bond],
) -> (Vec<usize>, Vec<Option<usize>>) {
    let mut steps = vec![0; calls.len()];
    let mut deciding = vec![None; calls.len()];
    let mut of_second: Vec<Vec<usize>> = vec![Vec::new(); calls.len()];
    for (index, bond) in bonds.iter().enumerate() {
        let is_in_order = bond.first < bond.second && bond.second < calls.len();
        let is_possible = is_in_order
            && stays[bond.first]
            && stays[bond.second]
            && (bond.rule != Rule::After || calls[bond.first].place.step < calls[bond.second].place.step);
        if is_possible {
            of_second[bond.second].push(index);
        }
    }
    let mut start = 0;
    while start < calls.len() {
        let step = calls[start].place.step;
        let end = calls[start..]
            .iter()
            .position(|call| call.place.step != step)
            .map_or(calls.len(), |end| start + end);
        // Calls of one step may delay one another. Steps only grow here, so this ends.
        let mut is_changed = true;
        while is_changed {
            is_changed = false;
            for second in start..end {
                for &index in &of_second[second] {
                    let bond = &bonds[index];
                    let least = steps[bond.first] + usize::from(bond.rule == Rule::After);
                    if least > steps[second] {
                        steps[second] = least;
                        deciding[second] = Some(index);
                        is_changed = true;
                    }
                    if bond.rule == Rule::Together && steps[bond.first] < steps[second] {
                        steps[bond.first] = steps[second];
                        deciding[bond.first] = Some(index);
                        is_changed = true;
                    }
                }
            }
        }
        start = end;
    }
    (steps, deciding)
}
