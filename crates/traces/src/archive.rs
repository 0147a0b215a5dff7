//! Zip archives, read an entry at a time. Nothing is written to disk, and what an entry claims of itself is not believed.

use std::fs::File;
use std::io::{BufReader, Read as _};

use m3_support::text::visible;
use m3_trajectory::Source;
use m3_trajectory::json::{Json, parse};
use zip::ZipArchive;

use crate::head::each_sign;

/// The longest entry, in bytes after decompression.
const LONGEST: u64 = 256 << 20;

/// The most values of an entry: each takes some dozens of bytes of memory, and two bytes of a text.
const VALUES: usize = 20_000_000;

/// What is said of a text with more.
pub(crate) const TOO_MANY: &str = "more than 20 million values";

/// The most bytes of all entries together: more than any log has, and a limit for entries that share their bytes.
const TOTAL: u64 = 16 << 30;

/// An archive.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<BufReader<&'a File>>,
    /// The most bytes of an entry and of all that are still to be read.
    longest: u64,
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens it. The text of an error says what is wrong with it.
    pub(crate) fn open(source: &'a Source) -> Result<Self, String> {
        Self::open_within(source, LONGEST, TOTAL)
    }

    fn open_within(source: &'a Source, longest: u64, left: u64) -> Result<Self, String> {
        let zip = ZipArchive::new(source.seekable()).map_err(|error| error.to_string())?;
        Ok(Self { zip, longest, left })
    }

    /// The names of its entries, with what cannot be shown replaced.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.zip.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The value of the entry with this number, from 0. The text of an error begins with the entry's place.
    pub(crate) fn value(&mut self, number: usize) -> Result<Json, String> {
        let bytes = self.bytes(number).map_err(|error| self.at(number, &error))?;
        match parse(bytes.trim_ascii()) {
            Ok((value, _)) => Ok(value),
            Err(error) => {
                Err(self.at(number, &format!("not JSON at byte {}: {}", error.offset, error.message)))
            }
        }
    }

    /// A message with the place of an entry.
    fn at(&self, number: usize, message: &str) -> String {
        let name = self.zip.name_for_index(number).and_then(Result::ok).unwrap_or_default();
        let name: String = name.chars().take(200).collect();
        format!("entry {} `{}`: {message}", number + 1, visible(&name, false))
    }

    fn bytes(&mut self, number: usize) -> Result<Vec<u8>, String> {
        let mut entry = self.zip.by_index(number).map_err(|error| error.to_string())?;
        if entry.enclosed_name().is_none() {
            return Err("its name leads out of the archive".to_owned());
        }
        let (told, most) = (entry.size(), self.longest.min(self.left));
        let mut bytes = Vec::new();
        if told <= most {
            let read = entry.by_ref().take(most + 1).read_to_end(&mut bytes);
            self.left -= most.min(bytes.len() as u64);
            read.map_err(|error| format!("damaged: {error}"))?;
        }
        if told > most || bytes.len() as u64 > most {
            return Err(format!("more than {most} bytes when decompressed"));
        }
        if bytes.len() as u64 != told {
            return Err(format!("damaged: {} bytes instead of {told}", bytes.len()));
        }
        if has_too_many_values(&bytes) {
            return Err(TOO_MANY.to_owned());
        }
        Ok(bytes)
    }
}

/// Whether a text of JSON has more values than memory should hold.
pub(crate) fn has_too_many_values(text: &[u8]) -> bool {
    // Each takes a byte at least.
    text.len() > VALUES && value_count(text) > VALUES
}

/// About as many values as a text of JSON has: their separators outside of strings.
fn value_count(text: &[u8]) -> usize {
    let mut count = 0;
    each_sign(text, |_, sign| count += usize::from(matches!(sign, b',' | b'[' | b'{')));
    count
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;
    use zip::write::SimpleFileOptions;

    fn source(entries: &[&[u8]]) -> Source {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        let mut zip = zip::ZipWriter::new(&mut file);
        for (number, bytes) in entries.iter().enumerate() {
            let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Zstd);
            zip.start_file(number.to_string(), options).unwrap();
            zip.write_all(bytes).unwrap();
        }
        zip.finish().unwrap();
        Source::open(file.path()).unwrap()
    }

    #[test]
    fn entries_that_grow_are_not_read_to_their_ends() {
        let long = format!("[{}1]", "1,".repeat(1000));
        let source = source(&[long.as_bytes(), b"[1]", b"[2]"]);
        let mut archive = Archive::open_within(&source, 100, 5).unwrap();
        assert!(archive.value(0).unwrap_err().contains("more than 5 bytes"));
        assert!(archive.value(1).is_ok());
        // All entries together have a limit, too.
        assert!(archive.value(2).unwrap_err().contains("more than 2 bytes"));
        assert!(archive.value(3).is_err());
        assert!(Archive::open(&source).unwrap().value(0).is_ok());
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        assert_eq!(value_count(br#"[1, {"a,[": "\",{"}, []]"#), 5);
    }
}
