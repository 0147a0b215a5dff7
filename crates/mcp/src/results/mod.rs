//! What becomes of a result: kept whole on disk, its files saved into the task's workspace, its text made fit for
//! a model.
//!
//! ```text
//! ToolResult -> files (decode, sniff, save) -> ResultRecord (one JSON file for each call)
//!                                          \-> text for the model, shortened
//! ```
//!
//! Secrets are replaced in all three.

mod save;
mod store;
#[cfg(test)]
mod tests;
mod text;

pub use m3_images::media::{Kind, Media};
pub use save::{SavedFile, save_files};
pub use store::{Keeps, KeptResult, ResultRecord, ResultStore, StoreError};
pub use text::{readable, result_text, shortened_text, structured_without_data};
