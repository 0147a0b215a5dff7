//! Answers the requests of one connection from a [`Toolbox`].

use std::borrow::Cow;
use std::sync::Arc;

use m3_support::text::shortened;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    ErrorData, Implementation, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ServerCapabilities,
    ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::incoming::REFUSED;
use super::transport::Crash;
use crate::{Answer, ToolResult, Toolbox};

/// The most tools on a page of `tools/list`.
const PAGE_TOOLS: usize = 100;

/// A page of `tools/list` ends with the tool that makes it longer than this, in bytes of JSON.
const PAGE_BYTES: usize = 1 << 20;

/// The longest name that is repeated in an error, in columns.
const MAX_NAME: usize = 100;

/// One connection to a toolbox.
pub(super) struct Handler(pub(super) Arc<dyn Toolbox>);

impl Handler {
    /// A page of the list of tools. The cursor is the index of its first tool.
    fn list(&self, cursor: Option<&str>) -> Result<Value, ErrorData> {
        let tools = self.0.tools();
        let in_list = |cursor: &str| cursor.parse::<usize>().ok().filter(|start| *start < tools.len());
        let Some(start) = cursor.map_or(Some(0), in_list) else {
            return Err(invalid_params("the cursor is none of this server's"));
        };
        let (mut page, mut bytes) = (Vec::new(), 0);
        for tool in tools[start..].iter().take(PAGE_TOOLS) {
            let tool = serde_json::to_value(tool)
                .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
            bytes += tool.to_string().len();
            page.push(tool);
            if bytes > PAGE_BYTES {
                break;
            }
        }
        let next = start + page.len();
        let mut result = json!({ "tools": page });
        if next < tools.len() {
            result["nextCursor"] = json!(next.to_string());
        }
        Ok(result)
    }

    /// Answers a call. Dropping the future ends the call.
    async fn call(&self, params: Option<Value>, crashed: &CancellationToken) -> Result<Value, ErrorData> {
        let (tool, arguments) = call_of(params)?;
        let (toolbox, name) = (Arc::clone(&self.0), tool.clone());
        // Runs as a separate task, so that a panic becomes an error of this call.
        let call = AbortOnDropHandle::new(tokio::spawn(async move { toolbox.call(&name, arguments).await }));
        let answer = tokio::select! {
            answer = call => answer,
            // This answer is never sent: the connection is gone.
            () = crashed.cancelled() => Ok(Answer::Crash),
        };
        match answer {
            Ok(Answer::Result(result)) => Ok(result.to_wire()),
            Ok(Answer::UnknownTool) => {
                Err(invalid_params(format!("unknown tool `{}`", shortened(&tool, MAX_NAME))))
            }
            Ok(Answer::InvalidArguments(problem)) => Ok(ToolResult::error(problem).to_wire()),
            Ok(Answer::ProtocolError { code, message }) => {
                Err(ErrorData::new(ErrorCode(code), message, None))
            }
            Ok(Answer::Crash) => {
                crashed.cancel();
                Err(ErrorData::internal_error("the server crashed", None))
            }
            Err(error) => Err(ErrorData::internal_error(
                format!("`{}` failed: {error}", shortened(&tool, MAX_NAME)),
                None,
            )),
        }
    }
}

/// Name and arguments of `tools/call`.
fn call_of(params: Option<Value>) -> Result<(String, Map<String, Value>), ErrorData> {
    let Some(Value::Object(mut params)) = params else {
        return Err(invalid_params("`tools/call` needs an object with `name` and `arguments`"));
    };
    let Some(Value::String(name)) = params.remove("name") else {
        return Err(invalid_params("`name` must be the name of a tool"));
    };
    match params.remove("arguments") {
        None | Some(Value::Null) => Ok((name, Map::new())),
        Some(Value::Object(arguments)) => Ok((name, arguments)),
        Some(_) => Err(invalid_params("`arguments` must be an object")),
    }
}

fn invalid_params(message: impl Into<Cow<'static, str>>) -> ErrorData {
    ErrorData::invalid_params(message, None)
}

/// Converts an answer of this server to the corresponding type of `rmcp`.
fn typed<T: serde::de::DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let server = Implementation::new(self.0.name(), env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(server)
            .with_protocol_version(ProtocolVersion::V_2025_11_25)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::known_up_to(&ProtocolVersion::V_2025_11_25))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let answering = async {
            match request.method.as_str() {
                "tools/list" => {
                    let cursor = request.params.as_ref().and_then(|params| params.get("cursor"));
                    match cursor {
                        None | Some(Value::Null) => self.list(None),
                        Some(Value::String(cursor)) => self.list(Some(cursor)),
                        Some(_) => Err(invalid_params("`cursor` must be a string")),
                    }
                }
                "tools/call" => {
                    let crash = context.extensions.get::<Crash>();
                    let crashed = crash.map_or_else(CancellationToken::new, |crash| crash.0.clone());
                    self.call(request.params, &crashed).await
                }
                REFUSED => {
                    let reason = request.params.as_ref().and_then(|params| params.get("reason"));
                    let reason = reason.and_then(Value::as_str).unwrap_or("the message cannot be read");
                    Err(ErrorData::invalid_request(shortened(reason, 2 * MAX_NAME), None))
                }
                method => Err(ErrorData::new(
                    ErrorCode::METHOD_NOT_FOUND,
                    format!("unknown method `{}`", shortened(method, MAX_NAME)),
                    None,
                )),
            }
        };
        tokio::select! {
            answer = answering => answer.map(CustomResult::new),
            // This answer is never sent: the client has cancelled.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }

    // Requests without a session bypass our transport, so they get `rmcp`'s own types.

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        typed(self.list(cursor.as_deref())?)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let params = json!({ "name": request.name, "arguments": request.arguments });
        let crashed = CancellationToken::new();
        tokio::select! {
            answer = self.call(Some(params), &crashed) => {
                Ok(CallToolResponse::from(typed::<CallToolResult>(answer?)?))
            }
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
        }
    }
}
