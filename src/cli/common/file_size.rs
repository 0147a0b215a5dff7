//! Turns the limit of a file's size (`ulimit -f`) into an error like that of a full disk, instead of the end of the
//! process.

/// Makes writes beyond the limit of a file's size fail with `EFBIG`, which [`m3_support::files::is_full`] recognizes,
/// instead of ending the process by `SIGXFSZ`. Programs started later still get the signal, because a handler, unlike
/// an ignored signal, is not inherited.
pub(crate) fn outlive_limit() {
    use tokio::signal::unix::{SignalKind, signal};
    let kind = SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw());
    // The handler outlives the runtime, which is needed only to install it. If it cannot be installed, the signal ends
    // the process as usual.
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_io().build() {
        let _guard = runtime.enter();
        drop(signal(kind));
    }
}
