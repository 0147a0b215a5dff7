//! What MCP servers write.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::mcp_messages::check);
