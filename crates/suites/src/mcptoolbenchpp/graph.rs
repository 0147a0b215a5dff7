//! The graph of a task's calls, and which of them are last: the nodes that AST-DAG accuracy compares (paper, section
//! 4.1.1).

use std::collections::{HashMap, VecDeque};

use m3_trajectory::json::Json;
use m3_trajectory::{Call, Trajectory};

/// A call of a model; `None` if it names no tool.
pub(super) type Entry<'t> = Option<&'t Call>;

/// All entries among the calls of a trajectory, in order.
pub(super) fn entries(trajectory: &Trajectory) -> impl Iterator<Item = Entry<'_>> {
    trajectory.steps.iter().flat_map(|step| step.entries().map(Result::ok))
}

/// The end of a mark.
const END: &str = "_result>";

/// Marks `<id_result>`, which stand for the results of a trajectory's calls.
#[derive(Debug)]
pub(super) struct Marks {
    /// The place of the call with each id.
    places: HashMap<String, usize>,
}

impl Marks {
    /// The marks for the calls of a trajectory: by the member `id` of each, or else by its place, from 1.
    pub(super) fn new(trajectory: &Trajectory) -> Self {
        let id = |at: usize, entry: Entry<'_>| match entry.and_then(|call| call.get("id")) {
            Some(Json::String(id)) => id.clone(),
            Some(Json::Integer(id)) => id.to_string(),
            _ => (at + 1).to_string(),
        };
        Self { places: entries(trajectory).enumerate().map(|(at, entry)| (id(at, entry), at)).collect() }
    }

    /// Whether a value is or contains a mark.
    pub(super) fn are_in(&self, value: &Json) -> bool {
        !self.places_in(value).is_empty()
    }

    /// The places of the calls whose marks a value contains.
    fn places_in(&self, value: &Json) -> Vec<usize> {
        match value {
            Json::String(text) => self.places_in_text(text),
            Json::Array(items) => items.iter().flat_map(|item| self.places_in(item)).collect(),
            Json::Object(members) => members.iter().flat_map(|(_, value)| self.places_in(value)).collect(),
            _ => Vec::new(),
        }
    }

    fn places_in_text(&self, text: &str) -> Vec<usize> {
        let Some((marked, _)) = text.rsplit_once(END) else { return Vec::new() };
        // No id contains the end of a mark, so each begins after the end before it: every letter is read once.
        let ids = marked.split(END).filter_map(|part| Some(part.rsplit_once('<')?.1));
        ids.filter_map(|id| self.places.get(id).copied()).collect()
    }
}

/// The calls on whose results no other call depends. A call depends on those whose marks are in its arguments; where no
/// call has a mark, on those of the step before.
pub(super) fn leaves<'t>(trajectory: &'t Trajectory, marks: &Marks) -> Vec<Entry<'t>> {
    let all: Vec<Entry<'_>> = entries(trajectory).collect();
    let mut is_used = vec![false; all.len()];
    let mut has_marks = false;
    for (at, entry) in all.iter().enumerate() {
        let arguments = entry.and_then(|call| call.arguments.as_ref());
        for place in arguments.map(|arguments| marks.places_in(arguments)).unwrap_or_default() {
            has_marks = true;
            if let Some(is_used) = is_used.get_mut(place).filter(|_| place != at) {
                *is_used = true;
            }
        }
    }
    if has_marks {
        return all
            .into_iter()
            .zip(is_used)
            .filter(|(_, is_used)| !is_used)
            .map(|(entry, _)| entry)
            .collect();
    }
    let last = trajectory.steps.iter().rev().find(|step| step.entries().next().is_some());
    last.map(|step| step.entries().map(Result::ok).collect()).unwrap_or_default()
}

/// Assigns to each of `count` references one of as many predictions, each to one only; `None` if that is impossible.
/// Kuhn's algorithm: each reference in turn takes a free prediction, through a chain of others that change theirs.
pub(super) fn assignment(count: usize, fits: impl Fn(usize, usize) -> bool) -> Option<Vec<usize>> {
    let fits: Vec<Vec<usize>> = (0..count)
        .map(|reference| (0..count).filter(|prediction| fits(reference, *prediction)).collect())
        .collect();
    let mut taken_by: Vec<Option<usize>> = vec![None; count];
    let mut takes: Vec<Option<usize>> = vec![None; count];
    for reference in 0..count {
        let mut reached_from: Vec<Option<usize>> = vec![None; count];
        let mut waiting = VecDeque::from([reference]);
        let mut free = None;
        while let Some(at) = waiting.pop_front().filter(|_| free.is_none()) {
            for &prediction in fits.get(at).into_iter().flatten() {
                let Some(from @ None) = reached_from.get_mut(prediction) else { continue };
                *from = Some(at);
                match taken_by.get(prediction).copied().flatten() {
                    Some(other) => waiting.push_back(other),
                    None => free = free.or(Some(prediction)),
                }
            }
        }
        let mut next = Some(free?);
        while let Some(prediction) = next {
            let from = reached_from.get(prediction).copied().flatten()?;
            *taken_by.get_mut(prediction)? = Some(from);
            next = takes.get_mut(from)?.replace(prediction);
        }
    }
    takes.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use m3_trajectory::Step;
    use m3_trajectory::json::parse;

    use super::*;

    /// A trajectory of steps of calls with these arguments; the tool of a call is its place.
    fn trajectory(steps: &[&[&str]]) -> Trajectory {
        let mut place = 0;
        let mut call = |arguments: &&str| {
            place += 1;
            let arguments = Some(parse(arguments.as_bytes()).unwrap().0);
            Call { tool: place.to_string(), arguments, result: None, extra: Vec::new() }
        };
        let steps = steps.iter().map(|calls| calls.iter().map(&mut call).collect());
        let steps = steps.map(|calls| Step { calls, ..Step::default() });
        Trajectory { steps: steps.collect(), ..Trajectory::default() }
    }

    fn last(steps: &[&[&str]]) -> Vec<String> {
        let trajectory = trajectory(steps);
        let leaves = leaves(&trajectory, &Marks::new(&trajectory));
        leaves.into_iter().map(|call| call.unwrap().tool.clone()).collect()
    }

    #[test]
    fn leaves_are_by_marks_or_by_steps() {
        assert!(last(&[]).is_empty());
        assert_eq!(last(&[&["{}"]]), ["1"]);
        assert_eq!(last(&[&["{}", "{}"]]), ["1", "2"]);
        assert_eq!(last(&[&["{}", "{}"], &["{}"], &[]]), ["3"]);
        assert_eq!(last(&[&["{}"], &[r#"{"a": ["x <1_result> y"]}"#], &["{}"]]), ["2", "3"]);
        assert_eq!(last(&[&["{}", "{}"], &[r#"{"a": {"b": "<1_result>,<2_result>"}}"#]]), ["3"]);
        // No call has this id; a call that marks itself depends on nothing.
        assert_eq!(last(&[&["{}"], &[r#"{"a": "<7_result>"}"#]]), ["2"]);
        assert_eq!(last(&[&["{}"], &[r#"{"a": "<2_result>"}"#]]), ["1", "2"]);
        assert!(last(&[&[r#"{"a": "<2_result>"}"#, r#"{"a": "<1_result>"}"#]]).is_empty(), "a circle");
    }

    #[test]
    fn ids_of_calls_are_their_marks() {
        let mut it = trajectory(&[&["{}"], &["{}"], &[r#"{"a": "<first_result>"}"#]]);
        it.steps[0].calls[0].extra.push(("id".to_owned(), Json::String("first".to_owned())));
        let tools: Vec<_> =
            leaves(&it, &Marks::new(&it)).into_iter().map(|call| call.unwrap().tool.clone()).collect();
        assert_eq!(tools, ["2", "3"]);
    }

    /// All graphs of up to four nodes a side, compared with a search of all permutations.
    #[test]
    fn an_assignment_is_found_if_there_is_one() {
        fn exists(count: usize, row: usize, used: usize, fits: &dyn Fn(usize, usize) -> bool) -> bool {
            row == count
                || (0..count).any(|at| {
                    used & (1 << at) == 0 && fits(row, at) && exists(count, row + 1, used | (1 << at), fits)
                })
        }
        assert_eq!(assignment(0, |_, _| true), Some(Vec::new()));
        for count in 1..=4 {
            for graph in 0..1_usize << (count * count) {
                let fits = |row: usize, at: usize| graph & (1 << (row * count + at)) != 0;
                let pairs = assignment(count, fits);
                assert_eq!(pairs.is_some(), exists(count, 0, 0, &fits), "{count} {graph:b}");
                if let Some(mut pairs) = pairs {
                    assert!(pairs.iter().enumerate().all(|(row, at)| fits(row, *at)));
                    pairs.sort_unstable();
                    assert_eq!(pairs, (0..count).collect::<Vec<_>>());
                }
            }
        }
    }
}
