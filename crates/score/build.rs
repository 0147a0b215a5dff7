//! Gives the rules for comparing arguments a version: a digest of everything that their result depends on. Results in
//! the cache carry this digest, so that results of other rules are never used. The built-in model of fidelity gets its digest
//! here too, so that a run which needs no model need not read it.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Error, Result};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

const SOURCES: [&str; 11] = [
    "src/fidelity",
    "src/hungarian.rs",
    "src/schema.rs",
    "src/boost",
    "../embedding/src/cosine.rs",
    "../trajectory/src/json",
    "../support/src/pointer.rs",
    "../support/src/name_cache.rs",
    "../support/src/text.rs",
    "src/wordnet.rs",
    "../../models/wordnet/wordnet.bin",
];

/// What trains models, what is laid over comparisons, and what tests: no result of a comparison depends on it.
const NO_RULES: [&str; 4] = ["answers.rs", "boost/src/grow.rs", "model/train.rs", "tests.rs"];

/// The model that m3 is built with.
const MODEL: &str = "../../models/fidelity/model.json";

/// Says which versions of the libraries are used.
const LOCK: &str = "../../Cargo.lock";

/// The libraries that the sources compute with, and those that read and write numbers for them: another version of one may
/// come to another result.
const LIBRARIES: [&str; 12] = [
    "jiff",
    "jiter",
    "lexical-parse-float",
    "num-bigint",
    "percent-encoding",
    "serde_json",
    "strsim",
    "svgtypes",
    "url",
    "unicode-normalization",
    "unicode-width",
    "zmij",
];

fn main() -> Result<()> {
    let mut files = Vec::new();
    for source in SOURCES {
        println!("cargo::rerun-if-changed={source}");
        gather(Path::new(source), &mut files)?;
    }
    files.sort();
    let mut digest = DefaultHasher::new();
    for file in files {
        read(&file)?.hash(&mut digest);
    }
    println!("cargo::rerun-if-changed={LOCK}");
    let lock = String::from_utf8_lossy(&read(Path::new(LOCK))?).replace('\r', "");
    packages(&lock)?.hash(&mut digest);
    println!("cargo::rustc-env=M3_FIDELITY_RULES={:016x}", digest.finish());
    println!("cargo::rerun-if-changed={MODEL}");
    let mut half = [0; 16];
    half.copy_from_slice(&Sha256::digest(read(Path::new(MODEL))?)[..16]);
    let digits = format!("{:032x}", u128::from_be_bytes(half));
    println!("cargo::rustc-env=M3_FIDELITY_MODEL={digits}");
    Ok(())
}

/// Adds a file, or all files of a folder.
fn gather(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if path.is_dir() {
        for entry in std::fs::read_dir(path)? {
            gather(&entry?.path(), files)?;
        }
    } else if !NO_RULES.iter().any(|end| path.ends_with(end)) {
        files.push(path.to_owned());
    }
    Ok(())
}

/// What is not there takes part without being seen, so it is an error.
fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|cause| Error::other(format!("{}: {cause}", path.display())))
}

/// The parts of the lock, each a name with a version and a checksum, that are of the libraries.
fn packages(lock: &str) -> Result<Vec<&str>> {
    let mut entries = Vec::new();
    for name in LIBRARIES {
        let head = format!("name = \"{name}\"\n");
        let before = entries.len();
        entries.extend(lock.split("[[package]]\n").filter(|package| package.starts_with(&head)));
        if entries.len() == before {
            return Err(Error::other(format!("{LOCK} has no package `{name}`")));
        }
    }
    Ok(entries)
}
