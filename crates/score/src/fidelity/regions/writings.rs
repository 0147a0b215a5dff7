//! Finds numbers of a call that describe a region: by the names of members and lists, by the schema's description of a
//! list, and by the table `tables/regions.txt`.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::sync::LazyLock;

use m3_support::name_cache::NameCache;
use m3_trajectory::json::{Json, parse};

use super::super::constants::{MAX_DEPTH, MAX_TEXT};
use super::super::name::Name;
use super::super::readers::number;
use super::shape::{Shape, Writing};
use crate::schema::Schema;

/// A row of the table: the names of members that describe a region together, each with one number or several.
struct Row {
    writing: Writing,
    names: Vec<&'static str>,
    /// The names with spaces around them, if a list with this name describes such a region.
    words: Option<String>,
}

/// The rows of the table; where one is the start of another, the one with more members comes first.
static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let lines = include_str!("../tables/regions.txt").lines().filter_map(|line| line.split_once(": "));
    let row = |(writing, names): (&str, &'static str)| {
        let writing = Writing::from_name(writing)?;
        let each: Vec<&str> = names.split(' ').collect();
        let is_telling = each.len() == 4 || names.len() == 4 && each.len() == 1;
        Some(Row { writing, names: each, words: is_telling.then(|| format!(" {names} ")) })
    };
    lines.filter_map(row).collect()
});

/// All names of members in the table.
static NAMES: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| ROWS.iter().flat_map(|row| row.names.clone()).collect());

/// The most members of an object that may describe regions; larger objects are content.
const MOST_MEMBERS: usize = 64;

/// The most words of a name in the table: `top_left_x`.
const MOST_WORDS: usize = 3;

/// The most numbers of a list that says one region: four corners.
const MOST_NUMBERS: usize = 8;

/// The longest text of such numbers, in bytes.
const LONGEST_NUMBERS: usize = 200;

/// A region that members of an object describe.
#[derive(Debug)]
pub(in crate::fidelity) struct InObject<'j> {
    /// The start of the names of its members: `source` of `source_x`.
    pub(in crate::fidelity) prefix: String,
    pub(in crate::fidelity) shape: Shape,
    /// The members of the region, each with the places of its numbers among all: even ones are along x, odd ones along
    /// y.
    pub(in crate::fidelity) members: NumberedKeys<'j>,
}

/// Keys of members, each with the places of its numbers among those of all.
type NumberedKeys<'j> = Vec<(&'j str, Range<usize>)>;

/// The regions that members of an object describe; `name` is that of the object, or of the list that holds it.
pub(in crate::fidelity) fn in_object<'j>(members: &'j [(String, Json)], name: &Name) -> Vec<InObject<'j>> {
    // Margins, tiles of a map and places in space are not regions of a picture.
    if members.len() > MOST_MEMBERS || name.is_of("margins") || members.iter().any(|(key, _)| key == "z") {
        return Vec::new();
    }
    let named = named(members);
    let mut groups = Vec::new();
    let mut is_used = vec![false; members.len()];
    for row in if named.is_empty() { &[] } else { ROWS.as_slice() } {
        for (prefix, places) in named.iter().filter(|(_, places)| row.names.len() <= places.len()) {
            let places: Option<Vec<usize>> =
                row.names.iter().map(|name| places.get(*name).copied()).collect();
            let Some(places) = places.filter(|places| places.iter().all(|&place| !is_used[place])) else {
                continue;
            };
            let Some((numbers, members)) = numbers_of_row(members, &places) else { continue };
            // Numbers of a region that cannot exist are not used for another one.
            for place in places {
                is_used[place] = true;
            }
            let is_line = row.writing == Writing::Corners && is_line(name);
            let writing = if is_line { Writing::Ends } else { row.writing };
            if let Some(shape) = Shape::new(writing, &numbers) {
                groups.push(InObject { prefix: prefix.clone(), shape: undirected(shape, name), members });
            }
        }
    }
    groups
}

/// The meaning of a member's key.
#[derive(Debug, Default)]
struct KeySays {
    /// The ends of the key that are in the table, each with the words before it.
    ends: Vec<(String, String)>,
    /// Whether the key names a picture.
    is_picture: bool,
}

impl KeySays {
    fn new(key: &str) -> Self {
        let name = Name::new(key);
        let words = name.words();
        let starts = words.len().saturating_sub(MOST_WORDS)..words.len();
        let split = |start: usize| (words[..start].join(" "), words[start..].concat());
        let ends = starts.map(split).filter(|(_, end)| NAMES.contains(end.as_str())).collect();
        Self { ends, is_picture: name.is_of("pictures") }
    }
}

thread_local! {
    static KEYS: RefCell<NameCache<Rc<KeySays>>> = RefCell::default();
}

fn key_says(key: &str) -> Rc<KeySays> {
    KEYS.with_borrow_mut(|keys| keys.of_name(key, |key| Rc::new(KeySays::new(key))))
}

/// The indices of members whose keys end with a name in the table, by the words before that name and by the name.
fn named(members: &[(String, Json)]) -> BTreeMap<String, BTreeMap<String, usize>> {
    let mut named: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (place, (key, value)) in members.iter().enumerate() {
        if numbers_in(value, 0) > 0 {
            for (prefix, end) in &key_says(key).ends {
                named.entry(prefix.clone()).or_default().entry(end.clone()).or_insert(place);
            }
        }
    }
    named
}

/// The numbers of some members, and the range of each member among them; `None` if a member has no numbers.
fn numbers_of_row<'j>(
    members: &'j [(String, Json)],
    places: &[usize],
) -> Option<(Vec<f64>, NumberedKeys<'j>)> {
    let mut numbers = Vec::new();
    let mut of_members = Vec::new();
    for &place in places {
        let (key, value) = members.get(place)?;
        let start = numbers.len();
        numbers.extend(numbers_of(value)?);
        of_members.push((key.as_str(), start..numbers.len()));
    }
    Some((numbers, of_members))
}

fn is_line(name: &Name) -> bool {
    name.is_of("lines") || name.is_of("arrows")
}

/// Turns an arrow into a line, if its name says that it is a line.
fn undirected(shape: Shape, name: &Name) -> Shape {
    match shape {
        Shape::Line { ends, .. } if name.is_of("lines") => Shape::Line { ends, is_arrow: false },
        shape => shape,
    }
}

/// Whether a value holds two numbers or more, as every region does. Most values do not, and are not searched any
/// further.
pub(super) fn may_say_regions(value: &Json) -> bool {
    numbers_in(value, 0) >= 2
}

/// The number of numbers that a value may hold; 2 for a text of several.
fn numbers_in(value: &Json, depth: usize) -> usize {
    match value {
        Json::Integer(_) | Json::Float(_) | Json::LongInteger(_) => 1,
        // A list of numbers, or JSON, as a text.
        Json::String(text) => {
            let begins_so = !text.trim_start().starts_with(|c: char| c.is_alphabetic() || c == '/');
            match begins_so && text.bytes().any(|byte| byte.is_ascii_digit()) {
                true if text.contains([',', ';', ' ']) => 2,
                is_one => usize::from(is_one),
            }
        }
        Json::Array(items) if depth < MAX_DEPTH => items.iter().map(|item| numbers_in(item, depth + 1)).sum(),
        Json::Object(members) if depth < MAX_DEPTH => {
            members.iter().map(|(_, member)| numbers_in(member, depth + 1)).sum()
        }
        _ => 0,
    }
}

/// The region that a list of numbers describes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::fidelity) enum InList {
    /// A region.
    Region(Shape),
    /// A box: two corners, or a corner, a width and a height.
    Box([f64; 4]),
}

impl InList {
    /// The region; a box is two corners if `are_corners`, else a corner, a width and a height.
    pub(in crate::fidelity) fn shape(self, are_corners: bool) -> Option<Shape> {
        match self {
            Self::Region(shape) => Some(shape),
            Self::Box(numbers) => {
                Shape::new(if are_corners { Writing::Corners } else { Writing::Sizes }, &numbers)
            }
        }
    }

    /// Whether the list may be two corners: the second is beyond the first.
    pub(in crate::fidelity) fn may_be_corners(self) -> bool {
        match self {
            Self::Region(_) => true,
            Self::Box([x1, y1, x2, y2]) => x2 > x1 && y2 > y1,
        }
    }
}

/// The region that a list, or a text of numbers, describes by its name and its schema, as in [`in_items`].
pub(in crate::fidelity) fn in_list(
    value: &Json,
    name: &Name,
    schema: Option<Schema<'_>>,
    is_visual: &dyn Fn() -> bool,
) -> Option<InList> {
    match value {
        Json::Array(items) => in_items(items, name, schema, is_visual),
        Json::String(text) => in_items(&items_in(text)?, name, schema, is_visual),
        _ => None,
    }
}

/// The region that a list describes by its name and its schema. Two numbers are a point only where the call is about a
/// picture.
pub(in crate::fidelity) fn in_items(
    items: &[Json],
    name: &Name,
    schema: Option<Schema<'_>>,
    is_visual: &dyn Fn() -> bool,
) -> Option<InList> {
    let corners = || corners(items).filter(|_| name.is_of("boxes") && is_visual());
    let numbers = numbers_in_items(items).or_else(corners)?;
    let writing = named_writing(name, schema);
    let of = |writing: Writing| Some(InList::Region(undirected(Shape::new(writing, &numbers)?, name)));
    match (writing, numbers.len()) {
        (Some(writing), 4) => of(writing),
        (_, 4) if is_line(name) => of(Writing::Ends),
        (_, 4) if name.is_of("boxes") => {
            // Numbers that are not a region in one writing are not one in the other.
            of(Writing::Sizes)?;
            numbers.try_into().ok().map(InList::Box)
        }
        (_, 8) if name.is_of("boxes") => of(Writing::Corners),
        (_, 3) if name.is_of("circles") => of(Writing::Circle),
        (_, 2) if name.is_of("points") && is_visual() => of(Writing::Point),
        _ => None,
    }
}

/// The writing of a list of four numbers, if its name or its description has the names of a row of the table in their
/// order.
fn named_writing(name: &Name, schema: Option<Schema<'_>>) -> Option<Writing> {
    let between_spaces = |name: &Name| format!(" {} ", name.with_spaces());
    let described = schema.and_then(Schema::description).map(|text| between_spaces(&Name::of_text(text)));
    let texts = [Some(between_spaces(name)), described];
    let has = |words: &str| texts.iter().flatten().any(|text| text.contains(words));
    ROWS.iter().find(|row| row.words.as_deref().is_some_and(has)).map(|row| row.writing)
}

/// The numbers that a value says: a number, a list of a few, a text of a few, an object of two by their names.
fn numbers_of(value: &Json) -> Option<Vec<f64>> {
    match value {
        Json::Array(items) => numbers_in_items(items),
        Json::Object(members) => {
            let of = |names: &[&str]| {
                let (_, value) =
                    members.iter().find(|(key, _)| names.contains(&key.to_lowercase().as_str()))?;
                number::from_json(value)
            };
            let point = of(&["x"]).zip(of(&["y"]));
            let (first, second) = point.or_else(|| of(&["width", "w"]).zip(of(&["height", "h"])))?;
            (members.len() == 2).then(|| vec![first, second])
        }
        Json::String(text) if text.contains([',', ' ', ';']) => numbers_in_items(&items_in(text)?),
        value => Some(vec![number::from_json(value)?]),
    }
}

/// The numbers of a text that is nothing but some of them, such as `10, 20, 30, 40` or `(3; 4)`.
pub(in crate::fidelity) fn items_in(text: &str) -> Option<Vec<Json>> {
    if text.len() > LONGEST_NUMBERS {
        return None;
    }
    let text = text.trim().trim_matches(['[', ']', '(', ')']);
    let parts = text.split([',', ';', ' ']).filter(|part| !part.is_empty());
    let numbers: Option<Vec<f64>> = parts.map(number::in_text).collect();
    let numbers = numbers.filter(|numbers| (2..=MOST_NUMBERS).contains(&numbers.len()))?;
    Some(numbers.into_iter().map(Json::Float).collect())
}

/// The numbers of a list; `None` if it has more items than a region needs.
fn numbers_in_items(items: &[Json]) -> Option<Vec<f64>> {
    if items.len() > MOST_NUMBERS {
        return None;
    }
    items.iter().map(number::from_json).collect()
}

/// The numbers of a list of two or four corners, each of two numbers.
fn corners(items: &[Json]) -> Option<Vec<f64>> {
    if items.len() > MOST_NUMBERS {
        return None;
    }
    let corners: Option<Vec<Vec<f64>>> =
        items.iter().map(|item| numbers_of(item).filter(|corner| corner.len() == 2)).collect();
    corners.filter(|corners| matches!(corners.len(), 2 | 4)).map(|corners| corners.concat())
}

/// The JSON that a text holds: a list or an object.
pub(in crate::fidelity) fn json_in(text: &str) -> Option<Json> {
    let text = text.trim();
    let looks_so =
        text.starts_with('[') && text.ends_with(']') || text.starts_with('{') && text.ends_with('}');
    if !looks_so || text.len() > MAX_TEXT {
        return None;
    }
    parse(text.as_bytes()).ok().map(|(value, _)| value)
}

/// The endings of files of pictures.
const ENDINGS: [&str; 9] = [".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".svg"];

/// The most items of a list among which the file of a picture is looked for.
const MOST_FILES: usize = 16;

/// Whether a call is about a picture: its tool or an argument is named after one, or an argument is a picture's file.
pub(in crate::fidelity) fn is_visual(tool: &str, arguments: &Json) -> bool {
    let is_file = |value: &Json| {
        let text = value.as_str().unwrap_or_default();
        let ends_so = |ending: &&str| {
            let end = text.len().checked_sub(ending.len()).and_then(|start| text.get(start..));
            end.is_some_and(|end| end.eq_ignore_ascii_case(ending))
        };
        text.starts_with("data:image/") || ENDINGS.iter().any(ends_so)
    };
    let Json::Object(members) = arguments else { return false };
    key_says(tool).is_picture
        || members.iter().take(MOST_MEMBERS).any(|(key, value)| {
            key_says(key).is_picture
                || match value {
                    Json::Array(items) => items.iter().take(MOST_FILES).any(is_file),
                    value => is_file(value),
                }
        })
}
