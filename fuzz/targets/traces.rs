//! Files of other programs.

#![no_main]

m3_fuzz::fuzz!(m3_fuzz::traces::check);
