//! Zip archives, read an entry at a time. Nothing is written to disk, and the sizes that an entry claims are not
//! believed.

use std::fs::File;
use std::io::{BufReader, Read as _};

use m3_support::text::visible;
use m3_support::unpack::most_of;
use m3_trajectory::Source;
use m3_trajectory::json::Json;
use zip::ZipArchive;

use crate::values::value;

/// The longest entry, in bytes after decompression.
const LONGEST: u64 = 256 << 20;

/// A zip archive, and how much of it may still be read.
pub(crate) struct Archive<'a> {
    zip: ZipArchive<BufReader<&'a File>>,
    /// The most bytes of an entry and of all that are still to be read.
    longest: u64,
    left: u64,
}

impl<'a> Archive<'a> {
    /// Opens an archive. The text of an error says what is wrong with it.
    pub(crate) fn open(source: &'a Source) -> Result<Self, String> {
        // The limit is for all entries together, because some may share their bytes.
        let compressed = source.seekable().into_inner().metadata().map_or(0, |file| file.len());
        let most = most_of(compressed);
        Self::open_within(source, LONGEST.min(most), most)
    }

    fn open_within(source: &'a Source, longest: u64, left: u64) -> Result<Self, String> {
        let zip = ZipArchive::new(source.seekable()).map_err(|error| error.to_string())?;
        Ok(Self { zip, longest, left })
    }

    /// The names of the entries, with characters that cannot be shown replaced.
    pub(crate) fn names(&self) -> impl Iterator<Item = String> {
        self.zip.file_names_raw().map(|name| String::from_utf8_lossy(name).into_owned())
    }

    /// The value of the entry with this number, from 0. The text of an error begins with the entry's place.
    pub(crate) fn value(&mut self, number: usize) -> Result<Json, String> {
        self.entry(number).value()
    }

    /// The entry with this number, decompressed.
    pub(crate) fn entry(&mut self, number: usize) -> Entry {
        let text = self.bytes(number);
        let name = self.zip.name_for_index(number).and_then(Result::ok).unwrap_or_default();
        let name: String = name.chars().take(200).collect();
        Entry { place: format!("entry {} `{}`", number + 1, visible(&name, false)), text }
    }

    fn bytes(&mut self, number: usize) -> Result<Vec<u8>, String> {
        let mut entry = self.zip.by_index(number).map_err(|error| error.to_string())?;
        if entry.enclosed_name().is_none() {
            return Err("its name leads out of the archive".to_owned());
        }
        let (size, most) = (entry.size(), self.longest.min(self.left));
        let mut bytes = Vec::new();
        if size <= most {
            let read = entry.by_ref().take(most + 1).read_to_end(&mut bytes);
            self.left -= most.min(bytes.len() as u64);
            read.map_err(|error| format!("damaged: {error}"))?;
        }
        if size > most || bytes.len() as u64 > most {
            return Err(format!("more than {most} bytes when unpacked, the most that it may become"));
        }
        if bytes.len() as u64 != size {
            return Err(format!("damaged: {} bytes instead of {size}", bytes.len()));
        }
        Ok(bytes)
    }
}

/// An entry that is not parsed yet.
pub(crate) struct Entry {
    place: String,
    text: Result<Vec<u8>, String>,
}

impl Entry {
    /// The number of its bytes; 0 if it cannot be read.
    pub(crate) fn size(&self) -> usize {
        self.text.as_ref().map_or(0, Vec::len)
    }

    /// The entry as JSON. The text of an error begins with the entry's place.
    pub(crate) fn value(self) -> Result<Json, String> {
        let Self { place, text } = self;
        let text = text.map_err(|error| format!("{place}: {error}"))?;
        value(text.trim_ascii())
            .map_err(|error| format!("{place}: not JSON at byte {}: {}", error.offset, error.message))
    }
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
}
