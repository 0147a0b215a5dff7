//! Logs of `inspect_ai`: one document, or an archive with an entry for each sample, which is read a sample at a time.

mod attachments;
mod events;
mod message;
mod sample;
#[cfg(test)]
mod tests;

use crate::archive::{Archive, Entry};
use crate::formats::prelude::*;
use crate::parallel::in_order;
use sample::Log;

/// Archives, by the names of their entries.
pub(super) const ARCHIVE: Format = Format {
    name: "inspect-eval",
    title: "inspect_ai: logs in archives (.eval)",
    recognizes: |head| {
        head.shape == Shape::Zip && [HEADER, START].iter().any(|name| head.text.contains(name))
    },
    read: read_archive,
};

/// Documents, recognized by members that every log has.
pub(super) const DOCUMENT: Format = Format {
    name: "inspect-json",
    title: "inspect_ai: logs in JSON",
    recognizes: |head| {
        head.shape == Shape::Document
            && head.values.iter().any(|log| {
                log.has("version")
                    && log.has("status")
                    && log.member("eval").is_some_and(|eval| eval.has("task") || eval.has("model"))
            })
    },
    read: read_document,
};

/// The entry about the whole run; it is written at the end.
const HEADER: &str = "header.json";

/// The entry that is written when the run begins.
const START: &str = "_journal/start.json";

const NO_SAMPLES: &str = "an inspect log without samples holds no calls; export the log with its samples \
     (`inspect log dump`, without --header-only)";

fn read_document(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let document = input.document()?;
    let samples = document.list("samples");
    if samples.is_empty() {
        return Err(ReadError::refused(NO_SAMPLES));
    }
    let has_epochs = samples.iter().any(|sample| sample.count("epoch").is_some_and(|epoch| epoch > 1));
    let log = Log::new(&document, has_epochs);
    samples.iter().try_for_each(|sample| sink.trace(None, log.sample(sample)))
}

fn read_archive(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let mut archive = Archive::open(input.source).map_err(|error| {
        ReadError::refused(format!(
            "not a whole zip archive: {error}; copy the log again when its run has ended"
        ))
    })?;
    let names: Vec<String> = archive.names().collect();
    let header = header(&mut archive, &names, sink);
    let is_sample = |name: &String| {
        name.strip_prefix("samples/").is_some_and(|name| name.strip_suffix(".json").is_some())
    };
    let epoch = |name: &String| name.strip_suffix(".json")?.rsplit_once("_epoch_")?.1.parse::<u64>().ok();
    let has_epochs = names.iter().filter_map(epoch).any(|epoch| epoch > 1);
    let log = Log::new(&header, has_epochs);
    let mut numbers = (0..).zip(&names).filter(|(_, name)| is_sample(name)).map(|(number, _)| number);
    let next = |sink: &mut dyn Sink| {
        let Some(number) = numbers.next() else { return Ok(None) };
        sink.progress(number as u64, names.len() as u64)?;
        let entry = archive.entry(number);
        Ok(Some((entry.size(), entry)))
    };
    let work = |entry: Entry| entry.value().map(|sample| log.sample(&sample));
    in_order(sink, next, work, |sink, sample| match sample {
        Ok(sample) => sink.trace(None, sample),
        Err(error) => sink.skip(None, &format!("{error}; the sample is left out")),
    })?;
    if !names.iter().any(is_sample) {
        return Err(ReadError::refused(NO_SAMPLES));
    }
    Ok(())
}

/// The header of the log; null if it cannot be read.
fn header(archive: &mut Archive<'_>, names: &[String], sink: &mut dyn Sink) -> Json {
    for wanted in [HEADER, START] {
        let Some(number) = names.iter().position(|name| name == wanted) else {
            if wanted == HEADER {
                sink.warn(None, "the log has no `header.json`: its run was not over, or it broke off");
            }
            continue;
        };
        match archive.value(number) {
            Ok(header) => return header,
            Err(error) => sink.warn(None, &error),
        }
    }
    Json::Null
}
