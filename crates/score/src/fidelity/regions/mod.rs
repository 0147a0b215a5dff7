//! The overlap of regions of a picture in the arguments of two calls: boxes, circles, points and lines.
//!
//! Regions are found by their names (`writings`), those of one argument are paired one to one by best overlap, and each pair
//! counts its intersection over union (`shape`), each region without a partner 0. `docs/metrics.md` has the definition.

mod pairs;
mod shape;
#[cfg(test)]
mod tests;
mod writings;

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use m3_support::text::shortened;
use m3_trajectory::json::{Json, is_same};
pub(super) use shape::Shape;
use writings::{InList, may_say_regions};
pub(super) use writings::{InObject, in_items, in_list, in_object, is_visual, items_in, json_in};

use super::constants::{CLOSE, MAX_DEPTH, OVERLAP, POINT_SHARE, POINT_SIZE, on_curve};
use super::name::Name;
use super::place::name_of;
use super::{ArgumentComparison, CallPair, Kind, Verdict};
use crate::SumAndCount;
use crate::schema::Schema;

/// How far the regions of two matched calls overlap.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Regions {
    /// The regions: the reference's in its order, then those that only the prediction has; the first hundred.
    pub each: Vec<RegionOverlap>,
    /// The sum of the overlaps of all regions, and their number; both are 0 if the reference's call has no region.
    pub overlaps: SumAndCount,
}

/// A region of the reference with the region of the prediction that is paired with it, or one without a partner.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionOverlap {
    /// The place in the reference's arguments, such as `areas[0]`, or `box` for the arguments as a whole; `None` if
    /// only the prediction has the region.
    pub reference: Option<String>,
    /// The place in the prediction's arguments; `None` if the prediction lacks the region.
    pub predicted: Option<String>,
    /// `box`, `circle`, `point` or `line`.
    pub shape: &'static str,
    /// The intersection over union, in [0, 1].
    pub overlap: f64,
}

/// The most regions of two calls that are kept.
const MOST_NAMED: usize = 100;

/// The longest name of a region, in columns.
const LONGEST_NAME: usize = 120;

impl Regions {
    /// Finds and pairs the regions of two matched calls; none where the reference has no region.
    pub(super) fn new(pair: CallPair<'_>, schema: Option<Schema<'_>>) -> Self {
        let Some(reference) = pair.a.filter(|arguments| may_say_regions(arguments)) else {
            return Self::default();
        };
        let is_visual = LazyCell::new(|| is_visual(pair.tool, reference));
        let is_visual = || *is_visual;
        let regions = read(pair.tool, reference, schema, &is_visual);
        if regions.is_empty() {
            return Self::default();
        }
        let is_equal = pair.b.is_some_and(|predicted| is_same(reference, predicted));
        let predicted = match pair.b {
            Some(_) if is_equal => regions.clone(),
            Some(predicted) => read(pair.tool, predicted, schema, &is_visual),
            None => Vec::new(),
        };
        let (regions, predicted) = shapes(regions, predicted);
        if regions.is_empty() {
            return Self::default();
        }
        let each = pairs::paired(&regions, &predicted, point_radius(&regions));
        let mut overlaps: Vec<f64> = each.iter().map(|region| region.overlap).collect();
        // The overlaps are added in sorted order, so that the order of arguments does not change the last digit.
        overlaps.sort_by(f64::total_cmp);
        let overlaps = SumAndCount { sum: overlaps.iter().sum(), count: overlaps.len() as u64 };
        Self { each, overlaps }
    }

    /// Limits the scores of the sides of a box or a circle by the overlap of the whole region: sides that are each a
    /// little off bound another part of the picture. Points and lines have no area; their numbers already tell how far
    /// apart they are. Then drops the regions beyond [`MOST_NAMED`].
    pub(super) fn limit(&mut self, arguments: &mut [ArgumentComparison]) {
        let mut known: HashMap<&str, &RegionOverlap> = HashMap::new();
        let with_area = self.each.iter().filter(|region| matches!(region.shape, "box" | "circle"));
        for region in with_area {
            region.reference.as_deref().map(|name| known.entry(name).or_insert(region));
        }
        let sides =
            arguments.iter_mut().filter(|argument| argument.kind == Kind::BoxSide && argument.score < 1.0);
        for argument in sides {
            // As regions are named: `areas[0].x1`.
            let side = name_of(&argument.path, |index| format!("[{index}]"), usize::MAX);
            let Some(region) = region_around(&known, &side) else { continue };
            let most = on_curve(&OVERLAP, region.overlap);
            if argument.score > most {
                argument.score = most;
                if matches!(argument.verdict, Verdict::Equivalent | Verdict::Close) {
                    argument.verdict = if most >= CLOSE { Verdict::Close } else { Verdict::Different };
                }
                argument.reason = Cow::Owned(format!("{} overlap of {:.2}", region.shape, region.overlap));
            }
        }
        self.each.truncate(MOST_NAMED);
    }
}

/// The region that a side belongs to, by the side's name: `areas[0].x1` belongs to `areas[0]`, `crop_x1` to `crop`, and
/// a name without a prefix to the arguments as a whole, which are named after their shape.
fn region_around<'r>(known: &HashMap<&str, &'r RegionOverlap>, side: &str) -> Option<&'r RegionOverlap> {
    let ends = side.rmatch_indices(['.', '[', '_', '-']).map(|(end, _)| end);
    let named = std::iter::once(side.len()).chain(ends).find_map(|end| known.get(&side[..end]));
    let whole = || {
        let mut shapes = ["box", "circle"].into_iter().filter(|_| !side.contains(['.', '[']));
        shapes.find_map(|shape| known.get(shape).filter(|region| region.shape == shape))
    };
    named.or_else(whole).copied()
}

/// Something in a call's arguments that may be a region.
#[derive(Debug, Clone)]
struct Candidate {
    /// The argument that holds it, without indices in lists: regions of one argument are compared with one another.
    argument: String,
    name: String,
    says: InList,
}

/// A region in a call's arguments.
#[derive(Debug, Clone)]
struct Region {
    argument: String,
    name: String,
    shape: Shape,
}

/// The place of a value in a call's arguments.
#[derive(Clone)]
struct At<'s> {
    argument: String,
    name: String,
    /// The value's name: its key, or that of the list that holds it, or the tool's name.
    label: Name,
    schema: Option<Schema<'s>>,
    depth: usize,
}

/// Finds everything in the arguments of a call that may be a region.
fn read(
    tool: &str,
    arguments: &Json,
    schema: Option<Schema<'_>>,
    is_visual: &dyn Fn() -> bool,
) -> Vec<Candidate> {
    let tool = tool.rsplit('/').next().unwrap_or_default();
    let at =
        At { argument: String::new(), name: String::new(), label: Name::of_text(tool), schema, depth: 0 };
    let mut regions = Vec::new();
    values(&at, arguments, is_visual, &mut regions);
    regions
}

fn values(at: &At<'_>, value: &Json, is_visual: &dyn Fn() -> bool, found: &mut Vec<Candidate>) {
    if at.depth > MAX_DEPTH {
        return;
    }
    let is_list = at.depth > 0 && matches!(value, Json::Array(_) | Json::String(_));
    if let Some(says) = is_list.then(|| in_list(value, &at.label, at.schema, is_visual)).flatten() {
        found.push(Candidate { argument: at.argument.clone(), name: at.name.clone(), says });
        return;
    }
    match value {
        Json::Object(members) => {
            let regions = in_object(members, &at.label);
            let regions: Vec<InObject<'_>> =
                regions.into_iter().filter(|region| !is_point(region) || is_visual()).collect();
            let taken: BTreeSet<&str> =
                regions.iter().flat_map(|region| region.members.iter().map(|member| member.0)).collect();
            for region in &regions {
                let At { argument, name, .. } = at.below(&region.prefix, &region.prefix);
                found.push(Candidate { argument, name, says: InList::Region(region.shape) });
            }
            for (key, value) in members.iter().filter(|(key, _)| !taken.contains(key.as_str())) {
                if !matches!(value, Json::Array(_) | Json::Object(_) | Json::String(_))
                    || !may_say_regions(value)
                {
                    continue;
                }
                let label = Name::new(key);
                let below = At {
                    schema: at.schema.and_then(|schema| schema.property(key)),
                    ..at.below(&label.with_spaces(), key)
                };
                values(&At { label, ..below }, value, is_visual, found);
            }
        }
        Json::Array(items) => {
            let schema = at.schema.and_then(Schema::items);
            for (index, item) in items.iter().enumerate() {
                if matches!(item, Json::Array(_) | Json::Object(_) | Json::String(_)) {
                    let name = format!("{}[{index}]", at.name);
                    values(&At { name, schema, depth: at.depth + 1, ..at.clone() }, item, is_visual, found);
                }
            }
        }
        Json::String(text) => {
            if let Some(value) = json_in(text) {
                values(&At { depth: at.depth.max(1) + 1, ..at.clone() }, &value, is_visual, found);
            }
        }
        _ => {}
    }
}

fn is_point(region: &InObject<'_>) -> bool {
    matches!(region.shape, Shape::Point(_))
}

impl At<'_> {
    /// The place of a member, or of a region whose members have this prefix; an empty key adds nothing to the name.
    fn below(&self, argument: &str, key: &str) -> Self {
        let mut below = Self { depth: self.depth + 1, ..self.clone() };
        if !key.is_empty() {
            let dot = if below.name.is_empty() { "" } else { "." };
            below.name = shortened(&format!("{}{dot}{key}", below.name), LONGEST_NAME);
            below.argument.extend(["/", &argument[..argument.floor_char_boundary(LONGEST_NAME)]]);
        }
        below
    }
}

/// The regions of both calls. Lists of four numbers that nothing describes are two corners if all of them in that
/// argument of the reference may be; otherwise they are a corner, a width and a height.
fn shapes(reference: Vec<Candidate>, predicted: Vec<Candidate>) -> (Vec<Region>, Vec<Region>) {
    let mut are_corners: BTreeMap<String, bool> = BTreeMap::new();
    for candidate in &reference {
        let may_be = candidate.says.may_be_corners();
        are_corners.entry(candidate.argument.clone()).and_modify(|all| *all &= may_be).or_insert(may_be);
    }
    let of = |candidates: Vec<Candidate>| {
        let region = |Candidate { argument, name, says }: Candidate| {
            let shape = says.shape(are_corners.get(&argument).copied().unwrap_or(true))?;
            let name = if name.is_empty() { shape.name().to_owned() } else { name };
            Some(Region { argument, name, shape })
        };
        candidates.into_iter().filter_map(region).collect()
    };
    (of(reference), of(predicted))
}

/// The radius of the disc that stands for a point. The picture's size is in no argument, but it reaches at least as far as the
/// reference's regions.
fn point_radius(reference: &[Region]) -> f64 {
    let farthest = reference.iter().map(|region| region.shape.farthest()).fold(0.0, f64::max);
    let diameter = POINT_SHARE * farthest;
    // Coordinates that are shares of a picture are at most 1.
    if farthest <= 1.0 { POINT_SHARE / 2.0 } else { diameter.max(POINT_SIZE) / 2.0 }
}
