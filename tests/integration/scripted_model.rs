//! The scripted model itself: it reports problems of requests, and misbehaves on request.

use std::io::{Cursor, Read as _};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_testkit::model_server::{ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest};
use serde_json::{Value, json};

/// A small image, as base64.
fn png() -> String {
    let mut bytes = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(8, 8, image::Rgb([200, 10, 10]))
        .write_to(&mut bytes, image::ImageFormat::Png)
        .unwrap();
    STANDARD.encode(bytes.into_inner())
}

fn schema() -> Value {
    json!({ "type": "object", "properties": {} })
}

/// A valid request with an image, two calls and their results.
fn sound(spoken: ScriptedWire) -> Value {
    match spoken {
        ScriptedWire::OpenAi => json!({
            "model": "m",
            "tools": [{ "type": "function", "function": { "name": "look", "parameters": schema() } }],
            "messages": [
                { "role": "system", "content": "Be exact." },
                { "role": "user", "content": [
                    { "type": "text", "text": "What?" },
                    { "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{}", png()) } },
                ] },
                { "role": "assistant", "content": null, "tool_calls": [
                    { "id": "a", "type": "function", "function": { "name": "look", "arguments": "{}" } },
                    { "id": "b", "type": "function", "function": { "name": "look", "arguments": "{" } },
                ] },
                { "role": "tool", "tool_call_id": "a", "content": "one" },
                { "role": "tool", "tool_call_id": "b", "content": "two" },
            ],
        }),
        ScriptedWire::Anthropic => json!({
            "model": "m", "max_tokens": 9, "system": "Be exact.",
            "tools": [{ "name": "look", "input_schema": schema() }],
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "What?" },
                    { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": png() } },
                ] },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "a", "name": "look", "input": {} },
                    { "type": "tool_use", "id": "b", "name": "look", "input": {} },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "a", "content": "one" },
                    { "type": "tool_result", "tool_use_id": "b", "content": "two" },
                ] },
            ],
        }),
        ScriptedWire::Gemini => json!({
            "systemInstruction": { "parts": [{ "text": "Be exact." }] },
            "tools": [{ "functionDeclarations": [{ "name": "look", "parametersJsonSchema": schema() }] }],
            "contents": [
                { "role": "user", "parts": [
                    { "text": "What?" },
                    { "inlineData": { "mimeType": "image/png", "data": png() } },
                ] },
                { "role": "model", "parts": [
                    { "functionCall": { "id": "a", "name": "look", "args": {} } },
                    { "functionCall": { "id": "b", "name": "look", "args": {} } },
                ] },
                { "role": "user", "parts": [
                    { "functionResponse": { "id": "a", "name": "look", "response": { "output": "one" } } },
                    { "functionResponse": { "id": "b", "name": "look", "response": { "output": "two" } } },
                ] },
            ],
        }),
        ScriptedWire::Bedrock => json!({
            "system": [{ "text": "Be exact." }],
            "toolConfig": { "tools": [{ "toolSpec": { "name": "look", "inputSchema": { "json": schema() } } }] },
            "messages": [
                { "role": "user", "content": [
                    { "text": "What?" },
                    { "image": { "format": "png", "source": { "bytes": png() } } },
                ] },
                { "role": "assistant", "content": [
                    { "toolUse": { "toolUseId": "a", "name": "look", "input": {} } },
                    { "toolUse": { "toolUseId": "b", "name": "look", "input": {} } },
                ] },
                { "role": "user", "content": [
                    { "toolResult": { "toolUseId": "a", "content": [{ "text": "one" }] } },
                    { "toolResult": { "toolUseId": "b", "content": [{ "text": "two" }] } },
                ] },
            ],
        }),
    }
}

fn path(spoken: ScriptedWire) -> &'static str {
    match spoken {
        ScriptedWire::OpenAi => "chat/completions",
        ScriptedWire::Anthropic => "v1/messages",
        ScriptedWire::Gemini => "models/m:generateContent",
        ScriptedWire::Bedrock => "model/m/converse",
    }
}

/// Posts a body with the headers of the wire, except those left out.
fn post(
    server: &ScriptedModel,
    spoken: ScriptedWire,
    body: &Value,
    limit: Duration,
) -> Result<(u16, String), ureq::Error> {
    let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(limit));
    let agent: ureq::Agent = config.build().into();
    let post = agent.post(format!("{}/{}", server.base_url(), path(spoken))).content_type("application/json");
    let post = match spoken {
        ScriptedWire::OpenAi | ScriptedWire::Bedrock => post.header("authorization", "Bearer k"),
        ScriptedWire::Anthropic => post.header("x-api-key", "k").header("anthropic-version", "2023-06-01"),
        ScriptedWire::Gemini => post.header("x-goog-api-key", "k"),
    };
    let mut answer = post.send(body.to_string())?;
    let mut text = String::new();
    answer.body_mut().as_reader().read_to_string(&mut text)?;
    Ok((answer.status().as_u16(), text))
}

const LONG: Duration = Duration::from_mins(1);
const WIRES: [ScriptedWire; 4] =
    [ScriptedWire::OpenAi, ScriptedWire::Anthropic, ScriptedWire::Gemini, ScriptedWire::Bedrock];

#[test]
fn a_sound_request_is_seen_the_same_on_every_wire() {
    for spoken in WIRES {
        let server = ScriptedModel::start(spoken, |seen: &SeenRequest| {
            assert_eq!((seen.model.as_str(), seen.system.as_str()), ("m", "Be exact."));
            assert_eq!((seen.user_turns, seen.turn, seen.images.len()), (1, 2, 1));
            assert_eq!(seen.tools, ["look"]);
            assert_eq!(
                seen.results,
                [("a".to_owned(), "one".to_owned()), ("b".to_owned(), "two".to_owned())]
            );
            for text in ["What?", "one", "two"] {
                assert!(seen.texts.iter().any(|seen| seen == text), "{:?}", seen.texts);
            }
            ScriptedReply::Say("done".to_owned())
        });
        let (status, text) = post(&server, spoken, &sound(spoken), LONG).unwrap();
        assert_eq!((status, server.problems()), (200, Vec::new()), "{text}");
        assert!(text.contains("\"done\""), "{text}");
        let kept = server.requests()[0].to_string();
        assert!(kept.contains("sha256:") && !kept.contains(&png()));
    }
}

/// The places of the calls, the results and the image of [`sound`].
fn places(spoken: ScriptedWire) -> [&'static str; 4] {
    match spoken {
        ScriptedWire::OpenAi => {
            ["/messages", "/messages/3", "/messages/4/tool_call_id", "/messages/1/content/1/image_url/url"]
        }
        ScriptedWire::Anthropic => [
            "/messages/2/content",
            "/messages/2/content/0",
            "/messages/2/content/1/tool_use_id",
            "/messages/0/content/1/source/data",
        ],
        ScriptedWire::Gemini => [
            "/contents/2/parts",
            "/contents/2/parts/0",
            "/contents/2/parts/1/functionResponse/id",
            "/contents/0/parts/1/inlineData/data",
        ],
        ScriptedWire::Bedrock => [
            "/messages/2/content",
            "/messages/2/content/0",
            "/messages/2/content/1/toolResult/toolUseId",
            "/messages/0/content/1/image/source/bytes",
        ],
    }
}

/// Puts a mistake into a request.
type Seed<'a> = &'a dyn Fn(&mut Value);

#[test]
fn seeded_violations_are_found_on_every_wire() {
    for spoken in WIRES {
        let [list, first, id, image] = places(spoken);
        let damaged = |how: fn(Vec<u8>) -> Vec<u8>| {
            let data = STANDARD.encode(how(STANDARD.decode(png()).unwrap()));
            if spoken == ScriptedWire::OpenAi { format!("data:image/png;base64,{data}") } else { data }
        };
        let missing = |body: &mut Value| {
            body.pointer_mut(list).unwrap().as_array_mut().unwrap().pop();
        };
        let twice = |body: &mut Value| {
            let again = body.pointer(first).unwrap().clone();
            body.pointer_mut(list).unwrap().as_array_mut().unwrap().push(again);
        };
        let set = |place: &'static str, value: Value| {
            move |body: &mut Value| *body.pointer_mut(place).unwrap() = value.clone()
        };
        let unknown = set(id, json!("c"));
        let swapped = set(id, json!("a"));
        let cut_short = set(
            image,
            json!(damaged(|mut bytes| {
                bytes.truncate(bytes.len() / 2);
                bytes
            })),
        );
        let flipped = set(
            image,
            json!(damaged(|mut bytes| {
                let middle = bytes.len() / 2;
                bytes[middle] ^= 0xff;
                bytes
            })),
        );
        let no_png = set(image, json!(damaged(|_| b"GIF89a, or so".to_vec())));
        let no_base64 = set(image, json!("data:image/png;base64,???"));
        let further = |body: &mut Value| body["invented"] = json!(1);
        let no_messages = |body: &mut Value| {
            body.as_object_mut().unwrap().retain(|key, _| key != "messages" && key != "contents");
        };
        let bad_schema = |body: &mut Value| {
            let text = body.to_string().replace("\"type\":\"object\"", "\"type\":\"array\"");
            *body = serde_json::from_str(&text).unwrap();
        };
        let bare_schema = |body: &mut Value| {
            let text = body.to_string().replace("\"properties\":", "\"patternProperties\":");
            *body = serde_json::from_str(&text).unwrap();
        };
        let combined_schema = |body: &mut Value| {
            let text = body.to_string().replace("\"properties\":", "\"anyOf\":[],\"properties\":");
            *body = serde_json::from_str(&text).unwrap();
        };
        let bad_name = |body: &mut Value| {
            let text = body.to_string().replace("\"look\"", "\"server/look\"");
            *body = serde_json::from_str(&text).unwrap();
        };
        let violations: [(&str, Seed<'_>); 14] = [
            ("is answered", &missing),
            ("no open call has", &twice),
            ("answers `c`", &unknown),
            ("answers `a`", &swapped),
            ("image", &cut_short),
            ("image", &flipped),
            ("is Gif, said to be image/png", &no_png),
            ("is not base64", &no_base64),
            ("`invented`", &further),
            ("is no list", &no_messages),
            ("schema whose type is not object", &bad_schema),
            ("schema without properties", &bare_schema),
            ("`anyOf` at the root", &combined_schema),
            ("is no name of a tool", &bad_name),
        ];
        for (expected, seed) in violations {
            let server =
                ScriptedModel::start(spoken, |_: &SeenRequest| ScriptedReply::Say("done".to_owned()));
            let mut body = sound(spoken);
            seed(&mut body);
            let (status, _) = post(&server, spoken, &body, LONG).unwrap();
            let problems = server.problems();
            assert!(
                problems.iter().any(|problem| problem.contains(expected)),
                "{spoken:?} {expected}: {problems:?}"
            );
            assert_eq!(status, 400);
        }
        if spoken == ScriptedWire::OpenAi {
            let server = ScriptedModel::start(spoken, |_: &SeenRequest| ScriptedReply::Stall);
            let mut body = sound(spoken);
            body["tools"] = vec![body["tools"][0].clone(); 129].into();
            post(&server, spoken, &body, LONG).unwrap();
            let problems = server.problems();
            assert!(problems.iter().any(|problem| problem.contains("more than the 128")), "{problems:?}");
        }
        let server = ScriptedModel::start_with_key(spoken, "another", |_: &SeenRequest| ScriptedReply::Stall);
        post(&server, spoken, &sound(spoken), LONG).unwrap();
        assert!(server.problems()[0].contains("does not have the key"), "{:?}", server.problems());
    }
}

#[test]
fn answers_can_be_anything_late_cut_off_or_missing() {
    let script = |seen: &SeenRequest| match seen.model.as_str() {
        "raw" => ScriptedReply::Raw {
            status: 429,
            headers: vec![("retry-after".to_owned(), "7".to_owned())],
            body: "<html>slow down".to_owned(),
        },
        "cut" => ScriptedReply::Cut,
        "stall" => ScriptedReply::Stall,
        "calls" => ScriptedReply::Call(vec![("look".to_owned(), json!("{")), ("look".to_owned(), json!({}))]),
        "both" => ScriptedReply::SayAndCall("so".to_owned(), vec![("look".to_owned(), json!({}))]),
        _ => ScriptedReply::After(Duration::from_millis(5), Box::new(ScriptedReply::Say("late".to_owned()))),
    };
    let server = ScriptedModel::start(ScriptedWire::OpenAi, script);
    let ask = |model: &str, limit| {
        let mut body = sound(ScriptedWire::OpenAi);
        body["model"] = json!(model);
        post(&server, ScriptedWire::OpenAi, &body, limit)
    };
    assert_eq!(ask("raw", LONG).unwrap(), (429, "<html>slow down".to_owned()));
    assert!(ask("late", LONG).unwrap().1.contains("\"late\""));
    assert!(ask("calls", LONG).unwrap().1.contains("\"arguments\":\"{\""));
    assert!(ask("both", LONG).unwrap().1.contains("\"content\":\"so\""));
    assert!(matches!(ask("stall", Duration::from_millis(300)), Err(ureq::Error::Timeout(_))));
    let cut = ask("cut", LONG).unwrap_err();
    assert!(!matches!(cut, ureq::Error::Timeout(_)), "{cut}");
    assert_eq!(server.problems(), Vec::<String>::new());
}
