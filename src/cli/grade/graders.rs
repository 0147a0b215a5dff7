//! The graders that `m3 grade` asks.

use std::sync::Arc;

use m3_judge::grade::{Grader, Panel};
use m3_llm::Recorder;
use m3_support::text::{on_one_line, shortened};

use super::GradeArgs;
use crate::cli::common::failure::{Failure, code};
use crate::cli::common::llm::{check_record, open_model, record};
use crate::cli::common::printer::Printer;

/// Opens all graders. A grader that cannot be asked counts as missing; fails if none can be asked.
pub(super) fn open_panel(args: &GradeArgs, printer: Printer) -> Result<(Panel, Vec<Arc<Recorder>>), Failure> {
    let mut named = args.no_images_for.iter().chain(args.llm_key_from.iter().map(|(judge, _)| judge));
    if let Some(unknown) = named.find(|name| !args.llm.contains(name)) {
        let message =
            format!("`{}` is not one of --llm\nhint: write it in the same way", shortened(unknown, 100));
        return Err(Failure::new(code::INPUT, message));
    }
    if let Some(folder) = &args.record {
        std::fs::create_dir_all(folder)
            .map_err(|cause| Failure::output(&format!("`{}`", folder.display()), &cause))?;
    }
    let (mut graders, mut recorders): (Vec<Grader>, Vec<Arc<Recorder>>) = (Vec::new(), Vec::new());
    for (index, written) in args.llm.iter().enumerate() {
        let key = args.llm_key_from.iter().find(|(judge, _)| judge == written);
        let key = key.map(|(_, variable)| variable.as_str());
        let has_eyes = !args.no_images && !args.no_images_for.contains(written);
        let grader = match open_model(written, key, args.workers.into(), printer) {
            Ok((model, played)) => {
                let path = args.record.as_ref().map(|folder| folder.join(cassette_name(index, model.name())));
                check_record(path.as_ref(), played.as_deref())?;
                let (model, recorder) = record(model, path.as_ref())?;
                recorders.extend(recorder);
                Grader { name: model.name().to_string(), model: Ok(model), has_eyes }
            }
            Err(failure) if failure.code == code::UNAVAILABLE => {
                let reason = failure.message.unwrap_or_default();
                printer.warn(&format!("the judge `{}` is missing: {reason}", shortened(written, 100)));
                Grader { name: written.clone(), model: Err(on_one_line(&reason)), has_eyes }
            }
            Err(failure) => return Err(failure),
        };
        if graders.iter().any(|other| other.name == grader.name) {
            let message = format!(
                "the judge `{}` is named twice\nhint: `--repeat` asks judges more than once",
                grader.name
            );
            return Err(Failure::new(code::INPUT, message));
        }
        graders.push(grader);
    }
    if graders.iter().all(|grader| grader.model.is_err()) {
        return Err(Failure::new(code::UNAVAILABLE, "no judge can be asked"));
    }
    let rubric = args.rubric.0;
    let passes = args.repeat.unwrap_or(rubric.passes());
    let panel = Panel {
        graders,
        settings: args.replies.settings(),
        rubric,
        passes,
        seed: args.order_seed,
        workers: args.workers.into(),
    };
    Ok((panel, recorders))
}

/// The file of a grader's cassette: the position in `--llm`, and the name with unusual characters replaced by `-`.
fn cassette_name(index: usize, name: &impl std::fmt::Display) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name: String = name.to_string().chars().map(|c| if is_plain(c) { c } else { '-' }).take(80).collect();
    format!("{}-{name}.cassette", index + 1)
}
