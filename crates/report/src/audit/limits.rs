//! Limits on how much is shown of a trajectory, which may have a hundred thousand calls.

/// The most that a terminal shows of each kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Calls of each side.
    pub(super) calls: usize,
    /// Steps of each side, with or without calls.
    pub(super) steps: usize,
    /// Matches whose arguments are shown.
    pub(super) matches: usize,
    /// Unequal arguments of a match, and the same number of names of equal ones.
    pub(super) arguments: usize,
    /// Unmatched calls.
    pub(super) unmatched: usize,
    /// Split steps, and the same number of merged steps.
    pub(super) sentences: usize,
    /// Reads of a call, and the same number of files that it makes.
    pub(super) flow: usize,
}

/// Matches of a page whose arguments are shown.
pub(super) const PAGE_MATCHES: usize = 400;

/// Unequal arguments of a match on a page, and the same number of names of equal ones.
pub(super) const PAGE_ARGUMENTS: usize = 40;

/// Split steps on a page, and the same number of merged steps.
pub(super) const PAGE_SENTENCES: usize = 400;

/// The limits of a terminal.
pub(super) const TERMINAL: Limits =
    Limits { calls: 200, steps: 200, matches: 200, arguments: 20, unmatched: 200, sentences: 200, flow: 3 };

/// Numbers in all similarity matrices of a trajectory on a page.
pub(super) const MATRIX_CELLS: usize = 20_000;

/// Rows and columns of the step matrix on a page.
pub(super) const MATRIX_STEPS: usize = 40;

/// Rows and columns of a similarity matrix that an audit keeps.
pub(super) const BUCKET_CALLS: usize = 64;

/// Arguments of a match that an audit keeps; the others are counted.
pub(super) const KEPT_ARGUMENTS: usize = 100;

/// The most steps that a sentence names.
pub(super) const NAMED_STEPS: usize = 20;

/// A note on how many things are not shown; `None` for 0.
pub(super) fn more(count: usize, things: &str) -> Option<String> {
    match count {
        0 => None,
        1 => Some(format!("1 more {} is not shown", singular(things))),
        count => Some(format!("{count} more {things} are not shown")),
    }
}

fn singular(things: &str) -> &str {
    things.strip_suffix("ches").map_or(things.trim_end_matches('s'), |_| things.trim_end_matches("es"))
}
