//! Recording: each record is a line, written at once.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Duration;

use m3_support::files::lock_within;
use m3_support::journal::{Lines, line_of};
use m3_support::redact::Redactor;
use m3_support::text::milliseconds;
use serde_json::{Map, Value};

use super::read::{Reader, read_header};
use super::workspace::Workspace;
use super::{
    CallEntry, CassetteError, ContentHash, Entry, Header, ModelEntry, RecordedCall, RequestEntry, Try,
    shallow,
};
use crate::Scope;
use crate::wires::WireRequest;

/// The longest first line, in bytes.
const MAX_HEADER: u64 = 64 << 10;

/// The beginning of a catalog's line, as [`line_of`] writes it.
const CATALOG_START: &[u8] = b"{\"kind\":\"catalog\",";

/// How long to wait for the lock. A process that is just being started shares the open files of this one until it
/// runs its own program, so a released lock becomes free a moment later.
const LOCK_WAIT: Duration = Duration::from_secs(1);

/// Writes a cassette.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    output: Mutex<Output>,
    redactors: RwLock<Vec<Redactor>>,
}

#[derive(Debug)]
struct Output {
    lines: Lines,
    /// The last catalog in the cassette, as a line.
    catalog: Option<Vec<u8>>,
}

impl Recorder {
    /// Starts a cassette, or continues one of the same model. A last line that was cut off gets a line end, so that
    /// the next line is not damaged as well. The file is locked until the recorder is dropped.
    ///
    /// # Errors
    /// [`CassetteError`] if the file cannot be written, is not a cassette (compressed ones are not appended to), has
    /// the name of a compressed one, is another model's or is being recorded into.
    pub fn create_or_append(path: &Path, header: Header) -> Result<Self, CassetteError> {
        if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
            return Err(CassetteError::NamedCompressed { path: path.to_owned() });
        }
        let write =
            |error: io::Error| CassetteError::Write { path: path.to_owned(), reason: error.to_string() };
        let mut file = File::options()
            .read(true)
            .append(true)
            .create(true)
            .open(path)
            .map_err(|source| CassetteError::Open { path: path.to_owned(), source })?;
        // A pipe would be read back until its reader ends.
        if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            let source = io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file");
            return Err(CassetteError::Open { path: path.to_owned(), source });
        }
        lock_within(&file, LOCK_WAIT).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => CassetteError::Locked { path: path.to_owned() },
            _ => write(error),
        })?;
        let (mut first, mut catalog) = (Vec::new(), None);
        let read = BufReader::new(&mut file).take(MAX_HEADER).read_until(b'\n', &mut first);
        read.map_err(|source| CassetteError::Read { path: path.to_owned(), source })?;
        let recorded = read_header(&first);
        if recorded.is_err() && is_cut_header(&first) {
            // The file has only the beginning of a first line.
            file.set_len(0).map_err(write)?;
            file.write_all(&line_of(&header).map_err(write)?).map_err(write)?;
        } else {
            let path = path.to_owned();
            let recorded = match recorded {
                Ok(recorded) => recorded.model,
                Err(reason) => return Err(CassetteError::NotACassette { path, reason }),
            };
            if recorded != header.model {
                return Err(CassetteError::OtherModel { path, recorded, asked: header.model });
            }
            catalog = Reader::open(&path)?.1.last_line(CATALOG_START)?;
            if !ends_line(&mut file).map_err(write)? {
                file.write_all(b"\n").map_err(write)?;
            }
            let session = Entry::Session { created_by: header.created_by };
            file.write_all(&line_of(&session).map_err(write)?).map_err(write)?;
        }
        let output = Mutex::new(Output { lines: Lines::new(file), catalog });
        Ok(Self { path: path.to_owned(), output, redactors: RwLock::default() })
    }

    /// Replaces these secrets in everything that is recorded from now on. The key of a recorded model is added
    /// automatically; the caller has to add the secrets of servers.
    pub fn hide(&self, redactor: Redactor) {
        self.redactors.write().unwrap_or_else(PoisonError::into_inner).push(redactor);
    }

    /// Records the tools that are offered: `{server: {"tools": [..]}}`. A catalog equal to the last one is not
    /// recorded again.
    pub fn record_catalog(&self, catalog: &Value) {
        let mut servers = catalog.clone();
        self.redact(&mut servers);
        let line = line_of(&Entry::Catalog { servers: shallow(servers) });
        let mut output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        if line.as_ref().is_ok_and(|line| output.catalog.as_ref() == Some(line)) {
            return;
        }
        output.catalog = line.as_ref().ok().cloned();
        output.lines.append(line);
    }

    /// Records a call and how it ended.
    pub fn record_call(&self, scope: &Scope, tool: &str, arguments: &Map<String, Value>, call: RecordedCall) {
        let workspace = Workspace::new(scope.workspace.as_deref());
        let keep = |mut value: Value| {
            self.redact(&mut value);
            workspace.hide_in(&mut value);
            value
        };
        let (result, error) = match call.result {
            Ok(result) => (Some(shallow(keep(result))), None),
            // An error's texts may contain paths and secrets, as results may.
            Err(error) => (None, Some(keep(error))),
        };
        self.write(&Entry::Call(CallEntry {
            scope: scope.into(),
            tool: tool.to_owned(),
            arguments: shallow(keep(Value::Object(arguments.clone()))),
            result,
            error,
            milliseconds: milliseconds(call.elapsed),
            waited_milliseconds: milliseconds(call.waited),
        }));
    }

    /// Why recording has stopped, if it has: later records are not in the cassette.
    #[must_use]
    pub fn failure(&self) -> Option<CassetteError> {
        let output = self.output.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = output.lines.failure()?.to_string();
        Some(CassetteError::Write { path: self.path.clone(), reason })
    }

    fn redact(&self, value: &mut Value) {
        for redactor in self.redactors.read().unwrap_or_else(PoisonError::into_inner).iter() {
            redactor.value(value);
        }
    }

    fn write(&self, entry: &Entry) {
        let line = line_of(entry);
        self.output.lock().unwrap_or_else(PoisonError::into_inner).lines.append(line);
    }
}

/// Whether this is the beginning of one of our first lines without its end, or empty.
fn is_cut_header(first: &[u8]) -> bool {
    const START: &[u8] = b"{\"schema\":\"m3.cassette/";
    let length = first.len().min(START.len());
    !first.ends_with(b"\n") && first[..length] == START[..length]
}

fn ends_line(file: &mut File) -> io::Result<bool> {
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == *b"\n")
}

/// A request whose tries are to be recorded or looked up.
#[derive(Debug)]
pub(crate) struct RecordedRequest {
    pub(super) scope: Scope,
    pub(super) workspace: Workspace,
    pub(super) content: ContentHash,
    pub(super) path: String,
    pub(super) body: Value,
}

impl RecordedRequest {
    /// The recording of a request that was written with hashes instead of images.
    pub(crate) fn new(scope: &Scope, request: WireRequest, recorder: Option<&Recorder>) -> Self {
        let workspace = Workspace::new(scope.workspace.as_deref());
        let path = request.path.clone();
        let mut body = request.into_body();
        if let Some(recorder) = recorder {
            recorder.redact(&mut body);
        }
        workspace.hide_in(&mut body);
        let content = ContentHash::new(&path, &body);
        Self { scope: scope.clone(), workspace, content, path, body }
    }
}

impl Recorder {
    /// Records a try at asking the model and the action after it.
    ///
    /// # Errors
    /// [`CassetteError::Write`] if this or an earlier record could not be written.
    pub(crate) fn record_try(
        &self,
        recording: &RecordedRequest,
        tried: &Try,
        elapsed: Duration,
    ) -> Result<(), CassetteError> {
        let reply = tried.body.as_ref().map(|body| {
            let mut reply = reply_value(body);
            self.redact(&mut reply);
            recording.workspace.hide_in(&mut reply);
            reply
        });
        let error = tried.error.as_ref().map(|error| {
            let mut error = Value::String(recording.workspace.hide(error).into_owned());
            self.redact(&mut error);
            error.as_str().unwrap_or_default().to_owned()
        });
        self.write(&Entry::Model(ModelEntry {
            scope: (&recording.scope).into(),
            request: RequestEntry {
                sha256: recording.content.to_hex(),
                path: recording.path.clone(),
                body: shallow(recording.body.clone()),
            },
            status: tried.status,
            headers: tried.headers.clone(),
            reply,
            error,
            then: tried.then.clone(),
            milliseconds: milliseconds(elapsed),
        }));
        self.failure().map_or(Ok(()), Err)
    }
}

/// A body as JSON if it is an object or a list that is not nested too deeply for a line, else as text. [`reply_body`]
/// makes an equivalent body of either.
fn reply_value(body: &[u8]) -> Value {
    match serde_json::from_slice(body) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => match shallow(value) {
            Value::String(_) => Value::String(String::from_utf8_lossy(body).into_owned()),
            value => value,
        },
        _ => Value::String(String::from_utf8_lossy(body).into_owned()),
    }
}

/// The body that [`reply_value`] was given, or an equivalent one.
pub(super) fn reply_body(reply: Value) -> Vec<u8> {
    match reply {
        Value::String(text) => text.into_bytes(),
        value => value.to_string().into_bytes(),
    }
}

/// The body as it will be replayed: reading this one now gives the same result as reading it in a replay.
pub(crate) fn normalized(body: &[u8]) -> Vec<u8> {
    reply_body(reply_value(body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_stops_the_recording_and_is_told() {
        let file = File::options().write(true).open("/dev/full").unwrap();
        let output = Mutex::new(Output { lines: Lines::new(file), catalog: None });
        let recorder = Recorder { path: PathBuf::from("c.jsonl"), output, redactors: RwLock::default() };
        assert!(recorder.failure().is_none());
        recorder.record_catalog(&Value::Null);
        let message = recorder.failure().unwrap().to_string();
        assert!(message.starts_with("failed to write the cassette `c.jsonl`: No space left"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_plain_file_is_refused() {
        let header = Header::new(&crate::ModelName::parse("openai:m").unwrap());
        let error = Recorder::create_or_append(Path::new("/dev/null"), header).err().unwrap();
        assert!(error.to_string().contains("it is no plain file"), "{error}");
    }

    #[test]
    fn tools_are_recorded_where_they_differ_from_the_last_ones() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        let header = || Header::new(&crate::ModelName::parse("openai:m").unwrap());
        for tools in [&["a"][..], &["a"], &["a", "b", "b"], &["a"]] {
            let recorder = Recorder::create_or_append(&path, header()).unwrap();
            for tool in tools {
                recorder.record_catalog(&serde_json::json!({"s": {"tools": [{"name": tool}]}}));
            }
        }
        let content = std::fs::read_to_string(&path).unwrap();
        let catalogs = content.lines().filter(|line| line.contains("catalog"));
        let tools: Vec<&str> = catalogs.map(|line| line.split("\"name\":\"").nth(1).unwrap()).collect();
        assert_eq!(tools.iter().map(|rest| &rest[..1]).collect::<String>(), "aba");
    }

    #[test]
    fn what_is_read_from_a_body_stays_the_same() {
        for (body, kept) in [
            ("{\"b\": 1.50,\n\"a\": 2}", "{\"a\":2,\"b\":1.5}"),
            ("\"text\"", "\"text\""),
            ("<html>", "<html>"),
            ("{\"cut", "{\"cut"),
        ] {
            assert_eq!(normalized(body.as_bytes()), kept.as_bytes());
            assert_eq!(normalized(kept.as_bytes()), kept.as_bytes());
        }
        let deep = "[".repeat(110) + &"]".repeat(110);
        assert_eq!(reply_value(deep.as_bytes()), Value::String(deep.clone()));
        assert_eq!(normalized(b"\xff"), "\u{fffd}".as_bytes());
    }
}
