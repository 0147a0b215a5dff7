//! Tasks run with a scripted model and tools within the process: what is sent and recorded.

mod limits;
mod modes;
mod pictures;
mod replays;
mod sloppy;
mod stage;
mod tools;
