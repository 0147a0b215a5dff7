//! Pictures of results, for their comparison: those within the files, and those in files beside them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use image::RgbaImage;
use m3_images::ImageFileError;
use m3_images::likeness::{self, compare, pixels};
use m3_score::results::{ComparePictures, Likeness, PictureProblem, RecordedPicture, ResultSide};
use m3_support::text::{counted, shortened};
use m3_support::workspace::Workspace;
use sha2::{Digest as _, Sha256};

/// The most bytes of pixels that are kept for the next comparisons.
const KEPT: usize = 48 << 20;

/// The most pixels that are decoded for one page of a task, because other requests wait for it.
const OF_PAGE: u64 = 128 << 20;

/// Opens pictures in the folders of the scored files, and nowhere else: paths in predictions cannot be trusted.
#[derive(Debug, Default)]
pub struct ResultPictures {
    references: Vec<Workspace>,
    predictions: Vec<Workspace>,
    /// The name of a trajectory's own folder in `workspaces`, as `m3 run` makes it.
    own_folder: Option<fn(&str) -> String>,
    decoded: Mutex<DecodedPictures>,
    /// The most pixels that are decoded; no limit if `None`.
    most_pixels: Option<u64>,
}

/// Pictures that were decoded, and those that cannot be.
#[derive(Debug, Default)]
struct DecodedPictures {
    pictures: HashMap<[u8; 32], Option<Arc<RgbaImage>>>,
    bytes: usize,
    /// The pictures that cannot be compared, of the references and of the predictions, by the reason.
    problems: [BTreeMap<PictureProblem, Problematic>; 2],
    /// How many pixels were decoded so far.
    pixels: u64,
}

/// Pictures that cannot be compared for one reason: each described, with its key in [`DecodedPictures::pictures`].
type Problematic = BTreeSet<(String, [u8; 32])>;

impl ResultPictures {
    /// Opens pictures of trajectories in these files. `own_folder` names a trajectory's folder in `workspaces` beside
    /// its file, by its id; it is used if a side has one file, since each repetition of a run has other folders.
    #[must_use]
    pub fn beside<'p>(
        references: &Path,
        predictions: impl IntoIterator<Item = &'p Path>,
        own_folder: fn(&str) -> String,
    ) -> Self {
        let folder = |file: &Path| {
            let folder = if file.is_dir() { file } else { file.parent()? };
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            Workspace::new(folder).ok()
        };
        Self {
            references: folder(references).into_iter().collect(),
            predictions: predictions.into_iter().filter_map(folder).collect(),
            own_folder: Some(own_folder),
            ..Self::default()
        }
    }

    /// Opens pictures of one reference and one prediction in these folders; folders that do not exist are left out.
    /// After 128 million pixels no more are decoded.
    #[must_use]
    pub fn in_folders(references: &[PathBuf], predictions: &[PathBuf]) -> Self {
        let opened = |folders: &[PathBuf]| folders.iter().filter_map(|it| Workspace::new(it).ok()).collect();
        Self {
            references: opened(references),
            predictions: opened(predictions),
            most_pixels: Some(OF_PAGE),
            ..Self::default()
        }
    }

    fn bytes(&self, side: ResultSide, picture: &RecordedPicture) -> Result<Vec<u8>, PictureProblem> {
        match picture {
            RecordedPicture::Sent(data) => {
                STANDARD.decode(data.as_bytes()).map_err(|_| PictureProblem::NoPicture)
            }
            RecordedPicture::File { id, path } => {
                let file = self.file(side, id, path).ok_or(PictureProblem::NoFile)?;
                m3_images::bytes_of(&file).map_err(|error| problem_of(&error))
            }
            RecordedPicture::Unusable { problem, .. } => Err(*problem),
        }
    }

    fn file(&self, side: ResultSide, id: &str, path: &str) -> Option<PathBuf> {
        let folders = match side {
            ResultSide::Reference => &self.references,
            ResultSide::Prediction => &self.predictions,
        };
        if let (Some(name), [folder]) = (self.own_folder, &folders[..]) {
            let own = Workspace::new(&folder.given_path().join("workspaces").join(name(id)));
            if let Some(file) = own.ok().and_then(|own| own.file(path).ok()) {
                return Some(file);
            }
        }
        folders.iter().find_map(|folder| folder.file(path).ok())
    }

    /// Whether a picture that is not found is really missing: the folders of several repetitions are not known here.
    fn knows_places(&self, side: ResultSide) -> bool {
        side == ResultSide::Reference || self.own_folder.is_none() || self.predictions.len() <= 1
    }

    /// The pixels of a picture; `None` if it is not available.
    #[must_use]
    pub fn pixels(&self, side: ResultSide, picture: &RecordedPicture) -> Option<Arc<RgbaImage>> {
        let mut key = Sha256::new();
        match picture {
            RecordedPicture::Sent(data) => key.update(data.as_bytes()),
            RecordedPicture::File { id, path } => {
                key.update(serde_json::json!([format!("{side:?}"), id, path]).to_string());
            }
            RecordedPicture::Unusable { id, problem } => {
                key.update(serde_json::json!([format!("{side:?}"), id, format!("{problem:?}")]).to_string());
            }
        }
        let key: [u8; 32] = key.finalize().into();
        {
            let decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = decoded.pictures.get(&key) {
                return known.clone();
            }
            if self.most_pixels.is_some_and(|most| decoded.pixels >= most) {
                return None;
            }
        }
        let opened =
            self.bytes(side, picture).and_then(|bytes| pixels(&bytes).map_err(|error| problem_of(&error)));
        let mut decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(problem) = opened
            && self.knows_places(side)
        {
            let problems = decoded.problems[side as usize].entry(problem).or_default();
            problems.insert((named(picture), key));
        }
        let opened = opened.ok().map(Arc::new);
        let bytes = opened.as_ref().map_or(0, |image| image.as_raw().len()) + 64;
        let pixels = opened.as_ref().map_or(0, |image| u64::from(image.width()) * u64::from(image.height()));
        decoded.pixels = decoded.pixels.saturating_add(pixels);
        if bytes <= KEPT {
            if decoded.bytes + bytes > KEPT {
                decoded.pictures.clear();
                decoded.bytes = 0;
            }
            decoded.bytes += bytes;
            decoded.pictures.insert(key, opened.clone());
        }
        opened
    }
}

/// A picture in words.
fn named(picture: &RecordedPicture) -> String {
    match picture {
        RecordedPicture::File { id, path } => format!("`{}` of `{}`", shortened(path, 60), shortened(id, 60)),
        RecordedPicture::Sent(_) => "one within a result".to_owned(),
        RecordedPicture::Unusable { id, .. } => format!("in a result of `{}`", shortened(id, 60)),
    }
}

fn problem_of(error: &ImageFileError) -> PictureProblem {
    match error {
        ImageFileError::TooLarge { .. } | ImageFileError::TooManyPixels { .. } => PictureProblem::TooLarge,
        ImageFileError::NotAFile => PictureProblem::NoFile,
        ImageFileError::Unreadable(_) | ImageFileError::NotAnImage(_) => PictureProblem::NoPicture,
    }
}

/// A sentence about pictures of one side that cannot be compared, for one reason.
fn problem_in_words(problem: PictureProblem, pictures: &Problematic, side: ResultSide) -> Option<String> {
    let (count, first) = (pictures.len(), &pictures.first()?.0);
    let (name, consequence) = match side {
        ResultSide::Reference => ("references", "what they belong to is not compared"),
        ResultSide::Prediction => ("predictions", "in artifact agreement they are like nothing"),
    };
    let what = match problem {
        PictureProblem::NoFile => format!(
            "{} of results in the {name} {} not beside the file that names {}",
            counted(count, "picture"),
            if count == 1 { "is" } else { "are" },
            if count == 1 { "it" } else { "them" },
        ),
        PictureProblem::NoPicture => {
            format!("{} of results in the {name} cannot be opened", counted(count, "picture"))
        }
        PictureProblem::TooLarge => format!(
            "pictures of results in the {name} are too large to be compared (more than 24 MiB in a result, 64 MiB in a file or \
             16 million pixels)"
        ),
        PictureProblem::NoData => format!(
            "results of {} in the {name} say `image`, and have neither `data` nor `file` for it",
            counted(count, "trajectory")
        ),
    };
    Some(format!("{what}, the first: {first}; {consequence}"))
}

impl ResultPictures {
    /// Which pictures that were asked for could not be compared, and why: a sentence for each side and reason.
    #[must_use]
    pub fn problems(&self) -> Vec<String> {
        let decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
        let of_side = |side: ResultSide| {
            let problems = &decoded.problems[side as usize];
            problems.iter().filter_map(move |(problem, pictures)| problem_in_words(*problem, pictures, side))
        };
        [ResultSide::Reference, ResultSide::Prediction].into_iter().flat_map(of_side).collect()
    }

    /// The pixels of a reference's and of a prediction's picture; `None` if one of them is not available.
    #[must_use]
    pub fn both(
        &self,
        reference: &RecordedPicture,
        predicted: &RecordedPicture,
    ) -> Option<[Arc<RgbaImage>; 2]> {
        Some([
            self.pixels(ResultSide::Reference, reference)?,
            self.pixels(ResultSide::Prediction, predicted)?,
        ])
    }
}

impl ComparePictures for ResultPictures {
    fn compare(&self, reference: &RecordedPicture, predicted: &RecordedPicture) -> Option<Likeness> {
        let [a, b] = self.both(reference, predicted)?;
        let likeness::Likeness { likeness, is_same, .. } = compare(&a, &b);
        Some(Likeness { likeness, is_same })
    }

    fn is_missing(&self, side: ResultSide, picture: &RecordedPicture) -> bool {
        let may_tell = || {
            let decoded = self.decoded.lock().unwrap_or_else(PoisonError::into_inner);
            self.knows_places(side) && self.most_pixels.is_none_or(|most| decoded.pixels < most)
        };
        may_tell() && self.pixels(side, picture).is_none()
    }

    fn digest(&self, side: ResultSide, picture: &RecordedPicture) -> Option<[u8; 16]> {
        let digest = Sha256::digest(self.bytes(side, picture).ok()?);
        digest[..16].try_into().ok()
    }
}
