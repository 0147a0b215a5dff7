//! The MCP host against a stub server that misbehaves on request (`tests/stub_server`).

mod calls;
pub(crate) mod support;
