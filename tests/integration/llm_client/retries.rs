//! Which failed tries are repeated, when, and the errors of those that are not.

use std::time::{Duration, Instant};

use m3_llm::{Model, ModelError, ModelName, ModelOptions, key_from};

use super::server::{Server, Step};
use super::{KEY, ask, error, model, name, question, scope, text};

fn options(tries: u32) -> ModelOptions {
    ModelOptions { tries, ..ModelOptions::default() }
}

fn too_many(header: &'static str, value: &str) -> Step {
    Step::Answer(429, vec![(header, value.to_owned())], error("rate_limit_exceeded", "slow down"))
}

/// The error of a model that should give no reply.
async fn no_reply(server: &Server, options: ModelOptions) -> (Option<u16>, u32, String) {
    let (answered, _) = ask(&model(server, options), &question("q"), &scope("t", 1)).await;
    let error = answered.unwrap_err();
    let message = error.to_string();
    assert!(!message.contains(KEY) && !message.contains("sk-test"), "{message}");
    match error {
        ModelError::NoReply { status, tries, .. } => (status, tries, message),
        other => panic!("{other}"),
    }
}

#[tokio::test]
async fn a_request_is_posted_with_its_key_and_answered() {
    let server = Server::start([Step::reply("four")]);
    let (answered, retries) = ask(&model(&server, options(8)), &question("2 + 2?"), &scope("t", 1)).await;
    let answered = answered.unwrap();
    assert_eq!((answered.reply.text.as_str(), answered.tries, retries.len()), ("four", 1, 0));
    assert_eq!(answered.reply.usage.total(), 10);
    let received = server.received();
    assert_eq!(received.len(), 1);
    assert_eq!(received[0].path, "/v1/chat/completions");
    assert_eq!(received[0].authorization, Some(format!("Bearer {KEY}")));
    assert_eq!(received[0].body["model"], "test-model");
    let keyless = Model::open(name(&server), ModelOptions::default()).unwrap();
    text(&keyless, &question("q"), &scope("t", 1)).await;
    assert_eq!(server.received()[1].authorization, None);
}

#[tokio::test]
async fn a_429_is_waited_for_as_long_as_it_says_and_never_not_at_all() {
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    let server = Server::start([
        too_many("Retry-After", "0"),
        too_many("Retry-After", past),
        too_many("retry-after-ms", "300"),
        too_many("retry-after-ms", "1"),
        Step::reply("at last"),
    ]);
    let start = Instant::now();
    // Each wait has a jitter of up to its own length.
    let options = ModelOptions { first_wait: Duration::from_millis(10), ..options(8) };
    let (answered, retries) = ask(&model(&server, options), &question("q"), &scope("t", 1)).await;
    assert_eq!(answered.unwrap().tries, 5);
    let waits: Vec<_> = retries.iter().map(|retry| retry.wait.as_millis()).collect();
    assert_eq!(waits[2], 300);
    // A server that asks for less than the growing wait gets the growing wait.
    assert!((10..=20).contains(&waits[0]) && (20..=40).contains(&waits[1]), "{waits:?}");
    assert!((80..=160).contains(&waits[3]), "{waits:?}");
    assert!(start.elapsed() >= Duration::from_millis(410));
    assert_eq!(
        retries[0].reason,
        "HTTP 429: the provider answers with an error `rate_limit_exceeded`: slow down"
    );
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let html = "<html><body>Bad gateway</body></html>";
    for step in [
        Step::failure(500, "{}"),
        Step::failure(502, html),
        Step::Cut,
        Step::CutBody,
        Step::failure(200, html),
    ] {
        let server = Server::start([step.clone(), Step::reply("yes")]);
        let (answered, retries) = ask(&model(&server, options(2)), &question("q"), &scope("t", 1)).await;
        assert_eq!(answered.unwrap().tries, 2, "{step:?}");
        assert!(retries[0].wait >= Duration::from_millis(500) && retries[0].wait <= Duration::from_secs(1));
        assert!(!retries[0].reason.contains('\n') && !retries[0].reason.contains("http://"), "{retries:?}");
    }
    let (status, tries, message) = no_reply(&Server::start([Step::failure(502, html)]), options(2)).await;
    assert_eq!((status, tries), (Some(502), 2));
    assert!(message.contains("gave no reply in 2 tries: HTTP 502: "), "{message}");
    assert!(!message.contains("it was asked"), "said once: {message}");
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    for (step, part) in [
        (Step::failure(429, &error("insufficient_quota", "pay")), "insufficient_quota"),
        (Step::failure(401, &error("invalid_api_key", "who?")), "HTTP 401"),
        (Step::failure(400, &error("invalid_request_error", "no images here")), "no images here"),
        (Step::failure(200, &error("invalid_request_error", "in an envelope")), "in an envelope"),
    ] {
        let server = Server::start([step]);
        let (_, tries, message) = no_reply(&server, options(8)).await;
        assert_eq!((tries, server.received().len()), (1, 1), "{message}");
        assert!(message.contains(part), "{message}");
    }
}

#[tokio::test]
async fn an_address_that_refuses_a_request_without_a_key_is_told_how_to_get_one() {
    let hint =
        "no key was sent\nhint: an address of your own gets the key of the variable that `--llm-key-from";
    for (status, key, is_told) in
        [(401, None, true), (403, None, true), (401, Some(KEY), false), (404, None, false)]
    {
        let server = Server::start([Step::failure(status, &error("refused", "who?"))]);
        let options = ModelOptions { key: key.and_then(m3_llm::Key::new), ..options(8) };
        let model = Model::open(name(&server), options).unwrap();
        let message = ask(&model, &question("q"), &scope("t", 1)).await.0.unwrap_err().to_string();
        assert_eq!(message.contains(hint), is_told, "{message}");
    }
}

#[tokio::test]
async fn a_stall_ends_with_the_time_of_a_try() {
    let try_time = Duration::from_millis(100);
    let server = Server::start([Step::Stall]);
    let (status, _, message) = no_reply(&server, ModelOptions { try_time, ..options(1) }).await;
    assert_eq!(status, None);
    assert!(message.contains("no whole answer within 100ms"), "{message}");
    let server = Server::start([Step::Stall, Step::reply("awake")]);
    let model = model(&server, ModelOptions { try_time: Duration::from_secs(2), ..options(2) });
    assert_eq!(text(&model, &question("q"), &scope("t", 1)).await, "awake");
}

#[tokio::test]
async fn all_tries_together_have_a_limit() {
    let total_time = Duration::from_secs(3);
    let start = Instant::now();
    let server = Server::start([too_many("Retry-After", "40")]);
    let (_, tries, message) = no_reply(&server, ModelOptions { total_time, ..options(8) }).await;
    assert_eq!(tries, 1);
    assert!(message.contains("left alone for 40.0 s, and no request waits longer than 3.0 s"), "{message}");
    // A wait that would be too long is not begun.
    assert!(start.elapsed() < total_time, "{message}");
    let total_time = Duration::from_millis(200);
    let (_, _, message) =
        no_reply(&Server::start([Step::Stall]), ModelOptions { total_time, ..options(8) }).await;
    assert!(message.contains("nothing is left of 200 ms"), "{message}");
}

#[tokio::test]
async fn the_key_comes_back_in_no_answer_and_no_error() {
    no_reply(&Server::start([Step::Echo(400)]), options(1)).await;
    no_reply(&Server::start([Step::Echo(500)]), options(1)).await;
    let location = vec![("location", format!("http://127.0.0.1:1/{KEY}"))];
    no_reply(&Server::start([Step::Answer(307, location, String::new())]), options(1)).await;
    let server = Server::start([Step::Echo(200)]);
    let model = model(&server, options(1));
    assert_eq!(text(&model, &question("q"), &scope("t", 1)).await, "Some(\"Bearer ***\")");
    assert_eq!(model.redactor_with([]).unwrap().text(&format!("a {KEY} b")), "a *** b");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::start([Step::reply("mine")]);
    let location = vec![("location", format!("http://{}/v1/chat/completions", other.address))];
    let server = Server::start([Step::Answer(307, location, String::new())]);
    let (status, tries, message) = no_reply(&server, options(8)).await;
    assert_eq!((status, tries, other.received().len()), (Some(307), 1, 0));
    assert!(message.contains("redirects are not followed") && message.contains(&other.address.to_string()));
}

#[tokio::test]
async fn a_429_lowers_the_concurrency_and_a_500_does_not() {
    let server = Server::start([Step::failure(500, "{}"), too_many("Retry-After", "0"), Step::reply("yes")]);
    let first_wait = Duration::from_millis(1);
    let model = model(&server, ModelOptions { concurrency: 10, first_wait, ..options(3) });
    assert_eq!(model.concurrency(), Some(10));
    let told = |retry: m3_llm::Retry| {
        let expected = if retry.reason.contains("500") { 10 } else { 8 };
        assert_eq!(model.concurrency(), Some(expected), "{retry:?}");
    };
    model.ask(&question("q"), &scope("t", 1), &told).await.unwrap();
    assert_eq!(model.concurrency(), Some(8));
    for _ in 0..7 {
        text(&model, &question("q"), &scope("t", 1)).await;
    }
    assert_eq!(model.concurrency(), Some(9));
}

#[tokio::test]
async fn no_more_requests_are_sent_at_once_than_allowed() {
    let server = Server::start([Step::Stall]);
    let options = ModelOptions { concurrency: 3, try_time: Duration::from_secs(2), ..options(1) };
    let model = model(&server, options);
    let asked: Vec<_> = (0..8)
        .map(|_| {
            let model = model.clone();
            tokio::spawn(async move { ask(&model, &question("q"), &scope("t", 1)).await.0.is_err() })
        })
        .collect();
    while server.received().len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.received().len(), 3);
    // A cancelled request frees its place.
    asked.iter().for_each(tokio::task::JoinHandle::abort);
    let answer = tokio::spawn(async move { ask(&model, &question("q"), &scope("t", 1)).await.0.is_err() });
    assert!(answer.await.unwrap());
    assert_eq!(server.received().len(), 4);
}

#[tokio::test]
async fn a_provider_that_wants_a_key_is_not_asked_without() {
    if ["M3_LLM_KEY", "OPENAI_API_KEY"].iter().any(|variable| key_from(variable).is_ok()) {
        return;
    }
    let name = ModelName::parse("openai:gpt-5").unwrap();
    let message = Model::open(name, ModelOptions::default()).unwrap_err().to_string();
    assert!(message.contains("`M3_LLM_KEY` or `OPENAI_API_KEY`"), "{message}");
}
