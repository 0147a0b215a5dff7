//! `m3 run`

mod args;
mod end;
mod servers;
mod tasks;
mod view;

use std::path::Path;
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

pub(super) use args::RunArgs;

use super::Common;
use super::failure::{Failure, code};
use super::hosting::{interrupted, redactor, runtime};
use super::printer::Printer;
use crate::executor::run::{
    Begun, OutputError, OutputFolder, Prices, PricesError, Run, RunEnd, RunError, Standing, ToolSource,
};
use crate::llm::{
    Cassette, CassetteError, Header, Model, ModelError, ModelName, ModelOptions, Pictures, Recorder, key_from,
};
use crate::mcp::config::HostConfig;
use servers::Started;
use view::View;

/// What stands before the file of a cassette that takes a model's place.
const REPLAY: &str = "replay:";

/// Everything that is known before anything is started.
struct Ready {
    tasks: Vec<tasks::Checked>,
    model: Arc<Model>,
    cassette: Option<Arc<Cassette>>,
    recorder: Option<Arc<Recorder>>,
    config: Option<HostConfig>,
    pictures: Pictures,
    prices: Option<Prices>,
    output: OutputFolder,
}

/// Runs tasks.
pub(super) fn run(args: &RunArgs, common: &Common, printer: Printer) -> Result<(), Failure> {
    let ready = prepare(args, common, printer)?;
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    let prices = ready.prices.clone();
    let ended = runtime.block_on(async {
        tokio::select! {
            // Whoever asks twice does not want to wait for anything.
            biased;
            () = signals.now.cancelled() => Err(interrupted()),
            ended = run_all(args, common, ready, &signals.stop, printer) => ended,
        }
    });
    // Nothing that still waits may keep the program: servers are ended with their hosts.
    runtime.shutdown_background();
    let (end, name) = ended?;
    end::say(&end, prices.as_ref(), &name, args, printer)
}

/// Opens and checks everything, before the first server is started and the first request is sent.
fn prepare(args: &RunArgs, common: &Common, printer: Printer) -> Result<Ready, Failure> {
    let prices = args.prices.as_deref().map(Prices::read).transpose()?;
    let config = servers::configuration(args, common, printer)?;
    let (model, cassette) = open_model(args)?;
    for note in model.notes() {
        printer.warn(note);
    }
    if config.is_none() && cassette.is_none() {
        let message =
            "no servers\nhint: `--servers CONFIG` names them; `--servers servers/local.json` starts m3's own";
        return Err(Failure::new(code::INPUT, message));
    }
    let pictures = Pictures::new();
    let tasks = tasks::open(args, &model, &pictures, printer)?;
    let output = OutputFolder::open(&args.output)?;
    let (model, recorder) = record(args, model)?;
    Ok(Ready { tasks, model: Arc::new(model), cassette, recorder, config, pictures, prices, output })
}

/// The model, and the cassette that it plays, if it does.
fn open_model(args: &RunArgs) -> Result<(Model, Option<Arc<Cassette>>), Failure> {
    if let Some(path) = args.llm.strip_prefix(REPLAY) {
        let cassette = Arc::new(Cassette::open(Path::new(path))?);
        let model = Model::replay(Arc::clone(&cassette))?;
        return Ok((model, Some(cassette)));
    }
    let name = ModelName::parse(&args.llm).map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
    let key = args.asking.llm_key_from.as_deref().map(key_from).transpose();
    let key = key.map_err(|error| Failure::new(code::UNAVAILABLE, error.to_string()))?;
    let mut options = ModelOptions { key, ..ModelOptions::default() };
    options.concurrency = options.concurrency.max(args.workers.into());
    Ok((Model::open(name, options)?, None))
}

/// Has the model recorded, if that is wanted.
fn record(args: &RunArgs, model: Model) -> Result<(Model, Option<Arc<Recorder>>), Failure> {
    let Some(path) = &args.record else { return Ok((model, None)) };
    let recorder = Arc::new(Recorder::create_or_append(path, Header::new(model.name()))?);
    Ok((model.recorded_by(Arc::clone(&recorder)), Some(recorder)))
}

/// Starts the servers and runs the tasks; how that ended, and the model's name.
async fn run_all(
    args: &RunArgs,
    common: &Common,
    ready: Ready,
    stop: &CancellationToken,
    printer: Printer,
) -> Result<(RunEnd, ModelName), Failure> {
    let Ready { tasks, model, cassette, recorder, config, pictures, prices, output } = ready;
    let redactor = match &config {
        Some(config) => redactor(config)?,
        None => crate::mcp::redact::Redactor::default(),
    };
    // Shared servers work here; it goes when they are closed.
    let shared = tempfile::tempdir().map_err(|cause| Failure::temporary(&cause))?;
    let (catalog, source) = match (config, cassette) {
        (Some(config), _) => {
            let Started { catalog, host } =
                servers::start(&config, shared.path(), &redactor, stop, printer).await?;
            (catalog, ToolSource::Live { host, recorder: recorder.clone() })
        }
        (None, Some(cassette)) => {
            let catalog = cassette.catalog().unwrap_or_default();
            (servers::sorted(catalog), ToolSource::Replayed(cassette))
        }
        // It was refused before.
        (None, None) => return Err(Failure::new(code::INPUT, "no servers")),
    };
    if let Some(recorder) = &recorder {
        recorder.hide(redactor.clone());
        recorder.record_catalog(&catalog.to_json());
    }
    let offered = args.asking.top_tools.map_or(usize::MAX, |count| count as usize).min(catalog.len());
    crate::executor::check_tool_count(args.options().mode, model.name(), offered)?;
    let tasks = servers::offer(args, common, tasks, catalog, printer)?;
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
        keep: args.keep(),
        retry_failed: args.retry_failed,
    }
    .begin()?;
    let standing = begun.standing();
    say_standing(standing, printer);
    let price = prices.as_ref().and_then(|prices| end::price(prices, &name));
    let end = watch(begun, View::new(standing, args.workers, price, stop, printer), stop).await?;
    match recorder.and_then(|recorder| recorder.failure()) {
        Some(error) => Err(error.into()),
        None => Ok((end, name)),
    }
}

async fn watch(begun: Begun, view: View, stop: &CancellationToken) -> Result<RunEnd, Failure> {
    let ended = begun.go(view.events(), stop.clone()).await;
    view.finish();
    Ok(ended?)
}

fn say_standing(standing: Standing, printer: Printer) {
    let Standing { to_do, done, failed, again, others } = standing;
    let all = to_do + done + failed;
    if done > 0 {
        printer.note(&format!("{done} of {all} tasks are done already"));
    }
    if again > 0 {
        printer
            .note(&format!("{again} tasks are run again: they failed, or what they depend on has changed"));
    }
    if others > 0 {
        printer.note(&format!(
            "{others} tasks that are not selected have predictions made under other conditions; they are not in \
             predictions.json"
        ));
    }
    if failed > 0 {
        printer.warn(&format!(
            "{failed} of {all} tasks failed before and are left as they are\nhint: `--retry-failed` runs them again"
        ));
    }
}

/// What the user says while tasks run.
struct Signals {
    /// After the first: begin nothing new.
    stop: CancellationToken,
    /// After the second: drop everything.
    now: CancellationToken,
}

impl Signals {
    fn listen(runtime: &Runtime) -> Self {
        let signals = Self { stop: CancellationToken::new(), now: CancellationToken::new() };
        let (stop, now) = (signals.stop.clone(), signals.now.clone());
        runtime.spawn(async move {
            let Ok(mut listener) = Listener::new() else { return };
            listener.next().await;
            stop.cancel();
            listener.next().await;
            now.cancel();
        });
        signals
    }
}

/// Waits for Ctrl-C and for what asks a process to end.
struct Listener {
    interrupt: Signal,
    terminate: Signal,
}

impl Listener {
    fn new() -> std::io::Result<Self> {
        Ok(Self { interrupt: signal(SignalKind::interrupt())?, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::new(code::UNAVAILABLE, error.to_string())
    }
}

impl From<CassetteError> for Failure {
    fn from(error: CassetteError) -> Self {
        let code = if matches!(error, CassetteError::Write { .. }) { code::UNAVAILABLE } else { code::INPUT };
        Self::new(code, error.to_string())
    }
}

impl From<PricesError> for Failure {
    fn from(error: PricesError) -> Self {
        match error {
            PricesError::File(error) => error.into(),
            error @ PricesError::Shape { .. } => Self::new(code::INPUT, error.to_string()),
        }
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        use std::io::ErrorKind;
        let code = match &error {
            OutputError::Locked { .. } => code::UNAVAILABLE,
            OutputError::Io { cause, .. } => match cause.kind() {
                ErrorKind::NotFound
                | ErrorKind::PermissionDenied
                | ErrorKind::AlreadyExists
                | ErrorKind::NotADirectory
                | ErrorKind::IsADirectory
                | ErrorKind::ReadOnlyFilesystem => code::INPUT,
                _ => code::UNAVAILABLE,
            },
        };
        Self::new(code, error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        // Whatever it is, it was possible to write when the run began.
        Self::new(code::UNAVAILABLE, error.to_string())
    }
}
