//! Opens the tasks and checks everything that can be wrong with them before anything is sent.

use std::collections::{HashMap, HashSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use m3_executor::Instruction;
use m3_executor::run::picture_limits;
use m3_images::task_image::TaskImage;
use m3_images::task_image::{find, image_folders};
use m3_llm::{Model, Pictures};
use m3_support::text::{counted, shortened};
use m3_trajectory::json::Json;
use m3_trajectory::{Duplicates, Problems, Severity, Task, TrajectoryFile};

use super::RunArgs;
use crate::cli::common::{Failure, Printer, Result, code, input, nearest};

/// A task that can be run.
pub(super) struct CheckedTask {
    pub(super) task: Task,
    pub(super) image: Option<TaskImage>,
    pub(super) is_selected: bool,
}

/// The most problems that are printed one by one; the others are counted.
const SHOWN: usize = 50;

/// Opens the tasks and checks the selected ones. All problems are reported.
pub(super) fn open(
    args: &RunArgs,
    model: &Model,
    pictures: &Pictures,
    printer: Printer,
) -> Result<Vec<CheckedTask>> {
    let (tasks, mut problems) = read(args)?;
    let is_selected = match select(args, &tasks) {
        // The selected tasks may be among those that cannot be read.
        Err(_) if !problems.is_empty() => return Err(say_problems(&problems)),
        selected => selected?,
    };
    let folders = input::image_folders(args.images.as_ref(), || image_folders(&args.tasks))?;
    say_instruction(
        args,
        tasks.iter().zip(&is_selected).filter(|(_, is)| **is).map(|(task, _)| task),
        printer,
    );
    let mut files = HashMap::new();
    let mut checked = Vec::with_capacity(tasks.len());
    for (task, is_selected) in tasks.into_iter().zip(is_selected) {
        let image = match (task.image.as_deref().filter(|_| !args.asking.no_images), task.get("image")) {
            (Some(image), _) => find(image, &folders, &mut files).map(Some),
            // An `image` that is not a path is a problem of the task.
            (None, Some(other)) if *other != Json::Null && !args.asking.no_images => {
                Err(format!("`image` should be a path, and is {}", other.kind()))
            }
            _ => Ok(None),
        };
        let image = image.unwrap_or_else(|problem| {
            if is_selected {
                problems.push(of_task(&task, &problem));
            }
            None
        });
        checked.push(CheckedTask { task, image, is_selected });
    }
    problems.extend(unusable(&checked, args, model, pictures, printer));
    if problems.is_empty() { Ok(checked) } else { Err(say_problems(&problems)) }
}

/// Prints problems one by one; returns the failure for bad input.
pub(crate) fn say_problems(problems: &[String]) -> Failure {
    for problem in problems.iter().take(SHOWN) {
        Printer::error(problem);
    }
    if problems.len() > SHOWN {
        Printer::error(&counted(problems.len() - SHOWN, "more problem"));
    }
    Failure::silent(code::INPUT)
}

pub(super) fn of_task(task: &Task, problem: &str) -> String {
    format!("task `{}`: {problem}", shortened(&task.id, 100))
}

/// Reads all readable tasks of the file, and returns the problems of the file: no two tasks may have the same id.
fn read(args: &RunArgs) -> Result<(Vec<Task>, Vec<String>)> {
    let file = TrajectoryFile::scan_tasks(&args.tasks, Duplicates::Last)?;
    if file.has_steps() {
        return Err(Failure::input(format!(
            "`{}` has trajectories, not tasks\nhint: a task has `id`, `image` and `question`, and no `steps`",
            file.name()
        )));
    }
    let errors = file.problems().iter().filter(|problem| problem.severity == Severity::Error);
    let mut problems: Vec<String> = errors.map(ToString::to_string).collect();
    problems.extend(file.duplicates().iter().take(Problems::KEPT).map(|duplicate| {
        let id = shortened(&duplicate.id, 100);
        format!(
            "{}: the id `{id}` stands more than once, and each task needs one of its own\nhint: remove or rename the \
             others",
            file.name()
        )
    }));
    let tasks = (0..file.len()).map(|index| Ok(file.read_task(index)?)).collect::<Result<_>>()?;
    Ok((tasks, problems))
}

/// Selects the tasks to run.
fn select(args: &RunArgs, tasks: &[Task]) -> Result<Vec<bool>> {
    let known: HashSet<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
    if let Some(id) = args.id.iter().find(|id| !known.contains(id.as_str())) {
        let known: Vec<&str> = tasks.iter().map(|task| task.id.as_str()).collect();
        return Err(Failure::input(format!(
            "there is no task `{}`{}",
            shortened(id, 100),
            nearest(id, &known)
        )));
    }
    let is_of_type = |task: &Task| args.task_type.is_none() || task.task_type == args.task_type;
    let is_wanted = |task: &Task| args.id.is_empty() || args.id.contains(&task.id);
    let selected: Vec<bool> = tasks.iter().map(|task| is_of_type(task) && is_wanted(task)).collect();
    if !selected.contains(&true) {
        let mut types: Vec<&str> = tasks.iter().filter_map(|task| task.task_type.as_deref()).collect();
        types.sort_unstable();
        types.dedup();
        let types: Vec<String> =
            types.iter().take(20).map(|name| format!("`{}`", shortened(name, 40))).collect();
        let hint = match types.as_slice() {
            [] => "no task has a type".to_owned(),
            types => format!("the types are {}", types.join(", ")),
        };
        return Err(Failure::input(format!("no task is selected\nhint: {hint}")));
    }
    Ok(selected)
}

/// The problems with images of selected tasks: each image is prepared exactly as it will be sent.
fn unusable(
    checked: &[CheckedTask],
    args: &RunArgs,
    model: &Model,
    pictures: &Pictures,
    printer: Printer,
) -> Vec<String> {
    let limits = picture_limits(model, &args.options());
    let mut seen = HashSet::new();
    let selected: Vec<(&CheckedTask, &TaskImage)> = checked
        .iter()
        .filter(|task| task.is_selected)
        .filter_map(|task| Some((task, task.image.as_ref()?)))
        .filter(|(_, image)| seen.insert(image.source()))
        .collect();
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let problems = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(4);
    let work = || {
        while let Some((index, (task, image))) = {
            let index = next.fetch_add(1, Ordering::Relaxed);
            selected.get(index).map(|task| (index, *task))
        } {
            let problem = match pictures.get(image.source(), &limits) {
                Err(error) => Some(error.to_string()),
                Ok(_) if image.hash().is_none() => {
                    Some(format!("failed to read `{}` again", image.source().display()))
                }
                Ok(_) => None,
            };
            if let Some(problem) = problem
                && let Ok(mut problems) = problems.lock()
            {
                problems.push((index, of_task(&task.task, &problem)));
            }
            done.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let bar = printer.bar();
        while working.iter().any(|thread| !thread.is_finished()) {
            bar.set("checking images", done.load(Ordering::Relaxed) as u64, selected.len() as u64);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    });
    let mut problems = problems.into_inner().unwrap_or_default();
    problems.sort_unstable();
    problems.into_iter().map(|(_, problem)| problem).collect()
}

/// Reports how many tasks lack the wanted text, so that the other one is used.
fn say_instruction<'a>(args: &RunArgs, tasks: impl Iterator<Item = &'a Task>, printer: Printer) {
    let (wanted, other) = match args.options().instruction {
        Instruction::Question => ("question", "prompt"),
        Instruction::Prompt => ("prompt", "question"),
    };
    let is_missing = |text: Option<&String>| text.is_none_or(|text| text.trim().is_empty());
    let lacks = |task: &Task| match args.options().instruction {
        Instruction::Question => is_missing(task.question.as_ref()) && !is_missing(task.prompt.as_ref()),
        Instruction::Prompt => is_missing(task.prompt.as_ref()) && !is_missing(task.question.as_ref()),
    };
    let count = tasks.filter(|task| lacks(task)).count();
    if count > 0 {
        let (tasks, have, their) =
            if count == 1 { ("task", "has", "its") } else { ("tasks", "have", "their") };
        printer.note(&format!("{count} {tasks} {have} no `{wanted}`; {their} `{other}` is used"));
    }
}
