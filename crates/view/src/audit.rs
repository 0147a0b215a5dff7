//! The page of `m3 audit --html`: one file that asks for nothing, because its documents stand in it. It is the page that a
//! server shows, of one run, with what only an audit knows.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_report::ScoreSummary;
use m3_report::audit::{
    AuditDocument, MetricIntervals, Overview, Picture, Pictures, SetDocument, TrajectoryAudit,
};
use m3_support::text::json_without_hidden;
use m3_trajectory::Trajectory;
use m3_trajectory::json::Json;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::documents::{Home, NAME, Naming, PictureDocument, TaskDocument, kind_of, run};
use crate::members::cut;
use crate::page::page_alone;
use crate::row::Row;
use crate::run::Run;
use crate::score::{Head, Score};

/// The most matches, and unmatched calls of each side, of a trajectory.
const MOST_CALLS: usize = 5_000;

/// The most pictures of results in a page.
const MOST_SENT: usize = 2_000;

/// Gathers trajectories and writes the page.
#[derive(Debug)]
pub struct AuditPage {
    rows: Vec<Row>,
    costs: Vec<f64>,
    scores: Vec<Box<RawValue>>,
    /// The document of each trajectory.
    tasks: Vec<String>,
    pictures: Embedded,
}

/// Pictures that stand in the page.
#[derive(Debug)]
struct Embedded {
    found: RefCell<Pictures>,
    /// The name of each address.
    names: RefCell<HashMap<Arc<str>, String>>,
}

impl Embedded {
    fn name(&self, address: Arc<str>) -> String {
        let mut names = self.names.borrow_mut();
        let next = format!("p{}", names.len());
        names.entry(address).or_insert(next).clone()
    }

    /// The image of a reference.
    fn image(&self, path: &str) -> PictureDocument {
        let title = cut(path, NAME);
        match self.found.borrow_mut().picture(path) {
            Picture::Embedded { address, .. } => {
                PictureDocument { name: self.name(address), title, problem: None }
            }
            Picture::Note(problem) => PictureDocument { name: String::new(), title, problem: Some(problem) },
        }
    }
}

impl Naming for Embedded {
    /// Never shown: a prediction could choose which of the reader's files are in the page.
    fn file(&self, path: &str) -> PictureDocument {
        let problem = Some("this page has no files that predictions name; `m3 view` shows them");
        PictureDocument { name: String::new(), title: cut(path, NAME), problem }
    }

    fn sent(&self, _: usize, _: usize, part: &Json) -> PictureDocument {
        let title = kind_of(part);
        let small = || {
            if self.names.borrow().len() >= MOST_SENT {
                return Err("this page has enough pictures");
            }
            let bytes = m3_trajectory::sent_base64(part).and_then(|data| STANDARD.decode(data.trim()).ok());
            self.found.borrow().sent(&bytes.ok_or("it is no picture")?)
        };
        match small() {
            Ok((kind, bytes)) => {
                let address = format!("data:{kind};base64,{}", STANDARD.encode(bytes));
                PictureDocument { name: self.name(address.into()), title, problem: None }
            }
            Err(problem) => PictureDocument { name: String::new(), title, problem: Some(problem) },
        }
    }
}

impl AuditPage {
    /// A page for `count` trajectories, whose references' images are in these folders.
    #[must_use]
    pub fn new(images: &[PathBuf], count: usize) -> Self {
        let found = RefCell::new(Pictures::new(images, count));
        let pictures = Embedded { found, names: RefCell::default() };
        Self { rows: Vec::new(), costs: Vec::new(), scores: Vec::new(), tasks: Vec::new(), pictures }
    }

    /// Adds a trajectory; its prediction has no steps if it is missing.
    ///
    /// # Errors
    /// A number that is no JSON.
    pub fn add(
        &mut self,
        audit: &TrajectoryAudit,
        reference: &Trajectory,
        prediction: &Trajectory,
    ) -> io::Result<()> {
        let mut score = audit.score.clone();
        score.matches.truncate(MOST_CALLS);
        score.unmatched_references.truncate(MOST_CALLS);
        score.unmatched_predictions.truncate(MOST_CALLS);
        let score = to_raw_value(&score)?;
        let expected = Row::new(reference);
        let mut row = Row {
            id: expected.id,
            task_type: expected.task_type,
            failure: audit.score.failure.clone(),
            ..Row::new(prediction)
        };
        row.question = expected.question.or(row.question);
        let image = audit.image.as_deref().map(|path| self.pictures.image(path));
        row.picture = image.as_ref().filter(|image| image.problem.is_none()).map(|image| image.name.clone());
        let prediction = (audit.score.failure.as_deref() != Some("missing")).then_some(prediction);
        let task = TaskDocument::new(&row, prediction, Some(reference), &self.pictures);
        let task = task.with_audit(&score, AuditDocument::new(audit), image);
        self.tasks.push(serde_json::to_string(&task)?);
        self.rows.push(row);
        self.costs.push(audit.cost);
        self.scores.push(score);
        Ok(())
    }

    /// The number of trajectories.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True without trajectories.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the page.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn write(
        self,
        summary: &ScoreSummary,
        overview: &Overview,
        intervals: &MetricIntervals,
        writer: &mut impl Write,
    ) -> io::Result<()> {
        let head: Head = serde_json::from_str(&serde_json::to_string(summary)?)?;
        let name = &summary.inputs.predictions.name;
        let score = Score::new(Path::new(name), head, self.scores)?;
        let of = Run::of_rows(Path::new(name), self.rows, score);
        let (before, after) = page_alone("m3 audit");
        writer.write_all(before.as_bytes())?;
        embed(writer, "home.json", &Home::of_one(&of.name))?;
        let set = SetDocument::new(summary, overview, intervals);
        embed(writer, "run/0.json", &run(&of).with_audit(set, &self.costs))?;
        for (number, task) in self.tasks.iter().enumerate() {
            embed_text(writer, &format!("task/0/{number}.json"), task)?;
        }
        let names = self.pictures.names.into_inner();
        let pictures: HashMap<String, Arc<str>> =
            names.into_iter().map(|(address, name)| (name, address)).collect();
        embed(writer, "pictures.json", &pictures)?;
        writer.write_all(after.as_bytes())?;
        writer.flush()
    }
}

fn embed(writer: &mut impl Write, path: &str, document: &impl Serialize) -> io::Result<()> {
    embed_text(writer, path, &serde_json::to_string(document)?)
}

/// A document as data: no script, and nothing in it ends its element.
fn embed_text(writer: &mut impl Write, path: &str, document: &str) -> io::Result<()> {
    let document = json_without_hidden(document).replace('<', "\\u003c");
    writeln!(writer, "<script type=\"application/json\" data-path=\"{path}\">{document}</script>")
}
