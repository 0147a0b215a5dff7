//! A long conversation through every wire with the scripted model of the integration tests, which checks each
//! request against the provider's documentation.

use std::io::Cursor;
use std::sync::Arc;

use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use m3_testkit::model_server::{
    INPUT_TOKENS, OUTPUT_TOKENS, ScriptedModel, ScriptedReply, ScriptedWire, SeenRequest,
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::{ImageData, implementation};
use crate::{
    Arguments, Message, ModelName, Part, Picture, Reply, Request, Settings, ToolAnswer, ToolDefinition,
    ToolDefinitions, WireKind,
};

const WIRES: [(WireKind, ScriptedWire); 4] = [
    (WireKind::OpenAi, ScriptedWire::OpenAi),
    (WireKind::Anthropic, ScriptedWire::Anthropic),
    (WireKind::Gemini, ScriptedWire::Gemini),
    (WireKind::Bedrock, ScriptedWire::Bedrock),
];

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn picture(mime_type: &'static str, format: ImageFormat, shade: u8) -> Arc<Picture> {
    let image = DynamicImage::ImageRgb8(RgbImage::from_pixel(6, 4, Rgb([shade, 90, 7])));
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).unwrap();
    let bytes = bytes.into_inner();
    let sha256 = hash(&bytes);
    Arc::new(Picture {
        mime_type,
        width: 6,
        height: 4,
        sha256,
        scaled_from: None,
        changes: Vec::new(),
        bytes,
    })
}

fn script(seen: &SeenRequest) -> ScriptedReply {
    let call = |name: &str, arguments: Value| (name.to_owned(), arguments);
    match seen.turn {
        1 => ScriptedReply::Call(vec![
            call("clock", json!({"zone": "UTC"})),
            call("crop", json!({"to": [1, 2]})),
        ]),
        2 => ScriptedReply::Call(vec![call("no such tool!", json!("{\"zone\": "))]),
        3 => ScriptedReply::SayAndCall(
            "Both at once.".to_owned(),
            vec![call("crop", json!({})), call("crop", json!({"x": 1})), call("", json!({}))],
        ),
        4 => ScriptedReply::SayAndCall("One more.".to_owned(), vec![call("clock", json!({}))]),
        _ => ScriptedReply::Say(format!("Turn {}: {}", seen.turn, seen.last_user_text)),
    }
}

fn answers(reply: &Reply, images: &[Arc<Picture>]) -> Message {
    let answers = reply.calls.iter().map(|call| ToolAnswer {
        call_id: call.id.clone(),
        name: call.name.clone(),
        text: if call.name == "clock" { String::new() } else { format!("result of {}", call.id) },
        images: if call.name == "crop" { images.to_vec() } else { Vec::new() },
        is_error: !matches!(call.arguments, Arguments::Object(_)) || call.name.is_empty(),
    });
    Message::ToolResults(answers.collect())
}

fn opening() -> Request {
    let tool = |name: &str| ToolDefinition {
        name: name.to_owned(),
        description: format!("It is {name}."),
        schema: json!({"type": "object", "properties": {"zone": {"type": "string"}}})
            .as_object()
            .unwrap()
            .clone(),
    };
    Request {
        system: "Be exact.".to_owned(),
        messages: vec![Arc::new(Message::User(vec![
            Part::Text("What is this?".to_owned()),
            Part::Image(picture("image/png", ImageFormat::Png, 10)),
            Part::Image(picture("image/jpeg", ImageFormat::Jpeg, 20)),
        ]))],
        tools: vec![tool("clock"), tool("crop")].into(),
        settings: Settings {
            max_output_tokens: Some(500),
            temperature: Some(0.5),
            seed: Some(7),
            extra: Map::new(),
        },
    }
}

/// Posts a written request and reads the answer.
fn ask(kind: WireKind, name: &ModelName, request: &Request) -> Reply {
    let wire = implementation(kind);
    let written = wire.request(name.target(), request, ImageData::Base64);
    let url = format!("{}/{}", name.address(), written.path);
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let mut post = agent.post(&url).header("content-type", "application/json");
    for (header, value) in wire.headers(Some("a key")) {
        post = post.header(header, value);
    }
    let mut answer = post.send(written.to_bytes()).unwrap();
    let status = answer.status().as_u16();
    let body = answer.body_mut().read_to_vec().unwrap();
    wire.reply(status, &body).unwrap()
}

#[test]
fn a_long_conversation_has_the_documented_shape_on_every_wire() {
    for (kind, spoken) in WIRES {
        let server = ScriptedModel::start_with_key(spoken, "a key", script);
        let name = ModelName::parse(&format!("{}@{}:a-model:1", kind.as_str(), server.base_url())).unwrap();
        let name =
            if kind == WireKind::Gemini { ModelName { model: "a-model".to_owned(), ..name } } else { name };
        let mut request = opening();
        let mut hashed = Vec::new();
        let shown =
            [picture("image/webp", ImageFormat::WebP, 30), picture("image/gif", ImageFormat::Gif, 40)];
        let mut last = Reply::default();
        for turn in 1..=6 {
            last = ask(kind, &name, &request);
            hashed.push(implementation(kind).request(name.target(), &request, ImageData::Hash).into_body());
            assert_eq!(last.usage.input_tokens, Some(INPUT_TOKENS));
            assert_eq!(last.usage.output_tokens, Some(OUTPUT_TOKENS));
            request.messages.push(Message::Assistant(last.to_assistant()).into());
            match turn {
                1..=3 => request.messages.push(answers(&last, &shown).into()),
                // No tool answers the call of this turn; the wire has to say so.
                4 => {
                    request.messages.push(Message::User(vec![Part::Text("Stop calling.".to_owned())]).into());
                }
                _ => request.messages.push(Arc::new(Message::User(vec![
                    Part::Text("And this?".to_owned()),
                    Part::Image(picture("image/png", ImageFormat::Png, 50)),
                ]))),
            }
        }
        assert_eq!(server.problems(), Vec::<String>::new());
        assert_eq!(last.text, "Turn 6: And this?");
        // Cassettes compare the bodies as they were sent, except for the data of images.
        assert_eq!(server.requests(), hashed);
    }
}

#[test]
fn a_conversation_without_tools_may_have_had_calls_and_texts_of_nothing() {
    for (kind, spoken) in WIRES {
        let server = ScriptedModel::start(spoken, script);
        let name = ModelName::parse(&format!("{}@{}:a-model", kind.as_str(), server.base_url())).unwrap();
        let mut request = opening();
        let first = ask(kind, &name, &request);
        let mut assistant = first.to_assistant();
        request.messages.push(Message::Assistant(assistant.clone()).into());
        request.messages.push(answers(&first, &[]).into());
        // The message is written from text and calls alone, and then from a raw message without the calls.
        assistant.raw = None;
        request.messages.push(Message::Assistant(assistant.clone()).into());
        request.messages.push(answers(&first, &[]).into());
        assistant = first.to_assistant();
        assistant.calls.clear();
        request.messages.push(Message::Assistant(assistant).into());
        request.messages.push(Message::User(vec![Part::Text("Go on.".to_owned())]).into());
        request.tools = ToolDefinitions::default();
        ask(kind, &name, &request);
        assert_eq!(server.problems(), Vec::<String>::new());
    }
}
