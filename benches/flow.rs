//! How well scores tell workflows apart by what they make: `cargo bench --bench flow`. Makes, runs and labels a set of
//! workflows and variants of them (`tests/integration/flow/workflows`), scores it, and prints the lines of
//! benches/RESULTS.md.
//!
//! ```sh
//! cargo bench --bench flow -- --seed 1 --workflows 200 [--out FOLDER] [--by-kind]
//! ```
//!
//! `--out` keeps the set: `references.json.gz`, `variants.json.gz` and `labels.json`. Two of the servers come from npm.

#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a benchmark prints, and stops at a surprise"
)]

#[path = "../tests/integration/flow/workflows/mod.rs"]
mod workflows;

use std::path::{Path, PathBuf};
use std::process::Command;

use workflows::changes::{COUNT, OTHER_CALLS};
use workflows::execution::Execution;
use workflows::figures::{Setting, figures, table};
use workflows::set::{Set, SetOptions};

const METRICS: [&str; 4] =
    ["average", "argument_fidelity", "argument_fidelity_covered", "artifact_agreement"];
const SETTINGS: [Setting; 4] = [
    Setting { name: "without results", options: &[], has_results: false, leaves_out: &[] },
    Setting {
        name: "without results, the same calls",
        options: &[],
        has_results: false,
        leaves_out: &OTHER_CALLS,
    },
    Setting { name: "with results", options: &[], has_results: true, leaves_out: &[] },
    Setting {
        name: "with results, the same calls",
        options: &[],
        has_results: true,
        leaves_out: &OTHER_CALLS,
    },
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)
    };
    let number = |name: &str, default: u64| option(name).map_or(default, |value| value.parse().unwrap());
    let m3 = PathBuf::from(env!("CARGO_BIN_EXE_m3"));
    let options = SetOptions {
        seed: number("--seed", 1),
        workflows: usize::try_from(number("--workflows", 200)).unwrap(),
        most_with_codes: 16,
        has_others: true,
        execution: Execution {
            workers: std::thread::available_parallelism().map_or(2, usize::from),
            m3: m3.clone(),
            images: Path::new(env!("CARGO_MANIFEST_DIR")).join("images"),
            watches: false,
        },
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let set = runtime.block_on(Set::make(&options)).unwrap_or_else(|reason| panic!("{reason}"));
    let folder = tempfile::tempdir().unwrap();
    if let Some(out) = option("--out") {
        set.write(Path::new(out));
    }
    let all = figures(&set, &METRICS, &SETTINGS, folder.path(), &|| Command::new(&m3));
    println!("seed {}, {COUNT} kinds of change\n", options.seed);
    println!("{}", table(&set, &all, arguments.iter().any(|argument| argument == "--by-kind")));
}
