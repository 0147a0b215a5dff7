//! The servers that workflows run on: ours, and two of other authors that keep state, from npm.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use m3_mcp::config::{HostConfig, ServerConfig, Transport};
use m3_mcp::{Host, HostOptions, ServerState};
use m3_testkit::packages::{self, FILESYSTEM, MEMORY};

/// The time limit for fetching packages.
const START: Duration = Duration::from_mins(4);

/// Servers in a folder of their own. All their state is in it, so that they are as new once it is emptied.
pub(crate) struct Servers {
    folder: tempfile::TempDir,
    /// All of them.
    pub(crate) host: Host,
}

impl Servers {
    /// Starts the servers; `m3` is the program that serves ours.
    ///
    /// # Errors
    /// Which server is not ready, and why.
    pub(crate) async fn start(m3: &Path, has_others: bool) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        let mut servers: Vec<ServerConfig> =
            ["image", "barcode", "math"].map(|name| server(name, m3, &["serve", name])).to_vec();
        if has_others {
            let allowed = workspace.to_str().unwrap();
            servers.push(server("files", Path::new("npx"), &["-y", FILESYSTEM, allowed]));
            servers.push(server("memory", Path::new("npx"), &["-y", MEMORY]));
        }
        for server in &mut servers {
            server.timeouts.start = START;
            if let Transport::Stdio { command, env, .. } = &mut server.transport
                && command == "npx"
            {
                *env = packages::registries();
                env.insert("MEMORY_FILE_PATH".to_owned(), graph_in(folder.path()).display().to_string());
            }
        }
        let config = HostConfig { servers, ..HostConfig::default() };
        let options = HostOptions { guard: Some(m3.to_owned()), ..HostOptions::new(&workspace) };
        let host = Host::start(&config, options, Arc::new(|_| ())).await;
        for status in host.statuses().await {
            if !matches!(status.state, ServerState::Ready(_)) {
                host.close().await;
                return Err(format!("{}: {:?}", status.server, status.state));
            }
        }
        Ok(Self { folder, host })
    }

    /// The folder that the servers work in.
    pub(crate) fn workspace(&self) -> PathBuf {
        self.folder.path().join("workspace")
    }

    /// Where the memory's graph is kept.
    pub(crate) fn graph(&self) -> PathBuf {
        graph_in(self.folder.path())
    }

    /// Makes them forget everything. (The server of memory reads its file at every call, the others their folder.)
    pub(crate) fn forget(&self) {
        for entry in std::fs::read_dir(self.workspace()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }.unwrap();
        }
        if self.graph().exists() {
            std::fs::remove_file(self.graph()).unwrap();
        }
    }
}

fn graph_in(folder: &Path) -> PathBuf {
    folder.join("graph.jsonl")
}

fn server(name: &str, command: &Path, args: &[&str]) -> ServerConfig {
    let transport = Transport::Stdio {
        command: command.to_str().unwrap().to_owned(),
        args: args.iter().map(|&arg| arg.to_owned()).collect(),
        env: BTreeMap::new(),
        cwd: None,
    };
    ServerConfig::new(name, transport)
}
