//! The documents that the page asks for. Each is JSON, made anew from the library; the page shows what they say as text.

mod board;
mod flow;
mod home;
mod matrix;
mod run;
mod task;
mod trajectory;

pub(crate) use board::{Board, Entries, comparison};
pub(crate) use flow::{FlowDocument, PictureAt, ResultNaming};
pub(crate) use home::{Home, home, state};
pub(crate) use matrix::matrix;
pub(crate) use run::run;
pub(crate) use task::{Of, TaskDocument, sent_picture, task};
pub(crate) use trajectory::{NAME, Naming, PictureDocument, TEXT, kind_of};

use std::path::Path;

use serde::Serialize;

use crate::score::metrics;

/// A column of values.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Column {
    name: String,
    label: String,
    /// The meaning of the column in a sentence, for m3's own metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    meaning: Option<&'static str>,
}

/// The columns of a score: m3's metrics by their labels, others by their names.
fn columns<'a>(names: impl IntoIterator<Item = &'a String>) -> Vec<Column> {
    let column = |name: &String| {
        let metric = metrics().find(|metric| metric.name() == name);
        Column {
            label: metric.map_or_else(|| name.clone(), |metric| metric.label().to_owned()),
            name: name.clone(),
            meaning: metric.map(m3_score::Metric::meaning),
        }
    };
    names.into_iter().map(column).collect()
}

/// The name of a file without its folders, which readers of a bundle should not see.
fn name_of(path: impl AsRef<Path>) -> String {
    let path = path.as_ref();
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// A message about a file without the folders of its path.
fn without_folder(path: &Path, message: &str) -> String {
    message.replace(&path.display().to_string(), &name_of(path))
}
