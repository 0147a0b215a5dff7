//! Makes the calls of a file of trajectories again, for `m3 outcomes` and `m3 record`.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use m3_images::task_image::image_folders;
use m3_mcp::HostOptions;
use m3_mcp::config::HostConfig;
use m3_outcomes::{KnownTools, Replay, ReplayError, ReplayOptions, ReplayedTrajectory};
use m3_support::text::counted;
use m3_trajectory::{Trajectory, TrajectoryFile};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cli::Common;
use crate::cli::common::encoder::EncoderArgs;
use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::hosting::{Servers, Signals, add_simulated, interrupted, runtime};
use crate::cli::common::input;
use crate::cli::common::printer::Printer;

/// The number of trajectories read ahead for each worker, so that a slow trajectory keeps no worker idle.
const AHEAD: usize = 4;

/// Options of a replay besides its servers.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Folder that the images of trajectories are in [default: that of the trajectories, and the one above it]
    #[arg(long, value_name = "DIR", requires = "servers")]
    images: Option<PathBuf>,
    /// Trajectories at once, each with servers of its own
    #[arg(long, value_name = "N", default_value_t = 4, requires = "servers", value_parser = clap::value_parser!(u16).range(1..=256))]
    workers: u16,
    #[command(flatten)]
    encoder: EncoderArgs,
}

/// The input of a replay besides its options.
pub(crate) struct Inputs<'a> {
    /// The path of the file of trajectories.
    pub(crate) path: &'a Path,
    pub(crate) file: &'a TrajectoryFile,
    /// The tools that were offered, if a catalog gives them.
    pub(crate) tools: Option<&'a Arc<KnownTools>>,
    /// The action that the bar names: `replaying`.
    pub(crate) action: &'static str,
}

/// A function that takes each replayed trajectory.
pub(crate) type Take<'a> = &'a mut dyn FnMut(ReplayedTrajectory) -> Result;

/// Reads a configuration of servers, including simulated ones; a catalog is refused with the message `refusal`.
pub(crate) fn configuration(
    path: &Path,
    encoder: &EncoderArgs,
    refusal: &str,
    (common, printer): (&Common, Printer),
) -> Result<HostConfig> {
    let Servers::Configured(mut config) = Servers::open(path, printer)? else {
        return Err(Failure::input(refusal));
    };
    add_simulated(&mut config, || encoder.open(common.assets()?, printer), printer)?;
    Ok(config)
}

/// Reads the configuration of a replay's servers.
pub(crate) fn replay_configuration(
    path: &Path,
    encoder: &EncoderArgs,
    context: (&Common, Printer),
) -> Result<HostConfig> {
    let refusal = format!(
        "`{}` is a catalog; a replay needs servers\nhint: `--tools` takes it, and a configuration with \
         `{{\"simulated\": {{\"catalog\": ..}}}}` plays it",
        path.display()
    );
    configuration(path, encoder, &refusal, context)
}

impl ReplayArgs {
    /// Replays all trajectories, which `take` gets in the order of the file; returns the number of known tools.
    pub(crate) fn run(
        &self,
        servers: &Path,
        inputs: &Inputs<'_>,
        take: Take<'_>,
        (common, printer): (&Common, Printer),
    ) -> Result<usize> {
        let config = replay_configuration(servers, &self.encoder, (common, printer))?;
        let workspace = tempfile::tempdir().map_err(|cause| Failure::temporary(&cause))?;
        let options = ReplayOptions {
            images: input::image_folders(self.images.as_ref(), || image_folders(inputs.path))?,
            host: HostOptions::new(workspace.path()).guarded(),
        };
        let runtime = runtime()?;
        let signals = Signals::listen(&runtime);
        let cancel = signals.first.clone();
        let done = runtime.block_on(async {
            let used = used_servers(inputs.file, config)?;
            let replay = tokio::select! {
                replay = Replay::start(used, inputs.tools.cloned(), options) => replay,
                () = cancel.cancelled() => return Err(interrupted()),
            };
            let replay = replay.map_err(Failure::input)?;
            self.replay_all((Arc::new(replay), cancel), inputs, take, printer).await
        });
        let done = signals.settle(done);
        // Tasks that still wait must not keep the program running: servers end with their hosts.
        runtime.shutdown_background();
        done
    }

    /// Passes on the replayed trajectories in the order of the file.
    async fn replay_all(
        &self,
        (replay, cancel): (Arc<Replay>, CancellationToken),
        inputs: &Inputs<'_>,
        take: Take<'_>,
        printer: Printer,
    ) -> Result<usize> {
        let file = inputs.file;
        let mut work = Work::new(replay, file, self.workers.into(), cancel);
        let bar = printer.bar();
        let (mut done, mut known_tools, mut lack_images) = (0, HashSet::new(), 0);
        let mut failure = None;
        while let Some(found) = work.next().await {
            let taken = found.and_then(|found| {
                known_tools.extend(found.tools.names().map(str::to_owned));
                lack_images += usize::from(found.lacks_image);
                take(found)
            });
            if let Err(reason) = taken {
                failure = Some(reason);
                break;
            }
            done += 1;
            bar.set(inputs.action, done, file.len() as u64);
        }
        drop(bar);
        if failure.is_some() {
            printer.note("closing servers");
        }
        work.end().await;
        if lack_images > 0 {
            printer.warn(&format!(
                "the images of {} were not found\nhint: name their folder with `--images`",
                counted(lack_images, "trajectory")
            ));
        }
        failure.map_or(Ok(known_tools.len()), Err)
    }
}

/// The trajectories that are replayed, in the order of the file.
struct Work<'a> {
    replay: Arc<Replay>,
    file: &'a TrajectoryFile,
    cancel: CancellationToken,
    places: Arc<Semaphore>,
    running: VecDeque<Running>,
    /// The most trajectories that run or wait.
    most: usize,
    /// The index of the next trajectory to read.
    next: usize,
}

impl<'a> Work<'a> {
    fn new(replay: Arc<Replay>, file: &'a TrajectoryFile, workers: usize, cancel: CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(workers));
        Self { replay, file, cancel, places, running: VecDeque::new(), most: workers * AHEAD, next: 0 }
    }

    /// Keeps workers busy, and returns the next trajectory of the file once it is done.
    async fn next(&mut self) -> Option<Result<ReplayedTrajectory>> {
        while self.next < self.file.len() && self.running.len() < self.most {
            let trajectory = match self.file.read(self.next) {
                Ok(trajectory) => trajectory,
                Err(error) => return Some(Err(error.into())),
            };
            self.running.push_back(start(&self.replay, trajectory, &self.places, &self.cancel));
            self.next += 1;
        }
        let mut first = self.running.pop_front()?;
        tokio::select! {
            // A trajectory that was cancelled does not count as a failure.
            biased;
            () = self.cancel.cancelled() => {
                self.running.push_front(first);
                Some(Err(interrupted()))
            }
            found = &mut first => Some(taken(found)),
        }
    }

    /// Ends everything that still runs, and the servers.
    async fn end(self) {
        self.cancel.cancel();
        for left in self.running {
            // The results of these trajectories are not needed any more, but their servers have to end.
            let _ = left.await;
        }
        self.replay.close().await;
    }
}

type Running = JoinHandle<Result<ReplayedTrajectory, ReplayError>>;

fn start(
    replay: &Arc<Replay>,
    trajectory: Trajectory,
    places: &Arc<Semaphore>,
    cancel: &CancellationToken,
) -> Running {
    let (replay, places, cancel) = (Arc::clone(replay), Arc::clone(places), cancel.clone());
    tokio::spawn(async move {
        let _place = places.acquire_owned().await.map_err(|_| ReplayError::Cancelled)?;
        if cancel.is_cancelled() {
            return Err(ReplayError::Cancelled);
        }
        replay.replay(trajectory, &cancel).await
    })
}

fn taken(
    found: Result<Result<ReplayedTrajectory, ReplayError>, tokio::task::JoinError>,
) -> Result<ReplayedTrajectory> {
    let replayed = found.map_err(|error| Failure::unavailable(format!("a replay broke off: {error}")))?;
    replayed.map_err(Failure::unavailable)
}

/// The configuration without servers that no call names, whose start would only take time.
fn used_servers(file: &TrajectoryFile, mut config: HostConfig) -> Result<HostConfig> {
    let mut is_used = vec![false; config.servers.len()];
    for index in 0..file.len() {
        let trajectory = file.read(index)?;
        for (_, call) in trajectory.calls() {
            let server = call.tool.split_once('/').map_or("", |(server, _)| server);
            if let Some(place) = config.servers.iter().position(|config| config.name == server) {
                is_used[place] = true;
            }
        }
    }
    let mut is_used = is_used.into_iter();
    config.servers.retain(|_| is_used.next().unwrap_or(false));
    Ok(config)
}
