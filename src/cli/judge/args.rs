//! The options of `m3 judge`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use m3_judge::reference::is_as_written;
use m3_judge::review::{preferences_path, store_path};
use m3_support::files::is_plain;
use m3_support::text::visible;

use crate::cli::common::{EncoderArgs, Failure, ReplyArgs, Result, refuse_equal};

/// Options of `m3 judge`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("decided_by").args(["llm", "rules_only"]).required(true)))]
pub(crate) struct JudgeArgs {
    /// Predictions with their results: files, folders that `m3 run` has written, or traces of other programs
    /// (docs/import.md) and folders of them
    #[arg(required = true, value_name = "PRED")]
    pub(super) predictions: Vec<PathBuf>,
    /// The judge, such as openai:gpt-5, or replay:FILE to replay a cassette
    #[arg(long, value_name = "MODEL")]
    pub(super) llm: Option<String>,
    /// Ask no model: take every run that ended with an answer, and do what rules can
    #[arg(long)]
    pub(super) rules_only: bool,
    /// File of the references; runs that give no reference go to REF.rejected.json
    #[arg(short, long, value_name = "REF")]
    pub(super) out: PathBuf,
    /// Replace REF even if people have changed or reviewed it
    #[arg(long)]
    pub(super) overwrite: bool,
    /// Replay every reference against these MCP servers, and keep it only if every call succeeds
    #[arg(long, value_name = "CONFIG")]
    pub(super) verify: Option<PathBuf>,
    /// Leave out what calls returned, for a smaller file [default: kept, with pictures in the folder `results` beside REF]
    #[arg(long)]
    pub(super) without_results: bool,
    /// Folder that the images of tasks are in [default: those of the predictions, and the ones above]
    #[arg(long, value_name = "DIR")]
    pub(super) images: Option<PathBuf>,
    /// Catalog of the tools that were offered, for calls whose outcome is not recorded
    #[arg(long, value_name = "CATALOG")]
    pub(super) tools: Option<PathBuf>,
    /// Only the task with this id; repeatable
    #[arg(long, value_name = "ID")]
    pub(super) id: Vec<String>,
    /// Tasks at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) workers: u16,
    /// Keep every request to the judge and its reply in a cassette
    #[arg(long, value_name = "FILE", requires = "llm")]
    pub(super) record: Option<PathBuf>,
    /// Variable that holds the judge's key [default: the provider's own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "VARIABLE", requires = "llm")]
    pub(super) llm_key_from: Option<String>,
    #[command(flatten)]
    pub(super) replies: ReplyArgs,
    #[command(flatten)]
    pub(super) encoder: EncoderArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 judge out --llm openai:gpt-5 --images images -o references.json
  m3 judge a/predictions.json b/predictions.json --llm gemini:gemini-2.5-pro \\
      --images images --verify servers/local.json -o references.json
  m3 judge out --rules-only -o references.json
  m3 judge out --llm openai:gpt-5 --images images -o r.json --record j.tape
  m3 judge out --llm replay:j.tape --images images -o again.json

The judge says of each run whether it succeeded, and proposes the trajectory without failed and needless calls; rules \
decide whether every call of it was made and nothing comes before what it depends on. Of several runs of a task the \
shortest is taken. docs/judge.md explains what is written.

The same command again continues where it stopped: REF.journal.jsonl has what was answered, and nothing in it is \
asked twice. What it has written is replaced, unless somebody has changed or reviewed it: that takes --overwrite.

Exits with 3 if some runs are undecided, with 4 if the judge cannot be asked, with 130 if it was interrupted: Ctrl-C \
once waits for the replies that are under way and saves them, twice stops at once.";

/// The files that the command writes.
pub(super) struct Targets {
    pub(super) references: PathBuf,
    pub(super) rejected: PathBuf,
    pub(super) journal: PathBuf,
}

impl Targets {
    /// The file that the user names, and the files beside it.
    pub(super) fn of(path: &Path) -> Result<Self> {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Some(name) = name.filter(|name| name != "-" && is_plain(path)) else {
            return Err(Failure::input(format!(
                "`{}` is no plain file, and others are written beside it\nhint: name the file of the references with `-o`",
                path.display()
            )));
        };
        let stem = name.strip_suffix(".json").filter(|stem| !stem.is_empty()).unwrap_or(&name);
        let beside = |ending: &str| path.with_file_name(format!("{stem}{ending}"));
        Ok(Self {
            references: path.to_owned(),
            rejected: beside(".rejected.json"),
            journal: beside(".journal.jsonl"),
        })
    }

    /// Refuses to write to files that are read, and to write two results to one file.
    pub(super) fn check_apart(&self, read: &[&Path], record: Option<&Path>) -> Result {
        let mut kept = read.to_vec();
        kept.push(&self.journal);
        refuse_equal(&kept, &[&self.references, &self.rejected])?;
        kept.extend([self.references.as_path(), &self.rejected]);
        refuse_equal(&kept, record.as_slice())
    }

    /// Refuses to replace files that people have reviewed or changed, or that this command has not written.
    pub(super) fn check_replaced(&self, overwrite: bool) -> Result {
        // A pipe or a device has nothing to lose, and reading it could take for ever.
        let existing = [&self.references, &self.rejected].into_iter().filter(|path| path.is_file());
        for path in existing.filter(|_| !overwrite) {
            let name = |path: &Path| visible(&path.display().to_string(), false).into_owned();
            let reviewed = [store_path(path), preferences_path(path)].into_iter().find(|path| path.exists());
            let why = match reviewed {
                Some(decisions) => format!("was reviewed, and `{}` has the decisions", name(&decisions)),
                None if is_as_written(path) => continue,
                None => "was not written by `m3 judge`, or somebody has changed it since".to_owned(),
            };
            return Err(Failure::input(format!(
                "`{}` {why}\nhint: name another file with `-o`, or `--overwrite` replaces it",
                name(path)
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_beside_the_references_has_their_name() {
        let names = |path: &str| {
            let targets = Targets::of(Path::new(path)).unwrap();
            [targets.references, targets.rejected, targets.journal]
                .map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(names("a/r.json"), ["a/r.json", "a/r.rejected.json", "a/r.journal.jsonl"]);
        assert_eq!(names("r"), ["r", "r.rejected.json", "r.journal.jsonl"]);
        for path in ["", "-", ".", "/"] {
            assert!(Targets::of(Path::new(path)).is_err(), "{path}");
        }
    }
}
