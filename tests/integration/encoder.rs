//! The real encoder: its embeddings, what they do not depend on, and other encoders in its place.

use std::path::Path;

use m3_embedding::Encoder as _;
use m3_encoder::OnnxEncoder;
use serde_json::Value;

use crate::support::{Folder, encoder, failure, json_of, m3_with_cache, report, root, shared};

const FILES: [&str; 2] = ["trajectories/predictions.json", "trajectories/references.json"];

/// Texts of many lengths: from the real references if they are available, and some of our own.
fn texts() -> Vec<String> {
    let mut texts: Vec<String> =
        (0..40).map(|n| format!("{{\"q\":\"{}\"}}", "eel and trout ".repeat(n))).collect();
    texts.extend([String::new(), "null".to_owned(), "{}".to_owned(), "漢字 é \u{0}".to_owned()]);
    if let Some(path) = shared("open-m3-bench/references.json") {
        let references: Value = json_of(path);
        let steps = references.as_array().unwrap().iter().flat_map(|t| t["steps"].as_array().unwrap());
        let calls = steps.flat_map(|step| step["calls"].as_array().unwrap());
        texts.extend(calls.map(|call| call["arguments"].to_string()).step_by(17));
    }
    texts
}

fn open() -> Option<OnnxEncoder> {
    Some(OnnxEncoder::open(encoder()?.clone(), Folder::new().path()).unwrap())
}

/// The largest difference in any component.
fn distance(a: &[Vec<f32>], b: &[Vec<f32>]) -> f32 {
    let pairs = a.iter().zip(b).flat_map(|(a, b)| a.iter().zip(b));
    pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f32::max)
}

#[test]
fn a_batch_row_equals_the_same_text_alone() {
    let Some(mut encoder) = open() else { return };
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = encoder.embed(&texts, &mut |_| ()).unwrap();
    let alone: Vec<Vec<f32>> =
        texts.iter().map(|text| encoder.embed(&[text], &mut |_| ()).unwrap().remove(0)).collect();
    assert!(distance(&together, &alone) <= 1e-6);
    for vector in together {
        assert_eq!(vector.len(), 384);
        let norm: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
        assert!((norm - 1.0).abs() < 1e-6);
    }
}

#[test]
fn embeddings_do_not_depend_on_threads_or_batches() {
    let texts = texts();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut expected: Option<Vec<Vec<f32>>> = None;
    for (threads, batch) in [(1, 1), (1, 64), (2, 7), (3, 16)] {
        let Some(encoder) = open() else { return };
        let found = encoder.with_threads(threads).with_batch_size(batch).embed(&texts, &mut |_| ()).unwrap();
        let expected = expected.get_or_insert_with(|| found.clone());
        assert!(distance(&found, expected) <= 1e-6, "{threads} threads, batches of {batch}");
    }
}

#[test]
fn a_report_does_not_depend_on_threads_or_batches() {
    let Some(assets) = encoder() else { return };
    let mut expected: Option<Value> = None;
    for options in
        [["--threads=1", "--batch-size=1"], ["--threads=2", "--batch-size=5"], ["--threads=3", "--no-cache"]]
    {
        let folder = Folder::new();
        let found = report(m3_with_cache(folder.path(), assets).arg("score").args(FILES).args(options));
        let expected = expected.get_or_insert_with(|| found.clone());
        assert_eq!(&found, expected, "{options:?}");
    }
}

#[test]
fn texts_that_look_the_same_to_the_encoder_have_one_key() {
    let Some(mut encoder) = open() else { return };
    let long = "eel ".repeat(400);
    let longer = format!("{long} and trout");
    let keys = encoder.inputs(&["Eel", "eel", "eels", &long, &longer]).unwrap();
    // The encoder ignores case, and everything after 256 tokens.
    assert_eq!(keys[0], keys[1]);
    assert_ne!(keys[0], keys[2]);
    assert_eq!(keys[3], keys[4]);
}

/// A folder with the default encoder as a separate export: graph, weights and tokenizer.
fn exported(folder: &Folder) -> Option<()> {
    let assets = encoder()?;
    for name in ["model.safetensors", "tokenizer.json", "config.json"] {
        link(&assets.encoder_dir.join(name), &folder.path().join(name));
    }
    let graph = root().join("crates/encoder/models/all-MiniLM-L6-v2/model.onnx");
    std::fs::copy(graph, folder.path().join("model.onnx")).unwrap();
    Some(())
}

fn link(from: &Path, to: &Path) {
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(|_| ())).unwrap();
}

#[test]
fn another_encoder_is_a_folder_with_a_graph_and_a_tokenizer() {
    let folder = Folder::new();
    let Some(()) = exported(&folder) else { return };
    let assets = encoder().unwrap();
    let score = |folder: &Folder| {
        let cache = Folder::new();
        report(
            m3_with_cache(cache.path(), assets).arg("score").args(FILES).arg("--encoder").arg(folder.path()),
        )
    };
    folder.write("sentence_bert_config.json", r#"{"max_seq_length": 256}"#);
    let default = report(m3_with_cache(Folder::new().path(), assets).arg("score").args(FILES));
    let exported = score(&folder);
    assert_eq!(exported["aggregate"], default["aggregate"]);
    assert_eq!(exported["encoder"]["dimensions"], 384);
    let fingerprint = exported["encoder"]["fingerprint"].clone();

    // A shorter maximum length and another pooling make another encoder with other numbers.
    folder.write("sentence_bert_config.json", r#"{"max_seq_length": 16}"#);
    let shorter = score(&folder);
    assert_eq!(shorter["encoder"]["max_tokens"], 16);
    assert_ne!(shorter["encoder"]["fingerprint"], fingerprint);
    assert_ne!(shorter["aggregate"], exported["aggregate"]);
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    folder.write(
        "1_Pooling/config.json",
        r#"{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}"#,
    );
    let first_token = score(&folder);
    assert_ne!(first_token["aggregate"], shorter["aggregate"]);
    // As sentence-transformers writes it from version 6 on.
    folder.write("1_Pooling/config.json", r#"{"embedding_dimension": 384, "pooling_mode": "cls"}"#);
    assert_eq!(score(&folder)["aggregate"], first_token["aggregate"]);
    folder.write("1_Pooling/config.json", r#"{"pooling_mode": "mean"}"#);
    folder.write(
        "modules.json",
        r#"[{"type": "sentence_transformers.models.Transformer"}, {"type": "x.Normalize"}]"#,
    );
    assert_eq!(score(&folder)["aggregate"], shorter["aggregate"]);
}

#[test]
fn what_an_encoder_needs_and_m3_does_not_do_is_refused() {
    let folder = Folder::new();
    let Some(()) = exported(&folder) else { return };
    std::fs::create_dir(folder.path().join("1_Pooling")).unwrap();
    for (name, content, reason) in [
        ("1_Pooling/config.json", r#"{"pooling_mode": "lasttoken"}"#, "pooling `lasttoken` is not supported"),
        (
            "1_Pooling/config.json",
            r#"{"pooling_mode_max_tokens": true}"#,
            "pooling `max_tokens` is not supported",
        ),
        ("1_Pooling/config.json", "{", "not JSON"),
        (
            "modules.json",
            r#"[{"type": "sentence_transformers.models.Dense"}]"#,
            "module `Dense` is not supported",
        ),
    ] {
        folder.write(name, content);
        let mut m3 = m3_with_cache(Folder::new().path(), encoder().unwrap());
        let (code, message) = failure(m3.arg("score").args(FILES).arg("--encoder").arg(folder.path()));
        assert_eq!(code, 4, "{message}");
        assert!(message.contains(reason), "{message}");
        std::fs::remove_file(folder.path().join(name)).unwrap();
    }
}

/// Tokenizing takes hundreds of bytes for each byte of text, and only the first 256 tokens count.
#[test]
#[cfg(target_os = "linux")]
fn very_long_arguments_need_little_memory() {
    use crate::support::{call, program_with_cache, trajectory};
    let Some(assets) = encoder() else { return };
    let (folder, cache) = (Folder::new(), Folder::new());
    let numbers = format!("[{}1]", "1,".repeat(10 << 20));
    let numbers = format!(
        r#"{{"id": "numbers", "steps": [{{"calls": [{{"name": "s/t", "arguments": {{"q": {numbers}}}}}]}}]}}"#
    );
    let word = trajectory("word", &[&[call("s/t", serde_json::json!({"q": "x".repeat(30 << 20)}))]]);
    let words = trajectory("words", &[&[call("s/t", serde_json::json!({"q": "eel ".repeat(8 << 20)}))]]);
    let predictions = folder.write("p.jsonl", format!("{numbers}\n{word}\n{words}\n"));
    let small = |id: &str| trajectory(id, &[&[call("s/t", serde_json::json!({"q": "eel"}))]]).to_string();
    let references = folder.write("r.jsonl", ["numbers", "word", "words"].map(small).join("\n"));
    let mut command = program_with_cache("sh", cache.path(), assets);
    command.args(["-c", "ulimit -v 3000000; exec \"$0\" score -q --format json \"$@\""]);
    let output =
        command.arg(assert_cmd::cargo::cargo_bin("m3")).args([&predictions, &references]).output().unwrap();
    assert!(output.status.success(), "{}", crate::support::text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["aggregate"]["predicted_calls"], 3);
}

#[test]
fn damaged_and_unreadable_encoder_files_are_named() {
    let Some(assets) = encoder() else { return };
    let fails = |folder: &Folder, reason: &str| {
        let mut m3 = m3_with_cache(Folder::new().path(), assets);
        m3.env("M3_ENCODER_DIR", folder.path());
        let (code, message) = failure(m3.arg("score").args(FILES));
        assert_eq!(code, 4, "{message}");
        assert!(message.contains(reason) && message.contains("hint:"), "{message}");
    };
    let folder = Folder::new();
    fails(&folder, "there is no `tokenizer.json` in it");
    link(&assets.encoder_dir.join("tokenizer.json"), &folder.path().join("tokenizer.json"));
    fails(&folder, "there is neither `model.onnx` nor `model.safetensors` in it");
    // The default encoder is pinned: weights that were cut off or changed in one byte are refused.
    folder.write("model.safetensors", "cut");
    fails(&folder, "`m3 setup --force`");
    let mut weights = std::fs::read(assets.encoder_dir.join("model.safetensors")).unwrap();
    weights[50_000_000] ^= 1;
    folder.write("model.safetensors", &weights);
    fails(&folder, "is damaged: its SHA-256 is");

    let folder = Folder::new();
    exported(&folder).unwrap();
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    folder.write("tokenizer.json", "{}");
    fails(&folder, "failed to load the tokenizer");
    folder.write("model.onnx", "no graph");
    link_tokenizer(&folder, assets);
    fails(&folder, "failed to use the encoder's ONNX graph");
    // A file that cannot be read, even by root: a folder in its place.
    std::fs::remove_file(folder.path().join("config.json")).unwrap();
    std::fs::create_dir(folder.path().join("config.json")).unwrap();
    let mut m3 = m3_with_cache(Folder::new().path(), assets);
    let (code, message) = failure(m3.env("M3_ENCODER_DIR", folder.path()).arg("score").args(FILES));
    assert_eq!(code, 4, "{message}");
    assert!(message.contains("config.json") && message.contains("Is a directory"), "{message}");
}

fn link_tokenizer(folder: &Folder, assets: &m3_encoder::Assets) {
    std::fs::remove_file(folder.path().join("tokenizer.json")).unwrap();
    link(&assets.encoder_dir.join("tokenizer.json"), &folder.path().join("tokenizer.json"));
}

#[test]
fn a_runtime_that_is_none_is_named() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    for (library, reason) in
        [("/nonexistent/lib.so", "it cannot be read"), ("Cargo.toml", "failed to load ONNX Runtime from")]
    {
        let mut m3 = m3_with_cache(folder.path(), assets);
        let (code, message) = failure(m3.env("ORT_DYLIB_PATH", library).arg("score").args(FILES));
        assert_eq!(code, 4);
        assert!(message.contains(reason) && message.contains("hint:"), "{message}");
    }
}

/// Loading a library of which only half was copied would end the process by a signal.
#[test]
#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
fn a_runtime_that_is_cut_short_is_named() {
    let Some(assets) = encoder() else { return };
    let folder = Folder::new();
    let mut library = std::fs::read(&assets.runtime_library).unwrap();
    library.truncate(library.len() - 1000);
    let library = folder.write("libonnxruntime.so", library);
    let mut m3 = m3_with_cache(folder.path(), assets);
    let (code, message) = failure(m3.env("ORT_DYLIB_PATH", library).arg("score").args(FILES));
    assert_eq!(code, 4);
    assert!(message.contains("cut short"), "{message}");
}

/// The committed graph is what the committed script makes of the published weights.
#[test]
fn the_graph_is_what_its_script_makes() {
    let Some(assets) = encoder() else { return };
    let Some(python) = crate::support::python_with("crates/encoder/models/all-MiniLM-L6-v2/requirements.txt")
    else {
        return;
    };
    let folder = Folder::new();
    let made = folder.path().join("model.onnx");
    let script = root().join("crates/encoder/models/all-MiniLM-L6-v2/make.py");
    let status =
        python.command().arg(script).arg(assets.encoder_dir.join("model.safetensors")).arg(&made).status();
    assert!(status.unwrap().success());
    let committed = std::fs::read(root().join("crates/encoder/models/all-MiniLM-L6-v2/model.onnx")).unwrap();
    assert!(
        std::fs::read(made).unwrap() == committed,
        "crates/encoder/models/all-MiniLM-L6-v2/make.py makes another graph"
    );
}

/// A process that exits unloads ONNX Runtime's tables, so no thread may use them any more: the test calls itself in a
/// process of its own, where a thread embeds without end.
#[test]
fn nothing_is_embedded_once_the_process_is_about_to_end() {
    const OWN_PROCESS: &str = "M3_TEST_EMBEDS_WITHOUT_END";
    let Some(mut encoder) = open() else { return };
    if std::env::var_os(OWN_PROCESS).is_none() {
        let test = "encoder::nothing_is_embedded_once_the_process_is_about_to_end";
        let mut again = std::process::Command::new(std::env::current_exe().unwrap());
        let output = again.args(["--exact", test]).env(OWN_PROCESS, "1").output().unwrap();
        assert!(output.status.success(), "{}", crate::support::text(&output.stdout));
        return;
    }
    let (sender, embedded) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // A batch that was ended is an error, and the next one must not begin.
        for n in 0_u64.. {
            let _ = encoder.embed(&[&format!("eel {n}")], &mut |_| ());
            sender.send(n).unwrap();
        }
    });
    embedded.recv().unwrap();
    m3_encoder::finish();
    embedded.try_iter().for_each(drop);
    // A batch that had ended before may be counted after it.
    let later = std::iter::from_fn(|| embedded.recv_timeout(std::time::Duration::from_millis(300)).ok());
    assert!(later.take(10).count() <= 1, "batches go on");
}
