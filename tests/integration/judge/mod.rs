//! Tests of the judge.

mod command;
mod rules;
