//! Labels of trajectories, from JSON or CSV: people's labels, [`PeopleLabels`], and those of several runs,
//! [`RunLabels`].

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{io, mem};

use m3_support::text::shortened;

pub use super::label_rows::PersonSays;
use super::label_rows::{LabelRow, read_rows};

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
        "`{}` has no labels: {message}\nhint: each should have an `id` and either `pass` or `success` (true or false) or \
         `score` (0 to 1), perhaps a `run`, a `person` and a `measure`; as a JSON list of objects, a line of JSON each, or \
         as CSV with these columns",
        path.display()
    )]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with the content.
        message: String,
    },
}

/// Labels by the trajectory's id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PeopleLabels {
    /// All people's labels for each trajectory.
    pub by_id: BTreeMap<String, Vec<PersonSays>>,
}

/// The labels of several runs in one file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunLabels {
    /// Each run's labels by its name; labels that name no run are under the empty name.
    pub by_run: BTreeMap<String, PeopleLabels>,
    /// How many labels the file has.
    pub rows: usize,
    /// The number of labels that say neither pass nor fail, and are left out.
    pub unclear: usize,
    /// The number of labels of a run that broke (`broken` or `infra_error` is true), which are left out.
    pub broken: usize,
}

impl RunLabels {
    /// Reads labels with a `run` each, or of one run. Labels that cannot be used are counted, unlike in
    /// [`PeopleLabels::read`].
    ///
    /// # Errors
    /// [`PeopleError`], also if none can be used.
    pub fn read(path: &Path) -> Result<Self, PeopleError> {
        let rows = rows_of(path)?;
        let mut labels = Self { rows: rows.len(), ..Self::default() };
        let mut problem = None;
        for row in rows {
            let added = row.and_then(|mut row| {
                if row.is_broken {
                    labels.broken += 1;
                    return Ok(());
                }
                labels.by_run.entry(mem::take(&mut row.run)).or_default().add(row)
            });
            if let Err(message) = added {
                labels.unclear += 1;
                problem.get_or_insert(message);
            }
        }
        labels.by_run.retain(|_, labels| !labels.by_id.is_empty());
        if labels.by_run.is_empty() {
            let message = problem.unwrap_or_else(|| NONE.to_owned());
            return Err(PeopleError::Content { path: path.to_owned(), message });
        }
        Ok(labels)
    }
}

/// The message about a file without labels.
const NONE: &str = "there is none";

fn rows_of(path: &Path) -> Result<Vec<Result<LabelRow, String>>, PeopleError> {
    let rows = read_rows(path).map_err(|cause| PeopleError::Read { path: path.to_owned(), cause })?;
    rows.map_err(|message| PeopleError::Content { path: path.to_owned(), message })
}

impl PeopleLabels {
    /// Reads labels: CSV if the file's name ends in `.csv`, else a JSON list or JSON Lines. The run of a label does not
    /// matter, nor whether the run broke.
    ///
    /// # Errors
    /// [`PeopleError`], also for a label without pass and score, a score outside of [0, 1], and two labels of one
    /// person for one measure of one trajectory.
    pub fn read(path: &Path) -> Result<Self, PeopleError> {
        let mut labels = Self::default();
        let added = rows_of(path)?.into_iter().try_for_each(|row| labels.add(row?));
        let none = || labels.by_id.is_empty().then(|| NONE.to_owned());
        match added.err().or_else(none) {
            Some(message) => Err(PeopleError::Content { path: path.to_owned(), message }),
            None => Ok(labels),
        }
    }

    /// People's labels for a measure, by the trajectory's id; if it `is_main`, also the labels without a measure.
    #[must_use]
    pub fn of_measure(&self, measure: &str, is_main: bool) -> BTreeMap<&str, Vec<&PersonSays>> {
        let mut labels_by_id: BTreeMap<&str, Vec<&PersonSays>> = BTreeMap::new();
        for (id, says) in self.by_id.iter().flat_map(|(id, says)| says.iter().map(move |says| (id, says))) {
            if says.measure.as_ref().map_or(is_main, |labelled| labelled == measure) {
                labels_by_id.entry(id).or_default().push(says);
            }
        }
        labels_by_id
    }

    /// Whether each trajectory is good enough for most people, by its id; trajectories about which people are even are
    /// left out. A label without `pass` passes with a score of at least `mark`. Labels of other measures than task
    /// completion do not count.
    #[must_use]
    pub fn verdicts(&self, mark: f64) -> BTreeMap<&str, bool> {
        let labels = self.of_measure("task_completion", true).into_iter();
        labels.filter_map(|(id, says)| Some((id, majority(&says, mark)?))).collect()
    }

    /// The measures that labels name.
    #[must_use]
    pub fn measures(&self) -> BTreeSet<&str> {
        self.by_id.values().flatten().filter_map(|says| says.measure.as_deref()).collect()
    }

    /// Adds a label, if it says something.
    fn add(&mut self, row: LabelRow) -> Result<(), String> {
        let LabelRow { id, says, is_broken, .. } = row;
        let shown = shortened(&id, 100);
        if says.pass.is_none() && says.score.is_none() {
            let problem = format!("`{shown}` has neither `pass` nor `score`");
            return if is_broken { Ok(()) } else { Err(problem) };
        }
        if let Some(score) = says.score.filter(|score| !(0.0..=1.0).contains(score)) {
            return Err(format!("the score of `{shown}` is {score}, and should be between 0 and 1"));
        }
        let others = self.by_id.entry(id).or_default();
        let is_same = |other: &PersonSays| other.person == says.person && other.measure == says.measure;
        if !says.person.is_empty() && others.iter().any(is_same) {
            return Err(format!("`{}` labels `{shown}` twice", shortened(&says.person, 100)));
        }
        others.push(says);
        Ok(())
    }
}

/// Whether a trajectory is good enough for a person.
pub(super) fn verdict(says: &PersonSays, mark: f64) -> Option<bool> {
    says.pass.or_else(|| says.score.map(|score| score >= mark))
}

/// The verdict of most people; `None` if they are even.
pub(super) fn majority(says: &[&PersonSays], mark: f64) -> Option<bool> {
    let verdicts: Vec<bool> = says.iter().filter_map(|says| verdict(says, mark)).collect();
    let passed = verdicts.iter().filter(|pass| **pass).count();
    (2 * passed != verdicts.len()).then_some(2 * passed > verdicts.len())
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
    fn lines_are_labels_too() {
        let lines =
            "{\"id\": 7, \"success\": 1}\n\n{\"id\": \"b\", \"success\": \"false\", \"pass\": null}\n";
        let found = labels("labels.jsonl", lines).unwrap();
        assert_eq!(found.verdicts(0.5).into_iter().collect::<Vec<_>>(), [("7", true), ("b", false)]);
        assert_eq!(labels("labels.csv", "id,Success\n7,1\nb,0\n").unwrap(), found);
    }

    #[test]
    fn a_file_has_labels_of_several_runs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.jsonl");
        let rows = [
            r#"{"run": "x", "id": "a", "success": true}"#,
            r#"{"run": "y", "id": "a", "success": false}"#,
            r#"{"run": "y", "id": "b", "success": false, "infra_error": true}"#,
            r#"{"run": "x", "id": "b", "success": null}"#,
            r#"{"run": "x", "id": "c", "success": [1]}"#,
            r#"{"run": "x", "success": true}"#,
            "{",
        ];
        std::fs::write(&path, rows.join("\n")).unwrap();
        let found = RunLabels::read(&path).unwrap();
        assert_eq!((found.rows, found.unclear, found.broken), (7, 4, 1));
        let verdicts = |run: &str| found.by_run[run].verdicts(0.5).into_iter().collect::<Vec<_>>();
        assert_eq!((verdicts("x"), verdicts("y")), (vec![("a", true)], vec![("a", false)]));
        std::fs::write(&path, rows[3..].join("\n")).unwrap();
        let problem = RunLabels::read(&path).unwrap_err().to_string();
        assert!(problem.contains("`b` has neither `pass` nor `score`"), "{problem}");
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
