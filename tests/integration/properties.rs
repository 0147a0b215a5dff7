//! Properties that hold for any input, tested on random trajectories with an encoder that needs no model.

use m3_embedding::Embedder;
use m3_score::{
    Metric, Profile, ScoreError, ScoreOptions, ScoredTrajectory, Similarity, Summary, TrajectoryScore, score,
};
use m3_trajectory::{Duplicates, TrajectoryFile};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{Folder, LetterCounts, call};

const PROFILES: [Profile; 2] = [Profile::Paper, Profile::OpenM3Bench];

const SIMILARITIES: [Similarity; 2] = [Similarity::Cosine, Similarity::Typed];

/// Scores lists of trajectories.
fn score_values(
    predictions: &[Value],
    references: &[Value],
    profile: Profile,
) -> (Summary, Vec<TrajectoryScore>) {
    let lines = |values: &[Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
    score_lines(&lines(predictions), &lines(references), profile, Similarity::Cosine)
}

/// Scores JSON texts of trajectories.
fn score_lines(
    predictions: &[String],
    references: &[String],
    profile: Profile,
    similarity: Similarity,
) -> (Summary, Vec<TrajectoryScore>) {
    let folder = Folder::new();
    let open = |name: &str, lines: &[String]| {
        TrajectoryFile::open(&folder.write(name, lines.join("\n")), Duplicates::Error).unwrap()
    };
    let (predictions, references) = (open("p.jsonl", predictions), open("r.jsonl", references));
    let mut embedder = Embedder::new(Box::new(LetterCounts::new()), None);
    let mut scores = Vec::new();
    let options =
        ScoreOptions { profile, similarity, thresholds: similarity.thresholds(), ..ScoreOptions::default() };
    let sink = &mut |scored: ScoredTrajectory<'_>| {
        scores.push(scored.score);
        Ok::<_, ScoreError>(())
    };
    let summary = score(&predictions, &references, options, &mut embedder, sink, &mut |_, _| ()).unwrap();
    (summary, scores)
}

/// How often each argument is wrong, and how many pairs are rejected.
fn counts(summary: &Summary) -> (Vec<(String, String, u64, u64)>, u64) {
    let wrong = summary.findings.wrong_arguments().into_iter();
    let wrong = wrong.map(|found| (found.tool, found.argument, found.wrong, found.pairs));
    (wrong.collect(), summary.findings.rejected_matches().1)
}

/// A call of one of few tools with one of few arguments, so that equal and similar calls are common.
fn any_call() -> impl Strategy<Value = Value> {
    let texts = ["eel", "Eel", "lee", "trout", "sea trout", "x1", "x2", ""];
    let arguments = prop_oneof![
        6 => (0..texts.len(), 0..3_u8).prop_map(move |(text, n)| json!({"q": texts[text], "n": n})),
        1 => Just(json!({"tags": ["b", "a"], "k": [2, 1]})),
        1 => Just(Value::Null),
        1 => Just(json!("not an object")),
    ];
    (0..3_u8, arguments).prop_map(|(tool, arguments)| call(&format!("s/t{tool}"), arguments))
}

fn any_steps() -> impl Strategy<Value = Vec<Vec<Value>>> {
    prop::collection::vec(prop::collection::vec(any_call(), 0..4), 0..5)
}

fn any_set() -> impl Strategy<Value = Vec<Value>> {
    prop::collection::vec(any_steps(), 1..4).prop_map(|all| with_ids(&all))
}

fn with_ids(all: &[Vec<Vec<Value>>]) -> Vec<Value> {
    all.iter().enumerate().map(|(index, steps)| with_steps(index, steps)).collect()
}

fn with_steps(index: usize, steps: &[Vec<Value>]) -> Value {
    let steps: Vec<Value> = steps.iter().map(|calls| json!({"calls": calls})).collect();
    json!({"id": format!("id{index}"), "type": format!("type{}", index % 2), "steps": steps})
}

/// The trajectories in another order, with the calls of every step in another order, and the keys of every
/// object in reverse order.
fn shuffled(set: &[Value], seed: &mut u64) -> Vec<String> {
    let mut set = set.to_vec();
    shuffle(&mut set, seed);
    for trajectory in &mut set {
        for step in trajectory["steps"].as_array_mut().unwrap() {
            shuffle(step["calls"].as_array_mut().unwrap(), seed);
        }
    }
    set.iter().map(with_reversed_keys).collect()
}

/// Fisher and Yates, with the random numbers of a small congruential generator.
fn shuffle<T>(items: &mut [T], seed: &mut u64) {
    for last in (1..items.len()).rev() {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        items.swap(last, usize::try_from(*seed >> 33).unwrap() % (last + 1));
    }
}

/// A value's text with the keys of every object in reverse order.
pub(crate) fn with_reversed_keys(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = members
                .iter()
                .rev()
                .map(|(key, value)| format!("{}:{}", json!(key), with_reversed_keys(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        }
        Value::Array(items) => {
            format!("[{}]", items.iter().map(with_reversed_keys).collect::<Vec<_>>().join(","))
        }
        other => other.to_string(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn a_set_against_itself_scores_one_on_everything(set in any_set()) {
        let (summary, scores) = score_values(&set, &set, Profile::Paper);
        // The verdict is a probability, which is never 1; it is lower where no call is known to change something.
        let is_one = |metric: Metric, value: f64| match metric {
            Metric::Verdict => value > 0.75,
            _ => (value - 1.0).abs() < f64::EPSILON,
        };
        let of_set = summary.aggregate.metrics(Profile::Paper);
        let known = Metric::of_scores().filter_map(|metric| Some((metric, of_set.get(metric)?)));
        let known: Vec<(Metric, f64)> = known.collect();
        prop_assert!(known.len() >= Metric::of_scores().filter(|metric| !metric.may_be_unknown()).count());
        prop_assert!(known.iter().all(|(metric, value)| is_one(*metric, *value)), "{known:?}");
        for score in scores {
            prop_assert!(score.matching.unmatched_references.is_empty());
            let metrics = score.sums.metrics(Profile::Paper);
            for metric in Metric::of_scores() {
                let value = metrics.get(metric).unwrap_or(1.0);
                prop_assert!(is_one(metric, value), "{} of {}", metric.name(), score.id);
            }
        }
    }

    #[test]
    fn every_metric_stays_in_range(predictions in any_set(), references in any_set()) {
        for profile in PROFILES {
            let (summary, scores) = score_values(&predictions, &references, profile);
            let all = scores.iter().map(|score| score.sums.metrics(profile));
            for metrics in all.chain([summary.aggregate.metrics(profile)]) {
                for metric in Metric::of_scores() {
                    match metrics.get(metric) {
                        Some(value) => prop_assert!((0.0..=1.0).contains(&value), "{}", metric.name()),
                        None => prop_assert!(metric.may_be_unknown(), "{}", metric.name()),
                    }
                }
            }
        }
    }

    #[test]
    fn the_order_of_calls_keys_and_trajectories_means_nothing(
        predictions in any_set(),
        references in any_set(),
        mut seed in any::<u64>(),
    ) {
        let lines = |values: &[Value]| values.iter().map(ToString::to_string).collect::<Vec<_>>();
        let (first, second) = (lines(&predictions), lines(&references));
        for (profile, similarity) in PROFILES.into_iter().flat_map(|p| SIMILARITIES.map(|s| (p, s))) {
            let (before, _) = score_lines(&first, &second, profile, similarity);
            let (predictions, references) = (shuffled(&predictions, &mut seed), shuffled(&references, &mut seed));
            let (after, _) = score_lines(&predictions, &references, profile, similarity);
            // Tallies are exact sums, so they are equal to the last bit.
            prop_assert_eq!(&before.aggregate, &after.aggregate);
            prop_assert_eq!(&before.by_type, &after.by_type);
            // Counts of wrong arguments are equal; which trajectory is the example depends on the order.
            prop_assert_eq!(counts(&before), counts(&after));
        }
    }

    #[test]
    fn a_wrong_call_never_raises_precision(
        prediction in any_steps(),
        reference in any_steps(),
        step in 0..5_usize,
        tool in 0..4_u8,
    ) {
        let references = with_ids(&[reference]);
        let mut worse = prediction.clone();
        // Tools 0 to 2 are those of the references, which contain no letter `z`, so these calls are similar to none
        // of theirs.
        let wrong = call(&format!("s/t{tool}"), json!({"zz": "zzzzzzzzzzzzzzzz"}));
        match worse.get_mut(step) {
            Some(calls) => calls.push(wrong),
            None => worse.push(vec![wrong]),
        }
        for profile in PROFILES {
            let precision = |steps: &[Vec<Value>]| {
                let (summary, _) = score_values(&with_ids(&[steps.to_vec()]), &references, profile);
                summary.aggregate.metrics(profile)[Metric::Precision]
            };
            prop_assert!(precision(&worse) <= precision(&prediction));
        }
    }

    #[test]
    fn every_call_is_in_exactly_one_list(predictions in any_set(), references in any_set()) {
        let (_, scores) = score_values(&predictions, &references, Profile::Paper);
        for score in scores {
            let matching = &score.matching;
            let mut of_reference: Vec<usize> = matching.matches.iter().map(|m| m.reference.index).collect();
            of_reference.extend(matching.unmatched_references.iter().map(|u| u.place.index));
            of_reference.sort_unstable();
            let mut predicted: Vec<usize> = matching.matches.iter().map(|m| m.predicted.index).collect();
            predicted.extend(matching.unmatched_predictions.iter().map(|u| u.place.index));
            predicted.sort_unstable();
            let count = |count: u64| (0..usize::try_from(count).unwrap()).collect::<Vec<_>>();
            prop_assert_eq!(of_reference, count(score.sums.reference_calls));
            prop_assert_eq!(predicted, count(score.sums.predicted_calls));
        }
    }

    /// If both sides have the same calls, the alignment without embeddings equals that with embeddings: one more call
    /// of the same tool on each side makes every embedding necessary.
    #[test]
    fn shortcuts_do_not_change_the_alignment(steps in any_steps(), rotation in 0..5_usize) {
        let mut rotated = steps.clone();
        if !rotated.is_empty() {
            let by = rotation % rotated.len();
            rotated.rotate_left(by);
        }
        let plain = score_values(&with_ids(std::slice::from_ref(&rotated)), &with_ids(std::slice::from_ref(&steps)), Profile::Paper).1;
        let extra = |steps: &[Vec<Value>], text: &str| {
            let mut steps = steps.to_vec();
            let calls = (0..3).map(|tool| call(&format!("s/t{tool}"), json!({"zzzz": text}))).collect();
            steps.push(calls);
            with_ids(&[steps])
        };
        // `yyyyyy` and `wwwwww` are similar to nothing: they stay unmatched and change no other pair.
        let full = score_values(&extra(&rotated, "yyyyyyyyyyyy"), &extra(&steps, "wwwwwwwwwwww"), Profile::Paper).1;
        let pairs = |scores: &[TrajectoryScore]| -> Vec<(usize, usize)> {
            let matches = scores[0].matching.matches.iter();
            matches.map(|m| (m.reference.step, m.predicted.step)).collect()
        };
        let known = pairs(&full).into_iter().filter(|(r, _)| *r < steps.len()).collect::<Vec<_>>();
        let sort = |mut pairs: Vec<(usize, usize)>| { pairs.sort_unstable(); pairs };
        prop_assert_eq!(sort(pairs(&plain)), sort(known));
    }
}
