//! The forms in which spreadsheets save tables: UTF-8 or UTF-16, with commas, semicolons or tabs, and with line ends
//! of Windows.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

/// The text of a file, without a byte order mark.
///
/// # Errors
/// Advice for the user if the file has another encoding.
pub(crate) fn decoded(bytes: &[u8]) -> Result<Cow<'_, str>, &'static str> {
    let (encoding, mark) = Encoding::for_bom(bytes).unwrap_or((UTF_8, 0));
    encoding
        .decode_without_bom_handling_and_without_replacement(&bytes[mark..])
        .ok_or("the file is neither UTF-8 nor UTF-16: save it as `CSV UTF-8`")
}

/// The delimiter of cells: of comma, semicolon and tab the one that occurs most often in the first line.
pub(crate) fn delimiter(text: &str) -> u8 {
    let heads = text.lines().next().unwrap_or_default();
    let count = |delimiter: u8| heads.matches(char::from(delimiter)).count();
    // The last of equally frequent delimiters is taken, the comma: without any, the line has one column anyway.
    [b'\t', b';', b','].into_iter().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

/// Counts lines up to places in a text; the places must come in ascending order.
pub(crate) struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u64,
}

impl<'a> Lines<'a> {
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    /// The line, from 1, of the record that begins at a byte. For the CSV reader the rest of the line before is a part
    /// of the record: the second half of a line end, and empty lines.
    pub(crate) fn at(&mut self, byte: u64) -> u64 {
        let mut start = usize::try_from(byte).unwrap_or(usize::MAX).clamp(self.at, self.text.len());
        while matches!(self.text.as_bytes().get(start), Some(b'\r' | b'\n')) {
            start += 1;
        }
        let passed = self.text.get(self.at..start).unwrap_or_default();
        self.line += passed.matches('\n').count() as u64;
        self.at = start;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_spreadsheets_are_read() {
        let text = "id;größe\r\n";
        let utf16 = |mark: [u8; 2], bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(text.encode_utf16().flat_map(bytes)).collect()
        };
        for bytes in [
            text.as_bytes().to_vec(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            utf16([0xff, 0xfe], u16::to_le_bytes),
            utf16([0xfe, 0xff], u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes).unwrap(), text);
        }
        // `größe` in Windows-1252, and half a unit of UTF-16.
        for bytes in [b"gr\xf6\xdfe".to_vec(), b"\xff\xfea".to_vec(), b"\xff\xfe\x00\xd8".to_vec()] {
            assert!(decoded(&bytes).unwrap_err().contains("CSV UTF-8"));
        }
        assert_eq!(["a,b;c,d", "a;b", "a\tb,c\td", "a", ""].map(delimiter), [b',', b';', b'\t', b',', b',']);
    }

    #[test]
    fn lines_are_counted_whatever_ends_them() {
        for end in ["\n", "\r\n"] {
            let text = ["a,b", "1,\"x\ny\"", "", "2,z", "3,z"].join(end);
            let mut table = csv::Reader::from_reader(text.as_bytes());
            table.headers().unwrap();
            let mut lines = Lines::of(&text);
            let found: Vec<u64> =
                table.records().map(|record| lines.at(record.unwrap().position().unwrap().byte())).collect();
            assert_eq!(found, [2, 5, 6], "{end:?}");
        }
    }
}
