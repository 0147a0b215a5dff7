//! What holds of every workflow, however it names what it makes (section "Properties" of `docs/flow.md`), on random ones
//! with an encoder that needs no model.

use std::collections::HashMap;

use m3_embedding::Embedder;
use m3_score::{
    Flow, Results, ScoreError, ScoreOptions, ScoredTrajectory, Thresholds, TrajectoryScore, score,
};
use m3_trajectory::{Duplicates, TrajectoryFile};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::properties::with_reversed_keys;
use crate::support::{Folder, LetterCounts, call};

/// A call that makes a picture of another one.
#[derive(Debug, Clone)]
struct Operation {
    /// Which tool.
    tool: usize,
    /// Which of its settings.
    setting: usize,
    /// Which earlier operation it reads, by its place; the task's picture if there is none.
    input: Option<usize>,
    step: usize,
}

/// A workflow, and another one.
type Pair = (Vec<Operation>, Vec<Operation>);

/// Tools, each with an argument and its settings, which no rule takes for the same.
const TOOLS: [(&str, &str, [i64; 3]); 3] = [
    ("image/rotate", "angle", [90, 180, 270]),
    ("image/blur", "radius", [2, 9, 30]),
    ("image/posterize", "levels", [2, 8, 64]),
];

const IMAGE: &str = "images/harbour.png";

/// Operations that read what earlier steps make; at most nine.
fn any_workflow() -> impl Strategy<Value = Vec<Operation>> {
    let operation = (0..TOOLS.len(), 0..3_usize, any::<prop::sample::Index>(), any::<bool>());
    prop::collection::vec(operation, 1..9).prop_map(|drawn| {
        let mut operations: Vec<Operation> = Vec::new();
        for (tool, setting, input, is_next_step) in drawn {
            let step = operations.last().map_or(0, |last| last.step + usize::from(is_next_step));
            let earlier = operations.iter().filter(|operation| operation.step < step).count();
            let input = input.index(earlier + 1).checked_sub(1);
            operations.push(Operation { tool, setting, input, step });
        }
        operations
    })
}

/// The trajectory that names what its operations make like this.
fn written(id: usize, operations: &[Operation], name: &dyn Fn(usize) -> String) -> Value {
    let steps = operations.last().map_or(0, |last| last.step + 1);
    let mut calls: Vec<Vec<Value>> = vec![Vec::new(); steps];
    for (place, operation) in operations.iter().enumerate() {
        let (tool, argument, settings) = TOOLS[operation.tool];
        let input = operation.input.map_or_else(|| IMAGE.to_owned(), name);
        let arguments = json!({
            "input_path": input, argument: settings[operation.setting], "output_path": name(place),
        });
        calls[operation.step].push(call(tool, arguments));
    }
    let steps: Vec<Value> = calls.into_iter().map(|calls| json!({"calls": calls})).collect();
    json!({"id": format!("w{id}"), "image": IMAGE, "question": "What is on the picture?", "steps": steps})
}

fn plainly(place: usize) -> String {
    format!("step{place}.png")
}

/// Other names, none of them one of [`plainly`]; which are alike differs, too.
fn otherwise(seed: usize) -> impl Fn(usize) -> String {
    const WORDS: [&str; 7] =
        ["harbour view", "b", "out/final", "/srv/media/crane", "x-1", "tmp/q/y", "ship_left"];
    move |place| {
        let word = WORDS[(place * 3 + seed) % WORDS.len()];
        format!("{word}{}.png", (place * 31 + seed) % 97)
    }
}

/// What each operation makes: what was done to the task's picture, in order.
fn contents(operations: &[Operation]) -> Vec<Vec<(usize, usize)>> {
    let mut made: Vec<Vec<(usize, usize)>> = Vec::new();
    for operation in operations {
        let mut content = operation.input.map_or_else(Vec::new, |input| made[input].clone());
        content.push((operation.tool, operation.setting));
        made.push(content);
    }
    made
}

fn sorted<T: Ord>(mut items: Vec<T>) -> Vec<T> {
    items.sort();
    items
}

/// The scores of predictions, by the ids of their trajectories. Whatever has a tool in common may be matched, so that the
/// alignment leaves no call out for its words.
pub(super) fn scored(predictions: &[Value], references: &[Value], flow: Flow) -> Vec<TrajectoryScore> {
    let lines = |set: &[Value]| set.iter().map(ToString::to_string).collect::<Vec<_>>();
    scored_lines(&lines(predictions), &lines(references), flow)
}

fn scored_lines(predictions: &[String], references: &[String], flow: Flow) -> Vec<TrajectoryScore> {
    let folder = Folder::new();
    let open = |name: &str, lines: &[String]| {
        TrajectoryFile::open(&folder.write(name, lines.join("\n")), Duplicates::Error).unwrap()
    };
    let (predictions, references) = (open("p.jsonl", predictions), open("r.jsonl", references));
    let mut embedder = Embedder::new(Box::new(LetterCounts::new()), None);
    let thresholds = Thresholds::new(0.0, 0.5).unwrap();
    let options = ScoreOptions { thresholds, flow, results: Results::Auto, ..ScoreOptions::default() };
    let mut scores = Vec::new();
    let sink = &mut |scored: ScoredTrajectory<'_>| {
        scores.push(scored.score);
        Ok::<_, ScoreError>(())
    };
    score(&predictions, &references, options, &mut embedder, sink, &mut |_, _| ()).unwrap();
    scores.sort_by(|a, b| a.id.cmp(&b.id));
    scores
}

/// The fidelities of a trajectory's reference calls, in their order; `None` for one that is compared with none.
pub(super) fn fidelities(score: &TrajectoryScore) -> Vec<Option<f64>> {
    let of: HashMap<usize, f64> =
        score.compared.iter().map(|pair| (pair.reference.index, pair.fidelity.score)).collect();
    (0..usize::try_from(score.sums.reference_calls).unwrap()).map(|call| of.get(&call).copied()).collect()
}

fn is_right(score: &TrajectoryScore) -> bool {
    fidelities(score).iter().all(|fidelity| fidelity.is_some_and(|fidelity| fidelity >= 0.5))
}

/// A workflow, and the same one with other inputs.
fn with_other_inputs() -> impl Strategy<Value = Pair> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..3);
    (any_workflow(), changes).prop_map(|(reference, changes)| {
        let mut other = reference.clone();
        for (which, input) in changes {
            let place = which.index(other.len());
            let earlier = other.iter().filter(|operation| operation.step < other[place].step).count();
            other[place].input = input.index(earlier + 1).checked_sub(1);
        }
        (reference, other)
    })
}

fn batch<T: std::fmt::Debug>(one: impl Strategy<Value = T>) -> impl Strategy<Value = Vec<T>> {
    prop::collection::vec(one, 50)
}

fn all_written<'w>(
    workflows: impl Iterator<Item = &'w Vec<Operation>>,
    name: &dyn Fn(usize) -> String,
) -> Vec<Value> {
    workflows.enumerate().map(|(id, workflow)| written(id, workflow, name)).collect()
}

proptest! {
    // 2,000 workflows for each property, 50 at once.
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// On either side, and whether the workflows are the same or not.
    #[test]
    fn names_of_what_is_made_mean_nothing(pairs in batch(with_other_inputs()), seed in 0..1000_usize) {
        let side = |of: fn(&Pair) -> &Vec<Operation>, name: &dyn Fn(usize) -> String| {
            all_written(pairs.iter().map(of), name)
        };
        let (references, predictions) = (side(|pair| &pair.0, &plainly), side(|pair| &pair.1, &plainly));
        let plain = scored(&predictions, &references, Flow::On);
        let renamed = scored(&side(|pair| &pair.1, &otherwise(seed)), &references, Flow::On);
        let both = scored(&predictions, &side(|pair| &pair.0, &otherwise(seed)), Flow::On);
        for ((plain, renamed), other) in plain.iter().zip(&renamed).zip(&both) {
            prop_assert_eq!(is_right(plain), is_right(renamed), "{}", plain.id);
            prop_assert_eq!(is_right(plain), is_right(other), "{}", plain.id);
            let total = |score: &TrajectoryScore| fidelities(score).into_iter().flatten().sum::<f64>();
            prop_assert!((total(plain) - total(renamed)).abs() < 1e-9, "{} {:?} {:?}", plain.id, fidelities(plain), fidelities(renamed));
            prop_assert!((total(plain) - total(other)).abs() < 1e-9, "{} {:?} {:?}", plain.id, fidelities(plain), fidelities(other));
        }
    }

    /// Whoever reads what somebody else made than in the reference does something else, unless that makes the same in all.
    #[test]
    fn other_inputs_are_wrong_unless_the_same_is_made(pairs in batch(with_other_inputs()), seed in 0..1000_usize) {
        let references = all_written(pairs.iter().map(|pair| &pair.0), &plainly);
        let predictions = all_written(pairs.iter().map(|pair| &pair.1), &otherwise(seed));
        for (place, score) in scored(&predictions, &references, Flow::On).iter().enumerate() {
            let place = pairs.iter().enumerate().position(|(id, _)| format!("w{id}") == score.id).unwrap_or(place);
            let (reference, prediction) = &pairs[place];
            let is_same = sorted(contents(reference)) == sorted(contents(prediction));
            prop_assert_eq!(is_right(score), is_same, "{:?}\n{:?}\n{:?}", reference, prediction, fidelities(score));
        }
    }

    /// Equal arguments are equal, whatever their calls returned.
    #[test]
    fn a_workflow_against_itself_is_right(workflows in batch(any_workflow()), seed in any::<u64>()) {
        let references = all_written(workflows.iter(), &plainly);
        let with_results = |mut seed: u64| -> Vec<Value> {
            let mut set = references.clone();
            for trajectory in &mut set {
                for step in trajectory["steps"].as_array_mut().unwrap() {
                    for call in step["calls"].as_array_mut().unwrap() {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        call["result"] = json!({"content": [{"type": "text", "text": format!("{} harbours", seed >> 61)}]});
                    }
                }
            }
            set
        };
        for (predictions, references) in [
            (references.clone(), references.clone()),
            (with_results(seed), with_results(seed ^ 0xff_ffff)),
        ] {
            for score in scored(&predictions, &references, Flow::On) {
                prop_assert!(fidelities(&score).iter().all(|fidelity| *fidelity == Some(1.0)), "{score:?}");
            }
        }
    }

    /// Calls of a step are made at once: their order means nothing, nor does that of an object's members.
    #[test]
    fn the_order_within_a_step_means_nothing(pairs in batch(with_other_inputs())) {
        let references = all_written(pairs.iter().map(|pair| &pair.0), &plainly);
        let predictions = all_written(pairs.iter().map(|pair| &pair.1), &otherwise(1));
        let turned = |set: &[Value]| -> Vec<String> {
            let mut set = set.to_vec();
            for trajectory in &mut set {
                for step in trajectory["steps"].as_array_mut().unwrap() {
                    step["calls"].as_array_mut().unwrap().reverse();
                }
            }
            set.iter().map(with_reversed_keys).collect()
        };
        let plain = scored(&predictions, &references, Flow::On);
        let other = scored_lines(&turned(&predictions), &turned(&references), Flow::On);
        for (plain, other) in plain.iter().zip(&other) {
            let all = |score: &TrajectoryScore| {
                sorted(fidelities(score).into_iter().map(|fidelity| fidelity.map(f64::to_bits)).collect::<Vec<_>>())
            };
            prop_assert_eq!(all(plain), all(other), "{}", plain.id);
        }
    }

    /// Calls that make nothing are compared as they stand.
    #[test]
    fn without_what_is_made_nothing_changes(pairs in batch(with_other_inputs())) {
        let bare = |set: Vec<Value>| -> Vec<Value> {
            let text = serde_json::to_string(&set).unwrap();
            let text = text.replace("input_path", "city").replace("output_path", "street").replace(".png", " lane");
            let text = text.replace("image", "town");
            serde_json::from_str(&text).unwrap()
        };
        let references = bare(all_written(pairs.iter().map(|pair| &pair.0), &plainly));
        let predictions = bare(all_written(pairs.iter().map(|pair| &pair.1), &otherwise(1)));
        prop_assert_eq!(scored(&predictions, &references, Flow::On), scored(&predictions, &references, Flow::Off));
    }
}
