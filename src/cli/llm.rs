//! What commands that ask language models share: naming one, its key, cassettes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Failure, code};
use super::printer::Printer;
use crate::llm::{Cassette, CassetteError, Header, Model, ModelName, ModelOptions, Recorder, key_from};
use crate::text::{counted, shortened};

/// Before the file of a cassette in place of a model's name.
const REPLAY: &str = "replay:";

/// The model that `--llm` names, and the cassette that it plays, if it does. It may be asked by `workers` at once.
pub(super) fn open_model(
    llm: &str,
    key_variable: Option<&str>,
    workers: usize,
    printer: Printer,
) -> Result<(Model, Option<Arc<Cassette>>), Failure> {
    open_model_with(llm, key_variable, (workers, ModelOptions::TRIES), printer)
}

/// The same, with a number of tries for each request.
pub(super) fn open_model_with(
    llm: &str,
    key_variable: Option<&str>,
    (workers, tries): (usize, u32),
    printer: Printer,
) -> Result<(Model, Option<Arc<Cassette>>), Failure> {
    let (model, cassette) = if let Some(path) = llm.strip_prefix(REPLAY) {
        let cassette = Arc::new(Cassette::open(Path::new(path))?);
        warn_of_cut_lines(path, &cassette, printer);
        (Model::replay(Arc::clone(&cassette))?, Some(cassette))
    } else {
        let name = ModelName::parse(llm).map_err(|error| Failure::new(code::INPUT, error.to_string()))?;
        let key = key_variable.map(key_from).transpose();
        let key = key.map_err(|error| Failure::new(code::UNAVAILABLE, error.to_string()))?;
        let mut options = ModelOptions { tries, key, ..ModelOptions::default() };
        options.concurrency = options.concurrency.max(workers);
        (Model::open(name, options)?, None)
    };
    for note in model.notes() {
        printer.warn(note);
    }
    Ok((model, cassette))
}

/// Who plays a cassette whose recording was killed, or that is damaged, may miss what it said.
fn warn_of_cut_lines(path: &str, cassette: &Cassette, printer: Printer) {
    let cut = &cassette.summary().cut_lines;
    let Some(first) = cut.first() else { return };
    printer.warn(&format!(
        "`{}` has {} that {} before {} whole, the first is line {first}: the recording was interrupted there, or the \
         file is damaged; nothing of it is played",
        shortened(path, 200),
        counted(cut.len(), "line"),
        if cut.len() == 1 { "ends" } else { "end" },
        if cut.len() == 1 { "it is" } else { "they are" },
    ));
}

/// Refuses to record into the cassette that is played, by whatever name.
pub(super) fn check_record(path: Option<&PathBuf>, played: Option<&Cassette>) -> Result<(), Failure> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match (path, played) {
        (Some(path), Some(played)) if real(path).is_some_and(|path| Some(path) == real(played.path())) => {
            Err(CassetteError::Played { path: path.clone() }.into())
        }
        _ => Ok(()),
    }
}

/// Has the model recorded, if that is wanted.
pub(super) fn record(
    model: Model,
    path: Option<&PathBuf>,
) -> Result<(Model, Option<Arc<Recorder>>), Failure> {
    let Some(path) = path else { return Ok((model, None)) };
    let recorder = Arc::new(Recorder::create_or_append(path, Header::new(model.name()))?);
    Ok((model.recorded_by(Arc::clone(&recorder)), Some(recorder)))
}
