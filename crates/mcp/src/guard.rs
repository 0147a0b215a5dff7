//! The guard of a server: a process between the host and the server that ends when either ends.
//!
//! `m3 guard-server --parent PID -- COMMAND ARGS..` starts the command with its own standard streams and waits. When
//! the server ends, when the host is gone (`kill -9` included), or when `TERM` arrives, every process that descends
//! from the server is ended: `TERM`, 1 s, `KILL`. On Linux the guard adopts orphaned descendants
//! (`PR_SET_CHILD_SUBREAPER`), so it also finds those that leave the process group (`setsid`); elsewhere it ends the
//! process group. It exits with the server's code, or 128 and the number of the signal that ended the server or the
//! guard, as shells do, and with 126 if the server cannot be started.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::process::Command;
use std::time::Duration;

use futures_util::FutureExt as _;
use rustix::process::{Pid, Signal, WaitOptions, getppid};
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::process::TERMINATE;

/// The exit code of a guard that cannot start its server.
const NOT_STARTED: u8 = 126;

/// The exit code for a server that was killed, as in shells.
const KILLED: u8 = 128 + 9;

/// Where the parent cannot be watched, the guard checks for it this often.
const CHECK_EVERY: Duration = Duration::from_millis(200);

/// Why a server cannot be guarded.
#[derive(Debug, thiserror::Error)]
#[error("failed to {action} `{command}`")]
pub struct GuardError {
    /// The step that failed: to start the command, or to watch over the processes.
    action: &'static str,
    command: String,
    #[source]
    cause: io::Error,
}

impl GuardError {
    /// The code to exit with.
    #[must_use]
    pub fn code(&self) -> u8 {
        NOT_STARTED
    }
}

/// Starts `command`, waits until it or `parent` ends, ends everything that the command started, and returns the code
/// to exit with.
///
/// # Errors
/// [`GuardError`] if the command cannot be started or the processes cannot be watched; nothing is left running then.
pub fn run(parent: u32, command: &[OsString]) -> Result<u8, GuardError> {
    let Some((program, args)) = command.split_first() else { return Ok(NOT_STARTED) };
    let name = program.to_string_lossy().into_owned();
    let watching = |cause| GuardError { action: "watch over", command: name.clone(), cause };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(watching)?;
    runtime.block_on(guard(parent, program, args, &name))
}

async fn guard(parent: u32, program: &OsString, args: &[OsString], name: &str) -> Result<u8, GuardError> {
    let failed = |action, cause| GuardError { action, command: name.to_owned(), cause };
    let watching = |cause| failed("watch over", cause);
    let mut child_ended = signal(SignalKind::child()).map_err(watching)?;
    let mut terminate = signal(SignalKind::terminate()).map_err(watching)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(watching)?;
    let mut hangup = signal(SignalKind::hangup()).map_err(watching)?;
    become_reaper();
    let parent_gone = watch_parent(parent);
    let child = Command::new(program).args(args).spawn().map_err(|cause| failed("start", cause))?;
    let Some(server) = to_pid(child.id()) else { return Ok(NOT_STARTED) };
    close_streams();
    let mut code = None;
    let signal = loop {
        reap(server, &mut code);
        if code.is_some() {
            break None;
        }
        tokio::select! {
            _ = child_ended.recv() => {}
            () = parent_gone.cancelled() => break None,
            _ = terminate.recv() => break Some(Signal::TERM),
            _ = interrupt.recv() => break Some(Signal::INT),
            _ = hangup.recv() => break Some(Signal::HUP),
        }
    };
    end_descendants(server, &mut code).await;
    // A signal to the whole process group may have ended the server before the guard received it. This looks for such a
    // signal without waiting, so that the exit code names it.
    let signal = signal.or_else(|| {
        [(&mut terminate, Signal::TERM), (&mut interrupt, Signal::INT), (&mut hangup, Signal::HUP)]
            .into_iter()
            .find_map(|(heard, signal)| heard.recv().now_or_never().flatten().map(|()| signal))
    });
    let signal_code = signal.and_then(|signal| u8::try_from(128 + signal.as_raw()).ok());
    Ok(signal_code.or(code).unwrap_or(KILLED))
}

fn to_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().and_then(Pid::from_raw)
}

#[cfg(target_os = "linux")]
fn become_reaper() {
    // If the kernel refuses, only descendants whose parents still run are found.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn become_reaper() {}

/// Closes the standard streams, which now belong to the server: so the host sees the server's end at once, however
/// long its descendants take.
fn close_streams() {
    if let Ok(nothing) = File::options().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&nothing);
        let _ = rustix::stdio::dup2_stdout(&nothing);
        let _ = rustix::stdio::dup2_stderr(&nothing);
    }
}

/// A token that is cancelled once the parent is gone: then this process is the child of another one. A thread waits for
/// that until the guard exits.
fn watch_parent(parent: u32) -> CancellationToken {
    let gone = CancellationToken::new();
    let parent_gone = gone.clone();
    std::thread::spawn(move || {
        if let Some(parent) = to_pid(parent) {
            wait_for_end(parent);
        }
        parent_gone.cancel();
    });
    gone
}

fn wait_for_end(parent: Pid) {
    #[cfg(target_os = "linux")]
    if let Ok(descriptor) = rustix::process::pidfd_open(parent, rustix::process::PidfdFlags::empty()) {
        use rustix::event::{PollFd, PollFlags, poll};
        // Checked first: if it were no longer our parent, the descriptor might belong to another process.
        while getppid() == Some(parent) {
            let mut watched = [PollFd::new(&descriptor, PollFlags::IN)];
            if poll(&mut watched, None).is_err_and(|error| error != rustix::io::Errno::INTR) {
                break;
            }
        }
    }
    while getppid() == Some(parent) {
        std::thread::sleep(CHECK_EVERY);
    }
}

/// Collects the exit codes of all children that have ended.
fn reap(server: Pid, code: &mut Option<u8>) {
    while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
        if pid == server {
            let by_signal = status.terminating_signal().map(|signal| 128 + signal);
            let ended = status.exit_status().or(by_signal).and_then(|code| u8::try_from(code).ok());
            *code = Some(ended.unwrap_or(KILLED));
        }
    }
}

/// Ends everything that descends from the server.
#[cfg(target_os = "linux")]
async fn end_descendants(server: Pid, code: &mut Option<u8>) {
    for (signal, limit) in [(Signal::TERM, TERMINATE), (Signal::KILL, TERMINATE / 2)] {
        let deadline = Instant::now() + limit;
        let mut is_first = true;
        loop {
            reap(server, code);
            let left = descendants();
            if left.is_empty() {
                return;
            }
            // `TERM` is sent once to each process; `KILL` is sent again, because processes may have started others in
            // between.
            if is_first || signal == Signal::KILL {
                for pid in left {
                    let _ = rustix::process::kill_process(pid, signal);
                }
            }
            is_first = false;
            if Instant::now() > deadline {
                break;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Without `/proc`, the guard signals its own process group instead of the descendants. `KILL` would end the guard too
/// and lose the server's code, so processes that outlive a server get `TERM` only.
#[cfg(not(target_os = "linux"))]
async fn end_descendants(server: Pid, code: &mut Option<u8>) {
    let _ = rustix::process::kill_current_process_group(Signal::TERM);
    let deadline = Instant::now() + TERMINATE;
    while code.is_none() && Instant::now() < deadline {
        tokio::time::sleep(Duration::from_millis(5)).await;
        reap(server, code);
    }
    if code.is_none() {
        let _ = rustix::process::kill_current_process_group(Signal::KILL);
    }
}

/// Every running process that descends from this one.
#[cfg(target_os = "linux")]
fn descendants() -> Vec<Pid> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    let processes: Vec<Process> = pids.filter_map(Process::read).collect();
    let mut pids = vec![rustix::process::getpid().as_raw_nonzero().get()];
    let mut next = 0;
    while let Some(&parent) = pids.get(next) {
        pids.extend(processes.iter().filter(|process| process.parent == parent).map(|process| process.pid));
        next += 1;
    }
    let lives = |pid: &i32| processes.iter().any(|process| process.pid == *pid && process.lives);
    pids.into_iter().skip(1).filter(lives).filter_map(Pid::from_raw).collect()
}

/// A process, from `/proc/PID/stat` (`proc_pid_stat(5)`).
#[cfg(target_os = "linux")]
struct Process {
    pid: i32,
    parent: i32,
    /// False for a process that has ended and only waits for its exit code to be collected.
    lives: bool,
}

#[cfg(target_os = "linux")]
impl Process {
    fn read(pid: i32) -> Option<Self> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name before this may contain anything, parentheses too.
        let end_of_name = stat.iter().rposition(|&byte| byte == b')')?;
        let rest = std::str::from_utf8(&stat[end_of_name + 1..]).ok()?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        Some(Self { pid, parent: fields.next()?.parse().ok()?, lives: !matches!(state, "Z" | "X" | "x") })
    }
}
