//! What is asked for: by the key `simulated` of a configuration, or on the command line.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::Simulation;
use super::distractors::{DistractorKind, distractors, narrowed};
use super::error::{SimulationError, suggestion};
use super::faults::{Delay, Faults};
use super::recordings::Recordings;
use super::server::Behaviour;
use crate::encoder::Embedder;
use crate::mcp::config::{HostConfig, InProcess, Restarts, ServerConfig, Timeouts, ToolFilter, Transport};
use crate::mcp::{ToolCatalog, ToolName, Toolbox as _};
use crate::trajectory::catalog::Catalog;
use crate::trajectory::{Duplicates, TrajectoryFile};

/// Which servers are simulated, from what, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimulatedOptions {
    /// The catalog of tools.
    pub catalog: PathBuf,
    /// Files of trajectories whose results are given again, in this order. Of an id that stands twice in a file,
    /// the last is used.
    pub trajectories: Vec<PathBuf>,
    /// The seed, strictness and faults.
    pub behaviour: Behaviour,
    /// Only these are offered: tools as `server/tool`, servers, or ids of trajectories, which stand for the tools
    /// that they call. Empty for all.
    pub only: Vec<String>,
    /// Tools of other servers that are offered beside those.
    pub distractors: Option<DistractorOptions>,
}

/// Which distractors, and how many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistractorOptions {
    /// How many.
    pub count: usize,
    /// Which.
    pub kind: DistractorKind,
}

const KEYS: [&str; 7] = ["catalog", "trajectories", "strict", "seed", "faults", "only", "distractors"];
const FAULT_KEYS: [&str; 4] = ["delay", "failure_rate", "crash_rate", "hang_rate"];

impl SimulatedOptions {
    /// What a configuration's key `simulated` asks for, if it has one.
    ///
    /// # Errors
    /// [`SimulationError::Option`] and [`SimulationError::UnknownOption`].
    pub fn of(config: &HostConfig) -> Result<Option<Self>, SimulationError> {
        config.simulated.as_ref().map(|simulated| Self::parse(simulated, &config.folder)).transpose()
    }

    /// Reads `{catalog, trajectories, strict, seed, faults: {delay, failure_rate, crash_rate, hang_rate}, only,
    /// distractors}`; only `catalog` has to be there. Lists of one may be written as that one; `delay` is a mean in
    /// seconds or `[least, most]`; `distractors` a number or `{count, kind}` with the kind `near` (the default) or
    /// `random`. Paths are relative to `folder`.
    ///
    /// # Errors
    /// [`SimulationError::Option`] and [`SimulationError::UnknownOption`].
    pub fn parse(simulated: &Map<String, Value>, folder: &Path) -> Result<Self, SimulationError> {
        check_keys(simulated, "", &KEYS)?;
        let path = |text: &String| folder.join(text);
        let catalog = match simulated.get("catalog") {
            Some(Value::String(catalog)) if !catalog.is_empty() => path(catalog),
            Some(other) => return Err(wrong("catalog", "the path of a catalog of tools", other)),
            None => {
                let message = "is missing: the path of a catalog of tools".to_owned();
                return Err(SimulationError::Option { key: "catalog".to_owned(), message });
            }
        };
        let behaviour = Behaviour {
            seed: simulated.get("seed").map_or(Ok(0), |value| {
                value.as_u64().ok_or_else(|| wrong("seed", "a whole number from 0 to 2^64 - 1", value))
            })?,
            is_strict: simulated.get("strict").map_or(Ok(false), |value| {
                value.as_bool().ok_or_else(|| wrong("strict", "`true` or `false`", value))
            })?,
            faults: simulated.get("faults").map_or(Ok(Faults::default()), read_faults)?,
        };
        Ok(Self {
            catalog,
            trajectories: texts(simulated, "trajectories")?.iter().map(path).collect(),
            behaviour,
            only: texts(simulated, "only")?,
            distractors: simulated.get("distractors").map(read_distractors).transpose()?,
        })
    }

    /// Whether [`SimulatedOptions::open`] needs the encoder.
    #[must_use]
    pub fn needs_encoder(&self) -> bool {
        self.distractors.is_some_and(|asked| asked.kind == DistractorKind::Near && asked.count > 0)
    }

    /// Reads the files and makes the servers.
    ///
    /// # Errors
    /// [`SimulationError`].
    pub fn open(&self, embedder: Option<&mut Embedder>) -> Result<Simulation, SimulationError> {
        if let Some(message) = self.behaviour.faults.problem() {
            return Err(SimulationError::Faults { problem: message });
        }
        let catalog = ToolCatalog::from(&Catalog::open(&self.catalog)?);
        if catalog.is_empty() {
            return Err(SimulationError::EmptyCatalog { path: self.catalog.display().to_string() });
        }
        let mut files = Vec::with_capacity(self.trajectories.len());
        for path in &self.trajectories {
            files.push(TrajectoryFile::open(path, Duplicates::Last)?);
        }
        files.retain(|file| !file.is_tasks());
        let recordings = self.recordings(&catalog, &files)?;
        let offered = self.offered(&catalog, &files, embedder)?;
        Ok(Simulation::new(offered, recordings, self.behaviour))
    }

    /// The results in the files. Trajectories that `only` names go first, so that each of them is replayed as it
    /// was.
    fn recordings(
        &self,
        catalog: &ToolCatalog,
        files: &[TrajectoryFile],
    ) -> Result<Recordings, SimulationError> {
        let mut recordings = Recordings::new(catalog);
        let places =
            |file: &TrajectoryFile| self.only.iter().filter_map(|id| file.find(id)).collect::<Vec<_>>();
        let named: Vec<Vec<usize>> = files.iter().map(places).collect();
        for (file, places) in files.iter().zip(&named) {
            for &index in places {
                recordings.add(&file.read(index)?);
            }
        }
        recordings.seal();
        for (file, places) in files.iter().zip(&named) {
            for index in (0..file.len()).filter(|index| !places.contains(index)) {
                recordings.add(&file.read(index)?);
            }
        }
        Ok(recordings)
    }

    /// Adds the simulated servers to a configuration, behind those that it has.
    ///
    /// # Errors
    /// [`SimulationError`], [`SimulationError::ServerExists`] for a name that is taken.
    pub fn add_to(
        &self,
        config: &mut HostConfig,
        embedder: Option<&mut Embedder>,
    ) -> Result<Simulation, SimulationError> {
        let simulation = self.open(embedder)?;
        for server in &simulation.servers {
            let name = server.name();
            if config.servers.iter().any(|other| other.name == name) {
                return Err(SimulationError::ServerExists { name: name.to_owned() });
            }
        }
        config.servers.extend(simulation.servers.iter().map(|server| ServerConfig {
            name: server.name().to_owned(),
            transport: Transport::InProcess(InProcess(server.clone())),
            is_disabled: false,
            is_stateless: !server.has_memory(),
            max_concurrent: None,
            timeouts: Timeouts::default(),
            restarts: Restarts::default(),
            tools: ToolFilter::default(),
            secrets: Vec::new(),
        }));
        Ok(simulation)
    }

    /// The catalog with what is offered of it.
    fn offered(
        &self,
        catalog: &ToolCatalog,
        files: &[TrajectoryFile],
        embedder: Option<&mut Embedder>,
    ) -> Result<ToolCatalog, SimulationError> {
        if self.only.is_empty() {
            let is_asked = self.distractors.is_some_and(|asked| asked.count > 0);
            return if is_asked { Err(SimulationError::NothingNeeded) } else { Ok(catalog.clone()) };
        }
        let mut needed: Vec<ToolName> = Vec::new();
        for name in &self.only {
            for tool in named(name, catalog, files)? {
                if !needed.contains(&tool) {
                    needed.push(tool);
                }
            }
        }
        let seed = self.behaviour.seed;
        let others = match self.distractors {
            Some(asked) => distractors(catalog, &needed, asked.count, asked.kind, seed, embedder)?,
            None => Vec::new(),
        };
        let shuffled = (!others.is_empty()).then_some(seed);
        let offered: BTreeSet<ToolName> = needed.into_iter().chain(others).collect();
        Ok(narrowed(catalog, &offered, shuffled))
    }
}

/// The tools that a name stands for: a tool, the tools of a server, the tools that a trajectory calls.
fn named(
    name: &str,
    catalog: &ToolCatalog,
    files: &[TrajectoryFile],
) -> Result<Vec<ToolName>, SimulationError> {
    if let Some(tool) = ToolName::parse(name).filter(|tool| catalog.get(tool).is_some()) {
        return Ok(vec![tool]);
    }
    let of_server: Vec<ToolName> =
        catalog.tools().map(|(tool, _)| tool).filter(|tool| tool.server == name).collect();
    if !of_server.is_empty() {
        return Ok(of_server);
    }
    let mut called = Vec::new();
    let mut is_found = false;
    for file in files {
        let Some(index) = file.find(name) else { continue };
        is_found = true;
        let trajectory = file.read(index)?;
        called.extend(trajectory.calls().filter_map(|(_, call)| ToolName::parse(&call.tool)));
    }
    // A prediction may call what does not exist.
    called.retain(|tool| catalog.get(tool).is_some());
    match (is_found, called.is_empty()) {
        (true, false) => Ok(called),
        (true, true) => Err(SimulationError::NoTools { id: name.to_owned() }),
        (false, _) => {
            let tools: Vec<String> = catalog.tools().map(|(tool, _)| tool.to_string()).collect();
            let servers = catalog.servers.iter().map(|server| server.server.as_str());
            let hint = suggestion(name, tools.iter().map(String::as_str).chain(servers));
            Err(SimulationError::UnknownName { name: name.to_owned(), hint })
        }
    }
}

fn check_keys(members: &Map<String, Value>, prefix: &str, known: &[&str]) -> Result<(), SimulationError> {
    match members.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(SimulationError::UnknownOption {
            key: format!("{prefix}{key}"),
            hint: suggestion(key, known.iter().copied()),
        }),
    }
}

fn wrong(key: &str, expected: &str, found: &Value) -> SimulationError {
    let found = crate::text::shortened(&found.to_string(), 80);
    SimulationError::Option {
        key: key.to_owned(),
        message: format!("should be {expected}, and is `{found}`"),
    }
}

/// A list of texts, or a single one; empty without the key.
fn texts(members: &Map<String, Value>, key: &str) -> Result<Vec<String>, SimulationError> {
    let Some(value) = members.get(key) else { return Ok(Vec::new()) };
    let items = match value {
        Value::Array(items) => items.as_slice(),
        single => std::slice::from_ref(single),
    };
    let text = |item: &Value| item.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    items
        .iter()
        .map(|item| text(item).ok_or_else(|| wrong(key, "a text or a list of texts", value)))
        .collect()
}

fn read_faults(value: &Value) -> Result<Faults, SimulationError> {
    let Value::Object(members) = value else {
        return Err(wrong("faults", "an object of rates", value));
    };
    check_keys(members, "faults.", &FAULT_KEYS)?;
    let rate = |key: &str| {
        let Some(value) = members.get(key) else { return Ok(0.0) };
        let rate = value.as_f64().filter(|rate| (0.0..=1.0).contains(rate));
        rate.ok_or_else(|| wrong(&format!("faults.{key}"), "a number from 0 to 1", value))
    };
    let faults = Faults {
        delay: members.get("delay").map_or(Ok(Delay::None), read_delay)?,
        failure_rate: rate("failure_rate")?,
        crash_rate: rate("crash_rate")?,
        hang_rate: rate("hang_rate")?,
    };
    match faults.problem() {
        None => Ok(faults),
        Some(message) => Err(SimulationError::Faults { problem: message }),
    }
}

fn read_delay(value: &Value) -> Result<Delay, SimulationError> {
    let range = || match value.as_array()?.as_slice() {
        [low, high] => Some(Delay::Between(low.as_f64()?, high.as_f64()?)),
        _ => None,
    };
    let expected = "the mean in seconds, or `[least, most]`";
    value.as_f64().map(Delay::Mean).or_else(range).ok_or_else(|| wrong("faults.delay", expected, value))
}

fn read_distractors(value: &Value) -> Result<DistractorOptions, SimulationError> {
    let count = |value: &Value| {
        let count = value.as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| {
            wrong("distractors", "a number of tools, or `{\"count\": .., \"kind\": ..}`", value)
        })
    };
    let Value::Object(members) = value else {
        return Ok(DistractorOptions { count: count(value)?, kind: DistractorKind::default() });
    };
    check_keys(members, "distractors.", &["count", "kind"])?;
    let kind = match members.get("kind").map(|kind| (kind, kind.as_str())) {
        None => DistractorKind::default(),
        Some((_, Some("near"))) => DistractorKind::Near,
        Some((_, Some("random"))) => DistractorKind::Random,
        Some((kind, _)) => return Err(wrong("distractors.kind", "`near` or `random`", kind)),
    };
    Ok(DistractorOptions { count: members.get("count").map_or(Ok(0), count)?, kind })
}
