//! Places of inputs and results: pipes, devices, endings, folders that may not be written to.
#![cfg(target_os = "linux")]

use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use crate::support::{
    Folder, can_mount, encoder, failure, m3_bare, m3_process, m3_with_cache, no_encoder, read_only, stdout,
    text,
};

const FILES: [&str; 2] = ["trajectories/predictions.json", "trajectories/references.json"];

/// The reader sees the whole report, and then the end of the pipe, once.
#[test]
fn a_report_goes_into_a_named_pipe() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let pipe = folder.path().join("report.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    let mut m3 = m3_with_cache(folder.path(), assets);
    stdout(m3.arg("score").args(FILES).arg("--out").arg(&pipe));
    let read = text(&reader.wait_with_output().unwrap().stdout);
    assert!(read.contains("\"m3.score/1\"") && read.ends_with("}\n"), "{read}");
}

#[test]
fn a_reader_that_has_seen_enough_of_a_table_is_no_failure() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let scored = folder.path().join("score.json");
    stdout(m3_with_cache(folder.path(), assets).arg("score").args(FILES).arg("--out").arg(&scored));
    let scored = scored.to_str().unwrap();
    let score = ["score", FILES[0], FILES[1], "--format", "csv"];
    let outcomes = ["outcomes", FILES[0], "--tools", "trajectories/tools.json", "--format", "csv"];
    for arguments in [&score[..], &["leaderboard", scored, "--format", "csv"], &outcomes] {
        // The other end is closed before anything is written.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = m3_process(folder.path(), assets).args(arguments).stdout(writer).output().unwrap();
        let said = text(&output.stderr);
        assert!(output.status.success() && !said.contains("error"), "{arguments:?}: {said}");
    }
}

#[test]
fn an_ending_that_stands_for_no_form_is_refused_with_those_that_do() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let scored = folder.path().join("score.json");
    stdout(m3_with_cache(folder.path(), assets).arg("score").args(FILES).arg("--out").arg(&scored));
    let scored = scored.to_str().unwrap();
    let known = |endings: &str| format!("hint: {endings} do, or name the form with `--format`");
    let [predictions, references] = FILES;
    let reports = known(".txt, .json, .jsonl, .csv, .md");
    let tables = known(".txt, .json, .csv, .md, .html, .htm, .tex");
    let plain = known(".txt, .json");
    let of_scores = known(".txt, .json, .jsonl, .csv, .md, .xml, .sarif");
    let comparisons = known(".txt, .json, .csv, .md, .html, .htm, .tex, .xml, .sarif");
    let audits = known(".txt, .json, .xml, .sarif");
    for (arguments, hint, endings) in [
        (&["score", predictions, references][..], &of_scores, &["html", "tsv", "xlsx", "gz"][..]),
        (&["outcomes", predictions, "--tools", "trajectories/tools.json"], &reports, &["html", "parquet"]),
        (&["audit", predictions, references], &audits, &["md", "csv"]),
        (&["leaderboard", scored], &tables, &["tsv", "jsonl"]),
        (&["compare", scored, scored], &comparisons, &["tsv"]),
        (&["tools", "servers/local.json"], &plain, &["md"]),
    ] {
        for ending in endings {
            let out = folder.path().join(format!("report.{ending}"));
            let (code, said) = failure(no_encoder(&folder).args(arguments).arg("--out").arg(&out));
            assert!(code == 2 && said.contains(hint.as_str()), "{arguments:?} .{ending}: {said}");
            assert!(!out.exists());
        }
    }
}

#[test]
fn an_ending_says_the_form_and_an_option_says_it_against_the_ending() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let written = |name: &str, options: &[&str]| {
        let out = folder.path().join(name);
        let mut m3 = m3_with_cache(folder.path(), assets);
        stdout(m3.arg("score").args(FILES).arg("--out").arg(&out).args(options));
        std::fs::read_to_string(out).unwrap()
    };
    assert!(written("a.CSV", &[]).starts_with("scope,"));
    assert!(written("a.html", &["--format", "csv"]).starts_with("scope,"));
    let table = written("a", &[]);
    assert!(table.starts_with("profile paper"), "{table}");
    assert_eq!(written("a.txt", &[]), table);
    let tools = folder.path().join("tools.json");
    stdout(m3_bare(folder.path()).args(["tools", "trajectories/tools.json", "--out"]).arg(&tools));
    assert!(std::fs::read_to_string(tools).unwrap().starts_with('{'));
}

#[test]
fn a_device_without_end_is_not_read_to_its_end() {
    let folder = Folder::new();
    for command in ["score", "audit"] {
        let (code, said) = failure(no_encoder(&folder).args([command, "/dev/zero", FILES[1]]));
        assert_eq!(code, 2, "{said}");
        assert!(said.contains("`/dev/zero`: it is a device") && said.contains("name a file"), "{said}");
    }
    let zero = std::fs::File::open("/dev/zero").unwrap();
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
    let output = command.args(["validate", "-"]).stdin(zero).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&[output.stdout, output.stderr].concat()).contains("`standard input`: it is a device"));
    // Other devices have an end.
    let (_, said) = failure(no_encoder(&folder).args(["score", "/dev/null", FILES[1]]));
    assert!(said.contains("the file is empty"), "{said}");
}

#[test]
fn help_that_cannot_be_written_is_a_failure() {
    for arguments in [&["--help"][..], &["--version"], &["score", "--help"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("m3"));
        let output = command.args(arguments).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(4), "{arguments:?}");
        let said = text(&output.stderr);
        assert!(
            said.contains("failed to write to standard output") && said.contains("hint: make space"),
            "{said}"
        );
        // A reader that stops reading is no failure.
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        assert!(command.stdout(writer).output().unwrap().status.success());
    }
}

/// The same exit code everywhere, and a hint that does not speak of disk space.
#[test]
fn a_folder_that_may_not_be_written_to_is_one_mistake_everywhere() {
    let Some(assets) = encoder() else { return };
    if !can_mount() {
        return;
    }
    let (folder, cache) = (Folder::new(), Folder::new());
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [predictions, references] = FILES;
    let outcomes = ["outcomes", predictions, "--tools", "trajectories/tools.json"];
    let run = ["run", "trajectories/tasks.json", "--llm", "replay:trajectories/cassette.jsonl.gz"];
    for (arguments, target) in [
        (&["score", predictions, references, "--out"][..], "report.json"),
        (&["audit", predictions, references, "--html"], "audit.html"),
        (&[&outcomes[..], &["--out"]].concat(), "outcomes.json"),
        (&["judge", predictions, "--rules-only", "-o"], "references.json"),
        (&[&run[..], &["--servers", "servers/local.json", "-o"]].concat(), "runs"),
        (&["setup", "--force", "--cache-dir"], ""),
    ] {
        let mut command = read_only(folder.path(), &assert_cmd::cargo::cargo_bin("m3"));
        command.env("M3_CACHE_DIR", cache.path()).env("M3_ENCODER_DIR", &assets.encoder_dir);
        command.env("ORT_DYLIB_PATH", &assets.runtime_library);
        let output = command.args(arguments).arg(at(target)).output().unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains("Read-only file system"), "{arguments:?}: {said}");
        assert!(said.contains("hint: name a place") && !said.contains("space"), "{arguments:?}: {said}");
    }
}

/// A failure for lack of memory is reported as such, once, without the runtime's own line. The limit at which m3
/// starts and the library loads, but not the weights, depends on where the system puts things: the lowest such limit
/// is used. One pool of memory for all threads, as each of their own takes addresses for 64 MB. Where a thread that has
/// begun finds no memory, Rust's runtime ends the program by a signal (6), and where ONNX Runtime finds none in the
/// midst of a computation, it may free what it never had (11): such a limit says nothing.
#[test]
fn a_lack_of_memory_is_said_as_such() {
    let Some(assets) = encoder() else { return };
    let said = (250..=450).step_by(10).find_map(|megabytes| {
        let folder = Folder::new();
        let mut command = crate::support::program_with_cache("sh", folder.path(), assets);
        let limited = format!("ulimit -v {megabytes}000; exec \"$0\" score --threads 1 \"$@\"");
        command.args(["-c", &limited]).arg(assert_cmd::cargo::cargo_bin("m3")).args(FILES);
        let output = command.env("MALLOC_ARENA_MAX", "1").output().unwrap();
        let said = text(&output.stderr);
        let status = output.status;
        let is_aborted = matches!(status.signal(), Some(6 | 11));
        assert!(matches!(status.code(), Some(0 | 4)) || is_aborted, "{megabytes} MB: {status}, {said}");
        said.starts_with("error: not enough memory for the encoder").then_some(said)
    });
    let said = said.expect("no limit that the weights alone do not fit into");
    assert!(!said.contains("graph") && !said.contains("onnxruntime:") && !said.contains('\x1b'), "{said}");
}
