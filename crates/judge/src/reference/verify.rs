//! Replays a reference against servers: it is kept only if every call succeeds.

use std::sync::Arc;

use m3_outcomes::{ClassifiedCall, Outcome, Replay, ReplayedTrajectory, Verdict};
use m3_support::canonical::hash_of;
use m3_support::text::shortened;
use m3_trajectory::json::Keys;
use m3_trajectory::{Trajectory, file_names};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::JudgeError;
use super::journal::{JournalRecord, JudgeJournal};
use super::provenance::{FailedCall, Verification, VerificationResult};
use crate::CallPlace;

/// The longest reason from a server that is kept, in columns.
const REASON: usize = 300;

/// Replays references.
pub struct Verifier {
    replay: Replay,
    journal: Arc<JudgeJournal>,
    /// The hash of the servers' configuration.
    servers: String,
    stop: CancellationToken,
}

impl Verifier {
    /// Creates a verifier that replays with these servers until `stop` is cancelled. `servers` is their configuration's
    /// hash.
    #[must_use]
    pub fn new(replay: Replay, journal: Arc<JudgeJournal>, servers: String, stop: CancellationToken) -> Self {
        Self { replay, journal, servers, stop }
    }

    /// Stops the servers that references share.
    pub async fn close(&self) {
        self.replay.close().await;
    }

    /// The hash of everything that a replay depends on: task, servers, image, calls, and the names of files expected in
    /// results.
    fn key(&self, reference: &Trajectory, image: Option<&str>) -> String {
        let results = reference.calls().map(|(_, call)| call.result.as_ref());
        let names = results.map(|result| result.map(file_names).unwrap_or_default());
        let names: Vec<Vec<Option<&str>>> = names.collect();
        let mut calls =
            Trajectory { id: String::new(), steps: reference.steps.clone(), ..Trajectory::default() };
        calls.steps.iter_mut().flat_map(|step| &mut step.calls).for_each(|call| call.result = None);
        let mut depends = json!({
            "kind": "judge verification",
            "task": reference.id,
            "servers": self.servers,
            "path": reference.image,
            "image": image,
            "steps": calls.into_json().to_text(Keys::Sorted),
        });
        if names.iter().flatten().any(Option::is_some) {
            depends["files"] = json!(names);
        }
        hash_of(&depends)
    }

    /// Replays a reference, unless it was replayed before with the same servers and image. `image` is the hash of its
    /// file.
    pub(super) async fn verify(
        &self,
        reference: &Trajectory,
        image: Option<&str>,
    ) -> Result<Verification, JudgeError> {
        let key = self.key(reference, image);
        if let Some(JournalRecord::Verification(verification)) = self.journal.get(&key) {
            return Ok(verification);
        }
        if self.stop.is_cancelled() {
            return Err(JudgeError::Interrupted);
        }
        let replayed = self.replay.replay(reference.clone(), &self.stop).await?;
        let verification = verification(&replayed, &self.servers);
        // A server that could not be reached may be there the next time.
        if verification.result != VerificationResult::NotPossible {
            self.journal.keep(&key, &reference.id, JournalRecord::Verification(verification.clone()))?;
        }
        Ok(verification)
    }
}

fn verification(replayed: &ReplayedTrajectory, servers: &str) -> Verification {
    // Calls in the final reply are not calls of the reference.
    let calls: Vec<&ClassifiedCall> = replayed.calls.iter().filter(|call| call.place.is_some()).collect();
    let is_success =
        |call: &ClassifiedCall| call.classification.verdict().outcome() == Some(Outcome::Success);
    let failures: Vec<FailedCall> =
        calls.iter().filter(|call| !is_success(call)).filter_map(|call| failed(call)).collect();
    let has_failed = calls.iter().any(|call| {
        call.classification.verdict().outcome().is_some_and(|outcome| outcome != Outcome::Success)
    });
    let result = match (failures.is_empty(), has_failed) {
        (true, _) => VerificationResult::Passed,
        (false, true) => VerificationResult::Failed,
        (false, false) => VerificationResult::NotPossible,
    };
    let unavailable = replayed.unavailable.iter();
    let unavailable = unavailable.map(|(server, reason)| shortened(&format!("{server}: {reason}"), REASON));
    Verification {
        result,
        servers: servers.to_owned(),
        calls: calls.len(),
        failures,
        unavailable: unavailable.collect(),
    }
}

fn failed(call: &ClassifiedCall) -> Option<FailedCall> {
    let place = call.place?;
    let outcome = match call.classification.verdict() {
        Verdict::NotExecuted => "not_answered",
        verdict => verdict.name(),
    };
    Some(FailedCall {
        place: CallPlace { step: place.step, call: place.call },
        tool: call.tool.clone().unwrap_or_default(),
        outcome: outcome.to_owned(),
        evidence: call.classification.evidence.clone(),
    })
}
