//! Embeddings on disk, shared by all runs of a user.
//!
//! The cache is one SQLite file in write-ahead mode: several processes can use it at once, and after a crash it has all
//! complete transactions but perhaps the last ones. Three tables have rows for each encoder's fingerprint:
//!
//! - `text`: SHA-256 of a text -> the key of what the encoder sees of it ([`InputKey`])
//! - `vector`: that key -> the embedding, little-endian floats and their CRC-32
//! - `comparison`: a key -> a result computed from embeddings, and its CRC-32
//!
//! A row that is damaged is ignored, and when the cache cannot be used at all, a run goes on without it.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use m3_embedding::{CacheFailure, Embedding, EmbeddingCache, InputKey, text_key};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row, params};

use super::asset_error::unless_missing;
use super::cache_error::{CacheError, is_damage, is_read_only};

/// The version of the tables; a cache of another version is thrown away.
const VERSION: i64 = 1;

/// How long to wait for another process that writes.
pub(super) const BUSY: Duration = Duration::from_secs(10);

/// The share of the limit that the cache fills after its oldest rows were dropped.
const KEEP: f64 = 0.8;

/// Embeddings of one encoder on disk.
#[derive(Debug)]
pub struct Cache {
    connection: Connection,
    encoder: i64,
    limit: u64,
    is_read_only: bool,
    /// Whether the cache can hold results: false for a cache of an earlier release that cannot be written to.
    has_results: bool,
    /// The keys of rows that were read now and were last used before today, to be marked as used: of each table.
    stale: [Vec<InputKey>; 3],
}

/// A table of rows by encoder and key: its name, and the columns of the key and of the value.
struct Table(&'static str, &'static str, &'static str);

/// The tables with rows for each encoder, by their places in [`Cache::stale`].
const ROWS: [Table; 3] =
    [Table("text", "text", "input"), Table("vector", "input", "data"), Table("comparison", "key", "data")];
const TEXT: usize = 0;
const VECTOR: usize = 1;
const COMPARISON: usize = 2;

/// Rows of a table that are kept: the key and the value of each.
type NewRows = Vec<(InputKey, Vec<u8>)>;

impl Cache {
    /// The cache's file below the cache folder.
    #[must_use]
    pub fn path(cache_dir: &Path) -> PathBuf {
        cache_dir.join("embeddings.sqlite")
    }

    /// Opens the cache for one encoder, making it if there is none. A file that is not a cache, or a damaged one, is
    /// replaced. Where nothing can be written, the cache is only read.
    ///
    /// # Errors
    /// [`CacheError`], for example in a folder that cannot be written and has no embeddings of this encoder.
    pub fn open(cache_dir: &Path, name: &str, fingerprint: &str, limit: u64) -> Result<Self, CacheError> {
        let path = Self::path(cache_dir);
        std::fs::create_dir_all(cache_dir).map_err(|cause| CacheError::of_file(&path, &cause))?;
        let connected = Self::connect(&path, name, fingerprint).or_else(|error| {
            if !is_damage(&error) {
                return Err(error);
            }
            remove(&path).map_err(|_| error)?;
            Self::connect(&path, name, fingerprint)
        });
        let is_read_only = connected.as_ref().is_err_and(is_read_only);
        let (connection, encoder) = connected
            .or_else(|error| {
                if is_read_only { Self::look_into(&path, fingerprint).map_err(|_| error) } else { Err(error) }
            })
            .map_err(|cause| CacheError::of_database(&path, &cause))?;
        let has_results = tables(&connection, "'comparison'");
        let has_results = has_results.map_err(|cause| CacheError::of_database(&path, &cause))? > 0;
        Ok(Self { connection, encoder, limit, is_read_only, has_results, stale: Default::default() })
    }

    fn connect(path: &Path, name: &str, fingerprint: &str) -> rusqlite::Result<(Connection, i64)> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        // In this mode a power cut can lose a transaction, which costs time only, but cannot leave half of one.
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        // The pages in memory are enough for a run to read each page of the file once.
        connection.pragma_update(None, "cache_size", -PAGES_KB)?;
        let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
        connection.execute_batch("DROP TABLE IF EXISTS result")?;
        if version != VERSION || tables(&connection, "'encoder', 'text', 'vector', 'comparison'")? < 4 {
            if version != 0 && version != VERSION {
                for table in ["encoder", "text", "vector", "comparison"] {
                    connection.execute(&format!("DROP TABLE IF EXISTS {table}"), [])?;
                }
            }
            connection.execute_batch(TABLES)?;
        }
        connection.execute(
            "INSERT OR IGNORE INTO encoder (name, fingerprint) VALUES (?1, ?2)",
            params![name, fingerprint],
        )?;
        let encoder = connection.query_row(
            "SELECT id FROM encoder WHERE fingerprint = ?1",
            params![fingerprint],
            |row| row.get(0),
        )?;
        Ok((connection, encoder))
    }

    /// Opens a cache that cannot be written to, for reading.
    fn look_into(path: &Path, fingerprint: &str) -> rusqlite::Result<(Connection, i64)> {
        let connection = unchanging(path)?;
        let query =
            "SELECT id FROM encoder, pragma_user_version WHERE fingerprint = ?1 AND user_version = ?2";
        let encoder = connection.query_row(query, params![fingerprint, VERSION], |row| row.get(0))?;
        Ok((connection, encoder))
    }

    /// Whether the cache cannot be written to: new embeddings are then not kept.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// For each key, what `read` makes of its value in a table.
    fn look_up<T>(
        &mut self,
        table: usize,
        keys: &[InputKey],
        read: impl Fn(&[u8]) -> Option<T>,
    ) -> Result<Vec<Option<T>>, CacheFailure> {
        let (encoder, today) = (self.encoder, today());
        let mut stale = Vec::new();
        let Table(name, key, value) = ROWS[table];
        let query = format!("SELECT {value}, used FROM {name} WHERE encoder = ?1 AND {key} = ?2");
        let entries = self.transaction(|transaction| {
            let mut query = transaction.prepare_cached(&query)?;
            let mut find = |key: InputKey| -> rusqlite::Result<Option<T>> {
                // A damaged row may hold a value of another type: it counts as missing.
                let row = |row: &Row<'_>| Ok((row.get_ref(0)?.as_bytes().ok().and_then(&read), row.get(1)));
                let Some((found, used)) = query.query_row(params![encoder, key], row).optional()? else {
                    return Ok(None);
                };
                if used.is_ok_and(|used: i64| used < today) {
                    stale.push(key);
                }
                Ok(found)
            };
            // The keys are looked up in the order of the file, so that each of its pages is read once.
            let mut order: Vec<usize> = (0..keys.len()).collect();
            order.sort_unstable_by_key(|&index| keys[index]);
            let mut values: Vec<Option<T>> = keys.iter().map(|_| None).collect();
            for index in order {
                values[index] = find(keys[index])?;
            }
            Ok(values)
        })?;
        self.stale[table].extend(stale);
        Ok(entries)
    }

    /// Adds rows to tables, and marks the rows that were read before as used today.
    fn write(&mut self, rows: &[(usize, NewRows)]) -> Result<(), CacheFailure> {
        let (encoder, today) = (self.encoder, today());
        let stale: Vec<Vec<InputKey>> =
            rows.iter().map(|(table, _)| std::mem::take(&mut self.stale[*table])).collect();
        let is_nothing = rows.iter().all(|(_, rows)| rows.is_empty()) && stale.iter().all(Vec::is_empty);
        if is_nothing || self.is_read_only {
            return Ok(());
        }
        self.transaction(|transaction| {
            for ((table, rows), stale) in rows.iter().zip(&stale) {
                let Table(name, key, value) = ROWS[*table];
                let mut insert = transaction.prepare_cached(&format!(
                    "INSERT OR REPLACE INTO {name} (encoder, {key}, {value}, used) VALUES (?1, ?2, ?3, ?4)"
                ))?;
                for (key, value) in rows {
                    insert.execute(params![encoder, key, value, today])?;
                }
                let mut update = transaction.prepare_cached(&format!(
                    "UPDATE {name} SET used = ?3 WHERE encoder = ?1 AND {key} = ?2"
                ))?;
                for key in stale {
                    update.execute(params![encoder, key, today])?;
                }
            }
            Ok(())
        })?;
        Ok(self.shrink()?)
    }

    fn shrink(&mut self) -> Result<(), CacheError> {
        let size = self.map(|connection| {
            let value = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
            Ok((value("page_count")? - value("freelist_count")?) * value("page_size")?)
        })?;
        let size = u64::try_from(size).unwrap_or_default();
        if size <= self.limit {
            return Ok(());
        }
        let share = 1.0 - KEEP * self.limit as f64 / size as f64;
        self.transaction(|transaction| {
            for Table(table, key, _) in ROWS {
                let rows: i64 =
                    transaction.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0))?;
                #[expect(clippy::cast_possible_truncation, reason = "a share of a count of rows")]
                let drop = (rows as f64 * share).ceil() as i64;
                transaction.execute(
                    &format!(
                        "DELETE FROM {table} WHERE (encoder, {key}) IN \
                         (SELECT encoder, {key} FROM {table} ORDER BY used LIMIT ?1)"
                    ),
                    params![drop],
                )?;
            }
            Ok(())
        })?;
        self.map(|connection| {
            // Each step of the statement frees one page.
            let mut vacuum = connection.prepare("PRAGMA incremental_vacuum")?;
            let mut pages = vacuum.query([])?;
            while pages.next()?.is_some() {}
            Ok(())
        })
    }

    fn transaction<T>(
        &mut self,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, CacheError> {
        let path = self.connection.path().map(PathBuf::from).unwrap_or_default();
        let run = |connection: &mut Connection| {
            let transaction = connection.transaction()?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        run(&mut self.connection).map_err(|cause: rusqlite::Error| CacheError::of_database(&path, &cause))
    }

    fn map<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, CacheError> {
        let path = self.connection.path().map(PathBuf::from).unwrap_or_default();
        work(&self.connection).map_err(|cause| CacheError::of_database(&path, &cause))
    }
}

impl EmbeddingCache for Cache {
    fn inputs(&mut self, texts: &[&str]) -> Result<Vec<Option<InputKey>>, CacheFailure> {
        let keys: Vec<InputKey> = texts.iter().map(|text| text_key(text)).collect();
        self.look_up(TEXT, &keys, |data| data.try_into().ok())
    }

    fn vectors(&mut self, inputs: &[InputKey]) -> Result<Vec<Option<Embedding>>, CacheFailure> {
        self.look_up(VECTOR, inputs, decode)
    }

    fn store(
        &mut self,
        texts: &[(&str, InputKey)],
        vectors: &[(InputKey, &Embedding)],
    ) -> Result<(), CacheFailure> {
        if self.is_read_only {
            return Ok(());
        }
        let texts = texts.iter().map(|(text, input)| (text_key(text), input.to_vec())).collect();
        let vectors = vectors.iter().map(|(input, vector)| (*input, encode(vector))).collect();
        self.write(&[(TEXT, texts), (VECTOR, vectors)])
    }

    fn results(&mut self, keys: &[InputKey]) -> Result<Vec<Option<Vec<u8>>>, CacheFailure> {
        if !self.has_results {
            return Ok(vec![None; keys.len()]);
        }
        self.look_up(COMPARISON, keys, |data| checked(data).map(<[u8]>::to_vec))
    }

    fn keep(&mut self, results: &[(InputKey, Vec<u8>)]) -> Result<(), CacheFailure> {
        if self.is_read_only {
            return Ok(());
        }
        let results = results.iter().map(|(key, data)| (*key, with_checksum(data.clone()))).collect();
        self.write(&[(COMPARISON, results)])
    }
}

/// The most memory for pages of the file, in KiB.
const PAGES_KB: i64 = 16 << 10;

/// How many tables of these names there are.
fn tables(cache: &Connection, names: &str) -> rusqlite::Result<i64> {
    let query = format!("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ({names})");
    cache.query_row(&query, [], |row| row.get(0))
}

/// Creates the tables. Those with large rows have a separate index of their keys: in a table `WITHOUT ROWID`, each step
/// of a search would read whole rows. Earlier releases had such a table, `result`, and may create it again.
pub(super) const TABLES: &str = "
    BEGIN IMMEDIATE;
    CREATE TABLE IF NOT EXISTS encoder (id INTEGER PRIMARY KEY, name TEXT NOT NULL, fingerprint TEXT NOT NULL UNIQUE);
    CREATE TABLE IF NOT EXISTS text (
        encoder INTEGER NOT NULL, text BLOB NOT NULL, input BLOB NOT NULL, used INTEGER NOT NULL,
        PRIMARY KEY (encoder, text)) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS vector (
        encoder INTEGER NOT NULL, input BLOB NOT NULL, data BLOB NOT NULL, used INTEGER NOT NULL,
        PRIMARY KEY (encoder, input));
    DROP TABLE IF EXISTS result;
    CREATE TABLE IF NOT EXISTS comparison (
        encoder INTEGER NOT NULL, key BLOB NOT NULL, data BLOB NOT NULL, used INTEGER NOT NULL,
        PRIMARY KEY (encoder, key));
    PRAGMA user_version = 1; COMMIT;";

/// The cache's file and those that SQLite keeps beside it.
pub(super) fn files(path: &Path) -> [PathBuf; 3] {
    ["", "-wal", "-shm"].map(|ending| {
        let mut file = path.as_os_str().to_owned();
        file.push(ending);
        PathBuf::from(file)
    })
}

/// Opens a cache in a place where nothing can be written, not even the files that SQLite keeps beside it. SQLite
/// reads without them only from a file that is declared unchanging. Another process may change it all the same, over
/// another mount; the checksums detect that.
pub(super) fn unchanging(path: &Path) -> rusqlite::Result<Connection> {
    // Characters with a meaning in a file name that is a URI (sqlite.org/uri.html).
    const SPECIAL: &AsciiSet = &CONTROLS.add(b'%').add(b'?').add(b'#');
    let name = percent_encode(path.as_os_str().as_encoded_bytes(), SPECIAL);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Connection::open_with_flags(format!("file:{name}?immutable=1"), flags)
}

pub(super) fn remove(path: &Path) -> std::io::Result<()> {
    files(path).iter().try_for_each(|file| unless_missing(std::fs::remove_file(file)))
}

/// Days since 1970.
fn today() -> i64 {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(seconds / 86_400).unwrap_or_default()
}

fn encode(vector: &[f32]) -> Vec<u8> {
    with_checksum(vector.iter().flat_map(|x| x.to_le_bytes()).collect())
}

fn with_checksum(mut data: Vec<u8>) -> Vec<u8> {
    let checksum = crc32fast::hash(&data);
    data.extend(checksum.to_le_bytes());
    data
}

/// The data before the checksum; `None` if it is damaged.
fn checked(data: &[u8]) -> Option<&[u8]> {
    let (data, checksum) = data.split_last_chunk::<4>()?;
    (crc32fast::hash(data) == u32::from_le_bytes(*checksum)).then_some(data)
}

/// The embedding in a row's data; `None` if it is damaged.
fn decode(data: &[u8]) -> Option<Embedding> {
    let vector = checked(data).filter(|vector| !vector.is_empty())?;
    let floats =
        vector.chunks_exact(4).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let floats: Embedding = floats.collect();
    floats.iter().all(|x| x.is_finite()).then_some(floats)
}
