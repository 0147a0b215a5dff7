//! Servers that misbehave, and names that nobody has. None of this needs the encoder.

use assert_cmd::Command;

use super::hub::{Faults, Hub};
use super::with_hub;
use crate::support::{Folder, failure, m3_bare};

const FILES: [&str; 2] = super::FILES;

/// `m3 score` with a named encoder and nothing fetched.
fn score(cache: &Folder, hub: &Hub, encoder: &str) -> Command {
    let mut command = m3_bare(cache.path());
    with_hub(&mut command, hub);
    // Were a download to succeed, the runtime would be next: it must not come from a package index.
    command.env("M3_PYTHON", "no-such-python");
    command.arg("score").args(FILES).args(["--encoder", encoder]);
    command
}

/// Files that are no encoder; the graph is large enough for the store.
fn made_up() -> Hub {
    Hub::start([
        ("model.onnx", vec![7; 300_000]),
        ("tokenizer.json", b"{}".to_vec()),
        ("config.json", b"{}".to_vec()),
        ("tokenizer_config.json", b"{}".to_vec()),
    ])
}

#[test]
fn what_a_server_does_wrong_is_said_with_what_to_do() {
    let hub = made_up();
    let refused = |status| Faults { status: Some(status), ..Faults::default() };
    let hangs = |bytes| Faults { hang_after: Some(bytes), ..Faults::default() };
    for (faults, reason, hint) in [
        (refused(404), "`model.onnx` of http://127.0.0.1:", "`HF_ENDPOINT` names the Hub"),
        (refused(404), "it answered with status 404", "hint:"),
        (refused(401), "it answered with status 401", "`HF_TOKEN`"),
        (refused(503), "it answered with status 503", "a mirror in `HF_ENDPOINT`"),
        (hangs(50_000), "it sent nothing for 1 seconds after", "the next run goes on there"),
        (Faults { cut_after: Some(0), ..Faults::default() }, "after 0 of 300000 bytes", "try again"),
        (Faults { is_endless: true, ..Faults::default() }, "it redirects more than 10 times", "HF_ENDPOINT"),
        (
            Faults { digest: Some("a".repeat(64)), ..Faults::default() },
            "which is not the file's",
            "try again",
        ),
    ] {
        hub.set(faults);
        let cache = Folder::new();
        let mut command = score(&cache, &hub, "fastembed:AllMiniLML6V2");
        let (code, message) =
            failure(command.env("HF_HUB_DOWNLOAD_TIMEOUT", "1").env("HF_TOKEN", super::TOKEN));
        assert_eq!(code, 4, "{message}");
        assert!(message.contains("failed to fetch the encoder `fastembed:AllMiniLML6V2`"), "{message}");
        assert!(message.contains(reason) && message.contains(hint), "{message}");
        assert!(!message.contains(super::TOKEN), "{message}");
        // Nothing looks like an encoder, and where nothing was fetched nothing is left.
        let folder = cache.path().join("encoders/fastembed");
        assert!(!folder.join("AllMiniLML6V2").exists());
        assert!(!reason.contains("status") || !folder.exists());
    }
}

/// As networks do that want a password first.
#[test]
fn a_page_in_the_place_of_a_file_is_refused() {
    let page = || b"<html>Please log in</html>".to_vec();
    let hub = Hub::start(
        ["model.onnx", "tokenizer.json", "config.json", "tokenizer_config.json"].map(|name| (name, page())),
    );
    let cache = Folder::new();
    let (code, message) = failure(&mut score(&cache, &hub, "fastembed:AllMiniLML6V2"));
    assert_eq!(code, 4, "{message}");
    assert!(message.contains("`tokenizer.json` of ") && message.contains("is no JSON"), "{message}");
}

#[test]
fn nobody_is_asked_without_need() {
    let (hub, cache) = (made_up(), Folder::new());
    // A name that nobody has.
    let (code, message) = failure(&mut score(&cache, &hub, "fastembed:BGESmalENV15"));
    assert_eq!(code, 4, "{message}");
    for part in [
        "none of fastembed's 46 text models is `BGESmalENV15`",
        "did you mean `BGESmallENV15`",
        "`m3 setup --help` lists all",
    ] {
        assert!(message.contains(part), "{message}");
    }
    // A user who forbids it.
    let mut command = score(&cache, &hub, "fastembed:AllMiniLML6V2");
    let (code, message) = failure(command.env("HF_HUB_OFFLINE", "1"));
    assert_eq!(code, 4, "{message}");
    assert!(message.contains("`HF_HUB_OFFLINE` is set"), "{message}");
    // A place that is none, and a token that is none; neither is repeated, for there may be a password in it.
    for (name, value) in [("HF_ENDPOINT", "user:s3cret@hub"), ("HF_TOKEN", "s3cret\u{1}")] {
        let mut command = score(&cache, &hub, "fastembed:AllMiniLML6V2");
        let (code, message) = failure(command.env(name, value));
        assert_eq!(code, 4, "{message}");
        assert!(message.contains(&format!("`{name}`")) && !message.contains("s3cret"), "{message}");
    }
    // A folder that is called like a model.
    let (_, message) = failure(&mut score(&cache, &hub, "./fastembed:AllMiniLML6V2"));
    assert!(message.contains("there is no such folder"), "{message}");
    assert!(hub.requests().is_empty());
}

#[test]
fn a_password_in_the_address_is_shown_nowhere() {
    let (hub, cache) = (made_up(), Folder::new());
    hub.set(Faults { status: Some(404), ..Faults::default() });
    let address = hub.address().replace("http://", "http://user:s3cret@");
    let mut command = score(&cache, &hub, "fastembed:AllMiniLML6V2");
    let (_, message) = failure(command.env("HF_ENDPOINT", address));
    assert!(message.contains("http://127.0.0.1:") && !message.contains("s3cret"), "{message}");
    assert!(!hub.requests().is_empty());
}
