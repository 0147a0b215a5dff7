//! When the work is stopped, waits for replies that are under way, because they have to be paid for; but
//! whoever stops it does not want to wait.

use std::time::Duration;

use m3_llm::{Model, ModelAnswer, ModelError, Request, Retry, Scope};
use tokio_util::sync::CancellationToken;

/// How long a reply that is under way may take once the work is stopped.
const GRACE: Duration = Duration::from_secs(1);

/// Asks a model. `None` if `stop` was cancelled before, or if no reply came within a second after it was.
pub(super) async fn ask_until_stopped(
    model: &Model,
    request: &Request,
    scope: &Scope,
    told: &(dyn Fn(Retry) + Send + Sync),
    stop: &CancellationToken,
) -> Option<Result<ModelAnswer, ModelError>> {
    if stop.is_cancelled() {
        return None;
    }
    let patience = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        answered = model.ask(request, scope, told) => Some(answered),
        () = patience => None,
    }
}
