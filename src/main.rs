//! The `m3` command.
fn main() {}
