//! The command line: one file or folder for each subcommand; `common` is shared, `library` is for programs.

mod agree;
mod audit;
mod cache;
mod calibrate;
mod call;
mod common;
mod compare;
mod compare_traces;
mod completions;
mod export;
mod fidelity;
mod grade;
mod guard_server;
mod import;
mod judge;
mod leaderboard;
mod library;
mod man;
mod old_options;
mod outcomes;
mod record;
mod review;
mod run;
mod schema;
mod score;
mod serve;
mod setup;
mod show;
mod tools;
mod validate;
mod view;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
pub use common::{CommandResult, Message, Watch};
use common::{Failure, Printer, Result, code, outlive_limit};
pub use library::{
    FidelityOfArgument, FidelityOfCalls, Pair, PairError, PairScorer, ScoredPair, add_sums, aggregate, call,
};
use m3_encoder::{AssetError, AssetOptions};
use m3_support::text::visible;

/// Evaluates trajectories of vision-language models that use tools, call by call.
#[derive(Debug, Parser)]
#[command(name = "m3", version, max_term_width = 100, after_help = EXIT_CODES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done, 1 --fail-under or --fail-if-worse was not met, 2 bad usage or input, \
3 finished with failures recorded (of tasks, of servers, of a tool), 4 something needed is not available (the encoder, \
a model, a server, disk space), 130 interrupted (143 by TERM where nothing has to be closed).

Start with: m3 score trajectories/predictions.json trajectories/references.json";

/// Options of every command.
#[derive(Debug, Args)]
struct Common {
    /// Print errors only
    #[arg(short, long, global = true, display_order = 100)]
    quiet: bool,
    /// Folder for the encoder and the embedding cache [env: M3_CACHE_DIR] [default: m3 in the user's cache
    /// folder]
    #[arg(long, value_name = "DIR", global = true, display_order = 101)]
    cache_dir: Option<PathBuf>,
    /// Largest size of a compressed input after unpacking, in MiB [default: 16, or 128 times its own size]
    #[arg(long, value_name = "MIB", global = true, display_order = 101, value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    max_unpacked: Option<u64>,
    /// Colours and bold type: auto (at a terminal, unless `NO_COLOR` is set), always or never
    #[arg(long, value_name = "WHEN", value_enum, default_value_t = ColorArg::Auto, global = true, display_order = 102, hide_possible_values = true)]
    color: ColorArg,
}

/// When output has colours and bold type.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ColorArg {
    Auto,
    Always,
    Never,
}

impl From<ColorArg> for anstream::ColorChoice {
    fn from(color: ColorArg) -> Self {
        match color {
            ColorArg::Auto => Self::Auto,
            ColorArg::Always => Self::Always,
            ColorArg::Never => Self::Never,
        }
    }
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Score predicted trajectories against references
    Score(score::ScoreArgs),
    /// Show call by call where a score comes from, at the terminal or as a page
    Audit(audit::AuditArgs),
    /// Show one trajectory: its image, question, calls, results and answer
    Show(show::ShowArgs),
    /// Look at runs, scores and references in a browser
    View(view::ViewArgs),
    /// Rank models by their scores, with intervals, places and groups
    Leaderboard(leaderboard::LeaderboardArgs),
    /// Compare two scores task by task
    Compare(compare::CompareArgs),
    /// Say how far the scores of several benchmarks agree about the same models and tasks
    Agree(agree::AgreeArgs),
    /// Compare a new trace with an old one, task by task
    CompareTraces(Box<compare_traces::CompareTracesArgs>),
    /// Classify the outcome of every predicted call, by rules or by replaying it
    Outcomes(outcomes::OutcomesArgs),
    /// Make the calls of references or predictions and write what they return with them
    Record(record::RecordArgs),
    /// Have a panel of models grade predictions, and say how far they agree
    Grade(Box<grade::GradeArgs>),
    /// Choose both thresholds of similarity by labels of people
    Calibrate(Box<calibrate::CalibrateArgs>),
    /// Measure on labelled pairs how well a similarity distinguishes right arguments from wrong ones
    Fidelity(Box<fidelity::FidelityArgs>),
    /// Turn traces of other programs into trajectories: message lists, logs, spans, sessions
    Import(Box<import::ImportArgs>),
    /// Write trajectories for other programs: messages of OpenAI or Anthropic, ATIF, OpenTelemetry
    Export(export::ExportArgs),
    /// Check files of trajectories or tasks and list every problem with its place
    Validate(validate::ValidateArgs),
    /// Run tasks with a model and tools, and record predictions
    Run(Box<run::RunArgs>),
    /// Make references from runs: what succeeded, without failed and needless calls
    Judge(Box<judge::JudgeArgs>),
    /// Have people look at references: in a page, or as a table
    Review(Box<review::ReviewArgs>),
    /// List MCP servers and their tools, or search tools by a sentence
    Tools(tools::ToolsArgs),
    /// Call one tool of an MCP server and show its result
    Call(call::CallArgs),
    /// Run one of m3's own MCP servers
    Serve(serve::ServeArgs),
    /// Fetch what the encoder needs and show where it is
    Setup(setup::SetupArgs),
    /// Show or clear the embedding cache
    Cache(cache::CacheArgs),
    /// Print the JSON Schema of a file that m3 writes
    Schema(schema::SchemaArgs),
    /// Print the script that completes the command line in a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(man::ManArgs),
    /// Stand between a host and a server and end the server with the host
    #[command(hide = true)]
    GuardServer(guard_server::GuardServerArgs),
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    ExitCode::from(main_with(std::env::args_os()))
}

/// Runs a command line, whose first argument is the program's name, and returns its exit code. This must be the last
/// thing that the process does.
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    outlive_limit();
    let (arguments, notes) = old_options::renamed(arguments);
    let has_control = arguments.iter().any(|argument| {
        let text = argument.to_string_lossy();
        visible(&text, true) != text
    });
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // The parser would print the control characters of a value.
        Err(error) if error.use_stderr() && has_control => return ended(Err(Failure::usage(&error))),
        Err(error) => return ended(said(&error)),
    };
    anstream::ColorChoice::from(cli.common.color).write_global();
    let printer = Printer::new(cli.common.quiet);
    for note in &notes {
        printer.warn(note);
    }
    if let Some(mebibytes) = cli.common.max_unpacked {
        m3_support::unpack::allow(mebibytes << 20);
    }
    let done = run(cli, printer);
    // An interrupted command may have left a thread behind that is still embedding.
    m3_encoder::finish();
    ended(done)
}

/// Prints help and version on standard output, mistakes on standard error.
fn said(error: &clap::Error) -> Result {
    let written = error.print().and_then(|()| io::stdout().flush());
    if error.use_stderr() {
        // If this cannot be printed, nothing can.
        return Err(Failure::silent(code::INPUT));
    }
    written.map_err(|cause| Failure::output("standard output", &cause))
}

/// Prints why a command failed; returns its exit code.
fn ended(done: Result) -> u8 {
    match done {
        Ok(()) => 0,
        Err(failure) => {
            if let Some(message) = failure.message {
                Printer::error(&message);
            }
            failure.code
        }
    }
}

fn run(cli: Cli, printer: Printer) -> Result {
    let common = &cli.common;
    match cli.command {
        Command::Score(args) => score::run(&args, common, printer),
        Command::Audit(args) => audit::run(&args, common, printer),
        Command::View(args) => view::run(&args, common, printer),
        Command::Show(args) => show::run(&args, printer),
        Command::Leaderboard(args) => leaderboard::run(&args, printer),
        Command::Agree(args) => agree::run(&args, printer),
        Command::Compare(args) => compare::run(&args, printer),
        Command::CompareTraces(args) => compare_traces::run(*args, common, printer),
        Command::Outcomes(args) => outcomes::run(&args, common, printer),
        Command::Record(args) => record::run(&args, common, printer),
        Command::Grade(args) => grade::run(&args, printer),
        Command::Calibrate(args) => calibrate::run(&args, common, printer),
        Command::Fidelity(args) => fidelity::run(&args, common, printer),
        Command::Import(args) => import::run(&args, printer),
        Command::Export(args) => export::run(&args, printer),
        Command::Validate(args) => validate::run(&args, printer),
        Command::Run(args) => run::run(&args, common, printer),
        Command::Judge(args) => judge::run(&args, common, printer),
        Command::Review(args) => review::run(&args, printer),
        Command::Tools(args) => tools::run(&args, common, printer),
        Command::Call(args) => call::run(&args, common, printer),
        Command::Serve(args) => serve::run(args, common, printer),
        Command::Setup(args) => setup::run(&args, common, printer),
        Command::Cache(args) => cache::run(&args, common, printer),
        Command::Schema(args) => schema::run(&args),
        Command::Completions(args) => completions::run(&args, &Cli::command()),
        Command::Man(args) => man::run(&args, Cli::command(), printer),
        Command::GuardServer(args) => guard_server::run(&args),
    }
}

impl Common {
    /// The places of the encoder and the cache.
    fn assets(&self) -> Result<AssetOptions, AssetError> {
        AssetOptions::from_env(self.cache_dir.clone())
    }
}
