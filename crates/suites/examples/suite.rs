//! Scores predictions with a suite and writes a line of JSON for each: for comparing with the program of a benchmark.
//!
//! ```text
//! cargo run -p m3-suites --example suite -- NAME REFERENCES PREDICTIONS [CATALOG]
//! ```

use std::error::Error;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use m3_suites::{ChosenSuite, Trial, Values};
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::{Json, Keys};
use m3_trajectory::{Duplicates, TrajectoryFile};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (name, references, predictions, catalog) = match arguments.as_slice() {
        [name, references, predictions] => (name, references, predictions, None),
        [name, references, predictions, catalog] => (name, references, predictions, Some(catalog)),
        _ => return Err("wanted: NAME REFERENCES PREDICTIONS [CATALOG]".into()),
    };
    let catalog = catalog.map(|path| Catalog::open(Path::new(path))).transpose()?;
    let chosen: ChosenSuite = name.parse()?;
    let mut scorer = chosen.open(catalog.as_ref());
    let references = TrajectoryFile::open(Path::new(references), Duplicates::Error)?;
    let predictions = TrajectoryFile::open_all(Path::new(predictions), &mut |_, _| {})?;
    let mut out = BufWriter::new(std::io::stdout().lock());
    for index in 0..predictions.len() {
        let prediction = predictions.look_at(index)?;
        let Some(reference) = references.find(&prediction.id) else { continue };
        let values = scorer.trial(&Trial::new(&*references.look_at(reference)?, Some(&*prediction), 1));
        writeln!(out, "{}", line("id", &prediction.id, &values))?;
    }
    let result = scorer.finish();
    writeln!(out, "{}", line("set", chosen.suite.name, &result.aggregate))?;
    for group in &result.groups {
        writeln!(out, "{}", line(group.by, &group.name, &group.values))?;
    }
    for note in &result.notes {
        writeln!(out, "{}", line("note", note, &Values::default()))?;
    }
    Ok(())
}

/// What is scored, its values and what is said in words.
fn line(kind: &str, name: &str, values: &Values) -> String {
    let text = |text: &str| Json::String(text.to_owned());
    let numbers =
        values.iter().map(|(name, value)| (name.to_owned(), value.map_or(Json::Null, Json::Float))).collect();
    let labels =
        values.labels().map(|(name, label)| (name.to_owned(), label.map_or(Json::Null, text))).collect();
    let members = vec![
        (kind.to_owned(), text(name)),
        ("values".to_owned(), Json::Object(numbers)),
        ("labels".to_owned(), Json::Object(labels)),
    ];
    Json::Object(members).to_text(Keys::AsRead)
}
