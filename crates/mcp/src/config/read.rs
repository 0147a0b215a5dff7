//! Reads a configuration file: finds its servers and their names.

use std::path::{Path, PathBuf};

use m3_trajectory::WholeFile;
use m3_trajectory::json::{Json, pointer_to};

use super::fields::{Fields, Findings};
use super::server;
use super::variables::Variables;
use super::{ConfigError, ConfigProblem, HostConfig};

/// The largest file that is read as a configuration, in MiB.
const MAX_MEBIBYTES: u64 = 16;

/// The longest name of a server, in bytes: longer names leave no room for a tool's name.
const MAX_NAME: usize = 200;

/// The keys of a file, for suggestions.
const KEYS: [&str; 4] = ["mcpServers", "servers", "simulated", "inputs"];

impl HostConfig {
    /// Reads a configuration, `-` for standard input, with the variables of this process. Also returns warnings.
    /// Relative paths in it start at its folder.
    ///
    /// # Errors
    /// [`ConfigError`]: the file cannot be read, is not JSON (with or without comments), or something in it is wrong.
    pub fn open(path: &Path) -> Result<(Self, Vec<ConfigProblem>), ConfigError> {
        let file = WholeFile::read_commented(path, MAX_MEBIBYTES)?;
        Self::from_file(&file, Self::folder_of(path), &|name| std::env::var(name).ok())
    }

    /// The folder where relative paths of a file start: its own, or the working directory for standard input.
    #[must_use]
    pub fn folder_of(path: &Path) -> PathBuf {
        let folder = if path == Path::new("-") { None } else { path.parent() };
        let folder = folder.filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned())
    }

    /// The configuration in a file that has been read: `folder` is where relative paths start, `lookup` knows variables.
    ///
    /// # Errors
    /// [`ConfigError::Invalid`].
    pub fn from_file(
        file: &WholeFile,
        folder: PathBuf,
        lookup: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(Self, Vec<ConfigProblem>), ConfigError> {
        let mut findings = Findings::new(&file.name);
        let variables = Variables { lookup, folder: &folder };
        let (servers, simulated) = match &file.value {
            Json::Object(members) => whole(members, file, &variables, &mut findings),
            other => {
                findings.problem("", format!("expected an object, found {}", other.kind()));
                (Vec::new(), None)
            }
        };
        if !findings.problems.is_empty() {
            return Err(ConfigError::Invalid { problems: findings.problems });
        }
        Ok((Self { servers, simulated, folder, file: file.name.clone() }, findings.warnings))
    }
}

type Parts = (Vec<super::ServerConfig>, Option<serde_json::Map<String, serde_json::Value>>);

fn whole(
    members: &[(String, Json)],
    file: &WholeFile,
    variables: &Variables<'_>,
    findings: &mut Findings,
) -> Parts {
    let mut fields = Fields::new(members);
    let mut lists = Vec::new();
    while let Some(list) = fields.take(&["mcpServers", "servers"]) {
        lists.push(list);
    }
    // VS Code's settings, and the inputs that it asks the user for.
    let editor = fields.take(&["mcp"]).and_then(|(key, value)| Some((key, value.get("servers")?)));
    let editor = editor.map(|(key, servers)| (format!("/{key}/servers"), servers));
    fields.take(&["inputs"]);
    let simulated = fields.take(&["simulated"]).and_then(|(key, value)| {
        let Some(serde_json::Value::Object(members)) = value.to_value() else {
            findings.problem(key, format!("expected an object, found {}", value.kind()));
            return None;
        };
        Some(members)
    });
    if lists.is_empty() && editor.is_none() && simulated.is_none() {
        findings.problem("", "it has none of `mcpServers`, `servers` and `simulated`");
        return (Vec::new(), None);
    }
    fields.warn_of_rest("", &KEYS, findings);
    let lists = lists.into_iter().map(|(key, list)| (pointer_to("", key), list)).chain(editor);
    let mut servers: Vec<super::ServerConfig> = Vec::new();
    for (pointer, list) in lists {
        for (name, entry) in entries(&pointer, list, file, findings) {
            findings.server = Some(name.to_owned());
            if servers.iter().any(|server| server.name == name) {
                findings.problem("", "another server has its name");
            } else if let Some(problem) = problem_of_name(name) {
                findings.problem("", problem);
            } else {
                servers.extend(server::read(name, entry, variables, findings));
            }
            findings.server = None;
        }
    }
    for oddity in &file.oddities {
        findings.warn(oddity.pointer.clone(), oddity.message.clone());
    }
    (servers, simulated)
}

/// The entries with their names: of an object by name, or of a list whose entries have a `name`.
fn entries<'a>(
    pointer: &str,
    list: &'a Json,
    file: &WholeFile,
    findings: &mut Findings,
) -> Vec<(&'a str, &'a Json)> {
    match list {
        Json::Object(members) => {
            for (name, _) in members {
                let pointer = pointer_to(pointer, name);
                // The parser keeps the last of two equal names, which would be a silent surprise.
                if file.oddities.iter().any(|oddity| oddity.pointer == pointer) {
                    findings.server = Some(name.clone());
                    findings.problem("", "the same key twice");
                    findings.server = None;
                }
            }
            members.iter().map(|(name, entry)| (name.as_str(), entry)).collect()
        }
        Json::Array(items) => items
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| {
                let name = entry.get("name").and_then(Json::as_str);
                if name.is_none() {
                    findings.problem(format!("{pointer}/{index}"), "a server without a name");
                }
                Some((name?, entry))
            })
            .collect(),
        other => {
            findings.problem(pointer, format!("expected an object of servers, found {}", other.kind()));
            Vec::new()
        }
    }
}

/// The problem with a server's name, which becomes the part of `server/tool` before the slash; `None` if it is valid.
#[must_use]
pub fn problem_of_name(name: &str) -> Option<&'static str> {
    let problems = [
        (name.trim().is_empty(), "its name is empty"),
        (matches!(name, "." | ".."), "its name stands for a folder"),
        (name.contains('/'), "its name has a slash, which separates servers from tools"),
        (name.chars().any(char::is_control), "its name has control characters"),
        (name.len() > MAX_NAME, "its name is longer than 200 bytes"),
    ];
    problems.into_iter().find_map(|(is_wrong, problem)| is_wrong.then_some(problem))
}
