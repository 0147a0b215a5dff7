//! The embedding cache: it changes no number, whatever happens to it.

use m3_embedding::{Embedder, EmbeddingCache as _, Encoder as _};
use m3_encoder::Cache;
use serde_json::Value;

use crate::support::{
    Folder, LetterCounts, can_mount, encoder, m3_bare, m3_process, m3_with_cache, read_only, report, run,
    stdout, text,
};

const FILES: [&str; 2] = ["trajectories/predictions.json", "trajectories/references.json"];

const LIMIT: u64 = 1 << 30;

fn open(folder: &Folder, fingerprint: &str) -> Cache {
    Cache::open(folder.path(), "letter-counts", fingerprint, LIMIT).unwrap()
}

fn score(folder: &Folder) -> Option<Value> {
    Some(report(m3_with_cache(folder.path(), encoder()?).arg("score").args(FILES)))
}

/// `m3 score` with a runtime that cannot be loaded: works only if every embedding is in the cache.
fn score_from_cache_alone(folder: &Folder) -> Option<Value> {
    let mut m3 = m3_with_cache(folder.path(), encoder()?);
    Some(report(m3.env("ORT_DYLIB_PATH", "Cargo.toml").arg("score").args(FILES)))
}

#[test]
fn a_second_run_needs_no_encoder_and_says_the_same() {
    let folder = Folder::new();
    let Some(first) = score(&folder) else { return };
    assert_eq!(score_from_cache_alone(&folder), Some(first.clone()));
    let mut without = m3_with_cache(folder.path(), encoder().unwrap());
    assert_eq!(report(without.arg("score").args(FILES).arg("--no-cache")), first);
}

/// An earlier release kept results in a table `result`: its embeddings are used, also where nothing can be written, and the
/// table goes as soon as it can, also if that release has made it again.
#[test]
fn a_cache_of_an_earlier_release_is_used() {
    let folder = Folder::new();
    let Some(first) = score(&folder) else { return };
    let database = Cache::path(folder.path());
    let change = |sql: &str| rusqlite::Connection::open(&database).unwrap().execute_batch(sql).unwrap();
    let tables = || -> Vec<String> {
        let connection = rusqlite::Connection::open(&database).unwrap();
        let mut query =
            connection.prepare("SELECT name FROM sqlite_schema WHERE name IN ('result', 'comparison')");
        let query = query.as_mut().unwrap();
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    change("ALTER TABLE comparison RENAME TO result");
    if can_mount() {
        let mut m3 = read_only(folder.path(), &assert_cmd::cargo::cargo_bin("m3"));
        m3.env("M3_CACHE_DIR", folder.path()).env("M3_ENCODER_DIR", &encoder().unwrap().encoder_dir);
        let output = m3.env("ORT_DYLIB_PATH", "Cargo.toml").arg("score").args(FILES).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("no such table"), "{}", text(&output.stderr));
    }
    stdout(m3_with_cache(folder.path(), encoder().unwrap()).args(["cache", "clear"]));
    assert_eq!(tables(), ["comparison"]);
    assert_eq!(score(&folder), Some(first.clone()));
    change("CREATE TABLE result (key)");
    assert_eq!(score_from_cache_alone(&folder), Some(first));
    assert_eq!(tables(), ["comparison"]);
}

#[test]
fn encoders_and_texts_do_not_mix() {
    let folder = Folder::new();
    let vector = vec![1.0_f32, 2.0, 3.0];
    open(&folder, "one").store(&[("text", [7; 16])], &[([7; 16], &vector)]).unwrap();
    assert_eq!(open(&folder, "one").inputs(&["text", "other"]).unwrap(), [Some([7; 16]), None]);
    assert_eq!(open(&folder, "one").vectors(&[[7; 16], [8; 16]]).unwrap(), [Some(vector), None]);
    assert_eq!(open(&folder, "two").inputs(&["text"]).unwrap(), [None]);
    assert_eq!(open(&folder, "two").vectors(&[[7; 16]]).unwrap(), [None]);
}

#[test]
fn a_damaged_embedding_is_computed_again() {
    let folder = Folder::new();
    let Some(first) = score(&folder) else { return };
    let database = Cache::path(folder.path());
    let connection = rusqlite::Connection::open(&database).unwrap();
    connection
        .execute("UPDATE vector SET data = zeroblob(length(data) - 1) || x'01' WHERE rowid % 2", [])
        .unwrap();
    drop(connection);
    assert_eq!(score(&folder), Some(first.clone()));
    // The embedding that was computed again is in the cache again.
    assert_eq!(score_from_cache_alone(&folder), Some(first));
}

#[test]
fn a_file_that_is_no_cache_is_replaced() {
    let folder = Folder::new();
    folder.write(
        "embeddings.sqlite",
        "not a database, but longer than a header of SQLite, which has 100 bytes".repeat(9),
    );
    let Some(first) = score(&folder) else { return };
    assert_eq!(score_from_cache_alone(&folder), Some(first));
    // A real cache, damaged in the middle.
    let path = Cache::path(folder.path());
    let mut bytes = std::fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[4096..length.min(40_000)].fill(0x5a);
    std::fs::write(&path, bytes).unwrap();
    let mut m3 = m3_with_cache(folder.path(), encoder().unwrap());
    let output = run(m3.arg("score").args(FILES).args(["--format", "json"]));
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(stdout(m3_bare(folder.path()).args(["cache", "clear"])).contains("MiB"));
    assert!(score(&folder).is_some());
}

#[test]
fn runs_at_the_same_time_share_one_cache() {
    let folder = Folder::new();
    if encoder().is_none() {
        return;
    }
    let scores: Vec<Option<Value>> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| score(&folder))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(scores.iter().all(|score| *score == scores[0]));
    assert_eq!(score_from_cache_alone(&folder), scores[0]);
}

/// Each store is one transaction: a process killed at any moment leaves a cache that opens and has only complete
/// embeddings.
#[test]
fn a_run_killed_while_it_writes_leaves_a_whole_cache() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    for delay in [40, 80, 120, 160, 200, 240] {
        let mut child = m3_process(folder.path(), assets)
            .arg("score")
            .args(FILES)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(delay));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let database = Cache::path(folder.path());
    if database.exists() {
        let connection = rusqlite::Connection::open(&database).unwrap();
        let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(check, "ok");
    }
    let expected = score(&Folder::new());
    assert_eq!(score(&folder), expected);
}

#[test]
fn the_cache_stays_below_its_limit_and_keeps_the_latest() {
    let folder = Folder::new();
    let limit = 256 << 10;
    let vector = vec![0.5_f32; 384];
    for round in 0..20_u8 {
        let mut cache = Cache::open(folder.path(), "n", "f", limit).unwrap();
        let keys: Vec<[u8; 16]> =
            (0..50_u8).map(|n| [round, n, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).collect();
        let rows: Vec<_> = keys.iter().map(|key| (*key, &vector)).collect();
        cache.store(&[], &rows).unwrap();
    }
    let usage = Cache::usage(folder.path(), limit).unwrap().unwrap();
    let (_, _, count) = &usage.encoders[0];
    // 1000 rows of 1.5 kB were stored, six times the limit.
    assert!(*count > 50 && *count < 170, "{count}");
    assert!(std::fs::metadata(Cache::path(folder.path())).unwrap().len() <= 2 * limit);
}

#[test]
fn the_cache_is_shown_and_cleared() {
    let folder = Folder::new();
    assert!(stdout(m3_bare(folder.path()).arg("cache")).ends_with("\nempty\n"));
    let mut embedder =
        Embedder::new(Box::new(LetterCounts::new()), Some(Box::new(open(&folder, "sha256:1"))));
    let inputs = embedder.inputs(&["eel", "trout"]).unwrap();
    embedder.embed(&[(inputs[0], "eel"), (inputs[1], "trout")], &mut |_, _| ()).unwrap();
    drop(embedder);
    let shown = stdout(m3_bare(folder.path()).arg("cache"));
    assert!(shown.contains("2 embeddings  letter-counts  sha256:1"), "{shown}");
    let cleared = stdout(m3_bare(folder.path()).args(["cache", "clear"]));
    assert!(cleared.contains("\nremoved 0.") && cleared.contains("2 embeddings  letter-counts"), "{cleared}");
    assert!(!stdout(m3_bare(folder.path()).arg("cache")).contains("letter-counts"));
    let nothing = stdout(m3_bare(Folder::new().path()).args(["cache", "clear"]));
    assert!(nothing.ends_with("\nnothing to remove\n"), "{nothing}");
}

/// The cache is read and shown but not written to, and no message advises to clear it.
#[cfg(target_os = "linux")]
#[test]
fn a_cache_that_may_not_be_written_to_is_used() {
    let folder = Folder::new();
    let Some(first) = score(&folder) else { return };
    if !can_mount() {
        return;
    }
    let assets = encoder().unwrap();
    let m3 = |arguments: &[&str]| {
        let mut m3 = read_only(folder.path(), &assert_cmd::cargo::cargo_bin("m3"));
        m3.env("M3_CACHE_DIR", folder.path()).env("M3_ENCODER_DIR", &assets.encoder_dir);
        // This works only if every embedding is in the cache.
        let output = m3.env("ORT_DYLIB_PATH", "Cargo.toml").args(arguments).output().unwrap();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let (code, report, said) = m3(&["score", FILES[0], FILES[1], "--format", "json"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap(), first);
    assert!(said.contains("embeddings.sqlite` is read-only: what is new is not kept"), "{said}");
    let (code, shown, said) = m3(&["cache"]);
    assert!(code == Some(0) && shown.contains("all-MiniLM-L6-v2"), "{shown}{said}");
    let (code, _, said) = m3(&["cache", "clear"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("hint: make it writable") && !said.contains("m3 cache clear"), "{said}");
}

#[test]
fn a_cache_folder_that_cannot_be_written_is_no_reason_to_stop() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let file = folder.write("file", "");
    let output = run(m3_with_cache(&file, assets).arg("score").args(FILES));
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("going on without it"), "{}", text(&output.stderr));
}

/// The cache returns what the encoder computed, also for texts that look the same to it.
#[test]
fn embedders_with_and_without_a_cache_agree() {
    let folder = Folder::new();
    let texts = ["eel", "Eel", "trout", "eel"];
    let mut last: Option<Vec<Vec<f32>>> = None;
    for cache in [None, Some(open(&folder, "f")), Some(open(&folder, "f"))] {
        let mut embedder =
            Embedder::new(Box::new(LetterCounts::new()), cache.map(|cache| Box::new(cache) as _));
        let inputs = embedder.inputs(&texts).unwrap();
        let wanted: Vec<_> = inputs.iter().copied().zip(texts).collect();
        embedder.embed(&wanted, &mut |_, _| ()).unwrap();
        let vectors: Vec<Vec<f32>> = inputs.iter().map(|input| embedder.vector(input).to_vec()).collect();
        assert_eq!(vectors[0], LetterCounts::new().embed(&["eel"], &mut |_| ()).unwrap()[0]);
        assert_eq!(last.get_or_insert_with(|| vectors.clone()), &vectors);
    }
}
