//! Limits on how much is shown of a trajectory, which may have a hundred thousand calls.

/// Calls of each side at a terminal.
pub(super) const TERMINAL_CALLS: usize = 200;

/// Steps of each side at a terminal, with or without calls.
pub(super) const TERMINAL_STEPS: usize = 200;

/// Matches at a terminal whose arguments are shown.
pub(super) const TERMINAL_MATCHES: usize = 200;

/// Unequal arguments of a match at a terminal.
pub(super) const TERMINAL_ARGUMENTS: usize = 20;

/// Unmatched calls at a terminal.
pub(super) const TERMINAL_UNMATCHED: usize = 200;

/// Split steps at a terminal, and the same number of merged steps.
pub(super) const TERMINAL_SENTENCES: usize = 200;

/// Reads of a call at a terminal, and the same number of files that it makes.
pub(super) const TERMINAL_FLOW: usize = 3;

/// Matches of a page whose arguments are shown.
pub(super) const PAGE_MATCHES: usize = 400;

/// Unequal arguments of a match on a page, and the same number of names of equal ones.
pub(super) const PAGE_ARGUMENTS: usize = 40;

/// Split steps on a page, and the same number of merged steps.
pub(super) const PAGE_SENTENCES: usize = 400;

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
