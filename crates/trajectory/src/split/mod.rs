//! Finds the trajectories in a file without reading them: one pass over the bytes that follows brackets and
//! strings only, so that each trajectory can then be parsed alone, whatever the size of the file.

mod scanner;

use std::io::{BufRead as _, Read as _};

use scanner::Scanner;

use super::source::{Source, SourceError};

/// How the trajectories of a file are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[{...}, {...}]`
    List,
    /// `{"id": {...}, "id": {...}}`; a single trajectory looks the same from here.
    Object,
    /// One `{...}` on every line (JSON Lines).
    Lines,
}

/// Where one item of a list, one member of an object or one line stands. Small: there is one for each
/// trajectory of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    /// First byte of the value.
    pub(crate) offset: u64,
    /// Length of the value in bytes; `u32::MAX` for anything longer.
    pub(crate) length: u32,
    /// In a list, the index of the item; in an object, the distance from the start of the key to the value
    /// in bytes; in JSON Lines, the line counted from 1.
    pub(crate) mark: u32,
}

impl Element {
    fn new(offset: u64, length: u64, mark: u64) -> Self {
        let clamp = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self { offset, length: clamp(length), mark: clamp(mark) }
    }
}

/// The arrangement of a file, and its first structural error: what comes before it can still be used to
/// report more problems.
#[derive(Debug)]
pub(super) struct Layout {
    /// How the elements are arranged.
    pub shape: Shape,
    /// The elements in file order.
    pub elements: Vec<Element>,
    /// Why the file could not be followed to its end.
    pub error: Option<LayoutError>,
}

/// What the elements of a file are called in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Noun {
    /// One of them.
    pub one: &'static str,
    /// Several.
    pub many: &'static str,
}

impl Noun {
    pub(super) const TRAJECTORY: Self = Self { one: "trajectory", many: "trajectories" };
    pub(super) const TASK: Self = Self { one: "task", many: "tasks" };

    /// What is said of a file without anything in it.
    fn empty(self) -> String {
        let Self { one, many } = self;
        format!(
            "the file is empty; it should hold a list of {many}, an object of them by id, one {one}, or one {one} on \
             each line"
        )
    }
}

/// The brackets of a file do not add up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LayoutError {
    /// Where, in bytes.
    pub offset: u64,
    /// What is wrong there and what to do.
    pub message: String,
}

/// Finds the elements of `source`, which messages call by `noun`.
///
/// # Errors
/// [`SourceError`] when reading fails. What is wrong in the text itself is in [`Layout::error`].
pub(super) fn split(source: &Source, noun: Noun) -> Result<Layout, SourceError> {
    if source.is_named_lines() && !is_one_value(source)? {
        return split_lines(source, noun);
    }
    let mut scanner = Scanner::new(source.reader()?, noun);
    let (layout, is_lines) = scanner.split().map_err(|cause| source.error(cause))?;
    if is_lines { split_lines(source, noun) } else { Ok(layout) }
}

/// Tells a list or a value written over several lines from JSON Lines, whatever the file is called: no
/// trajectory is an array, and none is a brace alone.
fn is_one_value(source: &Source) -> Result<bool, SourceError> {
    let mut start = Vec::new();
    let head = source.reader()?.take(64).read_to_end(&mut start);
    head.map_err(|cause| source.error(cause))?;
    let start = start.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&start).trim_ascii_start();
    let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
    Ok(start.starts_with(b"[") || (line.trim_ascii() == b"{" && line.len() < start.len()))
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

fn split_lines(source: &Source, noun: Noun) -> Result<Layout, SourceError> {
    let mut reader = source.reader()?;
    let mut layout = Layout { shape: Shape::Lines, elements: Vec::new(), error: None };
    let (mut offset, mut number) = (0, 0);
    loop {
        let mut line = LineExtent::default();
        loop {
            let buffer = reader.fill_buf().map_err(|cause| source.error(cause))?;
            let end = buffer.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
            let length = end.unwrap_or(buffer.len());
            line.extend(&buffer[..length], offset == 0);
            reader.consume(length);
            if end.is_some() || length == 0 {
                break;
            }
        }
        if line.total == 0 {
            break;
        }
        number += 1;
        if line.last > line.first {
            layout.elements.push(Element::new(offset + line.first, line.last - line.first, number));
        }
        offset += line.total;
    }
    if layout.elements.is_empty() {
        layout.error = Some(LayoutError { offset: 0, message: noun.empty() });
    }
    Ok(layout)
}

/// A line's bytes without the white space around them, gathered piece by piece.
#[derive(Default)]
struct LineExtent {
    total: u64,
    /// Start of what is not white space.
    first: u64,
    /// End of what is not white space; 0 while there is none.
    last: u64,
}

impl LineExtent {
    fn extend(&mut self, piece: &[u8], may_start_with_mark: bool) {
        let skip =
            if may_start_with_mark && self.total == 0 && piece.starts_with(BYTE_ORDER_MARK) { 3 } else { 0 };
        let is_text = |byte: &u8| !byte.is_ascii_whitespace();
        if let Some(first) = piece[skip..].iter().position(is_text) {
            if self.last == 0 {
                self.first = self.total + (skip + first) as u64;
            }
            let last = piece.iter().rposition(is_text).unwrap_or(first);
            self.last = self.total + last as u64 + 1;
        }
        self.total += piece.len() as u64;
    }
}
