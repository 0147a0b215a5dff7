//! Runs with planted dependencies: the generator knows which call uses the result of which other.

use std::collections::{BTreeMap, BTreeSet};

use m3_flow::dependencies;
use m3_flow::{Chain, ChainCall};
use m3_judge::reconstruct::{Proposal, ProposedCall, Violation, by_rules, check};
use m3_trajectory::json::Json;
use serde_json::{Map, Value, json};

use super::generator::Dice;
use super::{chain, made};

/// The number of runs.
const RUNS: u64 = 400;

/// A run with its known dependencies. Calls are given by their number in the run, from 0; each has its own tool.
struct Planted {
    chain: Chain,
    /// Pairs of a call and one that uses its result.
    edges: Vec<(usize, usize)>,
    /// The kind of each use, to explain a failure.
    kinds: Vec<&'static str>,
}

/// A value in a result (name and value of a member), and its form in arguments.
struct Carried {
    kind: &'static str,
    returned: (String, Value),
    used: (String, Value),
}

/// A word that was not used before.
fn word(dice: &mut Dice, used: &mut BTreeSet<String>) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "ro", "mi", "ten", "vu", "sol", "pre", "da", "lim", "go", "fe", "nar", "tip", "zu", "hel", "bo",
    ];
    loop {
        let word: String = (0..3).map(|_| SYLLABLES[dice.below(SYLLABLES.len())]).collect();
        if used.insert(word.clone()) {
            return word;
        }
    }
}

/// A number below `end` that was not used before and does not end in zeros.
fn number(dice: &mut Dice, from: usize, end: usize, used: &mut BTreeSet<String>) -> usize {
    loop {
        let number = from + dice.below(end - from);
        if !number.is_multiple_of(10) && used.insert(number.to_string()) {
            return number;
        }
    }
}

fn value(dice: &mut Dice, used: &mut BTreeSet<String>) -> Carried {
    let mut words = |count: usize| (0..count).map(|_| word(dice, used)).collect::<Vec<_>>();
    let name = words(1).remove(0);
    let two = words(2).join(" ");
    let (long, filler) = (words(14).join(" "), words(30).join(" "));
    let kind = dice.below(12);
    let of = |kind, returned: Value, argument: &str, used: Value| Carried {
        kind,
        returned: (name.clone(), returned),
        used: (argument.to_owned(), used),
    };
    match kind {
        0 => of("a name", json!(two), "title", json!(two.to_uppercase())),
        1 => of("a name in a query", json!(two), "query", json!(format!("fishing near {two} today"))),
        2 => of("a value in a long text", json!(two), "text", json!(format!("{filler}, {two} {filler}"))),
        3 => of(
            "escapes in an address",
            json!(two),
            "url",
            json!(format!("https://a.example/?q={}", two.replace(' ', "%20"))),
        ),
        4 => of(
            "from an address",
            json!(format!("https://a.example/{}", two.replace(' ', "%20"))),
            "q",
            json!(two),
        ),
        5 => of("accents", json!(format!("{} São", two.replace('o', "ô"))), "q", json!(format!("{two} Sao"))),
        6 => of("a long sentence in a text", json!(long), "text", json!(format!("Please: {long}!"))),
        7 => {
            let id = format!("{}-{}", two.replace(' ', "_"), number(dice, 1000, 9999, used));
            of("an id", json!({"id": id}), "object", json!([{"ref": id}]))
        }
        8 => {
            let price = number(dice, 10_000, 99_999, used);
            let price = format!("{}.{:02}", price / 100, price % 100);
            of(
                "a price in a formula",
                json!(format!("costs ${price} each")),
                "expression",
                json!(format!("{price}*3")),
            )
        }
        9 => {
            let place = number(dice, 1_000_000, 9_999_999, used);
            let place = format!("{}.{}", place % 90, place);
            of("a number as text", json!(place.parse::<f64>().unwrap()), "at", json!(format!("{place},0.5")))
        }
        10 => {
            let sides: Vec<usize> = (0..4).map(|_| number(dice, 11, 99_999, used)).collect();
            of("a box", json!({"bbox": sides}), "area", json!(sides))
        }
        _ => of(
            "a path",
            json!(format!("saved to /data/{name}/{name}_mask.png")),
            "mask",
            json!(format!("{name}_mask.png")),
        ),
    }
}

/// Results in forms that tools use, with these members somewhere.
fn shaped(members: Map<String, Value>, dice: &mut Dice) -> Value {
    let object = Value::Object(members);
    match dice.below(4) {
        0 => json!({"status": "ok", "results": [object]}),
        1 => json!({"content": [{"type": "text", "text": object.to_string()}]}),
        2 => json!({"data": {"node": object, "next": null}, "done": true}),
        _ => object,
    }
}

impl Planted {
    fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut used = BTreeSet::new();
        let shape: Vec<usize> = (0..2 + dice.below(4)).map(|_| 1 + dice.below(3)).collect();
        let step_of: Vec<usize> =
            shape.iter().enumerate().flat_map(|(step, &calls)| vec![step; calls]).collect();
        let mut arguments: Vec<Map<String, Value>> = Vec::new();
        let mut results: Vec<Map<String, Value>> = Vec::new();
        let (mut edges, mut kinds) = (Vec::new(), Vec::new());
        for (to, &step) in step_of.iter().enumerate() {
            // A value of its own, and up to two values of earlier results.
            let mut own = Map::new();
            own.insert("subject".to_owned(), json!(word(&mut dice, &mut used)));
            arguments.push(own);
            let mut result = Map::new();
            result.insert("note".to_owned(), json!(word(&mut dice, &mut used)));
            results.push(result);
            let earlier = step_of.iter().filter(|&&other| other < step).count();
            for _ in 0..if earlier == 0 { 0 } else { dice.below(3) } {
                let from = dice.below(earlier);
                let value = value(&mut dice, &mut used);
                results[from].insert(value.returned.0, value.returned.1);
                let name = format!("{}_{}", value.used.0, arguments[to].len());
                arguments[to].insert(name, value.used.1);
                edges.push((from, to));
                kinds.push(value.kind);
            }
        }
        let mut steps: Vec<Vec<ChainCall>> = vec![Vec::new(); shape.len()];
        for (call, (arguments, result)) in arguments.into_iter().zip(results).enumerate() {
            let result = shaped(result, &mut dice);
            let tool = format!("server{call}/get_{call}");
            steps[step_of[call]].push(made(&tool, &Value::Object(arguments), Ok(&result)));
        }
        Self { chain: chain(vec!["What is this?".to_owned()], steps), edges, kinds }
    }

    /// The earliest step of each call by the planted dependencies.
    fn levels(&self) -> Vec<usize> {
        let mut levels = vec![0; self.chain.calls.len()];
        for to in 0..levels.len() {
            let before = self.edges.iter().filter(|(_, user)| *user == to).map(|(from, _)| levels[*from] + 1);
            levels[to] = before.max().unwrap_or(0);
        }
        levels
    }

    /// A proposal with each call in this step, or without it.
    fn proposal(&self, steps: &[Option<usize>]) -> Proposal {
        let mut proposed: BTreeMap<usize, Vec<ProposedCall>> = BTreeMap::new();
        for (call, step) in self.chain.calls.iter().zip(steps) {
            let Some(step) = step else { continue };
            let (name, arguments) = (call.tool.clone(), call.arguments.clone());
            proposed.entry(*step).or_default().push(ProposedCall { name, arguments });
        }
        Proposal { steps: proposed.into_values().collect() }
    }

    fn check(&self, proposal: &Proposal) -> Result<(), Vec<Violation>> {
        check(&self.chain, &dependencies(&self.chain), proposal).map(|_| ())
    }
}

#[test]
fn planted_dependencies_are_found_and_no_others() {
    let (mut wrong, mut missed) = (Vec::new(), BTreeMap::<&str, usize>::new());
    let mut planted_in_all = BTreeMap::<&str, usize>::new();
    for seed in 0..RUNS {
        let planted = Planted::new(seed);
        let found: BTreeSet<(usize, usize)> = dependencies(&planted.chain)
            .iter()
            .map(|found| {
                let index = |place| planted.chain.calls.iter().position(|call| call.place == place).unwrap();
                (index(found.from), index(found.to))
            })
            .collect();
        for (edge, kind) in planted.edges.iter().zip(&planted.kinds) {
            *planted_in_all.entry(kind).or_default() += 1;
            if !found.contains(edge) {
                *missed.entry(kind).or_default() += 1;
            }
        }
        let levels = planted.levels();
        let rules = by_rules(&planted.chain, &dependencies(&planted.chain));
        let is_same = planted
            .chain
            .calls
            .iter()
            .zip(&levels)
            .all(|(call, &level)| rules.steps.get(level).is_some_and(|step| step.contains(&call.place)));
        if !is_same {
            wrong.push((seed, found, planted.edges));
        }
    }
    assert_eq!(planted_in_all.len(), 12, "{planted_in_all:?}");
    assert!(missed.is_empty(), "{missed:?} of {planted_in_all:?}");
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn proposals_that_keep_what_was_planted_are_accepted() {
    for seed in 0..RUNS {
        let planted = Planted::new(seed);
        let mut dice = Dice::new(seed ^ 0xacce);
        // In its original step, in the earliest possible one, or between.
        let run: Vec<usize> = planted.chain.calls.iter().map(|call| call.place.step).collect();
        let early = planted.levels();
        let mut steps: Vec<Option<usize>> = early.iter().copied().map(Some).collect();
        planted.check(&planted.proposal(&steps)).unwrap_or_else(|broken| panic!("{seed}: {broken:?}"));
        steps = run.iter().copied().map(Some).collect();
        // Calls whose results are not used may be left out.
        for call in (0..run.len()).rev() {
            let is_used = planted.edges.iter().any(|&(from, to)| from == call && steps[to].is_some());
            if !is_used && dice.below(3) == 0 && steps.iter().flatten().count() > 1 {
                steps[call] = None;
            }
        }
        planted.check(&planted.proposal(&steps)).unwrap_or_else(|broken| panic!("{seed}: {broken:?}"));
    }
}

#[test]
fn proposals_that_break_what_was_planted_are_refused() {
    let mut tried = [0; 6];
    for seed in 0..RUNS {
        let planted = Planted::new(seed);
        let mut dice = Dice::new(seed ^ 0xbad);
        let run: Vec<Option<usize>> = planted.chain.calls.iter().map(|call| Some(call.place.step)).collect();
        let mut refuse = |kind: usize, proposal: &Proposal, is: fn(&Violation) -> bool| {
            tried[kind] += 1;
            let broken = planted.check(proposal).expect_err(&format!("{seed}, {kind}: {proposal:?}"));
            assert!(broken.iter().any(is), "{seed}, {kind}: {broken:?}");
        };
        if let Some(&(from, to)) = planted.edges.get(dice.below(planted.edges.len())) {
            let mut without = run.clone();
            without[from] = None;
            refuse(0, &planted.proposal(&without), |found| matches!(found, Violation::MissingSource { .. }));
            let is_order = |found: &Violation| matches!(found, Violation::Order { .. });
            let mut merged = run.clone();
            merged[from] = merged[to];
            refuse(1, &planted.proposal(&merged), is_order);
            let mut swapped = run.clone();
            swapped.swap(from, to);
            refuse(2, &planted.proposal(&swapped), is_order);
        }
        let is_invented = |found: &Violation| matches!(found, Violation::Invented { .. });
        let whole = planted.proposal(&run);
        let some = |dice: &mut Dice| {
            let step = dice.below(whole.steps.len());
            (step, dice.below(whole.steps[step].len()))
        };
        let (step, call) = some(&mut dice);
        let mut invented = whole.clone();
        invented.steps[step][call].name = "server0/delete_0".to_owned();
        refuse(3, &invented, is_invented);
        let mut changed = whole.clone();
        if let Some(Json::Object(members)) = &mut changed.steps[step][call].arguments {
            let member = dice.below(members.len());
            members[member].1 = Json::String("another".to_owned());
        }
        refuse(4, &changed, is_invented);
        let mut doubled = whole.clone();
        let again = doubled.steps[step][call].clone();
        let last = doubled.steps.len() - 1;
        doubled.steps[last].push(again);
        refuse(5, &doubled, is_invented);
    }
    assert!(tried.iter().all(|&tried| tried > 300), "{tried:?}");
}
