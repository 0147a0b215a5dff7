//! `m3 agree`

use std::path::{Path, PathBuf};

use clap::Args;
use m3_judge::grade::PeopleLabels;
use m3_report::agree::{AgreeReport, ScoredModel, agree_picture, agree_sheets, read_scored};
use m3_support::files::write_atomically;
use m3_support::text::counted;

use super::failure::{Failure, code};
use super::output::refuse_equal;
use super::printer::Printer;
use super::results::{NamedFile, TablesArgs, number_names, png_of};

/// Options of `m3 agree`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AgreeArgs {
    /// Results of `m3 score --suite .. --format json`, one of each model; NAME=FILE names it
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<NamedFile>,
    /// Metric of a suite to compare instead of its first, such as mcpagentbench.tefs; repeatable
    #[arg(long, value_name = "SUITE.METRIC")]
    metric: Vec<String>,
    /// What people say of a model's trials, as `m3 grade --labels` reads it: NAME=FILE with the model's name; with
    /// repetitions once for each, in their order
    #[arg(long, value_name = "NAME=FILE")]
    labels: Vec<NamedFile>,
    /// Also draw the places of the models by each suite into this file, .svg or .png
    #[arg(long, value_name = "FILE", value_parser = parse_picture)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    tables: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 agree gpt-5.json glm-4.6.json claude=sonnet.json
  m3 agree *.json --metric mcpagentbench.tefs --picture agree.svg
  m3 agree gpt-5.json glm.json --labels gpt-5=people.csv --labels glm=people-glm.csv
  m3 agree *.json --out agree.html

Each result comes from one model, scored with:
  m3 score predictions.json references.json --suite mcpagentbench --suite bfcl --out MODEL.json";

fn parse_picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("the name should end in .svg or .png".to_owned()),
    }
}

/// Says how far suites agree.
pub(super) fn run(args: &AgreeArgs, printer: Printer) -> Result<(), Failure> {
    let inputs: Vec<&Path> =
        args.results.iter().chain(&args.labels).map(|file| file.path.as_path()).collect();
    refuse_equal(&inputs, args.picture.as_deref().as_slice())?;
    let (mut models, mut errors) = (Vec::new(), Vec::new());
    for file in &args.results {
        match read_scored(&file.path, file.name.as_deref()) {
            Ok(model) => models.push(model),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if !errors.is_empty() {
        return Err(Failure::new(code::INPUT, errors.join("\n")));
    }
    number_names(models.iter_mut().map(|model| &mut model.name));
    for file in &args.labels {
        add_labels(&mut models, file, printer)?;
    }
    let mut output = args.tables.form.open(&inputs, printer)?;
    let report = AgreeReport::new(&models, &args.metric, &args.tables.draws())
        .map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
    if models.len() < 3 {
        printer.warn("with fewer than three models the order of the models says little");
    }
    args.tables.form.write(&report, || agree_sheets(&report), &mut output, printer)?;
    output.commit()?;
    args.picture.as_deref().map_or(Ok(()), |path| draw(&agree_picture(&report), path))
}

/// Reads what people say of the next repetition of a model.
fn add_labels(models: &mut [ScoredModel], file: &NamedFile, printer: Printer) -> Result<(), Failure> {
    let invalid = |message: String| Failure::new(code::INPUT, message);
    let names = || models.iter().map(|model| model.name.as_str()).collect::<Vec<_>>().join(", ");
    let Some(name) = &file.name else {
        let path = file.path.display();
        return Err(invalid(format!(
            "`--labels {path}` says of no model\nhint: `--labels NAME={path}`, of {}",
            names()
        )));
    };
    if models.iter().all(|model| model.name != *name) {
        return Err(invalid(format!(
            "`--labels {name}=..`: no model is called so\nhint: there are {}",
            names()
        )));
    }
    let labels = PeopleLabels::read(&file.path).map_err(|error| invalid(error.to_string()))?;
    let verdicts = labels.verdicts(m3_report::agree::PASS_MARK);
    if verdicts.is_empty() {
        let path = file.path.display();
        printer.warn(&format!(
            "`{path}`: no trial is right or wrong for most people, so nothing is compared with them"
        ));
    }
    for model in models.iter_mut().filter(|model| model.name == *name) {
        let unknown = verdicts.keys().filter(|id| model.trajectories.iter().all(|it| it.id != **id)).count();
        if unknown > 0 {
            let (path, count) = (file.path.display(), counted(unknown, "label"));
            printer.warn(&format!("`{path}`: {count} of ids that `{name}` does not have"));
        }
        model.people.push(verdicts.iter().map(|(id, right)| ((*id).to_owned(), *right)).collect());
    }
    Ok(())
}

fn draw(svg: &str, path: &Path) -> Result<(), Failure> {
    let is_png = path.extension().is_some_and(|ending| ending == "png");
    let bytes = if is_png { png_of(svg)? } else { svg.as_bytes().to_vec() };
    write_atomically(path, &bytes).map_err(|cause| Failure::output(&format!("`{}`", path.display()), &cause))
}
