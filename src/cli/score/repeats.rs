//! Repetitions of the same tasks: their files, and the criterion for passing.

use std::path::{Path, PathBuf};

use clap::Args;
use m3_score::{PassCriterion, PassMetric};
use m3_support::text::counted;

use crate::cli::common::failure::{Failure, code};
use crate::cli::common::output::place_of;
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::ScoringArgs;

/// Options of further predictions, and of the criterion for passing.
#[derive(Debug, Args)]
pub(crate) struct RepeatArgs {
    /// Further predictions of the same tasks, such as predictions-2.json of `m3 run --repeat`; repeatable. All those in
    /// a run's folder are taken where the folder is given for PREDICTIONS
    #[arg(long, value_name = "FILE")]
    repeat: Vec<PathBuf>,
    // The help is not a doc comment, because backticks around the default would be printed.
    #[arg(
        long,
        value_name = "METRIC=VALUE",
        help = "Least value of a metric with which a trajectory passes, for pass@k and pass^k; repeatable \
            [default: lowest_argument_fidelity=0.5]",
        value_parser = |text: &str| parse_least(text, PassMetric::from_name, PassMetric::names())
    )]
    pass: Vec<(PassMetric, f64)>,
}

impl RepeatArgs {
    /// The files of all repetitions after the first.
    pub(crate) fn files(&self, scoring: &ScoringArgs) -> Vec<PathBuf> {
        let of_folder = scoring.predictions().further().into_iter();
        of_folder.chain(self.repeat.iter().cloned()).collect()
    }

    /// Whether trials are counted: there are repetitions, or a criterion for passing is given.
    pub(crate) fn counts_trials(&self, files: &[PathBuf]) -> bool {
        !(files.is_empty() && self.pass.is_empty())
    }

    /// The criterion for passing. If a metric is named twice, the last value counts.
    pub(crate) fn criterion(&self) -> PassCriterion {
        if self.pass.is_empty() {
            return PassCriterion::default();
        }
        PassCriterion { least: self.pass.iter().copied().collect() }
    }

    /// Reports how many repetitions a folder has; refuses files that are given twice.
    pub(crate) fn check(
        &self,
        files: &[PathBuf],
        scoring: &ScoringArgs,
        printer: Printer,
    ) -> Result<(), Failure> {
        let of_folder = files.len() - self.repeat.len();
        if of_folder > 0 {
            printer.note(&format!("the folder has {}, all are scored", counted(of_folder + 1, "repetition")));
        }
        refuse_same(files, scoring)
    }
}

/// Refuses repeated files: one file used for two repetitions would look like a model that always does the same.
fn refuse_same(files: &[PathBuf], scoring: &ScoringArgs) -> Result<(), Failure> {
    let mut known = vec![place_of(scoring.predictions().as_path())];
    // The references may also be used as predictions, but standard input can be read only once.
    known.extend((scoring.references() == Path::new("-")).then(|| place_of(Path::new("-"))));
    for file in files {
        let place = place_of(file);
        if known.contains(&place) {
            let message = format!(
                "`{}` is given twice\nhint: each `--repeat` should be the predictions of another run",
                file.display()
            );
            return Err(Failure::new(code::INPUT, message));
        }
        known.push(place);
    }
    Ok(())
}

/// Reads `METRIC=VALUE`: a name that `find` knows, of these `names`, and a value in [0, 1].
pub(crate) fn parse_least<T>(
    text: &str,
    find: impl Fn(&str) -> Option<T>,
    names: impl Iterator<Item = &'static str>,
) -> Result<(T, f64), String> {
    let (name, value) = text.split_once('=').ok_or("it should be METRIC=VALUE, such as recall=0.8")?;
    let metric = find(name).ok_or_else(|| {
        format!("`{name}` is no metric; these are: {}", names.collect::<Vec<_>>().join(", "))
    })?;
    match value.parse() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok((metric, value)),
        _ => Err(format!("`{value}` should be a number between 0 and 1")),
    }
}
