//! People's labels for the same trajectories: [`PeopleLabels`], from JSON or CSV.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use m3_support::text::shortened;
use serde::Deserialize;

use crate::spreadsheet;

/// Larger files are not read, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Why the labels cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The file cannot be read.
    #[error("failed to read `{}`: {cause}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        cause: io::Error,
    },
    /// The file does not hold labels.
    #[error(
        "`{}` has no labels: {message}\nhint: each should have an `id` and either `pass` (true or false) or `score` \
         (0 to 1), perhaps a `person` and a `measure`; as a JSON list of objects, or as CSV with these columns",
        path.display()
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

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

/// Labels by the trajectory's id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PeopleLabels {
    /// All people's labels for each trajectory.
    pub by_id: BTreeMap<String, Vec<PersonSays>>,
}

#[derive(Deserialize)]
struct Row {
    id: String,
    #[serde(default)]
    person: Option<String>,
    #[serde(default)]
    pass: Option<Verdict>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    measure: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`pass` should be true, false, or a word such as \"pass\" or \"fail\"")]
enum Verdict {
    Known(bool),
    Word(String),
}

impl Verdict {
    fn value(&self) -> Result<Option<bool>, String> {
        match self {
            Self::Known(value) => Ok(Some(*value)),
            Self::Word(word) => match word.trim().to_ascii_lowercase().as_str() {
                "" => Ok(None),
                "true" | "pass" | "yes" | "1" => Ok(Some(true)),
                "false" | "fail" | "no" | "0" => Ok(Some(false)),
                other => Err(format!("`{}` is neither pass nor fail", shortened(other, 40))),
            },
        }
    }
}

impl PeopleLabels {
    /// Reads labels: CSV where the file's name ends in `.csv`, else JSON.
    ///
    /// # Errors
    /// [`PeopleError`], for a label without pass and score, a score outside of [0, 1], and two of one person on one
    /// trajectory as well.
    pub fn read(path: &Path) -> Result<Self, PeopleError> {
        let failed = |cause| PeopleError::Read { path: path.to_owned(), cause };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(failed)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        }
        let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
        let rows = if is_csv { of_csv(&bytes) } else { of_json(&bytes) };
        rows.and_then(Self::of_rows)
            .map_err(|message| PeopleError::Content { path: path.to_owned(), message })
    }

    /// People's labels for a measure, by the trajectory's id; if it `is_main`, also the labels without a measure.
    #[must_use]
    pub fn of_measure(&self, measure: &str, is_main: bool) -> BTreeMap<&str, Vec<&PersonSays>> {
        let mut found = BTreeMap::new();
        for (id, says) in &self.by_id {
            let of_measure = says.iter().filter(|says| match &says.measure {
                Some(labelled) => labelled == measure,
                None => is_main,
            });
            let of_measure: Vec<&PersonSays> = of_measure.collect();
            if !of_measure.is_empty() {
                found.insert(id.as_str(), of_measure);
            }
        }
        found
    }

    /// Whether each trajectory is good enough for most people, by its id; those about which they are even are left out. A
    /// label without `pass` says so by a score of at least `mark`. Labels of other measures than task completion do not
    /// count.
    #[must_use]
    pub fn verdicts(&self, mark: f64) -> BTreeMap<&str, bool> {
        let said = self.of_measure("task_completion", true).into_iter();
        said.filter_map(|(id, says)| Some((id, majority(&says, mark)?))).collect()
    }

    /// The measures that labels name.
    #[must_use]
    pub fn measures(&self) -> BTreeSet<&str> {
        self.by_id.values().flatten().filter_map(|says| says.measure.as_deref()).collect()
    }

    fn of_rows(rows: Vec<Row>) -> Result<Self, String> {
        let mut labels = Self::default();
        for row in rows {
            let id = shortened(&row.id, 100);
            let pass = row.pass.as_ref().map(Verdict::value).transpose();
            let pass = pass.map_err(|problem| format!("of `{id}`, {problem}"))?.flatten();
            if pass.is_none() && row.score.is_none() {
                return Err(format!("`{id}` has neither `pass` nor `score`"));
            }
            if let Some(score) = row.score.filter(|score| !(0.0..=1.0).contains(score)) {
                return Err(format!("the score of `{id}` is {score}, and should be between 0 and 1"));
            }
            let person = row.person.unwrap_or_default();
            let says = labels.by_id.entry(row.id).or_default();
            let measure = row.measure.filter(|measure| !measure.is_empty());
            let is_same = |other: &PersonSays| other.person == person && other.measure == measure;
            if !person.is_empty() && says.iter().any(is_same) {
                return Err(format!("`{}` labels `{id}` twice", shortened(&person, 100)));
            }
            says.push(PersonSays { person, pass, score: row.score, measure });
        }
        if labels.by_id.is_empty() { Err("there is none".to_owned()) } else { Ok(labels) }
    }
}

/// Whether a trajectory is good enough for a person.
pub(super) fn verdict(says: &PersonSays, mark: f64) -> Option<bool> {
    says.pass.or_else(|| says.score.map(|score| score >= mark))
}

/// What most people say; `None` if they are even.
pub(super) fn majority(says: &[&PersonSays], mark: f64) -> Option<bool> {
    let verdicts: Vec<bool> = says.iter().filter_map(|says| verdict(says, mark)).collect();
    let passed = verdicts.iter().filter(|pass| **pass).count();
    (2 * passed != verdicts.len()).then_some(2 * passed > verdicts.len())
}

fn of_json(bytes: &[u8]) -> Result<Vec<Row>, String> {
    serde_json::from_slice(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)).map_err(|e| e.to_string())
}

fn of_csv(bytes: &[u8]) -> Result<Vec<Row>, String> {
    let text = spreadsheet::decoded(bytes)?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(spreadsheet::delimiter(&text))
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let heads = reader.headers().map_err(|error| error.to_string())?.clone();
    let column = |name: &str| heads.iter().position(|head| head.eq_ignore_ascii_case(name));
    let id = column("id").ok_or("it has no column `id`")?;
    let (person, pass, score) = (column("person"), column("pass"), column("score"));
    let measure = column("measure");
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let cell =
            |column: Option<usize>| column.and_then(|at| record.get(at)).filter(|cell| !cell.is_empty());
        let number = |cell: &str| {
            cell.parse::<f64>().map_err(|_| format!("the score `{}` is no number", shortened(cell, 40)))
        };
        rows.push(Row {
            id: cell(Some(id)).unwrap_or_default().to_owned(),
            person: cell(person).map(str::to_owned),
            pass: cell(pass).map(|cell| Verdict::Word(cell.to_owned())),
            score: cell(score).map(number).transpose()?,
            measure: cell(measure).map(str::to_owned),
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(name: &str, text: impl AsRef<[u8]>) -> Result<PeopleLabels, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        PeopleLabels::read(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn both_forms_say_the_same() {
        let json = r#"[{"id": "a", "person": "one", "pass": true}, {"id": "a", "person": "two", "score": 0.25},
            {"id": "b", "pass": "fail"}]"#;
        let csv = "id,person,pass,score\na,one,pass,\na,two,,0.25\nb,,0,\n";
        let found = labels("labels.json", json).unwrap();
        assert_eq!(labels("labels.csv", csv).unwrap(), found);
        let semicolons = csv.replace(',', ";");
        let utf16: Vec<u8> = "\u{feff}"
            .chars()
            .chain(semicolons.chars())
            .collect::<String>()
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(labels("labels.csv", utf16).unwrap(), found);
        assert_eq!(found.by_id["a"][1].score, Some(0.25));
        assert_eq!(found.by_id["b"][0].pass, Some(false));
    }

    #[test]
    fn labels_are_of_the_measure_they_name() {
        let csv = "id,person,measure,pass\na,one,,1\na,one,information_grounding,0\nb,one,information_grounding,1\n";
        let found = labels("labels.csv", csv).unwrap();
        let ids =
            |measure, is_main| -> Vec<&str> { found.of_measure(measure, is_main).into_keys().collect() };
        assert_eq!(ids("task_completion", true), ["a"]);
        assert_eq!(ids("information_grounding", false), ["a", "b"]);
        assert_eq!(ids("mcp_eval", false), [""; 0]);
        assert_eq!(found.measures().into_iter().collect::<Vec<_>>(), ["information_grounding"]);
    }

    #[test]
    fn most_people_decide() {
        let csv = "id,person,pass,score,measure\na,1,1,,\na,2,0,,\na,3,,0.5,\nb,1,1,,\nb,2,0,,\nc,1,0,,information_grounding\n";
        let found = labels("labels.csv", csv).unwrap();
        assert_eq!(found.verdicts(0.5).into_iter().collect::<Vec<_>>(), [("a", true)]);
        assert_eq!(found.verdicts(0.6).into_iter().collect::<Vec<_>>(), [("a", false)]);
    }

    #[test]
    fn what_is_no_label_is_said() {
        for (name, text, part) in [
            ("a.json", "[]", "there is none"),
            ("a.json", r#"[{"id": "a"}]"#, "neither `pass` nor `score`"),
            ("a.json", r#"[{"id": "a", "score": 7}]"#, "between 0 and 1"),
            ("a.json", r#"[{"id": "a", "pass": "perhaps"}]"#, "neither pass nor fail"),
            (
                "a.json",
                r#"[{"id": "a", "person": "x", "pass": true}, {"id": "a", "person": "x", "pass": true}]"#,
                "twice",
            ),
            ("a.csv", "name,pass\na,1\n", "no column `id`"),
            ("a.csv", "id,score\na,much\n", "no number"),
        ] {
            let problem = labels(name, text).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        }
    }
}
