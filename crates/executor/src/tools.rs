//! The tools of one task: called on its servers, or replayed from a cassette; keeps their results.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use m3_llm::{Cassette, Others, RecordedCall, Recorder, Scope};
use m3_mcp::results::{KeptResult, ResultStore, SavedFile, WorkspaceFile};
use m3_mcp::{CallError, CallLimits, CallOutcome, Host, ToolCatalog, ToolName, ToolResult, links_of};
use m3_outcomes::without_secrets;
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_trajectory::FailureClass;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::RunBlocker;
use super::pool::Folder;
use super::recorded::{from_record, recorded_catalog, to_record};
use super::stop::Stop;
use super::workspace_pictures::{Search, WorkspaceBefore};

/// The tools of one task.
pub struct Tools {
    source: Source,
    store: Arc<ResultStore>,
    recorder: Option<Arc<Recorder>>,
    /// Servers whose results contained links to resources, and whether those resources can be read.
    linking: Mutex<BTreeMap<String, bool>>,
}

/// Where results come from.
enum Source {
    Live(Arc<Host>),
    Replayed(Arc<Cassette>),
}

/// A call that has ended.
pub(super) struct CallEnd {
    /// How the call ended, with secrets removed.
    pub(super) outcome: CallOutcome,
    /// The kept result.
    pub(super) kept: Option<KeptResult>,
    /// Why the task cannot go on: the result cannot be kept, or the cassette does not know the call.
    pub(super) fault: Option<Stop>,
}

/// How long a call that is under way may take once the run is stopped.
const GRACE: Duration = Duration::from_millis(500);

/// The longest arguments that a message repeats, in columns.
const SHOWN: usize = 200;

impl Tools {
    /// Calls tools on the task's own host. `store` shortens results to [`RunOptions::result_limit`], and has its
    /// folder in the task's workspace: models are told where a whole result is, and a path that differs between runs
    /// would prevent replaying a cassette. Its redactor is the run's. Calls are recorded, if a recorder is given.
    ///
    /// [`RunOptions::result_limit`]: super::RunOptions::result_limit
    #[must_use]
    pub fn live(host: Arc<Host>, store: ResultStore, recorder: Option<Arc<Recorder>>) -> Self {
        Self { source: Source::Live(host), store: Arc::new(store), recorder, linking: Mutex::default() }
    }

    /// Replays calls. A call that the cassette does not have for this task and repetition ends the task with an error
    /// that names the call. Replayed calls are recorded like live ones, if a recorder is given.
    #[must_use]
    pub fn replayed(cassette: Arc<Cassette>, store: ResultStore, recorder: Option<Arc<Recorder>>) -> Self {
        let store = Arc::new(store);
        Self { source: Source::Replayed(cassette), store, recorder, linking: Mutex::default() }
    }

    /// The tools of all servers.
    #[must_use]
    pub fn catalog(&self) -> ToolCatalog {
        match &self.source {
            Source::Live(host) => host.catalog(),
            Source::Replayed(cassette) => recorded_catalog(cassette),
        }
    }

    /// Reserves numbers for the results of this many calls; returns the first.
    pub(super) fn reserve(&self, calls: usize) -> u64 {
        self.store.reserve(calls)
    }

    /// The pictures of the workspace as they are before a step; `None` without servers, which alone could change them.
    pub(super) async fn workspace_before(&self, folder: Arc<Folder>) -> Option<Arc<WorkspaceBefore>> {
        match self.source {
            Source::Live(_) => {
                let look = move || Arc::new(WorkspaceBefore::new(folder));
                tokio::task::spawn_blocking(look).await.ok()
            }
            Source::Replayed(_) => None,
        }
    }

    /// Calls a tool and keeps its result under a number of [`Tools::reserve`]; gives up at the limits. `before` is the
    /// workspace as it was before the step.
    pub(super) async fn call(
        &self,
        scope: &Scope,
        (name, number): (&ToolName, u64),
        arguments: Map<String, Value>,
        (limits, before): (CallLimits, Option<Arc<WorkspaceBefore>>),
        stop: &CancellationToken,
    ) -> CallEnd {
        let mut outcome = match self.outcome((scope, name), &arguments, limits, stop).await {
            Ok(outcome) => outcome,
            Err(fault) => return fault,
        };
        // The task is run again from its start, and a recording has no place for a call that was given up.
        if matches!(outcome.result, Err(CallError::Cancelled)) {
            return CallEnd { outcome, kept: None, fault: None };
        }
        outcome.result = outcome.result.map(|result| without_secrets(result, self.redactor()));
        if let Some(recorder) = &self.recorder {
            recorder.record_call(scope, &name.to_string(), &arguments, to_record(&outcome));
        }
        let Ok(result) = &outcome.result else { return CallEnd { outcome, kept: None, fault: None } };
        if links_of(result).next().is_some() {
            self.note_links(scope, &name.server);
        }
        let known = self.recorded_files(scope, number);
        match self.keep((name, number), arguments, result.clone(), (before, known)).await {
            Ok(kept) => {
                self.record_files(scope, number, &kept);
                CallEnd { outcome, kept: Some(kept), fault: None }
            }
            Err(fault) => CallEnd { outcome, kept: None, fault: Some(fault) },
        }
    }

    /// The files of the workspace that the files of a result are, by the part of the result, as the cassette recorded
    /// them.
    fn recorded_files(&self, scope: &Scope, number: u64) -> BTreeMap<usize, WorkspaceFile> {
        let Source::Replayed(cassette) = &self.source else { return BTreeMap::new() };
        let (name, arguments) = of_result(number);
        let recorded = cassette.call(scope, &name, &arguments).ok().and_then(own_value);
        recorded.and_then(|files| serde_json::from_value(files).ok()).unwrap_or_default()
    }

    /// Records which files of the workspace the files of a result are: a replay without servers could not find them.
    fn record_files(&self, scope: &Scope, number: u64, kept: &KeptResult) {
        let Some(recorder) = &self.recorder else { return };
        let own_files =
            kept.files.iter().filter(|file| !file.is_put).map(|file| (file.part, file.in_workspace()));
        let own_files: BTreeMap<usize, WorkspaceFile> = own_files.collect();
        if !own_files.is_empty() {
            let (name, arguments) = of_result(number);
            recorder.record_call(scope, &name, &arguments, of_our_own(json!(own_files)));
        }
    }

    /// Notes that a server's result has linked to resources. Whether they can be read is known from the server's
    /// handshake, which a cassette replays.
    fn note_links(&self, scope: &Scope, server: &str) {
        let mut linking = self.linking.lock().unwrap_or_else(PoisonError::into_inner);
        if linking.contains_key(server) {
            return;
        }
        let name = own_name("reads_resources");
        let arguments = Map::from_iter([("server".to_owned(), json!(server))]);
        let can_read = match &self.source {
            Source::Live(host) => host.reads_resources(server),
            Source::Replayed(cassette) => {
                let recorded = cassette.call(scope, &name, &arguments).ok();
                recorded.and_then(own_value) == Some(Value::Bool(true))
            }
        };
        if let Some(recorder) = &self.recorder {
            recorder.record_call(scope, &name, &arguments, of_our_own(json!(can_read)));
        }
        linking.insert(server.to_owned(), can_read);
    }

    /// The servers whose results have linked to resources that can be read.
    pub(super) fn readable(&self) -> Vec<String> {
        let linking = self.linking.lock().unwrap_or_else(PoisonError::into_inner);
        linking.iter().filter(|(_, can_read)| **can_read).map(|(server, _)| server.clone()).collect()
    }

    async fn outcome(
        &self,
        (scope, name): (&Scope, &ToolName),
        arguments: &Map<String, Value>,
        limits: CallLimits,
        stop: &CancellationToken,
    ) -> Result<CallOutcome, CallEnd> {
        match &self.source {
            Source::Live(host) => {
                let give_up = CancellationToken::new();
                let mut call = std::pin::pin!(host.call_within(name, arguments.clone(), limits, &give_up));
                let patience = async {
                    stop.cancelled().await;
                    tokio::time::sleep(GRACE).await;
                };
                tokio::select! {
                    outcome = &mut call => return Ok(outcome),
                    () = patience => give_up.cancel(),
                }
                Ok(call.await)
            }
            Source::Replayed(cassette) => match cassette.call(scope, &name.to_string(), arguments) {
                Ok(call) => Ok(from_record(name, call)),
                Err(others) => {
                    let shown = shortened(&json!(arguments).to_string(), SHOWN);
                    let tool = shortened(&name.to_string(), SHOWN);
                    let reason = match others {
                        Others::None => "\nhint: record the run again".to_owned(),
                        others => format!(": {others}"),
                    };
                    let task = shortened(&scope.task, SHOWN);
                    let fault = format!(
                        "the cassette has no call of `{tool}` with {shown} for the task `{task}`{reason}"
                    );
                    let unavailable =
                        CallError::Unavailable { server: name.server.clone(), reason: fault.clone() };
                    let fault = Some(Stop::Error(FailureClass::Other, fault));
                    let (elapsed, waited) = (Duration::ZERO, Duration::ZERO);
                    let outcome = CallOutcome { result: Err(unavailable), elapsed, waited };
                    Err(CallEnd { outcome, kept: None, fault })
                }
            },
        }
    }

    /// Keeps a result. Writing blocks on the disk, so it does not run on the thread of other tasks.
    async fn keep(
        &self,
        (name, number): (&ToolName, u64),
        arguments: Map<String, Value>,
        result: ToolResult,
        (before, mut known): (Option<Arc<WorkspaceBefore>>, BTreeMap<usize, WorkspaceFile>),
    ) -> Result<KeptResult, Stop> {
        let (store, name) = (Arc::clone(&self.store), name.clone());
        let keep = move || {
            let mut search = before.as_deref().map(|before| Search::new(before, &arguments, &result));
            let mut find = |saved: &SavedFile| {
                known.remove(&saved.part).or_else(|| search.as_mut().and_then(|search| search.find(saved)))
            };
            store.keep_as((number, &name), &Value::Object(arguments.clone()), &result, &mut find)
        };
        match tokio::task::spawn_blocking(keep).await {
            Ok(Ok(kept)) => Ok(kept),
            Ok(Err(error)) => Err(match RunBlocker::of_results(error) {
                Ok(blocker) => Stop::RunBlocker(blocker),
                Err(error) => Stop::Error(FailureClass::Other, error.to_string()),
            }),
            Err(error) => {
                let reason = format!("the result of a call cannot be kept: {error}");
                Err(Stop::Error(FailureClass::Other, reason))
            }
        }
    }

    /// The image files of the workspace, as `list` finds them; a cassette replays the list, because without the
    /// servers the files are not there.
    pub(super) async fn image_files(
        &self,
        scope: &Scope,
        step: u32,
        list: impl FnOnce() -> Vec<String> + Send + 'static,
    ) -> Vec<String> {
        let name = own_name("image_files");
        let arguments = Map::from_iter([("step".to_owned(), json!(step))]);
        let files: Vec<String> = match &self.source {
            Source::Replayed(cassette) => {
                let recorded = cassette.call(scope, &name, &arguments).ok();
                let files = recorded.and_then(own_value);
                files.and_then(|files| serde_json::from_value(files).ok()).unwrap_or_default()
            }
            Source::Live(_) => tokio::task::spawn_blocking(list).await.unwrap_or_default(),
        };
        if let Some(recorder) = &self.recorder {
            recorder.record_call(scope, &name, &arguments, of_our_own(json!(files)));
        }
        files
    }

    pub(super) fn redactor(&self) -> &Redactor {
        self.store.redactor()
    }
}

/// The name of a record that has the form of a call but is not one: its server is empty, as no real server's name is.
fn own_name(what: &str) -> String {
    format!("/{what}")
}

/// The name and the arguments of the record, in the form of a call, that holds the files of a result.
fn of_result(number: u64) -> (String, Map<String, Value>) {
    (own_name("result_files"), Map::from_iter([("result".to_owned(), json!(number))]))
}

/// Gives a value the form of a recorded call, although it is not one.
fn of_our_own(value: Value) -> RecordedCall {
    let result = ToolResult { structured_content: Some(value), ..ToolResult::default() };
    RecordedCall { result: Ok(result.to_wire()), elapsed: Duration::ZERO, waited: Duration::ZERO }
}

/// The value that was given to [`of_our_own`].
fn own_value(call: RecordedCall) -> Option<Value> {
    ToolResult::from_wire(call.result.ok()?).structured_content
}
