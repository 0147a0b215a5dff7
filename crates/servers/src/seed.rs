//! Randomness that is the same on every machine and does not depend on what else is drawn.
//!
//! A [`Seed`] is a SHA-256 digest of everything it is derived from. Each part of a result has its own child seed, so
//! that its values do not change when another part changes. Its [`Stream`] is `ChaCha` with 8 rounds.

use rand::rngs::ChaCha8Rng;
use rand::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};

/// Where a stream of random numbers starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seed([u8; 32]);

/// A stream of random numbers.
pub(crate) struct Stream(ChaCha8Rng);

impl Seed {
    /// The seed of a run.
    pub(crate) fn new(seed: u64) -> Self {
        Self(Sha256::digest(seed.to_le_bytes()).into())
    }

    /// A separate seed for each label.
    pub(crate) fn child(&self, label: impl AsRef<[u8]>) -> Self {
        Self(Sha256::new().chain_update(self.0).chain_update(label).finalize().into())
    }

    /// A separate seed for each number.
    pub(crate) fn nth(&self, number: usize) -> Self {
        self.child((number as u64).to_le_bytes())
    }

    /// The stream of random numbers that starts at this seed.
    pub(crate) fn stream(&self) -> Stream {
        Stream(ChaCha8Rng::from_seed(self.0))
    }

    /// A number to sort by, for an order that the seed alone decides.
    pub(crate) fn rank(&self) -> [u8; 32] {
        self.0
    }
}

impl Stream {
    /// A number in `0..count`; 0 for a count of 0. Probabilities differ from uniform ones by less than 2^-64.
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        let wide = u128::from(self.0.next_u64()) * u128::from(count);
        u64::try_from(wide >> 64).unwrap_or_default()
    }

    /// A random index into a list of this length; 0 for an empty list.
    pub(crate) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// A number in [0, 1), a multiple of 2^-53.
    pub(crate) fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_their_range_and_depend_on_the_seed_alone() {
        let mut stream = Seed::new(1).child("a").stream();
        let drawn: Vec<u64> = (0..1_000).map(|_| stream.below(10)).collect();
        assert!((0..10).all(|value| drawn.contains(&value)) && drawn.iter().all(|&value| value < 10));
        assert_eq!(Stream::below(&mut Seed::new(1).stream(), 0), 0);
        let mut again = Seed::new(1).child("a").stream();
        assert_eq!(drawn, (0..1_000).map(|_| again.below(10)).collect::<Vec<_>>());
        assert_ne!(Seed::new(1).child("a"), Seed::new(1).child("b"));
        assert_ne!(Seed::new(1).nth(0), Seed::new(2).nth(0));
        assert!((0..1_000).all(|_| (0.0..1.0).contains(&again.unit())));
    }
}
