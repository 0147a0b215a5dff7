//! Servers and their tools: the health of each (`m3.health/1`), the tools of each, and tools found by a search
//! (`m3.search/1`). All texts come from servers and are made safe to show.

use std::io::{self, Write};

use m3_mcp::{ServerState, ServerStatus, Tool, ToolCatalog};
use m3_report::Sheet;
use m3_score::CallRole;
use m3_support::redact::Redactor;
use m3_support::text::{counted, head, shortened, visible};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use unicode_width::UnicodeWidthStr as _;

use crate::report::Table;

/// The report that `m3 tools --health --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.health/1")]
pub(crate) struct HealthReport {
    /// Always `m3.health/1`.
    pub(crate) schema: String,
    /// The servers in the order of the configuration.
    pub(crate) servers: Vec<ServerHealth>,
}

/// The health of a server.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(crate) struct ServerHealth {
    /// The name of the server in the configuration.
    pub(crate) server: String,
    /// The state of the server: `ready`, `failed` or `disabled`.
    pub(crate) state: String,
    /// The number of tools that the server offers.
    pub(crate) tools: usize,
    /// The tools that the server lists but that cannot be used.
    pub(crate) rejected: Vec<RejectedToolReport>,
    /// The time from the server's start to the list of its tools, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_seconds: Option<f64>,
    /// The version of the protocol in the server's answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) protocol_version: Option<String>,
    /// The name and version that the server reports for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) calls_itself: Option<String>,
    /// The reason why the server failed, with a hint on what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The number of lines on the server's standard output that are not messages of the protocol.
    pub(crate) noise: u64,
    /// The last lines on the server's standard error.
    pub(crate) stderr: Vec<String>,
}

/// A tool that a server lists and that cannot be used.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct RejectedToolReport {
    /// The name of the tool, or its place in the list.
    pub(crate) name: String,
    /// The reason why the tool cannot be used.
    pub(crate) reason: String,
}

/// The report that `m3 tools --search TEXT --format json` writes.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(title = "m3.search/1")]
pub(crate) struct SearchReport {
    /// Always `m3.search/1`.
    pub(crate) schema: String,
    /// The text of the search.
    pub(crate) query: String,
    /// The name of the sentence encoder.
    pub(crate) encoder: String,
    /// The number of tools that were compared.
    pub(crate) searched: usize,
    /// The tools, the most similar first.
    pub(crate) tools: Vec<FoundTool>,
}

/// A tool that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct FoundTool {
    /// The tool as `server/tool`.
    pub(crate) tool: String,
    /// Cosine of the query and the tool's name and description, in [-1, 1].
    pub(crate) similarity: f64,
    /// The first line of the tool's description.
    pub(crate) description: String,
}

/// A catalog in the form of its file, `{server: {tools: [..]}}`, in the order of the configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CatalogFile<'a>(pub(crate) &'a ToolCatalog);

impl Serialize for CatalogFile<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Tools<'a> {
            tools: &'a [Tool],
        }
        let servers = self.0.servers.iter();
        serializer.collect_map(servers.map(|server| (&server.server, Tools { tools: &server.tools })))
    }
}

/// The most lines of standard error in a report, for each server.
const MAX_STDERR: usize = 20;

/// The longest line of standard error, or reason, in columns.
const MAX_LINE: usize = 500;

/// The most columns of a line in the list of tools.
const LINE_WIDTH: usize = 80;

/// The widest column of names of tools.
const NAME_WIDTH: usize = 40;

impl HealthReport {
    /// The health of the servers, with secrets removed.
    pub(crate) fn new(statuses: &[ServerStatus], catalog: &ToolCatalog, redactor: &Redactor) -> Self {
        let shown = |text: &str| shortened(&redactor.text(text), MAX_LINE);
        let servers = statuses.iter().map(|status| {
            let tools = catalog.servers.iter().find(|tools| tools.server == status.server);
            let rejected = tools
                .into_iter()
                .flat_map(|tools| &tools.rejected)
                .map(|tool| RejectedToolReport { name: shown(&tool.name), reason: shown(&tool.reason) });
            let skipped = status.stderr.len().saturating_sub(MAX_STDERR);
            let mut health = ServerHealth {
                server: status.server.clone(),
                tools: tools.map_or(0, |tools| tools.tools.len()),
                rejected: rejected.collect(),
                noise: status.noise,
                stderr: status.stderr[skipped..].iter().map(|line| shown(line)).collect(),
                ..ServerHealth::default()
            };
            let state = match &status.state {
                ServerState::Disabled => "disabled",
                ServerState::Ready(ready) => {
                    health.start_seconds = Some(ready.start.as_secs_f64());
                    let is_said = |text: &String| !text.is_empty();
                    health.protocol_version = Some(shown(&ready.protocol_version)).filter(is_said);
                    health.calls_itself =
                        Some(shown(format!("{} {}", ready.name, ready.version).trim())).filter(is_said);
                    "ready"
                }
                ServerState::Failed(error) => {
                    let reason = error.to_string();
                    // A reason may have several lines: the last line of standard error, and what to do.
                    let lines: Vec<String> = reason.lines().map(shown).collect();
                    health.reason = Some(lines.join("\n"));
                    "failed"
                }
                ServerState::Died { reason } => {
                    health.reason = Some(shown(&format!("it died after it was ready: {reason}")));
                    "failed"
                }
            };
            state.clone_into(&mut health.state);
            health
        });
        Self { schema: "m3.health/1".to_owned(), servers: servers.collect() }
    }

    /// The servers that failed.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &ServerHealth> {
        self.servers.iter().filter(|server| server.state == "failed")
    }

    /// Whether any server can be called.
    pub(crate) fn is_any_ready(&self) -> bool {
        self.servers.iter().any(|server| server.state == "ready")
    }

    /// The health as a table; the reasons for failures are below it.
    pub(crate) fn sheet(&self) -> Sheet {
        let ready = self.servers.iter().filter(|server| server.state == "ready").count();
        let start = |seconds: f64| format!("{seconds:.2} s");
        Table::new(&self.servers)
            .text("server", |server| server.server.clone())
            .text("state", |server| server.state.clone())
            .number("tools", "tools", |server| server.tools.to_string())
            .number("start", "start", |server| server.start_seconds.map(start).unwrap_or_default())
            .text("protocol", |server| server.protocol_version.clone().unwrap_or_default())
            .text("reports itself as", |server| server.calls_itself.clone().unwrap_or_default())
            .sheet(
                format!("{}, {ready} ready", counted(self.servers.len(), "server")),
                self.servers.iter().flat_map(notes).collect(),
            )
    }
}

fn notes(server: &ServerHealth) -> Vec<String> {
    let name = &server.server;
    let mut notes = Vec::new();
    if let Some(reason) = &server.reason {
        notes.push(format!("{name}: {}", reason.replace('\n', "; ")));
        let last = server.stderr.iter().rev().find(|line| !line.trim().is_empty());
        notes.extend(last.filter(|last| !reason.contains(*last)).map(|last| format!("{name} said: {last}")));
    }
    notes.extend(
        server
            .rejected
            .iter()
            .map(|tool| format!("{name}: tool `{}` cannot be used: {}", tool.name, tool.reason)),
    );
    if server.noise > 0 {
        let lines = counted(server.noise, "line");
        notes.push(format!("{name}: {lines} on standard output that are no messages of the protocol"));
    }
    notes
}

impl SearchReport {
    /// Writes the tools as lines for a terminal.
    ///
    /// # Errors
    /// The writer's error.
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let name =
            |tool: &FoundTool| format!("{:+.3}  {}", tool.similarity, shortened(&tool.tool, NAME_WIDTH));
        let rows: Vec<_> = self.tools.iter().map(|tool| (name(tool), tool.description.clone())).collect();
        write_rows(&rows, "", out)
    }
}

/// Writes the tools of a catalog, server by server, a line each.
///
/// # Errors
/// The writer's error.
pub(crate) fn write_tools(catalog: &ToolCatalog, out: &mut dyn Write) -> io::Result<()> {
    for (index, server) in catalog.servers.iter().filter(|server| !server.tools.is_empty()).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let name = shortened(&server.server, LINE_WIDTH / 2);
        writeln!(out, "{name} ({})", counted(server.tools.len(), "tool"))?;
        let row = |tool: &Tool| {
            let role = CallRole::of_tool(&tool.name, tool.is_read_only());
            let text = format!("{:<7}  {}", role.name(), one_line(tool));
            (shortened(&tool.name, NAME_WIDTH), text)
        };
        let rows: Vec<(String, String)> = server.tools.iter().map(row).collect();
        write_rows(&rows, "  ", out)?;
    }
    Ok(())
}

fn write_rows(rows: &[(String, String)], indent: &str, out: &mut dyn Write) -> io::Result<()> {
    let width = rows.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    for (name, text) in rows {
        let padding = " ".repeat(width - name.width());
        let text = shortened(text, LINE_WIDTH.saturating_sub(indent.len() + width + 2));
        writeln!(out, "{}", format!("{indent}{name}{padding}  {text}").trim_end())?;
    }
    Ok(())
}

/// The first line of a tool's description that is not empty.
pub(crate) fn one_line(tool: &Tool) -> String {
    let description = tool.description.as_deref().unwrap_or_default();
    let line = description.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    visible(head(line, 1000), false).into_owned()
}
