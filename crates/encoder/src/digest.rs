//! SHA-256 of files, kept with the files' size and time of change: reading 91 MB of weights on every start would cost
//! more than scoring a pair.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use m3_support::files;
use m3_support::text::hexadecimal;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The digests of files, kept in one small file in the cache folder.
#[derive(Debug)]
pub(super) struct Digests {
    path: PathBuf,
    known: BTreeMap<String, Stamp>,
    is_changed: bool,
}

/// A file as it was when its digest was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Stamp {
    size: u64,
    /// Nanoseconds since 1970.
    modified: u128,
    sha256: String,
}

/// The most files whose digests are kept. No encoder has that many files, so it does not matter which digests are
/// dropped.
const MAX_KNOWN: usize = 200;

impl Digests {
    /// Opens the digests kept in `cache_dir`. A missing or damaged file counts as empty.
    pub(super) fn open(cache_dir: &Path) -> Self {
        let path = cache_dir.join("digests.json");
        let known = std::fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        Self { path, known: known.unwrap_or_default(), is_changed: false }
    }

    /// The hexadecimal SHA-256 of a file's content.
    pub(super) fn sha256(&mut self, file: &Path) -> io::Result<String> {
        let metadata = std::fs::metadata(file)?;
        let modified = metadata.modified()?.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        let key = std::path::absolute(file)?.to_string_lossy().into_owned();
        if let Some(stamp) = self.known.get(&key)
            && stamp.size == metadata.len()
            && stamp.modified == modified
        {
            return Ok(stamp.sha256.clone());
        }
        let sha256 = hash_file(file)?;
        self.known.insert(key, Stamp { size: metadata.len(), modified, sha256: sha256.clone() });
        self.is_changed = true;
        Ok(sha256)
    }

    /// Writes new digests to disk. A failure only costs time at the next start.
    pub(super) fn save(&mut self) {
        while self.known.len() > MAX_KNOWN {
            self.known.pop_first();
        }
        if std::mem::take(&mut self.is_changed)
            && let Ok(text) = serde_json::to_vec_pretty(&self.known)
        {
            // A read-only cache folder is no reason to stop.
            let _ = self.path.parent().map(std::fs::create_dir_all);
            let _ = files::write_atomically(&self.path, &text);
        }
    }
}

/// The hexadecimal SHA-256 of a file's content.
pub(super) fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 18];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(hexadecimal(&hasher.finalize())),
            Ok(length) => hasher.update(&buffer[..length]),
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_hashed_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "abc").unwrap();
        let mut digests = Digests::open(folder.path());
        // FIPS 180-4, appendix B.1 of its predecessor FIPS 180-2: SHA-256 of "abc".
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digests.sha256(&file).unwrap(), abc);
        digests.save();
        let mut digests = Digests::open(folder.path());
        assert!(!digests.known.is_empty());
        assert_eq!(digests.sha256(&file).unwrap(), abc);
        std::fs::write(&file, "abcd").unwrap();
        assert_ne!(digests.sha256(&file).unwrap(), abc);
    }
}
