//! Folders of traces: all files in them are read as one file of trajectories.

use std::path::Path;

use m3_support::text::{counted, shortened};
use m3_trajectory::{Severity, Source, SourceError, TrajectoryFile};

use crate::walk::walk;
use crate::{Converter, head};

/// How much of a file is read to see whether it holds m3's own trajectories.
const START: u64 = 64 << 10;

/// The longest name of a file in a message, in columns.
const LONGEST_NAME: usize = 200;

/// Writes the trajectories of all files in a folder, by name. Files of no known format are left out and counted.
pub(crate) fn convert(source: &Source, converter: &mut Converter<'_, '_>) -> Result<(), SourceError> {
    let folder = source.path().unwrap_or(Path::new("."));
    let files = walk(&[folder.to_owned()])
        .map_err(|(path, cause)| SourceError::Read { path: path.display().to_string(), cause })?;
    let (mut digests, mut unknown) = (Vec::new(), 0_usize);
    for file in files {
        let within = file.path.strip_prefix(folder).unwrap_or(&file.path).display().to_string();
        converter.file = Some(shortened(&within, LONGEST_NAME));
        let inner = match file.open() {
            // A folder may have configurations beside its traces.
            Err(error @ SourceError::Yaml { .. }) => {
                converter.problem(Severity::Warning, None, &error.to_string());
                unknown += 1;
                continue;
            }
            inner => inner?,
        };
        let is_own = head::is_own(&inner.start(START)?);
        let is_read = if is_own { own(&file.path, converter)? } else { converter.convert(&inner)? };
        if is_read {
            digests.push((within, inner.digest()?));
        } else {
            unknown += 1;
        }
    }
    converter.file = None;
    if digests.is_empty() {
        let message =
            format!("no file in this folder ({}) has a format that m3 reads", counted(unknown, "file"));
        converter.problem(Severity::Error, None, &message);
    } else if unknown > 0 {
        let message = format!("{} of no known format left out", counted(unknown, "file"));
        converter.problem(Severity::Warning, None, &message);
    }
    source.set_digest_of_files(digests.iter().map(|(name, digest)| (name.as_str(), digest.as_str())));
    Ok(())
}

/// Writes m3's own trajectories of a file in a folder; returns whether it has some.
fn own(path: &Path, converter: &mut Converter<'_, '_>) -> Result<bool, SourceError> {
    let file = match TrajectoryFile::open_all(path, &mut |_, _| ()) {
        Ok(file) => file,
        Err(m3_trajectory::OpenError::Source(error)) => return Err(error),
        Err(error) => {
            converter.problem(Severity::Error, None, &error.to_string());
            return Ok(true);
        }
    };
    for index in 0..file.len() {
        let mut trajectory = file.read(index)?;
        trajectory.id = converter.unique(&trajectory.id);
        converter.output.trajectory(None, &trajectory)?;
    }
    Ok(true)
}
