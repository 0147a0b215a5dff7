//! Reads a table of finished numbers, such as the paper's table 2: CSV with a column `model` and a column for each
//! metric. Such models have neither intervals nor types. An average in the table is used unchanged.

use std::io::Read;

use m3_score::Metric;

use super::columns::{column_named, column_names};
use super::{ModelResult, Numbers};

/// The most rows of a table.
const MAX_ROWS: usize = 10_000;

/// Reads all rows; the error says what is wrong and where.
pub(super) fn read(reader: impl Read, file: &str) -> Result<Vec<ModelResult>, String> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(reader);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let model = header
        .iter()
        .position(|name| name.trim_start_matches('\u{feff}').eq_ignore_ascii_case("model"))
        .ok_or("there is no column `model`")?;
    let columns: Vec<Option<Metric>> = header.iter().map(column_named).collect();
    check_columns(&header, &columns, model)?;
    let mut models = Vec::new();
    for (index, record) in reader.records().enumerate() {
        let line = index + 2;
        let record = record.map_err(|error| format!("line {line}: {error}"))?;
        let name = record.get(model).unwrap_or_default();
        if name.is_empty() {
            return Err(format!("line {line}: the model has no name"));
        }
        let mut row = [None; Metric::COUNT];
        for (metric, text) in columns.iter().zip(&record) {
            let Some(metric) = metric else { continue };
            row[metric.index()] =
                number(text).map_err(|message| format!("line {line}, {}: {message}", metric.name()))?;
        }
        let (name, file) = (name.to_owned(), file.to_owned());
        models.push(ModelResult { name, file, published: None, numbers: Numbers::Row(row) });
        if models.len() > MAX_ROWS {
            return Err(format!("it has more than {MAX_ROWS} rows"));
        }
    }
    if models.is_empty() { Err("it has no rows".to_owned()) } else { Ok(models) }
}

/// Checks the names of columns: a misspelt one would silently be left out of every average.
fn check_columns(header: &csv::StringRecord, columns: &[Option<Metric>], model: usize) -> Result<(), String> {
    if columns.iter().flatten().next().is_none() {
        return Err("no column is named like a metric".to_owned());
    }
    for (index, (name, column)) in header.iter().zip(columns).enumerate() {
        match column {
            None if index != model => {
                let names = column_names();
                return Err(format!("the column `{name}` is no metric; remove it, or rename it: {names}"));
            }
            Some(metric) if columns[..index].contains(&Some(*metric)) => {
                return Err(format!("the column `{}` stands twice", metric.name()));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The value of a metric; an empty cell, `-` and `n/a` mean that there is none.
fn number(text: &str) -> Result<Option<f64>, String> {
    if ["", "-", "–", "n/a", "N/A"].contains(&text) {
        return Ok(None);
    }
    match text.parse::<f64>() {
        Ok(value) if (0.0..=1.0).contains(&value) => Ok(Some(value)),
        Ok(value) => Err(format!("{value} should be in [0, 1]")),
        Err(_) => Err(format!("`{text}` is no number")),
    }
}
