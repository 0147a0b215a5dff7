//! Files that may not grow any further (`ulimit -f`): an error like that of a full disk, not the end of the process.

/// Has writes beyond the limit of a file's size fail (`EFBIG`), which [`m3_support::files::is_full`] knows, instead of
/// ending the process by `SIGXFSZ`. Programs that are started later get the signal as ever: a handler, unlike a
/// signal that is ignored, is not handed on.
pub(super) fn outlive_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler stays when the runtime, which only its installation needs, is gone. Where it cannot be installed the
    // signal ends the process as ever.
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _guard = runtime.enter();
        drop(signal(kind));
    }
}
