//! How well `m3 score` tells right variants from wrong ones: the area under the curve of each metric, and how many of
//! both pass.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::set::{Set, write_trajectories};

/// A way to score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// Its name in the table.
    pub(crate) name: &'static str,
    /// Further options of `m3 score`.
    pub(crate) options: &'static [&'static str],
    /// Whether both sides keep their results.
    pub(crate) has_results: bool,
    /// Kinds of change that the figures leave out.
    pub(crate) leaves_out: &'static [&'static str],
}

/// The figures of a set in one setting.
#[derive(Debug)]
pub(crate) struct Figures {
    /// The setting.
    pub(crate) setting: Setting,
    /// The area under the curve of each metric that was asked for; none where no variant has it.
    pub(crate) areas: Vec<(&'static str, Option<f64>)>,
    /// The share of the right variants that pass; none without any.
    pub(crate) right_that_pass: Option<f64>,
    /// The share of the wrong variants that pass; none without any.
    pub(crate) wrong_that_pass: Option<f64>,
    /// Of each kind: its name, and for right and wrong ones how many there are and how many pass.
    pub(crate) kinds: BTreeMap<String, [(usize, usize); 2]>,
}

/// What a variant scores.
struct Scored {
    is_right: bool,
    passes: bool,
    metrics: Value,
}

/// Scores a set in each setting. `command` is `m3` with the environment that it needs; files go into `folder`.
pub(crate) fn figures(
    set: &Set,
    metrics: &[&'static str],
    settings: &[Setting],
    folder: &Path,
    command: &dyn Fn() -> Command,
) -> Vec<Figures> {
    settings
        .iter()
        .map(|setting| {
            let mut scored = score(set, *setting, folder, &mut command());
            scored.retain(|id, _| !setting.leaves_out.contains(&Set::kind(id)));
            figures_of(&scored, metrics, *setting)
        })
        .collect()
}

/// Scores each variant against its reference, all in one run: whether a tool answers the same to the same is seen in
/// all of them.
fn score(set: &Set, setting: Setting, folder: &Path, command: &mut Command) -> BTreeMap<String, Scored> {
    let files = ["predictions.json", "references.json", "score.json"].map(|name| folder.join(name));
    let shown =
        |trajectory: Value| if setting.has_results { trajectory } else { without_results(trajectory) };
    write_trajectories(&files[0], set.variants.iter().cloned().map(shown));
    write_trajectories(&files[1], set.references_of_variants().map(shown));
    let output = command
        .args(["score", "--quiet"])
        .args(&files[..2])
        .arg("--out")
        .arg(&files[2])
        .args(setting.options)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&std::fs::read(&files[2]).unwrap()).unwrap();
    let trajectories = report["trajectories"].as_array().unwrap();
    assert_eq!(trajectories.len(), set.variants.len());
    let scored = |trajectory: &Value| {
        let id = trajectory["id"].as_str().unwrap().to_owned();
        let is_right = set.labels[&id];
        let scored = Scored { is_right, passes: passes(trajectory), metrics: trajectory["metrics"].clone() };
        (id, scored)
    };
    trajectories.iter().map(scored).collect()
}

/// Recall 1 and no fidelity below 0.5, the default of `--pass` (docs/metrics.md).
fn passes(trajectory: &Value) -> bool {
    let fidelities = trajectory["matches"].as_array().unwrap().iter();
    let mut fidelities = fidelities.filter_map(|pair| pair["argument_fidelity"].as_f64());
    trajectory["metrics"]["recall"] == 1.0 && fidelities.all(|fidelity| fidelity >= 0.5)
}

/// The trajectory as if nothing had been recorded.
fn without_results(mut trajectory: Value) -> Value {
    let steps = trajectory["steps"].as_array_mut().unwrap().iter_mut();
    let calls = steps.flat_map(|step| step["calls"].as_array_mut().unwrap());
    for call in calls.filter_map(Value::as_object_mut) {
        call.remove("result");
        call.remove("is_error");
    }
    trajectory
}

fn figures_of(scored: &BTreeMap<String, Scored>, metrics: &[&'static str], setting: Setting) -> Figures {
    let area = |metric: &'static str| {
        let values = |is_right: bool| -> Vec<Option<f64>> {
            let of_label = scored.values().filter(|one| one.is_right == is_right);
            of_label.map(|one| one.metrics[metric].as_f64()).collect()
        };
        (metric, area(&values(true), &values(false)))
    };
    let share = |is_right: bool| {
        let of_label: Vec<&Scored> = scored.values().filter(|one| one.is_right == is_right).collect();
        let passing = of_label.iter().filter(|one| one.passes).count();
        (!of_label.is_empty()).then(|| passing as f64 / of_label.len() as f64)
    };
    let mut kinds: BTreeMap<String, [(usize, usize); 2]> = BTreeMap::new();
    for (id, one) in scored {
        let (count, passing) =
            &mut kinds.entry(Set::kind(id).to_owned()).or_default()[usize::from(!one.is_right)];
        *count += 1;
        *passing += usize::from(one.passes);
    }
    Figures {
        setting,
        areas: metrics.iter().copied().map(area).collect(),
        right_that_pass: share(true),
        wrong_that_pass: share(false),
        kinds,
    }
}

/// The chance that a right one has more than a wrong one, ties counted as half: the area under the ROC curve. One
/// without a value has the least. `None` if all are without, or all are of one label.
pub(crate) fn area(right: &[Option<f64>], wrong: &[Option<f64>]) -> Option<f64> {
    if right.iter().chain(wrong).all(Option::is_none) {
        return None;
    }
    let value = |value: &Option<f64>| value.unwrap_or(f64::NEG_INFINITY);
    let mut wins = 0.0;
    for first in right.iter().map(value) {
        for second in wrong.iter().map(value) {
            wins += match first.total_cmp(&second) {
                Ordering::Greater => 1.0,
                Ordering::Equal => 0.5,
                Ordering::Less => 0.0,
            };
        }
    }
    let pairs = right.len() * wrong.len();
    (pairs > 0).then(|| wins / pairs as f64)
}

/// All figures as a table in Markdown; with what passes of each kind if asked for.
pub(crate) fn table(set: &Set, all: &[Figures], by_kind: bool) -> String {
    let right = set.labels.values().filter(|label| **label).count();
    let mut text = format!(
        "{} workflows, {} variants of {} kinds: {right} right, {} wrong\n\n",
        set.references.len(),
        set.variants.len(),
        all.first().map_or(0, |figures| figures.kinds.len()),
        set.variants.len() - right
    );
    let metrics: Vec<&str> =
        all.iter().take(1).flat_map(|one| &one.areas).map(|(metric, _)| *metric).collect();
    let _ = writeln!(text, "| setting | {} | right that pass | wrong that pass |", metrics.join(" | "));
    let _ = writeln!(text, "| --- |{}", " --- |".repeat(metrics.len() + 2));
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.3}"));
    for figures in all {
        let areas: Vec<String> = figures.areas.iter().map(|(_, area)| shown(*area)).collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} |",
            figures.setting.name,
            areas.join(" | "),
            shown(figures.right_that_pass),
            shown(figures.wrong_that_pass)
        );
    }
    if by_kind {
        for figures in all {
            let _ = writeln!(
                text,
                "\n{}, by kind: those that pass of the right and of the wrong\n",
                figures.setting.name
            );
            for (kind, [right, wrong]) in &figures.kinds {
                let _ = writeln!(
                    text,
                    "{kind:24} {:3} of {:3}   {:3} of {:3}",
                    right.1, right.0, wrong.1, wrong.0
                );
            }
        }
    }
    text
}
