//! Workers: as many tasks at once as there are, none of which waits for another.

use std::io::BufReader;
use std::sync::{Arc, Barrier};

use serde_json::json;

use super::{ids, output_of, predictions};
use crate::llm_client::completion;
use crate::raw_http::{RawRequest, answer, listen};
use crate::support::{Folder, m3_bare, stdout};

/// As the benchmark has them.
const WORKERS: usize = 64;

#[test]
fn the_requests_of_all_workers_are_under_way_at_once() {
    let folder = Folder::new();
    let output = output_of(&folder);
    // Nobody is answered before all are there: one worker less, and each would wait for ever.
    let all = Arc::new(Barrier::new(WORKERS));
    let model = listen(move |stream| {
        let mut reader = BufReader::new(stream);
        if RawRequest::read(&mut reader).is_some() {
            all.wait();
            answer(reader.get_mut(), 200, &[], &completion("done").to_string());
        }
    });
    let task = |number: usize| json!({"id": format!("{number:03}"), "question": "Are all here?"});
    let tasks: Vec<_> = (0..2 * WORKERS).map(task).collect();
    let tasks = folder.write("tasks.json", json!(tasks).to_string().as_bytes());
    let mut run = m3_bare(folder.path());
    run.arg("run").arg(&tasks).args([
        "--llm",
        &format!("openai@http://{model}/v1:patient"),
        "--mode",
        "native",
    ]);
    run.args(["--servers", "servers/local.json", "--server", "math", "--workers", &WORKERS.to_string()]);
    run.args(["--task-time", "60", "-o"]).arg(&output);
    stdout(&mut run);
    let predictions = predictions(&output);
    assert_eq!(ids(&predictions).len(), 2 * WORKERS);
    assert!(predictions.iter().all(|prediction| prediction["final_reply"] == "done"));
}
