//! The predictions of `m3 judge`: the runs of each task, with their images, and the files of their results.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use m3_images::task_image::{TaskImage, find, image_folders};
use m3_judge::reference::{JudgeTask, JudgedTask, RunSource};
use m3_support::text::shortened;
use m3_trajectory::Trajectory;

use crate::cli::common::{Failure, Printer, Result, input, nearest};
use crate::cli::judge::JudgeArgs;
use crate::cli::run::say_problems;
use crate::export::{MediaFiles, workspace};
use crate::result_files::ResultFiles;

/// The input of `m3 judge`.
#[derive(Default)]
pub(super) struct Inputs {
    /// The tasks in the order of their first runs.
    pub(super) tasks: Vec<JudgeTask>,
    /// The servers that calls name.
    pub(super) servers: BTreeSet<String>,
    /// All folders that are searched for images.
    pub(super) images: Vec<PathBuf>,
}

/// The files that the arguments name: a folder of `m3 run` stands for the predictions of all its repetitions.
pub(super) fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(of_folder(path)?);
        } else {
            files.push(path.clone());
        }
    }
    if files.iter().filter(|path| path.as_path() == Path::new("-")).count() > 1 {
        return Err(Failure::input("`-` (standard input) can stand for one of the files only"));
    }
    Ok(files)
}

/// The files `predictions.json`, `predictions-2.json` and so on of a folder, by their numbers, or else the folder itself.
fn of_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = |cause: std::io::Error| {
        let message =
            format!("failed to read the folder `{}`: {cause}\nhint: check its rights", folder.display());
        Failure::input(message)
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if let Some(repeat) = path.file_name().and_then(|name| repeat_of(&name.to_string_lossy())) {
            files.push((repeat, path));
        }
    }
    // Another folder holds traces, which are read together.
    if files.is_empty() {
        files.push((1, folder.to_owned()));
    }
    files.sort();
    Ok(files.into_iter().map(|(_, path)| path).collect())
}

/// The number of the repetition whose predictions a file has; `None` for other files.
fn repeat_of(name: &str) -> Option<u32> {
    match name.strip_prefix("predictions")?.strip_suffix(".json")? {
        "" => Some(1),
        number => number.strip_prefix('-')?.parse().ok().filter(|repeat| *repeat > 1),
    }
}

/// Opens all files and collects their runs by task.
pub(super) fn open(args: &JudgeArgs, files: &[PathBuf], printer: Printer) -> Result<Inputs> {
    let images = input::image_folders(args.images.as_ref(), Vec::new)?;
    let inputs = Inputs { images, ..Inputs::default() };
    let mut gathered = JudgeInputs { inputs, ..JudgeInputs::default() };
    for path in files {
        gathered.add(args, path, printer)?;
    }
    gathered.finish(args)
}

#[derive(Default)]
struct JudgeInputs {
    inputs: Inputs,
    /// The index of each id in the tasks.
    places: HashMap<String, usize>,
    /// Ids that are not selected, for a hint.
    others: BTreeSet<String>,
    /// Images that were found, so that an image that many runs show is read once.
    found: HashMap<PathBuf, TaskImage>,
    problems: Vec<String>,
}

impl JudgeInputs {
    fn add(&mut self, args: &JudgeArgs, path: &Path, printer: Printer) -> Result {
        let file = Rc::new(input::open_predicted(path, printer)?);
        let folders = input::image_folders(args.images.as_ref(), || image_folders(path))?;
        for folder in &folders {
            if !self.inputs.images.contains(folder) {
                self.inputs.images.push(folder.clone());
            }
        }
        let bar = printer.bar();
        for index in 0..file.len() {
            bar.set("reading", index as u64, file.len() as u64);
            let trajectory = file.read(index)?;
            if !args.id.is_empty() && !args.id.contains(&trajectory.id) {
                self.others.insert(trajectory.id);
                continue;
            }
            let servers = trajectory.calls().filter_map(|(_, call)| call.tool.split_once('/'));
            self.inputs.servers.extend(servers.map(|(server, _)| server.to_owned()));
            let image = self.image(args, &trajectory, &folders);
            let run = RunSource { file: Rc::clone(&file), index, image };
            if let Some(place) = self.places.get(&trajectory.id) {
                self.inputs.tasks[*place].runs.push(run);
            } else {
                self.places.insert(trajectory.id.clone(), self.inputs.tasks.len());
                self.inputs.tasks.push(JudgeTask { id: trajectory.id, runs: vec![run] });
            }
        }
        Ok(())
    }

    /// The image of a run. If a judge should see it, it must exist; otherwise it is used by the replay if it exists.
    fn image(&mut self, args: &JudgeArgs, trajectory: &Trajectory, folders: &[PathBuf]) -> Option<TaskImage> {
        if args.rules_only && args.verify.is_none() {
            return None;
        }
        match find(trajectory.image.as_deref()?, folders, &mut self.found) {
            Ok(image) => Some(image),
            Err(problem) if !args.rules_only => {
                self.problems.push(format!("task `{}`: {problem}", shortened(&trajectory.id, 100)));
                None
            }
            Err(_) => None,
        }
    }

    fn finish(mut self, args: &JudgeArgs) -> Result<Inputs> {
        if let Some(id) = args.id.iter().find(|id| !self.places.contains_key(*id)) {
            let known: Vec<&str> = self.others.iter().map(String::as_str).collect();
            return Err(Failure::input(format!(
                "there is no run of the task `{}`{}",
                shortened(id, 100),
                nearest(id, &known)
            )));
        }
        self.problems.dedup();
        if self.problems.is_empty() { Ok(self.inputs) } else { Err(say_problems(&self.problems)) }
    }
}

/// The path of each run's file, by the id of the task; `None` for standard input.
pub(super) struct Runs(HashMap<String, Vec<Option<PathBuf>>>);

impl Runs {
    pub(super) fn of(inputs: &Inputs) -> Self {
        let path = |run: &RunSource| run.file.path().map(Path::to_owned);
        let paths = |task: &JudgeTask| task.runs.iter().map(path).collect();
        Self(inputs.tasks.iter().map(|task| (task.id.clone(), paths(task))).collect())
    }

    /// Copies the files that results of references name from the runs into a folder beside the references.
    pub(super) fn keep_files(&self, references: &mut [&mut JudgedTask], out: &Path) -> Result<ResultFiles> {
        let mut files = ResultFiles::beside(out);
        let mut media: HashMap<PathBuf, MediaFiles> = HashMap::new();
        for JudgedTask { trajectory, provenance } in references.iter_mut().map(|task| &mut **task) {
            let chosen = provenance.chosen.unwrap_or_default();
            let path = self.0.get(&trajectory.id).and_then(|runs| runs.get(chosen)?.clone());
            let workspace = workspace(&trajectory.id, provenance.runs.get(chosen).and_then(|run| run.repeat));
            let run = path.map(|path| {
                &*media.entry(path).or_insert_with_key(|path| MediaFiles::beside(path, Vec::new()))
            });
            files.take(trajectory, run.map(|run| (workspace.as_str(), run))).map_err(Failure::unavailable)?;
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_a_run_stands_for_its_repetitions_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "predictions-10.json",
            "predictions.json",
            "predictions-2.json",
            "predictions-x.json",
            "journal.jsonl",
        ] {
            std::fs::write(folder.path().join(name), "[]").unwrap();
        }
        std::fs::create_dir(folder.path().join("predictions")).unwrap();
        let found = files(&[folder.path().to_owned(), PathBuf::from("other.json")]).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["predictions.json", "predictions-2.json", "predictions-10.json", "other.json"]);
        assert!(files(&[PathBuf::from("-"), PathBuf::from("-")]).is_err());
        let other = folder.path().join("predictions");
        assert_eq!(files(std::slice::from_ref(&other)).unwrap(), [other]);
    }
}
