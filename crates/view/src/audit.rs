//! The page of `m3 audit --html`: one file that asks for nothing, because its documents stand in it. It is the page that a
//! server shows, of one run, with what only an audit knows.

use std::cell::{Cell, RefCell};
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

use crate::documents::{Home, NAME, Naming, PictureDocument, TEXT, TaskDocument, kind_of, run};
use crate::members::cut;
use crate::page::page_alone;
use crate::row::Row;
use crate::run::Run;
use crate::score::{Head, Score};

/// What the page is called.
const TITLE: &str = "m3 audit";

/// The most matches, and unmatched calls of each side, of a trajectory.
const MOST_CALLS: usize = 5_000;

/// The most pictures of results in a page.
const MOST_SENT: usize = 2_000;

/// Beyond so many bytes of documents, results and messages are cut short, so that a browser can still open the page.
const ROOMY: usize = 32 << 20;

/// The characters that are left of each then.
const SHORT: usize = 500;

/// Writes the page as trajectories come.
#[derive(Debug)]
pub struct AuditPage<W> {
    writer: W,
    rows: Vec<Row>,
    costs: Vec<f64>,
    scores: Vec<Box<RawValue>>,
    pictures: Embedded,
}

/// Pictures that stand in the page.
#[derive(Debug)]
struct Embedded {
    found: RefCell<Pictures>,
    /// The name of each address.
    names: RefCell<HashMap<Arc<str>, String>>,
    /// How many pictures of results there are.
    sent: Cell<usize>,
    /// The bytes of documents that were written.
    written: Cell<usize>,
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
            Picture::Embedded { address } => {
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
            if self.sent.get() >= MOST_SENT {
                return Err("this page has enough pictures");
            }
            self.sent.set(self.sent.get() + 1);
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

    fn room(&self) -> usize {
        if self.written.get() < ROOMY { TEXT } else { SHORT }
    }
}

impl<W: Write> AuditPage<W> {
    /// Begins a page for `count` trajectories, whose references' images are in these folders.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn new(images: &[PathBuf], count: usize, mut writer: W) -> io::Result<Self> {
        writer.write_all(page_alone(TITLE).0.as_bytes())?;
        let found = RefCell::new(Pictures::new(images, count));
        let (names, sent, written) = (RefCell::default(), Cell::default(), Cell::default());
        let pictures = Embedded { found, names, sent, written };
        Ok(Self { writer, rows: Vec::new(), costs: Vec::new(), scores: Vec::new(), pictures })
    }

    /// Adds a trajectory; its prediction has no steps if it is missing.
    ///
    /// # Errors
    /// The writer's reason.
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
            repeat: audit.score.repeat.map_or(1, |repeat| repeat as u64),
            ..Row::new(prediction)
        };
        row.question = expected.question.or(row.question);
        let image = audit.image.as_deref().map(|path| self.pictures.image(path));
        row.picture = image.as_ref().filter(|image| image.problem.is_none()).map(|image| image.name.clone());
        let prediction = (audit.score.failure.as_deref() != Some("missing")).then_some(prediction);
        let task = TaskDocument::new(&row, prediction, Some(reference), &self.pictures);
        let task = task.with_audit(&score, AuditDocument::new(audit), image);
        let task = serde_json::to_string(&task)?;
        self.pictures.written.set(self.pictures.written.get() + task.len());
        embed_text(&mut self.writer, &format!("task/0/{}.json", self.rows.len()), &task)?;
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

    /// Ends the page; the writer, flushed.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn finish(
        self,
        summary: &ScoreSummary,
        overview: &Overview,
        intervals: &MetricIntervals,
    ) -> io::Result<W> {
        let Self { mut writer, rows, costs, scores, pictures } = self;
        let head: Head = serde_json::from_str(&serde_json::to_string(summary)?)?;
        let name = Path::new(&summary.inputs.predictions.name);
        let of = Run::of_rows(name, rows, Score::new(name, head, scores)?);
        embed(&mut writer, "home.json", &Home::of_one(&of.name))?;
        let set = SetDocument::new(summary, overview, intervals);
        embed(&mut writer, "run/0.json", &run(&of).with_audit(set, &costs))?;
        let names = pictures.names.into_inner();
        let pictures: HashMap<String, Arc<str>> =
            names.into_iter().map(|(address, name)| (name, address)).collect();
        embed(&mut writer, "pictures.json", &pictures)?;
        writer.write_all(page_alone(TITLE).1.as_bytes())?;
        writer.flush()?;
        Ok(writer)
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
