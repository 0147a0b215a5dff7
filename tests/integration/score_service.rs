//! `m3 serve score`: the reward service over HTTP, and its tools.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::Method;

use crate::serve::{LIMIT, request};
use crate::serve_http::Endpoint;
use crate::support::{encoder, m3, m3_process, report, root};

fn endpoint(arguments: &[&str]) -> Option<Endpoint> {
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
    Some(Endpoint::run(m3_process(&cache, encoder()?), &[&["score"], arguments].concat()))
}

fn trajectories(name: &str) -> Vec<Value> {
    let text = std::fs::read(root().join("trajectories").join(name)).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Predictions and references of the small benchmark, in the order of the references.
fn pairs() -> Vec<Value> {
    let predictions = trajectories("predictions.json");
    let prediction = |id: &Value| predictions.iter().find(|prediction| prediction["id"] == *id);
    let pair =
        |reference: &Value| json!({"prediction": prediction(&reference["id"]), "reference": reference});
    trajectories("references.json").iter().map(pair).collect()
}

fn score(endpoint: &Endpoint, body: &Value) -> Value {
    let reply = endpoint.send(Method::POST, "/score", &[], &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.body);
    serde_json::from_str(&reply.body).unwrap()
}

#[test]
fn a_batch_has_the_numbers_of_the_command() {
    // What is sent has no pictures that its results could name.
    let Some(endpoint) = endpoint(&["--results", "off"]) else { return };
    let mut m3 = m3().unwrap();
    let files = ["trajectories/predictions.json", "trajectories/references.json"];
    let scored = report(m3.arg("score").args(files).args(["--results", "off"]));
    let brief = score(&endpoint, &json!({"pairs": pairs()}));
    let full = score(&endpoint, &json!({"pairs": pairs(), "detail": true}));
    let expected = scored["trajectories"].as_array().unwrap();
    assert_eq!(expected.len(), brief["results"].as_array().unwrap().len());
    for (at, expected) in expected.iter().enumerate() {
        assert_eq!(brief["results"][at]["metrics"], expected["metrics"]);
        let mut found = full["results"][at].clone();
        found.as_object_mut().unwrap().remove("sums");
        assert_eq!(found, *expected);
    }
    let counted = endpoint.send(Method::GET, "/metrics", &[], "").body;
    assert!(counted.contains("m3_pairs_total{outcome=\"scored\"} 30\n"), "{counted}");
    assert!(counted.contains("m3_pairs_waiting 0\n"), "{counted}");
    assert_eq!(endpoint.send(Method::GET, "/healthz", &[], "").body, "ok\n");
}

/// Calls in the forms of other programs, which the published program reads literally.
#[test]
fn calls_in_other_forms_are_read_as_by_the_command() {
    let calls = |first: Value| json!({"id": "a", "steps": [{"calls": [first, {"name": "m/b", "arguments": {"x": 1}}]}]});
    let reference = calls(json!({"name": "m/a", "arguments": {"city": "Lima"}}));
    let as_text = calls(json!({"name": "m/a", "arguments": "{\"city\": \"Lima\"}"}));
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, value: &Value| {
        let path = folder.path().join(name);
        std::fs::write(&path, value.to_string()).unwrap();
        path
    };
    for profile in ["paper", "open-m3-bench"] {
        let Some(endpoint) = endpoint(&["--profile", profile]) else { return };
        let mut m3 = m3().unwrap();
        let files = [file("predictions.json", &as_text), file("references.json", &reference)];
        let scored = report(m3.arg("score").args(files).args(["--profile", profile]));
        let found = score(&endpoint, &json!({"pairs": [{"prediction": as_text, "reference": reference}]}));
        assert_eq!(found["results"][0]["metrics"], scored["trajectories"][0]["metrics"], "{profile}");
    }
}

#[test]
fn what_cannot_be_scored_is_told_and_stops_nothing() {
    let Some(endpoint) = endpoint(&["--max-pairs", "3", "--max-body", "1"]) else { return };
    let good = &pairs()[0];
    let broken = json!({"prediction": {"id": "a", "steps": [{"calls": [{"arguments": 3}]}]}, "reference": good["reference"]});
    let missing = json!({"prediction": null, "reference": good["reference"]});
    let results = score(&endpoint, &json!({"pairs": [broken, good, missing]}));
    let first = &results["results"][0];
    assert_eq!(first["problems"][0]["of"], "prediction", "{first}");
    assert!(first["problems"][0]["pointer"].as_str().unwrap().starts_with("/steps/0/calls/0"), "{first}");
    assert_eq!(results["results"][1]["metrics"]["recall"], 1.0);
    assert_eq!(results["results"][2]["failure"], "missing");
    let status = |body: &str| endpoint.send(Method::POST, "/score", &[], body).status;
    for body in [
        "",
        "nonsense",
        "[]",
        "{}",
        "{\"pairs\": 3}",
        "{\"pairs\": [1]}",
        "{\"pairs\": [{}]}",
        "{\"pears\": []}",
    ] {
        assert_eq!(status(body), 400, "{body}");
    }
    let deep = format!("{{\"pairs\": [{{\"prediction\": null, \"reference\": {}}}]}}", "[".repeat(200_000));
    assert_eq!(status(&deep), 400);
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested = format!("{{\"pairs\": [{{\"prediction\": null, \"reference\": {nested}}}]}}");
    let reply = endpoint.send(Method::POST, "/score", &[], &nested);
    assert!(reply.status == 400 || reply.body.contains("\"error\""), "{}", reply.body);
    assert_eq!(status(&json!({"pairs": [good, good, good, good]}).to_string()), 413);
    assert_eq!(status(&" ".repeat((1 << 20) + 1)), 413);
    assert_eq!(endpoint.send(Method::GET, "/score", &[], "").status, 405);
    for headers in [[("origin", "https://evil.example")], [("host", "evil.example")]] {
        assert_eq!(endpoint.send(Method::POST, "/score", &headers, "{\"pairs\": []}").status, 403);
    }
    assert_eq!(endpoint.send(Method::GET, "/nowhere", &[], "").status, 404);
    assert_eq!(status("{\"pairs\": []}"), 200);
}

/// A request that was invited to send its body and has not.
fn begun(endpoint: &Endpoint, head: &str) -> TcpStream {
    let mut stream = TcpStream::connect(endpoint.address).unwrap();
    let head = format!(
        "POST /score HTTP/1.1\r\nhost: {}\r\nexpect: 100-continue\r\n{head}\r\n\r\n",
        endpoint.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut seen = [0; 25];
    stream.read_exact(&mut seen).unwrap();
    assert_eq!(&seen, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

/// All that the server says before it ends the connection, in whichever way it ends it.
fn answer_of(mut stream: TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[test]
fn bodies_in_pieces_have_the_same_limit() {
    let Some(endpoint) = endpoint(&["--max-body", "1"]) else { return };
    let body = json!({"pairs": &pairs()[..1]}).to_string();
    let send = |piece: &str, pieces: usize| {
        let mut stream = begun(&endpoint, "transfer-encoding: chunked\r\nconnection: close");
        // A server that answered what is too large reads no further, and may have gone before all of it is sent.
        let sent = (0..pieces).try_for_each(|_| write!(stream, "{:x}\r\n{piece}\r\n", piece.len()));
        let _ = sent.and_then(|()| stream.write_all(b"0\r\n\r\n"));
        answer_of(stream)
    };
    let (good, large) = (send(&body, 1), send(&" ".repeat(1 << 16), 20));
    assert!(good.starts_with("HTTP/1.1 200") && good.contains("\"recall\":1.0"), "{good}");
    assert!(large.starts_with("HTTP/1.1 413"), "{large}");
}

#[test]
fn slow_clients_hold_nobody_up_and_no_more_than_the_memory_there_is() {
    let Some(endpoint) = endpoint(&[]) else { return };
    let small = json!({"pairs": &pairs()[..1]}).to_string();
    let post = || endpoint.send(Method::POST, "/score", &[], &small);
    // 31 bodies of 16 MiB leave room in 512 MiB, 32 do not.
    let large = format!("content-length: {}", 16 << 20);
    let mut slow: Vec<TcpStream> = (0..31).map(|_| begun(&endpoint, &large)).collect();
    assert_eq!(post().status, 200);
    slow.push(begun(&endpoint, &large));
    let refused = post();
    assert_eq!(refused.status, 429, "{}", refused.body);
    drop(slow);
    // What they held is free once the server has seen that they are gone.
    let begin = Instant::now();
    while post().status != 200 {
        assert!(begin.elapsed() < LIMIT, "nothing was let go");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn every_request_of_too_many_is_answered() {
    let Some(endpoint) = endpoint(&["--workers", "1", "--queue", "2"]) else { return };
    let body = json!({"pairs": &pairs()[..2]}).to_string();
    let url = format!("http://{}/score", endpoint.address);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let send = || {
            let agent = Agent::from(Agent::config_builder().http_status_as_error(false).build());
            (0..5).map(|_| agent.post(&url).send(&body).unwrap().status().as_u16()).collect::<Vec<_>>()
        };
        let clients: Vec<_> = (0..16).map(|_| scope.spawn(send)).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    assert_eq!(statuses.len(), 80);
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
    assert!(statuses.contains(&200));
    let counted = endpoint.send(Method::GET, "/metrics", &[], "").body;
    let scored = statuses.iter().filter(|status| **status == 200).count();
    assert!(counted.contains(&format!("m3_requests_total{{status=\"200\"}} {scored}\n")), "{counted}");
}

#[test]
fn a_request_that_was_begun_is_answered_before_the_end() {
    let Some(mut endpoint) = endpoint(&[]) else { return };
    let body = json!({"pairs": pairs()}).to_string();
    let mut stream = begun(&endpoint, &format!("content-length: {}", body.len()));
    endpoint.server.signal("-TERM");
    stream.write_all(body.as_bytes()).unwrap();
    let answer = answer_of(stream);
    assert!(answer.contains("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("\"recall\":"), "{answer}");
    assert!(endpoint.server.ended().success());
    assert!(TcpStream::connect(endpoint.address).is_err());
}

#[test]
fn agents_can_ask_for_scores_and_reasons() {
    let Some(endpoint) = endpoint(&[]) else { return };
    let session = endpoint.session();
    let call = |tool: &str, arguments: &Value| {
        let message = request(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
        endpoint.post(&[("mcp-session-id", &session)], &message).message()["result"].clone()
    };
    let listed =
        endpoint.post(&[("mcp-session-id", &session)], &request(2, "tools/list", &json!({}))).message();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["score_trajectory", "explain_alignment"]);
    let pair = pairs().into_iter().find(|pair| pair["reference"]["id"] == "00050000").unwrap();
    let scored = call("score_trajectory", &pair);
    assert_eq!(scored["structuredContent"]["metrics"]["recall"], 1.0, "{scored}");
    let explained = call("explain_alignment", &pair)["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(explained.contains("reads the task's picture, not what 2.1 made"), "{explained}");
    let wrong =
        call("score_trajectory", &json!({"prediction": {"steps": 3}, "reference": pair["reference"]}));
    assert_eq!(wrong["isError"], true, "{wrong}");
    let missing = call("score_trajectory", &json!({"reference": pair["reference"]}));
    assert!(missing["content"][0]["text"].as_str().unwrap().contains("`prediction`"), "{missing}");
}
