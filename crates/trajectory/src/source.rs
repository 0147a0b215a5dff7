//! The bytes of a file of trajectories, which can be read more than once whatever the input is.
//!
//! Plain files are read in place. Packed files (gzip, zstd), standard input and pipes are first written to an unnamed temporary
//! file, so that everything after this module can seek and memory does not grow with the input.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use m3_support::temporary::unnamed;
use m3_support::text::{hexadecimal, visible};
use sha2::{Digest as _, Sha256};

use crate::source_error::SourceError;
use crate::spool::{is_stdin_device, open_file, spool};

/// The most bytes of an input that is copied: far above any benchmark.
const MAX_SPOOLED: u64 = 16 << 30;

/// Bytes that can be read from any offset.
#[derive(Debug)]
pub struct Source {
    file: File,
    /// The file as the user named it; `standard input` for `-`.
    name: String,
    /// The path of the file; `None` for standard input and for bytes that a program holds.
    path: Option<PathBuf>,
    position: Cell<Position>,
    digest: RefCell<Option<String>>,
    /// Whether the hash is computed while the source is read.
    is_hashed: bool,
    /// Whether the path is a folder: then the source itself has no bytes.
    is_folder: bool,
}

/// A reader from the start of a source; when it reaches the end, the hash is kept.
struct HashingReader<'a> {
    source: &'a Source,
    /// `None` if the hash is known already.
    hasher: Option<Sha256>,
}

impl Read for HashingReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = (&self.source.file).read(buffer)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..length]);
        }
        if length == 0 && !buffer.is_empty() {
            let hash = self.hasher.take().map(|hasher| hexadecimal(&hasher.finalize()));
            if hash.is_some() {
                self.source.digest.replace(hash);
            }
        }
        Ok(length)
    }
}

/// The number of line ends in `bytes`.
#[expect(
    clippy::naive_bytecount,
    reason = "the compiler vectorizes it, and files are read faster than disks"
)]
pub(crate) fn count_newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// A place in the file, counted from 0.
#[derive(Debug, Clone, Copy, Default)]
struct Position {
    offset: u64,
    lines: u64,
    column: u64,
}

impl Position {
    fn advance(&mut self, bytes: &[u8]) {
        self.offset += bytes.len() as u64;
        self.lines += count_newlines(bytes);
        self.column = match bytes.iter().rposition(|&byte| byte == b'\n') {
            Some(last) => (bytes.len() - last - 1) as u64,
            None => self.column + bytes.len() as u64,
        };
    }
}

impl Source {
    /// Opens `path`, `-` for standard input. Packed files are recognized by their first bytes, not by their names.
    ///
    /// # Errors
    /// [`SourceError`], which names the file.
    pub fn open(path: &Path) -> Result<Self, SourceError> {
        Self::open_within(path, MAX_SPOOLED)
    }

    /// Opens `path`, `-` for standard input. Inputs that need a temporary file are refused beyond `limit` bytes, with
    /// [`SourceError::TooLarge`].
    ///
    /// # Errors
    /// [`SourceError`], which names the file.
    pub(super) fn open_within(path: &Path, limit: u64) -> Result<Self, SourceError> {
        let name = if path == Path::new("-") {
            "standard input".to_owned()
        } else {
            visible(&path.display().to_string(), false).into_owned()
        };
        let file = if path == Path::new("-") {
            let is_device =
                is_stdin_device().map_err(|cause| SourceError::Read { path: name.clone(), cause })?;
            spool(&name, io::stdin().lock(), limit, is_device)?
        } else {
            open_file(&name, path, limit)?
        };
        let path = (path != Path::new("-")).then(|| path.to_owned());
        let (position, digest) = (Cell::default(), RefCell::default());
        let source = Self { file, name, path, position, digest, is_hashed: true, is_folder: false };
        #[cfg(feature = "yaml")]
        let source = source.without_yaml()?;
        Ok(source)
    }

    /// The source, as JSON if it is YAML. What only begins as YAML does may be something else, and stays.
    #[cfg(feature = "yaml")]
    fn without_yaml(self) -> Result<Self, SourceError> {
        use crate::yaml::{MOST_BYTES, START, YamlSign, write_json};
        let start = self.bytes(0, self.length().min(START))?;
        let Some(sign) = YamlSign::find(&self.name.to_ascii_lowercase(), &start) else { return Ok(self) };
        let result = if self.length() > MOST_BYTES {
            Err(format!("it has more than {} MiB; convert it to JSON", MOST_BYTES >> 20))
        } else {
            let mut file = io::BufWriter::new(self.temporary_file()?);
            let result = write_json(&self.start(MOST_BYTES)?, &mut file);
            let result = result.map_err(|cause| self.spool_error(cause))?;
            result.map(|()| file)
        };
        match result {
            Ok(file) => {
                self.converted_to(file.into_inner().map_err(|error| self.spool_error(error.into_error()))?)
            }
            Err(_) if sign == YamlSign::FirstLine => Ok(self),
            Err(reason) => Err(SourceError::Yaml { path: self.name, reason }),
        }
    }

    /// Opens `path` like [`Source::open`], or a folder: one of a run stands for its `predictions.json`, any other is a source
    /// without bytes whose files a format may read.
    ///
    /// # Errors
    /// [`SourceError`], which names the file.
    pub fn open_with_folders(path: &Path) -> Result<Self, SourceError> {
        if path == Path::new("-") || !path.is_dir() {
            return Self::open(path);
        }
        let predictions = path.join("predictions.json");
        if predictions.is_file() {
            return Self::open(&predictions);
        }
        let name = visible(&path.display().to_string(), false).into_owned();
        let file = unnamed().map_err(|cause| SourceError::Spool { path: name.clone(), cause })?;
        let (path, position, digest) = (Some(path.to_owned()), Cell::default(), RefCell::default());
        Ok(Self { file, name, path, position, digest, is_hashed: false, is_folder: true })
    }

    /// Whether the source is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.is_folder
    }

    /// Sets the digest of a folder: that of the names and digests of the files that were read.
    pub fn set_digest_of_files<'f>(&self, files: impl Iterator<Item = (&'f str, &'f str)>) {
        let mut hasher = Sha256::new();
        for part in files.flat_map(|(name, digest)| [name, "\0", digest, "\n"]) {
            hasher.update(part);
        }
        self.digest.replace(Some(hexadecimal(&hasher.finalize())));
    }

    /// A source of bytes that a program holds, with a name for messages.
    ///
    /// # Errors
    /// [`SourceError::Spool`].
    pub fn of_bytes(name: &str, bytes: &[u8]) -> Result<Self, SourceError> {
        let name = visible(name, false).into_owned();
        let file = spool(&name, bytes, MAX_SPOOLED, false)?;
        Ok(Self {
            file,
            name,
            path: None,
            position: Cell::default(),
            digest: RefCell::default(),
            is_hashed: false,
            is_folder: false,
        })
    }

    /// The source for callers that need no digest: reading is faster.
    #[must_use]
    pub fn unhashed(self) -> Self {
        Self { is_hashed: false, ..self }
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The path of the file, for programs that write several files beside each other; `None` for standard input.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// A temporary file without a name, for what is made of this source.
    ///
    /// # Errors
    /// [`SourceError::Spool`].
    pub fn temporary_file(&self) -> Result<File, SourceError> {
        unnamed().map_err(|cause| self.spool_error(cause))
    }

    /// A source for what was made of this one, in `file`, with the name and the digest of this one.
    ///
    /// # Errors
    /// [`SourceError::Read`] if the digest is not known yet and the bytes cannot be read.
    pub fn converted_to(&self, file: File) -> Result<Self, SourceError> {
        let digest = RefCell::new(Some(self.digest()?));
        let (name, path) = (self.name.clone(), self.path.clone());
        Ok(Self { file, name, path, position: Cell::default(), digest, is_hashed: true, is_folder: false })
    }

    /// The SHA-256 of all bytes in hexadecimal, after decompression. The bytes are read for this only if they were
    /// not read to the end before.
    ///
    /// # Errors
    /// [`SourceError::Read`].
    pub fn digest(&self) -> Result<String, SourceError> {
        if self.digest.borrow().is_none() {
            io::copy(&mut self.reader_from_start(true)?, &mut io::sink())
                .map_err(|cause| self.error(cause))?;
        }
        Ok(self.digest.borrow().clone().unwrap_or_default())
    }

    /// A reader of all bytes, from the start.
    ///
    /// # Errors
    /// [`SourceError::Read`].
    pub fn reader(&self) -> Result<impl BufRead + '_, SourceError> {
        self.reader_from_start(self.is_hashed)
    }

    fn reader_from_start(&self, is_hashed: bool) -> Result<impl BufRead + '_, SourceError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(0)).map_err(|cause| self.error(cause))?;
        let hasher = (is_hashed && self.digest.borrow().is_none()).then(Sha256::new);
        Ok(BufReader::with_capacity(1 << 18, HashingReader { source: self, hasher }))
    }

    /// A reader that can go anywhere, for archives. It shares its place with every other reader of the source.
    #[must_use]
    pub fn seekable(&self) -> BufReader<&File> {
        BufReader::with_capacity(1 << 16, &self.file)
    }

    /// The first `length` bytes, or all bytes of a shorter file.
    ///
    /// # Errors
    /// [`SourceError::Read`].
    pub fn start(&self, length: u64) -> Result<Vec<u8>, SourceError> {
        let held = self.length();
        let mut bytes = Vec::with_capacity(usize::try_from(length.min(held)).unwrap_or_default());
        self.reader()?.take(length).read_to_end(&mut bytes).map_err(|cause| self.error(cause))?;
        Ok(bytes)
    }

    /// The number of bytes of the source, after decompression.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    /// The `length` bytes at `offset`.
    ///
    /// # Errors
    /// [`SourceError::Read`], also if the file has become shorter since it was opened.
    pub fn bytes(&self, offset: u64, length: u64) -> Result<Vec<u8>, SourceError> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(offset)).map_err(|cause| self.error(cause))?;
        let mut bytes = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        file.read_exact(&mut bytes).map_err(|cause| self.error(cause))?;
        Ok(bytes)
    }

    /// Line and column (bytes), both from 1, of the byte at `offset`, for messages. Reads from the last requested
    /// position, or from the start: cheap in ascending order.
    pub fn position(&self, offset: u64) -> (u64, u64) {
        let known = self.position.get();
        let mut at = if known.offset <= offset { known } else { Position::default() };
        let mut file = &self.file;
        if file.seek(SeekFrom::Start(at.offset)).is_ok() {
            let mut reader = BufReader::with_capacity(1 << 18, file).take(offset - at.offset);
            while let Ok(buffer) = reader.fill_buf()
                && !buffer.is_empty()
            {
                at.advance(buffer);
                let length = buffer.len();
                reader.consume(length);
            }
        }
        self.position.set(at);
        (at.lines + 1, at.column + 1)
    }

    /// The error for a failure to read the file.
    #[must_use]
    pub fn error(&self, cause: io::Error) -> SourceError {
        SourceError::Read { path: self.name.clone(), cause }
    }

    /// The error for a temporary file that cannot be written.
    #[must_use]
    pub fn spool_error(&self, cause: io::Error) -> SourceError {
        SourceError::Spool { path: self.name.clone(), cause }
    }
}
