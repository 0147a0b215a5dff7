//! The hidden command `m3 guard-server`, through which the host starts its servers.

use std::ffi::OsString;

use clap::Args;
use m3_mcp::guard;

use crate::cli::common::{Failure, Result};

#[derive(Debug, Args)]
pub(super) struct GuardServerArgs {
    /// The process that must live for the server to live
    #[arg(long, value_name = "PID")]
    parent: u32,
    /// The server's command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub(super) fn run(args: &GuardServerArgs) -> Result {
    match guard::run(args.parent, &args.command) {
        Ok(0) => Ok(()),
        Ok(code) => Err(Failure::silent(code)),
        Err(error) => {
            let cause = std::error::Error::source(&error).map_or(String::new(), |cause| format!(": {cause}"));
            Err(Failure::new(error.code(), format!("{error}{cause}")))
        }
    }
}
