//! Files of predictions and of references, in every form that `m3-trajectory` reads: their problems, what they hold, what flows
//! between calls, and the scores of one against the other.
//!
//! A line `"references"` in an input stands between the two files; without it, both are the same.

use std::collections::BTreeMap;

use m3_flow::{AskedNames, Origin, dependencies, given_names, value_uses};
use m3_judge::{chain_of_run, reconstruct::by_rules};
use m3_outcomes::KnownTools;
use m3_score::{
    ArgumentMode, MatchMode, MatchOptions, Metric, Mismatch, Profile, ScoreError, ScoreOptions,
    ScoredTrajectory, Scorer, TrajectoryScore, matches, score,
};
use m3_traces::TRACES;
use m3_trajectory::json::Keys;
use m3_trajectory::{CallForms, Duplicates, OpenError, Problems, Trajectory, TrajectoryFile};

use crate::input::{Temporary, assert_line, assert_text};
use crate::letters::embedder;

/// Between predictions and references.
const REFERENCES: &[u8] = b"\"references\"\n";

/// More of a file is read, but not scored: what is asked here is not how fast that is.
const MOST_TRAJECTORIES: usize = 20;

/// Holds two files against what is kept of all of them.
///
/// # Panics
/// If it is not.
pub fn check(bytes: &[u8]) {
    let place = bytes.windows(REFERENCES.len()).position(|part| part == REFERENCES);
    let (predictions, references) =
        place.map_or((bytes, bytes), |at| (&bytes[..at], &bytes[at + REFERENCES.len()..]));
    let (predictions, references) =
        (Temporary::file("predictions.json", predictions), Temporary::file("references.json", references));
    check_problems(&predictions);
    let opened = |file: Result<TrajectoryFile, OpenError>| match file {
        Ok(file) => Some(file),
        Err(error) => {
            assert_text("an error", &error.to_string(), 3000);
            None
        }
    };
    let forms = (Duplicates::Keep, CallForms::Understood);
    let predictions =
        TrajectoryFile::open_predictions(predictions.path(), TRACES, forms, &mut |_, _| (), &mut |_| ());
    let references = TrajectoryFile::open(references.path(), Duplicates::Last);
    let (Some(predictions), Some(references)) = (opened(predictions), opened(references)) else { return };
    for file in [&predictions, &references] {
        assert_eq!(file.lines().len(), file.len());
        for trajectory in all(file) {
            check_trajectory(&trajectory);
            check_match(&trajectory);
        }
    }
    check_scores(&predictions, &references);
}

fn all(file: &TrajectoryFile) -> Vec<Trajectory> {
    (0..file.len().min(MOST_TRAJECTORIES)).filter_map(|index| file.read(index).ok()).collect()
}

/// All that is said of a file is short and clean, whatever it is read for.
fn check_problems(file: &Temporary) {
    let shown = |problems: &Problems| {
        for problem in problems.iter() {
            // Each of its texts has at most 1000 characters, some of which are shown as their numbers.
            assert_line("a problem", &problem.to_string(), 40_000);
        }
    };
    if let Ok(scanned) = TrajectoryFile::scan(file.path(), TRACES, Duplicates::Error, &mut |_, _| ()) {
        shown(scanned.problems());
    }
    if let Ok(tasks) = TrajectoryFile::scan_tasks(file.path(), Duplicates::Error) {
        shown(tasks.problems());
        if tasks.is_tasks() {
            (0..tasks.len())
                .for_each(|index| assert!(tasks.read_task(index).is_ok(), "a task is read again"));
        }
    }
    if let Err(OpenError::Invalid { problems, .. }) = TrajectoryFile::open_all(file.path(), &mut |_, _| ()) {
        shown(&problems);
    }
}

/// A trajectory is read as it is written, and what flows in it stays within it.
fn check_trajectory(trajectory: &Trajectory) {
    let text = trajectory.to_json().to_text(Keys::AsRead);
    let written = TrajectoryFile::of_bytes("written", text.as_bytes(), CallForms::Understood, &[]);
    if let Some(again) = written.ok().and_then(|file| file.read(0).ok()) {
        assert_eq!(again.to_json().to_text(Keys::AsRead), text, "a trajectory is read as it is written");
    }
    let chain = chain_of_run(trajectory, &KnownTools::default());
    assert!(chain.calls.len() <= trajectory.call_count());
    let found = dependencies(&chain);
    for dependency in &found {
        assert!(dependency.from.step < dependency.to.step, "what is used was made before: {dependency:?}");
        for shared in &dependency.values {
            assert_line("a shared value", &shared.value, 4000);
        }
    }
    assert!(by_rules(&chain, &found).steps.len() <= chain.calls.len());
    let asked = AskedNames::new(trajectory.question.as_deref().unwrap_or_default());
    for used in value_uses(&chain, &asked).iter().chain(&given_names(&chain, &asked)) {
        // A name may be asked about before anything has it.
        let is_in_order = used.from <= used.to || matches!(used.origin, Origin::Name(_));
        assert!(is_in_order && used.from.max(used.to) < chain.calls.len(), "{used:?}");
    }
}

/// A trajectory is the same as itself, however strictly they are compared.
fn check_match(trajectory: &Trajectory) {
    for mode in [MatchMode::Strict, MatchMode::Unordered, MatchMode::Subset, MatchMode::Superset] {
        for arguments in ArgumentMode::ALL {
            let options = MatchOptions { mode, arguments, tools: BTreeMap::new() };
            match matches(trajectory, trajectory, &options) {
                Ok(()) | Err(Mismatch::Failed(_)) => {}
                other => assert_eq!(other, Ok(()), "{mode:?} {arguments:?} of {trajectory:?}"),
            }
        }
    }
}

/// Metrics are shares, and whoever is compared with itself reaches all.
fn check_scores(predictions: &TrajectoryFile, references: &TrajectoryFile) {
    let mut embedder = embedder();
    for profile in [Profile::Paper, Profile::OpenM3Bench] {
        let options = ScoreOptions { profile, ..ScoreOptions::default() };
        if predictions.len().max(references.len()) <= MOST_TRAJECTORIES {
            let mut sink = |scored: ScoredTrajectory<'_>| {
                check_score(&scored.score, profile);
                Ok::<_, ScoreError>(())
            };
            match score(predictions, references, options, &mut embedder, &mut sink, &mut |_, _| ()) {
                Ok(summary) => assert_shares("the whole", &summary.aggregate.metrics(profile)),
                Err(error) => assert_text("an error", &error.to_string(), 3000),
            }
        }
        let references = all(references);
        let pairs = references.iter().map(|reference| (Some(reference), reference));
        let pairs = Scorer::new(options, &mut embedder).score_pairs(pairs).unwrap_or_default();
        for (reference, scored) in references.iter().zip(pairs) {
            let Ok(scored) = scored else { continue };
            let metrics = scored.sums.metrics(profile);
            if reference.call_count() > 0 && scored.failure.is_none() {
                let reached = [Metric::Recall, Metric::Precision].map(|metric| metrics.get(metric));
                assert_eq!(reached, [Some(1.0); 2], "{profile:?} of a reference against itself");
            }
            for pair in scored.compared.iter().filter(|pair| pair.reference == pair.predicted) {
                assert!(pair.fidelity.score >= 1.0, "a call asks for what it asks for itself: {pair:?}");
            }
        }
    }
}

fn check_score(scored: &TrajectoryScore, profile: Profile) {
    assert_shares(&scored.id, &scored.sums.metrics(profile));
    let others = [scored.artifact_agreement, scored.answer.as_ref().and_then(|answer| answer.score)];
    let compared = scored.compared.iter().flat_map(|pair| &pair.fidelity.arguments);
    for argument in compared.clone() {
        assert!(argument.reason.len() <= 2000, "{} bytes of a reason", argument.reason.len());
    }
    let fidelities = scored.compared.iter().map(|pair| pair.fidelity.score);
    let shares =
        others.into_iter().flatten().chain(fidelities).chain(compared.map(|argument| argument.score));
    for share in shares {
        assert!((0.0..=1.0).contains(&share), "{share}");
    }
}

fn assert_shares(what: &str, metrics: &m3_score::Metrics) {
    for metric in Metric::ALL {
        let value = metrics.get(metric);
        assert!(value.is_none_or(|value| (0.0..=1.0).contains(&value)), "{metric:?} of {what}: {value:?}");
    }
}
