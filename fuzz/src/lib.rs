//! What m3 keeps whatever it is given to read, for the fuzzer and for tests: no panic, nothing said that is long or acts on a
//! terminal, nothing that grows beyond its input, and what is written is read again as it was.
//!
//! | input | who reads it |
//! | --- | --- |
//! | [`traces`] | the front door of `m3-traces` |
//! | [`trajectories`] | `m3-trajectory`, `m3-flow`, `m3-score` |
//! | [`schemas`] | all that walks a tool's schema: `m3-mcp`, `m3-outcomes`, `m3-executor`, `m3-score` |
//! | [`replies`] | the wires of `m3-llm` |
//! | [`mcp_messages`] | `m3-mcp`, of servers |
//! | [`journals`] | whoever goes on with what was kept: `m3-judge`, `m3-llm`, `m3-executor` |
//!
//! Each has a `check`, which panics if something is not kept. `fuzz/targets` gives them to libFuzzer, and the tests of this crate
//! every file of `fuzz/corpus`.

#![forbid(unsafe_code)]

#[cfg(feature = "libfuzzer")]
#[doc(hidden)]
pub use libfuzzer_sys;

pub mod changes;
pub mod input;
pub mod journals;
pub mod letters;
pub mod mcp_messages;
pub mod replies;
pub mod schemas;
pub mod traces;
pub mod trajectories;

/// A fuzz target.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! fuzz {
    ($check:path) => {
        use $crate::libfuzzer_sys::{self, fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};

        fuzz_target!(|bytes: &[u8]| $check(bytes));

        fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            match $crate::changes::changed(&data[..size], max_size.min(data.len()), seed) {
                Some(text) => {
                    data[..text.len()].copy_from_slice(&text);
                    text.len()
                }
                None => fuzzer_mutate(data, size, max_size),
            }
        });

        fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
            let text = $crate::changes::crossed(first, second, seed).unwrap_or_default();
            let length = text.len().min(out.len());
            out[..length].copy_from_slice(&text[..length]);
            length
        });
    };
}
