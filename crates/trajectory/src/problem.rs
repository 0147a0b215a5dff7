//! Problems in a file, with their places.

use std::fmt;

use m3_support::text::{shortened, visible};

/// How bad a [`Problem`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Only for information: for example an unknown key that is kept.
    Note,
    /// Odd content, which is read in the way that the message says.
    Warning,
    /// The file cannot be used until this is fixed.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// A problem in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The severity of the problem.
    pub severity: Severity,
    /// The place of the problem.
    pub place: Place,
    /// What is wrong and, if possible, what to do.
    pub message: String,
}

/// A place in a file of trajectories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// The file, as the user named it.
    pub file: String,
    /// The line, counted from 1, if it helps more than the pointer: for syntax errors and JSON Lines.
    pub line: Option<u64>,
    /// The column in bytes, counted from 1; only for a syntax error.
    pub column: Option<u64>,
    /// The id of the trajectory, if known; a very long one is shortened.
    pub id: Option<String>,
    /// JSON pointer (RFC 6901) from the top of the file, or of the line in JSON Lines; a very long one is
    /// shortened.
    pub pointer: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&visible(&self.file, false))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        if !self.pointer.is_empty() {
            write!(f, " {}", visible(&self.pointer, false))?;
        }
        if let Some(id) = &self.id {
            write!(f, " (id `{}`)", visible(id, false))?;
        }
        Ok(())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, visible(&self.message, false))
    }
}

/// Problems in the order in which they were found. All are counted, and the first [`Problems::KEPT`] of each severity
/// are kept: a hostile file of a million errors must not fill the memory.
#[derive(Debug, Clone, Default)]
pub struct Problems {
    kept: Vec<Problem>,
    counts: [usize; 3],
}

impl Problems {
    /// How many problems of one severity are kept.
    pub const KEPT: usize = 1000;

    /// The longest text of a problem that is kept, in characters: ids and keys can be megabytes.
    const TEXT: usize = 1000;

    /// Adds a problem.
    pub fn push(&mut self, severity: Severity, place: &Place, pointer: &str, message: &str) {
        let count = &mut self.counts[severity as usize];
        *count += 1;
        if *count > Self::KEPT {
            return;
        }
        let place = Place {
            file: place.file.clone(),
            id: place.id.as_deref().map(|id| excerpt(id, Self::TEXT)),
            pointer: excerpt(&format!("{}{pointer}", place.pointer), Self::TEXT),
            ..*place
        };
        self.kept.push(Problem { severity, place, message: excerpt(message, Self::TEXT) });
    }

    /// The problems that were kept.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.kept.iter()
    }

    /// How many problems of this severity were found, kept or not.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.counts[severity as usize]
    }
}

/// A text unchanged, or its beginning, made visible, if it is longer than `length` characters.
fn excerpt(text: &str, length: usize) -> String {
    // Bytes first, because counting the characters of megabytes for every problem takes long.
    if text.len() <= length { text.to_owned() } else { shortened(text, length) }
}
