//! Reads the rows of a file of labels, as JSON, JSON Lines or CSV. A row that cannot be read does not hide the others.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::Path;

use m3_support::text::shortened;
use m3_support::unpack::{UnpackedReader, is_packed};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::spreadsheet;

/// Larger files are not read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// One person's label for a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct PersonSays {
    /// The person's name; empty if the file has none.
    pub person: String,
    /// Whether the trajectory is good enough.
    pub pass: Option<bool>,
    /// How good the trajectory is, in [0, 1].
    pub score: Option<f64>,
    /// The measure, as a report names it; `None` for the main measure of a rubric's first aspect.
    pub measure: Option<String>,
}

/// A row of a file of labels.
#[derive(Debug)]
pub(super) struct LabelRow {
    /// The run that the label belongs to; empty if the row names none.
    pub(super) run: String,
    /// The id of the trajectory.
    pub(super) id: String,
    /// What the person says. The range of the score is not checked here.
    pub(super) says: PersonSays,
    /// Whether the run broke, or an imported file said nothing of it, so that the label says nothing of the model.
    pub(super) is_broken: bool,
}

/// A row in JSON.
#[derive(Deserialize)]
struct JsonRow {
    id: Cell,
    #[serde(default)]
    run: Option<Cell>,
    #[serde(default)]
    person: Option<String>,
    #[serde(default)]
    pass: Option<Cell>,
    #[serde(default)]
    success: Option<Cell>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    measure: Option<String>,
    #[serde(default)]
    broken: Option<Cell>,
    #[serde(default)]
    infra_error: Option<Cell>,
    /// The record of a trajectory that was imported, which has what its file said of success.
    #[serde(default)]
    import: Option<ImportRecord>,
}

#[derive(Deserialize)]
struct ImportRecord {
    label: Option<ImportedLabel>,
}

#[derive(Deserialize)]
struct ImportedLabel {
    pass: Option<bool>,
    score: Option<f64>,
}

/// The value of a row in one column.
#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, a number or a text")]
enum Cell {
    Known(bool),
    Number(serde_json::Number),
    Word(String),
}

impl Cell {
    fn text(self) -> String {
        match self {
            Self::Known(value) => value.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word,
        }
    }

    /// Reads the text of a cell as a verdict: whether it passes; `None` for an empty text.
    fn verdict(self) -> Result<Option<bool>, String> {
        let text = self.text();
        match text.trim().to_ascii_lowercase().as_str() {
            "" => Ok(None),
            "true" | "pass" | "yes" | "1" | "1.0" => Ok(Some(true)),
            "false" | "fail" | "no" | "0" | "0.0" => Ok(Some(false)),
            other => Err(format!("`{}` is neither pass nor fail", shortened(other, 40))),
        }
    }
}

impl JsonRow {
    fn read(self) -> Result<LabelRow, String> {
        let id = self.id.text();
        let verdict = |cell: Option<Cell>| {
            let verdict = cell.map(Cell::verdict).transpose().map(Option::flatten);
            verdict.map_err(|problem| format!("of `{}`, {problem}", shortened(&id, 100)))
        };
        let (pass, success) = (verdict(self.pass)?, verdict(self.success)?);
        let is_broken = verdict(self.broken)?.unwrap_or(false) || verdict(self.infra_error)?.unwrap_or(false);
        let imported = self.import.as_ref().and_then(|import| import.label.as_ref());
        // A file that said nothing of a trajectory does not say that it failed.
        let is_broken = is_broken || self.import.is_some() && imported.is_none();
        let says = PersonSays {
            person: self.person.unwrap_or_default(),
            pass: pass.or(success).or(imported.and_then(|label| label.pass)),
            score: self.score.or(imported.and_then(|label| label.score)),
            measure: self.measure.filter(|measure| !measure.is_empty()),
        };
        Ok(LabelRow { run: self.run.map(Cell::text).unwrap_or_default(), id, says, is_broken })
    }
}

/// Reads the rows of a file, which may be packed: CSV if its name ends in `.csv`, else a JSON list or
/// JSON Lines. For a row that cannot be read, the result has the problem in its place.
///
/// # Errors
/// The system's reason if the file cannot be read. A problem of the whole file's content is the inner error.
pub(super) fn read_rows(path: &Path) -> io::Result<Result<Vec<Result<LabelRow, String>>, String>> {
    let (mut bytes, mut file) = (Vec::new(), BufReader::new(File::open(path)?));
    let is_packed = is_packed(file.fill_buf()?);
    let name = if is_packed { path.with_extension("") } else { path.to_owned() };
    let content: &mut dyn Read = if is_packed { &mut UnpackedReader::new(file)? } else { &mut file };
    content.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    // `labels.csv.gz` is CSV, too.
    let is_csv =
        [path, &name].iter().any(|it| it.extension().is_some_and(|it| it.eq_ignore_ascii_case("csv")));
    Ok(if is_csv { of_csv(&bytes) } else { of_json(&bytes) })
}

fn of_json(bytes: &[u8]) -> Result<Vec<Result<LabelRow, String>>, String> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let row = |(at, text): (usize, &[u8])| {
        let row = serde_json::from_slice::<JsonRow>(text);
        row.map_err(|error| format!("label {}: {error}", at + 1)).and_then(JsonRow::read)
    };
    if bytes.trim_ascii_start().starts_with(b"[") {
        let rows: Vec<&RawValue> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        return Ok(rows.iter().map(|text| text.get().as_bytes()).enumerate().map(row).collect());
    }
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    Ok(lines.enumerate().map(row).collect())
}

fn of_csv(bytes: &[u8]) -> Result<Vec<Result<LabelRow, String>>, String> {
    let text = spreadsheet::decoded(bytes)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(spreadsheet::delimiter(&text))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let heads = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| heads.iter().position(|head| head.eq_ignore_ascii_case(name));
    let id = column("id").ok_or("it has no column `id`")?;
    let (run, person, pass, success) = (column("run"), column("person"), column("pass"), column("success"));
    let (score, measure, broken) =
        (column("score"), column("measure"), column("broken").or(column("infra_error")));
    let row = |record: csv::StringRecord| {
        let cell = |column: Option<usize>| {
            column.and_then(|at| record.get(at)).filter(|cell| !cell.is_empty()).map(str::to_owned)
        };
        let number = |cell: String| {
            let number = cell.parse::<f64>();
            number.map_err(|_| format!("the score `{}` is no number", shortened(&cell, 40)))
        };
        let row = JsonRow {
            id: Cell::Word(cell(Some(id)).unwrap_or_default()),
            run: cell(run).map(Cell::Word),
            person: cell(person),
            pass: cell(pass).map(Cell::Word),
            success: cell(success).map(Cell::Word),
            score: cell(score).map(number).transpose()?,
            measure: cell(measure),
            broken: cell(broken).map(Cell::Word),
            infra_error: None,
            import: None,
        };
        row.read()
    };
    reader.records().map(|record| record.map_err(|error| error.to_string()).map(row)).collect()
}
