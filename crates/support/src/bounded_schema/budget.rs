//! Limits of a check. A check that would exceed them is ended by unwinding the stack.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use serde_json::Value;

use super::{MOST_DEEP, TooMuchWork};

/// The most bytes of stack that a check may use: threads have two megabytes.
const MOST_STACK: usize = 768 << 10;

/// The limits of a check or of a preparation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) steps: u64,
    pub(super) pattern_work: u64,
    /// The most states of a regular expression.
    pub(super) pattern_states: u64,
    /// The most states of all regular expressions that the name of a member is matched with.
    pub(super) name_states: u64,
}

thread_local! {
    /// What is left of the limits of the running check, and the approximate address at which its stack begins; `None`
    /// while nothing is counted.
    static REMAINING: Cell<Option<(Limits, usize)>> = const { Cell::new(None) };
}

pub(super) fn count_steps(steps: u64) {
    let Some((remaining, stack)) = REMAINING.get() else { return };
    if stack_pointer().abs_diff(stack) > MOST_STACK {
        resume_unwind(Box::new(TooMuchWork::Deep));
    }
    match remaining.steps.checked_sub(steps) {
        Some(steps) => REMAINING.set(Some((Limits { steps, ..remaining }, stack))),
        // How many steps were allowed is known where the check began.
        None => resume_unwind(Box::new(TooMuchWork::Steps(0))),
    }
}

/// Counts a text that is read: a regular expression may be matched with it.
pub(super) fn count_text(text: &str) {
    count_matching(text, |limits| limits.pattern_states);
}

/// Counts the name of a member: all regular expressions of `patternProperties` may be matched with it.
pub(super) fn count_name(name: &str) {
    count_matching(name, |limits| limits.name_states);
}

fn count_matching(text: &str, states: impl FnOnce(&Limits) -> u64) {
    count_steps(text.len() as u64 / 64);
    let Some((remaining, stack)) = REMAINING.get() else { return };
    match remaining.pattern_work.checked_sub(states(&remaining).saturating_mul(text.len() as u64)) {
        Some(pattern_work) => REMAINING.set(Some((Limits { pattern_work, ..remaining }, stack))),
        None => resume_unwind(Box::new(TooMuchWork::PatternWork)),
    }
}

/// The approximate address of the top of the stack.
#[inline(never)]
fn stack_pointer() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}

/// Runs a function that may take at most this many steps.
pub(super) fn within<T>(steps: u64, run: impl FnOnce() -> T) -> Result<T, TooMuchWork> {
    Limits { steps, pattern_work: 0, pattern_states: 0, name_states: 0 }.within(run)
}

impl Limits {
    /// Runs a function within these limits.
    pub(super) fn within<T>(self, run: impl FnOnce() -> T) -> Result<T, TooMuchWork> {
        let before = REMAINING.replace(Some((self, stack_pointer())));
        // Unwinding is safe: a schema that was being prepared or checked is dropped, and nobody sees it half done.
        let done = catch_unwind(AssertUnwindSafe(run));
        REMAINING.set(before);
        done.map_err(|cause: Box<dyn Any + Send>| match cause.downcast::<TooMuchWork>().map(|stop| *stop) {
            Ok(TooMuchWork::Steps(_)) => TooMuchWork::Steps(self.steps),
            Ok(other) => other,
            Err(other) => resume_unwind(other),
        })
    }
}

/// How large a value is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    /// Values in it, itself among them.
    pub(super) values: u64,
    /// Bytes of its texts and keys.
    pub(super) bytes: u64,
}

impl Size {
    /// The size of a value that is not nested too deep.
    pub(super) fn measure(value: &Value) -> Result<Self, TooMuchWork> {
        let (mut size, mut open) = (Self::default(), vec![(value, 0)]);
        while let Some((value, depth)) = open.pop() {
            if depth > MOST_DEEP {
                return Err(TooMuchWork::Deep);
            }
            size.values += 1;
            match value {
                Value::String(text) => size.bytes += text.len() as u64,
                Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
                Value::Object(members) => open.extend(members.iter().map(|(key, item)| {
                    size.bytes += key.len() as u64;
                    (item, depth + 1)
                })),
                _ => {}
            }
        }
        Ok(size)
    }
}
