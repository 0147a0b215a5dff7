//! Files that only grow.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::journals::check);
