//! Waits for a server's process, and then ends the rest of its group.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use tokio::process::Child;
use tokio::sync::watch;
use tokio::time::Instant;

use super::{KILLED, State, TERMINATE};

/// Waits for the process, and then ends the rest of its group.
pub(super) async fn watch_over(mut child: Child, pid: Pid, state: watch::Sender<State>) {
    let Ok(status) = child.wait().await else { return };
    state.send_replace(State::Left(status));
    // The group's number stays reserved while any process is in it.
    let has_group = || test_kill_process_group(pid).is_ok();
    if has_group() {
        let _ = kill_process_group(pid, Signal::TERM);
        let deadline = Instant::now() + TERMINATE;
        while has_group() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        if has_group() {
            let _ = kill_process_group(pid, Signal::KILL);
            // `kill_process_group` returns before the processes have ended. This process cannot wait for them, because
            // another one collects their exit codes, so it checks again and again.
            let deadline = Instant::now() + KILLED;
            while has_group() && Instant::now() < deadline {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
    }
    state.send_replace(State::Gone(status));
}
