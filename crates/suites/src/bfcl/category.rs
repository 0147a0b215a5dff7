//! The categories of BFCL's tasks.

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
    /// The category of a task: by its type in BFCL's names, such as `live_parallel_multiple`; otherwise, and where the
    /// type does not fit the number of calls, by the numbers of calls and functions.
    pub(crate) fn new(reference: &Trajectory, functions: &[Json]) -> Self {
        let named = reference.task_type.as_deref().and_then(Self::named);
        let is_one_of_several =
            matches!(named, Some(Self::Multiple)) || (functions.len() > 1 && named != Some(Self::Simple));
        match (reference.call_count(), named) {
            (0, Some(Self::Relevance)) => Self::Relevance,
            (0, _) => Self::Irrelevance,
            (1, Some(Self::Parallel)) => Self::Parallel,
            (1.., Some(Self::ParallelMultiple)) | (2.., Some(Self::Multiple)) => Self::ParallelMultiple,
            (1, _) if is_one_of_several => Self::Multiple,
            (1, _) => Self::Simple,
            (_, Some(Self::Parallel)) => Self::Parallel,
            _ if functions.len() > 1 || !has_one_function(reference) => Self::ParallelMultiple,
            _ => Self::Parallel,
        }
    }

    /// The category with this name, perhaps with `live_` or a language: `live_simple`, `simple_java`.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.replace('-', "_");
        let name = name.strip_prefix("live_").unwrap_or(&name);
        let languages = ["_python", "_java", "_javascript"];
        let name = languages.iter().find_map(|language| name.strip_suffix(language)).unwrap_or(name);
        let all = [
            Self::Simple,
            Self::Multiple,
            Self::Parallel,
            Self::ParallelMultiple,
            Self::Irrelevance,
            Self::Relevance,
        ];
        all.into_iter().find(|category| category.name() == name)
    }

    /// The name of a task's group: its type if BFCL has this type, else the name of the category.
    pub(crate) fn group(self, reference: &Trajectory) -> String {
        let name = reference.task_type.as_ref().filter(|name| Self::named(name).is_some());
        name.map_or_else(|| self.name().to_owned(), Clone::clone)
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
