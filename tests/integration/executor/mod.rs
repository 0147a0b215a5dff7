//! Tasks that are run: a scripted model, tools within the process, and what is said and recorded.

mod limits;
mod modes;
mod pictures;
mod replays;
mod sloppy;
mod stage;
mod tools;
