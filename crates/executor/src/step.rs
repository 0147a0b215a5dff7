//! A step: the calls of one reply, made at once; their outcomes are decided and their results kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use m3_mcp::results::{KeptResult, SavedFile, structured_without_data};
use m3_mcp::{CallLimits, Content, ToolName, ToolResult};
use m3_outcomes::{CallChecker, CallResult, Outcome, Precheck, Reply};
use m3_support::text::{counted, milliseconds, shortened};
use m3_trajectory::Call;
use m3_trajectory::json::Json;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::attempt_state::AttemptState;
use super::observation::{Observation, RawObservation};
use super::parse::ParsedCall;
use super::stop::Stop;
use super::tools::CallEnd;
use super::workspace_pictures::WorkspaceBefore;
use super::{CallRecord, Event, StepRecord};

/// The longest result that is recorded whole, in bytes. A longer one is recorded as the model would see it, with the
/// name of the file that has the whole.
const LARGEST_RECORDED: usize = 1 << 20;

/// The time limit for checking arguments. Checks are bounded, and take milliseconds.
const CHECK_TIME: Duration = Duration::from_secs(5);

/// The longest reason that a model is told, in columns.
const REASON: usize = 300;

/// A call that was made, or was not possible.
struct ExecutedCall {
    record: CallRecord,
    seen: RawObservation,
    fault: Option<Stop>,
}

impl AttemptState<'_> {
    /// Makes the calls of a reply. Returns the result of each in order; calls beyond a limit are included but not
    /// made. At least one call should be left ([`AttemptState::calls_left`]).
    pub(super) async fn run_step(&mut self, mut wanted: Vec<ParsedCall>) -> Result<Vec<Observation>, Stop> {
        let allowed = self.attempt.options.limits.calls_per_step.max(1).min(self.calls_left());
        let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
        let further = wanted.split_off(allowed.min(wanted.len()));
        if !further.is_empty() {
            let further = further.len();
            self.note([format!(
                "{allowed} of {} were made: no more are allowed",
                counted(allowed + further, "call")
            )]);
        }
        let checked = self.check_calls(&wanted).await;
        let step = self.next_step();
        let first = self.attempt.tools.reserve(wanted.len());
        let limits = self.call_limits();
        let before = self.attempt.tools.workspace_before(self.pool.folder()).await;
        let calls = wanted.iter().zip(checked).enumerate();
        let ran = calls
            .map(|(index, wanted)| self.run_call(step, (index, first), wanted, (limits, before.clone())));
        let ran = join_all(ran).await;
        let (mut calls, mut seen, mut fault) = (Vec::new(), Vec::new(), None);
        for ran in ran {
            calls.push(ran.record);
            seen.push(ran.seen);
            fault = fault.or(ran.fault);
        }
        self.steps.push(StepRecord { step, calls });
        if let Some(fault) = fault {
            return Err(fault);
        }
        if let Some(more) = self.attempt.offered.with_resources_of(&self.attempt.tools.readable()) {
            self.attempt.offered = Arc::new(more);
        }
        self.check()?;
        let folder = self.pool.folder();
        let list = move || folder.list();
        let files = self.attempt.tools.image_files(&self.attempt.scope, step, list).await;
        self.has_new_images = self.pool.update(files);
        let mut observations = self.observe(seen).await?;
        let not_made = format!("not made: no more than {allowed} calls are allowed here");
        observations.extend(further.into_iter().map(|wanted| Observation::error(wanted.name, &not_made)));
        self.check()?;
        Ok(observations)
    }

    async fn run_call(
        &self,
        step: u32,
        (index, first): (usize, u64),
        (wanted, checked): (&ParsedCall, Option<Precheck>),
        limits: (CallLimits, Option<Arc<WorkspaceBefore>>),
    ) -> ExecutedCall {
        let call = u32::try_from(index).unwrap_or(u32::MAX);
        // Terminals and journals show the name, and models may write anything.
        let tool = shortened(&self.attempt.redactor.text(&self.exact_name(&wanted.name)), REASON);
        self.tell(Event::Called { step, call, tool: tool.clone() });
        let ran = if let Some(checked) = checked {
            self.checked_call((wanted, checked), first + index as u64, limits).await
        } else {
            let reason = wanted.illegal.as_deref().unwrap_or_default();
            illegal(self.exact_name(&wanted.name), wanted, reason)
        };
        let CallRecord { outcome, milliseconds, .. } = &ran.record;
        let (outcome, milliseconds) = (outcome.clone(), *milliseconds);
        self.tell(Event::Returned { step, call, tool, outcome, milliseconds });
        ran
    }

    /// Checks the calls of a step except illegal ones, on a thread that can be left behind: schemas and arguments come
    /// from strangers. All calls are checked before the first is made, so that they are sent in the order of the reply.
    async fn check_calls(&self, wanted: &[ParsedCall]) -> Vec<Option<Precheck>> {
        let call = |wanted: &ParsedCall| Call {
            tool: self.exact_name(&wanted.name),
            arguments: Some(Json::from(&wanted.arguments)),
            result: None,
            extra: Vec::new(),
        };
        let calls: Vec<Option<Call>> =
            wanted.iter().map(|wanted| wanted.illegal.is_none().then(|| call(wanted))).collect();
        let done = Arc::new(Mutex::new(Vec::with_capacity(calls.len())));
        let (offered, same, each) = (Arc::clone(&self.attempt.offered), calls.clone(), Arc::clone(&done));
        let checking = tokio::task::spawn_blocking(move || {
            let checker = CallChecker::new(offered.known());
            for call in &same {
                let precheck = call.as_ref().map(|call| checker.check(call));
                each.lock().unwrap_or_else(PoisonError::into_inner).push(precheck);
            }
        });
        // The tool whose check did not end is told; after a stop none is to blame.
        let mut reason = tokio::select! {
            _ = checking => None,
            () = self.attempt.stop.cancelled() => None,
            () = tokio::time::sleep(CHECK_TIME) => Some("a check of arguments did not end"),
        };
        let mut checked = std::mem::take(&mut *done.lock().unwrap_or_else(PoisonError::into_inner));
        let without_schemas = CallChecker::new(self.attempt.offered.known());
        for call in calls.iter().skip(checked.len()) {
            let unchecked = |call: &Call| without_schemas.check_without_arguments(call, reason.take());
            checked.push(call.as_ref().map(unchecked));
        }
        checked
    }

    /// Makes a call, decides its outcome, and keeps its result under a number.
    async fn checked_call(
        &self,
        (wanted, checked): (&ParsedCall, Precheck),
        number: u64,
        limits: (CallLimits, Option<Arc<WorkspaceBefore>>),
    ) -> ExecutedCall {
        let name = self.exact_name(&wanted.name);
        let calls = CallChecker::new(self.attempt.offered.known());
        // Arguments that do not match the schema are sent all the same: many servers accept them.
        let sent = checked.arguments.clone().zip(ToolName::parse(&name));
        let Some((arguments, tool)) = sent else {
            let classification = calls.finish(checked, Reply::NotExecuted);
            let reason = not_made(&name, classification.verdict().outcome(), &classification.evidence);
            let record = CallRecord {
                name: name.clone(),
                arguments: wanted.arguments.clone(),
                result: None,
                is_error: true,
                outcome: classification.verdict().name().to_owned(),
                milliseconds: 0,
            };
            return ExecutedCall { record, seen: RawObservation::text(name, reason, true), fault: None };
        };
        let called = self
            .attempt
            .tools
            .call(&self.attempt.scope, (&tool, number), arguments.clone(), limits, &self.attempt.stop)
            .await;
        let CallEnd { outcome, kept, fault } = called;
        let given = match &outcome.result {
            Ok(result) => {
                let files = kept.as_ref().map(|kept| kept.files.as_slice()).unwrap_or_default();
                CallResult::answered(&without_data(result, files))
            }
            Err(error) => CallResult::failed(&tool, error, self.attempt.tools.redactor()),
        };
        let seen = match (&outcome.result, kept.clone()) {
            (Ok(result), Some(kept)) => RawObservation::result(name.clone(), result.clone(), kept),
            (Ok(_), None) => RawObservation::text(name.clone(), "the result is lost".to_owned(), true),
            (Err(error), _) => {
                let reason = self.attempt.tools.redactor().text(&error.to_string()).into_owned();
                RawObservation::text(
                    name.clone(),
                    format!("The call failed: {}", shortened(&reason, REASON)),
                    true,
                )
            }
        };
        let (result, is_error) = given
            .result
            .map_or((None, false), |(result, is_error)| (Some(bounded(result, kept.as_ref())), is_error));
        let record = CallRecord {
            name,
            arguments: Value::Object(arguments),
            result,
            is_error,
            outcome: calls.finish(checked, given.reply).verdict().name().to_owned(),
            milliseconds: milliseconds(outcome.elapsed),
        };
        ExecutedCall { record, seen, fault }
    }

    /// The tool's name as the benchmark writes it, if the model wrote it in the form that providers' interfaces
    /// allow.
    pub(super) fn exact_name(&self, written: &str) -> String {
        let names = self.attempt.offered.names().ok();
        names.and_then(|names| names.tool(written)).map_or_else(|| written.to_owned(), ToString::to_string)
    }

    /// The time limits of the calls of a step that begins now.
    fn call_limits(&self) -> CallLimits {
        let limits = &self.attempt.options.limits;
        let since = Instant::now();
        let left = self.deadline().saturating_duration_since(since);
        CallLimits { sent: limits.call_time, whole: limits.step_time.min(left), since }
    }
}

/// Something that is not a call: recorded as it was written, with the reason as its result.
fn illegal(name: String, wanted: &ParsedCall, reason: &str) -> ExecutedCall {
    let record = CallRecord {
        name: name.clone(),
        arguments: wanted.arguments.clone(),
        result: Some(Value::String(reason.to_owned())),
        is_error: true,
        outcome: Outcome::IllegalFormat.name().to_owned(),
        milliseconds: 0,
    };
    let seen = RawObservation::text(name, format!("No call was made: {reason}."), true);
    ExecutedCall { record, seen, fault: None }
}

/// Why a call was not made, in words for the model.
fn not_made(name: &str, outcome: Option<Outcome>, evidence: &str) -> String {
    match outcome {
        Some(Outcome::UnknownTool) => {
            format!("No call was made: `{}` is none of the tools.", shortened(name, REASON))
        }
        _ => format!("No call was made: the arguments are no object that the tool takes: {evidence}"),
    }
}

/// The result with saved files in place of their data.
fn without_data(result: &ToolResult, files: &[SavedFile]) -> ToolResult {
    let part = |(index, content): (usize, &Content)| {
        let saved = files.iter().find(|file| file.part == index);
        let mut members = match content {
            Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => {
                let kind = if matches!(content, Content::Image { .. }) { "image" } else { "audio" };
                let mime_type = json!(mime_type);
                Map::from_iter([("type".to_owned(), json!(kind)), ("mimeType".to_owned(), mime_type)])
            }
            Content::Resource(resource) if resource.contains_key("blob") => resource.clone(),
            other => return other.clone(),
        };
        members.remove("blob");
        members.insert("file".to_owned(), json!(saved.map(|saved| &saved.file)));
        if let Some(saved) = saved.filter(|saved| saved.is_put) {
            // Whoever makes the calls again puts the file there too.
            members.insert("name".to_owned(), json!(saved.name));
        }
        match content {
            Content::Resource(_) => Content::Resource(members),
            _ => Content::Other(Value::Object(members)),
        }
    };
    ToolResult {
        content: result.content.iter().enumerate().map(part).collect(),
        structured_content: structured_without_data(result, files),
        is_error: result.is_error,
        extra: result.extra.clone(),
    }
}

/// The result, or what the model would see of it if it is too large for a record.
fn bounded(result: Value, kept: Option<&KeptResult>) -> Value {
    let size = result.as_str().map_or_else(|| result.to_string().len(), str::len);
    match kept {
        Some(kept) if size > LARGEST_RECORDED => Value::String(kept.text.clone()),
        _ => result,
    }
}
