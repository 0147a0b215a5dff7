//! A use: one call uses a value that another call returned, or a file that it wrote.

use std::sync::Arc;

/// A value that one call returned, or a file that it wrote, and that the arguments of another call use. Calls are given
/// by their index in the chain.
#[derive(Debug, Clone)]
pub struct Use {
    /// The first call that returned the value, or the call that wrote the file.
    pub from: usize,
    /// The call that uses it.
    pub to: usize,
    /// The value as written in the arguments.
    pub value: String,
    /// The JSON pointer of the value in the result; empty for a result that is a text, and for a place in a list. For a
    /// file: `arguments`, then the pointer of the file's path in the arguments of `from`.
    pub in_result: String,
    /// The place in the arguments: a JSON pointer.
    pub in_arguments: String,
    /// All calls that returned it, in order, or the one that wrote the file.
    pub sources: Arc<[usize]>,
    /// How often the list in the arguments contains it; 1 if it is in no list.
    pub times: usize,
}
