//! The command `m3 leaderboard`: ranks models by their scores.

use std::path::{Path, PathBuf};

use clap::Args;
use m3_report::leaderboard::{Leaderboard, ModelReport, PublishedTable, column_named, column_names};
use m3_report::{Picture, PictureChoice, leaderboard_pictures, leaderboard_sheets, shortened};
use m3_score::Metric;
use m3_support::files::write_atomically;
use m3_support::text::counted;

use crate::cli::common::{Failure, NamedFile, Printer, Result, SelectArgs, TablesArgs, png_of, read_all};

/// Options of `m3 leaderboard`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct LeaderboardArgs {
    /// Results of `m3 score --format json`, or NAME=FILE to name the model; CSV tables of finished numbers
    #[arg(required = true, value_name = "RESULT")]
    results: Vec<NamedFile>,
    #[command(flatten)]
    selection: SelectArgs,
    /// Set the models beside a published table, marked, without intervals and tests; m3-bench is table 2 of M3-Bench;
    /// repeatable
    #[arg(long, value_name = "TABLE", value_parser = PublishedTable::named)]
    beside: Vec<&'static PublishedTable>,
    /// Metric that ranks the models and distinguishes them, such as verdict
    #[arg(long, value_name = "METRIC", default_value = "average", value_parser = parse_metric)]
    rank_by: Metric,
    /// Add a table for each type of task
    #[arg(long)]
    by_type: bool,
    /// Also draw the leaderboard, types of task, outcomes and similarities into this folder, as SVG and PNG
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Metric of the figure of types of task
    #[arg(long, value_name = "METRIC", default_value = "average", value_parser = parse_metric)]
    figure_metric: Metric,
    /// Model in the figure of types of task; repeatable [default: the best eight]
    #[arg(long, value_name = "MODEL", requires = "figures")]
    figure_model: Vec<String>,
    #[command(flatten)]
    tables: TablesArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 leaderboard gpt-5.json gemini-2.5-pro.json qwen=results/run7.json
  m3 leaderboard *.json --by-type --format markdown
  m3 leaderboard mine.json --beside m3-bench --out leaderboard.html
  m3 leaderboard table.csv mine.json
  m3 leaderboard *.json --rank-by verdict
  m3 leaderboard *.json --figures figures/

Each result comes from one model, scored with:
  m3 score predictions.json references.json --out MODEL.json";

/// Ranks models.
pub(super) fn run(args: &LeaderboardArgs, printer: Printer) -> Result {
    let mut beside = args.beside.clone();
    beside.dedup();
    let models = read_all(&args.results, &beside)?;
    let selection = args.selection.select(&models)?;
    let inputs: Vec<&Path> = args.results.iter().map(|file| file.path.as_path()).collect();
    let mut output = args.tables.form.open(&inputs, printer)?;
    let board = Leaderboard::new(&models, selection.as_ref(), args.rank_by, &args.tables.draws.draws())
        .map_err(Failure::input)?;
    check_ranking(args.rank_by, &board)?;
    if let Some(folder) = &args.figures {
        std::fs::create_dir_all(folder).map_err(Failure::at(folder))?;
    }
    let choice = PictureChoice { metric: args.figure_metric, models: args.figure_model.clone() };
    check_names(&choice.models, &board)?;
    let sheets = || leaderboard_sheets(&board, args.by_type);
    let pictures = || leaderboard_pictures(&board, &models, selection.as_ref(), &choice);
    args.tables.form.write_with_pictures(&board, sheets, pictures, &mut output, printer)?;
    output.commit()?;
    match &args.figures {
        Some(folder) => draw(&pictures(), folder, printer),
        None => Ok(()),
    }
}

/// Fails if the metric that ranks is not known of a model that was scored: it would have no place among the others.
fn check_ranking(metric: Metric, board: &Leaderboard) -> Result {
    let is_unknown = |row: &&ModelReport| {
        let value = row.metric(metric.name()).map(|estimate| estimate.value);
        row.group.is_some() && value.is_none_or(f64::is_nan)
    };
    let Some(row) = board.models.iter().find(is_unknown).filter(|_| metric != Metric::Average) else {
        return Ok(());
    };
    let (model, metric) = (shortened(&row.model, 40), metric.name());
    Err(Failure::input(format!("`{model}` has no `{metric}`, so `--rank-by {metric}` cannot rank it")))
}

/// Fails if a named model is not in the leaderboard.
fn check_names(names: &[String], board: &Leaderboard) -> Result {
    let is_known = |name: &&String| board.models.iter().any(|row| row.model == **name);
    let Some(unknown) = names.iter().find(|name| !is_known(name)) else { return Ok(()) };
    let quoted = |name: &str| format!("`{}`", shortened(name, 40));
    let known: Vec<String> = board.models.iter().map(|row| quoted(&row.model)).collect();
    Err(Failure::input(format!(
        "no model is called {}\nhint: there are {}",
        quoted(unknown),
        known.join(", ")
    )))
}

pub(super) fn parse_metric(text: &str) -> Result<Metric, String> {
    column_named(text).ok_or_else(|| format!("`{text}` is no metric; these are: {}", column_names()))
}

/// Writes each picture twice, as SVG and as PNG.
pub(super) fn draw(pictures: &[Picture], folder: &Path, printer: Printer) -> Result {
    for picture in pictures {
        let png = png_of(&picture.svg)?;
        for (ending, content) in [("svg", picture.svg.as_bytes()), ("png", &png)] {
            let path = folder.join(format!("{}.{ending}", picture.name));
            write_atomically(&path, content).map_err(Failure::at(&path))?;
        }
    }
    printer.note(&format!("{} in `{}`", counted(pictures.len(), "figure"), folder.display()));
    Ok(())
}
