//! The `m3` command: everything is in the library.

use std::process::ExitCode;

/// The allocator. JSON consists of many small pieces, and files are read by several threads: with this allocator
/// scoring takes a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    keep_runtime_from_reporting();
    m3::cli::main()
}

/// Stops a build of ONNX Runtime that the user names (`ORT_DYLIB_PATH`) from reporting to its maker; the build that
/// m3 fetches cannot report.
#[expect(
    unsafe_code,
    reason = "another thread might be reading the environment, and none has been started yet"
)]
fn keep_runtime_from_reporting() {
    // SAFETY: this is the first thing that the only thread of the process does.
    unsafe { std::env::set_var(m3_encoder::NO_REPORTS, "1") };
}
