//! What `m3 grade` works with: predictions with their references and images, and the graders that are asked.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use m3_images::task_image::{TaskImage, find, image_folders};
use m3_judge::grade::{GradedSubject, GradedTasks, Grader, Panel, Subject, offered};
use m3_llm::Recorder;
use m3_support::text::{counted, on_one_line, shortened};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{SourceError, Trajectory, TrajectoryFile};

use crate::cli::common::{ByArg, Failure, Printer, Result, check_record, code, input, open_model, record};
use crate::cli::grade::GradeArgs;

/// The most problems that are reported one by one.
const SHOWN: usize = 20;

/// The input of `m3 grade`.
pub(super) struct Sources<'a> {
    predictions: &'a TrajectoryFile,
    references: Option<&'a TrajectoryFile>,
    /// The predictions in their order, and the references without a prediction.
    pub(super) tasks: GradedTasks,
    /// Images by the path in the task; empty if no judge is to see images.
    pictures: HashMap<String, TaskImage>,
    tools: Option<Arc<str>>,
}

impl<'a> Sources<'a> {
    /// Looks for the images of all tasks; a missing image is always reported.
    pub(super) fn open(
        args: &GradeArgs,
        predictions: &'a TrajectoryFile,
        references: Option<&'a TrajectoryFile>,
        printer: Printer,
    ) -> Result<Self> {
        let folders = input::image_folders(args.images.as_ref(), || args.image_folders())?;
        let tools = args.tools.as_deref().map(Catalog::open).transpose()?;
        let mut sources = Self {
            predictions,
            references,
            tasks: GradedTasks::default(),
            pictures: HashMap::new(),
            tools: tools.map(|catalog| offered(&catalog).into()),
        };
        let (mut known, mut problems) = (HashMap::new(), Vec::new());
        for index in 0..predictions.len() {
            let subject = sources.subject(index)?;
            if !args.no_images
                && let Some(image) = subject.image()
                && !sources.pictures.contains_key(image)
            {
                match readable(image, &folders, &mut known) {
                    Ok(found) => {
                        sources.pictures.insert(image.to_owned(), found);
                    }
                    Err(problem) => problems.push(problem),
                }
            }
            let Subject { prediction, reference, .. } = subject;
            if references.is_some() && reference.is_none() {
                sources.tasks.extra.push(prediction.id.clone());
            }
            let of_reference = reference.and_then(|reference| reference.task_type);
            let of_prediction = prediction.task_type.filter(|_| args.by == ByArg::Type);
            let task_type = of_reference.or(of_prediction);
            sources.tasks.subjects.push(GradedSubject { id: prediction.id, task_type });
        }
        say_problems(problems)?;
        sources.add_missing()?;
        if !sources.tasks.extra.is_empty() {
            printer.warn(&format!(
                "{} without a reference: what needs one is not asked there",
                counted(sources.tasks.extra.len(), "prediction")
            ));
        }
        Ok(sources)
    }

    /// Notes the references without a prediction.
    fn add_missing(&mut self) -> Result<(), SourceError> {
        let Some(references) = self.references else { return Ok(()) };
        self.tasks.references = Some(references.len());
        for index in 0..references.len() {
            let Trajectory { id, task_type, .. } = references.read(index)?;
            if self.predictions.find(&id).is_none() {
                self.tasks.missing.push(GradedSubject { id, task_type });
            }
        }
        Ok(())
    }

    fn reference(&self, id: &str) -> Result<Option<Trajectory>, SourceError> {
        let Some(references) = self.references else { return Ok(None) };
        references.find(id).map(|index| references.read(index)).transpose()
    }

    /// The data of a task for the judges.
    pub(super) fn subject(&self, index: usize) -> Result<Subject, SourceError> {
        let prediction = self.predictions.read(index)?;
        let reference = self.reference(&prediction.id)?;
        let mut subject = Subject { prediction, reference, picture: None, tools: self.tools.clone() };
        subject.picture = subject.image().and_then(|image| self.pictures.get(image)).cloned();
        Ok(subject)
    }
}

impl GradeArgs {
    /// The folders of both files, and the ones above them: the image of a reference may be beside the reference.
    fn image_folders(&self) -> Vec<PathBuf> {
        let mut folders = Vec::new();
        for file in self.references.as_deref().into_iter().chain([self.predictions.as_path()]) {
            for folder in image_folders(file) {
                if !folders.contains(&folder) {
                    folders.push(folder);
                }
            }
        }
        folders
    }
}

/// Finds an image and checks that its content can be read, because answers depend on it.
fn readable(
    image: &str,
    folders: &[PathBuf],
    known: &mut HashMap<PathBuf, TaskImage>,
) -> Result<TaskImage, String> {
    let file = find(image, folders, known)?;
    if file.hash().is_none() {
        return Err(format!("the image `{}` cannot be read, or has more than 64 MiB", shortened(image, 200)));
    }
    Ok(file)
}

fn say_problems(mut problems: Vec<String>) -> Result {
    if problems.is_empty() {
        return Ok(());
    }
    problems.sort();
    problems.dedup();
    problems.iter().take(SHOWN).for_each(|problem| Printer::error(problem));
    let hint = "hint: `--images DIR` names the images' folder, `--no-images` grades without them";
    let count = counted(problems.len(), "image");
    Err(Failure::input(format!("{count} cannot be shown to judges\n{hint}")))
}

/// Opens all graders. A grader that cannot be asked counts as missing; fails if none can be asked.
pub(super) fn open_panel(args: &GradeArgs, printer: Printer) -> Result<(Panel, Vec<Arc<Recorder>>)> {
    let mut named = args.no_images_for.iter().chain(args.llm_key_from.iter().map(|(judge, _)| judge));
    if let Some(unknown) = named.find(|name| !args.llm.contains(name)) {
        return Err(Failure::input(format!(
            "`{}` is not one of --llm\nhint: write it in the same way",
            shortened(unknown, 100)
        )));
    }
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder).map_err(Failure::at(folder))?;
    }
    let (mut graders, mut recorders): (Vec<Grader>, Vec<Arc<Recorder>>) = (Vec::new(), Vec::new());
    for (index, written) in args.llm.iter().enumerate() {
        let key = args.llm_key_from.iter().find(|(judge, _)| judge == written);
        let key = key.map(|(_, variable)| variable.as_str());
        let has_eyes = !args.no_images && !args.no_images_for.contains(written);
        let grader = match open_model(written, key, (args.workers.into(), None), printer) {
            Ok((model, played)) => {
                let path = args.record.as_ref().map(|folder| folder.join(cassette_name(index, model.name())));
                check_record(path.as_ref(), played.as_deref())?;
                let (model, recorder) = record(model, path.as_ref())?;
                recorders.extend(recorder);
                Grader { name: model.name().to_string(), model: Ok(model), has_eyes }
            }
            Err(failure) if failure.code == code::UNAVAILABLE => {
                let reason = failure.message.unwrap_or_default();
                printer.warn(&format!("the judge `{}` is missing: {reason}", shortened(written, 100)));
                Grader { name: written.clone(), model: Err(on_one_line(&reason)), has_eyes }
            }
            Err(failure) => return Err(failure),
        };
        if graders.iter().any(|other| other.name == grader.name) {
            return Err(Failure::input(format!(
                "the judge `{}` is named twice\nhint: `--repeat` asks judges more than once",
                grader.name
            )));
        }
        graders.push(grader);
    }
    if graders.iter().all(|grader| grader.model.is_err()) {
        return Err(Failure::unavailable("no judge can be asked"));
    }
    let rubric = args.rubric.0;
    let passes = args.repeat.unwrap_or(rubric.passes());
    let (settings, seed, workers) = (args.replies.settings(), args.order_seed, args.workers.into());
    let panel = Panel { graders, settings, rubric, passes, seed, workers };
    Ok((panel, recorders))
}

/// The file of a grader's cassette: the position in `--llm`, and the name with unusual characters replaced by `-`.
fn cassette_name(index: usize, name: &impl std::fmt::Display) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.to_string().chars().map(|c| if is_plain(c) { c } else { '-' }).take(80).collect();
    format!("{}-{name}.cassette", index + 1)
}
