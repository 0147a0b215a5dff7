//! Processes results: keeps them and their files whole on disk, gives each file one name in the task's workspace, and
//! makes their text fit for a model.
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
pub use save::{SavedFile, WorkspaceFile, decode, file_of, put_file, save_files};
pub use store::{Keeps, KeptResult, ResultRecord, ResultStore, StoreError};
pub use text::{readable, result_text, shortened_text, structured_without_data};
