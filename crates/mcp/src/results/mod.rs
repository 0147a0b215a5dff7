//! Processes results: keeps them whole on disk, saves their files into the task's workspace, and makes their text fit
//! for a model.
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
