//! Simulated servers, made from any catalog of tools and any set of recorded trajectories.
//!
//! | a call | gets |
//! | --- | --- |
//! | of a tool that is not in the catalog | the protocol's error |
//! | that equals a recorded one ([`canonical`]) | the recorded result |
//! | with arguments that the schema does not accept | a refusal in the style of the tool's server ([`refusal`]) |
//! | else | a result made from the output schema and the arguments ([`generate`]), or with `strict` an error |
//!
//! Any call may suffer one of the [`faults`]. Every result is marked as recorded or simulated ([`answer`]). Answers
//! are the same on every machine: they depend only on the seed, the server, the tool and the arguments.
//!
//! A [`Simulation`] holds the servers; [`SimulatedOptions`] makes one from files, for the key `simulated` of a
//! configuration and for `m3 serve simulated`. [`distractors`](crate::distractors) reduces a catalog to the tools that a
//! task needs and some that it does not need.

mod answer;
mod canonical;
mod error;
mod faults;
mod generate;
mod options;
mod reading;
mod recordings;
mod refusal;
mod server;

use std::sync::Arc;

pub use answer::{MARK, NO_RECORDING};
pub use error::SimulationError;
pub use faults::{Delay, Faults, MAX_DELAY};
use m3_mcp::{RejectedTool, ToolCatalog};
pub use options::{DistractorOptions, SimulatedOptions};
pub use recordings::{RecordingCounts, Recordings};
pub use server::{Behaviour, SimulatedServer};

/// The simulated servers of a catalog.
#[derive(Debug)]
pub struct Simulation {
    /// The servers, in the order of the catalog.
    pub servers: Vec<Arc<SimulatedServer>>,
    /// Tools of the catalog that cannot be simulated, by server.
    pub rejected: Vec<(String, RejectedTool)>,
    /// The numbers of recorded calls.
    pub recordings: RecordingCounts,
}

impl Simulation {
    /// Simulates the servers of a catalog.
    #[must_use]
    pub fn new(catalog: ToolCatalog, recordings: Recordings, behaviour: Behaviour) -> Self {
        let counts = recordings.counts();
        let recordings = Arc::new(recordings);
        let mut simulation = Self { servers: Vec::new(), rejected: Vec::new(), recordings: counts };
        for server in catalog.servers {
            let name = &server.server;
            simulation.rejected.extend(server.rejected.into_iter().map(|tool| (name.clone(), tool)));
            let recordings = Arc::clone(&recordings);
            let server = SimulatedServer::new(server.server, server.tools, recordings, behaviour);
            simulation.servers.push(Arc::new(server));
        }
        simulation
    }

    /// The server of this name.
    #[must_use]
    pub fn server(&self, name: &str) -> Option<&Arc<SimulatedServer>> {
        use m3_mcp::Toolbox as _;
        self.servers.iter().find(|server| server.name() == name)
    }
}

#[cfg(test)]
mod tests;
