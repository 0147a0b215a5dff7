//! Pairs of calls to be labelled: of the same task and tool, from the least to the most similar.

use std::collections::{HashMap, HashSet};

use m3_judge::review::Candidate;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Call, Trajectory};
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;

/// The number of classes of similarity that pairs are drawn from in turn; equal arguments are a class of their own.
const CLASSES: usize = 5;

/// The most characters of texts that are compared.
const COMPARED: usize = 2000;

/// At most `count` pairs of a reference's call and a predicted call of the same tool in the same task. If there are
/// more, they are drawn by `seed` so that pairs of every similarity are included: the classes of similarity of their
/// arguments' texts (Sørensen and Dice, on pairs of letters) take turns.
pub(super) fn sample(
    references: &[Trajectory],
    predictions: &[Trajectory],
    count: usize,
    seed: u64,
) -> Vec<Candidate> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut classes: [Vec<Candidate>; CLASSES] = Default::default();
    for candidate in candidates(references, predictions) {
        classes[class(&candidate)].push(candidate);
    }
    for class in &mut classes {
        class.shuffle(&mut random);
    }
    let mut chosen = Vec::new();
    while chosen.len() < count && classes.iter().any(|class| !class.is_empty()) {
        chosen.extend(classes.iter_mut().filter_map(Vec::pop));
    }
    // The last round may have drawn too many, the most similar ones last.
    chosen.truncate(count);
    chosen.shuffle(&mut random);
    chosen
}

/// All pairs of calls of one task and tool; pairs with the same content occur once.
fn candidates(references: &[Trajectory], predictions: &[Trajectory]) -> Vec<Candidate> {
    let tasks: HashMap<&str, usize> =
        references.iter().enumerate().map(|(task, reference)| (reference.id.as_str(), task)).collect();
    let (mut seen, mut runs, mut found) = (HashSet::new(), HashMap::<&str, usize>::new(), Vec::new());
    for prediction in predictions {
        let Some(&task) = tasks.get(prediction.id.as_str()) else { continue };
        let run = runs.entry(&prediction.id).or_insert(0);
        *run += 1;
        let run = if *run == 1 { String::new() } else { format!(".{run}") };
        for (expected, (_, reference)) in references[task].calls().enumerate() {
            for (made, (_, predicted)) in prediction.calls().enumerate() {
                if reference.tool != predicted.tool {
                    continue;
                }
                let (Some(one), Some(two)) = (arguments(reference), arguments(predicted)) else { continue };
                let [first, second] = [&one, &two].map(|arguments| arguments.to_text(Keys::Sorted));
                if seen.insert(format!("{task}\n{}\n{first}\n{second}", reference.tool)) {
                    let id = format!("{}{run}/{}-{}", prediction.id, expected + 1, made + 1);
                    let tool = reference.tool.clone();
                    found.push(Candidate { id, task, tool, reference: one, predicted: two });
                }
            }
        }
    }
    found
}

/// The arguments of a call; `None` if they contain values that JSON cannot express.
fn arguments(call: &Call) -> Option<Json> {
    let arguments = call.arguments.clone().unwrap_or_else(|| Json::Object(Vec::new()));
    arguments.to_value().is_some().then_some(arguments)
}

/// The class of similarity: 0 for the least similar, the last for equal arguments.
fn class(candidate: &Candidate) -> usize {
    let [reference, predicted] =
        [&candidate.reference, &candidate.predicted].map(|value| value.to_text(Keys::Sorted));
    if reference == predicted {
        return CLASSES - 1;
    }
    let text = |text: &str| text.chars().take(COMPARED).collect::<String>();
    let likeness = strsim::sorensen_dice(&text(&reference), &text(&predicted));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "likeness is in [0, 1]")]
    let class = (likeness * (CLASSES - 1) as f64) as usize;
    class.min(CLASSES - 2)
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Step;
    use serde_json::json;

    use super::*;

    fn trajectory(id: &str, texts: &[&str]) -> Trajectory {
        let call = |text: &&str| Call {
            tool: "a/b".to_owned(),
            arguments: Some(Json::from(&json!({ "text": text }))),
            result: None,
            extra: Vec::new(),
        };
        let step = Step { calls: texts.iter().map(call).collect(), ..Step::default() };
        Trajectory { id: id.to_owned(), steps: vec![step], ..Trajectory::default() }
    }

    #[test]
    fn every_class_of_likeness_is_in_a_small_sample() {
        let reference = trajectory("x", &["the european eel of the northern rivers"]);
        let many: Vec<String> = (0..50).map(|number| format!("zqx{number}jvk{number}wpg{number}")).collect();
        let mut texts: Vec<&str> = many.iter().map(String::as_str).collect();
        texts.extend(["the european eel of the northern rivers", "the european eel of a northern river"]);
        let (references, predictions) = ([reference], [trajectory("x", &texts), trajectory("y", &texts)]);
        let drawn = sample(&references, &predictions, 6, 1);
        assert_eq!(drawn.len(), 6);
        assert!(drawn.iter().any(|pair| class(pair) == CLASSES - 1));
        assert!(drawn.iter().any(|pair| class(pair) == CLASSES - 2));
        assert_eq!(drawn, sample(&references, &predictions, 6, 1));
        assert_ne!(drawn, sample(&references, &predictions, 6, 2));
        assert_eq!(sample(&references, &predictions, 1000, 1).len(), 52);
    }

    #[test]
    fn pairs_are_of_one_tool_and_one_task_and_their_ids_differ() {
        let references = [trajectory("x", &["a", "b"]), trajectory("y", &["c"])];
        let mut other = trajectory("y", &["c"]);
        other.steps[0].calls[0].tool = "a/c".to_owned();
        let predictions =
            [trajectory("x", &["a"]), trajectory("x", &["b", "d"]), other, trajectory("z", &["a"])];
        let drawn = sample(&references, &predictions, 100, 1);
        let ids: HashSet<&str> = drawn.iter().map(|pair| pair.id.as_str()).collect();
        assert_eq!(drawn.len(), 6);
        assert_eq!(ids.len(), 6);
        assert!(ids.contains("x/1-1") && ids.contains("x.2/2-1"), "{ids:?}");
    }
}
