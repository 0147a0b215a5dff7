//! Pictures and other media of traces: files whose names are hashes of their content.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use m3_images::media::Media;
use m3_support::files::{hint, write_atomically};
use m3_support::text::hexadecimal;
use m3_traces::decode;
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;
use sha2::{Digest as _, Sha256};

/// A folder for media; it is made when there is something to write.
pub(crate) struct MediaFolder {
    folder: PathBuf,
    /// The folder as trajectories name it: relative to their file, where it is beside it.
    named: String,
    /// The size of each file that was written, in bytes.
    written: Mutex<HashMap<String, usize>>,
}

/// The number of hexadecimal digits of a hash that name a file.
const DIGITS: usize = 32;

impl MediaFolder {
    /// The folder, for trajectories in the file `out`.
    pub(crate) fn new(folder: &Path, out: &Path) -> Self {
        let beside = out.parent().unwrap_or(Path::new(""));
        let named = folder.strip_prefix(beside).unwrap_or(folder);
        let named = named.to_string_lossy().replace('\\', "/");
        Self { folder: folder.to_owned(), named, written: Mutex::default() }
    }

    /// The number of files that were written.
    pub(crate) fn count(&self) -> usize {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// The size of all files that were written, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    /// Writes the media of a trajectory into files and puts their names in place of the data. The first picture of the question
    /// is the trajectory's image.
    ///
    /// # Errors
    /// A message if a file cannot be written.
    pub(crate) fn take_out(&self, trajectory: &mut Trajectory) -> Result<(), String> {
        for call in trajectory.steps.iter_mut().flat_map(|step| &mut step.calls) {
            if let Some(Json::Array(parts)) = &mut call.result {
                parts.iter_mut().try_for_each(|part| self.take(part).map(|_| ()))?;
            }
        }
        let images = trajectory.extra.iter_mut().find(|(key, _)| key == "images");
        if let Some((_, Json::Array(parts))) = images {
            for part in parts {
                let file = self.take(part)?;
                let is_image = part.get("type").and_then(Json::as_str) == Some("image");
                if trajectory.image.is_none() && is_image {
                    trajectory.image =
                        file.or_else(|| part.get("uri").and_then(Json::as_str).map(str::to_owned));
                }
            }
        }
        Ok(())
    }

    /// Writes the data of a part; returns the file's name if there were any.
    pub(crate) fn take(&self, part: &mut Json) -> Result<Option<String>, String> {
        let Json::Object(members) = part else { return Ok(None) };
        let is_media = members
            .iter()
            .any(|(key, value)| key == "type" && matches!(value.as_str(), Some("image" | "audio" | "file")));
        let at = members.iter().position(|(key, _)| key == "data").filter(|_| is_media);
        let Some(at) = at else { return Ok(None) };
        let Some(bytes) = members[at].1.as_str().and_then(decode) else { return Ok(None) };
        let (file, media) = self.keep(&bytes)?;
        members[at] = ("file".to_owned(), Json::String(file.clone()));
        if !members.iter().any(|(key, _)| key == "mimeType") {
            members.push(("mimeType".to_owned(), Json::String(media.mime_type.to_owned())));
        }
        let size = i64::try_from(bytes.len()).unwrap_or(i64::MAX);
        members.push(("bytes".to_owned(), Json::Integer(size)));
        Ok(Some(file))
    }

    /// Writes a file whose name is a hash of its content; returns its name for trajectories, and its media type.
    pub(crate) fn keep(&self, bytes: &[u8]) -> Result<(String, Media), String> {
        let media = Media::from_bytes(bytes);
        let hash = hexadecimal(&Sha256::digest(bytes));
        let name = format!("{}.{}", hash.get(..DIGITS).unwrap_or(&hash), media.extension);
        self.write(&name, bytes)?;
        Ok((if self.named.is_empty() { name } else { format!("{}/{name}", self.named) }, media))
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.join(name);
        // The lock is held while the file is written, so that nobody names a file that is not there.
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if written.contains_key(name) {
            return Ok(());
        }
        if !path.exists() {
            std::fs::create_dir_all(&self.folder).and_then(|()| write_atomically(&path, bytes)).map_err(
                |cause| format!("failed to write `{}`: {cause}\nhint: {}", path.display(), hint(&cause)),
            )?;
        }
        written.insert(name.to_owned(), bytes.len());
        Ok(())
    }
}
