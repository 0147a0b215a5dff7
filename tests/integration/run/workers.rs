//! Workers: as many tasks at once as there are workers, none waiting for another.

use std::io::BufReader;
use std::sync::{Arc, Barrier};

use m3_testkit::raw_http::{RawRequest, answer, listen};

use super::{ids, math_arguments, output_of, predictions, questions};
use crate::llm_client::completion;
use crate::support::{Folder, m3_bare, stdout, wait_for};

/// The same number as in the benchmark.
const WORKERS: usize = 64;

#[test]
fn the_requests_of_all_workers_are_under_way_at_once() {
    let folder = Folder::new();
    let output = output_of(&folder);
    // No request is answered before all have arrived: with one worker less, each would wait for ever.
    let all = Arc::new(Barrier::new(WORKERS));
    let model = listen(move |stream| {
        let mut reader = BufReader::new(stream);
        if RawRequest::read(&mut reader).is_some() {
            all.wait();
            answer(reader.get_mut(), 200, &[], &completion("done").to_string());
        }
    });
    let tasks = questions(&folder, 2 * WORKERS);
    let mut run = m3_bare(folder.path());
    run.args(math_arguments(&tasks, &format!("openai@http://{model}/v1:patient"), &output));
    stdout(run.args(["--workers", &WORKERS.to_string(), "--task-time", "60"]));
    let predictions = predictions(&output);
    assert_eq!(ids(&predictions).len(), 2 * WORKERS);
    assert!(predictions.iter().all(|prediction| prediction["final_reply"] == "done"));
}

/// The first task is answered only after all others have their predictions.
#[test]
fn a_slow_task_holds_up_no_other() {
    const TASKS: usize = 15;
    let folder = Folder::new();
    let output = output_of(&folder);
    let finished = output.join("predictions");
    let model = listen(move |stream| {
        let mut reader = BufReader::new(stream);
        let Some(request) = RawRequest::read(&mut reader) else { return };
        if String::from_utf8_lossy(&request.body).contains("Task 00.") {
            // If they never come there is no answer, and the task fails.
            wait_for("the other tasks wait for the slow one", || {
                let files = std::fs::read_dir(&finished).unwrap().map(|file| file.unwrap().path());
                files.filter(|file| file.extension().is_some_and(|ending| ending == "json")).count()
                    == TASKS - 1
            });
        }
        answer(reader.get_mut(), 200, &[], &completion("done").to_string());
    });
    let tasks = questions(&folder, TASKS);
    let mut run = m3_bare(folder.path());
    run.args(math_arguments(&tasks, &format!("openai@http://{model}/v1:slow"), &output));
    stdout(run.args(["--workers", "2", "--llm-tries", "1"]));
    let predictions = predictions(&output);
    assert_eq!(predictions.len(), TASKS);
    for prediction in predictions {
        assert_eq!((&prediction["finish"], &prediction["final_reply"]), (&"answered".into(), &"done".into()));
    }
}
