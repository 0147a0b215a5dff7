//! Records that belong together wherever they are in a file: found in a first pass, and read a group at a time in a second.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use m3_trajectory::json::Json;

use crate::input::{Input, ReadError, Sink};
use crate::parallel::{PART, in_order};
use crate::pieces;
use crate::values::value;

/// The most bytes of a group: all its records are in memory at once.
const LONGEST: u64 = 128 << 20;

/// The most bytes between two records that are read in one go: skipping fewer bytes costs more than reading them.
const GAP: u64 = 4 << 10;

/// The place of a record in its file, and its group. A place is small, since each record of a file has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) offset: u64,
    /// The length in bytes; `u32::MAX` for anything longer.
    pub(crate) length: u32,
    /// Groups are given in the order of their numbers.
    pub(crate) group: u32,
    /// A number that the reader of the format attaches to the place.
    pub(crate) mark: u32,
}

/// The records of a group, by their places in the file.
pub(crate) struct Group<'t> {
    pub(crate) number: u32,
    members: &'t [(Place, Range<usize>)],
    text: &'t [u8],
}

impl<'t> Group<'t> {
    /// Each record with its text.
    pub(crate) fn members(&self) -> impl Iterator<Item = (Place, &'t [u8])> {
        let (members, text) = (self.members, self.text);
        members.iter().map(move |(place, range)| (*place, text.get(range.clone()).unwrap_or_default()))
    }
}

/// Some groups that are read together: their records, and the text of the records.
struct Part {
    text: Vec<u8>,
    members: Vec<(Place, Range<usize>)>,
}

/// Reads the groups of these places: `work` gets each group, on any core, and `give` gets the results, in order.
pub(crate) fn each_group<T: Send>(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    mut places: Vec<Place>,
    work: impl Fn(&Group<'_>) -> T + Sync,
    mut give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    places.sort_unstable_by_key(|place| (place.group, place.offset));
    let (mut rest, mut done, total) = (&places[..], 0_u64, input.source.length());
    let next = |sink: &mut dyn Sink| {
        sink.progress(total.saturating_add(done.min(total)), total.saturating_mul(2))?;
        let mut part = Part { text: Vec::new(), members: Vec::new() };
        let mut size = 0;
        while size < PART as u64 {
            let Some(group) = rest.chunk_by(|a, b| a.group == b.group).next() else { break };
            rest = rest.get(group.len()..).unwrap_or_default();
            let length: u64 = group.iter().map(|place| u64::from(place.length)).sum();
            if length > LONGEST {
                sink.warn(None, &format!("more than {} MB that belong together are left out", LONGEST >> 20));
                continue;
            }
            size += length;
            part.members.extend(group.iter().map(|place| (*place, 0..0)));
        }
        done += size;
        fill(input, &mut part)?;
        Ok(Some((part.text.len(), part)).filter(|(_, part)| !part.members.is_empty()))
    };
    let work = |part: Part| -> Vec<T> {
        let groups = part.members.chunk_by(|(a, _), (b, _)| a.group == b.group);
        let group = |members: &[(Place, Range<usize>)]| {
            let number = members.first().map_or(0, |(place, _)| place.group);
            work(&Group { number, members, text: &part.text })
        };
        groups.map(group).collect()
    };
    in_order(sink, next, work, |sink, all| all.into_iter().try_for_each(|one| give(sink, one)))
}

/// Reads the texts of a part's records; those that are close to one another at once.
fn fill(input: &Input<'_>, part: &mut Part) -> Result<(), ReadError> {
    let end = |place: &Place| place.offset + u64::from(place.length);
    let mut order: Vec<usize> = (0..part.members.len()).collect();
    order.sort_unstable_by_key(|at| part.members[*at].0.offset);
    let is_close = |a: &usize, b: &usize| {
        let (a, b) = (&part.members[*a].0, &part.members[*b].0);
        b.offset >= end(a) && b.offset - end(a) <= GAP
    };
    let runs: Vec<&[usize]> = order.chunk_by(is_close).collect();
    let mut ranges = vec![0..0; part.members.len()];
    for run in runs {
        let ([first, ..], [.., last]) = (run, run) else { continue };
        let (start, base) = (part.members[*first].0.offset, part.text.len());
        part.text.extend(input.source.bytes(start, end(&part.members[*last].0) - start)?);
        for at in run {
            let place = &part.members[*at].0;
            let from = base + usize::try_from(place.offset - start).unwrap_or(usize::MAX);
            ranges[*at] = from..from.saturating_add(place.length as usize);
        }
    }
    part.members.iter_mut().zip(ranges).for_each(|(member, range)| member.1 = range);
    Ok(())
}

/// Reads the records of a file (lines, or items of a list) by groups. A first pass finds the keys, and `number` tells
/// the group of each key, in order. A second pass calls `work` with the records of each group. Records without a key
/// are left out.
pub(crate) fn grouped<K: Send, T: Send>(
    input: &Input<'_>,
    sink: &mut dyn Sink,
    key: impl Fn(&Json) -> Option<K> + Sync,
    mut number: impl FnMut(K) -> u32,
    work: impl Fn(&[Json]) -> T + Sync,
    mut give: impl FnMut(&mut dyn Sink, T) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut places = Vec::new();
    let keys = |part: pieces::Part| -> Vec<_> {
        let of_piece = |piece: pieces::Piece<'_>| {
            let key = value(piece.text).map(|value| key(&value));
            let length = u32::try_from(piece.text.len()).unwrap_or(u32::MAX);
            (piece.at, Place { offset: piece.offset, length, group: 0, mark: 0 }, key)
        };
        part.pieces().map(of_piece).collect()
    };
    let is_read = input.parts(sink, keys, |sink, found| {
        for (at, place, key) in found {
            match key {
                Ok(Some(key)) => places.push(Place { group: number(key), ..place }),
                Ok(None) => sink.warn(at.line, "of another kind than the other records, left out"),
                Err(error) if at.line.is_some() => {
                    sink.warn(at.line, &format!("not JSON, left out: {}", error.message));
                }
                Err(error) => {
                    return Err(pieces::not_json(
                        input.source,
                        place.offset + error.offset as u64,
                        &error.message,
                    ));
                }
            }
        }
        Ok(())
    })?;
    if !is_read {
        let document = input.document()?;
        return if key(&document).is_some() { give(sink, work(&[document])) } else { Ok(()) };
    }
    let work = |group: &Group<'_>| {
        let values: Vec<Json> = group.members().filter_map(|(_, text)| value(text).ok()).collect();
        work(&values)
    };
    each_group(input, sink, places, work, give)
}

/// Numbers for names, in the order of their first occurrence.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names {
    numbers: HashMap<Arc<str>, u32>,
    names: Vec<Arc<str>>,
}

impl Names {
    /// The number of a name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, number);
        number
    }

    /// The name of a number.
    pub(crate) fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", |name| name)
    }

    /// All names.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(|name| &**name)
    }

    /// Frees the memory for finding names; no name may be added any more.
    pub(crate) fn close(&mut self) {
        self.numbers = HashMap::new();
    }
}
