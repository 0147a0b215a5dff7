//! Opens files, standard input and pipes, and copies what cannot be read more than once to a temporary file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use m3_support::files::is_device;
use m3_support::temporary::unnamed;
use m3_support::unpack::{TooLarge, UnpackedReader, is_packed};

use crate::source_error::{DEVICE, SourceError};

pub(crate) fn open_file(name: &str, path: &Path, limit: u64) -> Result<File, SourceError> {
    let error = |cause| SourceError::Read { path: name.to_owned(), cause };
    let mut file = File::open(path).map_err(error)?;
    let metadata = file.metadata().map_err(error)?;
    if metadata.is_dir() {
        return Err(SourceError::Folder { path: name.to_owned() });
    }
    if !metadata.is_file() {
        let is_device = is_device(&file, &metadata);
        return spool(name, BufReader::new(file), limit, is_device);
    }
    let mut start = [0; 4];
    let length = file.read(&mut start).map_err(error)?;
    let is_packed = is_packed(&start[..length]);
    file.seek(SeekFrom::Start(0)).map_err(error)?;
    if is_packed { spool(name, BufReader::new(file), limit, false) } else { Ok(file) }
}

#[cfg(unix)]
pub(crate) fn is_stdin_device() -> io::Result<bool> {
    use std::os::fd::AsFd as _;
    let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let metadata = file.metadata()?;
    Ok(is_device(&file, &metadata))
}

#[cfg(not(unix))]
pub(crate) fn is_stdin_device() -> io::Result<bool> {
    Ok(false)
}

/// Copies `input`, unpacked if it is packed, to a temporary file that has no name.
pub(crate) fn spool(
    name: &str,
    mut input: impl BufRead,
    limit: u64,
    is_device: bool,
) -> Result<File, SourceError> {
    let path = || name.to_owned();
    let limit = if is_device { limit.min(DEVICE) } else { limit };
    let mut file = unnamed().map_err(|cause| SourceError::Spool { path: path(), cause })?;
    let start = input.fill_buf().map_err(|cause| SourceError::Read { path: path(), cause })?;
    let is_packed = is_packed(start);
    let mut input: Box<dyn Read> = if is_packed {
        let unpacked = UnpackedReader::new(input);
        Box::new(unpacked.map_err(|cause| SourceError::Packed { path: path(), cause })?.take(limit + 1))
    } else {
        Box::new(input.take(limit + 1))
    };
    let mut buffer = vec![0; 1 << 18];
    let mut written = 0;
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(length) => length,
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => continue,
            Err(cause) if is_packed => {
                return Err(match TooLarge::from_error(&cause) {
                    Some(reason) => SourceError::Growth { path: path(), reason },
                    None => SourceError::Packed { path: path(), cause },
                });
            }
            Err(cause) => return Err(SourceError::Read { path: path(), cause }),
        };
        io::Write::write_all(&mut file, &buffer[..length])
            .map_err(|cause| SourceError::Spool { path: path(), cause })?;
        written += length as u64;
        if written > limit {
            let path = path();
            return Err(if is_device {
                SourceError::Device { path }
            } else {
                SourceError::TooLarge { path }
            });
        }
    }
    Ok(file)
}
