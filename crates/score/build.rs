//! Gives the rules for comparing arguments a version: a digest of everything that their result depends on. Results in
//! the cache carry this digest, so that results of other rules are never used.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

const SOURCES: [&str; 6] = [
    "src/fidelity",
    "src/schema.rs",
    "../trajectory/src/json",
    "../support/src/text.rs",
    "../../models/wordnet/wordnet.bin",
    // The versions of libraries.
    "../../Cargo.lock",
];

fn main() -> std::io::Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        gather(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut digest = DefaultHasher::new();
    for file in files {
        std::fs::read(file)?.hash(&mut digest);
    }
    println!("cargo::rustc-env=M3_FIDELITY_RULES={:016x}", digest.finish());
    Ok(())
}

/// Adds a file, or all files of a folder.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            gather(&entry?.path(), files)?;
        }
    } else if path.exists() {
        files.push(path.to_owned());
    }
    Ok(())
}
