//! The MCP host against a stub server that misbehaves on request (`tests/stub_server`).

mod calls;
mod http;
mod in_process;
mod leftovers;
mod limits;
mod newest;
mod starting;
pub(crate) mod support;
mod tasks;
