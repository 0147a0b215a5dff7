//! Tests that a format of another program needs one file and one row: the output of its reader is read like m3's own
//! trajectories.

use std::io::BufRead as _;

use super::{FORMATS, Format, Output, ReadFormat};
use crate::file::{Duplicates, TrajectoryFile};
use crate::model::{Call, Step, Trajectory};
use crate::problem::{Place, Severity};
use crate::source::Source;
use crate::source_error::SourceError;

/// Lines `ID: TOOL`, one trajectory each.
const NOTES: Format = Format {
    name: "notes",
    title: "notes of calls",
    recognizes: |start| start.bytes.starts_with(b"notes\n"),
    read: ReadFormat::Converted(read_notes),
};

fn read_notes(source: &Source, output: &mut Output<'_>) -> Result<(), SourceError> {
    for (line, number) in source.reader()?.lines().zip(1..).skip(1) {
        let line = line.map_err(|cause| source.error(cause))?;
        let Some((id, tool)) = line.split_once(": ") else {
            let place = Place { line: Some(number), ..Place::default() };
            output.problem(Severity::Warning, place, "no note; left out");
            continue;
        };
        let call = Call { tool: tool.to_owned(), arguments: None, result: None, extra: Vec::new() };
        let steps = vec![Step { calls: vec![call], ..Step::default() }];
        output.trajectory(Some(number), &Trajectory { id: id.to_owned(), steps, ..Trajectory::default() })?;
    }
    Ok(())
}

fn open(text: &str) -> TrajectoryFile {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("calls.txt");
    std::fs::write(&path, text).unwrap();
    TrajectoryFile::scan(&path, &[NOTES], Duplicates::Error, &mut |_, _| ()).unwrap()
}

#[test]
fn trajectories_and_problems_of_another_format_have_their_places() {
    let file = open("notes\na: image/crop\n?\nb: image/zoom\nb: image/crop\n");
    assert_eq!(file.len(), 2);
    assert_eq!(file.read(file.find("a").unwrap()).unwrap().steps[0].calls[0].tool, "image/crop");
    // Of two with an id, the last is kept.
    assert_eq!(file.lines(), [Some(2), Some(5)]);
    let shown: Vec<String> = file.problems().iter().map(ToString::to_string).collect();
    let of_line = |line: u64| shown.iter().filter(|text| text.contains(&format!("calls.txt:{line}"))).count();
    assert_eq!((of_line(3), file.problems().count(Severity::Error)), (1, 1), "{shown:?}");
    assert!(shown.iter().any(|text| text.contains("calls.txt:5 (id `b`): duplicate id")), "{shown:?}");
    // The digest is that of the file's own bytes, not of the converted ones.
    assert_eq!(
        file.digest().unwrap(),
        TrajectoryFile::digest(&open("notes\na: image/crop\n?\nb: image/zoom\nb: image/crop\n")).unwrap()
    );
    assert_ne!(file.digest().unwrap(), open("notes\n").digest().unwrap());
}

/// Lines counted by hand: of a list, of an object by id, and of JSON Lines.
#[test]
fn every_trajectory_knows_the_line_on_which_it_begins() {
    let lines = |text: &str| open(text).lines();
    let steps = r#""steps": [{"calls": []}]"#;
    assert_eq!(
        lines(&format!("[\n{{\"id\": \"a\",\n{steps}}}\n,\n\n{{\"id\": \"b\", {steps}}}]")),
        [Some(2), Some(6)]
    );
    assert_eq!(lines(&format!("{{\"a\":\n{{{steps}}},\n\"b\": {{{steps}}}}}")), [Some(2), Some(3)]);
    assert_eq!(
        lines(&format!("{{\"id\": \"a\", {steps}}}\n\n{{\"id\": \"b\", {steps}}}\n")),
        [Some(1), Some(3)]
    );
}

#[test]
fn a_file_of_another_format_without_trajectories_is_an_error() {
    assert_eq!(open("notes\n").problems().count(Severity::Error), 1);
}

#[test]
fn the_last_format_takes_every_file_and_names_are_unique() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let start = super::Start { name: "", bytes: b"", source: &Source::open(file.path()).unwrap() };
    assert!((FORMATS[FORMATS.len() - 1].recognizes)(&start));
    let names: std::collections::BTreeSet<&str> = FORMATS.iter().map(|format| format.name).collect();
    assert_eq!(names.len(), FORMATS.len());
    assert!(FORMATS.iter().all(|format| !format.title.is_empty()));
}
