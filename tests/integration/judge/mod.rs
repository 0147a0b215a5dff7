//! The judge.

mod rules;
