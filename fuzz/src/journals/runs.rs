//! The folder of a run: its journal, and a prediction that was made before.

use std::sync::Arc;

use m3_executor::run::{KeepWorkspaces, OutputFolder, Run, RunKey, RunTask, ToolSource};
use m3_executor::{Instruction, Limits, Mode, OfferedTools, RunOptions, prompts_hash};
use m3_llm::{Cassette, Model, Pictures, Settings};
use m3_mcp::ToolCatalog;
use m3_support::redact::Redactor;
use m3_trajectory::Task;
use m3_trajectory::json::Keys;

use super::whole_lines;
use crate::input::Temporary;

const MODEL: &str = "openai:m";

pub(super) fn check(bytes: &[u8]) {
    let folder = Temporary::folder("run");
    let opened = OutputFolder::open(folder.path());
    assert!(opened.is_ok(), "{opened:?}");
    let Ok(output) = opened else { return };
    let task = Task { id: "t".to_owned(), question: Some("What time is it?".to_owned()), ..Task::default() };
    let offered = Arc::new(OfferedTools::new(ToolCatalog::default()));
    let options = RunOptions {
        mode: Mode::Staged,
        instruction: Instruction::Question,
        limits: Limits::default(),
        compress: false,
        result_limit: 8000,
        no_images: false,
        max_image_side: None,
        settings: Settings::default(),
    };
    let key = RunKey {
        task: &task.to_json().to_text(Keys::Sorted),
        image: None,
        model: MODEL,
        prompts: &prompts_hash(options.mode),
        options: &options,
        tools: offered.hash(),
        repeat: 1,
    };
    let text = String::from_utf8_lossy(bytes).replace("{key}", &key.hash());
    let journal = output.root().join("journal.jsonl");
    let written =
        std::fs::write(output.prediction("t", 1), &text).and_then(|()| std::fs::write(&journal, bytes));
    assert!(written.is_ok(), "{written:?}");
    let Some(cassette) = cassette() else { return };
    let Ok(model) = Model::replay(Arc::clone(&cassette)) else { return };
    let run = Run {
        tasks: vec![RunTask { task, image: None, is_selected: true, offered }],
        output,
        model: Arc::new(model),
        tools: ToolSource::Replayed { cassette, recorder: None },
        redactor: Redactor::default(),
        pictures: Pictures::new(),
        options,
        repeats: 1,
        workers: 1,
        keep: KeepWorkspaces::Never,
        retry_failed: false,
    };
    let begun = run.begin().map(|begun| begun.standing());
    assert!(begun.is_ok(), "{begun:?}");
    let standing = begun.unwrap_or_default();
    assert_eq!(standing.to_do + standing.done + standing.failed, 1, "{standing:?}");
    assert!(standing.again <= standing.to_do && standing.others == 0, "{standing:?}");
    let after = std::fs::read(&journal).unwrap_or_default();
    assert!(after == whole_lines(bytes), "only a line that was cut off is taken from a journal");
}

/// A cassette without answers.
fn cassette() -> Option<Arc<Cassette>> {
    let header = format!("{{\"schema\":\"m3.cassette/1\",\"model\":\"{MODEL}\",\"created_by\":\"m3\"}}\n");
    let file = Temporary::file("empty.jsonl", header.as_bytes());
    Cassette::open(file.path()).ok().map(Arc::new)
}
