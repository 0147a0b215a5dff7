//! The command `m3 run`: runs tasks with a model and tools.

mod args;
mod end;
mod offering;
mod tasks;
mod view;

use std::sync::Arc;

pub(super) use args::RunArgs;
use m3_executor::RunBlocker;
use m3_executor::run::{
    OutputError, OutputFolder, Prices, PricesError, Run, RunEnd, RunError, RunProgress, ToolSource,
};
use m3_llm::{Cassette, CassetteError, Model, ModelBlocker, ModelError, ModelName, Pictures, Recorder};
use m3_mcp::ToolCatalog;
use m3_mcp::config::HostConfig;
use m3_support::redact::Redactor;
use m3_support::text::{counted, shortened};
use m3_trajectory::TrajectoryFile;
pub(super) use tasks::say_problems;
use tokio_util::sync::CancellationToken;
use view::View;

use super::Common;
use crate::cli::common::{
    Failure, Printer, Result, Signals, check_record, code, open_model, record, runtime,
};

/// The inputs, model, servers and output, opened and checked before anything is started.
struct Ready {
    tasks: Vec<tasks::CheckedTask>,
    references: Option<TrajectoryFile>,
    model: Arc<Model>,
    cassette: Option<Arc<Cassette>>,
    recorder: Option<Arc<Recorder>>,
    config: Option<HostConfig>,
    pictures: Pictures,
    prices: Option<Prices>,
    output: OutputFolder,
}

/// Runs tasks.
pub(super) fn run(args: &RunArgs, common: &Common, printer: Printer) -> Result {
    let ready = prepare(args, common, printer)?;
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    let prices = ready.prices.clone();
    let ended = runtime.block_on(signals.until_second(run_all(args, common, ready, &signals.first, printer)));
    // Tasks that still wait must not keep the program running: servers end with their hosts.
    runtime.shutdown_background();
    let (end, name) = signals.settle_failure(ended)?;
    end::say(&end, prices.as_ref(), &name, args, printer)
}

/// Opens and checks everything before the first server is started and the first request is sent.
fn prepare(args: &RunArgs, common: &Common, printer: Printer) -> Result<Ready> {
    let prices = args.prices.as_deref().map(Prices::read).transpose()?;
    let config = offering::configuration(args, common, printer)?;
    let (model, cassette) = open_model(
        &args.llm,
        args.asking.llm_key_from.as_deref(),
        (args.workers.into(), args.asking.llm_tries),
        printer,
    )?;
    check_record(args.record.as_ref(), cassette.as_deref())?;
    if config.is_none() && cassette.is_none() {
        return Err(Failure::input(
            "no servers\nhint: `--servers CONFIG` names them; `--servers servers/local.json` starts m3's own",
        ));
    }
    let pictures = Pictures::new();
    let tasks = tasks::open(args, &model, &pictures, printer)?;
    let references = offering::references(args, printer)?;
    let output = OutputFolder::open(&args.out)?;
    let (model, recorder) = record(model, args.record.as_ref())?;
    let model = Arc::new(model);
    Ok(Ready { tasks, references, model, cassette, recorder, config, pictures, prices, output })
}

/// Starts the servers, runs the tasks and ends the servers; returns how the run ended, and the model's name.
async fn run_all(
    args: &RunArgs,
    common: &Common,
    mut ready: Ready,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<(RunEnd, ModelName)> {
    // The patterns for outcomes are compiled while servers start.
    drop(tokio::task::spawn_blocking(m3_outcomes::prepare));
    let (config, cassette) = (ready.config.take(), ready.cassette.take());
    // The secrets of servers and of the model: a server's result may contain the model's key, and is sent to the
    // model.
    let secrets = config.iter().flat_map(|config| &config.servers).flat_map(|server| &server.secrets);
    let redactor = ready.model.redactor_with(secrets.map(String::as_str)).map_err(Failure::input)?;
    // The folder of shared servers; it is removed when they are closed.
    let shared = tempfile::tempdir().map_err(|cause| Failure::temporary(&cause))?;
    match (config, cassette) {
        (Some(config), _) => {
            let (catalog, host) = offering::start(&config, shared.path(), &redactor, stop, printer).await?;
            let host = Arc::new(host);
            let source = ToolSource::Live { host: Arc::clone(&host), recorder: ready.recorder.clone() };
            let ended = run_with(args, common, ready, (catalog, source, redactor), (stop, printer)).await;
            // The host is closed in any case; after a normal run the servers have ended already.
            host.close().await;
            ended
        }
        (None, Some(cassette)) => {
            let catalog = offering::sorted(m3_executor::recorded_catalog(&cassette));
            let source = ToolSource::Replayed { cassette, recorder: ready.recorder.clone() };
            run_with(args, common, ready, (catalog, source, redactor), (stop, printer)).await
        }
        // `prepare` has refused this case.
        (None, None) => Err(Failure::input("no servers")),
    }
}

/// Runs the tasks when their tools are ready.
async fn run_with(
    args: &RunArgs,
    common: &Common,
    ready: Ready,
    (catalog, source, redactor): (ToolCatalog, ToolSource, Redactor),
    (stop, printer): (&CancellationToken, Printer),
) -> Result<(RunEnd, ModelName)> {
    let Ready { tasks, references, model, recorder, pictures, prices, output, .. } = ready;
    if let Some(recorder) = &recorder {
        recorder.hide(redactor.clone());
        recorder.record_catalog(&catalog.to_json());
    }
    let (catalog, known) = offering::checkable(args, catalog, (stop, printer)).await?;
    let offered = args.asking.top_tools.or(args.asking.candidates.candidates);
    let offered = offered.map_or(usize::MAX, |count| count as usize).min(catalog.len());
    m3_executor::check_tool_count(args.options().mode, model.name(), offered).map_err(Failure::input)?;
    let (checked, named) = (known.clone(), offering::names_of_unusable(&known));
    let tasks =
        offering::offer(args, common.assets()?, (tasks, references), (catalog, known), (stop, printer))
            .await?;
    let mode = args.options().mode;
    if let Some(collision) = tasks.iter().find_map(|task| task.offered.collision(mode)) {
        return Err(Failure::input(collision));
    }
    let name = model.name().clone();
    let begun = Run {
        tasks,
        output,
        model,
        tools: source,
        redactor,
        pictures,
        options: args.options(),
        repeats: args.repeat,
        workers: args.workers.into(),
        keep: args.keep_workspaces,
        retry_failed: args.retry_failed,
    }
    .begin()?;
    let standing = begun.standing();
    say_standing(standing, printer);
    say_start(standing, &name, args, printer);
    end::warn_of_missing_price(prices.as_ref(), &name, printer);
    let price = prices.as_ref().and_then(|prices| end::price(prices, &name));
    let view = View::new(standing, args.workers, price, stop, printer);
    let ended = begun.go(Arc::clone(&view.events), stop.clone()).await;
    view.finish();
    let end = ended?;
    offering::warn_of_unchecked(&checked, &named, printer);
    match recorder.and_then(|recorder| recorder.failure()) {
        Some(error) => Err(error.into()),
        None => Ok((end, name)),
    }
}

fn say_start(standing: RunProgress, name: &ModelName, args: &RunArgs, printer: Printer) {
    if standing.to_do > 0 {
        let (tasks, model) = (counted(standing.to_do, "task"), shortened(&name.to_string(), 100));
        printer.note(&format!("runs {tasks} with `{model}`, {} at once", args.workers));
    }
}

fn say_standing(standing: RunProgress, printer: Printer) {
    let RunProgress { to_do, done, failed, again, others } = standing;
    let all = to_do + done + failed;
    if done > 0 {
        let are = if done == 1 { "is" } else { "are" };
        printer.note(&format!("{done} of {} {are} done already", counted(all, "task")));
    }
    if again > 0 {
        let (are, why) = match again {
            1 => ("is", "it failed, or what it depends on has changed"),
            _ => ("are", "they failed, or what they depend on has changed"),
        };
        printer.note(&format!("{} {are} run again: {why}", counted(again, "task")));
    }
    if others > 0 {
        printer.note(&format!(
            "predictions of {}, not selected, were made under other conditions; they are not in predictions.json",
            counted(others, "task")
        ));
    }
    if failed > 0 {
        printer.warn(&format!(
            "{failed} of {} failed before and {}\nhint: `--retry-failed` runs what failed again",
            counted(all, "task"),
            if failed == 1 { "is left as it is" } else { "are left as they are" },
        ));
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::unavailable(error)
    }
}

impl From<CassetteError> for Failure {
    fn from(error: CassetteError) -> Self {
        let code = match &error {
            CassetteError::Open { source, .. } => Self::code_of(source),
            CassetteError::Write { .. } => code::UNAVAILABLE,
            _ => code::INPUT,
        };
        Self::new(code, error.to_string())
    }
}

impl From<PricesError> for Failure {
    fn from(error: PricesError) -> Self {
        match error {
            PricesError::File(error) => error.into(),
            error @ PricesError::Shape { .. } => Self::input(error),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        let code = match &error {
            OutputError::Foreign { .. } => code::INPUT,
            OutputError::Locked { .. } => code::UNAVAILABLE,
            OutputError::Io { cause, .. } => Self::code_of(cause),
        };
        Self::new(code, error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        let mut message = error.to_string();
        if matches!(error, RunError::RunBlocker(RunBlocker::Model(ModelBlocker::Model(_)))) {
            message.push_str(
                "\nhint: nothing is recorded for tasks that it did not answer; when the model can be asked, the same \
                 command continues",
            );
        }
        // Something that the run needs is missing.
        Self::unavailable(message)
    }
}
