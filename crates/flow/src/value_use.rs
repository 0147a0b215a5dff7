//! A value, or a file, that one call uses of another.

use std::sync::Arc;

/// A value returned by one call and used in the arguments of another. Calls are given by their index in the chain.
#[derive(Debug, Clone)]
pub struct Use {
    /// The call that returned it first, or wrote the file.
    pub from: usize,
    /// The call that uses it.
    pub to: usize,
    /// The value as written in the arguments.
    pub value: String,
    /// The place in the result, or that of the file's path in the arguments of `from`.
    pub in_result: String,
    /// The place in the arguments: a JSON pointer.
    pub in_arguments: String,
    /// All calls that returned it, in order, or the one that wrote the file.
    pub sources: Arc<[usize]>,
    /// How often the list in the arguments contains it; 1 if it is in no list.
    pub times: usize,
}
