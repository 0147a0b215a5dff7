//! Which servers there are and how they are reached.

mod model;

pub use model::{HostConfig, InProcess, Restarts, ServerConfig, Timeouts, ToolFilter, Transport};
