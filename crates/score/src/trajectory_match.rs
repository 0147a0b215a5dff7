//! Whether a trajectory passes against its reference, as `agentevals` defines it: calls are the same or not, without an
//! encoder and without degrees. This is reported beside the metrics and has no part in them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::fmt;

use m3_support::text::{counted, shortened};
use m3_trajectory::json::{Json, is_same};
use m3_trajectory::{Call, FailureClass, Trajectory};

use super::CallPlace;

/// Which calls a prediction must have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum MatchMode {
    /// In each step the calls of the reference's step, in any order within it
    Strict,
    /// The calls of the reference, in any order and in any steps
    Unordered,
    /// No calls but those of the reference
    Subset,
    /// The calls of the reference, and perhaps others
    Superset,
}

impl MatchMode {
    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            MatchMode::Strict => "strict",
            MatchMode::Unordered => "unordered",
            MatchMode::Subset => "subset",
            MatchMode::Superset => "superset",
        }
    }
}

/// Which arguments calls of one tool must share to be the same. `Subset` takes those of the first call, which is the predicted one
/// in [`MatchMode::Strict`] and [`MatchMode::Superset`]. In [`MatchMode::Subset`] it is the reference's, and
/// [`MatchMode::Unordered`] asks for both, as `agentevals` does. `Superset` takes those of the second call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum ArgumentMode {
    /// All
    Exact,
    /// None
    Ignore,
    /// Those that the prediction has; with --match subset and unordered see docs/metrics.md
    Subset,
    /// Those that the reference has, likewise
    Superset,
}

impl ArgumentMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Exact, Self::Ignore, Self::Subset, Self::Superset];

    /// The name in options and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ArgumentMode::Exact => "exact",
            ArgumentMode::Ignore => "ignore",
            ArgumentMode::Subset => "subset",
            ArgumentMode::Superset => "superset",
        }
    }

    /// The mode with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// How the arguments of two calls of one tool are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentRule {
    /// All by one mode.
    Mode(ArgumentMode),
    /// Only the values at these paths, keys with points between them; one that is missing is like null.
    Keys(Vec<String>),
}

/// How a trajectory is matched with its reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatchOptions {
    /// The calls that the prediction must have.
    pub mode: MatchMode,
    /// How their arguments are compared.
    pub arguments: ArgumentMode,
    /// The rules for the arguments of some tools, instead of the mode.
    pub tools: BTreeMap<String, ArgumentRule>,
}

/// Whether a trajectory passes, or the first reason why it does not.
pub type Verdict = Result<(), Mismatch>;

/// Why a trajectory does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mismatch {
    /// The task failed.
    Failed(FailureClass),
    /// The prediction has more or fewer steps.
    Steps {
        /// The steps of the reference.
        reference: usize,
        /// The steps of the prediction.
        predicted: usize,
    },
    /// A step has more or fewer calls.
    Calls {
        /// The step, counted from 0.
        step: usize,
        /// The calls of the reference.
        reference: usize,
        /// The calls of the prediction.
        predicted: usize,
    },
    /// No call that is left on the other side is the same as this call.
    Call {
        /// Its side and the other: `reference` and `predicted`.
        sides: [&'static str; 2],
        /// The place of the call.
        place: CallPlace,
        /// The tool of the call.
        tool: String,
        /// The place of the first call of the tool that is left on the other side, and the first argument in which it
        /// differs, empty for the arguments as a whole; `None` without such a call.
        nearest: Option<Box<(CallPlace, String)>>,
    },
}

/// Matches a prediction with its reference. Calls are taken in their order, and each gets the first one on the other
/// side that is the same and not taken yet.
///
/// # Errors
/// The first reason why the prediction does not pass.
pub fn matches(prediction: &Trajectory, reference: &Trajectory, options: &MatchOptions) -> Verdict {
    let (predicted, references) = (calls(prediction), calls(reference));
    let has_all = || options.find_partners([&references, &predicted], [REFERENCE, PREDICTED], false);
    let has_no_other = || options.find_partners([&predicted, &references], [PREDICTED, REFERENCE], false);
    match options.mode {
        MatchMode::Strict => strict([prediction, reference], &predicted, &references, options),
        MatchMode::Unordered => has_all().and_then(|()| has_no_other()),
        MatchMode::Subset => has_no_other(),
        MatchMode::Superset => has_all(),
    }
}

/// The most pairs of calls that are compared in vain; only a crafted trajectory has more.
const MOST_COMPARED: usize = 1 << 23;

const REFERENCE: &str = "reference";
const PREDICTED: &str = "predicted";

/// A call and its place.
type PlacedCall<'t> = (CallPlace, &'t Call);

fn calls(trajectory: &Trajectory) -> Vec<PlacedCall<'_>> {
    let steps = trajectory.steps.iter().enumerate();
    let of_steps = steps.flat_map(|(step, content)| {
        content.calls.iter().enumerate().map(move |(call, found)| (step, call, found))
    });
    let placed = of_steps.enumerate();
    placed.map(|(index, (step, call, found))| (CallPlace { step, call, index }, found)).collect()
}

/// Matches the calls step by step.
fn strict(
    trajectories: [&Trajectory; 2],
    mut predicted: &[PlacedCall<'_>],
    mut references: &[PlacedCall<'_>],
    options: &MatchOptions,
) -> Verdict {
    let [predicted_steps, reference_steps] = trajectories.map(|trajectory| trajectory.steps.as_slice());
    if predicted_steps.len() != reference_steps.len() {
        return Err(Mismatch::Steps { reference: reference_steps.len(), predicted: predicted_steps.len() });
    }
    for (step, both) in predicted_steps.iter().zip(reference_steps).enumerate() {
        let (count, wanted) = (both.0.calls.len(), both.1.calls.len());
        if count != wanted {
            return Err(Mismatch::Calls { step, reference: wanted, predicted: count });
        }
        let (of_prediction, of_reference);
        (of_prediction, predicted) = predicted.split_at(count);
        (of_reference, references) = references.split_at(count);
        options.find_partners([of_prediction, of_reference], [PREDICTED, REFERENCE], true)?;
    }
    Ok(())
}

impl MatchOptions {
    /// Finds a partner among `offered` for each of `wanted`. Which of two calls is the first for [`ArgumentMode`] is
    /// decided by `is_wanted_first`.
    fn find_partners(
        &self,
        [wanted, offered]: [&[PlacedCall<'_>]; 2],
        sides: [&'static str; 2],
        is_wanted_first: bool,
    ) -> Verdict {
        let mut left: HashMap<&str, VecDeque<&PlacedCall<'_>>> = HashMap::new();
        for placed in offered {
            left.entry(&placed.1.tool).or_default().push_back(placed);
        }
        let usual = ArgumentRule::Mode(self.arguments);
        let mut compared = 0;
        for (place, call) in wanted {
            let rule = self.tools.get(&call.tool).unwrap_or(&usual);
            let difference = |other: &Call| {
                let [first, second] = if is_wanted_first { [*call, other] } else { [other, *call] };
                rule.difference(arguments(first), arguments(second)).map(str::to_owned)
            };
            let mut none = VecDeque::new();
            let left = left.get_mut(call.tool.as_str()).unwrap_or(&mut none);
            let Some(found) = left.iter().position(|(_, other)| difference(other).is_none()) else {
                let nearest =
                    left.front().and_then(|(place, other)| Some(Box::new((*place, difference(other)?))));
                return Err(Mismatch::Call { sides, place: *place, tool: call.tool.clone(), nearest });
            };
            left.remove(found);
            compared += found;
            if compared > MOST_COMPARED {
                return Err(Mismatch::Failed(FailureClass::TooLarge));
            }
        }
        Ok(())
    }
}

/// The arguments of a call; without any, an empty object.
fn arguments(call: &Call) -> &Json {
    static NONE: Json = Json::Object(Vec::new());
    call.arguments.as_ref().unwrap_or(&NONE)
}

impl ArgumentRule {
    /// The first argument for which two calls are not the same, empty for the arguments as a whole.
    fn difference<'j>(&'j self, first: &'j Json, second: &'j Json) -> Option<&'j str> {
        let mode = match self {
            Self::Keys(paths) => {
                let mut paths = paths.iter().map(String::as_str);
                return paths.find(|path| !are_same(value_at(first, path), value_at(second, path)));
            }
            Self::Mode(ArgumentMode::Ignore) => return None,
            Self::Mode(mode) => *mode,
        };
        let (Json::Object(first_members), Json::Object(second_members)) = (first, second) else {
            return (!is_same(first, second)).then_some("");
        };
        let (of_first, of_second) = (by_key(first_members), by_key(second_members));
        let firsts = first_members.iter().filter(|_| mode != ArgumentMode::Superset);
        let seconds = second_members.iter().filter(|_| mode != ArgumentMode::Subset);
        let mut keys = firsts.chain(seconds).map(|(key, _)| key.as_str());
        keys.find(|key| !are_same(of_first.get(key).copied(), of_second.get(key).copied()))
    }
}

fn by_key(members: &[(String, Json)]) -> HashMap<&str, &Json> {
    members.iter().map(|(key, value)| (key.as_str(), value)).collect()
}

fn are_same(a: Option<&Json>, b: Option<&Json>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => is_same(a, b),
        (a, b) => a.is_none() && b.is_none(),
    }
}

/// The value at a path of keys; `None` for null.
fn value_at<'j>(value: &'j Json, path: &str) -> Option<&'j Json> {
    path.split('.').try_fold(value, |value, key| value.get(key)).filter(|value| **value != Json::Null)
}

/// The longest names in a message, in columns.
const SHOWN: usize = 60;

/// Describes the mismatch in a few words; places are counted from 1, step and call: `2.1`.
impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(FailureClass::Missing) => formatter.write_str("there is no prediction"),
            Self::Failed(FailureClass::TooLarge) => {
                formatter.write_str("there are too many calls to compare")
            }
            Self::Failed(class) => write!(formatter, "the task failed: {}", class.name().replace('_', " ")),
            Self::Steps { reference, predicted } => {
                write!(formatter, "{} instead of {reference}", counted(*predicted as u64, "step"))
            }
            Self::Calls { step, reference, predicted } => {
                let calls = counted(*predicted as u64, "call");
                write!(formatter, "step {} has {calls} instead of {reference}", step + 1)
            }
            Self::Call { sides: [side, other], place, tool, nearest } => {
                write!(formatter, "{side} call {place} ({}) is like no {other} one", shortened(tool, SHOWN))?;
                match nearest.as_deref() {
                    None => write!(formatter, ": none of this tool is left"),
                    Some((near, argument)) if argument.is_empty() => {
                        write!(formatter, ": {near} has other arguments")
                    }
                    Some((near, argument)) => {
                        write!(formatter, ": `{}` differs from {near}", shortened(argument, SHOWN))
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
