//! A server's process: started in a group of its own, watched, and ended together with everything it started.
//!
//! With a guard (see [`super::guard`]) the process that the host starts is the guard, and it ends what it guards.
//! Without one the host ends the process group itself; a grandchild that leaves the group then escapes.

mod group;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use m3_support::files::is_exhausted;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{OnceCell, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use group::watch_over;

use super::own_program::OwnProgram;
use super::status::{StartError, telling_line};
use super::tail::Tail;

/// How long a server may take to end by itself after its standard input is closed.
const LEAVE: Duration = Duration::from_secs(1);

/// How long a server may take to end by itself while the user waits for the end.
const LEAVE_SOON: Duration = Duration::from_millis(300);

/// How long processes have between `TERM` and `KILL`.
pub(super) const TERMINATE: Duration = Duration::from_secs(1);

/// Whether somebody waits for the end of this process.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// Gives servers less time to end by themselves from now on, because this process was asked to end.
pub fn end_servers_soon() {
    IS_ENDING.store(true, Ordering::Relaxed);
}

/// How long to wait for processes after `KILL`.
const KILLED: Duration = Duration::from_millis(500);

/// How long a guard has to end everything: `TERM`, its wait, `KILL`.
const GUARD: Duration = Duration::from_secs(4);

/// How long a guard has to end everything while the user waits for the end.
const GUARD_SOON: Duration = Duration::from_millis(1100);

/// Whoever ends a whole session or control group sends the same signal to servers and to this process, in any order.
/// Before a server's death by such a signal is reported, our own signal gets this much time to arrive.
const SAME_SIGNAL: Duration = Duration::from_secs(2);

/// Variables that every server gets, if they are set: those that programs need to find programs, files and the network.
/// None of them is a secret.
const PASSED: [&str; 30] = [
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TERM",
    "TMPDIR",
    "TMP",
    "TEMP",
    "USER",
    "LOGNAME",
    "SHELL",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
];

/// The command to start, and its surroundings.
#[derive(Debug, Clone)]
pub(super) struct Launch<'a> {
    pub(super) command: &'a str,
    pub(super) args: &'a [String],
    pub(super) env: &'a BTreeMap<String, String>,
    pub(super) folder: &'a Path,
    /// The program that guards the server; `None` without a guard.
    pub(super) guard: Option<&'a Path>,
}

/// A server's process.
#[derive(Debug)]
pub(super) struct ServerProcess {
    pid: Pid,
    is_guarded: bool,
    state: watch::Receiver<State>,
    stderr: Arc<Tail>,
    /// Cancelled when the standard error has ended.
    drained: CancellationToken,
    _draining: AbortOnDropHandle<()>,
    /// Whether we have sent the process a signal.
    is_signalled: AtomicBool,
    /// Set once a signal that was sent to all processes together has had time to arrive here too.
    settled: OnceCell<()>,
}

/// The state of a process.
#[derive(Debug, Clone, Copy)]
enum State {
    Running,
    /// The process has ended; others of its group may still run.
    Left(ExitStatus),
    /// The whole group has ended, and its number may be reused.
    Gone(ExitStatus),
}

impl Launch<'_> {
    /// Starts the process.
    ///
    /// # Errors
    /// [`StartError`] if the program or the folder does not exist, or the system refuses.
    pub(super) fn start(&self) -> Result<(ServerProcess, ChildStdin, ChildStdout), StartError> {
        if !self.folder.is_dir() {
            return Err(StartError::WorkingDirectory { path: self.folder.to_owned() });
        }
        let program = self.program()?;
        let mut command = match self.guard {
            Some(guard) => {
                let mut command = Command::new(guard);
                command
                    .args(OwnProgram::arguments())
                    .args(["guard-server", "--parent", &std::process::id().to_string(), "--"])
                    .arg(program);
                command
            }
            None => Command::new(program),
        };
        if self.command == "m3" {
            command.args(OwnProgram::arguments());
        }
        command.args(self.args).current_dir(self.folder).env_clear().envs(self.environment());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = command.spawn().map_err(|error| self.refused(&error))?;
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let streams = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(pid), (Some(stdin), Some(stdout), Some(stderr))) = (pid, streams) else {
            return Err(self.refused(&io::Error::other("its streams are missing")));
        };
        let tail = Arc::new(Tail::default());
        let kept = Arc::clone(&tail);
        let drained = CancellationToken::new();
        let is_drained = drained.clone();
        let draining = tokio::spawn(async move {
            kept.drain(stderr).await;
            is_drained.cancel();
        });
        let (sender, state) = watch::channel(State::Running);
        tokio::spawn(watch_over(child, pid, sender));
        let process = ServerProcess {
            pid,
            is_guarded: self.guard.is_some(),
            state,
            stderr: tail,
            drained,
            _draining: AbortOnDropHandle::new(draining),
            is_signalled: AtomicBool::new(false),
            settled: OnceCell::new(),
        };
        Ok((process, stdin, stdout))
    }

    fn refused(&self, error: &io::Error) -> StartError {
        let (command, reason) = (self.command.to_owned(), error.to_string());
        StartError::Spawn { command, reason, is_exhausted: is_exhausted(error) }
    }

    fn environment(&self) -> BTreeMap<OsString, OsString> {
        let passed = PASSED
            .iter()
            .chain(OwnProgram::variables())
            .filter_map(|name| Some((OsString::from(name), std::env::var_os(name)?)));
        passed.chain(self.env.iter().map(|(name, value)| (name.into(), value.into()))).collect()
    }

    /// The program's file. It is looked up here, because a missing program is the most frequent failure and should
    /// not look like a failed handshake.
    fn program(&self) -> Result<PathBuf, StartError> {
        if self.command == "m3" {
            return match self.guard {
                Some(guard) => Ok(guard.to_owned()),
                None => OwnProgram::path().map_err(|error| self.refused(&error)),
            };
        }
        let environment = self.environment();
        let path = environment.get(&OsString::from("PATH")).cloned().unwrap_or_default();
        let named = Path::new(self.command);
        let path = if named.components().count() > 1 {
            Some(self.folder.join(named)).filter(|path| is_program(path))
        } else {
            std::env::split_paths(&path)
                .map(|folder| self.folder.join(folder).join(named))
                .find(|p| is_program(p))
        };
        path.ok_or_else(|| StartError::CommandNotFound {
            command: self.command.to_owned(),
            hint: missing_hint(self.command).to_owned(),
        })
    }
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn missing_hint(command: &str) -> &'static str {
    match command {
        "npx" | "node" | "npm" => "install Node.js (https://nodejs.org), which brings `npx`",
        "uvx" | "uv" => "install uv (https://docs.astral.sh/uv), which brings `uvx`",
        "python" | "python3" | "pipx" => "install Python 3, or name its program in `command`",
        "docker" | "podman" => "install it, or run the server without a container",
        _ => "check `command` and the `PATH`",
    }
}

impl ServerProcess {
    /// How the process ended, in words; `None` while it runs.
    pub(super) fn ending(&self) -> Option<String> {
        self.status().map(describe)
    }

    fn status(&self) -> Option<ExitStatus> {
        match *self.state.borrow() {
            State::Running => None,
            State::Left(status) | State::Gone(status) => Some(status),
        }
    }

    /// Waits until the process has ended; processes that it started may still run.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut state = self.state.clone();
        async move {
            // The sender is dropped early only when the whole runtime ends.
            let _ = state.wait_for(|state| !matches!(state, State::Running)).await;
        }
    }

    /// How the process ended, with the most telling line of its standard error; waits a moment for a process that is
    /// about to end. If another's signal ended it, this returns late enough for the caller to have received the same
    /// signal.
    pub(super) async fn last_words(&self) -> Option<String> {
        // A guard ends only after everything it guards.
        let in_time = if self.is_guarded { GUARD } else { Duration::from_millis(500) };
        let _ = tokio::time::timeout(in_time, self.ended()).await;
        let ending = self.ending()?;
        if self.is_ended_by_others() {
            self.settled.get_or_init(|| tokio::time::sleep(SAME_SIGNAL)).await;
        }
        let lines = self.stderr().await;
        Some(telling_line(&lines).map_or(ending.clone(), |line| format!("{ending}: {line}")))
    }

    fn is_ended_by_others(&self) -> bool {
        let ends = [Signal::HUP, Signal::INT, Signal::TERM].map(Signal::as_raw);
        !self.is_signalled.load(Ordering::Relaxed)
            && self.status().and_then(signal_of).is_some_and(|signal| ends.contains(&signal))
    }

    /// The last lines of the standard error; complete if the process has ended.
    pub(super) async fn stderr(&self) -> Vec<String> {
        if self.ending().is_some() {
            // A process that outlives the server may hold the stream open.
            let _ = tokio::time::timeout(Duration::from_millis(100), self.drained.cancelled()).await;
        }
        self.stderr.lines()
    }

    /// Ends the process and everything it started, after its standard input was closed. About 7 s at most; 2 s while
    /// the user waits.
    pub(super) async fn close(&self) {
        let is_ending = IS_ENDING.load(Ordering::Relaxed);
        let leave = if is_ending { LEAVE_SOON } else { LEAVE };
        // Whether it ended by itself or not, the processes it started get the same time to end.
        let in_time = match (self.is_guarded, is_ending) {
            (true, true) => GUARD_SOON,
            (true, false) => GUARD,
            (false, _) => TERMINATE,
        };
        let has_ended = async |limit| tokio::time::timeout(limit, self.ended()).await.is_ok();
        if !has_ended(leave).await {
            self.signal(Signal::TERM);
            if !has_ended(in_time).await {
                // A server may have stopped its guard.
                self.signal_group(Signal::CONT);
                if !has_ended(LEAVE_SOON).await {
                    self.signal_group(Signal::KILL);
                }
            }
        }
        self.gone(if is_ending { LEAVE_SOON } else { TERMINATE + 2 * KILLED }).await;
    }

    /// Ends the process and everything it started at once, because nothing of it is needed any more. 5 s at most.
    pub(super) async fn end(&self) {
        self.kill();
        if !self.gone(GUARD).await {
            self.signal_group(Signal::KILL);
            self.gone(KILLED).await;
        }
    }

    /// Waits until all of its processes have ended; false if some have not within the limit.
    async fn gone(&self, limit: Duration) -> bool {
        let mut state = self.state.clone();
        let gone = state.wait_for(|state| matches!(state, State::Gone(_)));
        tokio::time::timeout(limit, gone).await.is_ok()
    }

    /// Ends the process without waiting until it is gone.
    pub(super) fn kill(&self) {
        // A guard that is killed could not end the server below it.
        if self.is_guarded { self.signal(Signal::TERM) } else { self.signal_group(Signal::KILL) }
    }

    fn signal(&self, signal: Signal) {
        self.is_signalled.store(true, Ordering::Relaxed);
        if matches!(*self.state.borrow(), State::Running) {
            // An error is ignored, because the process may have ended this very moment.
            let _ = if self.is_guarded {
                kill_process(self.pid, signal)
            } else {
                kill_process_group(self.pid, signal)
            };
        }
    }

    fn signal_group(&self, signal: Signal) {
        self.is_signalled.store(true, Ordering::Relaxed);
        if !matches!(*self.state.borrow(), State::Gone(_)) {
            let _ = kill_process_group(self.pid, signal);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The signal that ended the process.
fn signal_of(status: ExitStatus) -> Option<i32> {
    use std::os::unix::process::ExitStatusExt as _;
    match status.code() {
        // A guard exits with this code for a signal, as a shell does.
        Some(code @ 129..=192) => Some(code - 128),
        _ => status.signal(),
    }
}

fn describe(status: ExitStatus) -> String {
    match (status.code(), signal_of(status)) {
        (Some(code), Some(signal)) => format!("exit code {code} (signal {signal})"),
        (Some(code), None) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}
