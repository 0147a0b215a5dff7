//! What all targets do with their input: files in memory, and what holds for every text that a person gets to see.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A file or a folder that exists until it is dropped, in memory if the system has such a folder.
#[derive(Debug)]
pub struct Temporary(PathBuf);

impl Temporary {
    /// Writes a file whose name ends with `name`.
    ///
    /// # Panics
    /// If it cannot be written.
    #[must_use]
    pub fn file(name: &str, bytes: &[u8]) -> Self {
        Self::new(name, |path| std::fs::write(path, bytes))
    }

    /// Makes an empty folder whose name ends with `name`.
    ///
    /// # Panics
    /// If it cannot be made.
    #[must_use]
    pub fn folder(name: &str) -> Self {
        Self::new(name, |path| std::fs::create_dir(path))
    }

    fn new(name: &str, make: impl FnOnce(&Path) -> std::io::Result<()>) -> Self {
        let path = unused(name);
        let result = make(&path);
        assert!(result.is_ok(), "the folder for temporary files can be written: {result:?}");
        Self(path)
    }

    /// The path of the file or folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The present content of the file.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        std::fs::read(&self.0).unwrap_or_default()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0).or_else(|_| std::fs::remove_dir_all(&self.0));
    }
}

fn unused(name: &str) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!("m3-fuzz-{}-{number}-{name}", std::process::id()))
}

/// The first line, and all that follows it.
#[must_use]
pub fn without_first_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or_default())
}

/// Holds a text that stands on one line against what every such text keeps: it is short, and acts on no terminal.
///
/// # Panics
/// If it does not keep it.
pub fn assert_line(what: &str, text: &str, most: usize) {
    assert_shown(what, text, most, char::is_control);
}

/// The same of a text that may have several lines, such as an error with a hint.
///
/// # Panics
/// If it does not keep it.
pub fn assert_text(what: &str, text: &str, most: usize) {
    assert_shown(what, text, most, |c| c.is_control() && c != '\n');
}

fn assert_shown(what: &str, text: &str, most: usize, acts: impl Fn(char) -> bool) {
    let is_fine = text.len() <= most && !text.contains(acts);
    let beginning: String = text.chars().take(2000).collect();
    assert!(is_fine, "{what} is short and clean, and this has {} bytes: {beginning:?}", text.len());
}
