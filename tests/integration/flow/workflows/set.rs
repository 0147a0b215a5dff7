//! A set of references and variants, run and labelled, as files that `m3 score` reads.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::changes::variants;
use super::execution::{Execution, Run, Workers};
use super::families::plans;
use super::label::label;
use super::plan::Plan;

/// How often a reference is made anew.
const MOST_ATTEMPTS: u64 = 6;

/// Variants that are run before they are labelled.
const AT_ONCE: usize = 500;

/// What a set is made of.
#[derive(Debug)]
pub(crate) struct SetOptions {
    /// Decides everything.
    pub(crate) seed: u64,
    /// The number of references.
    pub(crate) workflows: usize,
    /// The most variants of a workflow that reads codes, which takes half a second for each picture.
    pub(crate) most_with_codes: usize,
    /// Whether servers of other authors are had.
    pub(crate) has_others: bool,
    /// How it is run.
    pub(crate) execution: Execution,
}

/// A set that was run.
#[derive(Debug)]
pub(crate) struct Set {
    /// Trajectories by tasks, with results.
    pub(crate) references: Vec<Value>,
    /// Trajectories whose ids are `TASK~KIND`, with results.
    pub(crate) variants: Vec<Value>,
    /// Whether each variant leaves behind what its reference does.
    pub(crate) labels: BTreeMap<String, bool>,
}

impl Set {
    /// Makes a set.
    ///
    /// # Errors
    /// Which server is not ready, and why.
    pub(crate) async fn make(options: &SetOptions) -> Result<Self, String> {
        let mut workers = Workers::start(&options.execution, options.has_others).await?;
        let (references, runs) = references(options, &mut workers).await;
        let changed: Vec<(usize, &'static str, Plan)> = references
            .iter()
            .enumerate()
            .flat_map(|(number, plan)| {
                variants(plan, options.seed, number, options.most_with_codes)
                    .into_iter()
                    .map(move |(kind, plan)| (number, kind, plan))
            })
            .collect();
        let id = |number: usize| format!("w{number:03}");
        let mut set = Self { references: Vec::new(), variants: Vec::new(), labels: BTreeMap::new() };
        for (number, (plan, run)) in references.iter().zip(&runs).enumerate() {
            set.references.push(trajectory(&id(number), plan, run));
        }
        // What runs leave behind is large, and needed for their labels only.
        for some in changed.chunks(AT_ONCE) {
            let plans = some.iter().map(|(_, _, plan)| plan.clone()).collect();
            for ((number, kind, _), run) in some.iter().zip(workers.run(plans, &options.execution).await) {
                let (number, plan) = (*number, &references[*number]);
                let id = format!("{}~{kind}", id(number));
                set.variants.push(trajectory(&id, plan, &run));
                set.labels.insert(id, label(plan, &runs[number].remains, &run.remains));
            }
        }
        workers.end().await;
        Ok(set)
    }

    /// The task of a variant.
    pub(crate) fn task(id: &str) -> &str {
        id.split('~').next().unwrap_or_default()
    }

    /// The kind of a variant.
    pub(crate) fn kind(id: &str) -> &str {
        id.split_once('~').map_or("", |(_, kind)| kind)
    }

    /// Writes `references.json.gz`, `variants.json.gz` and `labels.json`.
    pub(crate) fn write(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        write_trajectories(&folder.join("references.json.gz"), self.references.iter());
        write_trajectories(&folder.join("variants.json.gz"), self.variants.iter());
        let labels: BTreeMap<&String, u8> =
            self.labels.iter().map(|(id, label)| (id, u8::from(*label))).collect();
        std::fs::write(folder.join("labels.json"), json!(labels).to_string()).unwrap();
    }

    /// The reference of each variant, under the variant's id.
    pub(crate) fn references_of_variants(&self) -> impl Iterator<Item = Value> {
        self.labels.keys().filter_map(|id| {
            let task = Self::task(id);
            let mut reference = self.references.iter().find(|reference| reference["id"] == task)?.clone();
            reference["id"] = json!(id);
            Some(reference)
        })
    }
}

/// The references, and what became of them. Those with an edit that nobody would see are made anew.
async fn references(options: &SetOptions, workers: &mut Workers) -> (Vec<Plan>, Vec<Run>) {
    let watching = Execution { watches: true, ..options.execution.clone() };
    let mut done: BTreeMap<usize, (Plan, Run)> = BTreeMap::new();
    for attempt in 0..=MOST_ATTEMPTS {
        let made = plans(options.seed, options.workflows, attempt, options.has_others);
        let open: Vec<(usize, Plan)> =
            made.into_iter().enumerate().filter(|(number, _)| !done.contains_key(number)).collect();
        let runs = workers.run(open.iter().map(|(_, plan)| plan.clone()).collect(), &watching).await;
        let tried = open.into_iter().zip(runs);
        let fit = tried.filter(|(_, run)| attempt == MOST_ATTEMPTS || !run.remains.has_idle_edit);
        done.extend(fit.map(|((number, plan), run)| (number, (plan, run))));
        if done.len() == options.workflows {
            break;
        }
    }
    done.into_values().unzip()
}

fn trajectory(id: &str, plan: &Plan, run: &Run) -> Value {
    json!({
        "id": id,
        "image": plan.image,
        "type": plan.family,
        "question": plan.question,
        "steps": run.steps,
        "final_reply": "Done.",
    })
}

/// Writes trajectories as a list, with gzip where the file's name ends so.
pub(super) fn write_trajectories<T: std::borrow::Borrow<Value>>(
    path: &Path,
    trajectories: impl Iterator<Item = T>,
) {
    let file = std::io::BufWriter::new(File::create(path).unwrap());
    let is_packed = path.extension().is_some_and(|extension| extension == "gz");
    let mut out: Box<dyn std::io::Write> =
        if is_packed { Box::new(GzEncoder::new(file, Compression::default())) } else { Box::new(file) };
    let mut separator = "[\n";
    for trajectory in trajectories {
        write!(out, "{separator}{}", trajectory.borrow()).unwrap();
        separator = ",\n";
    }
    out.write_all(b"\n]\n").unwrap();
}
