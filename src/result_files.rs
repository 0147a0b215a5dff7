//! The files of recorded results, beside the trajectories that have them: pictures that tools made, above all.

use std::path::Path;

use m3_mcp::results::decode;
use m3_support::files::is_plain;
use m3_support::text::{counted, size, visible};
use m3_trajectory::Trajectory;
use m3_trajectory::json::{Json, Keys};

use crate::export::{MediaFiles, each_part_of, kind_of};
use crate::import::MediaFolder;

/// The folder beside the trajectories.
const FOLDER: &str = "results";

/// Writes the files of results into a folder beside the trajectories, each named by its content, and counts results.
#[derive(Default)]
pub(crate) struct ResultFiles {
    /// The folder; `None` if files stay in the results.
    folder: Option<MediaFolder>,
    /// The folder as people see it.
    shown: String,
    /// The size of all results as JSON, in bytes.
    bytes: usize,
    /// The number of files whose data cannot be read, or that are not where a result says; both stay as they are.
    left: usize,
}

impl ResultFiles {
    /// The files of trajectories that are written to `out`; they stay in the results if `out` is not a plain file.
    pub(crate) fn beside(out: &Path) -> Self {
        if !is_plain(out) {
            return Self::inside();
        }
        let folder = out.with_file_name(FOLDER);
        let shown = visible(&folder.display().to_string(), false).into_owned();
        Self { folder: Some(MediaFolder::new(&folder, out)), shown, ..Self::default() }
    }

    /// The files of trajectories whose results keep them inside.
    pub(crate) fn inside() -> Self {
        Self::default()
    }

    /// The sizes of the results and of the files, in rows with labels.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = Vec::new();
        if self.bytes > 0 {
            rows.push(("results", size(self.bytes)));
        }
        if let Some(folder) = self.folder.as_ref().filter(|folder| folder.count() > 0) {
            let (count, bytes) = (counted(folder.count(), "file"), size(folder.bytes()));
            rows.push(("pictures", format!("{count}, {bytes}, in {}", self.shown)));
        }
        rows
    }

    /// A message about files that could not be read, if there are any.
    pub(crate) fn problem(&self) -> Option<String> {
        (self.left > 0).then(|| {
            let left = counted(self.left, "file");
            format!("{left} of results cannot be read, and only their names or data are kept, as they were")
        })
    }

    /// Writes the files of all results, and puts the names of the written files in place of their data or of their
    /// names in a run. `run` is the workspace in the run's folder, and the files of the run.
    ///
    /// # Errors
    /// A message if a file cannot be written.
    pub(crate) fn take(
        &mut self,
        trajectory: &mut Trajectory,
        run: Option<(&str, &MediaFiles)>,
    ) -> Result<(), String> {
        let calls = trajectory.steps.iter_mut().flat_map(|step| &mut step.calls);
        for result in calls.filter_map(|call| call.result.as_mut()) {
            let (mut moved, mut failed) = (Vec::new(), None);
            each_part_of(result, &mut |part| {
                if failed.is_none() {
                    match self.take_part(part, run) {
                        Ok(taken) => moved.extend(taken),
                        Err(reason) => failed = Some(reason),
                    }
                }
            });
            if let Some(reason) = failed {
                return Err(reason);
            }
            if let Json::Object(members) = result
                && let Some((_, structured)) = members.iter_mut().find(|(key, _)| key == "structuredContent")
            {
                rename(structured, &moved);
            }
            self.bytes += result.to_text(Keys::AsRead).len();
        }
        Ok(())
    }

    /// Writes the file of a part; returns its data with its name, if the data stood in the result.
    fn take_part(
        &mut self,
        part: &mut Json,
        run: Option<(&str, &MediaFiles)>,
    ) -> Result<Option<(String, String)>, String> {
        let (Some(folder), Json::Object(members)) = (&self.folder, part) else { return Ok(None) };
        let resource = members.iter().position(|(key, _)| key == "resource");
        let holder = match resource.map(|at| &mut members[at].1) {
            Some(Json::Object(inner)) => inner,
            Some(_) => return Ok(None),
            None => members,
        };
        let text = |keys: &[&str]| {
            holder.iter().position(|(key, value)| keys.contains(&key.as_str()) && value.as_str().is_some())
        };
        let (at, bytes) = if let Some(at) = text(&["data", "blob"]) {
            (at, holder[at].1.as_str().and_then(|data| decode(data).ok()))
        } else if let Some((at, (workspace, files))) = text(&["file"]).zip(run) {
            let kind = resource.is_none().then(|| kind_of(holder));
            let found = holder[at].1.as_str().and_then(|name| files.read(name, workspace, kind));
            (at, found.map(|(bytes, _)| bytes))
        } else {
            return Ok(None);
        };
        let Some(bytes) = bytes else {
            self.left += 1;
            return Ok(None);
        };
        let (file, _) = folder.keep(&bytes)?;
        let before = std::mem::replace(&mut holder[at], ("file".to_owned(), Json::String(file.clone())));
        match before {
            (key, Json::String(data)) if key != "file" => Ok(Some((data, file))),
            _ => Ok(None),
        }
    }
}

/// Puts the names of files in place of their data in structured content, where servers repeat it.
fn rename(value: &mut Json, moved: &[(String, String)]) {
    match value {
        Json::String(text) => {
            if let Some((_, file)) = moved.iter().find(|(data, _)| data == text) {
                *text = format!("[saved as {file}]");
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| rename(item, moved)),
        Json::Object(members) => members.iter_mut().for_each(|(_, member)| rename(member, moved)),
        _ => {}
    }
}
