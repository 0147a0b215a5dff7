//! The command `m3 grade`: lets several language models grade predictions.

mod inputs;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use inputs::Sources;
use inputs::open_panel;
use m3_judge::grade::{
    AnswerStore, CollectedGrades, GradeReport, Listeners, Panel, PanelAnswers, PeopleLabels, Rubric,
};
use m3_llm::Retry;
use m3_support::files::is_plain;
use m3_support::text::counted;
use m3_trajectory::TrajectoryFile;
use m3_trajectory::json::Keys;

use crate::cli::common::{
    ByArg, Failure, Output, PredictionsArg, Printer, ReplyArgs, Result, Signals, TablesArgs, code, input,
    interrupted, refuse_equal, runtime, said_of_retry,
};
use crate::report::grade_sheets;

/// Options of `m3 grade`. `-o` is still the old name of `--graded` (`cli/old_options.rs`).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, mut_arg("out", |arg| arg.short(None)))]
pub(super) struct GradeArgs {
    /// Predicted trajectories: JSON, JSON Lines, either in gzip or zstd; the folder of a run; a trace of another program
    /// (docs/import.md), or a folder of traces
    predictions: PredictionsArg,
    /// Reference trajectories; without them, measures that need a reference are not graded
    references: Option<PathBuf>,
    /// The judges, such as openai:gpt-5,anthropic:claude-opus-4-1 or replay:FILE (docs/models.md)
    #[arg(long, value_name = "MODEL", value_delimiter = ',', required = true)]
    llm: Vec<String>,
    /// What judges are asked
    #[arg(long, value_enum, default_value_t = RUBRICS[0])]
    rubric: RubricArg,
    #[arg(long, value_name = "N", help = repeat_help(), value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: Option<u32>,
    /// Seed of the orders in which a rubric asks for its respects, if it changes them
    #[arg(long, value_name = "N", default_value_t = 0)]
    order_seed: u64,
    /// Folder that the images are in [default: those of the references and the predictions, and the ones above]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Judges, as named by --llm, that are shown no images
    #[arg(long, value_name = "MODEL", value_delimiter = ',')]
    no_images_for: Vec<String>,
    /// Show images to no judge
    #[arg(long)]
    no_images: bool,
    /// Variable that holds a judge's key, by the judge's name; repeatable [default: the provider's own]
    #[arg(long, value_name = "MODEL=VARIABLE", value_parser = parse_key)]
    llm_key_from: Vec<(String, String)>,
    #[command(flatten)]
    replies: ReplyArgs,
    /// Catalog of the tools that predictions could call, shown to judges where the rubric asks for it
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Requests at once
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    /// Write the predictions with their grades
    #[arg(long, value_name = "FILE")]
    graded: Option<PathBuf>,
    /// Where answers are kept, so that none is asked for twice [default: beside --graded, or beside the predictions,
    /// with the ending .answers.jsonl]
    #[arg(long, value_name = "FILE")]
    answers: Option<PathBuf>,
    /// Keep the questions to judges and their replies in this folder, a cassette for each; --llm replay:FILE plays one
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// People's labels of the same tasks, JSON or CSV: id, pass or score, and where known person and measure
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Scores of at least this pass, where passes and failures are compared
    #[arg(long, value_name = "S", default_value_t = 0.5, value_parser = parse_mark)]
    pass_mark: f64,
    /// Add a table of types of task
    #[arg(long)]
    by_type: bool,
    /// What tasks are grouped by: their type, or the shape of their reference
    #[arg(long, value_enum, default_value_t = ByArg::Type, requires = "references")]
    by: ByArg,
    #[command(flatten)]
    tables: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 grade predictions.json references.json --graded graded.json \\
      --llm openai:gpt-5,anthropic:claude-opus-4-1,gemini:gemini-2.5-pro,openai:gpt-4.1
  m3 grade predictions.json references.json --llm openai:o3-mini \\
      --rubric mcp-eval --by-type
  m3 grade predictions.json --llm openai:o4-mini --rubric mcp-bench
  m3 grade predictions.json references.json --llm openai:gpt-5 \\
      --labels people.csv --out grades.json

docs/grade.md explains rubrics, answers that are missing, and agreement.";

/// A rubric as the value of `--rubric`.
#[derive(Debug, Clone, Copy)]
struct RubricArg(Rubric);

/// All rubrics, the default first.
static RUBRICS: LazyLock<Vec<RubricArg>> = LazyLock::new(|| Rubric::all().map(RubricArg).collect());

impl ValueEnum for RubricArg {
    fn value_variants<'a>() -> &'a [Self] {
        &RUBRICS
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.meaning()))
    }
}

/// The help of `--repeat`, with the rubrics that ask more than once.
fn repeat_help() -> String {
    let several = Rubric::all().filter(|rubric| rubric.passes() > 1);
    let several = several.map(|rubric| format!("; {} with {}", rubric.passes(), rubric.name()));
    format!("How often each judge is asked the same [default: 1{}]", several.collect::<String>())
}

fn parse_key(text: &str) -> Result<(String, String), String> {
    // Addresses in names of models may contain `=`, names of variables cannot.
    let (model, variable) = text.rsplit_once('=').ok_or("it should be MODEL=VARIABLE")?;
    Ok((model.to_owned(), variable.to_owned()))
}

fn parse_mark(text: &str) -> Result<f64, String> {
    let mark = text.parse().ok().filter(|mark| (0.0..=1.0).contains(mark));
    mark.ok_or_else(|| format!("`{text}` should be a number between 0 and 1"))
}

/// Lets a panel grade predictions.
pub(super) fn run(args: &GradeArgs, printer: Printer) -> Result {
    let labels = args.labels.as_deref().map(PeopleLabels::read).transpose().map_err(Failure::input)?;
    let rubric = args.rubric.0;
    if args.references.is_none() && rubric.needs_references() {
        return Err(Failure::input(format!(
            "the rubric {} compares with references\nhint: name their file after the predictions",
            rubric.name()
        )));
    }
    let predictions = input::open_predicted(args.predictions.only_path(printer), printer)?;
    let mut references =
        args.references.as_deref().map(|path| input::open_predicted(path, printer)).transpose()?;
    if let Some(references) = &mut references {
        args.by.apply_to(references);
    }
    let (inputs, answers) = (args.inputs(), args.answers_path());
    let graded_to = args.open_output(&inputs, answers.as_deref(), printer)?;
    let kept: Vec<&Path> =
        inputs.iter().copied().chain(answers.as_deref()).chain(args.graded.as_deref()).collect();
    let mut report_to = args.tables.form.open(&kept, printer)?;
    let sources = Sources::open(args, &predictions, references.as_ref(), printer)?;
    let store = match &answers {
        Some(path) => AnswerStore::open(path)?,
        None => AnswerStore::in_memory(),
    };
    let (panel, recorders) = open_panel(args, printer)?;
    let asked = ask(&panel, &sources, &store, printer)?;
    for recorder in &recorders {
        if let Some(error) = recorder.failure() {
            return Err(Failure::unavailable(error));
        }
    }
    say(&asked, &panel, printer);
    if asked.is_interrupted {
        printer.note("what was answered is kept; the same command goes on from there");
        return Err(interrupted());
    }
    let collected = CollectedGrades::new(&panel, &sources.tasks, &asked.answers);
    if let Some(output) = graded_to {
        write_graded(output, &predictions, &collected)?;
    }
    let report = collected.report(args.pass_mark, &args.tables.draws.draws(), labels.as_ref());
    args.tables.form.write(&report, || grade_sheets(&report, args.by_type), &mut report_to, printer)?;
    report_to.commit()?;
    check_complete(&asked, &report)
}

impl GradeArgs {
    fn inputs(&self) -> Vec<&Path> {
        let files = [&self.references, &self.labels, &self.tools].map(Option::as_ref);
        let files = files.into_iter().flatten().map(PathBuf::as_path);
        [self.predictions.as_path()].into_iter().chain(files).collect()
    }

    /// Opens the output for the graded predictions. Before anything is asked, refuses to overwrite files that are
    /// read or kept.
    fn open_output(
        &self,
        inputs: &[&Path],
        answers: Option<&Path>,
        printer: Printer,
    ) -> Result<Option<Output>> {
        refuse_equal(inputs, answers.as_slice())?;
        if self.graded.as_deref() == Some(Path::new("-")) && self.tables.form.is_to_standard_output() {
            return Err(Failure::input(
                "the predictions and the report would be one text on standard output\nhint: name a file for \
                           one of them, with `--graded` or `--out`",
            ));
        }
        let kept: Vec<&Path> = inputs.iter().copied().chain(answers).collect();
        self.graded.as_deref().map(|path| Output::open(Some(path), &kept, printer)).transpose()
    }

    /// The file of kept answers; `None` for predictions from standard input, unless the user names one.
    fn answers_path(&self) -> Option<PathBuf> {
        let beside = |path: &Path| {
            let mut name: OsString = path.as_os_str().to_owned();
            name.push(".answers.jsonl");
            PathBuf::from(name)
        };
        self.answers.clone().or_else(|| {
            let graded = self.graded.as_deref().filter(|path| is_plain(path));
            let path = graded.unwrap_or(self.predictions.as_path());
            (path != Path::new("-")).then(|| beside(path))
        })
    }
}

fn ask(panel: &Panel, sources: &Sources<'_>, store: &AnswerStore, printer: Printer) -> Result<PanelAnswers> {
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    let total = panel.requests(sources.tasks.subjects.len()) as u64;
    let bar = printer.bar();
    let done = |done: usize| bar.set("grading", done as u64, total);
    let retry = |judge: &str, retry: Retry| bar.aside(|| printer.note(&said_of_retry(judge, &retry)));
    let mut unreadable = None;
    let subjects = (0..sources.tasks.subjects.len())
        .map_while(|index| sources.subject(index).map_err(|error| unreadable = Some(error)).ok());
    let listeners = Listeners { done: &done, retry: &retry };
    let asking = async { Ok(panel.ask(subjects, store, &signals.first, &listeners).await) };
    let asked = runtime.block_on(signals.until_second(asking));
    // The command does not wait for requests that a provider has not answered yet.
    runtime.shutdown_timeout(Duration::from_secs(1));
    let asked = asked?;
    match unreadable {
        Some(error) => Err(error.into()),
        None => Ok(asked?),
    }
}

fn say(asked: &PanelAnswers, panel: &Panel, printer: Printer) {
    let tokens = match asked.usage.total() {
        0 => String::new(),
        tokens => format!(", {tokens} tokens{}", asked.usage.partial_mark()),
    };
    printer.note(&format!(
        "{} of {}, {} known before{tokens}",
        counted(asked.requests, "reply"),
        counted(panel.graders.len(), "judge"),
        counted(asked.reused, "answer")
    ));
}

/// Writes the predictions with `grades`, replacing earlier ones by the same rubric; those by other rubrics go to
/// `other_grades`.
fn write_graded(mut output: Output, predictions: &TrajectoryFile, collected: &CollectedGrades<'_>) -> Result {
    output.write_list((0..predictions.len()).map(|index| {
        let mut trajectory = predictions.read(index)?;
        collected.grades(index).record(&mut trajectory);
        Ok(trajectory.into_json().to_text(Keys::AsRead))
    }))?;
    output.commit()
}

/// Fails if grades are missing, or if no judge could be asked.
fn check_complete(asked: &PanelAnswers, report: &GradeReport) -> Result {
    if report.missing.is_empty() {
        return Ok(());
    }
    if asked.answers.iter().all(|answer| answer.answer.is_err()) {
        Printer::error("no judge gave an answer\nhint: the report says why");
        return Err(Failure::silent(code::UNAVAILABLE));
    }
    Err(Failure::silent(code::FAILED))
}
