//! A server within this process: its toolbox is called directly, with the same limits as other servers.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::call_failure::CallFailure;
use super::config::Timeouts;
use super::content::ToolResult;
use super::toolbox::{Answer, Toolbox};

/// The code of JSON-RPC for a tool with an unknown name (MCP, "Error Handling").
const INVALID_PARAMS: i32 = -32_602;

/// A server within this process. A crash ends it as it would end a process: running calls are lost.
pub(super) struct Direct {
    pub(super) toolbox: Arc<dyn Toolbox>,
    pub(super) ended: CancellationToken,
}

impl Direct {
    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        timeouts: &Timeouts,
        cancel: &CancellationToken,
    ) -> Result<ToolResult, CallFailure> {
        let toolbox = Arc::clone(&self.toolbox);
        let name = tool.to_owned();
        // Runs as a separate task, so that a panic or endless work in the toolbox does not affect the caller.
        let task = tokio::spawn(async move { toolbox.call(&name, arguments).await });
        let mut answering = AbortOnDropHandle::new(task);
        let answer = tokio::select! {
            biased;
            answer = &mut answering => answer.unwrap_or(Answer::Crash),
            () = self.ended.cancelled() => return Err(CallFailure::Died(None)),
            () = cancel.cancelled() => return Err(CallFailure::Cancelled),
            () = sleep(timeouts.total) => return Err(CallFailure::Total),
            () = sleep(timeouts.idle) => return Err(CallFailure::Idle),
        };
        match answer {
            Answer::Result(result) => Ok(result),
            Answer::UnknownTool => {
                Err(CallFailure::Protocol { code: INVALID_PARAMS, message: format!("Unknown tool: {tool}") })
            }
            Answer::InvalidArguments(problem) => Ok(ToolResult::error(problem)),
            Answer::ProtocolError { code, message } => Err(CallFailure::Protocol { code, message }),
            Answer::Crash => {
                self.ended.cancel();
                Err(CallFailure::Died(None))
            }
        }
    }
}
