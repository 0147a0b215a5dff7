//! Stand-ins for types that other branches bring; removed when they are merged.
#![expect(
    missing_docs,
    clippy::unused_async,
    clippy::must_use_candidate,
    clippy::missing_errors_doc,
    dead_code,
    reason = "stand-ins"
)]
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::llm::{ModelName, Picture, Reply, Request, Scope};
use crate::mcp::{CallOutcome, ToolCatalog, ToolName};

pub struct Model {
    name: ModelName,
}
#[derive(Debug, thiserror::Error)]
#[error("model")]
pub struct ModelError;
pub struct Answered {
    pub reply: Reply,
    pub tries: u32,
    pub elapsed: Duration,
}
pub struct Retry {
    pub reason: String,
    pub wait: Duration,
}
impl Model {
    pub async fn ask(
        &self,
        _request: &Request,
        _scope: &Scope,
        _told: &(dyn Fn(Retry) + Send + Sync),
    ) -> Result<Answered, ModelError> {
        Err(ModelError)
    }
    pub fn image_limits(&self) -> (u32, usize) {
        (0, 0)
    }
    pub fn name(&self) -> &ModelName {
        &self.name
    }
}
pub struct PictureLimits {
    pub max_side: u32,
    pub max_bytes: usize,
}
pub fn open_picture(_path: &Path, _limits: &PictureLimits) -> Result<Picture, ModelError> {
    Err(ModelError)
}
pub struct Recorder;
impl Recorder {
    pub fn record_call(
        &self,
        _scope: &Scope,
        _tool: &ToolName,
        _arguments: &Map<String, Value>,
        _outcome: &CallOutcome,
    ) {
    }
}
pub struct Cassette;
impl Cassette {
    pub fn call(
        &self,
        _scope: &Scope,
        _tool: &ToolName,
        _arguments: &Map<String, Value>,
    ) -> Option<CallOutcome> {
        None
    }
    pub fn catalog(&self) -> Option<ToolCatalog> {
        None
    }
}
