//! What decisions of every kind are made of: names, notes, files beside others, what identifies a trajectory.

use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::decision::DecideError;
use crate::text::{hexadecimal, visible};
use crate::trajectory::Trajectory;
use crate::trajectory::json::Keys;

/// The longest note, in characters.
pub(super) const LONGEST_NOTE: usize = 4000;

/// The longest name of a person, in characters.
pub(super) const LONGEST_NAME: usize = 100;

/// A file whose name is that of another, with something after it.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// A note that may be kept: trimmed, safe to show.
pub(super) fn checked_note(note: &str) -> Result<String, &'static str> {
    if note.chars().nth(LONGEST_NOTE).is_some() {
        return Err("a note has at most 4000 characters");
    }
    Ok(visible(&note.replace("\r\n", "\n"), true).trim().to_owned())
}

/// A name that may be kept.
pub(super) fn person(name: &str) -> Result<String, DecideError> {
    let name = visible(name.trim(), false).into_owned();
    match name.chars().count() {
        0 => Err(DecideError::Incomplete("a decision needs the name of who decides")),
        1..=LONGEST_NAME => Ok(name),
        _ => Err(DecideError::Incomplete("a name has at most 100 characters")),
    }
}

/// Of a reference as the file has it.
pub(super) fn digest(reference: &Trajectory) -> String {
    hexadecimal(&Sha256::digest(reference.to_json().to_text(Keys::AsRead)))
}
