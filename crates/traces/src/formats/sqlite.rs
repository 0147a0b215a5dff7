//! Databases of SQLite: agents keep sessions in tables whose cells are messages, events or runs as JSON. Each table is
//! tried as a file of records, and the one with the most calls is read.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use m3_support::text::{counted, shortened};
use m3_trajectory::Source;
use m3_trajectory::json::{Json, Keys};
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

use crate::fields::members;
use crate::formats::Format;
use crate::head::Head;
use crate::input::{Input, LONGEST, ReadError, Sink};
use crate::recognize;
use crate::sink_buffer::SinkBuffer;
use crate::table::record;
use crate::trace::Trace;

pub(crate) const FORMAT: Format = Format {
    name: "sqlite",
    title: "databases of SQLite whose tables hold messages, events or runs as JSON (sessions of agents)",
    recognizes: |head: &Head| head.text.starts_with("SQLite format 3\0"),
    read,
};

/// The most tables that are tried.
const MOST_TABLES: usize = 200;

/// The most characters of a table's name in a message.
const SHOWN: usize = 60;

/// The longest cell, in bytes.
const LONGEST_CELL: i32 = 64 << 20;

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let database = Database::open(input.source)?;
    let tables = database.tables().map_err(broken)?;
    if tables.is_empty() {
        return Err(ReadError::refused(
            "a database of SQLite without tables; the file with its last rows, whose name ends in `-wal`, may be missing",
        ));
    }
    let (mut best, mut unread_cells): (Option<(usize, Table)>, usize) = (None, 0);
    for name in tables.iter().take(MOST_TABLES) {
        let rows = match database.rows(name, input.source, sink) {
            Err(ReadError::Refused(reason)) => {
                sink.lost(None, &format!("the table `{}` is left out: {reason}", shortened(name, SHOWN)));
                continue;
            }
            rows => rows?,
        };
        unread_cells += rows.unread;
        let source = input.source.converted_to(rows.file)?;
        // A database within a cell would be read for ever.
        let Some(file) = recognize(&source)?.filter(|file| file.format.name != FORMAT.name) else { continue };
        let Some(mut buffer) = file.read_to_buffer(sink)? else { continue };
        buffer.change_traces(|trace| trace.notes.add_named("read from the table", name, "of a database"));
        let calls = buffer.traces().map(calls_with_arguments).sum();
        if calls > best.as_ref().map_or(0, |(most, _)| *most) {
            let unread = rows.unread;
            best = Some((calls, Table { name, format: file.format.name, buffer, unread }));
        }
    }
    if tables.len() > MOST_TABLES {
        sink.warn(None, &format!("only the first {MOST_TABLES} tables are looked at"));
    }
    let Some((_, Table { name, format, buffer, unread })) = best else {
        let cells = match unread_cells {
            0 => String::new(),
            unread => format!(", and {} cannot be read as JSON or UTF-8", counted(unread, "cell")),
        };
        return Err(ReadError::refused(format!(
            "a database of SQLite in which no table has calls as JSON{cells}; export its sessions with the program that \
             wrote it"
        )));
    };
    sink.format(format);
    buffer.give(sink)?;
    if unread > 0 {
        let cells = counted(unread, "cell");
        let name = shortened(name, SHOWN);
        sink.lost(
            None,
            &format!("{cells} of the table `{name}` cannot be read: neither JSON nor a text in UTF-8"),
        );
    }
    Ok(())
}

/// A table that was read as a file of records.
struct Table<'n> {
    name: &'n str,
    format: &'static str,
    buffer: SinkBuffer,
    unread: usize,
}

/// The rows of a table as records, a line each.
struct Rows {
    file: File,
    /// Cells that are no text in UTF-8, and texts that begin as JSON in a column of JSON and are none.
    unread: usize,
}

/// The number of calls of a trajectory and its agents that have arguments: tables of bookkeeping have names alone.
fn calls_with_arguments(trace: &Trace) -> usize {
    let own = trace.steps.iter().flatten().filter(|call| call.arguments.is_some()).count();
    own + trace.nested.iter().map(|(_, inner)| calls_with_arguments(inner)).sum::<usize>()
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` gives the error away")]
fn broken(error: rusqlite::Error) -> ReadError {
    ReadError::refused(format!("a database of SQLite that cannot be read: {error}"))
}

/// A copy of a database, so that nothing is written beside the user's file.
struct Database {
    connection: Connection,
    /// Removed with the copy in it.
    _folder: tempfile::TempDir,
}

impl Database {
    fn open(source: &Source) -> Result<Self, ReadError> {
        if source.length() > LONGEST {
            return Err(ReadError::refused(
                "a database of more than 256 MB; export its sessions with the program that wrote it",
            ));
        }
        let failed = |cause| ReadError::from(source.spool_error(cause));
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("copy.db");
        std::io::copy(&mut source.reader()?, &mut File::create(&path).map_err(failed)?).map_err(failed)?;
        // What was written last may stand in the log alone (https://sqlite.org/wal.html), and what a killed program had not
        // finished is undone by the journal (https://sqlite.org/atomiccommit.html).
        for ending in ["-wal", "-journal"] {
            if let Some(log) = source.path().map(|path| beside(path, ending))
                && std::fs::metadata(&log).is_ok_and(|log| log.is_file() && log.len() <= LONGEST)
            {
                std::fs::copy(&log, beside(&path, ending)).map_err(failed)?;
            }
        }
        let connection =
            Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(broken)?;
        // Whoever made the database must not decide what is run (https://sqlite.org/security.html).
        let guard = || {
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
            connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST_CELL)
        };
        guard().map_err(broken)?;
        Ok(Self { connection, _folder: folder })
    }

    /// The names of the tables; one more than are tried, if there are more.
    fn tables(&self) -> rusqlite::Result<Vec<String>> {
        let all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'";
        let mut statement = self.connection.prepare(&format!("{all} LIMIT {}", MOST_TABLES + 1))?;
        let names = statement.query_map([], |row| row.get(0))?;
        names.collect()
    }

    /// The columns of a table whose values are stored: those that are generated may be of any size.
    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let names = "SELECT name FROM pragma_table_xinfo(?1) WHERE hidden = 0";
        let mut statement = self.connection.prepare(names)?;
        let names = statement.query_map([table], |row| row.get(0))?;
        names.collect()
    }

    fn rows(&self, table: &str, source: &Source, sink: &mut dyn Sink) -> Result<Rows, ReadError> {
        let failed = |cause| ReadError::from(source.spool_error(cause));
        let mut file = BufWriter::new(source.temporary_file()?);
        let columns = self.columns(table).map_err(broken)?;
        let names: Vec<String> = columns.iter().map(|name| quoted(name)).collect();
        let query = format!("SELECT {} FROM {}", names.join(", "), quoted(table));
        let mut statement = self.connection.prepare(&query).map_err(broken)?;
        let mut rows = statement.query([]).map_err(broken)?;
        let (mut written, mut unread) = (0, 0);
        // For each column: cells that are JSON, and texts that only begin so.
        let mut kinds = vec![(0_usize, 0_usize); columns.len()];
        while let Some(row) = rows.next().map_err(broken)? {
            sink.progress(0, 1)?;
            let mut cells = Vec::with_capacity(columns.len());
            for (number, column) in columns.iter().enumerate() {
                let text = cell(row, number);
                unread += usize::from(text.is_none());
                cells.push((column.clone(), text.unwrap_or_default()));
            }
            let record = record(cells);
            for ((_, value), (json, texts)) in members(&record).iter().zip(&mut kinds) {
                match value {
                    Json::Object(_) | Json::Array(_) => *json += 1,
                    Json::String(text) if text.starts_with(['{', '[']) => *texts += 1,
                    _ => {}
                }
            }
            let line = record.to_text(Keys::AsRead) + "\n";
            written += line.len() as u64;
            if written > LONGEST {
                return Err(ReadError::refused("it has more than 256 MB"));
            }
            file.write_all(line.as_bytes()).map_err(failed)?;
        }
        unread += kinds.iter().filter(|(json, texts)| json > texts).map(|(_, texts)| texts).sum::<usize>();
        let file = file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Rows { file, unread })
    }
}

/// A name in SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A cell as a text, empty for null and for bytes that are no text; `None` for a text that is not UTF-8.
fn cell(row: &Row<'_>, number: usize) -> Option<String> {
    Some(match row.get_ref(number) {
        Ok(ValueRef::Integer(value)) => value.to_string(),
        Ok(ValueRef::Real(value)) => value.to_string(),
        Ok(ValueRef::Text(bytes)) => std::str::from_utf8(bytes).ok()?.to_owned(),
        Ok(ValueRef::Blob(bytes)) => std::str::from_utf8(bytes).unwrap_or_default().to_owned(),
        Ok(ValueRef::Null) | Err(_) => String::new(),
    })
}

/// The path of a file that SQLite keeps beside a database.
fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(ending);
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{CollectingSink, read_file, shown};

    const MESSAGES: [(&str, &str); 6] = [
        ("b", r#"{"role": "user", "content": "How warm is it?"}"#),
        ("a", r#"{"role": "user", "content": "Two cities?"}"#),
        (
            "b",
            r#"{"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{\"city\": \"Oslo\"}"}"#,
        ),
        ("b", r#"{"type": "function_call_output", "call_id": "c1", "output": "4"}"#),
        (
            "a",
            r#"{"type": "function_call", "call_id": "c2", "name": "weather", "arguments": "{\"city\": \"Rome\"}"}"#,
        ),
        (
            "b",
            r#"{"role": "assistant", "content": [{"type": "output_text", "text": "4 degrees."}], "type": "message"}"#,
        ),
    ];

    fn database(path: &Path) -> Connection {
        let connection = Connection::open(path).unwrap();
        let tables = "CREATE TABLE bookkeeping (id INTEGER PRIMARY KEY, session_id TEXT, tool_name TEXT);
             CREATE TABLE agent_messages (id INTEGER PRIMARY KEY, session_id TEXT, message_data TEXT, image BLOB);";
        connection.execute_batch(tables).unwrap();
        for (session, message) in MESSAGES {
            let insert =
                "INSERT INTO agent_messages (session_id, message_data, image) VALUES (?1, ?2, x'ff00')";
            connection.execute(insert, [session, message]).unwrap();
        }
        let insert = "INSERT INTO bookkeeping (session_id, tool_name) VALUES ('b', 'weather')";
        connection.execute(insert, []).unwrap();
        connection
    }

    /// The tables are those of `SQLiteSession` of OpenAI's Agents SDK, with two sessions that were written in turns.
    #[test]
    fn the_table_with_the_calls_is_read_by_session() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        drop(database(&path));
        let (format, read) = read_file(&path).unwrap();
        assert_eq!((format, read.traces.len()), ("sqlite", 2));
        let calls: Vec<Vec<String>> = read.traces.iter().map(shown).collect();
        assert_eq!(calls, [[r#"weather({"city":"Oslo"})=4"#], [r#"weather({"city":"Rome"})=-"#]]);
        assert_eq!(read.traces[0].final_reply.as_deref(), Some("4 degrees."));
    }

    /// A program that still runs has its last rows in the log beside the database.
    #[test]
    fn rows_in_the_log_are_read_and_nothing_is_written_beside_the_database() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        Connection::open(&path).unwrap().pragma_update(None, "journal_mode", "wal").unwrap();
        let open = database(&path);
        assert!(beside(&path, "-wal").is_file());
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        assert_eq!(read_file(&path).unwrap().1.traces.len(), 2);
        assert_eq!(files(), before);
        drop(open);
    }

    /// A name of a column that is no text.
    #[test]
    fn a_table_that_cannot_be_read_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(database(&path));
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(12).position(|window| window == b"message_data").unwrap();
        bytes[at] = 0xff;
        std::fs::write(&path, bytes).unwrap();
        let source = Source::open(&path).unwrap();
        let mut sink = CollectingSink::default();
        assert!(recognize(&source).unwrap().unwrap().read(&mut sink).is_err());
        assert!(
            sink.warnings[0].starts_with("the table `agent_messages` is left out: "),
            "{:?}",
            sink.warnings
        );
    }

    #[test]
    fn cells_that_cannot_be_read_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        let connection = database(&path);
        let insert = "INSERT INTO agent_messages (session_id, message_data) VALUES ('c', CAST(x'7bff' AS TEXT)), ('c', '{\"role\"')";
        connection.execute(insert, []).unwrap();
        drop(connection);
        let source = Source::open(&path).unwrap();
        let mut sink = CollectingSink::default();
        assert!(recognize(&source).unwrap().unwrap().read(&mut sink).is_err());
        assert_eq!(sink.traces.len(), 2);
        let expected =
            "2 cells of the table `agent_messages` cannot be read: neither JSON nor a text in UTF-8";
        assert!(sink.warnings.iter().any(|warning| warning == expected), "{:?}", sink.warnings);
    }

    /// What a killed program had not finished: its journal is still there, and the database has the new text.
    #[test]
    fn rows_that_were_not_committed_are_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.db");
        let connection = database(&path);
        let before = std::fs::read(&path).unwrap();
        connection.execute_batch("PRAGMA cache_size = 1; PRAGMA cache_spill = 1; BEGIN IMMEDIATE").unwrap();
        let update = "UPDATE agent_messages SET message_data = replace(message_data, 'Oslo', 'Bern'), image = zeroblob(500000)";
        connection.execute(update, []).unwrap();
        let killed = folder.path().join("killed.db");
        std::fs::copy(&path, &killed).unwrap();
        std::fs::copy(beside(&path, "-journal"), beside(&killed, "-journal")).unwrap();
        assert_ne!(std::fs::read(&killed).unwrap(), before);
        let read = read_file(&killed).unwrap().1;
        assert_eq!(shown(&read.traces[0]), [r#"weather({"city":"Oslo"})=4"#]);
    }

    #[test]
    fn a_damaged_or_foreign_database_is_refused_with_its_reason() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        std::fs::write(&path, b"SQLite format 3\0and nothing more").unwrap();
        assert!(read_file(&path).unwrap_err().contains("cannot be read"));
        std::fs::remove_file(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        let tables = "CREATE TABLE a (b TEXT); INSERT INTO a VALUES ('{}');
             CREATE TABLE c (d TEXT, e AS (printf('%.*c', 200000000, 'x'))); INSERT INTO c (d) VALUES ('{}');";
        connection.execute_batch(tables).unwrap();
        drop(connection);
        let error = read_file(&path).unwrap_err();
        assert!(error.contains("no table has calls") || error.contains("too big"), "{error}");
    }
}
