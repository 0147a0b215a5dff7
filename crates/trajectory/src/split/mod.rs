//! Finds the trajectories in a file without reading them: one pass over the bytes that follows brackets and strings
//! only, so that each trajectory can then be parsed separately, whatever the size of the file.

mod scanner;

use std::io::BufRead as _;

use scanner::Scanner;

use super::source::Source;
use super::source_error::SourceError;

/// How the trajectories of a file are arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `[{...}, {...}]`
    List,
    /// `{"id": {...}, "id": {...}}`; a single trajectory looks the same at this stage.
    Object,
    /// One `{...}` on every line (JSON Lines).
    Lines,
}

/// The place of one item of a list, one member of an object or one line. It is small, because there is one for each
/// trajectory of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Element {
    /// The offset of the value's first byte.
    pub(crate) offset: u64,
    /// Length of the value in bytes; `u32::MAX` for anything longer.
    pub(crate) length: u32,
    /// In a list, the index of the item; in an object, the distance from the start of the key to the value
    /// in bytes; in JSON Lines, the line counted from 1.
    pub(crate) mark: u32,
}

impl Element {
    pub(crate) fn new(offset: u64, length: u64, mark: u64) -> Self {
        let clamp = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Self { offset, length: clamp(length), mark: clamp(mark) }
    }
}

/// The arrangement of a file, and its first structural error: elements before it can still be used to report more
/// problems.
#[derive(Debug)]
pub struct Layout {
    /// How the elements are arranged.
    pub(crate) shape: Shape,
    /// Whether the whole file is one trajectory, its only element.
    pub(crate) is_single: bool,
    /// The elements in file order.
    pub(crate) elements: Vec<Element>,
    /// Why the end of the file could not be reached.
    pub(crate) error: Option<LayoutError>,
}

impl Layout {
    /// A layout without elements.
    pub(crate) fn of(shape: Shape) -> Self {
        Self { shape, is_single: false, elements: Vec::new(), error: None }
    }
}

/// The words for the elements of a file in messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noun {
    /// The singular.
    pub one: &'static str,
    /// The plural.
    pub many: &'static str,
}

impl Noun {
    pub(super) const TRAJECTORY: Self = Self { one: "trajectory", many: "trajectories" };
    pub(super) const TASK: Self = Self { one: "task", many: "tasks" };

    /// The message about an empty file.
    fn empty(self) -> String {
        let Self { one, many } = self;
        format!(
            "the file is empty; it should hold a list of {many}, an object of them by id, one {one}, or one {one} on \
             each line"
        )
    }
}

/// The brackets of a file do not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LayoutError {
    /// The offset in bytes.
    pub offset: u64,
    /// What is wrong there and what to do.
    pub message: String,
}

/// Finds the elements of a JSON file, which messages call `noun`; if it turns out to be JSON Lines, its lines.
///
/// # Errors
/// [`SourceError`] when reading fails. Errors in the text itself are in [`Layout::error`].
pub(crate) fn split(source: &Source, noun: Noun) -> Result<Layout, SourceError> {
    let mut scanner = Scanner::new(source.reader()?, noun);
    let (layout, is_lines) = scanner.split().map_err(|cause| source.error(cause))?;
    if is_lines {
        split_lines(source, noun)
    } else if layout.shape == Shape::Object && is_one_trajectory(source, &layout.elements)? {
        // The parser of the trajectory reports an error in its text.
        Ok(Layout { is_single: true, elements: vec![whole(source)?], ..Layout::of(Shape::Object) })
    } else {
        Ok(layout)
    }
}

/// Whether an object is a single trajectory, and not an object of trajectories by id: it has a member `steps` or `id`
/// that is not an object.
fn is_one_trajectory(source: &Source, members: &[Element]) -> Result<bool, SourceError> {
    for member in members {
        // Keys that are longer than these two with the white space around them need not be read.
        if member.mark > 64 {
            continue;
        }
        let lead = u64::from(member.mark);
        let text = source.bytes(member.offset - lead, lead + 1)?;
        let is_named = |name: &[u8]| text.starts_with(name);
        if (is_named(b"\"steps\"") || is_named(b"\"id\"")) && text.last() != Some(&b'{') {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The whole file as one element.
fn whole(source: &Source) -> Result<Element, SourceError> {
    let length =
        std::io::copy(&mut source.reader()?, &mut std::io::sink()).map_err(|cause| source.error(cause))?;
    let head = source.bytes(0, length.min(3))?;
    let offset = (head.len() - without_byte_order_mark(&head).len()) as u64;
    Ok(Element::new(offset, length - offset, 0))
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The text after a byte order mark, if it has one.
pub(crate) fn without_byte_order_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Finds the lines of a file that are not blank.
///
/// # Errors
/// [`SourceError`] when reading fails.
pub(crate) fn split_lines(source: &Source, noun: Noun) -> Result<Layout, SourceError> {
    let mut reader = source.reader()?;
    let mut layout = Layout::of(Shape::Lines);
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

/// The extent of a line without the white space around it, found piece by piece.
#[derive(Default)]
struct LineExtent {
    total: u64,
    /// The first byte that is not white space.
    first: u64,
    /// The end of the last byte that is not white space; 0 if there is none yet.
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
