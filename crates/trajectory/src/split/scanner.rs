//! Follows the brackets and strings of a text, to find its top-level elements.

use std::io::BufRead;

use memchr::memchr2;

use super::{BYTE_ORDER_MARK, Element, Layout, LayoutError, Noun, Shape};
use crate::source::count_newlines;

/// Follows brackets and strings.
pub(super) struct Scanner<R> {
    reader: R,
    offset: u64,
    newlines: u64,
    noun: Noun,
}

/// The most elements that are not objects, and so no trajectories: each takes memory, and each would be an error.
const MOST_OTHERS: usize = 10_000;

/// Why a scan stopped: an error in the text ([`LayoutError`]) or in reading it.
enum Stop {
    Text(LayoutError),
    Io(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(cause: std::io::Error) -> Self {
        Stop::Io(cause)
    }
}

impl<R: BufRead> Scanner<R> {
    pub(super) fn new(reader: R, noun: Noun) -> Self {
        Self { reader, offset: 0, newlines: 0, noun }
    }

    /// The layout, and whether the text turned out to be JSON Lines.
    pub(super) fn split(&mut self) -> std::io::Result<(Layout, bool)> {
        let mut layout = Layout::of(Shape::List);
        match self.split_into(&mut layout) {
            Ok(is_lines) => Ok((layout, is_lines)),
            Err(Stop::Text(error)) => {
                layout.error = Some(error);
                Ok((layout, false))
            }
            Err(Stop::Io(cause)) => Err(cause),
        }
    }

    fn split_into(&mut self, layout: &mut Layout) -> Result<bool, Stop> {
        self.skip_byte_order_mark()?;
        let Noun { one, many } = self.noun;
        let (closing, shape) = match self.next_significant()? {
            None => return Err(self.stop(&self.noun.empty())),
            Some(b'[') => (b']', Shape::List),
            Some(b'{') => (b'}', Shape::Object),
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'"' | b'0'..=b'9' | b'-') => {
                return Err(self.stop(&format!(
                    "the top of the file is neither a list nor an object; it should hold \
                    a list of {many}, an object of them by id, or one {one}",
                )));
            }
            Some(_) => {
                return Err(self.stop(&format!(
                    "not JSON; it should hold a list of {many}, or one of the other shapes"
                )));
            }
        };
        layout.shape = shape;
        let newlines_before = self.newlines;
        self.advance()?;
        self.split_members(closing, layout)?;
        let is_one_line = self.newlines == newlines_before;
        match self.next_significant()? {
            None => Ok(false),
            Some(_) if is_one_line && shape == Shape::Object => Ok(true),
            Some(_) => Err(self.stop(&format!(
                "more text after the end of the value (hint: JSON Lines needs each {one} on a line of its own)",
            ))),
        }
    }

    fn split_members(&mut self, closing: u8, layout: &mut Layout) -> Result<(), Stop> {
        if self.expect_significant()? == closing {
            return self.advance();
        }
        let mut others = 0_usize;
        loop {
            let start = self.offset;
            if layout.shape == Shape::Object {
                self.skip_key()?;
            }
            let first = self.expect_significant()?;
            if first != b'{' {
                others += 1;
                if others > MOST_OTHERS {
                    let many = self.noun.many;
                    return Err(self.stop(&format!(
                        "more than {MOST_OTHERS} items before this one are not objects; is it a file of {many}?"
                    )));
                }
            }
            let offset = self.offset;
            self.skip_value()?;
            let index = layout.elements.len() as u64;
            let mark = if layout.shape == Shape::Object { offset - start } else { index };
            layout.elements.push(Element::new(offset, self.offset - offset, mark));
            match self.expect_significant()? {
                b',' => self.advance()?,
                byte if byte == closing => return self.advance(),
                _ => {
                    return Err(self.stop(&format!(
                        "expected `,` or `{}` (hint: a file of one {} on each line should be named `.jsonl`)",
                        char::from(closing),
                        self.noun.one
                    )));
                }
            }
            self.expect_significant()?;
        }
    }

    /// Moves past a member's name and the colon after it.
    fn skip_key(&mut self) -> Result<(), Stop> {
        if self.expect_significant()? != b'"' {
            return Err(self.stop("expected a key in quotes"));
        }
        self.skip_string()?;
        if self.expect_significant()? != b':' {
            return Err(self.stop("expected `:`"));
        }
        self.advance()
    }

    /// Moves past one value of any kind. Only its extent is found; its content is checked when it is parsed.
    fn skip_value(&mut self) -> Result<(), Stop> {
        let mut depth = 0_u64;
        loop {
            match self.peek()? {
                None => return Err(self.ended()),
                Some(b'"') => self.skip_string()?,
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.advance()?;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.advance()?;
                }
                Some(b',' | b'}' | b']') if depth == 0 => {
                    return Err(self.stop("expected a value (hint: there may be a comma too many)"));
                }
                Some(_) => self.skip_plain(depth > 0)?,
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Moves over bytes up to the next bracket or quote; outside of brackets, also up to a comma or a space.
    fn skip_plain(&mut self, is_nested: bool) -> Result<(), Stop> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|&byte| {
                matches!(byte, b'"' | b'{' | b'}' | b'[' | b']')
                    || (!is_nested && (byte == b',' || byte.is_ascii_whitespace()))
            });
            let length = end.unwrap_or(buffer.len());
            self.newlines += count_newlines(&buffer[..length]);
            self.consume(length);
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }

    /// Moves past a string.
    fn skip_string(&mut self) -> Result<(), Stop> {
        self.advance()?;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Err(self.ended());
            }
            let end = memchr2(b'"', b'\\', buffer);
            let special = end.map(|end| buffer[end]);
            let length = end.unwrap_or(buffer.len());
            self.newlines += count_newlines(&buffer[..length]);
            self.consume(length);
            match special {
                None => {}
                Some(b'"') => return self.advance(),
                Some(_) => {
                    self.advance()?;
                    if self.peek()?.is_some() {
                        self.advance()?;
                    }
                }
            }
        }
    }

    fn skip_byte_order_mark(&mut self) -> Result<(), Stop> {
        let start = self.reader.fill_buf()?;
        if start.starts_with(b"\xff\xfe") || start.starts_with(b"\xfe\xff") {
            return Err(self.stop("the file is UTF-16; save it as UTF-8"));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            self.consume(BYTE_ORDER_MARK.len());
        }
        Ok(())
    }

    /// The next byte that is not white space, without moving past it; `None` at the end.
    fn next_significant(&mut self) -> Result<Option<u8>, Stop> {
        while let Some(byte) = self.peek()? {
            if !byte.is_ascii_whitespace() {
                return Ok(Some(byte));
            }
            self.newlines += u64::from(byte == b'\n');
            self.advance()?;
        }
        Ok(None)
    }

    fn expect_significant(&mut self) -> Result<u8, Stop> {
        self.next_significant()?.ok_or_else(|| self.ended())
    }

    fn peek(&mut self) -> Result<Option<u8>, Stop> {
        Ok(self.reader.fill_buf()?.first().copied())
    }

    fn advance(&mut self) -> Result<(), Stop> {
        self.reader.fill_buf()?;
        self.consume(1);
        Ok(())
    }

    fn consume(&mut self, length: usize) {
        self.reader.consume(length);
        self.offset += length as u64;
    }

    fn ended(&self) -> Stop {
        self.stop("the file ends in the middle of a value; it may have been cut off while it was written")
    }

    fn stop(&self, message: &str) -> Stop {
        Stop::Text(LayoutError { offset: self.offset, message: message.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits `text` with a buffer of `buffer` bytes, so that every value crosses the end of a buffer somewhere.
    fn pieces(text: &str, buffer: usize) -> (Shape, Vec<String>, Option<LayoutError>, bool) {
        let reader = std::io::BufReader::with_capacity(buffer, text.as_bytes());
        let (layout, is_lines) = Scanner::new(reader, Noun::TASK).split().unwrap();
        let piece = |e: &Element| {
            let (start, length) = (usize::try_from(e.offset).unwrap(), e.length as usize);
            let lead = if layout.shape == Shape::Object { e.mark as usize } else { 0 };
            text[start - lead..start + length].to_owned()
        };
        (layout.shape, layout.elements.iter().map(piece).collect(), layout.error, is_lines)
    }

    #[test]
    fn lists_and_objects_fall_into_their_elements_at_any_buffer_size() {
        let list = r#" [ {"a": "]},\"["} , 1 ,"x\\",[[],{}] ] "#;
        let object = "{\"k\\n1\": {\"a\": [1]},\n \"k2\" : null}";
        for buffer in 3..40 {
            let (shape, found, error, _) = pieces(list, buffer);
            assert_eq!((shape, error), (Shape::List, None));
            assert_eq!(found, [r#"{"a": "]},\"["}"#, "1", r#""x\\""#, "[[],{}]"]);
            let (shape, found, error, is_lines) = pieces(object, buffer);
            assert_eq!((shape, error, is_lines), (Shape::Object, None, false));
            assert_eq!(found, ["\"k\\n1\": {\"a\": [1]}", "\"k2\" : null"]);
        }
    }

    #[test]
    fn a_list_of_very_many_numbers_is_not_read_to_its_end() {
        let text = format!("[{}0]", "0,".repeat(2 * MOST_OTHERS));
        let (_, found, error, _) = pieces(&text, 1 << 10);
        assert_eq!(
            (found.len(), error.map(|error| error.offset)),
            (MOST_OTHERS, Some(1 + 2 * MOST_OTHERS as u64))
        );
    }

    #[test]
    fn a_one_line_object_with_more_below_is_json_lines() {
        assert!(pieces("{\"a\": 1}\n{\"a\": 2}", 7).3);
        assert!(!pieces("{\"a\": 1}\n", 7).3);
        assert!(pieces("{\"a\":\n 1}\n{\"a\": 2}", 7).2.unwrap().message.contains("each task on a line"));
    }

    #[test]
    fn structural_errors_have_a_place() {
        for (text, offset) in
            [("", 0), ("  ", 2), ("[1,]", 3), ("[1 2]", 3), ("[1", 2), ("{1:2}", 1), ("12", 0)]
        {
            let (_, _, error, _) = pieces(text, 5);
            assert_eq!(error.map(|e| e.offset), Some(offset), "{text:?}");
        }
    }
}
