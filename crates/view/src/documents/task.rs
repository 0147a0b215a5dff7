//! `task/N/M.json`: all that is known of one trajectory: what the model saw, said, called and got, and its reference.

use std::path::PathBuf;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_images::task_image::locate;
use m3_report::ResultPictures;
use m3_report::audit::{AuditDocument, FlowAudit};
use m3_score::results::ResultSide;
use m3_trajectory::json::Json;
use m3_trajectory::{ResultPicture, Trajectory, result_parts, result_picture, sent_base64};
use serde::Serialize;
use serde_json::value::RawValue;

use super::flow::{FlowDocument, PictureAt, ResultNaming, compared_calls};
use super::trajectory::{
    Message, NAME, Naming, PictureDocument, Side, TEXT, Turn, dialogue, facts, kind_of, side, turns,
};
use crate::grades::{GradesDocument, grades};
use crate::library::Library;
use crate::pictures::{Holder, Place};
use crate::row::Row;
use crate::run::Run;
use crate::shelves::{References, Shelves};
use crate::text::cut;

/// The document of one trajectory.
#[derive(Debug, Serialize)]
pub(crate) struct TaskDocument<'a> {
    row: &'a Row,
    /// Further facts of the run, with labels: model, reason, mode.
    facts: Vec<(&'static str, String)>,
    question: Option<String>,
    image: Option<PictureDocument>,
    prediction: Option<Side>,
    reference: Option<Side>,
    turns: Vec<Turn>,
    dialogue: Vec<Message>,
    /// The grades of panels of judges.
    grades: Vec<GradesDocument>,
    /// The score of the trajectory, as in the score's file.
    score: Option<&'a RawValue>,
    /// The names of other runs that have the task.
    others: Vec<&'a str>,
    /// The data flow of both trajectories.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<FlowDocument>,
    /// The facts that only an audit knows: all arguments, steps, similarities.
    #[serde(skip_serializing_if = "Option::is_none")]
    audit: Option<AuditDocument>,
}

impl<'a> TaskDocument<'a> {
    /// Makes the document of both sides; `naming` names the prediction's pictures.
    pub(crate) fn new<'b>(
        row: &'a Row,
        prediction: Option<&'b Trajectory>,
        reference: Option<&'b Trajectory>,
        naming: &dyn Naming,
    ) -> Self {
        // The reference's question comes first, since the run is scored by the reference.
        let own = |side: Option<&'b Trajectory>| side?.question.as_deref();
        let question = own(reference).or_else(|| own(prediction)).or_else(|| prediction?.prompt());
        Self {
            row,
            facts: prediction.map(facts).unwrap_or_default(),
            question: question.map(|text| cut(text, TEXT)),
            image: None,
            prediction: prediction.map(|prediction| side(prediction, Some(naming))),
            reference: reference.map(|reference| side(reference, None)),
            turns: prediction.map(turns).unwrap_or_default(),
            dialogue: prediction.map(|prediction| dialogue(prediction, naming)).unwrap_or_default(),
            grades: prediction.map(grades).unwrap_or_default(),
            score: None,
            others: Vec::new(),
            flow: None,
            audit: None,
        }
    }

    /// Adds the facts of an audit about the trajectory.
    pub(crate) fn with_audit(
        self,
        score: &'a RawValue,
        audit: AuditDocument,
        (flow, image): (Option<FlowDocument>, Option<PictureDocument>),
    ) -> Self {
        Self { score: Some(score), audit: Some(audit), flow, image, ..self }
    }
}

/// Pictures in the folders of a run, named by the library.
struct NamedPictures<'a> {
    library: &'a Library,
    folders: Arc<[PathBuf]>,
    /// The numbers of the run and of the trajectory.
    at: (usize, usize),
}

impl Naming for NamedPictures<'_> {
    fn file(&self, path: &str) -> PictureDocument {
        let problem = locate(path, &self.folders).is_none().then_some("it is not in the folders of this run");
        let place = Place::File { folders: Arc::clone(&self.folders), path: path.to_owned() };
        PictureDocument { name: self.library.pictures.name(place), title: cut(path, NAME), problem }
    }

    fn sent(&self, call: usize, number: usize, part: &Json) -> PictureDocument {
        let (run, trajectory) = self.at;
        let place = Place::Result { holder: Holder::Run(run), trajectory, call, part: number };
        let name = self.library.pictures.name(place);
        PictureDocument { name, title: kind_of(part), problem: None }
    }
}

/// Pictures of the results of a task of a run and of its reference, named by the library.
struct NamedResults<'a> {
    library: &'a Library,
    trajectories: [&'a Trajectory; 2],
    folders: [Arc<[PathBuf]>; 2],
    /// The holders of the trajectories, and the numbers of their rows.
    of: [(Holder, usize); 2],
}

impl NamedResults<'_> {
    /// The place of a picture, and its title.
    fn place(&self, at: PictureAt) -> Option<(Place, String)> {
        let side = usize::from(at.side == ResultSide::Prediction);
        let (_, call) = self.trajectories[side].calls().nth(at.call)?;
        let part = result_parts(call.result.as_ref()?)?.get(at.part)?;
        Some(match result_picture(part)? {
            ResultPicture::File(path) => {
                let folders = Arc::clone(&self.folders[side]);
                (Place::File { folders, path: path.to_owned() }, cut(path, NAME))
            }
            ResultPicture::Sent(part) => {
                let (holder, trajectory) = self.of[side];
                (Place::Result { holder, trajectory, call: at.call, part: at.part }, kind_of(part))
            }
        })
    }
}

impl ResultNaming for NamedResults<'_> {
    fn picture(&self, at: PictureAt) -> Option<PictureDocument> {
        let (place, title) = self.place(at)?;
        let is_missing = match &place {
            Place::File { folders, path } => locate(path, folders).is_none(),
            _ => false,
        };
        let problem = is_missing.then_some("it is not in the folders of this run");
        Some(PictureDocument { name: self.library.pictures.name(place), title, problem })
    }

    fn difference(&self, [a, b]: [PictureAt; 2], title: String) -> Option<PictureDocument> {
        let place = Place::Difference(Box::new([self.place(a)?.0, self.place(b)?.0]));
        Some(PictureDocument { name: self.library.pictures.name(place), title, problem: None })
    }
}

/// The holder of a trajectory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Of<'a> {
    /// A run with its number.
    Run(usize, &'a Run),
    /// A file of references.
    References(&'a Run),
}

/// The trajectory of a row.
pub(crate) fn task<'a>(
    library: &Library,
    shelves: &'a Shelves,
    of: Of<'a>,
    row_number: usize,
) -> Option<TaskDocument<'a>> {
    let (run_number, run) = match of {
        Of::Run(number, run) => (number, run),
        Of::References(run) => (usize::MAX, run),
    };
    let row = run.rows.get(row_number)?;
    let own = run.trajectory(row_number).map(|trajectory| run.without_ignored(trajectory));
    let (prediction, reference) = match of {
        Of::Run(..) => {
            let of_task = |known: &References| known.run.trajectory(known.run.row_of(&row.id)?);
            let reference = shelves.references_of(run).and_then(of_task);
            (own, reference.map(|reference| run.without_ignored(reference)))
        }
        Of::References(_) => (None, own),
    };
    let named = |of: &Run| NamedPictures {
        library,
        folders: of.picture_folders(&row.id, row.repeat),
        at: (run_number, row_number),
    };
    let told = prediction.as_ref().or(reference.as_ref());
    let own_image = told.and_then(|told| told.image.as_deref()).map(|path| named(run).file(path));
    let image = own_image.or_else(|| {
        // Else the reference's image, in the folders of the references' own file.
        let image = reference.as_ref()?.image.as_deref()?;
        Some(named(shelves.references_of(run).map_or(run, |known| &known.run)).file(image))
    });
    let score = run.score.as_deref().filter(|_| !row.is_replaced);
    let scored = score.and_then(|score| score.of(&row.id, row.repeat));
    let flow = prediction.as_ref().zip(reference.as_ref()).and_then(|(prediction, reference)| {
        let (file, known) = shelves.numbered_references_of(run)?;
        let folders = [known.run.picture_folders(&row.id, 1), run.picture_folders(&row.id, row.repeat)];
        let pairs = scored.map(|scored| compared_calls(scored.whole.get())).unwrap_or_default();
        let pictures = ResultPictures::in_folders(&folders[0], &folders[1]);
        let flow = FlowAudit::new(reference, prediction, &pairs, Some(&pictures));
        let of = [
            (Holder::References { file, run: run_number }, known.run.row_of(&row.id)?),
            (Holder::Run(run_number), row_number),
        ];
        FlowDocument::new(
            &flow,
            &NamedResults { library, trajectories: [reference, prediction], folders, of },
        )
    });
    let others = shelves
        .runs
        .iter()
        .enumerate()
        .filter(|(index, other)| *index != run_number && other.row_of(&row.id).is_some());
    let told = TaskDocument::new(row, prediction.as_ref(), reference.as_ref(), &named(run));
    Some(TaskDocument {
        image,
        flow,
        grades: told.grades.into_iter().chain(run.graded(row_number).iter().flat_map(grades)).collect(),
        score: scored.map(|scored| &*scored.whole),
        others: others.map(|(_, other)| other.name.as_str()).collect(),
        ..told
    })
}

/// The picture that a tool sent in a result.
pub(crate) fn sent_picture(shelves: &Shelves, place: &Place) -> Option<Vec<u8>> {
    let Place::Result { holder, trajectory, call, part } = place else { return None };
    let (held_by, run) = match *holder {
        Holder::Run(number) => (shelves.runs.get(number)?, number),
        Holder::References { file, run } => (&shelves.references.get(file)?.run, run),
    };
    let trajectory = shelves.runs.get(run)?.without_ignored(held_by.trajectory(*trajectory)?);
    let (_, call) = trajectory.calls().nth(*call)?;
    let data = sent_base64(result_parts(call.result.as_ref()?)?.get(*part)?)?;
    STANDARD.decode(data.trim()).ok()
}
