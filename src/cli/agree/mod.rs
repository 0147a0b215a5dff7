//! The command `m3 agree`: how far suites agree, and which metric predicts success.

mod labels;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use m3_report::Picture;
use m3_report::agree::{AgreeReport, LabelsReport, agree_picture, agree_sheets, read_scored};

use crate::cli::common::{
    Failure, NamedFile, Output, Printer, Result, TablesArgs, all_or_errors, commit_all, number_names, png_of,
    refuse_equal,
};

/// Options of `m3 agree`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AgreeArgs {
    /// Results of `m3 score --format json`, one for each model; NAME=FILE names it. Without --labels with --suite
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<NamedFile>,
    /// Metric of a suite to compare instead of its first, such as mcpagentbench.tefs; repeatable
    #[arg(long, value_name = "SUITE.METRIC")]
    metric: Vec<String>,
    /// Labels of success, `id` and `pass` (or `success`) in JSON, JSON Lines or CSV: says which metric predicts it.
    /// NAME=FILE with the model's name, or FILE where each label names its model as `run`; with repetitions once for
    /// each, in their order
    #[arg(long, value_name = "[NAME=]FILE")]
    labels: Vec<NamedFile>,
    /// Also draw the places of the models by each suite into this file, .svg or .png; with labels the area of each
    /// metric and the reliability of the verdict
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
  m3 agree *.json --labels labels.jsonl --picture success.png    # which number predicts success?
  m3 agree *.json --out agree.html

Each result comes from one model, scored with:
  m3 score predictions.json references.json --suite mcpagentbench --suite bfcl --out MODEL.json

A line of labels.jsonl, where MODEL.json has the trajectory:
  {\"run\": \"MODEL\", \"id\": \"task-1\", \"pass\": true}";

fn parse_picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("svg" | "png") => Ok(path),
        _ => Err("the name should end in .svg or .png".to_owned()),
    }
}

/// Reports how far suites agree.
pub(super) fn run(args: &AgreeArgs, printer: Printer) -> Result {
    let inputs: Vec<&Path> =
        args.results.iter().chain(&args.labels).map(|file| file.path.as_path()).collect();
    refuse_equal(&inputs, args.picture.as_deref().as_slice())?;
    let mut models = all_or_errors(
        args.results
            .iter()
            .map(|file| read_scored(&file.path, file.name.as_deref()).map_err(|error| error.to_string())),
    )?;
    number_names(models.iter_mut().map(|model| &mut model.name));
    let mut labels = LabelsReport::default();
    for file in &args.labels {
        labels::add_labels(&mut models, file, &mut labels, printer)?;
    }
    let mut output = args.tables.form.open(&inputs, printer)?;
    let kept: Vec<&Path> = inputs.iter().copied().chain(args.tables.form.out.as_deref()).collect();
    let picture = args.picture.as_deref().map(|path| Output::open(Some(path), &kept, printer)).transpose()?;
    let report = AgreeReport::new(&models, &args.metric, labels, &args.tables.draws.draws())
        .map_err(Failure::input)?;
    if models.len() < 3 {
        printer.warn("with fewer than three models the order of the models says little");
    }
    let pictures = || {
        let of_success = report.success.as_ref();
        of_success
            .map(|_| Picture { name: "success".to_owned(), svg: agree_picture(&report) })
            .into_iter()
            .collect()
    };
    let sheets = || agree_sheets(&report);
    args.tables.form.write_with_pictures(&report, sheets, pictures, &mut output, printer)?;
    let picture = match (args.picture.as_deref(), picture) {
        (Some(path), Some(picture)) => Some(drawn(&agree_picture(&report), path, picture)?),
        _ => None,
    };
    commit_all([output].into_iter().chain(picture))
}

/// Draws a picture in the form that the ending of its path names.
fn drawn(svg: &str, path: &Path, mut picture: Output) -> Result<Output> {
    let is_png = path.extension().is_some_and(|ending| ending == "png");
    let bytes = if is_png { png_of(svg)? } else { svg.as_bytes().to_vec() };
    picture.write_all(&bytes)?;
    Ok(picture)
}
