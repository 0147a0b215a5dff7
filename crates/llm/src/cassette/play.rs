//! Replays the answers that were recorded to the same request or call.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use super::read::Reader;
use super::record::{RecordedRequest, reply_body};
use super::tape::{LastAttempts, Others, Tape};
use super::workspace::Workspace;
use super::{
    CallEntry, CassetteError, ContentHash, Entry, Header, ModelEntry, RecordedCall, ScopeEntry, Then, Try,
    as_given, difference,
};
use crate::Scope;

/// The hint for a request that was not recorded.
const HINT_CHANGED: &str = "hint: what is asked has changed since it was recorded, or the recording was cut short; record it again with `--record`";

/// A cassette that is replayed.
#[derive(Debug)]
pub struct Cassette {
    path: PathBuf,
    header: Header,
    /// For each request all its tries; the last one has its answer.
    exchanges: Tape<Vec<Try>>,
    calls: Tape<CallEntry>,
    last_attempts: LastAttempts,
    catalog: Option<Value>,
    summary: CassetteSummary,
}

/// The numbers of records in a cassette.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CassetteSummary {
    /// The number of tasks with at least one record.
    pub tasks: usize,
    /// The number of completed requests to the model, including repeated ones; interrupted requests do not count.
    pub requests: usize,
    /// The number of tries at requests, including failed ones and those of interrupted requests.
    pub tries: usize,
    /// The number of calls of tools.
    pub calls: usize,
    /// Lines that are cut off and ignored, from 1: the process that wrote them was interrupted, or the file is
    /// damaged.
    pub cut_lines: Vec<usize>,
}

impl Cassette {
    /// Reads a cassette, compressed with gzip or not.
    ///
    /// # Errors
    /// [`CassetteError`] if it cannot be read or is not a cassette. Lines that were cut off are only counted
    /// ([`CassetteSummary::cut_lines`]).
    pub fn open(path: &Path) -> Result<Self, CassetteError> {
        let (header, mut reader) = Reader::open(path)?;
        let mut cassette = Self {
            path: path.to_owned(),
            header,
            exchanges: Tape::default(),
            calls: Tape::default(),
            last_attempts: LastAttempts::default(),
            catalog: None,
            summary: CassetteSummary::default(),
        };
        let (mut open, mut session) = (HashMap::new(), 0);
        while let Some(entry) = reader.next()? {
            match entry {
                Entry::Model(mut entry) => {
                    entry.scope.session = session;
                    cassette.add_try(entry, &mut open)?;
                }
                Entry::Call(mut entry) => {
                    entry.scope.session = session;
                    cassette.add_call(entry);
                }
                Entry::Catalog { servers } => cassette.catalog = Some(as_given(servers)),
                Entry::Session { .. } => session += 1,
            }
        }
        cassette.summary.tasks = cassette.last_attempts.tasks();
        cassette.summary.requests = cassette.exchanges.len();
        cassette.summary.calls = cassette.calls.len();
        cassette.summary.cut_lines = reader.cut;
        Ok(cassette)
    }

    fn add_try(
        &mut self,
        entry: ModelEntry,
        open: &mut HashMap<(ContentHash, ScopeEntry), Vec<Try>>,
    ) -> Result<(), CassetteError> {
        let Some(content) = ContentHash::from_hex(&entry.request.sha256) else {
            let reason = "a request's `sha256` is none".to_owned();
            return Err(CassetteError::NotACassette { path: self.path.clone(), reason });
        };
        self.last_attempts.add(&entry.scope);
        self.summary.tries += 1;
        let is_last = entry.then != Then::Retry;
        let tries = open.entry((content, entry.scope.clone())).or_default();
        tries.push(Try {
            status: entry.status,
            headers: entry.headers,
            body: entry.reply.map(reply_body),
            error: entry.error,
            then: entry.then,
        });
        // A request without a final try was interrupted.
        if is_last && let Some(tries) = open.remove(&(content, entry.scope.clone())) {
            self.exchanges.add(content, entry.scope, tries);
        }
        Ok(())
    }

    fn add_call(&mut self, entry: CallEntry) {
        self.last_attempts.add(&entry.scope);
        let content = ContentHash::new(&entry.tool, &as_given(entry.arguments.clone()));
        self.calls.add(content, entry.scope.clone(), entry);
    }

    /// The first line of the cassette.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tools that were offered, as [`Recorder::record_catalog`](super::Recorder::record_catalog) was given them, if
    /// that was recorded.
    #[must_use]
    pub fn catalog(&self) -> Option<&Value> {
        self.catalog.as_ref()
    }

    /// The numbers of records in the cassette.
    #[must_use]
    pub fn summary(&self) -> &CassetteSummary {
        &self.summary
    }

    /// The recorded result of the same call, with the paths of this scope's workspace. A task's repetition gets the
    /// results that were recorded for it, in order.
    ///
    /// # Errors
    /// [`Others`] for which a result was recorded, if none was recorded for this repetition of the task.
    pub fn call(
        &self,
        scope: &Scope,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<RecordedCall, Others> {
        let workspace = Workspace::new(scope.workspace.as_deref());
        let mut arguments = Value::Object(arguments.clone());
        workspace.hide_in(&mut arguments);
        let content = ContentHash::new(tool, &arguments);
        let entry = self.calls.next(content, &scope.into(), &self.last_attempts)?;
        let reveal = |mut value: Value| {
            workspace.reveal_in(&mut value);
            value
        };
        let result = match entry.error.clone() {
            Some(error) => Err(reveal(error)),
            None => Ok(reveal(as_given(entry.result.clone().unwrap_or_default()))),
        };
        Ok(RecordedCall {
            result,
            elapsed: Duration::from_millis(entry.milliseconds),
            waited: Duration::from_millis(entry.waited_milliseconds),
        })
    }

    /// The tries at the same request; the last one has its answer.
    ///
    /// # Errors
    /// A description of what differs, if no answer was recorded for this repetition of the task.
    pub(crate) fn exchange(&self, recording: &RecordedRequest) -> Result<Vec<Try>, String> {
        let exchange =
            self.exchanges.next(recording.content, &(&recording.scope).into(), &self.last_attempts);
        let exchange = exchange.map_err(|others| match others {
            Others::None => format!("{}\n{HINT_CHANGED}", difference::describe(&self.path, recording)),
            others => others.to_string(),
        })?;
        let mut tries = (*exchange).clone();
        for tried in &mut tries {
            let reveal = |error: String| recording.workspace.reveal(&error).into_owned();
            tried.body = tried.body.take().map(|body| revealed(&body, &recording.workspace));
            tried.error = tried.error.take().map(reveal);
        }
        Ok(tries)
    }

    /// The path of the cassette.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// The body with the workspace's path put back, escaped where it stands within JSON texts.
fn revealed(body: &[u8], workspace: &Workspace) -> Vec<u8> {
    match serde_json::from_slice(body) {
        Ok(mut value @ (Value::Object(_) | Value::Array(_))) => {
            workspace.reveal_in(&mut value);
            value.to_string().into_bytes()
        }
        _ => workspace.reveal(&String::from_utf8_lossy(body)).into_owned().into_bytes(),
    }
}
