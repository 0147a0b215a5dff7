//! What `m3 grade` grades: predictions with their references and images.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

use super::GradeArgs;
use crate::cli::failure::{Failure, code};
use crate::cli::input::image_folder;
use crate::cli::printer::Printer;
use crate::images::bytes_of;
use crate::judge::grade::{GradedSubject, Subject, TaskPicture};
use crate::report::audit::image_folders;
use crate::task_image::{led_out_of, locate};
use crate::text::{counted, hexadecimal, shortened};
use crate::trajectory::{SourceError, Trajectory, TrajectoryFile};

/// What is graded.
pub(super) struct Sources<'a> {
    predictions: &'a TrajectoryFile,
    references: Option<&'a TrajectoryFile>,
    /// The tasks, in the order of the predictions.
    pub(super) subjects: Vec<GradedSubject>,
    /// By the path that the task gives.
    pictures: HashMap<String, TaskPicture>,
}

impl<'a> Sources<'a> {
    /// Looks for the images of all tasks; an image is never left out in silence.
    pub(super) fn open(
        args: &GradeArgs,
        predictions: &'a TrajectoryFile,
        references: Option<&'a TrajectoryFile>,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let folders = match &args.images {
            Some(folder) => vec![image_folder(folder)?],
            None => image_folders(&args.predictions),
        };
        let mut sources = Self { predictions, references, subjects: Vec::new(), pictures: HashMap::new() };
        let mut alone = 0;
        let mut problems = Vec::new();
        for index in 0..predictions.len() {
            let prediction = predictions.read(index)?;
            let reference = sources.reference(&prediction.id)?;
            alone += usize::from(reference.is_none());
            let of_reference = reference.and_then(|reference| reference.task_type);
            sources
                .subjects
                .push(GradedSubject { task_type: of_reference.or(prediction.task_type), id: prediction.id });
            let Some(image) = prediction.image.filter(|_| !args.no_images) else { continue };
            if let Entry::Vacant(vacant) = sources.pictures.entry(image) {
                match picture(vacant.key(), &folders) {
                    Ok(found) => {
                        vacant.insert(found);
                    }
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if !problems.is_empty() {
            problems.sort();
            problems.dedup();
            problems.iter().take(20).for_each(|problem| Printer::error(problem));
            let hint = "hint: `--images DIR` names the images' folder, `--no-images` grades without them";
            let count = counted(problems.len(), "image");
            return Err(Failure::new(code::INPUT, format!("{count} cannot be shown to judges\n{hint}")));
        }
        if references.is_some() && alone > 0 {
            printer.warn(&format!(
                "{} without a reference: what needs one is not asked there",
                counted(alone, "prediction")
            ));
        }
        Ok(sources)
    }

    fn reference(&self, id: &str) -> Result<Option<Trajectory>, SourceError> {
        let Some(references) = self.references else { return Ok(None) };
        references.find(id).map(|index| references.read(index)).transpose()
    }

    /// What judges are shown of a task.
    pub(super) fn subject(&self, index: usize) -> Result<Subject, SourceError> {
        let prediction = self.predictions.read(index)?;
        let reference = self.reference(&prediction.id)?;
        let picture = prediction.image.as_ref().and_then(|image| self.pictures.get(image)).cloned();
        Ok(Subject { prediction, reference, picture })
    }
}

/// The file of an image, and its hash.
fn picture(image: &str, folders: &[PathBuf]) -> Result<TaskPicture, String> {
    let shown = shortened(image, 200);
    let Some(path) = locate(image, folders) else {
        return Err(match led_out_of(image, folders) {
            Some(_) => {
                format!("the image `{shown}` is a link that leads out of its folder, and is not followed")
            }
            None => format!("the image `{shown}` is not found"),
        });
    };
    let bytes = bytes_of(&path).map_err(|error| format!("the image `{shown}` cannot be used: {error}"))?;
    let sha256 = hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(&bytes));
    Ok(TaskPicture { path, sha256 })
}
