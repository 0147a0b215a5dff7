//! Asks a model for one reply of many, counts failures that concern the other requests too, and ends soon when the work
//! is stopped.

use std::time::Duration;

use m3_llm::{Breaker, FailureScope, Model, ModelBlocker, ModelError, Reply, Request, Retry, Scope};
use m3_support::text::{error_with_causes, on_one_line, shortened};
use tokio_util::sync::CancellationToken;

/// The time that a reply under way still has once the work is stopped: the reply has to be paid for, but whoever stops
/// the work does not want to wait.
const GRACE: Duration = Duration::from_secs(1);

/// The longest reason that is reported, in columns.
const REASON: usize = 300;

/// A model that is asked one question after another.
#[derive(Clone, Copy)]
pub(crate) struct AskedModel<'a> {
    pub(crate) model: &'a Model,
    /// Decides whether the model is still worth asking.
    pub(crate) breaker: &'a Breaker,
    /// Gets each failed try.
    pub(crate) on_retry: &'a (dyn Fn(Retry) + Send + Sync),
    /// Once this token is cancelled, nothing more is asked.
    pub(crate) stop: &'a CancellationToken,
}

/// Why there is no reply.
pub(crate) enum NoReply {
    /// The work was stopped.
    Stopped,
    /// The request failed.
    Failed {
        /// The reason; an `Err` concerns this request only.
        cause: Result<ModelBlocker, ModelError>,
        /// What the failure concerns.
        scope: FailureScope,
    },
}

impl AskedModel<'_> {
    /// Asks for the reply to a request about an item. `is_first` tells whether the model has replied to no other
    /// request about this item.
    pub(crate) async fn ask(
        &self,
        request: &Request,
        scope: &Scope,
        (item, is_first): (&str, bool),
    ) -> Result<Reply, NoReply> {
        if self.stop.is_cancelled() {
            return Err(NoReply::Stopped);
        }
        let patience = async {
            self.stop.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        let answered = tokio::select! {
            answered = self.model.ask(request, scope, self.on_retry) => answered,
            () = patience => return Err(NoReply::Stopped),
        };
        match answered {
            Ok(answered) => {
                self.breaker.replied();
                Ok(answered.reply)
            }
            Err(error) => {
                let cause = ModelBlocker::of_error(error, is_first);
                let scope =
                    cause.as_ref().map_or(FailureScope::Task, |blocker| self.breaker.failed(item, blocker));
                Err(NoReply::Failed { cause, scope })
            }
        }
    }
}

/// Why a request failed, on one line.
pub(crate) fn reason_of_failure(cause: &Result<ModelBlocker, ModelError>) -> String {
    match cause {
        Ok(blocker) => reason(blocker),
        Err(error) => reason(error),
    }
}

/// An error with its causes in the form in which reports give it, on one line.
pub(crate) fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    shortened(&on_one_line(&error_with_causes(error)), REASON)
}
