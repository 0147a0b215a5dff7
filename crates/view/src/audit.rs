//! The page of `m3 audit --html`: one file that contains its documents, and so requests nothing. It is the page that a
//! server shows of one run, with the facts that only an audit knows.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::RgbaImage;
use m3_images::likeness::difference;
use m3_report::audit::{
    AuditDocument, MetricIntervals, Overview, Picture, Pictures, SetDocument, TrajectoryAudit,
};
use m3_report::{ResultPictures, ScoreSummary};
use m3_score::results::{RecordedPicture, ResultSide, recorded_picture};
use m3_support::text::json_without_hidden;
use m3_trajectory::json::Json;
use m3_trajectory::{Trajectory, result_parts};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

use crate::documents::{
    FlowDocument, Home, NAME, Naming, PictureAt, PictureDocument, ResultNaming, TEXT, TaskDocument, kind_of,
    run,
};
use crate::page::page_alone;
use crate::row::Row;
use crate::run::Run;
use crate::score::{Head, Score};
use crate::text::cut;

/// The title of the page.
const TITLE: &str = "m3 audit";

/// The most matches, and unmatched calls of each side, of a trajectory.
const MOST_CALLS: usize = 5_000;

/// The most pictures of results in a page.
const MOST_SENT: usize = 2_000;

/// The folder, beside a file of trajectories, in which m3 keeps pictures of its results.
const KEPT: &str = "results/";

/// The most bytes of documents with long texts: after them, results and messages are cut short, so that a browser can
/// still open the page.
const ROOMY: usize = 32 << 20;

/// The most characters of a result or message that is cut short.
const SHORT: usize = 500;

/// Writes the page as trajectories come.
#[derive(Debug)]
pub struct AuditPage<W> {
    writer: W,
    rows: Vec<Row>,
    costs: Vec<f64>,
    scores: Vec<Box<RawValue>>,
    pictures: EmbeddedPictures,
}

/// Pictures that stand in the page.
#[derive(Debug)]
struct EmbeddedPictures {
    found: RefCell<Pictures>,
    /// The name of each address.
    names: RefCell<HashMap<Arc<str>, String>>,
    /// How many pictures of results there are.
    sent: Cell<usize>,
    /// The bytes of documents that were written.
    written: Cell<usize>,
}

impl EmbeddedPictures {
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

/// Pictures of the trajectories of one task.
struct OfTask<'a> {
    page: &'a EmbeddedPictures,
    trajectories: [&'a Trajectory; 2],
    results: Option<&'a ResultPictures>,
}

impl OfTask<'_> {
    /// A picture in a result, or in a file that the result names. Only files that m3 keeps beside a file of
    /// trajectories are opened: any other could be a private file of the reader.
    fn recorded(&self, side: ResultSide, picture: &RecordedPicture) -> Option<Arc<RgbaImage>> {
        let is_kept = |path: &str| path.starts_with(KEPT) && !path.contains("..");
        let is_shown = !matches!(picture, RecordedPicture::File { path, .. } if !is_kept(path));
        self.results.filter(|_| is_shown)?.pixels(side, picture)
    }

    fn part(&self, at: PictureAt) -> Option<(RecordedPicture, String)> {
        let side = usize::from(at.side == ResultSide::Prediction);
        let (_, call) = self.trajectories[side].calls().nth(at.call)?;
        let part = result_parts(call.result.as_ref()?)?.get(at.part)?;
        let picture = recorded_picture(part, &self.trajectories[side].id)?;
        let title = match &picture {
            RecordedPicture::File { path, .. } => cut(path, NAME),
            _ => kind_of(part),
        };
        Some((picture, title))
    }

    /// A picture whose pixels are known, made small.
    fn shown(&self, title: String, pixels: impl FnOnce() -> Option<Arc<RgbaImage>>) -> PictureDocument {
        self.page.small(title, |small| small.of_pixels(&*pixels().ok_or("it cannot be had")?))
    }
}

impl Naming for OfTask<'_> {
    /// Names no file: a prediction could choose which of the reader's files are in the page.
    fn file(&self, path: &str) -> PictureDocument {
        let problem = Some("this page has no files that predictions name; `m3 view` shows them");
        PictureDocument { name: String::new(), title: cut(path, NAME), problem }
    }

    fn result_file(&self, path: &str) -> PictureDocument {
        let id = self.trajectories[1].id.clone();
        let picture = RecordedPicture::File { id, path: path.to_owned() };
        match self.recorded(ResultSide::Prediction, &picture) {
            Some(pixels) => self.shown(cut(path, NAME), || Some(pixels)),
            None => self.file(path),
        }
    }

    fn sent(&self, _: usize, _: usize, part: &Json) -> PictureDocument {
        self.page.small(kind_of(part), |small| {
            let bytes = m3_trajectory::sent_base64(part).and_then(|data| STANDARD.decode(data.trim()).ok());
            small.sent(&bytes.ok_or("it is no picture")?)
        })
    }

    fn room(&self) -> usize {
        if self.page.written.get() < ROOMY { TEXT } else { SHORT }
    }
}

impl ResultNaming for OfTask<'_> {
    fn picture(&self, at: PictureAt) -> Option<PictureDocument> {
        let (picture, title) = self.part(at)?;
        Some(self.shown(title, || self.recorded(at.side, &picture)))
    }

    fn difference(&self, [a, b]: [PictureAt; 2], title: String) -> Option<PictureDocument> {
        let opened = |at: PictureAt| self.recorded(at.side, &self.part(at)?.0);
        let both = opened(a).zip(opened(b))?;
        Some(self.shown(title, || Some(Arc::new(difference(&both.0, &both.1)))))
    }
}

impl EmbeddedPictures {
    /// A picture of a result, as long as there is room for more.
    fn small(
        &self,
        title: String,
        make: impl FnOnce(&Pictures) -> Result<(&'static str, Vec<u8>), &'static str>,
    ) -> PictureDocument {
        let small = || {
            if self.sent.get() >= MOST_SENT {
                return Err("this page has enough pictures");
            }
            self.sent.set(self.sent.get() + 1);
            make(&self.found.borrow())
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

impl<W: Write> AuditPage<W> {
    /// Begins a page for `count` trajectories, whose references' images are in these folders.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn new(images: &[PathBuf], count: usize, mut writer: W) -> io::Result<Self> {
        writer.write_all(page_alone(TITLE).0.as_bytes())?;
        let found = RefCell::new(Pictures::new(images, count));
        let (names, sent, written) = (RefCell::default(), Cell::default(), Cell::default());
        let pictures = EmbeddedPictures { found, names, sent, written };
        Ok(Self { writer, rows: Vec::new(), costs: Vec::new(), scores: Vec::new(), pictures })
    }

    /// Adds a trajectory; a missing prediction has no steps. `results` opens pictures of results.
    ///
    /// # Errors
    /// The writer's reason.
    pub fn add(
        &mut self,
        audit: &TrajectoryAudit,
        (reference, prediction): (&Trajectory, &Trajectory),
        results: Option<&ResultPictures>,
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
        let naming = OfTask { page: &self.pictures, trajectories: [reference, prediction], results };
        let prediction = (audit.score.failure.as_deref() != Some("missing")).then_some(prediction);
        let task = TaskDocument::new(&row, prediction, Some(reference), &naming);
        let flow = FlowDocument::new(&audit.flow, &naming);
        let task = task.with_audit(&score, AuditDocument::new(audit), (flow, image));
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

    /// Ends the page, and returns the flushed writer.
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
        // In an order of their own, so that the same page is written again.
        let pictures: BTreeMap<String, Arc<str>> =
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

/// Embeds a document as data: it is not a script, and nothing in it ends its element.
fn embed_text(writer: &mut impl Write, path: &str, document: &str) -> io::Result<()> {
    let document = json_without_hidden(document).replace('<', "\\u003c");
    writeln!(writer, "<script type=\"application/json\" data-path=\"{path}\">{document}</script>")
}
