//! Databases of SQLite: agents keep sessions in tables whose cells are messages, events or runs as JSON. Each table is
//! tried as a file of records, and the one with the most calls is read.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use m3_trajectory::Source;
use m3_trajectory::json::Keys;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};

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
const MOST_TABLES: u32 = 200;

/// The longest cell, in bytes.
const LONGEST_CELL: i32 = 64 << 20;

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let database = Database::open(input.source)?;
    let mut best: Option<(usize, &'static str, SinkBuffer)> = None;
    let mut reason = None;
    for table in database.tables().map_err(broken)? {
        let rows = match database.rows(&table, input.source, sink) {
            Err(ReadError::Refused(why)) => {
                reason = Some(why);
                continue;
            }
            rows => input.source.converted_to(rows?)?,
        };
        // A database within a cell would be read for ever.
        let Some(file) = recognize(&rows)?.filter(|file| file.format.name != FORMAT.name) else { continue };
        let Some(mut buffer) = file.read_to_buffer(sink)? else { continue };
        buffer.change_traces(|trace| trace.notes.add_named("read from the table", &table, "of a database"));
        let calls = buffer.traces().map(calls_with_arguments).sum();
        if calls > best.as_ref().map_or(0, |(most, ..)| *most) {
            best = Some((calls, file.format.name, buffer));
        }
    }
    let Some((_, format, buffer)) = best else {
        let why = "a database of SQLite in which no table has calls as JSON; export its sessions with the program that wrote it";
        return Err(ReadError::Refused(reason.unwrap_or_else(|| why.to_owned())));
    };
    sink.format(format);
    buffer.give(sink)
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
        // What was written last may stand in the log beside the database alone (https://sqlite.org/wal.html).
        if let Some(log) = source.path().map(log_of)
            && std::fs::metadata(&log).is_ok_and(|log| log.is_file() && log.len() <= LONGEST)
        {
            std::fs::copy(&log, log_of(&path)).map_err(failed)?;
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

    /// The names of the tables. A damaged one whose definition is no text is left out: rusqlite panics at names of columns
    /// that are none.
    fn tables(&self) -> rusqlite::Result<Vec<String>> {
        let names =
            "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%' LIMIT ?1";
        let mut statement = self.connection.prepare(names)?;
        let names = statement.query_map([MOST_TABLES], |row| {
            let is_text = row.get::<_, String>(1).is_ok();
            Ok(row.get(0).ok().filter(|_| is_text))
        })?;
        names.filter_map(Result::transpose).collect()
    }

    /// A temporary file with the rows of a table as records, a line each.
    fn rows(&self, table: &str, source: &Source, sink: &mut dyn Sink) -> Result<File, ReadError> {
        let failed = |cause| ReadError::from(source.spool_error(cause));
        let mut file = BufWriter::new(source.temporary_file()?);
        let query = format!("SELECT * FROM \"{}\"", table.replace('"', "\"\""));
        let mut statement = self.connection.prepare(&query).map_err(broken)?;
        let columns: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let mut rows = statement.query([]).map_err(broken)?;
        let mut written = 0;
        while let Some(row) = rows.next().map_err(broken)? {
            sink.progress(0, 1)?;
            let cells = (0..).zip(&columns).map(|(number, column)| (column.clone(), cell(row, number)));
            let line = record(cells.collect()).to_text(Keys::AsRead) + "\n";
            written += line.len() as u64;
            if written > LONGEST {
                return Err(ReadError::refused(format!("a table `{table}` of more than 256 MB")));
            }
            file.write_all(line.as_bytes()).map_err(failed)?;
        }
        file.into_inner().map_err(|error| failed(error.into_error()))
    }
}

/// A cell as a text; empty for null and for bytes that are no text.
fn cell(row: &Row<'_>, number: usize) -> String {
    match row.get_ref(number) {
        Ok(ValueRef::Integer(value)) => value.to_string(),
        Ok(ValueRef::Real(value)) => value.to_string(),
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
            std::str::from_utf8(bytes).unwrap_or_default().to_owned()
        }
        Ok(ValueRef::Null) | Err(_) => String::new(),
    }
}

/// The path of the log that SQLite keeps beside a database.
fn log_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{read_file, shown};

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
        assert!(log_of(&path).is_file());
        let files = || std::fs::read_dir(folder.path()).unwrap().count();
        let before = files();
        assert_eq!(read_file(&path).unwrap().1.traces.len(), 2);
        assert_eq!(files(), before);
        drop(open);
    }

    #[test]
    fn a_definition_that_is_no_text_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.db");
        drop(database(&path));
        let mut bytes = std::fs::read(&path).unwrap();
        let at = bytes.windows(12).position(|window| window == b"message_data").unwrap();
        bytes[at] = 0xff;
        std::fs::write(&path, bytes).unwrap();
        assert!(read_file(&path).unwrap_err().contains("no table has calls"));
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
