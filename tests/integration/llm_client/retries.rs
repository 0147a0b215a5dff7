//! Which failed tries are repeated, when, and the errors of those that are not.

use std::io::BufReader;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use m3_llm::{Model, ModelError, ModelName, ModelOptions, key_from};
use m3_testkit::model_server::{INPUT_TOKENS, OUTPUT_TOKENS, ScriptedModel, ScriptedReply, ScriptedWire};
use m3_testkit::raw_http::{self, RawRequest, listen};

use super::{
    KEY, answer, ask, completion, echo, error, failure, model, model_at, name, question, reply, scope, serve,
    text,
};

fn options(tries: u32) -> ModelOptions {
    ModelOptions { tries: Some(tries), ..ModelOptions::default() }
}

fn too_many(header: &str, value: &str) -> ScriptedReply {
    answer(429, (header, value), &error("rate_limit_exceeded", "slow down"))
}

/// The error of a model that should give none.
async fn no_reply(server: &ScriptedModel, options: ModelOptions) -> (Option<u16>, u32, String) {
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
    let server = ScriptedModel::start_with_key(ScriptedWire::OpenAi, KEY, |_| reply("four"));
    let (answered, retries) = ask(&model(&server, options(8)), &question("2 + 2?"), &scope("t", 1)).await;
    let answered = answered.unwrap();
    assert_eq!((answered.reply.text.as_str(), answered.tries, retries.len()), ("four", 1, 0));
    assert_eq!(answered.reply.usage.total(), INPUT_TOKENS + OUTPUT_TOKENS);
    let requests = server.requests();
    assert_eq!((requests.len(), server.problems()), (1, Vec::new()));
    assert_eq!(requests[0]["model"], "test-model");
    let server = ScriptedModel::start(ScriptedWire::OpenAi, |seen| echo(200, seen));
    let keyless = Model::open(name(&server), ModelOptions::default()).unwrap();
    assert_eq!(text(&keyless, &question("q"), &scope("t", 1)).await, "None");
}

#[tokio::test]
async fn a_429_is_waited_for_as_long_as_it_says_and_never_not_at_all() {
    let past = "Sun, 06 Nov 1994 08:49:37 GMT";
    let server = serve([
        too_many("Retry-After", "0"),
        too_many("Retry-After", past),
        too_many("retry-after-ms", "300"),
        too_many("retry-after-ms", "1"),
        reply("at last"),
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

async fn passes_with_the_second_try(address: &str) {
    let (answered, retries) = ask(&model_at(address, options(2)), &question("q"), &scope("t", 1)).await;
    assert_eq!(answered.unwrap().tries, 2, "{retries:?}");
    assert!(retries[0].wait >= Duration::from_millis(500) && retries[0].wait <= Duration::from_secs(1));
    assert!(!retries[0].reason.contains('\n') && !retries[0].reason.contains("http://"), "{retries:?}");
}

#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let html = "<html><body>Bad gateway</body></html>";
    for step in [failure(500, "{}"), failure(502, html), ScriptedReply::Cut, failure(200, html)] {
        passes_with_the_second_try(serve([step, reply("yes")]).base_url()).await;
    }
    // The first connection ends without an answer.
    let is_cut = AtomicBool::new(true);
    let address = listen(move |stream| {
        let request = RawRequest::read(&mut BufReader::new(&stream));
        if request.is_some() && !is_cut.swap(false, Ordering::Relaxed) {
            raw_http::answer(&mut &stream, 200, &[], &completion("yes").to_string());
        }
    });
    passes_with_the_second_try(&format!("http://{address}/v1")).await;
    let (status, tries, message) = no_reply(&serve([failure(502, html)]), options(2)).await;
    assert_eq!((status, tries), (Some(502), 2));
    assert!(message.contains("gave no reply in 2 tries: HTTP 502: "), "{message}");
    assert!(!message.contains("it was asked"), "said once: {message}");
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    for (step, part) in [
        (failure(429, &error("insufficient_quota", "pay")), "insufficient_quota"),
        (failure(401, &error("invalid_api_key", "who?")), "HTTP 401"),
        (failure(400, &error("invalid_request_error", "no images here")), "no images here"),
        (failure(200, &error("invalid_request_error", "in an envelope")), "in an envelope"),
    ] {
        let server = serve([step]);
        let (_, tries, message) = no_reply(&server, options(8)).await;
        assert_eq!((tries, server.requests().len()), (1, 1), "{message}");
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
        let server = serve([failure(status, &error("refused", "who?"))]);
        let options = ModelOptions { key: key.and_then(m3_llm::Key::new), ..options(8) };
        let model = Model::open(name(&server), options).unwrap();
        let message = ask(&model, &question("q"), &scope("t", 1)).await.0.unwrap_err().to_string();
        assert_eq!(message.contains(hint), is_told, "{message}");
    }
}

#[tokio::test]
async fn a_stall_ends_with_the_time_of_a_try() {
    let try_time = Duration::from_millis(100);
    let server = serve([ScriptedReply::Stall]);
    let (status, _, message) = no_reply(&server, ModelOptions { try_time, ..options(1) }).await;
    assert_eq!(status, None);
    assert!(message.contains("no whole answer within 100ms"), "{message}");
    let server = serve([ScriptedReply::Stall, reply("awake")]);
    let model = model(&server, ModelOptions { try_time: Duration::from_secs(2), ..options(2) });
    assert_eq!(text(&model, &question("q"), &scope("t", 1)).await, "awake");
}

/// A provider that has answered once, if only that it wants to be left alone, is asked as often as the options say.
#[tokio::test]
async fn a_provider_that_never_answered_is_tried_three_times() {
    let first_wait = Duration::from_millis(1);
    let down = || answer(500, ("x-nothing", ""), &error("server_error", "boom"));
    let always = |first: ScriptedReply| {
        let is_first = AtomicBool::new(true);
        ScriptedModel::start(ScriptedWire::OpenAi, move |_| {
            if is_first.swap(false, Ordering::Relaxed) { first.clone() } else { down() }
        })
    };
    let quick = |tries: u32| ModelOptions { first_wait, ..options(tries) };
    let unasked = || ModelOptions { first_wait, ..ModelOptions::default() };
    let (_, tries, message) = no_reply(&always(down()), unasked()).await;
    assert_eq!(tries, 3);
    assert!(message.contains("it has not answered anything yet"), "{message}");
    // Who asks for a number has it.
    let (_, tries, message) = no_reply(&always(down()), quick(8)).await;
    assert_eq!(tries, 8, "{message}");
    // What only ever fails is not waited for, whatever it asks for; `Retry-After: 0` asks for nothing.
    for (status, wait) in [(500, "600"), (503, "0")] {
        let failing = move || answer(status, ("retry-after", wait), &error("server_error", "boom"));
        let server = ScriptedModel::start(ScriptedWire::OpenAi, move |_| failing());
        let options = ModelOptions { total_time: Duration::from_mins(5), ..unasked() };
        let (_, tries, message) = no_reply(&server, options).await;
        assert_eq!(tries, 3, "{status}: {message}");
    }
    // Whoever says that there is too much to do is there.
    let busy = |status| answer(status, ("retry-after-ms", "1"), &error("overloaded", "busy"));
    for status in [503, 529] {
        let server = ScriptedModel::start(ScriptedWire::OpenAi, move |_| busy(status));
        assert_eq!(no_reply(&server, unasked()).await.1, 8, "{status}");
    }
    for first in [reply("hello"), too_many("retry-after-ms", "1")] {
        let server = always(first);
        let model = model(&server, quick(5));
        let _ = ask(&model, &question("q"), &scope("t", 1)).await;
        let (answered, _) = ask(&model, &question("q"), &scope("t", 2)).await;
        let tries = match answered.unwrap_err() {
            ModelError::NoReply { tries, .. } => tries,
            other => panic!("{other}"),
        };
        assert_eq!(tries, 5);
    }
}

#[tokio::test]
async fn all_tries_together_have_a_limit() {
    let total_time = Duration::from_secs(3);
    let start = Instant::now();
    let server = serve([too_many("Retry-After", "40")]);
    let (_, tries, message) = no_reply(&server, ModelOptions { total_time, ..options(8) }).await;
    assert_eq!(tries, 1);
    assert!(message.contains("left alone for 40.0 s, and no request waits longer than 3.0 s"), "{message}");
    // A wait that would be too long is not begun.
    assert!(start.elapsed() < total_time, "{message}");
    let total_time = Duration::from_millis(200);
    let (_, _, message) =
        no_reply(&serve([ScriptedReply::Stall]), ModelOptions { total_time, ..options(8) }).await;
    assert!(message.contains("nothing is left of 200 ms"), "{message}");
}

#[tokio::test]
async fn the_key_comes_back_in_no_answer_and_no_error() {
    let server_of = |status| ScriptedModel::start(ScriptedWire::OpenAi, move |seen| echo(status, seen));
    no_reply(&server_of(400), options(1)).await;
    no_reply(&server_of(500), options(1)).await;
    let location = format!("http://127.0.0.1:1/{KEY}");
    no_reply(&serve([answer(307, ("location", &location), "")]), options(1)).await;
    let server = server_of(200);
    let model = model(&server, options(1));
    assert_eq!(text(&model, &question("q"), &scope("t", 1)).await, "Some(\"Bearer ***\")");
    assert_eq!(model.redactor_with([]).unwrap().text(&format!("a {KEY} b")), "a *** b");
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = serve([reply("mine")]);
    let location = format!("{}/chat/completions", other.base_url());
    let server = serve([answer(307, ("location", &location), "")]);
    let (status, tries, message) = no_reply(&server, options(8)).await;
    assert_eq!((status, tries, other.requests().len()), (Some(307), 1, 0));
    assert!(message.contains("redirects are not followed") && message.contains(other.base_url()));
}

#[tokio::test]
async fn a_429_lowers_the_concurrency_and_a_500_does_not() {
    let server = serve([failure(500, "{}"), too_many("Retry-After", "0"), reply("yes")]);
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
    let server = serve([ScriptedReply::Stall]);
    let options = ModelOptions { concurrency: 3, try_time: Duration::from_secs(2), ..options(1) };
    let model = model(&server, options);
    let asked: Vec<_> = (0..8)
        .map(|_| {
            let model = model.clone();
            tokio::spawn(async move { ask(&model, &question("q"), &scope("t", 1)).await.0.is_err() })
        })
        .collect();
    while server.requests().len() < 3 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(server.requests().len(), 3);
    // Who leaves makes place.
    asked.iter().for_each(tokio::task::JoinHandle::abort);
    let answer = tokio::spawn(async move { ask(&model, &question("q"), &scope("t", 1)).await.0.is_err() });
    assert!(answer.await.unwrap());
    assert_eq!(server.requests().len(), 4);
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
