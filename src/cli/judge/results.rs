//! The results of calls in the runs that references are made from.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use m3_judge::reference::{JudgedTask, RunSource};

use super::inputs::Inputs;
use crate::cli::common::failure::{Failure, code};
use crate::export::{MediaFiles, workspace};
use crate::result_files::ResultFiles;

/// The path of each run's file, by the id of the task; `None` for standard input.
pub(super) struct Runs(HashMap<String, Vec<Option<PathBuf>>>);

impl Runs {
    pub(super) fn of(inputs: &Inputs) -> Self {
        let path = |run: &RunSource| run.file.path().map(Path::to_owned);
        let paths = |task: &m3_judge::reference::JudgeTask| task.runs.iter().map(path).collect();
        Self(inputs.tasks.iter().map(|task| (task.id.clone(), paths(task))).collect())
    }

    /// Copies the files that results of references name from the runs into a folder beside the references.
    pub(super) fn keep_files(
        &self,
        references: &mut [&mut JudgedTask],
        out: &Path,
    ) -> Result<ResultFiles, Failure> {
        let mut files = ResultFiles::beside(out);
        let mut media: HashMap<PathBuf, MediaFiles> = HashMap::new();
        for JudgedTask { trajectory, provenance } in references.iter_mut().map(|task| &mut **task) {
            let chosen = provenance.chosen.unwrap_or_default();
            let path = self.0.get(&trajectory.id).and_then(|runs| runs.get(chosen)?.clone());
            let workspace = workspace(&trajectory.id, provenance.runs.get(chosen).and_then(|run| run.repeat));
            let run = path.map(|path| {
                &*media.entry(path).or_insert_with_key(|path| MediaFiles::beside(path, Vec::new()))
            });
            let taken = files.take(trajectory, run.map(|run| (workspace.as_str(), run)));
            taken.map_err(|message| Failure::new(code::UNAVAILABLE, message))?;
        }
        Ok(files)
    }
}
