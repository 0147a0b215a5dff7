//! The command `m3 tools`: lists servers and their tools, compares and searches them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use m3_embedding::Embedder;
use m3_executor::nearest::similarities;
use m3_mcp::config::HostConfig;
use m3_mcp::{Tool, ToolCatalog, ToolName};
use m3_report::{SheetForm, write_sheets};
use m3_support::redact::Redactor;
use m3_support::text::shortened;
use m3_trajectory::catalog::Catalog;
use tokio_util::sync::CancellationToken;

use super::Common;
use crate::cli::common::{
    EncoderArgs, Failure, Output, Printer, Result, Servers, Signals, StartNotes, add_simulated, code, form,
    interrupted, nearest, redactor, runtime, select, start, write_json,
};
use crate::report::{
    CatalogDifferences, CatalogFile, FoundTool, HealthReport, SearchReport, one_line, write_tools,
};

/// Options of `m3 tools`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ToolsArgs {
    /// Configuration of servers (docs/mcp.md), or a catalog that this command wrote; `-` for standard input
    config: PathBuf,
    /// Only this server; may be given more than once
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Form of the output [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// File to write to, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Show the state of each server instead of its tools
    #[arg(long, conflicts_with = "search")]
    health: bool,
    /// Compare the tools with this catalog, and list every difference
    #[arg(long, value_name = "CATALOG", conflicts_with_all = ["search", "health"])]
    compare: Option<PathBuf>,
    /// Exit with code 1 if a tool is missing, is not in the catalog, or differs
    #[arg(long, requires = "compare")]
    fail_if_different: bool,
    /// Wait at most this long for each server to start, in seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=604_800))]
    timeout: Option<u32>,
    /// Rank tools by how near name and description are to this sentence
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Tools that a search shows
    #[arg(long, value_name = "N", default_value_t = 10, requires = "search", value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,
    #[command(flatten)]
    encoder: EncoderArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 tools servers/local.json
  m3 tools servers/m3-bench.json --out tools.json
  m3 tools tools.json --search \"crop an image\"
  m3 tools servers/m3-bench.json --compare published/tools.json

Servers start together; one that fails does not stop the others. With a catalog no server is started. The \
JSON is the catalog, {\"server\": {\"tools\": [..]}}, as `--tools` of other commands reads it; with --health \
it is m3.health/1, with --search m3.search/1, with --compare m3.catalog-differences/1.

Exits with 3 if a server failed, with 4 if none could be started.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people, at a terminal
    Table,
    /// The catalog, m3.health/1, m3.search/1 or m3.catalog-differences/1
    Json,
}

/// The tools and the state of the servers.
struct ListedServers {
    catalog: ToolCatalog,
    /// The state of the servers; `None` if no server was started.
    health: Option<HealthReport>,
    /// The redactor that replaced secrets in the catalog; `None` if no server was started.
    redactor: Option<Redactor>,
}

/// Lists servers and their tools.
pub(super) fn run(args: &ToolsArgs, common: &Common, printer: Printer) -> Result {
    let is_json = form(args.format, args.out.as_deref())? == FormatArg::Json;
    let servers = Servers::open(&args.config, printer)?;
    let published = args.compare.as_deref().map(Catalog::open).transpose()?;
    let inputs: Vec<&Path> = [&args.config].into_iter().chain(&args.compare).map(PathBuf::as_path).collect();
    let mut output = Output::open(args.out.as_deref(), &inputs, printer)?.outliving_its_reader();
    // The encoder is opened before servers are started, because it may have to be fetched.
    let embedder = args.search.is_some().then(|| args.encoder.open(common.assets()?, printer));
    let embedder = embedder.transpose()?;
    let never = CancellationToken::new();
    let (found, cancel, _runtime) = match servers {
        Servers::Listed(catalog) => (listed(args, &ToolCatalog::from(&catalog))?, never, None),
        Servers::Configured(mut config) => {
            add_simulated(&mut config, || args.encoder.open(common.assets()?, printer), printer)?;
            let runtime = runtime()?;
            let signals = Signals::listen(&runtime);
            let listed = runtime.block_on(configured(args, config, printer, &signals.first));
            (signals.settle(listed)?, signals.first, Some(runtime))
        }
    };
    let differences = published.map(|published| differences(args, &ToolCatalog::from(&published), &found));
    let form = SheetForm::Terminal { columns: output.columns(), is_styled: output.is_styled() };
    match (&differences, embedder.zip(args.search.as_deref())) {
        (Some(differences), _) if is_json => write_json(differences, &mut output)?,
        (Some(differences), _) => write_sheets(form, &differences.sheets(), &mut output)?,
        (None, Some((mut embedder, query))) => {
            let report = search(args, query, &found.catalog, &mut embedder, &cancel, printer)?;
            if is_json { write_json(&report, &mut output)? } else { report.write(&mut output)? }
        }
        (None, None) if is_json => match &found.health {
            Some(health) if args.health => write_json(health, &mut output)?,
            _ => write_json(&CatalogFile(&found.catalog), &mut output)?,
        },
        (None, None) => write_found(args.health, form, &found, &mut output)?,
    }
    output.commit()?;
    match found.health {
        Some(health) if !health.is_any_ready() => Err(Failure::unavailable("no server could be started")),
        Some(health) if health.failed().next().is_some() => Err(Failure::silent(code::FAILED)),
        _ if args.fail_if_different && differences.is_some_and(|found| !found.differences.is_empty()) => {
            Err(Failure::silent(code::NOT_MET))
        }
        _ => Ok(()),
    }
}

/// The tools of a catalog file.
fn listed(args: &ToolsArgs, catalog: &ToolCatalog) -> Result<ListedServers> {
    if args.health {
        return Err(Failure::input(
            "a catalog does not tell how servers fare\nhint: give the configuration that starts them",
        ));
    }
    let mut catalog = catalog.clone();
    let known: Vec<&str> = catalog.servers.iter().map(|server| server.server.as_str()).collect();
    if let Some(name) = args.server.iter().find(|name| !known.contains(&name.as_str())) {
        return Err(Failure::input(format!(
            "the catalog has no server `{}`{}",
            shortened(name, 100),
            nearest(name, &known)
        )));
    }
    catalog.servers.retain(|server| args.server.is_empty() || args.server.contains(&server.server));
    Ok(ListedServers { catalog, health: None, redactor: None })
}

/// The tools of servers, which are started for this and closed again.
async fn configured(
    args: &ToolsArgs,
    mut config: HostConfig,
    printer: Printer,
    cancel: &CancellationToken,
) -> Result<ListedServers> {
    select(&mut config, &args.server)?;
    if let Some(seconds) = args.timeout {
        for server in &mut config.servers {
            server.timeouts.start = Duration::from_secs(seconds.into());
        }
    }
    let redactor = redactor(&config)?;
    let workspace = tempfile::tempdir().map_err(|cause| Failure::temporary(&cause))?;
    let hosted = start(&config, workspace.path(), &redactor, (printer, StartNotes::All), cancel).await?;
    let catalog = hosted.host.catalog().without_secrets(&redactor);
    let health = HealthReport::new(&hosted.host.statuses().await, &catalog, &redactor);
    hosted.host.close().await;
    Ok(ListedServers { catalog, health: Some(health), redactor: Some(redactor) })
}

/// Compares the tools of the servers with a published catalog; only the servers that `--server` names.
fn differences(args: &ToolsArgs, published: &ToolCatalog, found: &ListedServers) -> CatalogDifferences {
    let mut published = published.clone();
    published.servers.retain(|server| args.server.is_empty() || args.server.contains(&server.server));
    // A secret that was replaced on one side has to be replaced on the other.
    if let Some(redactor) = &found.redactor {
        published = published.without_secrets(redactor);
    }
    let failed = found.health.iter().flat_map(HealthReport::failed).map(|server| server.server.clone());
    CatalogDifferences::new(&published, &found.catalog, &failed.collect())
}

/// Writes the state of the servers for people, and their tools unless the state alone is wanted.
fn write_found(
    is_health: bool,
    form: SheetForm,
    found: &ListedServers,
    output: &mut Output,
) -> std::io::Result<()> {
    if let Some(health) = &found.health {
        write_sheets(form, &[health.sheet()], output)?;
        if is_health {
            return Ok(());
        }
        writeln!(output)?;
    }
    write_tools(&found.catalog, output)
}

/// Ranks the tools by the cosine of name and description with the query.
fn search(
    args: &ToolsArgs,
    query: &str,
    catalog: &ToolCatalog,
    embedder: &mut Embedder,
    cancel: &CancellationToken,
    printer: Printer,
) -> Result<SearchReport> {
    let tools: Vec<(ToolName, &Tool)> = catalog.tools().collect();
    let bar = printer.bar();
    let similarities = similarities(embedder, query, &tools, &mut |done| {
        bar.set("comparing", done as u64, tools.len() as u64);
        !cancel.is_cancelled()
    })?;
    let similarities = similarities.ok_or_else(interrupted)?;
    for warning in embedder.take_warnings() {
        printer.warn(&warning);
    }
    let mut ranked: Vec<(f64, &(ToolName, &Tool))> = similarities.into_iter().zip(&tools).collect();
    // The sort is stable: equally similar tools stay in the order of the catalog.
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nearest = ranked.iter().take(args.limit as usize).map(|(similarity, (name, tool))| FoundTool {
        tool: name.to_string(),
        similarity: *similarity,
        description: one_line(tool),
    });
    Ok(SearchReport {
        schema: "m3.search/1".to_owned(),
        query: query.to_owned(),
        encoder: embedder.identity().name.clone(),
        searched: tools.len(),
        tools: nearest.collect(),
    })
}
