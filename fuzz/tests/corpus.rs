//! Every file that the fuzzer keeps, held against what it was kept for.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::path::Path;

/// Reads all files of one target.
fn read_all(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!((10..=320).contains(&files.len()), "{} files", files.len());
    for path in files {
        let bytes = std::fs::read(&path).unwrap();
        assert!(std::panic::catch_unwind(|| check(&bytes)).is_ok(), "{}", path.display());
    }
}

#[test]
fn traces() {
    read_all("traces", m3_fuzz::traces::check);
}

#[test]
fn trajectories() {
    read_all("trajectories", m3_fuzz::trajectories::check);
}

#[test]
fn schemas() {
    read_all("schemas", m3_fuzz::schemas::check);
}

#[test]
fn replies() {
    read_all("replies", m3_fuzz::replies::check);
}

#[test]
fn mcp_messages() {
    read_all("mcp_messages", m3_fuzz::mcp_messages::check);
}

#[test]
fn journals() {
    read_all("journals", m3_fuzz::journals::check);
}
