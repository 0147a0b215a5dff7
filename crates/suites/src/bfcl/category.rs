//! The kinds of tasks.

use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

/// How many functions a task offers, and how many calls it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    /// One function, one call.
    Simple,
    /// Several functions, one call.
    Multiple,
    /// One function, several calls.
    Parallel,
    /// Several functions, several calls.
    ParallelMultiple,
    /// No function that fits: nothing may be called.
    Irrelevance,
    /// Something has to be called, whatever it is.
    Relevance,
}

impl Category {
    /// That of a task. Its type says it in the words of BFCL, such as `live_parallel_multiple`; otherwise, and where the
    /// type does not fit the number of calls, calls and functions do.
    pub(crate) fn of(reference: &Trajectory, functions: &[Json]) -> Self {
        let says = |word| Self::words(reference).any(|said| said == word);
        match reference.call_count() {
            0 if says("relevance") => Self::Relevance,
            0 => Self::Irrelevance,
            1 if !says("parallel") => {
                let is_multiple = says("multiple") || (functions.len() > 1 && !says("simple"));
                if is_multiple { Self::Multiple } else { Self::Simple }
            }
            _ => {
                let has_several = functions.len() > 1 || !has_one_function(reference);
                let is_multiple = says("multiple") || (has_several && !says("parallel"));
                if is_multiple { Self::ParallelMultiple } else { Self::Parallel }
            }
        }
    }

    /// The words of a task's type.
    fn words(reference: &Trajectory) -> impl Iterator<Item = &str> {
        let kind = reference.task_type.as_deref().unwrap_or_default();
        kind.split(|c: char| !c.is_alphanumeric())
    }

    /// The name of a task's group: its type if that is one of BFCL's.
    pub(crate) fn group(self, reference: &Trajectory) -> String {
        let is_known = Self::words(reference)
            .any(|word| matches!(word, "simple" | "multiple" | "parallel" | "irrelevance" | "relevance"));
        let kind = reference.task_type.as_ref().filter(|_| is_known);
        kind.map_or_else(|| self.name().to_owned(), Clone::clone)
    }

    /// The name in reports.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Simple => "simple",
            Self::Multiple => "multiple",
            Self::Parallel => "parallel",
            Self::ParallelMultiple => "parallel_multiple",
            Self::Irrelevance => "irrelevance",
            Self::Relevance => "relevance",
        }
    }
}

/// Whether all calls are of one function.
fn has_one_function(reference: &Trajectory) -> bool {
    let mut tools = reference.calls().map(|(_, call)| &call.tool);
    let first = tools.next();
    tools.all(|tool| Some(tool) == first)
}
