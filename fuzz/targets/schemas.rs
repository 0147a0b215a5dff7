//! Schemas of tools, and arguments.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::schemas::check);
