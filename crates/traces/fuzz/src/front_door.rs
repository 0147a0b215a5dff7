//! Gives bytes to the front door of `m3-traces` as a file: what it is, all that it holds, and each trajectory as JSON.
//!
//! Half of the changes are libFuzzer's own, half keep the bytes JSON: values change their types and their places, since
//! formats read values and not bytes.

#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::{fuzz_crossover, fuzz_mutator, fuzz_target, fuzzer_mutate};
use m3_traces::{ReadError, Sink, Trace, recognize};
use m3_trajectory::Source;
use m3_trajectory::json::{Json, Keys, parse};

/// Counts what comes.
#[derive(Default)]
struct Counts {
    traces: usize,
    bytes: usize,
    warnings: usize,
}

impl Counts {
    fn add(&mut self, trace: Trace) {
        assert!(trace.notes.iter().count() <= 300, "notes are bounded");
        for (note, _) in trace.notes.iter() {
            assert!(note.len() <= 1000 && !note.contains(char::is_control), "a note is short and clean: {note:?}");
        }
        for (_, inner) in &trace.nested {
            self.add(inner.clone());
        }
        self.bytes += trace.into_trajectory("x".to_owned(), "x").to_json().to_text(Keys::AsRead).len();
        self.traces += 1;
    }
}

impl Sink for Counts {
    fn trace(&mut self, _: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.add(trace);
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, message: &str) {
        assert!(message.len() <= 4000 && !message.contains(char::is_control), "a warning is short: {message:?}");
        self.warnings += 1;
    }
}

thread_local! {
    /// The file that is written anew each time, in memory if there is such a folder.
    static FILE: RefCell<std::path::PathBuf> = RefCell::new({
        let memory = std::path::Path::new("/dev/shm");
        let folder = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
        folder.join(format!("m3-traces-fuzz-{}.jsonl", std::process::id()))
    });
}

fuzz_target!(|bytes: &[u8]| {
    FILE.with_borrow(|path| {
        std::fs::write(path, bytes).expect("the folder for temporary files can be written");
        let Ok(source) = Source::open(path) else { return };
        let Ok(Some(file)) = recognize(&source) else { return };
        let mut counts = Counts::default();
        if let Err(error) = file.read(&mut counts) {
            let text = error.to_string();
            assert!(text.len() <= 4000 && !text.contains(char::is_control), "an error is short: {text:?}");
        }
        // What is read may be told several times, but does not explode.
        assert!(counts.bytes <= 100_000 + 300 * bytes.len(), "{} bytes of {}", counts.bytes, bytes.len());
        assert!(counts.warnings <= 100 + bytes.len(), "{} warnings", counts.warnings);
    });
});

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

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let mut dice = Dice(u64::from(seed) << 16 | 0x9e37);
    if dice.roll(2) == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    match changed(&data[..size], None, &mut dice).filter(|text| text.len() <= max_size.min(data.len())) {
        Some(text) => {
            data[..text.len()].copy_from_slice(&text);
            text.len()
        }
        None => fuzzer_mutate(data, size, max_size),
    }
});

/// Sets a value of the one into the other.
fn crossed(first: &[u8], second: &[u8], seed: u32) -> Option<Vec<u8>> {
    let mut dice = Dice(u64::from(seed) << 16 | 0x79b9);
    let mut values = lines(second)?;
    let line = dice.roll(values.len());
    let value = values.get_mut(line)?;
    let place = dice.roll(count(value));
    changed(first, Some(pick(value, &mut place.clone())?.clone()), &mut dice)
}

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| {
    let text = crossed(first, second, seed).unwrap_or_default();
    let length = text.len().min(out.len());
    out[..length].copy_from_slice(&text[..length]);
    length
});

/// The values of lines, or the one value.
fn lines(bytes: &[u8]) -> Option<Vec<Json>> {
    if let Ok((value, _)) = parse(bytes) {
        return Some(vec![value]);
    }
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| Some(parse(line).ok()?.0)).collect()
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

/// The values with a few changes; `new` is set in somewhere.
fn changed(bytes: &[u8], mut new: Option<Json>, dice: &mut Dice) -> Option<Vec<u8>> {
    let mut values = lines(bytes)?;
    for _ in 0..=dice.roll(3) {
        let line = dice.roll(values.len());
        if values.len() > 1 && dice.roll(6) == 0 {
            let other = dice.roll(values.len());
            match dice.roll(3) {
                0 => values.swap(line, other),
                1 => drop(values.remove(line)),
                _ => values.insert(other, values.get(line)?.clone()),
            }
            continue;
        }
        let value = values.get_mut(line)?;
        let (from, to) = (dice.roll(count(value)), dice.roll(count(value)));
        let copy = pick(value, &mut from.clone())?.clone();
        change(pick(value, &mut to.clone())?, new.take().unwrap_or(copy), dice);
    }
    let texts: Vec<String> = values.iter().map(|value| value.to_text(Keys::AsRead)).collect();
    Some(texts.join("\n").into_bytes())
}

/// Changes a value.
fn change(value: &mut Json, other: Json, dice: &mut Dice) {
    match (dice.roll(10), &mut *value) {
        (0, Json::Array(items)) => items.push(other),
        (1, Json::Array(items)) if !items.is_empty() => drop(items.remove(dice.roll(items.len()))),
        (2, Json::Array(items)) if !items.is_empty() => items.push(items[dice.roll(items.len())].clone()),
        (3, Json::Array(items)) => items.reverse(),
        (0 | 1, Json::Object(members)) if !members.is_empty() => drop(members.remove(dice.roll(members.len()))),
        (2, Json::Object(members)) if !members.is_empty() => {
            let key = members[dice.roll(members.len())].0.clone();
            members.insert(dice.roll(members.len()), (key, other));
        }
        (0, Json::String(text)) => text.truncate(text.char_indices().nth(dice.roll(text.len())).map_or(0, |it| it.0)),
        (1, Json::String(text)) => *text = text.repeat(2),
        (2, Json::String(text)) => text.insert(0, ['\u{202e}', '\0', 'é', '<', '{', '"'][dice.roll(6)]),
        (3, Json::Integer(number)) => *number = number.wrapping_mul(-7919),
        (4 | 5, _) => *value = other,
        (6, _) => *value = Json::Array(vec![value.clone(), other]),
        (7, _) => *value = Json::String(value.to_plain_text()),
        (8, _) => {
            let simple = [
                Json::Null,
                Json::Bool(true),
                Json::Integer(0),
                Json::Integer(-1),
                Json::Integer(i64::MAX),
                Json::Float(1e308),
                Json::LongInteger("123456789012345678901234567890".to_owned()),
                Json::String(String::new()),
                Json::String("x".to_owned()),
                Json::Array(Vec::new()),
                Json::Object(Vec::new()),
            ];
            *value = simple[dice.roll(simple.len())].clone();
        }
        _ => {
            if let Json::String(text) = value
                && let Ok((inner, _)) = parse(text.as_bytes())
            {
                *value = inner;
            }
        }
    }
}
