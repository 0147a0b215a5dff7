//! References of Open-M3-Bench, turned back into runs: the rules have to give them back.

#![expect(clippy::print_stdout, reason = "what is recovered, for who reads it")]

use m3::judge::dependency::dependencies;
use m3::judge::reconstruct::by_rules;
use serde_json::Value;

use super::generator::{Dice, Reference, Spoiled};
use super::sets;
use crate::support::shared;

/// How many of these references the rules give back.
fn recovered(references: &[&Reference], spoiled: Spoiled, shown: bool) -> (usize, usize) {
    let mut count = 0;
    for (index, reference) in references.iter().enumerate() {
        let mut dice = Dice::new(index as u64);
        let (chain, origins) = reference.run(&mut dice, spoiled);
        let found = by_rules(&chain, &dependencies(&chain));
        let origin = |place: &m3::judge::CallPlace| origins.get(&(place.step, place.call)).copied();
        let steps: Vec<Vec<_>> = found.steps.iter().map(|step| step.iter().map(origin).collect()).collect();
        let wanted: Vec<Vec<_>> = reference
            .steps
            .iter()
            .enumerate()
            .map(|(step, calls)| (0..calls.len()).map(|call| Some((step, call))).collect())
            .collect();
        if sets(&steps) == sets(&wanted) {
            count += 1;
        } else if shown {
            let names = |step: &[super::generator::Original]| {
                step.iter().map(|call| call.tool.clone()).collect::<Vec<_>>()
            };
            let tools: Vec<_> = reference.steps.iter().map(|step| names(step)).collect();
            println!("not recovered: {tools:?}\n  as {steps:?}\n  moved {:?}", found.merged);
        }
    }
    (count, references.len())
}

#[test]
fn references_whose_results_carry_values_are_recovered() {
    let Some(path) = shared("open-m3-bench/references.json") else { return };
    let file: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let all: Vec<Reference> = file.as_array().unwrap().iter().map(Reference::new).collect();
    let several: Vec<&Reference> = all.iter().filter(|reference| reference.steps.len() > 1).collect();
    let (carrying, other): (Vec<&Reference>, Vec<&Reference>) =
        several.iter().partition(|reference| reference.carries_values());
    let spoiled = |failures, repeats, splits| Spoiled { failures, repeats, splits };
    let share =
        |(found, of): (usize, usize)| format!("{found} of {of} ({:.1} %)", 100.0 * found as f64 / of as f64);
    println!("{} references, {} of several steps, {} carry values", all.len(), several.len(), carrying.len());
    println!("as they are:          {}", share(recovered(&carrying, spoiled(false, false, false), false)));
    println!("failures and repeats: {}", share(recovered(&carrying, spoiled(true, true, false), false)));
    println!("needless splits:      {}", share(recovered(&carrying, spoiled(false, false, true), false)));
    let (found, of) = recovered(&carrying, spoiled(true, true, true), true);
    println!("all at once:          {}", share((found, of)));
    println!("those that do not:    {}", share(recovered(&other, spoiled(true, true, true), false)));
    println!("all of several steps: {}", share(recovered(&several, spoiled(true, true, true), false)));
    assert!(carrying.len() >= 40, "{}", carrying.len());
    assert!(found as f64 >= 0.95 * of as f64, "{found} of {of}");
}
