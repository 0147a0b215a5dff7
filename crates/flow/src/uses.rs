//! Which call uses the values of which other call: finds what arguments and results have in common, and weighs it.
//!
//! 1. The sought values are taken from the arguments of all calls, and from results whose words all stand in
//!    arguments.
//! 2. Every result is read once. A value found in it counts if it is significant (see `significance`).
//! 3. The source of a value is the first result that returned it. A value has no source if the task contains it, or if
//!    a call has it among its arguments before that result existed.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use m3_trajectory::json::{Json, Keys};

use super::files::file_uses;
use super::leaves::{Leaf, Segment, argument_leaves, walk_result};
use super::positions::position_uses;
use super::reader::ResultReader;
use super::task::TaskText;
use super::value_index::ValueIndex;
use super::value_use::Use;
use super::vectors::vectors;
use crate::{CallStatus, Chain, ChainCall};

/// The most text of one result that is read, in bytes.
const MAX_RESULT: usize = 32 << 20;

/// The most text of all results that is read, in bytes.
const MAX_RESULTS: usize = 128 << 20;

/// The most text of all arguments that is read, in bytes.
const MAX_ARGUMENTS: usize = 8 << 20;

/// The most places of one value in arguments that are kept.
const MAX_OCCURRENCES: usize = 1000;

/// All uses between calls.
#[derive(Debug, Default)]
pub struct Uses {
    /// Values that successful calls returned.
    pub found: Vec<Use>,
    /// Values that only failed calls returned.
    pub lost: Vec<Use>,
}

/// A place where a value stands in arguments.
struct Occurrence {
    call: usize,
    pointer: String,
    shown: String,
    /// The hash of the list that contains the value.
    list: Option<u64>,
}

/// A result that contains a value.
#[derive(Clone)]
struct Source {
    call: usize,
    pointer: String,
    is_one_value: bool,
}

/// Finds all uses between calls.
#[must_use]
pub fn find_uses(chain: &Chain) -> Uses {
    let mut search = Search::new(chain);
    search.read_arguments();
    search.read_pieces();
    search.place_arguments();
    search.place_vectors();
    let is_given = search.task_values();
    search.read_results();
    let mut uses = search.resolve(&is_given);
    uses.found.extend(file_uses(chain));
    uses.found.extend(position_uses(chain, &uses.found));
    uses.found.sort_by(|a, b| (a.to, a.from, &a.in_arguments).cmp(&(b.to, b.from, &b.in_arguments)));
    uses
}

struct Search<'a> {
    chain: &'a Chain,
    sought_values: ValueIndex,
    leaves: Vec<Vec<Leaf<'a>>>,
    occurrences: HashMap<usize, Vec<Occurrence>>,
    sources: BTreeMap<usize, Vec<Source>>,
    /// For each list with a sought value, the first step in which it is in arguments.
    lists: HashMap<(usize, u64), usize>,
}

impl<'a> Search<'a> {
    fn new(chain: &'a Chain) -> Self {
        let mut budget = MAX_ARGUMENTS;
        let leaves = chain.calls.iter().map(|call| {
            let mut leaves = argument_leaves(call.arguments.as_ref());
            leaves.retain(|leaf| {
                let length = leaf.value.as_str().map_or(8, str::len) + leaf.pointer.len();
                let is_within = length <= budget;
                budget = budget.saturating_sub(length);
                is_within
            });
            leaves
        });
        Self {
            leaves: leaves.collect(),
            chain,
            sought_values: ValueIndex::default(),
            occurrences: HashMap::new(),
            sources: BTreeMap::new(),
            lists: HashMap::new(),
        }
    }

    fn read_arguments(&mut self) {
        for leaf in self.leaves.iter().flatten() {
            self.sought_values.add_argument(leaf);
        }
    }

    fn read_pieces(&mut self) {
        let mut pieces: HashSet<Vec<u32>> = HashSet::new();
        let mut whole: HashSet<u32> = HashSet::new();
        let mut budget = MAX_RESULTS;
        for call in self.chain.calls.iter().filter(|call| is_returning(call)) {
            walk_call(call, &mut budget, &mut |value, _| {
                if let Json::String(text) = value {
                    let sought = self.sought_values.pieces(text);
                    pieces.extend(sought.found);
                    whole.extend(sought.whole);
                }
            });
        }
        // The pieces are sorted, so that chance does not decide which of them are left out beyond the limit.
        let pieces: BTreeSet<Vec<u32>> = pieces.into_iter().collect();
        for piece in pieces {
            self.sought_values.add_piece(piece);
        }
        for word in whole {
            self.sought_values.add_whole(word);
        }
    }

    fn place_arguments(&mut self) {
        let mut hashes: HashMap<*const Json, u64> = HashMap::new();
        for (call, leaves) in self.leaves.iter().enumerate() {
            let step = self.chain.calls[call].place.step;
            for leaf in leaves {
                let list = leaf.list.map(|list| *hashes.entry(list).or_insert_with(|| hash_of(list)));
                for sought in self.sought_values.in_argument(leaf) {
                    if let Some(list) = list {
                        let first = self.lists.entry((sought, list)).or_insert(step);
                        *first = step.min(*first);
                    }
                    let occurrences = self.occurrences.entry(sought).or_default();
                    if occurrences.len() < MAX_OCCURRENCES {
                        let shown = match leaf.value {
                            Json::String(text) => text.clone(),
                            other => other.to_text(Keys::AsRead),
                        };
                        let shown = m3_support::text::shortened(&shown, 80);
                        occurrences.push(Occurrence { call, pointer: leaf.pointer.clone(), shown, list });
                    }
                }
            }
        }
    }

    /// Numbers that stand together are looked for as one value.
    fn place_vectors(&mut self) {
        for (index, call) in self.chain.calls.iter().enumerate() {
            for vector in vectors(call.arguments.as_ref()) {
                let Some(sought) = self.sought_values.add_vector(&vector) else { continue };
                let occurrences = self.occurrences.entry(sought).or_default();
                if occurrences.len() < MAX_OCCURRENCES {
                    let (pointer, shown) = (vector.pointer, vector.shown);
                    occurrences.push(Occurrence { call: index, pointer, shown, list: None });
                }
            }
        }
    }

    /// The sought values that the task itself contains.
    fn task_values(&self) -> HashSet<usize> {
        let mut given = HashSet::new();
        let task = TaskText::new(&self.chain.given);
        for text in task.texts() {
            self.sought_values.in_text(text, &mut |sought, _| {
                given.insert(sought);
            });
        }
        let is_given =
            |sought: &&usize| self.sought_values.get(**sought).is_some_and(|sought| task.gives(sought));
        given.extend(self.occurrences.keys().filter(is_given));
        given
    }

    fn read_results(&mut self) {
        let mut budget = MAX_RESULTS;
        for (index, call) in self.chain.calls.iter().enumerate().filter(|(_, call)| is_returning(call)) {
            let mut reader = ResultReader::new(&self.sought_values);
            walk_call(call, &mut budget, &mut |value, path| reader.read(value, path));
            for (sought, pointer, is_one_value) in reader.significant() {
                if self.occurrences.contains_key(&sought) {
                    let source = Source { call: index, pointer, is_one_value };
                    self.sources.entry(sought).or_default().push(source);
                }
            }
        }
    }

    fn resolve(&self, is_given: &HashSet<usize>) -> Uses {
        let mut uses = Uses::default();
        for (sought, sources) in &self.sources {
            if is_given.contains(sought) {
                continue;
            }
            let succeeded =
                |source: &&Source| self.chain.calls[source.call].standing == CallStatus::Succeeded;
            let good: Vec<Source> = sources.iter().filter(succeeded).cloned().collect();
            if good.is_empty() {
                self.resolve_one(*sought, sources, &mut uses.lost);
            } else {
                self.resolve_one(*sought, &good, &mut uses.found);
            }
        }
        uses
    }

    fn resolve_one(&self, sought: usize, sources: &[Source], uses: &mut Vec<Use>) {
        let (Some(source), Some(occurrences)) = (sources.first(), self.occurrences.get(&sought)) else {
            return;
        };
        let step_of = |call: usize| self.chain.calls[call].place.step;
        let known_at = step_of(source.call);
        // A call that picks one of several things it was given reveals something by the choice.
        let is_picked = |occurrence: &Occurrence| occurrence.list.is_some() && source.is_one_value;
        if occurrences.iter().any(|found| step_of(found.call) <= known_at && !is_picked(found)) {
            return;
        }
        // A list that existed before is not one that the value was put into.
        let is_old = |occurrence: &Occurrence| {
            occurrence
                .list
                .and_then(|list| self.lists.get(&(sought, list)))
                .is_some_and(|&step| step <= known_at)
        };
        let later: Vec<&Occurrence> =
            occurrences.iter().filter(|found| step_of(found.call) > known_at && !is_old(found)).collect();
        let calls: std::sync::Arc<[usize]> = sources.iter().map(|source| source.call).collect();
        let mut times: HashMap<(usize, u64), usize> = HashMap::new();
        for found in &later {
            if let Some(list) = found.list {
                *times.entry((found.call, list)).or_default() += 1;
            }
        }
        uses.extend(later.into_iter().map(|found| Use {
            from: source.call,
            to: found.call,
            value: found.shown.clone(),
            in_result: source.pointer.clone(),
            in_arguments: found.pointer.clone(),
            sources: calls.clone(),
            times: found.list.and_then(|list| times.get(&(found.call, list)).copied()).unwrap_or(1),
        }));
    }
}

fn hash_of(list: &Json) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(list.to_text(Keys::Sorted))
}

fn is_returning(call: &ChainCall) -> bool {
    call.result.is_some() && call.standing != CallStatus::NotRecorded
}

fn walk_call(call: &ChainCall, all: &mut usize, visit: &mut dyn FnMut(&Json, &[Segment])) {
    let Some(result) = &call.result else { return };
    let start = MAX_RESULT.min(*all);
    let mut budget = start;
    walk_result(result, &mut budget, visit);
    *all -= start - budget;
}
