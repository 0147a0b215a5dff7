//! Long texts and pictures of a sample, which stand beside it and are named by their hashes.

use crate::formats::prelude::*;
use std::cell::Cell;

/// The beginning of a reference to an attachment.
const SCHEME: &str = "attachment://";

/// The most bytes that references are replaced by: many can name one attachment.
const MOST: usize = 256 << 20;

/// The attachments of a sample.
#[derive(Debug)]
pub(super) struct Attachments<'j> {
    texts: HashMap<&'j str, &'j str>,
    left: Cell<usize>,
    is_missing: Cell<bool>,
}

impl<'j> Attachments<'j> {
    /// The attachments of a sample.
    pub(super) fn new(sample: &'j Json) -> Self {
        let texts = sample.member("attachments").map_or(&[][..], members);
        let texts = texts.iter().filter_map(|(hash, text)| Some((hash.as_str(), text.as_str()?)));
        Self { texts: texts.collect(), left: Cell::new(MOST), is_missing: Cell::default() }
    }

    /// Whether a reference could not be replaced.
    pub(super) fn is_missing(&self) -> bool {
        self.is_missing.get()
    }

    /// A value in which references are replaced by their attachments.
    pub(super) fn resolved(&self, value: &Json) -> Json {
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => Json::Array(items.iter().map(|item| self.resolved(item)).collect()),
            Json::Object(members) => {
                Json::Object(members.iter().map(|(key, value)| (key.clone(), self.resolved(value))).collect())
            }
            other => other.clone(),
        }
    }

    /// A text, or the attachment that it refers to.
    pub(super) fn text(&self, text: &str) -> String {
        let Some(hash) = text.strip_prefix(SCHEME) else { return text.to_owned() };
        let attachment = self.texts.get(hash).filter(|text| text.len() <= self.left.get());
        let Some(attachment) = attachment else {
            self.is_missing.set(true);
            return text.to_owned();
        };
        self.left.set(self.left.get() - attachment.len());
        (*attachment).to_owned()
    }
}
