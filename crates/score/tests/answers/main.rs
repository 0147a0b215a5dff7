//! How well the agreement of replies tells right ones from wrong ones: on m3's small benchmark and on Open-M3-Bench's replies
//! (`../shared/data`, if it is there), each changed, swapped, left out, negated or only reworded.
//!
//! `cargo test -p m3-score --test answers -- --nocapture` prints the figures of docs/answers.md.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod replies;
mod reword;
mod variants;

use std::collections::BTreeMap;
use std::io::Write as _;

use m3_score::answer::answer_agreement;

use replies::Task;
use variants::variants;

/// The scores of the variants of each kind; `None` is unsure.
type Scores = BTreeMap<&'static str, Vec<Option<f64>>>;

fn scores(tasks: &[Task]) -> Scores {
    let mut scores = Scores::new();
    for (at, task) in tasks.iter().enumerate() {
        for (kind, reply) in variants(tasks, at) {
            let agreement = answer_agreement(Some(&reply), &task.reply, Some(&task.question));
            scores.entry(kind).or_default().push(agreement.score);
        }
    }
    scores
}

/// The area under the curve: how often a right reply has more than a wrong one, where a tie is half.
fn area(right: &[f64], wrong: &[f64]) -> f64 {
    let wins = |right: f64| {
        wrong
            .iter()
            .map(|wrong| {
                if right > *wrong {
                    1.0
                } else if right < *wrong {
                    0.0
                } else {
                    0.5
                }
            })
            .sum::<f64>()
    };
    right.iter().map(|&right| wins(right)).sum::<f64>() / (right.len() * wrong.len()) as f64
}

fn print(line: &str) {
    let mut terminal = std::io::stderr();
    writeln!(terminal, "{line}").unwrap();
}

/// Prints the figures; the area and the share that is unsure.
fn figures(name: &str, tasks: &[Task]) -> (f64, f64) {
    let scores = scores(tasks);
    let known = |kind: &str| scores.get(kind).into_iter().flatten().copied().flatten().collect::<Vec<_>>();
    let right = known("reworded");
    let mut wrong = Vec::new();
    print(&format!("{name}: {} replies", tasks.len()));
    for (kind, all) in &scores {
        let known = known(kind);
        let mean = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let area = if *kind == "reworded" { 1.0 } else { area(&right, &known) };
        print(&format!(
            "  {kind:12} {:5} variants, {:5} unsure, mean {mean:.3}, area {area:.3}",
            all.len(),
            all.len() - known.len()
        ));
        if *kind != "reworded" {
            wrong.extend(known);
        }
    }
    let all: usize = scores.values().map(Vec::len).sum();
    let unsure = 1.0 - (right.len() + wrong.len()) as f64 / all as f64;
    let area = area(&right, &wrong);
    print(&format!("  all: area {area:.4}, unsure {:.1} %", 100.0 * unsure));
    (area, unsure)
}

#[test]
fn right_and_wrong_replies_of_the_small_benchmark_are_told_apart() {
    let (area, unsure) = figures("small benchmark", &replies::own());
    assert!(area >= 0.98 && unsure <= 0.05, "{area} {unsure}");
}

#[test]
fn rewordings_by_hand_are_told_from_wrong_replies() {
    let tasks = replies::own();
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for line in include_str!("by_hand.txt").lines().filter(|line| !line.starts_with('#')) {
        let (id, rest) = line.split_once(' ').unwrap();
        let (kind, reply) = rest.split_once(' ').unwrap();
        let task = tasks.iter().find(|task| task.id == id).unwrap();
        let agreement = answer_agreement(Some(reply), &task.reply, Some(&task.question));
        let score = agreement.score.unwrap_or(f64::NAN);
        let is_odd = if kind == "right" { score < 0.9 } else { score > 0.5 };
        if is_odd || score.is_nan() {
            print(&format!("by hand: {kind} has {score:.3}: {reply} ({})", agreement.reasons.join(", ")));
        }
        if kind == "right" { &mut right } else { &mut wrong }.push(score);
    }
    let area = area(&right, &wrong);
    print(&format!("by hand: {} right, {} wrong, area {area:.4}", right.len(), wrong.len()));
    assert!(area >= 0.96, "{area}");
}

#[test]
fn right_and_wrong_replies_of_open_m3_bench_are_told_apart() {
    let Some(tasks) = replies::open_m3_bench() else { return };
    let (seen, others): (Vec<Task>, Vec<Task>) = tasks.into_iter().partition(Task::is_seen);
    for (name, tasks) in [("that was looked at", seen), ("that was not", others)] {
        let (area, unsure) = figures(&format!("Open-M3-Bench, the half {name}"), &tasks);
        assert!(area >= 0.95 && unsure <= 0.05, "{area} {unsure}");
    }
}
