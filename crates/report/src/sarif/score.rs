//! A score as SARIF: a result for each fault of each trajectory, and one for each `--fail-under` that is not met.

use std::io::{self, Write};

use super::{Finding, Location, Log, LogicalLocation, PhysicalLocation, Properties, Text};
use crate::faults::{BELOW_FLOOR, Fault, OF_SCORES, faults};
use crate::floors::Floor;
use crate::{FilePlace, Places, ScoreRenderer, ScoreSummary, TrajectoryReport};

/// Writes a result for each fault.
pub struct Sarif<W: Write> {
    log: Log<W>,
    floors: Vec<Floor>,
    /// The file of the predictions, for results about the whole set.
    predictions: Option<FilePlace>,
}

impl<W: Write> Sarif<W> {
    /// Writes to `writer`; the set has to reach these floors.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn new(writer: W, floors: Vec<Floor>) -> io::Result<Self> {
        Ok(Self { log: Log::new(writer, OF_SCORES)?, floors, predictions: None })
    }

    fn fault(&self, report: &TrajectoryReport, fault: &Fault) -> Finding {
        let (locations, related_locations) = locations(report, fault);
        Finding {
            level: fault.level.to_string(),
            locations,
            related_locations,
            properties: Properties {
                trajectory: Some(report.id.clone()),
                repetition: report.repeat,
                side: fault.place.map(|place| place.side),
                step: fault.place.map(|place| place.step + 1),
                call: fault.place.and_then(|place| Some(place.call? + 1)),
            },
            ..self.log.finding(fault.rule, &fault.message)
        }
    }
}

/// Where a fault is: at the prediction, if there is one, with the reference beside it.
fn locations(report: &TrajectoryReport, fault: &Fault) -> (Vec<Location>, Vec<Location>) {
    let Places { prediction, reference, .. } = &report.places;
    let has_prediction = prediction.is_some() && report.failure.as_deref() != Some("missing");
    let at = if has_prediction { prediction } else { reference };
    let location = Location {
        physical: at.as_ref().map(PhysicalLocation::of),
        logical: vec![LogicalLocation::of(&report.id, fault.place)],
        message: None,
    };
    let beside = reference.as_ref().filter(|_| has_prediction).map(|reference| Location {
        physical: Some(PhysicalLocation::of(reference)),
        message: Some(Text::of("the reference")),
        ..Location::default()
    });
    (vec![location], beside.into_iter().collect())
}

impl<W: Write> ScoreRenderer for Sarif<W> {
    fn trajectory(&mut self, report: &TrajectoryReport) -> io::Result<()> {
        if self.predictions.is_none() {
            self.predictions =
                report.places.prediction.clone().map(|place| FilePlace { line: None, ..place });
        }
        let (faults, more) = faults(report);
        for fault in &faults {
            self.log.add(&self.fault(report, fault))?;
        }
        if let Some(last) = faults.last().filter(|_| more > 0) {
            let rest =
                Fault { message: format!("{more} more faults are not named"), place: None, ..last.clone() };
            self.log.add(&self.fault(report, &rest))?;
        }
        Ok(())
    }

    fn finish(&mut self, summary: &ScoreSummary) -> io::Result<()> {
        for floor in &self.floors {
            if let Some(message) = floor.failure_of_set(summary) {
                let at = self.predictions.as_ref().map(PhysicalLocation::of);
                let at = at.map(|at| Location { physical: Some(at), ..Location::default() });
                let finding = self.log.finding(&BELOW_FLOOR, &message);
                self.log.add(&Finding { locations: at.into_iter().collect(), ..finding })?;
            }
        }
        self.log.finish()
    }
}
