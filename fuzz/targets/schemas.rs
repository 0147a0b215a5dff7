//! Fuzzes the checks of arguments against schemas of tools.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::schemas::check);
