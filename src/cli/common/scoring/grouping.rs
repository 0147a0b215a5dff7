//! `--by`: the property that tasks are grouped by.

use clap::ValueEnum;
use m3_suites::Shape;
use m3_trajectory::TrajectoryFile;

/// The property that tasks are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// The type that the references name
    Type,
    /// How hard a task is by the shape of its reference: single, two calls in parallel, two in series, more
    Class,
}

impl ByArg {
    /// For classes, replaces the type of each reference by the class of its shape.
    pub(crate) fn apply_to(self, references: &mut TrajectoryFile) {
        if self == Self::Class {
            references.set_types(|reference| Some(Shape::from_reference(reference).name().to_owned()));
        }
    }
}
