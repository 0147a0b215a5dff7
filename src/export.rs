//! Media of trajectories that are exported: the data of files that parts of results name, and of the task's image.

use std::path::{Path, PathBuf};

use m3_images::media::{Kind, Media};
use m3_images::task_image::locate;
use m3_support::task_files::task_file_name;
use m3_support::workspace::Workspace;
use m3_traces::encode;
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;

use crate::import::MediaFolder;

/// The folders that have the media of a file of trajectories.
pub(crate) struct MediaFiles {
    /// The folder of the file, and that of the run.
    folders: Vec<Workspace>,
    /// The folders that tasks' images are looked for in.
    images: Vec<PathBuf>,
    /// The number of files that were missing, or not of the expected kind.
    pub(crate) missing: u64,
}

impl MediaFiles {
    /// The media of a file of trajectories. Results may name files in its folder or in the run's, but none outside.
    pub(crate) fn beside(trajectories: &Path, images: Vec<PathBuf>) -> Self {
        let folder = trajectories.canonicalize().ok().and_then(|path| path.parent().map(Path::to_owned));
        // `m3 run` also writes each prediction into a folder of its own.
        let of_one = |folder: &&PathBuf| folder.ends_with("predictions") || folder.ends_with("interrupted");
        let run = folder.as_ref().filter(of_one).and_then(|folder| folder.parent().map(Path::to_owned));
        let folders = folder.into_iter().chain(run).filter_map(|folder| Workspace::new(&folder).ok());
        Self { folders: folders.collect(), images, missing: 0 }
    }

    /// Puts the data of files in place of their names.
    pub(crate) fn put_in(&mut self, trajectory: &mut Trajectory) {
        let workspace = workspace(&trajectory.id, trajectory.repeat());
        each_part(trajectory, &mut |part| self.put_into(part, &workspace));
        self.put_image(trajectory, &workspace);
    }

    /// Puts the data of a part's file in place of its name.
    fn put_into(&mut self, part: &mut Json, workspace: &str) {
        let is_resource = text(part, "type") == Some("resource");
        let Json::Object(members) = part else { return };
        let holder = if is_resource {
            match members.iter_mut().find(|(key, _)| key == "resource") {
                Some((_, Json::Object(inner))) => inner,
                _ => return,
            }
        } else {
            members
        };
        let Some(at) = holder.iter().position(|(key, value)| key == "file" && value.as_str().is_some())
        else {
            return;
        };
        let kind = if is_resource { None } else { Some(kind_of(holder)) };
        let name = holder[at].1.as_str().unwrap_or_default();
        let Some((data, media)) = self.encoded(name, workspace, kind) else {
            self.missing += 1;
            return;
        };
        holder[at] = (if is_resource { "blob" } else { "data" }.to_owned(), Json::String(data));
        if !holder.iter().any(|(key, _)| key == "mimeType") {
            holder.push(("mimeType".to_owned(), Json::String(media.mime_type.to_owned())));
        }
    }

    /// Adds the data of the task's image, unless the trajectory holds the images that the model was shown.
    fn put_image(&mut self, trajectory: &mut Trajectory, workspace: &str) {
        let Some(image) = trajectory.image.clone().filter(|image| !image.contains("://")) else { return };
        let images = trajectory.extra.iter_mut().find(|(key, _)| key == "images");
        let is_part = |image: &Json| text(image, "type").is_some();
        if images.as_ref().is_some_and(|(_, images)| images.items().iter().any(is_part)) {
            return;
        }
        let found = self.encoded(&image, workspace, Some(Kind::Image)).or_else(|| {
            let path = locate(&image, &self.images)?;
            bytes_of(&path, Some(Kind::Image)).map(|(bytes, media)| (encode(&bytes), media))
        });
        let Some((data, media)) = found else {
            self.missing += 1;
            return;
        };
        let member = |key: &str, value: &str| (key.to_owned(), Json::String(value.to_owned()));
        let part = Json::Object(vec![
            member("type", "image"),
            ("data".to_owned(), Json::String(data)),
            member("mimeType", media.mime_type),
        ]);
        trajectory.extra.retain(|(key, _)| key != "images");
        trajectory.extra.push(("images".to_owned(), Json::Array(vec![part])));
    }

    fn encoded(&self, name: &str, workspace: &str, kind: Option<Kind>) -> Option<(String, Media)> {
        self.read(name, workspace, kind).map(|(bytes, media)| (encode(&bytes), media))
    }

    /// Reads a file of a trajectory's workspace, or of the folder.
    pub(crate) fn read(&self, name: &str, workspace: &str, kind: Option<Kind>) -> Option<(Vec<u8>, Media)> {
        let in_workspace = format!("{workspace}/{name}");
        let names = [in_workspace.as_str(), name];
        let mut found =
            names.iter().flat_map(|name| self.folders.iter().filter_map(|folder| folder.file(name).ok()));
        bytes_of(&found.next()?, kind)
    }
}

/// The folder in which a run worked on a task, relative to the run's folder.
pub(crate) fn workspace(id: &str, repeat: Option<u64>) -> String {
    let repeat = repeat.and_then(|repeat| u32::try_from(repeat).ok()).unwrap_or(1);
    format!("workspaces/{}", task_file_name(id, repeat))
}

/// Writes the data of all parts into files, for formats that can hold pictures only as files.
///
/// # Errors
/// A message if a file cannot be written.
pub(crate) fn put_out(trajectory: &mut Trajectory, folder: &MediaFolder) -> Result<(), String> {
    let mut failed = None;
    each_part(trajectory, &mut |part| {
        if failed.is_none() {
            failed = folder.take(part).err();
        }
    });
    failed.map_or(Ok(()), Err)
}

/// The bytes of a file, if it is of this kind: a picture that a trajectory names should not be any other file.
fn bytes_of(path: &Path, kind: Option<Kind>) -> Option<(Vec<u8>, Media)> {
    let bytes = m3_images::bytes_of(path).ok()?;
    let media = Media::from_bytes(&bytes);
    let is_it = kind.is_none_or(|kind| kind == Kind::Other || kind == media.kind);
    is_it.then_some((bytes, media))
}

/// The kind of file that a part of a result is.
pub(crate) fn kind_of(part: &[(String, Json)]) -> Kind {
    match part.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| kind.as_str()) {
        Some("image") => Kind::Image,
        Some("audio") => Kind::Audio,
        _ => Kind::Other,
    }
}

/// Calls `each` with every part of a result, and of the images that the model was shown first.
fn each_part(trajectory: &mut Trajectory, each: &mut dyn FnMut(&mut Json)) {
    for call in trajectory.steps.iter_mut().flat_map(|step| &mut step.calls) {
        call.result.iter_mut().for_each(|result| each_part_of(result, each));
    }
    let images = trajectory.extra.iter_mut().find(|(key, _)| key == "images").map(|(_, images)| images);
    if let Some(images) = images {
        parts_of(images, each);
    }
}

/// Calls `each` with every part of a result.
pub(crate) fn each_part_of(result: &mut Json, each: &mut dyn FnMut(&mut Json)) {
    let parts = match result {
        Json::Object(members) => {
            members.iter_mut().find(|(key, _)| key == "content").map(|(_, content)| content)
        }
        other => Some(other),
    };
    if let Some(parts) = parts {
        parts_of(parts, each);
    }
}

/// Calls `each` with the parts of a list, if every item has a type of parts: lists of files look similar.
fn parts_of(list: &mut Json, each: &mut dyn FnMut(&mut Json)) {
    const TYPES: [&str; 6] = ["text", "image", "audio", "file", "resource", "resource_link"];
    if let Json::Array(parts) = list
        && parts.iter().all(|part| text(part, "type").is_some_and(|kind| TYPES.contains(&kind)))
    {
        parts.iter_mut().for_each(each);
    }
}

fn text<'j>(value: &'j Json, key: &str) -> Option<&'j str> {
    value.get(key).and_then(Json::as_str)
}

#[cfg(test)]
mod tests {
    use m3_trajectory::{Call, Step};

    use super::*;

    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";

    fn with(id: &str, parts: Vec<Json>) -> Trajectory {
        let call = Call {
            tool: "a".to_owned(),
            arguments: None,
            result: Some(Json::Object(vec![("content".to_owned(), Json::Array(parts))])),
            extra: Vec::new(),
        };
        let steps = vec![Step { calls: vec![call], ..Step::default() }];
        Trajectory { id: id.to_owned(), steps, ..Trajectory::default() }
    }

    fn picture(file: &str) -> Json {
        let member = |key: &str, value: &str| (key.to_owned(), Json::String(value.to_owned()));
        Json::Object(vec![member("type", "image"), member("file", file)])
    }

    fn datas(trajectory: &mut Trajectory) -> Vec<bool> {
        let mut found = Vec::new();
        each_part(trajectory, &mut |part| found.push(part.get("data").is_some()));
        found
    }

    #[test]
    fn files_are_of_the_workspace_or_of_the_folder_and_never_outside() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        std::fs::create_dir_all(run.join("workspaces/a")).unwrap();
        std::fs::create_dir_all(run.join("predictions")).unwrap();
        for name in ["outside.png", "run/beside.png", "run/workspaces/a/in.png"] {
            std::fs::write(folder.path().join(name), PNG).unwrap();
        }
        std::fs::write(run.join("key.png"), "secret").unwrap();
        let outside = folder.path().join("outside.png");
        #[cfg(unix)]
        std::os::unix::fs::symlink(&outside, run.join("link.png")).unwrap();
        let names =
            ["in.png", "beside.png", "../outside.png", outside.to_str().unwrap(), "link.png", "key.png", ""];
        for place in ["predictions.json", "predictions/a.json"] {
            let path = run.join(place);
            std::fs::write(&path, "[]").unwrap();
            let mut files = MediaFiles::beside(&path, Vec::new());
            let mut trajectory = with("a", names.iter().map(|name| picture(name)).collect());
            files.put_in(&mut trajectory);
            assert_eq!(datas(&mut trajectory), [true, true, false, false, false, false, false], "{place}");
            assert_eq!(files.missing, 5);
        }
        // Another task has another workspace.
        let mut files = MediaFiles::beside(&run.join("predictions.json"), Vec::new());
        let mut other = with("b", vec![picture("in.png")]);
        files.put_in(&mut other);
        assert_eq!((datas(&mut other), files.missing), (vec![false], 1));
    }

    #[test]
    fn the_tasks_image_is_one() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("p.json"), "[]").unwrap();
        std::fs::write(folder.path().join("a.png"), PNG).unwrap();
        std::fs::write(folder.path().join("key"), "secret").unwrap();
        for (image, is_found) in [("a.png", true), ("key", false), ("b.png", false)] {
            let mut files = MediaFiles::beside(&folder.path().join("p.json"), vec![folder.path().to_owned()]);
            let mut trajectory = Trajectory { image: Some(image.to_owned()), ..with("a", Vec::new()) };
            files.put_in(&mut trajectory);
            assert_eq!(datas(&mut trajectory), vec![true; usize::from(is_found)], "{image}");
            assert_eq!(files.missing, u64::from(!is_found));
        }
    }
}
