//! The judge.

mod command;
mod rules;
