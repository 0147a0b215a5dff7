//! Choices that a seed decides.

use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};

/// A source of choices, the same for the same seed on every machine.
#[derive(Debug)]
pub(crate) struct Random(ChaCha8Rng);

impl Random {
    /// The choices of a seed, for one of many purposes.
    pub(crate) fn new(seed: u64, purpose: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(purpose);
        Self(random)
    }

    /// One of these.
    pub(crate) fn one<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        from.choose(&mut self.0).unwrap()
    }

    /// One of these, if there is one.
    pub(crate) fn any<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        from.choose(&mut self.0).copied()
    }

    /// Some of these, in any order.
    pub(crate) fn some<T: Clone>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut shuffled = from.to_vec();
        self.shuffle(&mut shuffled);
        shuffled.truncate(count);
        shuffled
    }

    /// Puts these into any order.
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        items.shuffle(&mut self.0);
    }

    /// A whole number from the first to the last.
    pub(crate) fn within(&mut self, first: i64, last: i64) -> i64 {
        self.0.random_range(first..=last)
    }

    /// True with this chance.
    pub(crate) fn chance(&mut self, chance: f64) -> bool {
        self.0.random_bool(chance)
    }
}
