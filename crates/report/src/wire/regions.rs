//! Regions of pictures in the JSON of a score: how far those of a match overlap.

use m3_score::SumAndCount;
use m3_score::fidelity::{RegionOverlap, Regions};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The regions of a match: boxes, circles, points and lines in its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(expecting = "an object")]
pub struct RegionsReport {
    /// The number of regions: for each argument, as many as the call with more regions has.
    pub count: u32,
    /// The mean of the regions' overlaps, in [0, 1].
    pub overlap: f64,
    /// The regions: the reference's in its order, then those that only the prediction has; at most 100.
    #[serde(skip_deserializing)]
    #[schemars(!skip_deserializing)]
    pub each: Vec<RegionReport>,
}

/// A region of the reference beside that of the prediction which was paired with it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct RegionReport {
    /// The place in the reference's arguments, such as `areas[0]`; the shape, if the arguments as a whole are the
    /// region; null if only the prediction has the region.
    pub reference: Option<String>,
    /// The place in the prediction's arguments, in the same form; null if the prediction lacks the region.
    pub predicted: Option<String>,
    /// `box`, `circle`, `point` or `line`.
    #[schemars(extend("enum" = ["box", "circle", "point", "line"]))]
    pub shape: String,
    /// Intersection over union, in [0, 1].
    pub overlap: f64,
}

impl RegionsReport {
    /// Makes the report of a match; `None` if its reference has no region.
    pub(super) fn of(regions: &Regions) -> Option<Self> {
        let SumAndCount { sum, count } = regions.overlaps;
        let each = regions.each.iter().map(|region: &RegionOverlap| RegionReport {
            reference: region.reference.clone(),
            predicted: region.predicted.clone(),
            shape: region.shape.to_owned(),
            overlap: region.overlap,
        });
        let counted = u32::try_from(count).unwrap_or(u32::MAX);
        (count > 0).then(|| Self { count: counted, overlap: sum / count as f64, each: each.collect() })
    }

    /// The sum and the number of the overlaps.
    pub(crate) fn counted(&self) -> SumAndCount {
        SumAndCount { sum: self.overlap * f64::from(self.count), count: self.count.into() }
    }
}
