//! Fuzzes the readers of traces that other programs wrote.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::traces::check);
