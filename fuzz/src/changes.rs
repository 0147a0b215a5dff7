//! Changes that keep JSON being JSON: values change their types and their places, since readers read values and not bytes.
//!
//! Half of the changes are libFuzzer's own, which break bytes. Texts of several lines are changed line by line; lines that are no
//! JSON stay as they are.

use m3_trajectory::json::{Json, Keys, parse};

/// The text with a few changes; `None` if libFuzzer's own changes are due, or if there is no JSON in it.
#[must_use]
pub fn changed(bytes: &[u8], most: usize, seed: u32) -> Option<Vec<u8>> {
    let mut dice = Dice(u64::from(seed) << 16 | 0x9e37);
    if dice.roll(2) == 0 {
        return None;
    }
    with_changes(bytes, None, &mut dice).filter(|text| text.len() <= most)
}

/// The first text with a value of the second one set into it.
#[must_use]
pub fn crossed(first: &[u8], second: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut dice = Dice(u64::from(seed) << 16 | 0x79b9);
    let mut values: Vec<Json> = lines(second)
        .into_iter()
        .filter_map(|line| match line {
            Line::Value(value) => Some(value),
            Line::Other(_) => None,
        })
        .collect();
    let line = dice.roll(values.len());
    let value = values.get_mut(line)?;
    let place = dice.roll(count(value));
    with_changes(first, Some(pick(value, &mut place.clone())?.clone()), &mut dice)
}

/// A series of numbers that begins with a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or_default() % sides.max(1)
    }
}

/// A line of a text, or the whole of one that is a value.
#[derive(Clone)]
enum Line<'b> {
    Value(Json),
    Other(&'b [u8]),
}

fn lines(bytes: &[u8]) -> Vec<Line<'_>> {
    if let Ok((value, _)) = parse(bytes) {
        return vec![Line::Value(value)];
    }
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| parse(line).map_or(Line::Other(line), |(value, _)| Line::Value(value))).collect()
}

/// The number of values in a value, itself one of them.
fn count(value: &Json) -> usize {
    1 + match value {
        Json::Array(items) => items.iter().map(count).sum(),
        Json::Object(members) => members.iter().map(|(_, value)| count(value)).sum::<usize>(),
        _ => 0,
    }
}

/// The value with this number.
fn pick<'j>(value: &'j mut Json, place: &mut usize) -> Option<&'j mut Json> {
    if *place == 0 {
        return Some(value);
    }
    *place -= 1;
    match value {
        Json::Array(items) => items.iter_mut().find_map(|item| pick(item, place)),
        Json::Object(members) => members.iter_mut().find_map(|(_, value)| pick(value, place)),
        _ => None,
    }
}

/// The text with a few changes; `new` is set in somewhere.
fn with_changes(bytes: &[u8], mut new: Option<Json>, dice: &mut Dice) -> Option<Vec<u8>> {
    let mut lines = lines(bytes);
    let is_value = |line: &Line<'_>| matches!(line, Line::Value(_));
    for _ in 0..=dice.roll(3) {
        if lines.len() > 1 && dice.roll(6) == 0 {
            let (one, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
            match dice.roll(3) {
                0 => lines.swap(one, other),
                1 => drop(lines.remove(one)),
                _ => lines.insert(other, lines[one].clone()),
            }
            continue;
        }
        let values = lines.iter().filter(|line| is_value(line)).count();
        let chosen = dice.roll(values);
        let Line::Value(value) = lines.iter_mut().filter(|line| is_value(line)).nth(chosen)? else {
            return None;
        };
        let (from, to) = (dice.roll(count(value)), dice.roll(count(value)));
        let copy = pick(value, &mut from.clone())?.clone();
        change(pick(value, &mut to.clone())?, new.take().unwrap_or(copy), dice);
    }
    let texts: Vec<Vec<u8>> = lines
        .into_iter()
        .map(|line| match line {
            Line::Value(value) => value.to_text(Keys::AsRead).into_bytes(),
            Line::Other(bytes) => bytes.to_vec(),
        })
        .collect();
    let end: &[u8] = if bytes.ends_with(b"\n") { b"\n" } else { b"" };
    Some([&texts.join(&b'\n'), end].concat())
}

/// Changes a value.
fn change(value: &mut Json, other: Json, dice: &mut Dice) {
    match (dice.roll(10), &mut *value) {
        (0, Json::Array(items)) => items.push(other),
        (1, Json::Array(items)) if !items.is_empty() => drop(items.remove(dice.roll(items.len()))),
        (2, Json::Array(items)) if !items.is_empty() => items.push(items[dice.roll(items.len())].clone()),
        (3, Json::Array(items)) => items.reverse(),
        (0 | 1, Json::Object(members)) if !members.is_empty() => {
            drop(members.remove(dice.roll(members.len())));
        }
        (2, Json::Object(members)) if !members.is_empty() => {
            let key = members[dice.roll(members.len())].0.clone();
            members.insert(dice.roll(members.len()), (key, other));
        }
        (0, Json::String(text)) => {
            text.truncate(text.char_indices().nth(dice.roll(text.len())).map_or(0, |it| it.0));
        }
        (1, Json::String(text)) => *text = text.repeat(2),
        (2, Json::String(text)) => text.insert(0, ['\u{202e}', '\0', 'é', '<', '{', '"'][dice.roll(6)]),
        (3, Json::Integer(number)) => *number = number.wrapping_mul(-7919),
        (4 | 5, _) => *value = other,
        (6, _) => *value = Json::Array(vec![value.clone(), other]),
        (7, _) => *value = Json::String(value.to_plain_text()),
        (8, _) => *value = simple(dice),
        _ => {
            if let Json::String(text) = value
                && let Ok((inner, _)) = parse(text.as_bytes())
            {
                *value = inner;
            }
        }
    }
}

/// A value that readers may not expect.
fn simple(dice: &mut Dice) -> Json {
    match dice.roll(11) {
        0 => Json::Null,
        1 => Json::Bool(true),
        2 => Json::Integer(0),
        3 => Json::Integer(-1),
        4 => Json::Integer(i64::MAX),
        5 => Json::Float(1e308),
        6 => Json::LongInteger("123456789012345678901234567890".to_owned()),
        7 => Json::String(String::new()),
        8 => Json::String("x".to_owned()),
        9 => Json::Array(Vec::new()),
        _ => Json::Object(Vec::new()),
    }
}
