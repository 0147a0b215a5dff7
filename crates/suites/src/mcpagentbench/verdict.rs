//! Whether the calls of a task are those of its reference.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::LazyLock;

use m3_trajectory::json::{Json, parse};
use m3_trajectory::tool_names::bare_name;
use m3_trajectory::{Call, Trajectory};

use crate::python::str_of;
use crate::suite::Variant;

/// The verdict on a trial.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The calls equal the reference's, as sets (section 4.1, TFS).
    pub(super) is_finished: bool,
    /// The calls are also in steps like the reference's (TEFS).
    pub(super) is_efficient: bool,
}

/// Tools of which only the name is compared.
static SKIPPED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    include_str!("../../tables/mcpagentbench_skip.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .collect()
});

/// A call as it is compared: the name, and its arguments as Python's texts unless only the name counts.
type Key = (String, Option<BTreeMap<String, String>>);

impl Verdict {
    /// The verdict on a prediction; `None` if the arguments of a call are JSON but not an object, with which the
    /// published program breaks off.
    pub(super) fn new(reference: &Trajectory, prediction: &Trajectory, variant: Variant) -> Option<Self> {
        let (references, predictions) = (&reference.steps, &prediction.steps);
        // The published program pairs names with arguments, and so skips a reference's call without arguments.
        let is_compared = |call: &&Call| variant == Variant::Paper || call.arguments.is_some();
        let wanted = keys(references.iter().flat_map(|step| &step.calls).filter(is_compared))?;
        let predicted = keys(predictions.iter().flat_map(|step| &step.calls))?;
        let is_finished = BTreeSet::from_iter(wanted) == BTreeSet::from_iter(predicted);
        let mut is_efficient = is_finished && references.len() == predictions.len();
        for (wanted, predicted) in references.iter().zip(predictions) {
            let (wanted, predicted) = (keys(&wanted.calls)?, keys(&predicted.calls)?);
            is_efficient &= match variant {
                Variant::Paper => sorted(wanted) == sorted(predicted),
                // The last of several calls with one name counts.
                Variant::Published => BTreeMap::from_iter(wanted) == BTreeMap::from_iter(predicted),
            };
        }
        Some(Self { is_finished, is_efficient })
    }
}

fn sorted(mut keys: Vec<Key>) -> Vec<Key> {
    keys.sort_unstable();
    keys
}

fn keys<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Option<Vec<Key>> {
    calls.into_iter().map(key).collect()
}

/// The call in the form in which calls are compared; `None` if its arguments are JSON, but not an object.
fn key(call: &Call) -> Option<Key> {
    if SKIPPED.contains(bare_name(&call.tool)) {
        return Some((call.tool.clone(), None));
    }
    let text = |members: &[(String, Json)]| {
        members.iter().map(|(name, value)| (name.clone(), str_of(value))).collect::<BTreeMap<_, _>>()
    };
    let arguments = match &call.arguments {
        None | Some(Json::Null) => BTreeMap::new(),
        Some(Json::Object(members)) => text(members),
        // A model wrote the arguments as text; a text that is not JSON counts as no arguments.
        Some(Json::String(written)) => match parse(written.as_bytes()) {
            Ok((Json::Object(members), _)) => text(&members),
            Ok(_) => return None,
            Err(_) => BTreeMap::new(),
        },
        Some(_) => return None,
    };
    Some((call.tool.clone(), Some(arguments)))
}
