//! Shared parts of commands that start servers: the configuration with its warnings, reports of each server's start,
//! Ctrl-C and other signals.

use std::future::poll_fn;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use m3_embedding::Embedder;
use m3_mcp::arguments::SchemaError;
use m3_mcp::config::{ConfigError, HostConfig};
use m3_mcp::{Events, Host, HostEvent, HostOptions, StartError, ToolCatalog, end_servers_soon};
use m3_servers::simulated::SimulatedOptions;
use m3_support::redact::Redactor;
use m3_support::text::{counted, shortened};
use m3_trajectory::WholeFile;
use m3_trajectory::catalog::Catalog;
use tokio::runtime::Runtime;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::cli::common::failure::{Failure, Result, code, nearest};
use crate::cli::common::listener::Listener;
use crate::cli::common::printer::{Bar, Printer};

/// The largest file that is read as a configuration or a catalog, in MiB.
const MAX_MEBIBYTES: u64 = 256;

/// The longest message of a server that is shown, in columns.
const MAX_MESSAGE: usize = 300;

/// The most tools that are named because their schemas cannot be used.
const MOST_SCHEMAS: usize = 5;

/// The meaning of the argument `CONFIG`.
pub(crate) enum Servers {
    /// A configuration of servers to start.
    Configured(HostConfig),
    /// A catalog of known tools.
    Listed(Catalog),
}

impl Servers {
    /// Reads a configuration, or a catalog if the file has the form of one.
    pub(crate) fn open(path: &Path, printer: Printer) -> Result<Self> {
        let file = WholeFile::read_commented(path, MAX_MEBIBYTES)?;
        if Catalog::is_shape_of(&file.value) {
            return Ok(Self::Listed(Catalog::from_file(file)?));
        }
        let (config, warnings) =
            HostConfig::from_file(&file, HostConfig::folder_of(path), &|name| std::env::var(name).ok())?;
        for warning in warnings {
            printer.warn(&warning.to_string());
        }
        Ok(Self::Configured(config))
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::File(error) => error.into(),
            error @ ConfigError::Invalid { .. } => Self::input(error),
        }
    }
}

/// Adds the servers that the key `simulated` describes. Choosing near distractors requires the encoder.
pub(crate) fn add_simulated(
    config: &mut HostConfig,
    open_encoder: impl FnOnce() -> Result<Embedder>,
    printer: Printer,
) -> Result {
    let Some(options) = SimulatedOptions::from_config(config)? else { return Ok(()) };
    let mut embedder = if options.needs_encoder() { Some(open_encoder()?) } else { None };
    let simulation = options.add_to(config, embedder.as_mut())?;
    for (server, tool) in &simulation.rejected {
        let (name, reason) = (shortened(&tool.name, 64), shortened(&tool.reason, 200));
        printer.warn(&format!("`{}/{name}` cannot be simulated: {reason}", shortened(server, 64)));
    }
    Ok(())
}

/// Keeps only the named servers; all if no name is given.
pub(crate) fn select(config: &mut HostConfig, names: &[String]) -> Result {
    let known: Vec<&str> = config.servers.iter().map(|server| server.name.as_str()).collect();
    for name in names {
        if !known.contains(&name.as_str()) {
            let what = format!("the configuration has no server `{}`", shortened(name, 100));
            return Err(Failure::input(what + &nearest(name, &known)));
        }
    }
    if !names.is_empty() {
        config.servers.retain(|server| names.contains(&server.name));
    }
    Ok(())
}

/// A redactor for all secrets of a configuration.
pub(crate) fn redactor(config: &HostConfig) -> Result<Redactor> {
    Redactor::new(config.servers.iter().flat_map(|server| &server.secrets)).map_err(Failure::input)
}

/// The runtime for asynchronous work.
pub(crate) fn runtime() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|cause| Failure::unavailable(format!("failed to start threads: {cause}")))
}

/// A runtime on the caller's thread alone: work begins in the order in which it arrives.
pub(crate) fn single_thread_runtime() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| Failure::unavailable(format!("failed to start: {error}")))
}

/// Signals from the user or the system.
///
/// A signal takes a moment to reach the tokens, and servers that receive it too may end before. So after the servers
/// have ended, [`Signals::settle`] decides whether this was an interruption.
pub(crate) struct Signals {
    /// Set at the moment when a signal arrives.
    arrived: Arc<AtomicBool>,
    /// Cancelled at the first signal.
    pub(crate) first: CancellationToken,
    /// Cancelled at the second signal, which means that the user does not want to wait.
    pub(crate) second: CancellationToken,
}

impl Signals {
    /// Handles Ctrl-C, `SIGTERM` and `SIGHUP` from now on. They no longer end the process at once: servers are closed
    /// and temporary folders removed first, which takes 2 s at most.
    pub(crate) fn listen(runtime: &Runtime) -> Self {
        // The signals are registered now, not when the task first runs.
        let _entered = runtime.enter();
        // Signals that cannot be handled end the process as usual.
        let heard = |kind: SignalKind| Some((signal(kind).ok()?, kind));
        let heard: Vec<(Signal, SignalKind)> = ending().into_iter().filter_map(heard).collect();
        let arrived = Arc::<AtomicBool>::default();
        for (_, kind) in &heard {
            // If this fails, the flag is set together with the token, a little later.
            let _ = signal_hook::flag::register(kind.as_raw_value(), Arc::clone(&arrived));
        }
        let mut heard: Vec<Signal> = heard.into_iter().map(|(signal, _)| signal).collect();
        let signals = Self { arrived, first: CancellationToken::new(), second: CancellationToken::new() };
        let (first, second) = (signals.first.clone(), signals.second.clone());
        // Work that heeds no signal is not waited for, unless the process is another program's.
        if Listener::current().is_none() {
            let (arrived, tokens) = (Arc::clone(&signals.arrived), [first.clone(), second.clone()]);
            let watch = move || end_by_force(&arrived, &tokens);
            let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(watch);
        }
        let arrived = Arc::clone(&signals.arrived);
        runtime.spawn(async move {
            next_signal(&mut heard).await;
            arrived.store(true, Ordering::SeqCst);
            end_servers_soon();
            first.cancel();
            next_signal(&mut heard).await;
            second.cancel();
        });
        signals
    }

    /// Lets signals end the process at once again, when nothing is left to close. Returns whether a signal has arrived.
    pub(crate) fn release(self) -> bool {
        for kind in ending() {
            let always = Arc::new(AtomicBool::new(true));
            // If this fails, the command cannot be interrupted any more, and runs to its end.
            let _ = signal_hook::flag::register_conditional_default(kind.as_raw_value(), always);
        }
        self.arrived.load(Ordering::SeqCst)
    }

    /// Does the work until its end, or until a second signal, by which the user says not to wait for that.
    pub(crate) async fn until_second<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        tokio::select! {
            biased;
            () = self.second.cancelled() => Err(interrupted()),
            ended = work => ended,
        }
    }

    /// The result, or an interruption if a signal has arrived: the signal may have caused what the result says about
    /// servers. To be called after the servers have ended.
    pub(crate) fn settle<T>(&self, done: Result<T>) -> Result<T> {
        if self.arrived.load(Ordering::SeqCst) { Err(interrupted()) } else { done }
    }

    /// Settles work that itself reports an interruption: a failure after a signal counts as an interruption too, and
    /// its message is still shown.
    pub(crate) fn settle_failure<T>(&self, done: Result<T>) -> Result<T> {
        let is_interrupted = self.arrived.load(Ordering::SeqCst);
        done.map_err(
            |failure| if is_interrupted { Failure { code: code::INTERRUPTED, ..failure } } else { failure },
        )
    }
}

/// How often a thread looks whether a signal has arrived.
const LOOK: Duration = Duration::from_millis(20);

/// The most looks until a command has ended after the first signal (nearly 2 s), and after the second one (0.3 s). On a
/// busy machine a look takes longer, as does the end.
const LOOKS: u32 = 97;
const LAST_LOOKS: u32 = 15;

/// Tells of signals although all other threads may be busy, and ends the process some time after, whatever they are doing:
/// a computation, or a pipe that nobody reads. The guards of servers end these.
fn end_by_force(arrived: &AtomicBool, [first, second]: &[CancellationToken; 2]) {
    while !arrived.load(Ordering::SeqCst) {
        std::thread::sleep(LOOK);
    }
    end_servers_soon();
    first.cancel();
    let again = Arc::<AtomicBool>::default();
    for kind in ending() {
        // If this fails, the longer time is waited.
        let _ = signal_hook::flag::register(kind.as_raw_value(), Arc::clone(&again));
    }
    let mut left = LOOKS;
    while left > 0 {
        std::thread::sleep(LOOK);
        if again.load(Ordering::SeqCst) {
            second.cancel();
            left = left.min(LAST_LOOKS);
        }
        left -= 1;
    }
    signal_hook::low_level::exit(code::INTERRUPTED.into());
}

/// The signals that end a command.
fn ending() -> Vec<SignalKind> {
    let mut kinds = vec![SignalKind::interrupt(), SignalKind::terminate()];
    // A program started by `nohup` should go on.
    if !ignores_hangup() {
        kinds.push(SignalKind::hangup());
    }
    kinds
}

/// Returns when the user, or the program that started this, asks for the end.
pub(crate) async fn asked_to_end() {
    let mut heard: Vec<Signal> = ending().into_iter().filter_map(|kind| signal(kind).ok()).collect();
    next_signal(&mut heard).await;
}

/// Waits for the next signal of any kind.
async fn next_signal(heard: &mut [Signal]) {
    let mut is_there =
        |context: &mut Context<'_>| heard.iter_mut().any(|kind| kind.poll_recv(context).is_ready());
    poll_fn(|context| if is_there(context) { Poll::Ready(()) } else { Poll::Pending }).await;
}

/// Whether this process was started to ignore `SIGHUP`; true also if this cannot be determined (proc(5), `SigIgn`).
fn ignores_hangup() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return true };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 != 0)
}

/// The failure of a run that the user interrupted.
pub(crate) fn interrupted() -> Failure {
    Failure::silent(code::INTERRUPTED)
}

/// A host and its events.
pub(crate) struct HostWithEvents {
    pub(crate) host: Host,
    pub(crate) events: mpsc::UnboundedReceiver<HostEvent>,
}

/// The messages that are shown while servers start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StartNotes {
    /// The result of each server's start.
    All,
    /// Only slow starts: the command shows the rest itself.
    Slow,
}

/// Starts the servers, and reports for each when it is ready or why it is not.
pub(crate) async fn start(
    config: &HostConfig,
    workspace: &Path,
    redactor: &Redactor,
    (printer, told): (Printer, StartNotes),
    cancel: &CancellationToken,
) -> Result<HostWithEvents> {
    let (tell, mut events) = mpsc::unbounded_channel();
    let tell: Events = Arc::new(move |event| {
        // The receiver is gone once the command is done.
        let _ = tell.send(event);
    });
    let wanted = config.servers.iter().filter(|server| !server.is_disabled).count();
    let mut progress = Progress { bar: printer.bar(), printer, told, redactor, done: 0, wanted };
    let starting = Host::start(config, HostOptions::new(workspace).guarded(), tell);
    tokio::pin!(starting);
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            // Events that came before the end of the start are shown first.
            biased;
            Some(event) = events.recv() => progress.show(&event),
            () = cancel.cancelled() => return Err(interrupted()),
            host = &mut starting => {
                // The last server's event arrives at the moment when all are ready.
                while let Ok(event) = events.try_recv() {
                    progress.show(&event);
                }
                return Ok(HostWithEvents { host, events });
            }
            _ = tick.tick() => progress.tick(),
        }
    }
}

/// Shows the progress of the start.
struct Progress<'a> {
    bar: Bar,
    printer: Printer,
    told: StartNotes,
    redactor: &'a Redactor,
    done: u64,
    wanted: usize,
}

impl Progress<'_> {
    fn tick(&mut self) {
        self.bar.set("starting servers", self.done, self.wanted as u64);
    }

    fn show(&mut self, event: &HostEvent) {
        let (message, is_warning) = match event {
            HostEvent::Ready { server, ready } => {
                let seconds = ready.start.as_secs_f64();
                let tools = counted(ready.tools, "tool");
                (format!("{server} is ready after {seconds:.2} s with {tools}"), false)
            }
            HostEvent::Failed { error: StartError::Disabled, .. } => return,
            HostEvent::Failed { server, error } => (format!("{server} failed: {error}"), true),
            HostEvent::Slow { server, waited } => {
                (format!("{server} is not ready after {} s; still waiting", waited.as_secs()), false)
            }
            HostEvent::Noise { server, line } => {
                (format!("{server} writes to standard output what is no message: {line}"), false)
            }
            _ => return,
        };
        self.done += u64::from(matches!(event, HostEvent::Ready { .. } | HostEvent::Failed { .. }));
        if self.told == StartNotes::Slow && !matches!(event, HostEvent::Slow { .. }) {
            return;
        }
        let message = shown_lines(&self.redactor.text(&message));
        self.bar.aside(|| if is_warning { self.printer.warn(&message) } else { self.printer.note(&message) });
        self.tick();
    }
}

/// The first four lines of a server's message, each shortened and made visible.
pub(crate) fn shown_lines(message: &str) -> String {
    let lines: Vec<String> = message.lines().take(4).map(|line| shortened(line, MAX_MESSAGE)).collect();
    lines.join("\n")
}

/// Warns of listed tools that cannot be used, with the reason: at most [`MOST_SCHEMAS`] of them.
pub(crate) fn warn_of_rejected(catalog: &ToolCatalog, printer: Printer) {
    let rejected = catalog.servers.iter().flat_map(|it| it.rejected.iter().map(|tool| (&it.server, tool)));
    for (server, tool) in rejected.take(MOST_SCHEMAS) {
        let (name, reason) = (shortened(&tool.name, 64), shortened(&tool.reason, 200));
        printer.warn(&format!("`{}/{name}` is listed, and cannot be used: {reason}", shortened(server, 64)));
    }
}

/// Warns of tools whose input schemas cannot be used, with the reason and `meaning`, the consequence for them.
pub(crate) fn warn_of_schemas(unusable: &[(&str, &SchemaError)], meaning: &str, printer: Printer) {
    for (name, error) in unusable.iter().take(MOST_SCHEMAS) {
        printer.warn(&format!("`{}`: {error}; {meaning}", shortened(name, 100)));
    }
    if let Some(more @ 1..) = unusable.len().checked_sub(MOST_SCHEMAS) {
        printer.warn(&format!("the input schemas of {} cannot be used either", counted(more, "more tool")));
    }
}
