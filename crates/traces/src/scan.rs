//! Follows the brackets and strings of JSON without parsing it, so that the parts of a document of any size are found
//! in one pass. Values between the brackets are checked when they are parsed.

use std::io::BufRead;

/// Follows brackets and strings.
#[derive(Debug)]
pub(crate) struct Scanner<R> {
    reader: R,
    offset: u64,
    /// The bytes that were passed since `begin`, and the most bytes that are kept.
    taken: Vec<u8>,
    most: usize,
}

/// Why a scan stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The place and the reason of a syntax error.
    Text(u64, &'static str),
    /// The file cannot be read.
    Io(std::io::Error),
}

impl From<std::io::Error> for Stop {
    fn from(cause: std::io::Error) -> Self {
        Self::Io(cause)
    }
}

impl<R: BufRead> Scanner<R> {
    /// Begins at the place of the reader, which is at `offset` in the file.
    pub(crate) fn at(reader: R, offset: u64) -> Self {
        Self { reader, offset, taken: Vec::new(), most: 0 }
    }

    /// The place in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next byte that is not white space, without passing it; `None` at the end.
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Stop> {
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(None);
            }
            let space = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let next = buffer.get(space).copied();
            self.pass(space)?;
            if next.is_some() {
                return Ok(next);
            }
        }
    }

    /// The next byte that is not white space, without passing it; an error at the end of the file.
    pub(crate) fn expect(&mut self) -> Result<u8, Stop> {
        self.peek()?.ok_or(Stop::Text(self.offset, "the file ends in the middle of a value"))
    }

    /// Enters a list or an object, and returns whether it has items or members.
    pub(crate) fn enter(&mut self) -> Result<bool, Stop> {
        self.expect()?;
        self.pass(1)?;
        let is_empty = matches!(self.expect()?, b']' | b'}');
        self.pass(usize::from(is_empty))?;
        Ok(!is_empty)
    }

    /// Passes the text after an item or a member, and returns whether there is another one.
    pub(crate) fn more(&mut self) -> Result<bool, Stop> {
        let byte = self.expect()?;
        if !matches!(byte, b',' | b']' | b'}') {
            return Err(Stop::Text(self.offset, "expected `,` or the end of a list or an object"));
        }
        self.pass(1)?;
        Ok(byte == b',')
    }

    /// Passes a member's name and its colon, and returns the name as written between its quotes; a long name is cut.
    pub(crate) fn key(&mut self) -> Result<&[u8], Stop> {
        if self.expect()? != b'"' {
            return Err(Stop::Text(self.offset, "expected a name in quotes"));
        }
        self.begin(64);
        self.value()?;
        self.most = 0;
        if self.expect()? != b':' {
            return Err(Stop::Text(self.offset, "expected `:`"));
        }
        self.pass(1)?;
        let name = self.taken.strip_prefix(b"\"").unwrap_or_default();
        Ok(name.strip_suffix(b"\"").unwrap_or(name))
    }

    /// Passes a value, and returns its text, cut to the first `most` bytes.
    pub(crate) fn text(&mut self, most: usize) -> Result<&[u8], Stop> {
        self.expect()?;
        self.begin(most);
        self.value()?;
        self.most = 0;
        Ok(&self.taken)
    }

    /// Passes a value.
    pub(crate) fn value(&mut self) -> Result<(), Stop> {
        match self.expect()? {
            b'"' | b'[' | b'{' => self.closed(),
            b',' | b':' | b']' | b'}' => Err(Stop::Text(self.offset, "expected a value")),
            _ => self.plain(),
        }
    }

    /// Passes a string, a list or an object.
    fn closed(&mut self) -> Result<(), Stop> {
        let (mut depth, mut in_string, mut is_escaped) = (0_u64, false, false);
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Err(Stop::Text(self.offset, "the file ends in the middle of a value"));
            }
            let (mut at, mut is_done) = (0, false);
            while let Some(&byte) = buffer.get(at) {
                if in_string && !is_escaped {
                    let plain = plain_length(buffer.get(at..).unwrap_or_default());
                    at += plain;
                    match buffer.get(at) {
                        Some(b'"') => in_string = false,
                        Some(_) => is_escaped = true,
                        None => break,
                    }
                } else if is_escaped {
                    is_escaped = false;
                } else {
                    match byte {
                        b'"' => in_string = true,
                        b'[' | b'{' => depth += 1,
                        b']' | b'}' => depth = depth.saturating_sub(1),
                        _ => {}
                    }
                }
                at += 1;
                if depth == 0 && !in_string {
                    is_done = true;
                    break;
                }
            }
            self.pass(at)?;
            if is_done {
                return Ok(());
            }
        }
    }

    /// Passes a number or a word.
    fn plain(&mut self) -> Result<(), Stop> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let end = buffer.iter().position(|byte| {
                matches!(byte, b',' | b':' | b'"' | b'[' | b']' | b'{' | b'}') || byte.is_ascii_whitespace()
            });
            let length = end.unwrap_or(buffer.len());
            self.pass(length)?;
            if end.is_some() || length == 0 {
                return Ok(());
            }
        }
    }

    fn begin(&mut self, most: usize) {
        self.taken.clear();
        self.most = most;
    }

    /// Passes bytes of the buffer.
    fn pass(&mut self, length: usize) -> Result<(), Stop> {
        let room = self.most.saturating_sub(self.taken.len()).min(length);
        if room > 0 {
            let buffer = self.reader.fill_buf()?;
            self.taken.extend_from_slice(buffer.get(..room).unwrap_or(buffer));
        }
        self.reader.consume(length);
        self.offset += length as u64;
        Ok(())
    }
}

/// How many bytes come before the next quote or backslash.
fn plain_length(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    let zero_bytes = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut length = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let matches =
            zero_bytes(word ^ (ONES * u64::from(b'"'))) | zero_bytes(word ^ (ONES * u64::from(b'\\')));
        if matches != 0 {
            return length + matches.trailing_zeros() as usize / 8;
        }
        length += 8;
    }
    length + rest.iter().take_while(|byte| !matches!(byte, b'"' | b'\\')).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items of a list, read through a buffer of this many bytes.
    fn items(text: &str, buffer: usize) -> Result<Vec<String>, Stop> {
        let mut scanner = Scanner::at(std::io::BufReader::with_capacity(buffer, text.as_bytes()), 0);
        let mut items = Vec::new();
        let mut is_more = scanner.enter()?;
        while is_more {
            items.push(String::from_utf8_lossy(scanner.text(usize::MAX)?).into_owned());
            is_more = scanner.more()?;
        }
        Ok(items)
    }

    #[test]
    fn items_are_found_at_any_size_of_the_buffer() {
        let all =
            [r#"{"a": "]},\"[ and more of it"}"#, "1", r#""x\\""#, "[[],{}]", "null", r#""\"\\\"""#, "\"\""];
        let text = format!(" [ {} ] ", all.join(" ,\n"));
        for buffer in 1..60 {
            assert_eq!(items(&text, buffer).unwrap(), all);
        }
        assert!(items(" [ ] ", 3).unwrap().is_empty());
        for wrong in ["[1,]", "[1 2]", "[1", "[\"", "[{]", "", "[,"] {
            assert!(items(wrong, 4).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_given_and_places_kept() {
        let text = format!(r#"{{"first" : [1], "{}": 2, "a\"b": 3}}"#, "x".repeat(100));
        let mut scanner = Scanner::at(text.as_bytes(), 7);
        assert!(scanner.enter().unwrap());
        assert_eq!(scanner.key().unwrap(), b"first");
        scanner.expect().unwrap();
        assert_eq!(scanner.offset(), 7 + 11);
        assert_eq!(scanner.text(2).unwrap(), b"[1");
        assert!(scanner.more().unwrap());
        assert_eq!(scanner.key().unwrap().len(), 63);
        scanner.value().unwrap();
        assert!(scanner.more().unwrap());
        assert_eq!(scanner.key().unwrap(), br#"a\"b"#);
    }
}
