//! Tests of tables: written tables are read back unchanged, whatever is in their cells, and by the same rules as the
//! page.

use m3_mcp::{ServerTools, ToolCatalog};
use m3_trajectory::json::{self, Json};
use m3_trajectory::{Call, Step, Trajectory};
use serde_json::json;

use super::super::arrangement::{PlacedCall, Revision, Rules};
use super::super::decision::{Action, State};
use super::super::import::read_table;
use super::*;

fn references() -> Vec<Trajectory> {
    let call = |tool: &str, arguments: &str| Call {
        tool: tool.to_owned(),
        arguments: Some(json::parse(arguments.as_bytes()).unwrap().0),
        result: Some(Json::String("x".to_owned())),
        extra: Vec::new(),
    };
    let step = |number, calls| Step { number: Some(number), calls, ..Step::default() };
    let trajectory = |id: &str| {
        let first = step(1, vec![call("a/find", r#"{"q":"eel, \"x\"\n"}"#), call("=HYPERLINK(1)/x", "{}")]);
        let steps = vec![first, step(2, vec![call("a/find", r#"{"q":"=1+1"}"#)])];
        Trajectory { id: id.to_owned(), steps, ..Trajectory::default() }
    };
    let empty = Trajectory { id: "empty".to_owned(), ..Trajectory::default() };
    vec![trajectory("=cmd|' /C calc'!A0"), trajectory("'quoted"), trajectory("@a,\"b\"\n"), empty]
}

fn rules() -> Rules {
    let schema = json!({"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]});
    Rules::new(Some(&ToolCatalog {
        servers: vec![ServerTools::from_wire("a", vec![json!({"name": "find", "inputSchema": schema})])],
    }))
}

fn open(folder: &tempfile::TempDir) -> Reviews {
    Reviews::open(references(), &folder.path().join("r.jsonl")).unwrap()
}

fn written(reviews: &Reviews) -> String {
    let mut bytes = Vec::new();
    write_table(reviews, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn wrong(reviews: &Reviews, table: &str) -> Vec<String> {
    let found = read_table(reviews, &rules(), table.as_bytes()).unwrap_err();
    found.iter().map(ToString::to_string).collect()
}

#[test]
fn what_is_written_is_read_back_and_asks_for_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = open(&folder);
    let note = "-1 is wrong; =SUM(A1)".to_owned();
    reviews.decide(0, 0, "+Ada", Action::Reject { note }).unwrap();
    let placed = |call, tool: Option<&str>| PlacedCall {
        call,
        tool: tool.map(str::to_owned),
        arguments: Some(r#"{"q":"z"}"#.to_owned()),
    };
    let steps = vec![vec![placed(2, None)], vec![placed(4, Some("=cmd"))]];
    let revision = Revision { steps, reply: Some("7".to_owned()) };
    let edit = Action::Edit { revision, change: String::new(), note: String::new() };
    reviews.decide(1, 0, "Ada", edit).unwrap();
    let table = written(&reviews);
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    for cell in reader.records().flat_map(|row| row.unwrap().iter().map(str::to_owned).collect::<Vec<_>>()) {
        assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{cell}");
    }
    assert!(
        table.contains("'-1 is wrong") && table.contains("'+Ada") && table.contains("''quoted"),
        "{table}"
    );
    assert!(read_table(&reviews, &rules(), table.as_bytes()).unwrap().is_empty());
}

#[test]
fn a_table_decides_moves_and_removes() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = open(&folder);
    let table = "id,step,call,tool,arguments,decision,note\n\
        '=cmd|' /C calc'!A0,1,3,a/find,\"{\"\"q\"\": \"\"carp\"\"}\",accepted,fine\n\
        '=cmd|' /C calc'!A0,2,1,a/find,,accepted,\n\
        ''quoted,1,1,a/find,,rejected,-no\n";
    let changes = read_table(&reviews, &rules(), table.as_bytes()).unwrap();
    assert_eq!(changes.len(), 2);
    assert_eq!(changes.decide(&mut reviews, "Ada").unwrap(), []);
    assert_eq!(
        (reviews.state(0), reviews.state(1), reviews.state(2)),
        (State::Accepted, State::Rejected, State::Open)
    );
    let call = |call, arguments: Option<&str>| PlacedCall {
        call,
        tool: None,
        arguments: arguments.map(str::to_owned),
    };
    let expected = vec![vec![call(2, Some("{\"q\":\"carp\"}"))], vec![call(0, None)]];
    assert_eq!(reviews.current(0).steps, expected);
    assert!(read_table(&reviews, &rules(), written(&reviews).as_bytes()).unwrap().is_empty());
}

/// A line with a tool and without a number is a new call; its number is the same when the table is read again.
#[test]
fn a_table_adds_calls_and_leaves_answers_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = open(&folder);
    let revision = Revision { reply: Some("7".to_owned()), ..reviews.current(1) };
    let edit = Action::Edit { revision, change: String::new(), note: String::new() };
    reviews.decide(1, 0, "Ada", edit).unwrap();
    let table = "id,step,call,tool,arguments,decision,note\n\
        ''quoted,1,1,a/find,,accepted,\n\
        ''quoted,1,,a/find,\"{\"\"q\"\": \"\"carp\"\"}\",accepted,\n\
        empty,1,,a/find,\"{\"\"q\"\": \"\"eel\"\"}\",accepted,\n";
    for _ in 0..2 {
        let changes = read_table(&reviews, &rules(), table.as_bytes()).unwrap();
        changes.decide(&mut reviews, "Ada").unwrap();
        assert_eq!(reviews.len(), 5);
    }
    let numbers = |index: usize| -> Vec<usize> {
        reviews.current(index).steps.iter().flatten().map(|placed| placed.call).collect()
    };
    assert_eq!((numbers(1), numbers(3)), (vec![0, 3], vec![0]));
    assert_eq!(reviews.current(1).reply.as_deref(), Some("7"));
    assert!(read_table(&reviews, &rules(), written(&reviews).as_bytes()).unwrap().is_empty());
    for (line, part) in [
        ("empty,1,,a/none,,open,", "the catalog has no tool `a/none`"),
        ("empty,1,,a/find,,open,", "\"q\" is a required"),
        ("empty,1,1,,,open,", "not one of the reference"),
        ("empty,1,0,a/find,,open,", "numbers from 1"),
        ("empty,,,a/find,,open,", "numbers from 1"),
    ] {
        let found = wrong(&reviews, &format!("id,step,call,tool,arguments,decision,note\n{line}\n"));
        assert!(found[0].starts_with("line 2: ") && found[0].contains(part), "{line}: {found:?}");
    }
}

#[test]
fn every_problem_has_its_line_and_nothing_is_decided() {
    let folder = tempfile::tempdir().unwrap();
    let reviews = open(&folder);
    let table = "id,step,call,arguments,decision,note\n\
        ''quoted,1,1,\"{\"\"q\"\": 3}\",open,\n\
        nobody,1,1,,open,\n\
        \"@a,\"\"b\"\"\n\",x,1,,open,\n\
        '=cmd|' /C calc'!A0,1,1,,rejected,\n";
    let found = wrong(&reviews, table);
    assert!(found[0].starts_with("line 2: /q:"), "{found:?}");
    assert!(found[1].starts_with("line 3: there is no reference `nobody`"), "{found:?}");
    assert!(found.iter().any(|problem| problem.contains("numbers from 1")), "{found:?}");
    assert!(found.iter().any(|problem| problem.contains("needs a note")), "{found:?}");
    assert!(reviews.is_empty());
    assert!(wrong(&reviews, "id,step\n")[0].starts_with("line 1: there is no column `call`"));
    let twice = "id,step,call,arguments,decision\n''quoted,1,1,,open\n''quoted,2,1,,open\n";
    assert!(wrong(&reviews, twice)[0].contains("twice"));
    let other = "id,step,call,arguments,decision\n''quoted,1,1,,maybe\n";
    assert!(wrong(&reviews, other)[0].contains("`maybe` is none of"));
}

#[test]
fn a_table_that_is_older_than_a_decision_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut reviews = open(&folder);
    let (with_calls, _) =
        written(&reviews).split_once("empty,").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let table = with_calls.replace(",open,", ",accepted,");
    reviews.decide(0, 0, "Bob", Action::Reject { note: "no".to_owned() }).unwrap();
    let changes = read_table(&reviews, &rules(), table.as_bytes()).unwrap();
    let late = changes.decide(&mut reviews, "Ada").unwrap();
    assert!(late[0].to_string().starts_with("line 2: Bob has decided in the meantime"), "{late:?}");
    assert_eq!((reviews.state(0), reviews.state(1)), (State::Rejected, State::Accepted));
}

/// As spreadsheets save tables: ids are numbers without leading zeros, cells stand between semicolons or tabs, lines
/// end with both characters, and text is UTF-16.
#[test]
fn what_spreadsheets_make_of_a_table_is_understood() {
    let numbered = |ids: &[&str]| -> Vec<Trajectory> {
        let named = |id: &&str| Trajectory { id: (*id).to_owned(), ..references()[0].clone() };
        ids.iter().map(named).collect()
    };
    let folder = tempfile::tempdir().unwrap();
    let open = |ids: &[&str]| Reviews::open(numbered(ids), &folder.path().join("r.jsonl")).unwrap();
    let reviews = open(&["00050000", "00060000", "050000"]);
    let table = written(&reviews).replace("00050000,", "50000,").replace(",open,", ",accepted,");
    let rows = |text: &str, delimiter: u8| -> String {
        let mut writer = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .terminator(csv::Terminator::CRLF)
            .flexible(true)
            .from_writer(Vec::new());
        let mut reader =
            csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
        for record in reader.records() {
            writer.write_record(&record.unwrap()).unwrap();
        }
        String::from_utf8(writer.into_inner().unwrap()).unwrap()
    };
    for text in [rows(&table, b';'), rows(&table, b'\t'), format!("\u{feff}{}", rows(&table, b','))] {
        let utf16: Vec<u8> = format!("\u{feff}{}", text.trim_start_matches('\u{feff}'))
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        for bytes in [text.clone().into_bytes(), utf16] {
            let changes = read_table(&reviews, &rules(), bytes.as_slice()).unwrap();
            assert_eq!(changes.len(), 3);
        }
    }
    // Without the column of references, the id must belong to exactly one reference.
    let bare = "id,step,call,arguments,decision\r\n60000,1,1,,open\r\n50000,1,1,,open\r\n";
    let found = wrong(&reviews, bare);
    assert_eq!(found, ["line 3: there is no reference `50000`"]);
    // A table belongs to the references that it was written for.
    let mut changed = numbered(&["00050000", "00060000", "050000"]);
    changed[1].question = Some("another".to_owned());
    let changed = Reviews::open(changed, &folder.path().join("r.jsonl")).unwrap();
    let found = wrong(&changed, &table);
    assert!(found[0].contains("`00060000` was changed since the table was written"), "{found:?}");
    let swapped = table.replacen("50000,1,1", "00060000,1,1", 1);
    assert!(wrong(&reviews, &swapped)[0].contains("`reference` is that of `00050000`"));
}

#[test]
fn a_reference_without_calls_is_not_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let reviews = open(&folder);
    let table = written(&reviews).replace("empty,,,,,open", "empty,,,,,accepted");
    let found = wrong(&reviews, &table);
    assert!(found.len() == 1 && found[0].contains("or reject it"), "{found:?}");
}
