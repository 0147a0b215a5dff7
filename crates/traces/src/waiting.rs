//! The calls that wait for their results, to find one without looking at all of them.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};

/// The place of a call: the number of its reply, and its number there. Later replies come first, calls in their order.
type Place = (Reverse<usize>, usize);

/// The calls that wait.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    by_id: HashMap<String, BTreeSet<Place>>,
    /// The waiting calls without an id.
    nameless: BTreeSet<Place>,
    all: BTreeSet<Place>,
}

impl Waiting {
    /// Adds a call that waits.
    pub(crate) fn add(&mut self, id: Option<&str>, reply: usize, call: usize) {
        let place = (Reverse(reply), call);
        self.all.insert(place);
        match id {
            Some(id) => self.by_id.entry(id.to_owned()).or_default().insert(place),
            None => self.nameless.insert(place),
        };
    }

    /// Removes a call that no longer waits.
    pub(crate) fn remove(&mut self, id: Option<&str>, reply: usize, call: usize) {
        let place = (Reverse(reply), call);
        self.all.remove(&place);
        self.nameless.remove(&place);
        if let Some(id) = id
            && let Some(places) = self.by_id.get_mut(id)
        {
            places.remove(&place);
            if places.is_empty() {
                self.by_id.remove(id);
            }
        }
    }

    /// The call with this id, of the latest reply that has one: its reply and its place there.
    pub(crate) fn with_id(&self, id: &str) -> Option<(usize, usize)> {
        self.by_id.get(id)?.first().map(|(reply, call)| (reply.0, *call))
    }

    /// The latest reply with waiting calls that a result could belong to, and these calls: all of them for a result
    /// without an id, else only calls that have no id themselves.
    pub(crate) fn latest(&self, has_id: bool) -> Option<(usize, impl Iterator<Item = usize>)> {
        let places = if has_id { &self.nameless } else { &self.all };
        let (reply, _) = places.first()?;
        Some((reply.0, places.range((*reply, 0)..=(*reply, usize::MAX)).map(|(_, call)| *call)))
    }
}
