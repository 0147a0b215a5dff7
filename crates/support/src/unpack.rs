//! Reads gzip files, and stops where a small file would become a large one.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::OnceLock;

#[cfg(feature = "gzip")]
use flate2::bufread::MultiGzDecoder as Decoder;

/// The most bytes that each compressed byte may become. Trajectories grow 5 to 30 times, some catalogs 70 times.
pub const MOST_GROWTH: u64 = 128;

/// The size up to which every input may grow, in bytes.
pub const ALWAYS: u64 = 16 << 20;

/// The size up to which the user lets compressed inputs grow, in bytes.
static ALLOWED: OnceLock<u64> = OnceLock::new();

/// Lets every compressed input of this process grow to this size, in bytes, and no larger. Only the first call counts.
pub fn allow(bytes: u64) {
    ALLOWED.get_or_init(|| bytes);
}

/// The largest size, in bytes, that an input of this many compressed bytes may reach.
#[must_use]
pub fn most_of(compressed: u64) -> u64 {
    ALLOWED.get().copied().unwrap_or_else(|| ALWAYS.max(compressed.saturating_mul(MOST_GROWTH)))
}

/// An input became too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TooLarge {
    /// The unpacked size exceeds the largest growth of an honest file.
    #[error("it becomes more than {MOST_GROWTH} times as large when it is unpacked")]
    Growth,
    /// The unpacked size exceeds the user's limit.
    #[error("it becomes larger than unpacked files may be")]
    Allowed,
}

impl TooLarge {
    /// The reason why reading failed, if it is this.
    #[must_use]
    pub fn from_error(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref().copied()
    }
}

/// The bytes of a gzip file, of one or more members (RFC 1952).
pub struct GzipReader<R: BufRead> {
    decoder: Decoder<CountedReader<R>>,
    written: u64,
}

impl<R: BufRead> GzipReader<R> {
    /// Unpacks an input from its start.
    pub fn new(input: R) -> Self {
        Self { decoder: Decoder::new(CountedReader { input, read: 0 }), written: 0 }
    }

    /// Unpacks an input from its start, with a buffer.
    pub fn buffered(input: R) -> BufReader<Self> {
        BufReader::new(Self::new(input))
    }

    fn check(&self) -> Result<(), TooLarge> {
        let most = most_of(self.decoder.get_ref().read);
        let reason = if ALLOWED.get().is_some() { TooLarge::Allowed } else { TooLarge::Growth };
        if self.written > most { Err(reason) } else { Ok(()) }
    }
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.decoder.read(buffer)?;
        self.written += length as u64;
        self.check().map_err(io::Error::other)?;
        Ok(length)
    }
}

/// The stand-in for the decoder in a program without the feature `gzip`.
#[cfg(not(feature = "gzip"))]
struct Decoder<R>(R);

#[cfg(not(feature = "gzip"))]
impl<R> Decoder<R> {
    fn new(input: R) -> Self {
        Self(input)
    }

    fn get_ref(&self) -> &R {
        &self.0
    }
}

#[cfg(not(feature = "gzip"))]
impl<R> Read for Decoder<R> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without the feature `gzip`"))
    }
}

/// Counts the bytes that were taken.
struct CountedReader<R> {
    input: R,
    read: u64,
}

impl<R: BufRead> Read for CountedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.input.read(buffer)?;
        self.read += length as u64;
        Ok(length)
    }
}

impl<R: BufRead> BufRead for CountedReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.read += amount as u64;
        self.input.consume(amount);
    }
}

#[cfg(feature = "gzip")]
#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn packed(chunk: &[u8], count: usize) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        (0..count).for_each(|_| encoder.write_all(chunk).unwrap());
        encoder.finish().unwrap()
    }

    #[test]
    fn what_grows_too_much_ends() {
        let spaces = packed(&vec![b' '; 1 << 20], 100);
        let mut unpacked = GzipReader::new(&spaces[..]);
        let error = io::copy(&mut unpacked, &mut io::sink()).unwrap_err();
        assert_eq!(TooLarge::from_error(&error), Some(TooLarge::Growth));
        // Every input may become 16 MiB, however small it is.
        let few = packed(&vec![b' '; 1 << 20], 15);
        assert_eq!(io::copy(&mut GzipReader::new(&few[..]), &mut io::sink()).unwrap(), 15 << 20);
        let damaged = io::copy(&mut GzipReader::new(&spaces[..500]), &mut io::sink()).unwrap_err();
        assert_eq!(TooLarge::from_error(&damaged), None);
    }
}
