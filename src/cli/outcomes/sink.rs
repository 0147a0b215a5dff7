//! Passes classified trajectories to the language model, if one decides where rules are not sure, and then to the
//! report.

use m3_outcomes::{ClassifiedCall, ClassifiedTrajectory, ReplayedTrajectory};
use m3_trajectory::Trajectory;

use crate::cli::common::failure::Failure;
use crate::cli::common::printer::Printer;
use crate::cli::outcomes::asking::Asking;
use crate::report::{OutcomesGatherer, OutcomesRenderer};

/// Receives classified trajectories.
pub(crate) struct Sink<'a> {
    pub(crate) gatherer: &'a mut OutcomesGatherer,
    pub(crate) renderer: &'a mut dyn OutcomesRenderer,
    pub(crate) asking: Option<Asking>,
}

impl Sink<'_> {
    /// Takes a trajectory that was replayed.
    pub(crate) fn replayed(&mut self, found: ReplayedTrajectory) -> Result<(), Failure> {
        for (server, reason) in &found.unavailable {
            self.gatherer.add_unavailable(server, reason);
        }
        self.push(found.trajectory, found.calls)
    }

    /// Takes the next trajectory.
    pub(crate) fn push(&mut self, trajectory: Trajectory, calls: Vec<ClassifiedCall>) -> Result<(), Failure> {
        let classified = ClassifiedTrajectory { trajectory, calls };
        match &mut self.asking {
            None => self.take(&classified),
            Some(asking) => asking.push(classified)?.iter().try_for_each(|classified| self.take(classified)),
        }
    }

    /// Lets the model decide the calls that are still open.
    pub(crate) fn decide_rest(&mut self, printer: Printer) -> Result<(), Failure> {
        let Some(asking) = &mut self.asking else { return Ok(()) };
        let rest = asking.decide()?;
        asking.say(printer);
        rest.iter().try_for_each(|classified| self.take(classified))
    }

    fn take(&mut self, classified: &ClassifiedTrajectory) -> Result<(), Failure> {
        let report = self.gatherer.add(&classified.trajectory, &classified.calls);
        self.renderer.trajectory(&report).map_err(|cause| Failure::written(&cause))
    }
}
