//! Whether calls were made in the order of the reference. The paper's introduction promises such a rule without
//! defining it, and the program does not have it. This rule is m3's own, printed beside the score.

use std::collections::HashMap;

use m3_trajectory::Trajectory;

use crate::suite::MatchedCall;

/// The share of pairs of reference calls, one in the step after the other's, that were both matched and whose first
/// call was predicted in an earlier step. 1 without such pairs.
pub(super) fn share(reference: &Trajectory, matches: &[MatchedCall]) -> f64 {
    let steps: HashMap<usize, usize> =
        matches.iter().map(|matched| (matched.reference, matched.predicted_step)).collect();
    let mut places = 0_usize..;
    let made: Vec<Vec<Option<usize>>> = reference
        .steps
        .iter()
        .filter(|step| !step.calls.is_empty())
        .map(|step| step.calls.iter().zip(&mut places).map(|(_, place)| steps.get(&place).copied()).collect())
        .collect();
    let (mut pairs, mut kept) = (0_usize, 0_usize);
    for (before, after) in made.iter().zip(made.iter().skip(1)) {
        pairs += before.len() * after.len();
        let is_kept = |a: &Option<usize>, b: &Option<usize>| a.zip(*b).is_some_and(|(a, b)| a < b);
        kept += before.iter().map(|a| after.iter().filter(|b| is_kept(a, b)).count()).sum::<usize>();
    }
    if pairs == 0 { 1.0 } else { kept as f64 / pairs as f64 }
}

#[cfg(test)]
mod tests {
    use m3_trajectory::{Call, Step};

    use super::*;

    /// A reference with steps of two calls, one call, no call and one call.
    fn reference() -> Trajectory {
        let call = || Call { tool: "t".into(), arguments: None, result: None, extra: Vec::new() };
        let step = |count| Step { calls: (0..count).map(|_| call()).collect(), ..Step::default() };
        Trajectory { steps: vec![step(2), step(1), step(0), step(1)], ..Trajectory::default() }
    }

    fn matched(pairs: &[(usize, usize)]) -> Vec<MatchedCall> {
        pairs
            .iter()
            .map(|(reference, predicted_step)| MatchedCall {
                reference: *reference,
                predicted_step: *predicted_step,
            })
            .collect()
    }

    #[test]
    fn pairs_of_calls_in_following_steps_are_counted() {
        let order = |pairs: &[(usize, usize)]| Some(share(&reference(), &matched(pairs)));
        // Three pairs: 0 -> 2, 1 -> 2, 2 -> 3.
        assert_eq!(order(&[(0, 1), (1, 1), (2, 2), (3, 3)]), Some(1.0));
        assert_eq!(order(&[(0, 1), (1, 2), (2, 2), (3, 3)]), Some(2.0 / 3.0));
        assert_eq!(order(&[(0, 1), (2, 2), (3, 1)]), Some(1.0 / 3.0));
        assert_eq!(order(&[]), Some(0.0));
        assert_eq!(Some(share(&Trajectory::default(), &[])), Some(1.0));
    }
}
