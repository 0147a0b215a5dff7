//! Encoders by name, fetched from a server on this machine in the place of the Hugging Face Hub.

mod faults;
mod hub;
mod weights;

use assert_cmd::Command;
use m3_encoder::Assets;
use serde_json::Value;

use crate::support::{Folder, encoder, m3_with_cache, report, run, stdout, text};
use hub::{Hub, REPOSITORY};

const FILES: [&str; 2] = ["trajectories/predictions.json", "trajectories/references.json"];

/// A made-up token, which must be in no file and no message.
const TOKEN: &str = "hf_made_up_for_this_test";

/// `m3` with the real runtime, a server and nothing else of Hugging Face's variables.
fn m3(cache: &Folder, assets: &Assets, hub: &Hub) -> Command {
    let mut command = m3_with_cache(cache.path(), assets);
    with_hub(&mut command, hub);
    command
}

fn with_hub(command: &mut Command, hub: &Hub) {
    for name in ["HF_TOKEN", "HF_HOME", "HF_HUB_OFFLINE", "HF_HUB_DOWNLOAD_TIMEOUT"] {
        command.env_remove(name);
    }
    command.env("HF_ENDPOINT", hub.address());
}

/// The default encoder's weights in one file with their graph, as fastembed's repository of it has them.
fn default_model(assets: &Assets) -> Hub {
    let file = |name: &str| std::fs::read(assets.encoder_dir.join(name)).unwrap();
    let graph = weights::inlined(m3_encoder::pins::GRAPH, &file("model.safetensors"));
    Hub::start([
        ("model.onnx", graph),
        ("tokenizer.json", file("tokenizer.json")),
        ("config.json", file("config.json")),
        ("tokenizer_config.json", br#"{"model_max_length": 512}"#.to_vec()),
    ])
}

/// All numbers of a report with their places.
fn numbers(value: &Value, place: &str, out: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => out.push((place.to_owned(), number.as_f64().unwrap())),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| numbers(item, &format!("{place}/{at}"), out));
        }
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| numbers(member, &format!("{place}/{key}"), out));
        }
        _ => {}
    }
}

#[test]
fn a_model_by_name_gives_the_numbers_of_the_default_encoder() {
    let Some(assets) = encoder() else { return };
    let hub = default_model(assets);
    let default = report(m3_with_cache(Folder::new().path(), assets).arg("score").args(FILES));
    let cache = Folder::new();
    let named = || {
        let mut command = m3(&cache, assets, &hub);
        command
            .env("HF_TOKEN", TOKEN)
            .arg("score")
            .args(FILES)
            .args(["--encoder", "fastembed:AllMiniLML6V2"]);
        command
    };
    let first = run(&mut named());
    let messages = text(&first.stderr);
    assert!(first.status.success(), "{messages}");
    let address = hub.address();
    let what = "fetching fastembed:AllMiniLML6V2 (90 MB, once) from ";
    assert!(messages.contains(&format!("{what}{address}/{REPOSITORY} into ")), "{messages}");

    // Nothing is fetched again, and nobody need be there.
    let requests = hub.requests().len();
    let found = report(named().env("HF_ENDPOINT", "http://127.0.0.1:9"));
    assert_eq!(hub.requests().len(), requests);
    assert_eq!(found["encoder"]["name"], "fastembed:AllMiniLML6V2");
    assert_ne!(found["encoder"]["fingerprint"], default["encoder"]["fingerprint"]);
    let (mut expected, mut given) = (Vec::new(), Vec::new());
    numbers(&default, "", &mut expected);
    numbers(&found, "", &mut given);
    assert!(expected.len() > 100 && expected.len() == given.len(), "{} and {}", expected.len(), given.len());
    for ((place, expected), (other, given)) in expected.iter().zip(&given) {
        assert_eq!(place, other);
        assert!((expected - given).abs() <= 1e-5, "{place}: {expected} and {given}");
    }

    // The token is for the Hub alone, and stays nowhere.
    let tokens = |is_store: bool| {
        let requests = hub.requests().into_iter().filter(move |request| request.is_store == is_store);
        requests.map(|request| request.token).collect::<Vec<_>>()
    };
    assert!(tokens(false).iter().all(|token| token.as_deref() == Some(&*format!("Bearer {TOKEN}"))));
    assert!(!tokens(true).is_empty() && tokens(true).iter().all(Option::is_none));
    assert!(!messages.contains(TOKEN));
    let folder = cache.path().join("encoders/fastembed/AllMiniLML6V2");
    let source = std::fs::read_to_string(folder.join("source.json")).unwrap();
    assert!(source.contains(hub::COMMIT) && !source.contains(TOKEN), "{source}");

    // The folder is an encoder like any other.
    let by_folder = report(
        m3_with_cache(Folder::new().path(), assets).arg("score").args(FILES).arg("--encoder").arg(&folder),
    );
    assert_eq!(by_folder["encoder"], found["encoder"]);
    // A file that is gone is fetched again.
    std::fs::remove_file(folder.join("tokenizer.json")).unwrap();
    assert_eq!(report(&mut named())["encoder"], found["encoder"]);
}

#[test]
fn setup_fetches_a_model_before_it_is_needed() {
    let Some(assets) = encoder() else { return };
    let (hub, cache) = (default_model(assets), Folder::new());
    let setup = |more: &[&str]| {
        let mut command = m3(&cache, assets, &hub);
        command.args(["setup", "--encoder", "fastembed:allminilml6v2"]).args(more);
        command
    };
    let missing = run(&mut setup(&["--check"]));
    assert_eq!(missing.status.code(), Some(4));
    assert!(text(&missing.stderr).contains("AllMiniLML6V2 missing in"), "{}", text(&missing.stderr));
    assert!(hub.requests().is_empty());
    let said = stdout(&mut setup(&[]));
    assert!(said.contains("encoder  fastembed:AllMiniLML6V2 (graph in the folder)"), "{said}");
    assert!(said.contains("384 dimensions, 256 tokens") && said.contains("ready"), "{said}");
    // The same by the variable, and now it is there.
    let mut check = m3(&cache, assets, &hub);
    check.env("M3_ENCODER_DIR", "fastembed:AllMiniLML6V2").env("HF_ENDPOINT", "http://127.0.0.1:9");
    assert_eq!(stdout(check.args(["setup", "--check"])), said);
}

#[test]
fn a_download_that_breaks_off_goes_on_with_the_next_run() {
    let Some(assets) = encoder() else { return };
    let (hub, cache) = (default_model(assets), Folder::new());
    let score = || {
        let mut command = m3(&cache, assets, &hub);
        command.arg("score").args(FILES).args(["--encoder", "fastembed:AllMiniLML6V2"]);
        command
    };
    hub.cut_after(Some(7_000_000));
    let (code, message) = crate::support::failure(&mut score());
    assert_eq!(code, 4, "{message}");
    // Three times seven million bytes arrived.
    assert!(message.contains("`model.onnx` of ") && message.contains("after 21000000 of 9"), "{message}");
    assert!(message.contains("the next run goes on there"), "{message}");
    let before = hub.requests().len();
    hub.cut_after(None);
    stdout(&mut score());
    let starts: Vec<u64> =
        hub.requests()[before..].iter().filter(|r| r.is_store && r.end.is_none()).map(|r| r.start).collect();
    // The tokenizer is in the store too.
    assert_eq!(starts, [21_000_000, 0]);
    let folder = cache.path().join("encoders/fastembed/AllMiniLML6V2");
    assert!(!folder.with_file_name("AllMiniLML6V2.partial").exists());
    assert!(folder.join("model.onnx").is_file());
}
