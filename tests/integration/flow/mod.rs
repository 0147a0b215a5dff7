//! Workflows that are told apart by what they make: references and variants of them, run on real servers and labelled by
//! what they leave behind, scored with and without the results of their calls. `benches/flow.rs` does it with more.

mod artifacts;
mod bad_input;
mod by_hand;
mod names;
mod properties;
mod results;
mod small_benchmark;
mod workflows;

use std::collections::BTreeSet;
use std::path::Path;

use m3_testkit::packages::has;

use self::workflows::changes::{COUNT, OTHER_CALLS};
use self::workflows::execution::Execution;
use self::workflows::figures::{Figures, Setting, figures, table};
use self::workflows::set::{Set, SetOptions};
use crate::support::{Folder, encoder, json_of, m3_bare, m3_process, root, skipped, stdout};

/// What the metrics of flow have to reach in a setting, a little below what they do.
struct Goal {
    setting: Setting,
    /// The least area under the curve of each metric.
    areas: &'static [(&'static str, f64)],
    /// The least share of the right variants that pass.
    right_that_pass: f64,
    /// The largest share of the wrong variants that pass.
    wrong_that_pass: f64,
}

const GOALS: [Goal; 3] = [
    Goal {
        setting: Setting { name: "without results", options: &[], has_results: false, leaves_out: &[] },
        areas: &[("argument_fidelity_covered", 0.92)],
        right_that_pass: 0.89,
        wrong_that_pass: 0.05,
    },
    Goal {
        setting: Setting {
            name: "without results, the same calls",
            options: &[],
            has_results: false,
            leaves_out: &OTHER_CALLS,
        },
        areas: &[("argument_fidelity_covered", 0.98)],
        right_that_pass: 0.97,
        wrong_that_pass: 0.05,
    },
    Goal {
        setting: Setting { name: "with results", options: &[], has_results: true, leaves_out: &[] },
        areas: &[("argument_fidelity_covered", 0.98), ("artifact_agreement", 0.8)],
        right_that_pass: 0.97,
        wrong_that_pass: 0.03,
    },
];

/// Half of the families, and all servers, for the seed of the test.
const WORKFLOWS: usize = 12;

/// A set, and whether servers of other authors are part of it.
fn set(seed: u64) -> (Set, bool) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let has_npx = has("npx");
    assert!(has_npx || std::env::var_os("CI").is_none(), "npx is needed in CI");
    let mut options = SetOptions {
        seed,
        workflows: WORKFLOWS,
        most_with_codes: 6,
        has_others: has_npx,
        execution: Execution {
            workers: 2,
            m3: assert_cmd::cargo::cargo_bin("m3"),
            images: root().join("images"),
            watches: false,
        },
    };
    match runtime.block_on(Set::make(&options)) {
        Ok(set) => (set, options.has_others),
        Err(reason) if options.has_others && std::env::var_os("CI").is_none() => {
            skipped::<()>(&format!("servers from npm cannot be had: {reason}"));
            options.has_others = false;
            (runtime.block_on(Set::make(&options)).unwrap(), false)
        }
        Err(reason) => panic!("{reason}"),
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "`--nocapture` shows the figures")]
fn variants_are_told_apart_by_what_they_make() {
    let (set, has_others) = set(1);
    follows_from_how_it_is_made(&set, has_others);
    let folder = Folder::new();
    is_written_as_files(&set, &folder);
    let Some(assets) = encoder() else { return };
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    let command = || m3_process(&cache, assets);
    for goal in GOALS {
        let metrics: Vec<&'static str> = goal.areas.iter().map(|(metric, _)| *metric).collect();
        let all = figures(&set, &metrics, &[goal.setting], folder.path(), &command);
        let shown = table(&set, &all, false);
        println!("{shown}");
        assert!(all.iter().all(|figures| goal.is_reached(figures)), "{shown}");
    }
}

impl Goal {
    fn is_reached(&self, figures: &Figures) -> bool {
        let reached = |(found, least): (&(&str, Option<f64>), &(&str, f64))| {
            found.1.is_some_and(|area| area >= least.1)
        };
        figures.areas.iter().zip(self.areas).all(reached)
            && figures.right_that_pass.is_some_and(|share| share >= self.right_that_pass)
            && figures.wrong_that_pass.is_some_and(|share| share <= self.wrong_that_pass)
    }
}

/// What holds of every set.
fn follows_from_how_it_is_made(set: &Set, has_others: bool) {
    assert_eq!(set.references.len(), WORKFLOWS);
    assert_eq!(set.variants.len(), set.labels.len());
    let kinds: BTreeSet<&str> = set.labels.keys().map(|id| Set::kind(id)).collect();
    assert!(kinds.len() >= 20 && kinds.len() <= COUNT, "{kinds:?}");
    let right = set.labels.values().filter(|label| **label).count();
    assert!(
        right * 4 > set.labels.len() && right * 4 < set.labels.len() * 3,
        "{right} of {}",
        set.labels.len()
    );
    let tools: BTreeSet<&str> = set.references.iter().flat_map(tools).collect();
    let servers: BTreeSet<&str> = tools.iter().filter_map(|tool| tool.split('/').next()).collect();
    let ours = BTreeSet::from(["barcode", "image", "math"]);
    let expected = if has_others { &ours | &BTreeSet::from(["files", "memory"]) } else { ours };
    assert_eq!(servers, expected);
    // A reference does what its question asks for.
    for reference in &set.references {
        assert!(!reference.to_string().contains("is_error"), "{reference}");
    }
    for variant in &set.variants {
        let id = variant["id"].as_str().unwrap();
        assert!(set.references.iter().any(|reference| reference["id"] == Set::task(id)), "{id}");
    }
}

fn is_written_as_files(set: &Set, folder: &Folder) {
    set.write(folder.path());
    for name in ["references.json.gz", "variants.json.gz"] {
        stdout(m3_bare(folder.path()).arg("validate").arg(folder.path().join(name)));
    }
    let labels = json_of(folder.path().join("labels.json"));
    let is_kept = |(id, label): (&String, &bool)| labels[id] == u8::from(*label);
    assert!(set.labels.iter().all(is_kept), "{labels}");
}

/// The tools that a trajectory calls.
fn tools(trajectory: &serde_json::Value) -> impl Iterator<Item = &str> {
    let steps = trajectory["steps"].as_array().unwrap().iter();
    steps.flat_map(|step| step["calls"].as_array().unwrap()).filter_map(|call| call["name"].as_str())
}
