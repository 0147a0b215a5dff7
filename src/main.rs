//! The `m3` command: everything is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    m3::cli::main()
}
