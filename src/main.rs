//! The `m3` command: everything is in the library.

use std::process::ExitCode;

/// JSON is many small pieces, and files are read by several threads: with this allocator scoring takes a fifth less time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    m3::cli::main()
}
