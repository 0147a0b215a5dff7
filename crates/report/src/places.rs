//! The places of trajectories in their files, for output formats that point there.

use std::path::{Component, Path};
use std::sync::Arc;

use m3_support::text::percent_encoded;

/// The places of both sides of a trajectory, only for output formats that point there; the JSON of a score has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Places {
    /// The prediction; `None` if there is none, or if it came from standard input.
    pub prediction: Option<FilePlace>,
    /// The reference; `None` if there is none, or if it came from standard input.
    pub reference: Option<FilePlace>,
    /// The span that recorded the prediction, or that records it where it is exported.
    pub span: Option<SpanPlace>,
}

/// A place in traces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanPlace {
    /// The trace's id, 32 digits in hexadecimal.
    pub trace: String,
    /// The span's id, 16 digits; `None` where only the trace is known.
    pub span: Option<String>,
}

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePlace {
    /// The file's address, as [`file_uri`] makes it.
    pub uri: Arc<str>,
    /// The line, from 1, where it is known.
    pub line: Option<u64>,
}

/// The address of a file (RFC 3986): relative if it lies in `folder` or was named so, as viewers that know a repository want
/// it, else absolute.
#[must_use]
pub fn file_uri(path: &Path, folder: &Path) -> String {
    let inside = path.strip_prefix(folder).unwrap_or(path);
    let mut segments = Vec::new();
    let mut start = "";
    for part in inside.components() {
        match part {
            Component::RootDir | Component::Prefix(_) => start = "file:///",
            Component::CurDir => {}
            Component::ParentDir => segments.push("..".to_owned()),
            Component::Normal(name) => segments.push(percent_encoded(&name.to_string_lossy()).to_string()),
        }
    }
    format!("{start}{}", segments.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by hand after RFC 3986: a colon in the first segment would make the rest of it a scheme's.
    #[test]
    fn addresses_are_relative_where_they_can_be() {
        let uri = |path: &str| file_uri(Path::new(path), Path::new("/srv/here"));
        assert_eq!(uri("runs/a b/p#1.json"), "runs/a%20b/p%231.json");
        assert_eq!(uri("./p.json"), "p.json");
        assert_eq!(uri("../p.json"), "../p.json");
        assert_eq!(uri("/srv/here/p.json"), "p.json");
        assert_eq!(uri("/elsewhere/p.json"), "file:///elsewhere/p.json");
        assert_eq!(uri("a:b/é.json"), "a%3Ab/%C3%A9.json");
    }
}
