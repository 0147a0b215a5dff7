//! `m3 judge` and what goes with it.

mod command;
