//! Tests of what a kill, a full disk, another process or another program can do to a journal.

use std::path::PathBuf;

use super::*;

/// The two kinds: with a schema in the first line, and without.
const WITH_HEAD: Kind =
    Kind { name: "file of numbers", schema: Some("m3.numbers/1"), elsewhere: "name another file with `-o`" };
const PLAIN: Kind = Kind { schema: None, ..WITH_HEAD };
const HEAD: &str = "{\"schema\":\"m3.numbers/1\"}\n";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Number {
    number: u32,
    #[serde(default)]
    text: String,
}

fn number(number: u32) -> Number {
    Number { number, text: "bärte \"und\" {Zöpfe}\n".to_owned() }
}

fn line(of: u32) -> String {
    serde_json::to_string(&number(of)).unwrap() + "\n"
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("numbers.jsonl");
    (folder, path)
}

fn open(path: &Path, kind: Kind) -> Result<(Journal, Vec<u32>), JournalError> {
    let mut numbers = Vec::new();
    let journal = Journal::open(path, kind, |number: Number| numbers.push(number.number))?;
    Ok((journal, numbers))
}

fn shared(path: &Path) -> Result<SharedJournal<Number>, JournalError> {
    SharedJournal::open(path, PLAIN)
}

fn values(journal: &SharedJournal<Number>) -> Vec<u32> {
    journal.records().iter().map(|number| number.number).collect()
}

/// Asserts that neither kind of journal opens a file with this content, that each error names this line, and that the
/// file stays unchanged.
fn refused(content: &[u8], line_number: u64) -> String {
    let (_folder, path) = file();
    std::fs::write(&path, content).unwrap();
    let errors = [open(&path, PLAIN).unwrap_err(), shared(&path).unwrap_err()];
    assert_eq!(std::fs::read(&path).unwrap(), content);
    for error in &errors {
        assert!(matches!(error, JournalError::Line { line, .. } if *line == line_number), "{error}");
    }
    let [one, two] = errors.map(|error| error.to_string());
    assert_eq!(one, two);
    assert!(
        one.contains(&format!("numbers.jsonl:{line_number}` is no line of a file of numbers: ")),
        "{one}"
    );
    assert!(one.ends_with("\nhint: name another file with `-o`, or mend the line"), "{one}");
    one
}

#[test]
fn wherever_a_kill_has_cut_it_whole_lines_stay_and_the_rest_goes() {
    let (_folder, path) = file();
    for (kind, head) in [(WITH_HEAD, HEAD), (PLAIN, "")] {
        let whole = format!("{head}{}{}", line(1), line(2));
        let heads = head.lines().count();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole.as_bytes()[..cut]).unwrap();
            let lines = whole.as_bytes()[..cut].split(|byte| *byte == b'\n').count() - 1;
            let expected: Vec<u32> = [1, 2].into_iter().take(lines.saturating_sub(heads)).collect();
            if kind.schema.is_none() {
                assert_eq!(values(&shared(&path).unwrap()), expected, "{cut}");
            }
            let (journal, found) = open(&path, kind).unwrap();
            assert_eq!(found, expected, "{cut}");
            journal.append(&number(3)).unwrap();
            drop(journal);
            let kept: String = expected.iter().map(|known| line(*known)).collect();
            let expected = format!("{head}{kept}{}", line(3));
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{cut}");
        }
    }
}

#[test]
fn a_line_that_was_cut_off_is_removed_by_the_next_that_writes_and_not_by_who_reads() {
    let (_folder, path) = file();
    let cut = format!("{}{}", line(1), line(23).trim_end());
    std::fs::write(&path, &cut).unwrap();
    let mut journal = shared(&path).unwrap();
    assert_eq!(values(&journal), [1]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), cut);
    // The process that was writing the line is still alive and finishes it.
    std::fs::write(&path, format!("{cut}\n")).unwrap();
    journal.refresh().unwrap();
    assert_eq!(values(&journal), [1, 23]);
    std::fs::write(&path, format!("{cut}\n{{\"numb")).unwrap();
    journal.append_with(|_| Some(number(4))).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), [line(1), line(23), line(4)].concat());
}

#[test]
fn a_line_that_is_no_record_is_refused_with_its_place() {
    let message = refused(format!("{}garbage\n{}", line(1), line(2)).as_bytes(), 2);
    assert!(message.contains("is no line of a file of numbers: expected value at column 1\n"), "{message}");
    // A record of another shape, an empty line, and two lines of which one was cut off.
    refused(format!("{}{{\"other\":1}}\n", line(1)).as_bytes(), 2);
    refused(format!("\n{}", line(1)).as_bytes(), 1);
    refused(format!("{}{{\"number\":1{}{}", line(1), line(2), line(3)).as_bytes(), 2);
    // A long line is shown shortened, and nothing in it can control a terminal.
    let hostile = format!("{{\"number\":\"\u{1b}[2J{}\"}}\n", "x".repeat(10_000));
    let message = refused(hostile.as_bytes(), 1);
    assert!(message.len() < 600 && !message.contains('\u{1b}'), "{message}");
}

#[test]
fn a_line_that_is_not_utf_8_is_refused() {
    // Also in a key that is not read.
    let mut content = line(1).into_bytes();
    content.extend_from_slice(b"{\"number\":2,\"note\":\"\xff\xfe\"}\n");
    let message = refused(&content, 2);
    assert!(message.contains("it is not UTF-8"), "{message}");
}

#[test]
fn a_last_line_that_cannot_have_been_ours_is_not_cut() {
    for content in ["dear diary", "dear diary\n", "[1, 2]\n", "\0\0\0"] {
        refused(content.as_bytes(), 1);
    }
    refused(format!("{}\0\0", line(1)).as_bytes(), 2);
}

#[test]
fn a_journal_of_another_schema_is_left_as_it_is() {
    let (_folder, path) = file();
    for content in ["{\"schema\":\"m3.score/1\"}\n", "{\"schema\":\"m3.sc", "[1, 2]\n", "x", "\n", "{}\n"] {
        std::fs::write(&path, content).unwrap();
        let error = open(&path, WITH_HEAD).unwrap_err();
        assert!(matches!(error, JournalError::Foreign { .. }), "{content}: {error}");
        assert!(error.to_string().contains("numbers.jsonl` is no file of numbers\nhint: "), "{error}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
    }
    // The same schema in another notation is accepted.
    std::fs::write(&path, format!("{{ \"schema\": \"m3.numbers/1\", \"by\": 1 }}\n{}", line(7))).unwrap();
    assert_eq!(open(&path, WITH_HEAD).unwrap().1, [7]);
}

#[test]
fn an_empty_file_and_none_are_journals_without_records() {
    let (_folder, path) = file();
    assert_eq!(values(&shared(&path).unwrap()), [0; 0]);
    assert!(!path.exists(), "reading makes none");
    std::fs::write(&path, "").unwrap();
    assert_eq!(values(&shared(&path).unwrap()), [0; 0]);
    assert_eq!(open(&path, PLAIN).unwrap().1, [0; 0]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "");
    assert_eq!(open(&path, WITH_HEAD).unwrap().1, [0; 0]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), HEAD);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    for error in [open(folder.path(), PLAIN).unwrap_err(), shared(folder.path()).unwrap_err()] {
        assert!(error.to_string().contains("it is no plain file"), "{error}");
    }
    #[cfg(target_os = "linux")]
    for error in [open(Path::new("/dev/zero"), PLAIN), shared(Path::new("/dev/zero")).map(|_| panic!())] {
        assert!(matches!(error.unwrap_err(), JournalError::Io { action: "open", .. }));
    }
}

#[test]
fn only_one_at_a_time_has_a_journal_and_the_other_is_told_who() {
    let (_folder, path) = file();
    let (journal, _) = open(&path, WITH_HEAD).unwrap();
    journal.append(&number(1)).unwrap();
    let error = open(&path, WITH_HEAD).unwrap_err();
    let JournalError::Locked { process, .. } = &error else { panic!("{error}") };
    // If the system names a process, it is the right one.
    assert!(process.is_none_or(|process| process == std::process::id()), "{error}");
    let message = error.to_string();
    assert!(
        message.starts_with("another m3 works with `") && message.contains("hint: wait for its end"),
        "{message}"
    );
    drop(journal);
    assert_eq!(open(&path, WITH_HEAD).unwrap().1, [1]);
}

#[test]
fn two_that_write_see_each_other() {
    let (_folder, path) = file();
    let (mut one, mut two) = (shared(&path).unwrap(), shared(&path).unwrap());
    assert!(one.append_with(|_| Some(number(1))).unwrap());
    assert!(two.append_with(|known| Some(number(known[0].number + 1))).unwrap());
    assert!(!one.append_with(|known| (known.len() != 2).then(|| number(9))).unwrap());
    assert_eq!((values(&one), values(&two)), (vec![1, 2], vec![1, 2]));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), line(1) + &line(2));
}

#[test]
fn many_threads_lose_nothing() {
    let (_folder, path) = file();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = &path;
            scope.spawn(move || {
                let mut journal = shared(path).unwrap();
                for count in 0..20 {
                    journal.append_with(|_| Some(number(thread * 100 + count))).unwrap();
                }
            });
        }
    });
    let mut numbers = values(&shared(&path).unwrap());
    numbers.sort_unstable();
    let expected: Vec<u32> = (0..4).flat_map(|thread| (0..20).map(move |n| thread * 100 + n)).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn a_file_that_shrinks_or_goes_is_told() {
    let (_folder, path) = file();
    std::fs::write(&path, line(1) + &line(2)).unwrap();
    let mut journal = shared(&path).unwrap();
    std::fs::write(&path, line(1)).unwrap();
    assert!(matches!(journal.refresh().unwrap_err(), JournalError::Changed { .. }));
    assert!(matches!(journal.append_with(|_| Some(number(3))).unwrap_err(), JournalError::Changed { .. }));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), line(1));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(journal.refresh().unwrap_err(), JournalError::Io { .. }));
}

#[test]
fn sizes_are_bounded_when_reading_and_when_writing() {
    let (_folder, path) = file();
    let holes = |size: u64| File::create(&path).unwrap().set_len(size).unwrap();
    holes(MOST_BYTES_SHARED + 1);
    assert!(matches!(shared(&path).unwrap_err(), JournalError::TooLarge { .. }));
    // Within the limit for files, and beyond that for lines.
    holes(LONGEST_LINE + 1);
    let message = open(&path, PLAIN).unwrap_err().to_string();
    assert!(message.contains("numbers.jsonl:1`") && message.contains("more than 64 MiB"), "{message}");
    holes(0);
    let (journal, _) = open(&path, PLAIN).unwrap();
    let long = Number { number: 1, text: "x".repeat(usize::try_from(LONGEST_LINE).unwrap()) };
    assert!(matches!(journal.append(&long).unwrap_err(), JournalError::Io { .. }));
    journal.state.lock().unwrap().known.most = 2 * line(1).len() as u64;
    journal.append(&number(1)).unwrap();
    journal.append(&number(2)).unwrap();
    assert!(matches!(journal.append(&number(3)).unwrap_err(), JournalError::TooLarge { .. }));
    drop(journal);
    assert_eq!(open(&path, PLAIN).unwrap().1, [1, 2]);
}

/// `/dev/full` acts as the full disk; it cannot be cut, so nothing more may be written to it.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_half_a_line_is_not_written_on() {
    let file = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let path = PathBuf::from("/dev/full");
    let known = ReadState::new(&path, PLAIN, MOST_BYTES);
    let journal = Journal { path, state: Mutex::new(State { known, file }) };
    let message = journal.append(&number(1)).unwrap_err().to_string();
    assert!(message.contains("No space left") && message.contains("hint: make space"), "{message}");
    let message = journal.append(&number(2)).unwrap_err().to_string();
    assert!(message.contains("a line could not be written before"), "{message}");
}
