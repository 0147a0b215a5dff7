//! Regions of pictures in the JSON of a score: how far those of a match overlap.

use m3_score::Counted;
use m3_score::fidelity::{RegionOverlap, Regions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The regions of a match: boxes, circles, points and lines in its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct RegionsReport {
    /// How many there are: of each argument as many as the call has that has more of them.
    pub count: u32,
    /// The mean of their overlaps, in [0, 1].
    pub overlap: f64,
    /// The regions: the reference's in its order, then those that only the prediction has; at most 100.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub each: Vec<RegionReport>,
}

/// A region of the reference beside that of the prediction which was paired with it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RegionReport {
    /// Where it is in the reference's arguments, such as `areas[0]`; its shape where the arguments themselves say it, null if
    /// only the prediction has it.
    pub reference: Option<String>,
    /// Where it is in the prediction's, likewise; null if that lacks it.
    pub predicted: Option<String>,
    /// `box`, `circle`, `point` or `line`.
    #[schemars(extend("enum" = ["box", "circle", "point", "line"]))]
    pub shape: String,
    /// Intersection over union, in [0, 1].
    pub overlap: f64,
}

impl RegionsReport {
    /// Of a match; `None` if its reference has no region.
    pub(super) fn of(regions: &Regions) -> Option<Self> {
        let Counted { sum, count } = regions.overlaps;
        let each = regions.each.iter().map(|region: &RegionOverlap| RegionReport {
            reference: region.reference.clone(),
            predicted: region.predicted.clone(),
            shape: region.shape.to_owned(),
            overlap: region.overlap,
        });
        let counted = u32::try_from(count).unwrap_or(u32::MAX);
        (count > 0).then(|| Self { count: counted, overlap: sum / count as f64, each: each.collect() })
    }

    /// Their sum and their number.
    pub(crate) fn counted(&self) -> Counted {
        Counted { sum: self.overlap * f64::from(self.count), count: self.count.into() }
    }
}
