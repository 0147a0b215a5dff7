//! The number of random draws, their random numbers and the threads that make them: [`Draws`].

use std::num::NonZero;
use std::thread;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;

/// The number of resamples or permutations, and how they are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Draws {
    /// The number of draws. Intervals need 1,000 or more; their ends are steady from 10,000 on.
    pub count: usize,
    /// Equal seeds give equal draws on any machine; the choice of the seed does not matter.
    pub seed: u64,
    /// The number of threads, which changes only the time; `None` means one per core.
    pub threads: Option<NonZero<usize>>,
}

impl Default for Draws {
    fn default() -> Self {
        Self { count: 10_000, seed: 2024, threads: None }
    }
}

/// The purpose of random numbers: draws for different purposes are independent of one another.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    /// Resampling trajectories.
    Resample = 0,
    /// Flipping the signs of trajectories' contributions.
    Flip = 1,
}

impl Draws {
    /// The random numbers of one draw, whichever thread makes it.
    ///
    /// ChaCha with 8 rounds: portable, and its streams of one seed are independent by construction.
    pub(super) fn random(&self, purpose: Purpose, draw: usize) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(2 * draw as u64 + purpose as u64);
        random
    }

    /// Calls `fill(index, row)` for every row of `width` values, in parallel.
    pub(super) fn fill_rows<T: Send>(
        &self,
        values: &mut [T],
        width: usize,
        fill: impl Fn(usize, &mut [T]) + Sync,
    ) {
        if values.is_empty() || width == 0 {
            return;
        }
        let cores = || thread::available_parallelism().map_or(1, NonZero::get);
        let threads = self.threads.map_or_else(cores, NonZero::get);
        let rows_each = (values.len() / width).div_ceil(threads).max(1);
        thread::scope(|scope| {
            for (thread, part) in values.chunks_mut(rows_each * width).enumerate() {
                let fill = &fill;
                scope.spawn(move || {
                    for (row, values) in part.chunks_mut(width).enumerate() {
                        fill(thread * rows_each + row, values);
                    }
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    #[test]
    fn every_row_is_filled_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 3, 7, 100] {
            let draws = Draws { threads: NonZero::new(threads), ..Draws::default() };
            let mut values = vec![0; 22];
            draws.fill_rows(&mut values, 2, |row, values| {
                for value in values {
                    *value += row + 1;
                }
            });
            let expected: Vec<usize> = (0..22).map(|index| index / 2 + 1).collect();
            assert_eq!(values, expected, "{threads} threads");
        }
    }

    #[test]
    fn no_rows_are_no_work() {
        Draws::default().fill_rows(&mut [(); 0], 3, |_, _| panic!("called"));
        Draws::default().fill_rows(&mut [(); 3], 0, |_, _| panic!("called"));
    }

    #[test]
    fn draws_differ_by_seed_number_and_purpose() {
        let first = |seed, purpose, draw| Draws { seed, ..Draws::default() }.random(purpose, draw).next_u64();
        let numbers = [
            first(1, Purpose::Resample, 0),
            first(1, Purpose::Resample, 1),
            first(1, Purpose::Flip, 0),
            first(2, Purpose::Resample, 0),
        ];
        for (index, number) in numbers.iter().enumerate() {
            assert!(!numbers[..index].contains(number));
        }
        assert_eq!(first(1, Purpose::Flip, 5), first(1, Purpose::Flip, 5));
    }
}
