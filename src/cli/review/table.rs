//! Imports decisions of people from a CSV table.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use m3_judge::review::arrangement::Rules;
use m3_judge::review::{DecideError, Reviews, read_table};
use m3_support::text::counted;

use crate::cli::common::failure::{Failure, code};
use crate::cli::common::printer::Printer;

/// The largest table that is read, in bytes: `--export` writes no larger one.
const MAX_TABLE: u64 = 256 << 20;

/// The most problems of a table that are printed one by one.
const SHOWN_PROBLEMS: usize = 50;

/// Makes all decisions of a table, but none of them if the table has a problem.
pub(super) fn import(
    table: &Path,
    reviews: &mut Reviews,
    rules: &Rules,
    name: &str,
    printer: Printer,
) -> Result<(), Failure> {
    let shown = table.display();
    let unreadable =
        |cause: io::Error| Failure::new(code::INPUT, format!("failed to read `{shown}`: {cause}"));
    let reader: Box<dyn io::Read> = match table {
        path if path == Path::new("-") => Box::new(io::stdin()),
        path => Box::new(File::open(path).map_err(unreadable)?),
    };
    let changes = match read_table(reviews, rules, reader.take(MAX_TABLE)) {
        Ok(changes) => changes,
        Err(wrong) => {
            for problem in wrong.iter().take(SHOWN_PROBLEMS) {
                Printer::error(&format!("{shown}: {problem}"));
            }
            let more = wrong.len().saturating_sub(SHOWN_PROBLEMS);
            let more = if more > 0 { format!("{more} more; ") } else { String::new() };
            let message =
                format!("{more}nothing was decided\nhint: mend the lines and import the file again");
            return Err(Failure::new(code::INPUT, message));
        }
    };
    let count = changes.len();
    let late = changes.decide(reviews, name).map_err(|error| match error {
        DecideError::Store(error) => error.into(),
        error => Failure::new(code::INPUT, error.to_string()),
    })?;
    for problem in &late {
        Printer::error(&format!("{shown}: {problem}"));
    }
    printer.note(&format!("{} decided", counted(count - late.len(), "reference")));
    if late.is_empty() { Ok(()) } else { Err(Failure::silent(code::FAILED)) }
}
