//! The usage of the cache: its content, its limit, and emptying it.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::cache::{BUSY, Cache, TABLES, files, remove, unchanging};
use super::cache_error::{CacheError, CacheTrouble, is_damage, is_read_only};

/// The number and the size of the cache's entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheUsage {
    /// The cache's file.
    pub path: PathBuf,
    /// The size in bytes, with SQLite's files beside it.
    pub bytes: u64,
    /// The size that the cache is kept below, in bytes.
    pub limit: u64,
    /// Name, fingerprint and number of embeddings of each encoder.
    pub encoders: Vec<(String, String, u64)>,
}

impl Cache {
    /// The default limit, in bytes: some 300,000 embeddings of the default encoder.
    pub const DEFAULT_LIMIT: u64 = 512 << 20;

    /// The size that the cache is kept below, in bytes: `M3_CACHE_LIMIT` (in MiB) or 512 MiB.
    ///
    /// # Errors
    /// The value of `M3_CACHE_LIMIT` if it is not a whole number.
    pub fn limit() -> Result<u64, String> {
        match std::env::var("M3_CACHE_LIMIT") {
            Ok(limit) if !limit.trim().is_empty() => match limit.trim().parse::<u64>() {
                Ok(mebibytes) => Ok(mebibytes.saturating_mul(1 << 20)),
                Err(_) => Err(limit),
            },
            _ => Ok(Self::DEFAULT_LIMIT),
        }
    }

    /// What the cache holds; `None` if there is none.
    ///
    /// # Errors
    /// [`CacheError`] if the file is not a cache.
    pub fn usage(cache_dir: &Path, limit: u64) -> Result<Option<CacheUsage>, CacheError> {
        let path = Self::path(cache_dir);
        if !path.exists() {
            return Ok(None);
        }
        let read = |connection: Connection| {
            connection.busy_timeout(BUSY)?;
            let mut query = connection.prepare(
                "SELECT name, fingerprint, (SELECT count(*) FROM vector WHERE encoder = id) FROM encoder ORDER BY id",
            )?;
            let rows = query
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)?.unsigned_abs())))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        };
        let encoders = match Connection::open(&path).and_then(read) {
            Err(error) if is_read_only(&error) => unchanging(&path).and_then(read).map_err(|_| error),
            read => read,
        };
        let encoders = encoders.map_err(|cause| CacheError::of_database(&path, &cause))?;
        Ok(Some(CacheUsage { bytes: bytes(&path), path, limit, encoders }))
    }

    /// Empties the cache and returns what it held, without encoders if it was damaged; `None` if there is none. Other
    /// processes that use it go on.
    ///
    /// # Errors
    /// [`CacheError`] if it cannot be written.
    pub fn clear(cache_dir: &Path, limit: u64) -> Result<Option<CacheUsage>, CacheError> {
        let path = Self::path(cache_dir);
        let held = match Self::usage(cache_dir, limit) {
            Ok(None) => return Ok(None),
            Ok(Some(held)) => held,
            Err(error) if error.trouble() == CacheTrouble::Damaged => {
                CacheUsage { bytes: bytes(&path), path: path.clone(), limit, encoders: Vec::new() }
            }
            Err(error) => return Err(error),
        };
        let clear = || {
            let connection = Connection::open(&path)?;
            connection.busy_timeout(BUSY)?;
            connection.execute_batch(TABLES)?;
            connection.execute_batch(
                "DELETE FROM vector; DELETE FROM text; DELETE FROM comparison; DELETE FROM encoder; VACUUM;",
            )?;
            connection.pragma_update(None, "wal_checkpoint", "TRUNCATE")
        };
        match clear() {
            Err(error) if is_damage(&error) => {
                remove(&path).map_err(|cause| CacheError::of_file(&path, &cause))?;
            }
            result => result.map_err(|cause| CacheError::of_database(&path, &cause))?,
        }
        Ok(Some(held))
    }
}

/// The size of the cache on the disk, in bytes.
fn bytes(path: &Path) -> u64 {
    files(path).iter().filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len()).sum()
}
