//! The judge.

mod command;
