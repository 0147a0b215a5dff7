//! The command `m3 call`: calls one tool of a configured server.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use m3_mcp::arguments::ArgumentSchema;
use m3_mcp::config::HostConfig;
use m3_mcp::results::{result_text, save_files};
use m3_mcp::{CallError, CallOutcome, HostEvent, ServerState, ToolName, ToolResult};
use m3_report::json_without_hidden;
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_trajectory::WholeFile;
use m3_trajectory::json;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::Common;
use crate::cli::common::{
    EncoderArgs, Failure, HostWithEvents, Output, Printer, Result, Signals, StartNotes, code, configuration,
    nearest, redactor, runtime, select, shown_lines, start,
};

/// Options of `m3 call`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallArgs {
    /// Configuration of servers (docs/mcp.md)
    config: PathBuf,
    /// The tool, as `server/tool`
    tool: String,
    /// The tool's arguments as a JSON object; `@FILE` reads them from a file, `-` from standard input
    #[arg(default_value = "{}")]
    arguments: String,
    /// Form of the output
    #[arg(long, value_enum, default_value_t = FormatArg::Text)]
    format: FormatArg,
    /// File to write to, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Folder that the server works in and that images are saved into [default: a new temporary one, kept if
    /// anything is in it]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// Wait at most this long for the result, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=604_800))]
    timeout: Option<u32>,
    /// Do not call if the arguments do not fit the tool's schema
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    encoder: EncoderArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 call servers/local.json math/add '{\"firstNumber\": 2, \"secondNumber\": 3}'
  m3 call servers/local.json image/get_metainfo '{\"input_path\": \"photo.png\"}' \\
      --workspace .
  m3 call servers/local.json math/sum @arguments.json --format json

Only the tool's server is started. Arguments that do not fit the schema are sent all the same, with a \
warning: servers may know better. --format json prints the result as the server sent it, secrets replaced, \
and saves no files.

Exits with 3 if the tool reports a failure or gives no result, with 4 if its server cannot be started.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// Text as it is, files by their paths
    Text,
    /// The result of `tools/call`
    Json,
}

/// Calls one tool.
pub(super) fn run(args: &CallArgs, common: &Common, printer: Printer) -> Result {
    let tool = ToolName::parse(&args.tool).ok_or_else(|| {
        let tool = shortened(&args.tool, 100);
        Failure::input(format!("`{tool}` is no tool\nhint: write server/tool; `m3 tools` lists them"))
    })?;
    let arguments = read_arguments(&args.arguments)?;
    let message = "a catalog has no servers to call\nhint: give the configuration that starts them";
    let mut config = configuration(&args.config, &args.encoder, message, (common, printer))?;
    prepare(&mut config, &tool, args)?;
    let redactor = redactor(&config)?;
    let mut output = Output::open(args.out.as_deref(), &[&args.config], printer)?.outliving_its_reader();
    let (workspace, temporary) = open_workspace(args.workspace.as_deref())?;
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    let call = Call { args, tool, arguments, workspace: &workspace, redactor: &redactor, printer };
    let made = runtime.block_on(call.make(&config, &signals.first));
    // A check that did not end is left behind.
    runtime.shutdown_background();
    let shown = match made.map(|outcome| outcome.result) {
        // A result is shown even if a signal has arrived in between.
        Ok(Ok(result)) => call.show(&result, &mut output).map(|()| result.is_error),
        Ok(Err(error)) => signals.settle(Err(refusal(&error, &redactor))),
        Err(failure) => signals.settle(Err(failure)),
    };
    // A temporary folder is removed if it is empty.
    if let Some(folder) = temporary
        && std::fs::read_dir(folder.path()).is_ok_and(|mut entries| entries.next().is_some())
    {
        printer.note(&format!("what the server wrote is in {}", folder.keep().display()));
    }
    let is_error = shown?;
    output.commit()?;
    if is_error {
        printer.warn("the tool reports a failure");
        return Err(Failure::silent(code::FAILED));
    }
    Ok(())
}

/// Keeps only the tool's server, and sets its time limits from the options.
fn prepare(config: &mut HostConfig, tool: &ToolName, args: &CallArgs) -> Result {
    select(config, std::slice::from_ref(&tool.server))?;
    for server in &mut config.servers {
        if server.is_disabled {
            return Err(Failure::input(format!(
                "the configuration disables the server `{}`\nhint: remove the key `disabled`",
                shortened(&server.name, 100)
            )));
        }
        if let Some(seconds) = args.timeout {
            let limit = Duration::from_secs(seconds.into());
            (server.timeouts.idle, server.timeouts.total) = (limit, limit);
        }
    }
    Ok(())
}

/// Reads the arguments: JSON, `@FILE` or `-`.
fn read_arguments(argument: &str) -> Result<Map<String, Value>> {
    let value = match argument.strip_prefix('@') {
        Some(path) => WholeFile::read(Path::new(path), MAX_ARGUMENTS)?.value,
        None if argument == "-" => WholeFile::read(Path::new("-"), MAX_ARGUMENTS)?.value,
        None => match json::parse(argument.as_bytes()) {
            Ok((value, _)) => value,
            Err(error) => {
                return Err(Failure::input(format!(
                    "the arguments are not JSON: {} at byte {}\nhint: in a shell, put them between single quotes",
                    error.message, error.offset
                )));
            }
        },
    };
    match value.to_value() {
        Some(Value::Object(arguments)) => Ok(arguments),
        Some(_) => {
            Err(Failure::input(format!("the arguments are {}, and should be an object", value.kind())))
        }
        None => Err(Failure::input("the arguments hold `NaN` or an infinity, which JSON does not have")),
    }
}

/// The longest time for the check of arguments, which usually takes milliseconds.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// The largest file of arguments, in MiB: the same as for results.
const MAX_ARGUMENTS: u64 = 64;

struct Call<'a> {
    args: &'a CallArgs,
    tool: ToolName,
    arguments: Map<String, Value>,
    workspace: &'a Path,
    redactor: &'a Redactor,
    printer: Printer,
}

impl Call<'_> {
    /// Starts the server, calls the tool, and closes the server in any case.
    async fn make(&self, config: &HostConfig, cancel: &CancellationToken) -> Result<CallOutcome> {
        let mut hosted =
            start(config, self.workspace, self.redactor, (self.printer, StartNotes::Slow), cancel).await?;
        let outcome = match self.check(&hosted, cancel).await {
            Ok(()) => Ok(self.wait(&mut hosted, cancel).await),
            Err(failure) => Err(failure),
        };
        hosted.host.close().await;
        outcome
    }

    /// Checks whether the tool exists and the arguments fit its schema.
    async fn check(&self, hosted: &HostWithEvents, cancel: &CancellationToken) -> Result {
        let catalog = hosted.host.catalog();
        let Some(tool) = catalog.get(&self.tool) else {
            let mut rejected = catalog.servers.iter().flat_map(|server| &server.rejected);
            let rejected = rejected.find(|rejected| rejected.name == self.tool.tool);
            let rejected = rejected
                .map(|it| format!("; it is listed, and cannot be used: {}", shortened(&it.reason, 200)));
            let known: Vec<String> = catalog.tools().map(|(name, _)| name.to_string()).collect();
            if known.is_empty() && rejected.is_none() {
                let statuses = hosted.host.statuses().await;
                let why = statuses.iter().find_map(|status| match &status.state {
                    ServerState::Failed(error) => Some(format!(": {error}")),
                    _ => None,
                });
                let why = shown_lines(&self.redactor.text(&why.unwrap_or_default()));
                return Err(Failure::unavailable(format!(
                    "`{}` cannot be called{why}",
                    shortened(&self.args.tool, 200)
                )));
            }
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let why = rejected.unwrap_or_else(|| nearest(&self.args.tool, &known));
            let message = format!("there is no tool `{}`{why}", shortened(&self.args.tool, 200));
            return Err(Failure::input(self.redactor.text(&message)));
        };
        let (schema, arguments) = (tool.input_schema.clone(), Value::Object(self.arguments.clone()));
        // The check runs on a thread that can be abandoned, because the schema comes from a server and may be hostile.
        let checking = tokio::task::spawn_blocking(move || {
            ArgumentSchema::new(&schema).and_then(|schema| schema.problems(&arguments))
        });
        let checked = tokio::select! {
            checked = checking => checked.ok(),
            () = cancel.cancelled() => return Ok(()),
            () = tokio::time::sleep(CHECK_TIME) => None,
        };
        let problems = match checked {
            Some(Ok(problems)) => problems,
            Some(Err(error)) => {
                self.printer.warn(&error.to_string());
                return Ok(());
            }
            None => {
                self.printer.warn("the arguments were not checked: that did not end");
                return Ok(());
            }
        };
        for problem in &problems {
            let place =
                if problem.pointer.is_empty() { String::new() } else { format!(" at {}", problem.pointer) };
            self.printer.warn(&format!(
                "the arguments do not fit the schema{}: {}",
                shortened(&place, 100),
                problem.message
            ));
        }
        if self.args.check && !problems.is_empty() {
            return Err(Failure::input("the tool was not called\nhint: leave out --check to call it"));
        }
        Ok(())
    }

    /// Waits for the result, and shows progress.
    async fn wait(&self, hosted: &mut HostWithEvents, cancel: &CancellationToken) -> CallOutcome {
        let bar = self.printer.bar();
        let call = hosted.host.call(&self.tool, self.arguments.clone(), cancel);
        tokio::pin!(call);
        loop {
            tokio::select! {
                outcome = &mut call => return outcome,
                Some(event) = hosted.events.recv() => {
                    if let HostEvent::Progress { progress, total, .. } = event {
                        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
                        let whole = |number: f64| number.max(0.0) as u64;
                        bar.set("calling", whole(progress), total.map_or(0, whole));
                    }
                }
            }
        }
    }

    /// Writes the result.
    fn show(&self, result: &ToolResult, output: &mut Output) -> Result {
        let text = match self.args.format {
            FormatArg::Json => {
                let mut wire = result.to_wire();
                self.redactor.value(&mut wire);
                json_without_hidden(&format!("{wire:#}")).into_owned()
            }
            FormatArg::Text => {
                let (mut files, problems) = save_files(result, self.workspace, "result", self.redactor)
                    .map_err(Failure::at(self.workspace))?;
                for problem in problems {
                    self.printer.warn(&shown_lines(&self.redactor.text(&problem)));
                }
                for file in &mut files {
                    // The reader is not in the workspace, so the full path is shown.
                    file.name = file.path.display().to_string();
                }
                self.redactor.text(&result_text(result, &files)).into_owned()
            }
        };
        writeln!(output, "{text}").map_err(Failure::from)
    }
}

/// The failure of a call that has no result.
fn refusal(error: &CallError, redactor: &Redactor) -> Failure {
    let code = match error {
        CallError::UnknownServer { .. } | CallError::UnknownTool { .. } => code::INPUT,
        CallError::Unavailable { .. } => code::UNAVAILABLE,
        _ => code::FAILED,
    };
    let hint = match error {
        CallError::TimedOutIdle { .. } | CallError::TimedOutTotal { .. } => "\nhint: --timeout waits longer",
        _ => "",
    };
    Failure::new(code, shown_lines(&redactor.text(&error.to_string())) + hint)
}

/// Opens the folder that the user named, creating it if needed, or a temporary one, which is returned too.
fn open_workspace(named: Option<&Path>) -> Result<(PathBuf, Option<TempDir>)> {
    let Some(named) = named else {
        let folder = tempfile::Builder::new().prefix("m3-call-").tempdir();
        let folder = folder.map_err(|cause| Failure::temporary(&cause))?;
        return Ok((folder.path().to_owned(), Some(folder)));
    };
    std::fs::create_dir_all(named).map_err(Failure::at(named))?;
    Ok((std::fs::canonicalize(named).map_err(Failure::at(named))?, None))
}
