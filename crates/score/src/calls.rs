//! The calls of a trajectory for the alignment: the place and tool of each, and which are equal.

use std::collections::HashMap;
use std::fmt;

use m3_embedding::InputKey;
use serde::{Deserialize, Serialize};

/// The place of a call in its trajectory, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(expecting = "an object")]
pub struct CallPlace {
    /// The index of the step in the trajectory.
    pub step: usize,
    /// The index of the call within the step.
    #[serde(skip_deserializing)]
    #[cfg_attr(feature = "schema", schemars(!skip_deserializing))]
    pub call: usize,
    /// The index of the call within the trajectory.
    #[serde(skip_deserializing)]
    #[cfg_attr(feature = "schema", schemars(!skip_deserializing))]
    pub index: usize,
}

/// Counts from 1: step 1, call 2 is `1.2`.
impl fmt::Display for CallPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.step + 1, self.call + 1)
    }
}

/// The calls of a trajectory for the alignment.
#[derive(Debug, Clone)]
pub struct Calls {
    tools: Vec<String>,
    pub(super) places: Vec<CallPlace>,
    /// For each call, the key of the text that the encoder gets for its arguments.
    pub(super) inputs: Vec<InputKey>,
    steps: usize,
}

impl Calls {
    /// Creates an empty list of calls for a trajectory of `steps` steps.
    pub(super) fn new(steps: usize) -> Self {
        Self { tools: Vec::new(), places: Vec::new(), inputs: Vec::new(), steps }
    }

    /// Adds the next call; steps must be ascending.
    pub(super) fn push(&mut self, step: usize, tool: &str) {
        let call = match self.places.last() {
            Some(last) if last.step == step => last.call + 1,
            _ => 0,
        };
        self.places.push(CallPlace { step, call, index: self.places.len() });
        self.tools.push(tool.to_owned());
        self.inputs.push(InputKey::default());
    }

    /// The tool of call `index`.
    pub(super) fn tool(&self, index: usize) -> &str {
        &self.tools[index]
    }

    /// The number of calls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no calls.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of steps, those without calls included.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The number of calls of each step.
    pub(super) fn calls_of_steps(&self) -> Vec<u64> {
        let mut counts = vec![0; self.steps];
        for place in &self.places {
            counts[place.step] += 1;
        }
        counts
    }

    /// The steps of the calls at these indices.
    pub(super) fn steps_of(&self, indices: &[usize]) -> Vec<usize> {
        indices.iter().map(|&index| self.places[index].step).collect()
    }

    /// The tool of each call.
    pub(super) fn tools(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().map(String::as_str)
    }

    /// Sorts indices of calls so that the order within steps does not matter: by step, then by the key of the encoder's
    /// text. Calls that are equal in both are interchangeable.
    pub(super) fn sort(&self, indices: &mut [usize]) {
        self.sort_by(indices, &|_| 0);
    }

    /// Sorts indices of calls by step, then by `key`, then by the key of the encoder's text.
    pub(super) fn sort_by(&self, indices: &mut [usize], key: &dyn Fn(usize) -> u64) {
        indices.sort_by_key(|&index| (self.places[index].step, key(index), self.inputs[index], index));
    }

    /// Groups these calls into classes of calls with the same text for the encoder.
    pub(super) fn classes(&self, indices: &[usize]) -> Classes {
        let mut known = HashMap::new();
        let mut classes = Classes { of: Vec::with_capacity(indices.len()), first: Vec::new() };
        for &index in indices {
            let class = *known.entry(self.inputs[index]).or_insert(classes.first.len());
            if class == classes.first.len() {
                classes.first.push(index);
            }
            classes.of.push(class);
        }
        classes
    }
}

/// Calls of one tool, sorted into classes of equal ones. A model that loops makes many calls and few classes.
pub(super) struct Classes {
    /// The class of each call.
    pub(super) of: Vec<usize>,
    /// The first call of each class, as an index into its trajectory: it represents the class.
    pub(super) first: Vec<usize>,
}
