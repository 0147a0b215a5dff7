//! Scores lines of standard input, each `{"reference": .., "prediction": ..}`, by a suite, and prints the values of each: what
//! `crates/suites/compare/bfcl.py` sets beside the installed `bfcl-eval`.

use std::io::{BufRead as _, Write as _};

use m3_suites::{ChosenSuite, Trial};
use m3_trajectory::json::{Json, Keys, parse};
use m3_trajectory::{Duplicates, Trajectory, TrajectoryFile};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let chosen: ChosenSuite = std::env::args().nth(1).unwrap_or_else(|| "bfcl".to_owned()).parse()?;
    let folder = tempfile::tempdir()?;
    let read = |value: &Json| -> Result<Trajectory, Box<dyn std::error::Error>> {
        let path = folder.path().join("one.json");
        std::fs::write(&path, value.to_text(Keys::AsRead))?;
        Ok(TrajectoryFile::open(&path, Duplicates::Last)?.read(0)?)
    };
    for line in std::io::stdin().lock().lines() {
        let (value, _) = parse(line?.as_bytes()).map_err(|error| error.message)?;
        let part = |key: &str| read(value.get(key).ok_or("a part is missing")?);
        let (reference, prediction) = (part("reference")?, part("prediction")?);
        let mut scorer = chosen.open(None);
        let values = scorer.trial(&Trial::new(&reference, Some(&prediction), 1));
        let result = scorer.finish();
        let error = result.groups.iter().find(|group| group.by == "error").map_or("", |group| &group.name);
        let shown: Vec<String> =
            values.iter().map(|(name, value)| format!("{name}={}", value.unwrap_or(f64::NAN))).collect();
        writeln!(std::io::stdout(), "{} {error}", shown.join(" "))?;
    }
    Ok(())
}
