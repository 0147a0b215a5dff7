//! Lists: as tuples, item by item in their order, or as sets, in which each item is paired with the one that is most
//! like it.

use std::collections::{HashMap, VecDeque};

use m3_trajectory::json::{Json, Keys, pointer_to};

use super::super::constants::{MAX_ITEM_PAIRS, MAX_ITEM_VALUES, MAX_TEXT, MAX_VALUES, NORM, SAME_OTHERWISE};
use super::super::name::Name;
use super::super::readers::ArgumentContext;
use super::super::regions::in_items;
use super::super::{ArgumentComparison, Finding, Kind, Verdict};
use super::{Alignment, Presence, ValueLocation, boxes};
use crate::hungarian::cheapest_pairs;
use crate::schema::Schema;

/// Units of cost in an assignment: a cost is a loss to the power of `NORM`, in nine digits.
const COST_UNITS: f64 = 1e9;

/// Words in the names of tools that put their inputs one after another.
const ORDERING: &[&str] =
    &["merge", "concat", "concatenate", "join", "append", "stitch", "chain", "sequence", "pipeline"];

/// Words in the names of other tools that give one answer about all their inputs.
const JOINING: &[&str] =
    &["compare", "combine", "diff", "match", "blend", "overlay", "average", "mean", "median"];

/// Whether a list is one of steps or parts, by its name or because its tool puts its items one after another.
fn is_ordered(tool: &str, name: &Name) -> bool {
    name.is_of("ordered") || tool_words(tool).any(|word| ORDERING.contains(&word))
}

fn tool_words(tool: &str) -> impl Iterator<Item = &str> {
    tool.rsplit('/').next().unwrap_or_default().split(['_', '-'])
}

/// Whether a tool that gets the items of a list in separate calls does the same as for the whole list: not where it
/// puts them one after another or compares them with each other.
pub(crate) fn may_be_split(tool: &str, argument: &str) -> bool {
    !is_ordered(tool, &Name::new(argument)) && !tool_words(tool).any(|word| JOINING.contains(&word))
}

impl Alignment<'_> {
    /// Compares two lists.
    pub(super) fn list(&mut self, at: &ValueLocation<'_>, a: &[Json], b: &[Json]) {
        let below = ValueLocation {
            path: String::new(),
            depth: at.depth.max(1) + 1,
            context: ArgumentContext {
                schema: at.context.schema.and_then(Schema::items),
                name: at.context.name.clone(),
                ..ArgumentContext::default()
            },
        };
        let is_set = self.is_set(at, a, b);
        if is_set { self.set(at, &below, a, b) } else { self.tuple(at, &below, a, b) }
    }

    fn is_set(&self, at: &ValueLocation<'_>, a: &[Json], b: &[Json]) -> bool {
        let all = |is: &dyn Fn(&Json) -> bool| a.iter().chain(b).all(is);
        if at.context.schema.is_some_and(Schema::is_set) {
            return true;
        }
        let is_number =
            |item: &Json| matches!(item, Json::Integer(_) | Json::LongInteger(_) | Json::Float(_));
        if all(&is_number) {
            return at.context.name.is_of("sets");
        }
        if is_ordered(self.tool, &at.context.name) {
            return false;
        }
        // Lists of boxes, circles and lines are sets. Lists of points are not: they may be the corners of an area.
        let (name, schema) = (&at.context.name, at.context.schema.and_then(Schema::items));
        let is_region = |item: &Json| match item {
            Json::Array(numbers) if numbers.len() > 2 => {
                in_items(numbers, name, schema, &|| self.is_visual()).is_some()
            }
            _ => false,
        };
        all(&|item| matches!(item, Json::String(_) | Json::Object(_))) || all(&is_region)
    }

    fn tuple(&mut self, at: &ValueLocation<'_>, below: &ValueLocation<'_>, a: &[Json], b: &[Json]) {
        let own = boxes::of_lists(&at.context.name, at.context.schema, a, b, &|| self.is_visual());
        let span = if at.context.span == [None; 2] { own } else { at.context.span };
        for index in 0..a.len().max(b.len()) {
            let mut of_item = ValueLocation { path: pointer_to(&at.path, index), ..below.clone() };
            let is_list = matches!(a.get(index), Some(Json::Array(_)));
            of_item.context.span = if is_list { span } else { [span[index % 2]; 2] };
            match (a.get(index), b.get(index)) {
                (Some(a), Some(b)) => self.value(&of_item, a, b),
                (Some(item), None) => self.absent(&of_item, item, Presence::Required, Verdict::Missing),
                (None, Some(item)) => self.absent(&of_item, item, Presence::Required, Verdict::Extra),
                (None, None) => {}
            }
            if self.values > MAX_VALUES {
                return self.give_up(at, Kind::List);
            }
        }
    }

    fn set(&mut self, at: &ValueLocation<'_>, below: &ValueLocation<'_>, a: &[Json], b: &[Json]) {
        let (left_a, left_b) = left_over(a, b);
        if left_a.is_empty() && left_b.is_empty() {
            let finding = Finding::new(Kind::List, SAME_OTHERWISE, "the same items in another order");
            return self.push(&at.path, finding);
        }
        let size =
            |items: &[Json], left: &[usize]| left.iter().map(|&index| size(&items[index])).sum::<usize>();
        let work =
            size(a, &left_a).saturating_mul(left_b.len()) + size(b, &left_b).saturating_mul(left_a.len());
        if left_a.len().saturating_mul(left_b.len()) > MAX_ITEM_PAIRS || work > MAX_ITEM_VALUES {
            return self.tuple(at, below, a, b);
        }
        let before = self.values;
        let mut all_pairs: Vec<Vec<Vec<ArgumentComparison>>> = Vec::new();
        for &row in &left_a {
            let of_item = ValueLocation { path: pointer_to(&at.path, row), ..below.clone() };
            all_pairs.push(left_b.iter().map(|&column| self.apart(&of_item, &a[row], &b[column])).collect());
        }
        // Comparisons that were only tried do not count as compared values.
        self.values = before + left_a.len().max(left_b.len());
        // Of several pairings with the least loss, the same one is chosen whichever call comes first.
        let text = |items: &[Json], left: &[usize]| -> Vec<String> {
            left.iter().map(|&index| items[index].to_text(Keys::Sorted)).collect()
        };
        let (rows, columns) = (left_a.len(), left_b.len());
        let rows_first = rows < columns || rows == columns && text(a, &left_a) <= text(b, &left_b);
        let pairs = assigned(&all_pairs, rows, columns, rows_first);
        for (row, &index) in left_a.iter().enumerate() {
            let of_item = ValueLocation { path: pointer_to(&at.path, index), ..below.clone() };
            match pairs.iter().find(|pair| pair.0 == row) {
                Some(&(row, column)) => {
                    let other = pointer_to(&at.path, left_b[column]);
                    let comparisons = &mut all_pairs[row][column];
                    for argument in &mut *comparisons {
                        argument.moved(&of_item.path, &other);
                    }
                    self.found.append(comparisons);
                }
                None => self.absent(&of_item, &a[index], Presence::Required, Verdict::Missing),
            }
        }
        for (column, &index) in left_b.iter().enumerate() {
            if !pairs.iter().any(|pair| pair.1 == column) {
                let of_item = ValueLocation { path: pointer_to(&at.path, index), ..below.clone() };
                self.absent(&of_item, &b[index], Presence::Required, Verdict::Extra);
            }
        }
    }

    /// Compares two items without adding the result to the comparisons found.
    fn apart(&mut self, at: &ValueLocation<'_>, a: &Json, b: &Json) -> Vec<ArgumentComparison> {
        let before = std::mem::take(&mut self.found);
        self.value(at, a, b);
        std::mem::replace(&mut self.found, before)
    }
}

impl ArgumentComparison {
    /// Sets the path of the argument in the second call, where the item at `from` stands at `to`.
    pub(super) fn moved(&mut self, from: &str, to: &str) {
        if from == to {
            return;
        }
        let path = self.other_path.as_deref().unwrap_or(&self.path);
        // A set within the item has already set its paths, below the item's own path.
        let moved = path.strip_prefix(from).map(|rest| format!("{to}{rest}"));
        match moved {
            // An argument that only the second call has keeps no path of the first.
            Some(moved) if self.verdict == Verdict::Extra => self.path = moved,
            moved => self.other_path = moved,
        }
    }
}

/// The amount to compare in a value: 1 for each value within it, and 1 for every 8 bytes of a text.
fn size(value: &Json) -> usize {
    match value {
        Json::String(text) => 1 + text.len() / 8,
        Json::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Json::Object(members) => 1 + members.iter().map(|(_, value)| size(value)).sum::<usize>(),
        _ => 1,
    }
}

/// The indices of the items of each list that the other list lacks.
fn left_over(a: &[Json], b: &[Json]) -> (Vec<usize>, Vec<usize>) {
    let mut others: HashMap<String, VecDeque<usize>> = HashMap::new();
    for (index, item) in b.iter().enumerate() {
        others.entry(item.to_text(Keys::Sorted)).or_default().push_back(index);
    }
    let mut has_partner =
        |item: &Json| others.get_mut(&item.to_text(Keys::Sorted)).and_then(VecDeque::pop_front).is_some();
    let left_a = (0..a.len()).filter(|&index| !has_partner(&a[index])).collect();
    let mut left_b: Vec<usize> = others.into_values().flatten().collect();
    left_b.sort_unstable();
    (left_a, left_b)
}

/// The pairs of rows and columns with the least sum of losses, each to the power of `NORM`.
fn assigned(
    found: &[Vec<Vec<ArgumentComparison>>],
    rows: usize,
    columns: usize,
    rows_first: bool,
) -> Vec<(usize, usize)> {
    if rows == 0 || columns == 0 {
        return Vec::new();
    }
    #[expect(clippy::cast_possible_truncation, reason = "at most a billion times the number of values")]
    let cost = |row: usize, column: usize| {
        let losses = found[row][column].iter().map(|argument| (1.0 - argument.score).powi(NORM));
        let mut losses: Vec<f64> = losses.collect();
        // The losses are added in sorted order, so that the order of members does not change the last digit.
        losses.sort_by(f64::total_cmp);
        i128::from((losses.iter().sum::<f64>() * COST_UNITS) as i64)
    };
    let costs: Vec<Vec<i128>> =
        (0..rows).map(|row| (0..columns).map(|column| cost(row, column)).collect()).collect();
    cheapest_pairs(rows, columns, rows_first, |row, column| costs[row][column])
}

/// The items that correspond to a list in the value of the other call. A text with commas is split at them, another
/// text at the first sign that gives as many parts as the list has items. Any other value is one item.
pub(super) fn parts(items: &[Json], other: &Json) -> Vec<Json> {
    let Json::String(text) = other else { return vec![other.clone()] };
    if items.len() < 2 || text.len() > MAX_TEXT {
        return vec![other.clone()];
    }
    let split = |sign: &str| -> Vec<Json> {
        text.split(sign).map(|part| Json::String(part.trim().to_owned())).collect()
    };
    let signs = [";", "|", "\n", " and ", " & ", "/", " ", "."];
    // In a text with digits, a point may belong to a number.
    let has_digit = text.bytes().any(|byte| byte.is_ascii_digit());
    let has_comma = text.contains(',');
    let fitting = signs
        .iter()
        .filter(|sign| !has_comma && text.contains(**sign) && (**sign != "." || !has_digit))
        .map(|sign| split(sign));
    match fitting.into_iter().find(|parts| parts.len() == items.len()) {
        Some(parts) => parts,
        None if has_comma => split(","),
        None => vec![other.clone()],
    }
}
