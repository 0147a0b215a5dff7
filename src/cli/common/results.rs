//! Shared parts of `m3 leaderboard` and `m3 compare`: naming and reading results, drawing, JSON.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Args, ValueEnum};
use m3_figures::to_png;
use m3_report::leaderboard::{ModelResult, PublishedTable, SelectOptions, Selection, read_results, select};
use m3_report::{Picture, Sheet, SheetForm, json_without_hidden, write_page, write_sheets};
use m3_stats::Draws;
use serde::Serialize;

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::output::{Output, WidthArgs, form};
use crate::cli::common::printer::Printer;

/// A file that the command line names, and its name if it has one: `FILE` or `NAME=FILE`.
#[derive(Debug, Clone)]
pub(crate) struct NamedFile {
    pub(crate) name: Option<String>,
    pub(crate) path: PathBuf,
}

impl FromStr for NamedFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // If a file whose name contains `=` exists, the text is this name.
        match text.split_once('=') {
            Some((name, path)) if !name.is_empty() && !path.is_empty() && !Path::new(text).exists() => {
                Ok(Self { name: Some(name.to_owned()), path: path.into() })
            }
            _ => Ok(Self { name: None, path: text.into() }),
        }
    }
}

/// Options that allow the comparison of results with different tasks or references.
#[derive(Debug, Args)]
pub(crate) struct SelectArgs {
    /// Compare only the tasks that all results have, instead of refusing results with different tasks
    #[arg(long)]
    intersect: bool,
    /// Compare results that were scored against different references; the report says so
    #[arg(long)]
    allow_different_references: bool,
}

impl SelectArgs {
    /// Selects the trajectories to compare.
    pub(crate) fn select<'a>(&self, models: &'a [ModelResult]) -> Result<Option<Selection<'a>>> {
        let options = SelectOptions {
            intersects: self.intersect,
            allows_different_references: self.allow_different_references,
        };
        select(models, options).map_err(Failure::input)
    }
}

/// Options of the resampling for intervals and tests.
#[derive(Debug, Args)]
pub(crate) struct DrawsArgs {
    /// Resamples for intervals, and permutations for tests
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(100..=1_000_000))]
    resamples: u32,
    /// Seed of the resamples: the same seed gives the same intervals on any machine
    #[arg(long, value_name = "N", default_value_t = Draws::default().seed)]
    seed: u64,
}

/// Options of the resampling for intervals and tests, and of the form of tables.
#[derive(Debug, Args)]
pub(crate) struct TablesArgs {
    #[command(flatten)]
    pub(crate) draws: DrawsArgs,
    #[command(flatten)]
    pub(crate) form: FormArgs,
}

/// Options of the form of tables and of their target.
#[derive(Debug, Args)]
pub(crate) struct FormArgs {
    /// Form of the tables [default: by the file extension of --out, else table]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    width: WidthArgs,
}

/// The form of tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// For people
    Table,
    /// Everything, with intervals
    Json,
    /// For a pull request
    Markdown,
    /// The first table and others with its columns, as numbers; notes go to standard error
    Csv,
    /// A page
    Html,
    /// For a paper
    Latex,
}

impl FormatArg {
    /// The form of tables; `None` for JSON.
    fn sheets(self, columns: usize, is_styled: bool) -> Option<SheetForm> {
        match self {
            Self::Table => Some(SheetForm::Terminal { columns, is_styled }),
            Self::Json => None,
            Self::Markdown => Some(SheetForm::Markdown),
            Self::Csv => Some(SheetForm::Csv),
            Self::Html => Some(SheetForm::Html),
            Self::Latex => Some(SheetForm::Latex),
        }
    }

    /// Writes a report as JSON, or else as tables.
    pub(crate) fn write(
        self,
        report: &impl Serialize,
        sheets: impl FnOnce() -> Vec<Sheet>,
        (output, width): (&mut Output, &WidthArgs),
        printer: Printer,
    ) -> io::Result<()> {
        let columns = width.columns(output);
        let Some(form) = self.sheets(columns, output.is_styled()) else { return write_json(report, output) };
        let sheets = sheets();
        if form == SheetForm::Csv {
            // CSV has no place for notes, so they go to standard error.
            sheets.iter().flat_map(|sheet| &sheet.notes).for_each(|note| printer.note(note));
        }
        write_sheets(form, &sheets, output)
    }
}

impl DrawsArgs {
    pub(crate) fn draws(&self) -> Draws {
        Draws { count: self.resamples as usize, seed: self.seed, ..Draws::default() }
    }
}

impl FormArgs {
    /// Whether the report goes to standard output.
    pub(crate) fn is_to_standard_output(&self) -> bool {
        self.out.as_deref().is_none_or(|path| path == Path::new("-"))
    }

    /// Opens the target of the tables.
    pub(crate) fn open(&self, inputs: &[&Path], printer: Printer) -> Result<Output> {
        let output = Output::open(self.out.as_deref(), inputs, printer)?;
        self.form()?;
        Ok(output)
    }

    fn form(&self) -> Result<FormatArg> {
        form(self.format, self.out.as_deref())
    }

    /// Writes a report as JSON, or else as tables.
    pub(crate) fn write(
        &self,
        report: &impl Serialize,
        sheets: impl FnOnce() -> Vec<Sheet>,
        output: &mut Output,
        printer: Printer,
    ) -> Result {
        self.write_with_pictures(report, sheets, Vec::new, output, printer)
    }

    /// Writes a report as JSON, or else as tables; in a page, figures stand under them.
    pub(crate) fn write_with_pictures(
        &self,
        report: &impl Serialize,
        sheets: impl FnOnce() -> Vec<Sheet>,
        pictures: impl FnOnce() -> Vec<Picture>,
        output: &mut Output,
        printer: Printer,
    ) -> Result {
        let written = match self.form()? {
            FormatArg::Html => {
                let pictures = pictures();
                let figures: Vec<(&str, &str)> =
                    pictures.iter().map(|picture| (picture.name.as_str(), picture.svg.as_str())).collect();
                write_page(&sheets(), &figures, output)
            }
            form => form.write(report, sheets, (output, &self.width), printer),
        };
        written.map_err(Failure::from)
    }
}

/// Reads all results and the published tables that stand beside them; the errors of all are reported at once. Models with
/// the same name get a number.
pub(crate) fn read_all(files: &[NamedFile], beside: &[&'static PublishedTable]) -> Result<Vec<ModelResult>> {
    let results = files
        .iter()
        .map(|file| read_results(&file.path, file.name.as_deref()).map_err(|error| error.to_string()));
    let tables = beside.iter().map(|table| {
        table.models().map_err(|error| format!("the published table `{}`: {error}", table.name))
    });
    let mut models: Vec<ModelResult> = all_or_errors(results.chain(tables))?.into_iter().flatten().collect();
    // Models of a published table are marked, and keep their names.
    number_names(models.iter_mut().filter(|model| model.published.is_none()).map(|model| &mut model.name));
    Ok(models)
}

/// The values of all results, or the errors of all at once.
pub(crate) fn all_or_errors<T>(results: impl Iterator<Item = Result<T, String>>) -> Result<Vec<T>> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(Failure::input(errors.join("\n"))) }
}

/// Adds a number to each name that occurred before.
pub(crate) fn number_names<'n>(names: impl Iterator<Item = &'n mut String>) {
    let mut taken: HashSet<String> = HashSet::new();
    for name in names {
        let own = name.clone();
        let mut number = 1;
        while !taken.insert(name.clone()) {
            number += 1;
            *name = format!("{own} ({number})");
        }
    }
}

/// Pixels of a PNG per unit of a figure, which is 800 units wide.
const SCALE: f32 = 2.0;

/// Converts a figure from SVG to PNG.
pub(crate) fn png_of(svg: &str) -> Result<Vec<u8>> {
    to_png(svg, SCALE).map_err(|error| Failure::unavailable(format!("failed to draw a figure: {error}")))
}

/// Writes a report as indented JSON.
pub(crate) fn write_json(report: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(report)?;
    writeln!(out, "{}", json_without_hidden(&text))?;
    out.flush()
}
