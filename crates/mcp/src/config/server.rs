//! Reads one server of a configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use m3_trajectory::json::Json;

use super::fields::{Fields, Findings};
use super::model::RESTARTS;
use super::secrets::Secrets;
use super::variables::Variables;
use super::{ServerConfig, Timeouts, ToolFilter, Transport};

/// The keys of a server, for suggestions.
const KEYS: [&str; 21] = [
    "command",
    "args",
    "env",
    "envFile",
    "cwd",
    "url",
    "headers",
    "type",
    "disabled",
    "enabled",
    "timeouts",
    "timeout",
    "startup_timeout_sec",
    "tool_timeout_sec",
    "stateless",
    "max_concurrent",
    "restarts",
    "allowed_tools",
    "allow",
    "deny",
    "note",
];

/// The largest file of variables that is read, in bytes.
const MAX_ENV_FILE: u64 = 1 << 20;

/// Reads the entry of a server. Everything wrong is added to `findings`.
pub(super) fn read(
    name: &str,
    entry: &Json,
    variables: &Variables<'_>,
    findings: &mut Findings,
) -> Option<ServerConfig> {
    let members = findings.object("", entry)?;
    let mut fields = Fields::new(members);
    // In a list of servers the entries have names, which are read elsewhere.
    fields.take(&["name"]);
    let is_disabled = is_disabled(&mut fields, findings);
    let mut reader = Reader { variables, findings, secrets: Secrets::default(), reasons: Vec::new() };
    let transport = reader.transport(&mut fields)?;
    let Reader { secrets, reasons, .. } = reader;
    let transport =
        if reasons.is_empty() { transport } else { Transport::Unusable { reason: reasons.join("; ") } };
    let config = ServerConfig {
        name: name.to_owned(),
        transport,
        is_disabled,
        is_stateless: take(&mut fields, &["stateless"], |key, value| findings.boolean(key, value))
            .unwrap_or_default(),
        max_concurrent: take(&mut fields, &["max_concurrent"], |key, value| findings.count(key, value, 1))
            .map(|count| count as usize),
        timeouts: timeouts(&mut fields, findings),
        restarts: restarts(&mut fields, findings).unwrap_or(RESTARTS),
        tools: tools(&mut fields, findings),
        secrets: secrets.into_vec(),
    };
    fields.warn_of_rest("", &KEYS, findings);
    Some(config)
}

fn take<'a, T>(
    fields: &mut Fields<'a>,
    keys: &[&str],
    read: impl FnOnce(&'a str, &'a Json) -> Option<T>,
) -> Option<T> {
    let (key, value) = fields.take(keys)?;
    read(key, value)
}

fn is_disabled(fields: &mut Fields<'_>, findings: &mut Findings) -> bool {
    let disabled = take(fields, &["disabled"], |key, value| findings.boolean(key, value));
    let enabled = take(fields, &["enabled"], |key, value| findings.boolean(key, value));
    if disabled.is_some() && disabled == enabled {
        findings.problem("disabled", "`disabled` and `enabled` contradict each other");
    }
    disabled.unwrap_or(enabled == Some(false))
}

/// Reads how a server is reached; every text in it may have variables.
struct Reader<'a> {
    variables: &'a Variables<'a>,
    findings: &'a mut Findings,
    secrets: Secrets,
    /// Why the server cannot be reached.
    reasons: Vec<String>,
}

impl Reader<'_> {
    fn transport(&mut self, fields: &mut Fields<'_>) -> Option<Transport> {
        let kind = fields.take(&["type", "transport"]);
        let command = fields.take(&["command", "cmd"]);
        let url = fields.take(&["url", "serverUrl", "httpUrl"]);
        let (stdio, http) = (self.stdio(command, fields)?, self.http(url, fields)?);
        let Some((key, value)) = kind else {
            return match (stdio, http) {
                (Some(stdio), None) => Some(stdio),
                (None, Some(http)) => Some(http),
                (Some(_), Some(_)) => {
                    self.findings.problem("type", "`command` and `url` are both here; `type` must say which");
                    None
                }
                (None, None) => {
                    self.findings.problem("command", "neither `command` nor `url` is here");
                    None
                }
            };
        };
        let text = self.findings.string(key, value)?;
        let (transport, needed) = match text.to_lowercase().replace(['-', '_'], "").as_str() {
            "stdio" | "local" => (stdio, "command"),
            "http" | "streamablehttp" | "remote" => (http, "url"),
            // Transports of MCP, past or present, that this host does not support.
            "sse" | "ws" | "websocket" => {
                let reason = format!(
                    "key `{key}`: the transport `{text}` is not supported; ask the server for `stdio` or \
                     streamable `http`"
                );
                return Some(Transport::Unusable { reason });
            }
            _ => {
                self.findings.problem(key, format!("`{text}` is no transport; `stdio` and `http` are"));
                return None;
            }
        };
        if transport.is_none() {
            self.findings.problem(needed, format!("missing; the transport is `{text}`"));
        }
        transport
    }

    /// The transport with a command; `Some(None)` if there is no command, `None` if it is wrong.
    #[expect(clippy::option_option, reason = "absent and wrong are different things")]
    fn stdio(
        &mut self,
        command: Option<(&str, &Json)>,
        fields: &mut Fields<'_>,
    ) -> Option<Option<Transport>> {
        let args = fields.take(&["args"]).map(|(key, value)| self.findings.strings(key, value));
        let env =
            fields.take(&["env", "environment"]).map(|(key, value)| (key, self.findings.texts(key, value)));
        let env_file = fields.take(&["envFile"]);
        let cwd = fields.take(&["cwd"]);
        let Some((key, value)) = command else { return Some(None) };
        let mut words = self.findings.strings(key, value).into_iter();
        let Some(command) = words.next().filter(|command| !command.trim().is_empty()) else {
            self.findings.problem(key, "it is empty");
            return None;
        };
        let args: Vec<String> = words.chain(args.unwrap_or_default()).collect();
        if args.is_empty() && command.contains(' ') && !Path::new(&command).exists() {
            self.findings.warn(key, "it has spaces and there are no `args`: arguments belong into `args`");
        }
        let command = self.expand(key, &command);
        let command = self.in_folder(&command).unwrap_or(command);
        let mut expanded = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let arg = self.expand(&format!("args[{index}]"), arg);
            let in_folder = if cwd.is_none() { self.in_folder(&arg) } else { None };
            expanded.push(in_folder.unwrap_or(arg));
        }
        let args = expanded;
        self.secrets.arguments(&args);
        let mut variables = BTreeMap::new();
        if let Some((key, value)) = env_file {
            let path = self.findings.string(key, value)?;
            variables = self.env_file(key, path);
        }
        for (name, value) in env.into_iter().flat_map(|(_, env)| env) {
            let value = self.expand(&format!("env.{name}"), &value);
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                self.findings.problem(format!("env.{name}"), "no name and value of an environment variable");
                continue;
            }
            self.secrets.variable(&name, &value);
            variables.insert(name, value);
        }
        let cwd = match cwd {
            Some((key, value)) => {
                let cwd = self.findings.string(key, value)?;
                Some(self.variables.folder.join(self.expand(key, cwd)))
            }
            None => None,
        };
        Some(Some(Transport::Stdio { command, args, env: variables, cwd }))
    }

    /// The variables in a file of `NAME=value`, all of them secret. If the file is missing the server cannot be
    /// started.
    fn env_file(&mut self, key: &str, path: &str) -> BTreeMap<String, String> {
        let path = self.variables.folder.join(self.expand(key, path));
        let is_small = std::fs::metadata(&path).map(|file| file.is_file() && file.len() <= MAX_ENV_FILE);
        let read = match is_small {
            Ok(true) => dotenvy::from_path_iter(&path).and_then(Iterator::collect::<Result<Vec<_>, _>>),
            Ok(false) => Err(dotenvy::Error::Io(std::io::Error::other("it is no file of at most 1 MiB"))),
            Err(cause) => Err(dotenvy::Error::Io(cause)),
        };
        match read {
            Ok(variables) => {
                for (name, value) in &variables {
                    self.secrets.in_file(name, value);
                }
                variables
                    .into_iter()
                    .filter(|(name, value)| !name.is_empty() && !value.contains('\0'))
                    .collect()
            }
            Err(error) => {
                let why = match error {
                    dotenvy::Error::Io(cause) => cause.to_string(),
                    // The line itself is not shown, because it may hold a secret.
                    _ => "a line of it is not `NAME=value`".to_owned(),
                };
                self.reasons.push(format!("key `{key}`: failed to read `{}`: {why}", path.display()));
                BTreeMap::new()
            }
        }
    }

    /// The transport with an address; `Some(None)` if there is no address, `None` if it is wrong.
    #[expect(clippy::option_option, reason = "absent and wrong are different things")]
    fn http(&mut self, url: Option<(&str, &Json)>, fields: &mut Fields<'_>) -> Option<Option<Transport>> {
        let headers = fields.take(&["headers", "http_headers"]);
        let headers = headers.map(|(key, value)| self.findings.texts(key, value)).unwrap_or_default();
        let Some((key, value)) = url else { return Some(None) };
        let url = self.findings.string(key, value)?;
        let is_variable = url.contains("${");
        let url = self.expand(key, url);
        let is_address = url.starts_with("http://") || url.starts_with("https://");
        if !is_address && (!is_variable || self.reasons.is_empty()) {
            self.findings.problem(key, "expected an address that begins with `http://` or `https://`");
            return None;
        }
        self.secrets.address(&url);
        let mut expanded = BTreeMap::new();
        for (name, value) in headers {
            let value = self.expand(&format!("headers.{name}"), &value);
            let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            // RFC 9110, sections 5.1 and 5.5.
            if name.is_empty() || !name.chars().all(is_token) || value.contains(['\r', '\n', '\0']) {
                self.findings.problem(format!("headers.{name}"), "no name and value of a header");
                continue;
            }
            self.secrets.header(&name, &value);
            expanded.insert(name, value);
        }
        Some(Some(Transport::Http { url, headers: expanded }))
    }

    /// Replaces the variables of a text.
    fn expand(&mut self, key: &str, text: &str) -> String {
        let expanded = self.variables.expand(text);
        let reasons = expanded.problems.into_iter().map(|problem| format!("key `{key}`: {problem}"));
        self.reasons.extend(reasons);
        for (name, value) in &expanded.used {
            self.secrets.variable(name, value);
        }
        expanded.text
    }

    /// A relative path that exists in the configuration's folder, made absolute: servers run in the workspace of
    /// their task.
    fn in_folder(&self, path: &str) -> Option<String> {
        if !path.contains('/') || Path::new(path).is_absolute() {
            return None;
        }
        let full = std::path::absolute(self.variables.folder.join(path)).ok()?;
        full.exists().then(|| full.display().to_string())
    }
}

/// Reads our own `timeouts`, and those of other programs.
fn timeouts(fields: &mut Fields<'_>, findings: &mut Findings) -> Timeouts {
    let foreign = take(fields, &["timeout"], |key, value| foreign_timeout(key, value, findings));
    let start = take(fields, &["startup_timeout_sec"], |key, value| findings.seconds(key, value));
    let calls = take(fields, &["tool_timeout_sec"], |key, value| findings.seconds(key, value)).or(foreign);
    let members = take(fields, &["timeouts"], |key, value| findings.object(key, value));
    let mut own = Fields::new(members.unwrap_or_default());
    let [own_start, idle, total] = ["start", "idle", "total"]
        .map(|name| take(&mut own, &[name], |_, value| findings.seconds(&format!("timeouts.{name}"), value)));
    own.warn_of_rest("timeouts.", &["start", "idle", "total"], findings);
    let default = Timeouts::default();
    let idle = idle.or(calls).unwrap_or(default.idle);
    Timeouts {
        start: own_start.or(start).unwrap_or(default.start),
        idle,
        // The time without progress may not be longer than the time in all, unless the user says so.
        total: total.unwrap_or_else(|| calls.unwrap_or(default.total).max(idle)),
    }
}

/// Reads a `timeout`, which some programs give in milliseconds and others in seconds. Values below a second or above a
/// quarter of an hour make no sense, so 1000 distinguishes the units.
fn foreign_timeout(key: &str, value: &Json, findings: &mut Findings) -> Option<Duration> {
    let number = findings.positive(key, value)?;
    let (seconds, unit) =
        if number >= 1000.0 { (number / 1000.0, "milliseconds") } else { (number, "seconds") };
    findings.warn(
        key,
        format!("read as {unit}, as programs differ; `timeouts: {{\"total\": {seconds}}}` is always seconds"),
    );
    Some(Duration::from_secs_f64(seconds))
}

/// Reads `restarts: 2` or `restarts: {"limit": 2}`.
fn restarts(fields: &mut Fields<'_>, findings: &mut Findings) -> Option<u32> {
    let (key, value) = fields.take(&["restarts"])?;
    let Json::Object(members) = value else { return findings.count(key, value, 0) };
    let mut fields = Fields::new(members);
    let limit = take(&mut fields, &["limit"], |_, value| findings.count("restarts.limit", value, 0));
    fields.warn_of_rest("restarts.", &["limit"], findings);
    limit
}

/// Reads which tools are offered. Programs name the lists differently; all names count.
fn tools(fields: &mut Fields<'_>, findings: &mut Findings) -> ToolFilter {
    let mut filter = ToolFilter::default();
    while let Some((key, value)) =
        fields.take(&["allowed_tools", "allow", "enabled_tools", "includeTools", "tools"])
    {
        // Editors write `["*"]` for all tools.
        filter.allow.get_or_insert_default().extend(findings.strings(key, value));
    }
    while let Some((key, value)) = fields.take(&["deny", "denied_tools", "disabled_tools", "excludeTools"]) {
        filter.deny.extend(findings.strings(key, value));
    }
    filter
}
