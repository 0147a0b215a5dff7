//! Options of simulated servers, from the key `simulated` of a configuration or from the command line.

use std::collections::BTreeSet;
use std::path::PathBuf;

use m3_embedding::Embedder;
use m3_mcp::config::{HostConfig, InProcess, ServerConfig, Transport, problem_of_name};
use m3_mcp::{ToolCatalog, ToolName, Toolbox as _};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{Duplicates, TrajectoryFile};

use super::Simulation;
use super::error::{SimulationError, suggestion};
use super::recordings::Recordings;
use super::server::Behaviour;
use crate::distractors::{DistractorKind, distractors, narrowed};
use crate::seed::Seed;

/// Which servers are simulated, from what, and how.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SimulatedOptions {
    /// The catalog of tools.
    pub catalog: PathBuf,
    /// Files of trajectories whose results are replayed, in this order. If an id occurs twice in a file, the last is
    /// used.
    pub trajectories: Vec<PathBuf>,
    /// The seed, strictness and faults.
    pub behaviour: Behaviour,
    /// The tools to offer: `server/tool`, the name of a server, or the id of a trajectory, which stands for the tools
    /// that it calls. If empty, all tools are offered.
    pub only: Vec<String>,
    /// Tools of other servers that are offered in addition.
    pub distractors: Option<DistractorOptions>,
}

/// The number and the kind of distractors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DistractorOptions {
    /// The number of distractors.
    pub count: usize,
    /// How distractors are chosen.
    pub kind: DistractorKind,
}

impl SimulatedOptions {
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
        for server in &offered.servers {
            if let Some(problem) = problem_of_name(&server.server) {
                return Err(SimulationError::ServerName { name: server.server.clone(), problem });
            }
        }
        Ok(Simulation::new(offered, recordings, self.behaviour))
    }

    /// The results in the files. Trajectories that `only` names come first, so that each of them is replayed exactly
    /// as recorded.
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

    /// Adds the simulated servers to a configuration, after those that it already has.
    ///
    /// # Errors
    /// [`SimulationError`], [`SimulationError::ServerExists`] if a name is taken.
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
            is_stateless: !server.has_memory(),
            ..ServerConfig::new(server.name(), Transport::InProcess(InProcess(server.clone())))
        }));
        Ok(simulation)
    }

    /// The catalog reduced to the offered tools.
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
            Some(asked) => {
                let is_needed = |name: &ToolName| needed.iter().any(|needed| needed.server == name.server);
                let others = catalog.tools().map(|(name, _)| name).filter(|name| !is_needed(name)).collect();
                let seed = Seed::new(seed).child("distractors");
                distractors(catalog, &needed, others, (asked.count, asked.kind), seed, embedder)?
            }
            None => Vec::new(),
        };
        let shuffled = (!others.is_empty()).then(|| Seed::new(seed));
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
    // A prediction may call tools that do not exist.
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
