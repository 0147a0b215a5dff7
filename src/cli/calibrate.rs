//! The command `m3 calibrate`: chooses thresholds from people's labels.

use std::path::{Path, PathBuf};

use clap::Args;
use m3_embedding::Embedder;
use m3_judge::labels::LabelsError;
use m3_score::{Metric, Profile, ScoreOptions, Serializer, Thresholds};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{Duplicates, TrajectoryFile};

use super::Common;
use crate::calibrate::{
    CalibrationReport, MajorityError, MajorityLabels, SensitivityReport, calibrate, similarities,
};
use crate::cli::common::{EncoderArgs, Failure, Printer, Result, TablesArgs, input};
use crate::cli::leaderboard::draw;
use crate::report::{calibration_picture, calibration_sheets};

/// Options of `m3 calibrate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CalibrateArgs {
    /// Pairs of calls that people have labelled, as `m3 review --label` writes them
    labels: PathBuf,
    /// Definitions: how arguments are serialized before they are embedded
    #[arg(long, value_enum, default_value_t = Profile::Paper)]
    profile: Profile,
    /// Catalog of tools: optional arguments that say nothing are then ignored (profile paper)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Predictions whose scores are shown for the thresholds
    #[arg(long, value_name = "FILE", requires = "reference")]
    pred: Option<PathBuf>,
    /// The references of these predictions
    #[arg(long = "ref", value_name = "FILE", requires = "pred")]
    reference: Option<PathBuf>,
    /// Also draw agreement by both thresholds into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    #[command(flatten)]
    tables: TablesArgs,
    #[command(flatten)]
    encoder: EncoderArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 calibrate labels.json
  m3 calibrate labels.json --figures figures --out calibration.json
  m3 calibrate labels.json --pred predictions.json --ref references.json

docs/calibrate.md explains the labels and what is recommended. To score with other thresholds:
  m3 score predictions.json references.json --tau-weak 0.55 --tau-strong 0.82";

/// Chooses thresholds from people's labels.
pub(super) fn run(args: &CalibrateArgs, common: &Common, printer: Printer) -> Result {
    let labels = MajorityLabels::read(&args.labels)?;
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let profile = args.profile;
    let files = match (&args.pred, &args.reference) {
        (Some(pred), Some(reference)) => {
            Some(input::open_all([pred.as_path(), reference.as_path()], Duplicates::Error, printer)?)
        }
        _ => None,
    };
    let inputs = [Some(&args.labels), args.pred.as_ref(), args.reference.as_ref(), args.tools.as_ref()];
    let inputs: Vec<&Path> = inputs.into_iter().flatten().map(PathBuf::as_path).collect();
    let mut output = args.tables.form.open(&inputs, printer)?;
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder).map_err(Failure::at(folder))?;
    }
    let mut embedder = args.encoder.open(common.assets()?, printer)?;
    let serializer = Serializer::new(profile, catalog.as_ref());
    let mut progress = printer.progress("embedding");
    let measured = similarities(&labels.pairs, &serializer, &mut embedder, &mut progress)?;
    drop(progress);
    let report = calibrate(&labels, &measured, profile, embedder.identity(), &args.tables.draws.draws());
    let mut report = report.ok_or_else(|| Failure::input("there is no pair to choose thresholds by"))?;
    if let Some([predictions, references]) = &files {
        let options = ScoreOptions { profile, catalog: catalog.as_ref(), ..ScoreOptions::default() };
        report.sensitivity = sensitivity(&report, predictions, references, options, &mut embedder, printer)?;
    }
    embedder.take_warnings().iter().for_each(|warning| printer.warn(warning));
    args.tables.form.write(&report, || calibration_sheets(&report), &mut output, printer)?;
    output.commit()?;
    match &args.figures {
        Some(folder) => draw(&[calibration_picture(&report)], folder, printer),
        None => Ok(()),
    }
}

/// Scores the predictions once for each pair of thresholds.
fn sensitivity(
    report: &CalibrationReport,
    predictions: &TrajectoryFile,
    references: &TrajectoryFile,
    options: ScoreOptions<'_>,
    embedder: &mut Embedder,
    printer: Printer,
) -> Result<Vec<SensitivityReport>> {
    let mut chosen = vec![
        ("recommended", report.recommended.weak, report.recommended.strong),
        ("default", report.default.weak, report.default.strong),
    ];
    if let (Some(weak), Some(strong)) = (report.weak_interval, report.strong_interval) {
        chosen.push(("low end", weak.low, strong.low));
        chosen.push(("high end", weak.high, strong.high));
    }
    let mut counts = Vec::new();
    for (name, weak, strong) in chosen {
        // The ends come from different resamples and may be in the wrong order.
        let (weak, strong) = (weak.min(strong).clamp(0.0, 1.0), strong.max(weak).clamp(0.0, 1.0));
        let options =
            ScoreOptions { thresholds: Thresholds::new(weak, strong).map_err(Failure::input)?, ..options };
        let summary = m3_score::score::<Failure>(
            predictions,
            references,
            options,
            embedder,
            &mut |_| Ok(()),
            &mut printer.progress("scoring"),
        )?;
        let metrics = summary.aggregate.metrics(options.profile);
        counts.push(SensitivityReport {
            name: name.to_owned(),
            weak,
            strong,
            recall: metrics[Metric::Recall],
            argument_similarity: metrics[Metric::ArgumentSimilarity],
            average: metrics[Metric::Average],
        });
    }
    Ok(counts)
}

impl From<MajorityError> for Failure {
    fn from(error: MajorityError) -> Self {
        match error {
            MajorityError::Labels(LabelsError::File(error)) => error.into(),
            error => Self::input(error),
        }
    }
}
