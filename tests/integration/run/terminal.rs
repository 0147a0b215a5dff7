//! The live view of a run, on a terminal created by Python.
#![cfg(unix)]

use std::io::Read as _;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire};

use super::{add, math_arguments, output_of, predictions, questions};
use crate::support::{Folder, on_terminal, root, skipped, wait_for};

const COLUMNS: u16 = 110;

/// A screen of unlimited height that understands the control sequences of m3's library for live views (ECMA-48,
/// section 8.3); any other fails the test.
#[derive(Default)]
struct Screen {
    lines: Vec<Vec<char>>,
    row: usize,
    column: usize,
    /// An incomplete escape sequence.
    open: Option<String>,
}

impl Screen {
    fn put(&mut self, c: char) {
        if let Some(sequence) = &mut self.open {
            sequence.push(c);
            if sequence.len() > 1 && c.is_ascii_alphabetic() {
                let sequence = self.open.take().unwrap();
                self.control(&sequence);
            }
            return;
        }
        // The cursor leaves a full line with the next character, which the library relies on.
        if self.column == usize::from(COLUMNS) && !c.is_control() {
            (self.row, self.column) = (self.row + 1, 0);
        }
        while self.lines.len() <= self.row {
            self.lines.push(Vec::new());
        }
        match c {
            '\u{1b}' => self.open = Some(String::new()),
            '\r' => self.column = 0,
            '\n' => self.row += 1,
            c => {
                assert!(!c.is_control(), "{c:?}");
                let line = &mut self.lines[self.row];
                line.resize(line.len().max(self.column + 1), ' ');
                line[self.column] = c;
                self.column += 1;
            }
        }
    }

    fn control(&mut self, sequence: &str) {
        let count = || sequence[1..sequence.len() - 1].parse::<usize>().unwrap();
        match sequence.chars().last().unwrap() {
            'A' => self.row = self.row.checked_sub(count()).unwrap(),
            'B' => self.row += count(),
            'K' => {
                assert_eq!(sequence, "[2K");
                if let Some(line) = self.lines.get_mut(self.row) {
                    line.clear();
                }
            }
            'm' => {}
            _ => panic!("{sequence:?}"),
        }
    }

    fn lines(&self) -> Vec<String> {
        let lines = self.lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned());
        lines.collect()
    }
}

/// The last of three tasks waits for its answer until the view has shown the end of the others.
#[test]
fn a_terminal_shows_how_far_the_run_is_and_nothing_of_it_remains() {
    let folder = Folder::new();
    let screen = Arc::new(Mutex::new(Screen::default()));
    let seen_screen = Arc::clone(&screen);
    let model = ScriptedModel::start(ScriptedWire::OpenAi, move |seen| {
        if seen.last_user_text.contains("Task 02.") {
            // Two tasks of two turns with 110 tokens each.
            let (expected, taken) = ("2 of 3 tasks in ", "2 steps, 2 calls, 440 tokens");
            wait_for(expected, || {
                let lines = seen_screen.lock().unwrap().lines();
                let far = lines.iter().position(|line| {
                    line.starts_with(expected) && line.ends_with(" left; 1 running, 0 failed")
                });
                far.is_some_and(|far| {
                    // The lines below it may not be drawn yet.
                    let below = |count: usize| lines.get(far + count).map_or("", String::as_str);
                    below(1) == taken
                        && below(2).starts_with("  t02 ")
                        && below(2).contains("turn 1: asks the model")
                })
            });
        }
        match seen.results.first() {
            None if !seen.last_user_text.contains("Task 02.") => ScriptedReply::Call(vec![add(1, 2)]),
            _ => ScriptedReply::Say("done".to_owned()),
        }
    });
    let (tasks, output) = (questions(&folder, 3), output_of(&folder));
    let llm = format!("openai@{}:scripted", model.base_url());
    let mut command = on_terminal(COLUMNS, &["stdout", "stderr"]);
    command.arg(assert_cmd::cargo::cargo_bin("m3")).args(math_arguments(&tasks, &llm, &output));
    command.args(["--workers", "1", "--llm-tries", "1"]).current_dir(root());
    command.env("TERM", "xterm").env("NO_COLOR", "1").env("M3_CACHE_DIR", folder.path());
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        return skipped("python3 is not here").unwrap_or_default();
    };
    let mut drawn = child.stdout.take().unwrap();
    let (mut buffer, mut rest) = ([0; 4096], Vec::new());
    loop {
        let length = drawn.read(&mut buffer).unwrap();
        if length == 0 {
            break;
        }
        rest.extend_from_slice(&buffer[..length]);
        // The end of the buffer may cut a character.
        let whole = match std::str::from_utf8(&rest) {
            Ok(text) => text.len(),
            Err(error) => error.valid_up_to(),
        };
        let text = String::from_utf8(rest.drain(..whole).collect()).unwrap();
        let mut screen = screen.lock().unwrap();
        text.chars().for_each(|c| screen.put(c));
    }
    let lines = screen.lock().unwrap().lines();
    assert!(child.wait().unwrap().success(), "{lines:#?}");
    assert_eq!(predictions(&output).len(), 3);
    assert!(lines.iter().any(|line| line == "tasks      3"), "{lines:#?}");
    assert!(lines.iter().any(|line| line == "tokens     500 in, 50 out"), "{lines:#?}");
    // Notes and the table, without cleared lines between.
    for line in &lines {
        assert!(!line.contains(" running, ") && !line.starts_with("  t0"), "{lines:#?}");
    }
    let last = lines.iter().rposition(|line| !line.is_empty()).unwrap();
    assert!(lines[..last].iter().all(|line| !line.is_empty()), "{lines:#?}");
}
