//! References of Open-M3-Bench, turned back into runs: the rules have to give them back.

#![expect(clippy::print_stdout, reason = "what is recovered, for who reads it")]

use m3_flow::dependencies;
use m3_judge::reconstruct::by_rules;

use super::generator::{Dice, Length, Reference, Spoiled, Tools};
use super::sets;
use crate::support::{json_of, shared};

/// How many of these references the rules recover.
fn recovered(references: &[&Reference], spoiled: Spoiled, shown: bool) -> (usize, usize) {
    let mut count = 0;
    for (index, reference) in references.iter().enumerate() {
        let mut dice = Dice::new(index as u64);
        let (chain, origins) = reference.run(&mut dice, spoiled);
        let found = by_rules(&chain, &dependencies(&chain));
        let origin = |place: &m3_flow::CallPlace| origins.get(&(place.step, place.call)).copied();
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

/// The number of pairs of calls in one step that are wrongly found dependent when every call has its own step, and
/// the number of all pairs.
fn torn(references: &[&Reference]) -> (usize, usize) {
    let (mut torn, mut pairs) = (0, 0);
    for (index, reference) in references.iter().enumerate() {
        let alone = Spoiled { failures: false, repeats: false, splits: 1 };
        let (chain, origins) = reference.run(&mut Dice::new(index as u64), alone);
        let step = |place: m3_flow::CallPlace| origins.get(&(place.step, place.call)).map(|origin| origin.0);
        for found in dependencies(&chain).iter().filter(|found| step(found.from) == step(found.to)) {
            println!("taken for dependent: {:?} of {:?}", found.values, chain.at(found.from).unwrap().tool);
            torn += 1;
        }
        pairs += reference.steps.iter().map(|step| step.len() * (step.len() - 1) / 2).sum::<usize>();
    }
    (torn, pairs)
}

#[test]
fn references_whose_results_carry_values_are_recovered() {
    let (Some(path), Some(tools)) =
        (shared("open-m3-bench/references.json"), shared("open-m3-bench/tools.json"))
    else {
        return;
    };
    let (file, tools) = (json_of(path), json_of(tools));
    let tools: Tools = tools
        .as_object()
        .unwrap()
        .iter()
        .flat_map(|(server, found)| {
            found["tools"].as_array().unwrap().iter().map(move |tool| {
                (format!("{server}/{}", tool["name"].as_str().unwrap()), tool.to_string().to_lowercase())
            })
        })
        .collect();
    let all: Vec<Reference> = file.as_array().unwrap().iter().map(Reference::new).collect();
    let several: Vec<&Reference> = all.iter().filter(|reference| reference.steps.len() > 1).collect();
    // Results contain every value of three letters or digits; the cases differ in how long a value must be in every
    // call.
    let carry = |letters, digits| -> Vec<&Reference> {
        let least = Length { letters, digits };
        several.iter().copied().filter(|reference| reference.carries_values(least, &tools)).collect()
    };
    let (long, short) = (carry(5, 4), carry(3, 3));
    let spoiled = |failures, repeats, splits| Spoiled { failures, repeats, splits };
    let share = |what: &str, (found, of): (usize, usize)| {
        println!("{what}: {found} of {of} ({:.1} %)", 100.0 * found as f64 / of as f64);
        found as f64 / of as f64
    };
    println!("{} references, {} of several steps", all.len(), several.len());
    share("long values, as they are", recovered(&long, spoiled(false, false, 0), false));
    share("long values, failures and repeats", recovered(&long, spoiled(true, true, 0), false));
    share("long values, needless splits", recovered(&long, spoiled(false, false, 3), false));
    let of_long = share("long values, all at once", recovered(&long, spoiled(true, true, 3), true));
    let of_short = share("short values too, all at once", recovered(&short, spoiled(true, true, 3), true));
    let of_all =
        share("all of several steps, all at once", recovered(&several, spoiled(true, true, 3), false));
    let (torn, pairs) = torn(&several);
    share("pairs of one step taken for dependent", (torn, pairs));
    assert!(long.len() >= 79 && of_long >= 0.95, "{} {of_long}", long.len());
    assert!(short.len() >= 90 && of_short >= 0.85, "{} {of_short}", short.len());
    assert!(of_all >= 0.5, "{of_all}");
    assert!(torn * 100 <= pairs, "{torn} of {pairs}");
}
