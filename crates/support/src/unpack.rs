//! Reads files that are packed with gzip or zstd, and stops where a small file would become a large one.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::OnceLock;

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

/// The first bytes of files of gzip (RFC 1952, section 2.3.1) and of zstd (RFC 8878, section 3.1.1).
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";

/// What the names of packed files end in.
const ENDINGS: [&str; 3] = [".gz", ".zst", ".zstd"];

/// Whether these bytes begin as a packed file does.
#[must_use]
pub fn is_packed(start: &[u8]) -> bool {
    start.starts_with(GZIP) || start.starts_with(ZSTD)
}

/// The name of a file without the ending of packed files.
#[must_use]
pub fn unpacked_name(name: &str) -> &str {
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The content of a packed file, which may be several packed files one after another.
pub struct UnpackedReader<R: BufRead> {
    decoder: Decoder<CountedReader<R>>,
    written: u64,
}

impl<R: BufRead> UnpackedReader<R> {
    /// Unpacks an input from its start.
    ///
    /// # Errors
    /// The system's reason if its first bytes cannot be read.
    pub fn new(mut input: R) -> io::Result<Self> {
        let is_zstd = input.fill_buf()?.starts_with(ZSTD);
        let input = CountedReader { input, read: 0 };
        let decoder = if is_zstd { Decoder::zstd(input)? } else { Decoder::gzip(input) };
        Ok(Self { decoder, written: 0 })
    }

    /// Unpacks an input from its start, with a buffer.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn buffered(input: R) -> io::Result<BufReader<Self>> {
        Self::new(input).map(BufReader::new)
    }

    fn check(&self) -> Result<(), TooLarge> {
        let most = most_of(self.decoder.input().read);
        let reason = if ALLOWED.get().is_some() { TooLarge::Allowed } else { TooLarge::Growth };
        if self.written > most { Err(reason) } else { Ok(()) }
    }
}

impl<R: BufRead> Read for UnpackedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.decoder.read(buffer)?;
        self.written += length as u64;
        self.check().map_err(io::Error::other)?;
        Ok(length)
    }
}

#[cfg(feature = "unpack")]
enum Decoder<R: BufRead> {
    Gzip(flate2::bufread::MultiGzDecoder<R>),
    Zstd(zstd::stream::read::Decoder<'static, R>),
}

#[cfg(feature = "unpack")]
impl<R: BufRead> Decoder<R> {
    fn gzip(input: R) -> Self {
        Self::Gzip(flate2::bufread::MultiGzDecoder::new(input))
    }

    fn zstd(input: R) -> io::Result<Self> {
        zstd::stream::read::Decoder::with_buffer(input).map(Self::Zstd)
    }

    fn input(&self) -> &R {
        match self {
            Self::Gzip(decoder) => decoder.get_ref(),
            Self::Zstd(decoder) => decoder.get_ref(),
        }
    }
}

#[cfg(feature = "unpack")]
impl<R: BufRead> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Gzip(decoder) => decoder.read(buffer),
            Self::Zstd(decoder) => decoder.read(buffer),
        }
    }
}

/// The stand-in for the decoders in a program without the feature `unpack`.
#[cfg(not(feature = "unpack"))]
struct Decoder<R>(R);

#[cfg(not(feature = "unpack"))]
impl<R> Decoder<R> {
    fn gzip(input: R) -> Self {
        Self(input)
    }

    #[expect(clippy::unnecessary_wraps, reason = "the decoder it stands for can fail")]
    fn zstd(input: R) -> io::Result<Self> {
        Ok(Self(input))
    }

    fn input(&self) -> &R {
        &self.0
    }
}

#[cfg(not(feature = "unpack"))]
impl<R> Read for Decoder<R> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this program was built without the feature `unpack`"))
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

#[cfg(feature = "unpack")]
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
        let spaces_in_zstd = zstd::encode_all(&vec![b' '; 100 << 20][..], 1).unwrap();
        for packed in [&spaces, &spaces_in_zstd] {
            let mut unpacked = UnpackedReader::new(&packed[..]).unwrap();
            let error = io::copy(&mut unpacked, &mut io::sink()).unwrap_err();
            assert_eq!(TooLarge::from_error(&error), Some(TooLarge::Growth));
        }
        // Every input may become 16 MiB, however small it is.
        let few = packed(&vec![b' '; 1 << 20], 15);
        assert_eq!(io::copy(&mut UnpackedReader::new(&few[..]).unwrap(), &mut io::sink()).unwrap(), 15 << 20);
        let damaged =
            io::copy(&mut UnpackedReader::new(&spaces[..500]).unwrap(), &mut io::sink()).unwrap_err();
        assert_eq!(TooLarge::from_error(&damaged), None);
    }

    #[test]
    fn files_one_after_another_are_unpacked() {
        let both =
            [zstd::encode_all(&b"a"[..], 1).unwrap(), zstd::encode_all(&b"b"[..], 1).unwrap()].concat();
        assert!(is_packed(&both));
        let mut text = String::new();
        UnpackedReader::new(&both[..]).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "ab");
        let cut = UnpackedReader::new(&both[..5]).unwrap().read_to_string(&mut text).unwrap_err();
        assert_eq!(TooLarge::from_error(&cut), None);
        assert_eq!(["a.json.gz", "a.json.zst", "a.json"].map(unpacked_name), ["a.json"; 3]);
    }
}
