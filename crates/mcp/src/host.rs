//! The host: all servers of a configuration, started together, called by `server/tool`.
//!
//! One instance of a server belongs to one task, unless the configuration says that it is stateless: keep one host
//! for the stateless servers, by [`Host::into_shared`], and make each task's host from it with [`Host::for_task`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Map, Value};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::config::{HostConfig, ServerConfig};
use super::connection::Surroundings;
use super::instance::Instance;
use super::outcome::{CallError, CallLimits, CallOutcome};
use super::own_program::OwnProgram;
use super::resource::READ_RESOURCE;
use super::status::{Events, ServerStatus};
use super::{ToolCatalog, ToolName};

/// How a host starts its servers.
#[derive(Debug, Clone)]
pub struct HostOptions {
    /// The working directory of servers that name none; it must exist.
    pub workspace: PathBuf,
    /// The `m3` program, which ends the servers whenever the host ends (see [`guard`](super::guard)). Without it, a
    /// killed host leaves its servers running.
    pub guard: Option<PathBuf>,
}

/// All servers of a configuration. Dropping it ends them without waiting; [`Host::close`] lets them end by
/// themselves.
pub struct Host {
    instances: Vec<Slot>,
    configs: Vec<Arc<ServerConfig>>,
    surroundings: Arc<Surroundings>,
}

struct Slot {
    instance: Arc<Instance>,
    /// Whether the server belongs to another host, which closes it.
    is_borrowed: bool,
}

impl HostOptions {
    /// Options without a guard.
    #[must_use]
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self { workspace: workspace.into(), guard: None }
    }

    /// Uses the running program as the guard; only for `m3` itself.
    #[must_use]
    pub fn guarded(mut self) -> Self {
        self.guard = OwnProgram::path().ok();
        self
    }
}

impl Host {
    /// Starts the servers, all at once, and waits until each is ready or has failed. A server that fails does not
    /// make the host fail: see [`Host::statuses`].
    pub async fn start(config: &HostConfig, options: HostOptions, events: Events) -> Self {
        let configs: Vec<_> = config.servers.iter().cloned().map(Arc::new).collect();
        let HostOptions { workspace, guard } = options;
        let surroundings = Arc::new(Surroundings { workspace, guard, events });
        let started = start_all(configs.iter(), &surroundings).await;
        let instances = started.into_iter().map(|instance| Slot { instance, is_borrowed: false }).collect();
        Self { instances, configs, surroundings }
    }

    /// A host for one task: the stateless servers of this one, and fresh instances of the others in the task's
    /// workspace. Close it after the task and before this one.
    pub async fn for_task(&self, workspace: impl Into<PathBuf>) -> Self {
        let surroundings = Arc::new(Surroundings {
            workspace: workspace.into(),
            guard: self.surroundings.guard.clone(),
            events: Arc::clone(&self.surroundings.events),
        });
        let fresh = self.configs.iter().filter(|config| !config.is_stateless);
        let mut fresh = start_all(fresh, &surroundings).await.into_iter();
        let slot = |config: &Arc<ServerConfig>| {
            let running = self.instances.iter().find(|slot| Arc::ptr_eq(slot.instance.config(), config));
            match running.filter(|_| config.is_stateless) {
                Some(slot) => Some(Slot { instance: Arc::clone(&slot.instance), is_borrowed: true }),
                None => fresh.next().map(|instance| Slot { instance, is_borrowed: false }),
            }
        };
        let instances = self.configs.iter().filter_map(slot).collect();
        Self { instances, configs: self.configs.clone(), surroundings }
    }

    /// The status of each server, in the configuration's order.
    pub async fn statuses(&self) -> Vec<ServerStatus> {
        let mut statuses = Vec::new();
        for slot in &self.instances {
            statuses.push(slot.instance.status().await);
        }
        statuses
    }

    /// The tools that are offered and those that cannot be used, as each server listed them when it was last started,
    /// including servers that have died since.
    #[must_use]
    pub fn catalog(&self) -> ToolCatalog {
        ToolCatalog { servers: self.instances.iter().map(|slot| (*slot.instance.tools()).clone()).collect() }
    }

    /// Calls a tool. The arguments are sent as they are, valid or not. A call that is dropped is cancelled.
    pub async fn call(
        &self,
        name: &ToolName,
        arguments: Map<String, Value>,
        cancel: &CancellationToken,
    ) -> CallOutcome {
        self.call_within(name, arguments, CallLimits::none(), cancel).await
    }

    /// Calls a tool with time limits chosen by the caller.
    pub async fn call_within(
        &self,
        name: &ToolName,
        arguments: Map<String, Value>,
        limits: CallLimits,
        cancel: &CancellationToken,
    ) -> CallOutcome {
        let Some(instance) = self.instance(&name.server) else {
            let error = CallError::UnknownServer { server: name.server.clone() };
            return CallOutcome::not_sent(error, Duration::ZERO);
        };
        instance.call(&name.tool, arguments, limits, cancel).await
    }

    /// Whether resources of this server can be read by calls of [`READ_RESOURCE`] under its name: only those that a
    /// result of its session has linked to.
    #[must_use]
    pub fn reads_resources(&self, server: &str) -> bool {
        self.instance(server).is_some_and(|instance| instance.reads_resources(READ_RESOURCE))
    }

    fn instance(&self, server: &str) -> Option<&Instance> {
        let slot = self.instances.iter().find(|slot| slot.instance.config().name == server)?;
        Some(&slot.instance)
    }

    /// Ends the servers that tasks cannot share, as [`Host::close`] does. The others keep running; the result is for
    /// [`Host::for_task`].
    #[must_use]
    pub async fn into_shared(mut self) -> Self {
        let is_shared = |slot: &Slot| slot.instance.config().is_stateless;
        let (shared, others) = std::mem::take(&mut self.instances).into_iter().partition(is_shared);
        self.instances = others;
        self.close().await;
        self.instances = shared;
        self
    }

    /// Ends all of the host's own servers together, in about 7 s at most. Running calls are lost, and later ones fail.
    pub async fn close(&self) {
        let mut closing = JoinSet::new();
        for slot in self.instances.iter().filter(|slot| !slot.is_borrowed) {
            let instance = Arc::clone(&slot.instance);
            closing.spawn(async move { instance.close().await });
        }
        closing.join_all().await;
    }
}

/// Starts servers at the same time; the order of the list is kept.
async fn start_all<'a>(
    configs: impl Iterator<Item = &'a Arc<ServerConfig>>,
    surroundings: &Arc<Surroundings>,
) -> Vec<Arc<Instance>> {
    let start = |config: &Arc<ServerConfig>| {
        // Servers that tasks share are found by the pointer to their configuration, which must therefore stay the same.
        let config = if config.is_stateless { Arc::clone(config) } else { Arc::new(config.for_instance()) };
        Instance::start(config, Arc::clone(surroundings))
    };
    // Not spawned as separate tasks, so that dropping this future ends everything it has started at once.
    let started = join_all(configs.map(start)).await;
    started.into_iter().map(Arc::new).collect()
}
