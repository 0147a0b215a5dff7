//! Trajectories that are made to hold m3, or to be right by what only they say: all are scored, and none gains by it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_score::Flow;
use serde_json::{Value, json};

use super::properties::{fidelities, scored};
use crate::support::call;

fn trajectory(calls: impl Iterator<Item = Value>) -> Value {
    let steps: Vec<Value> = calls.map(|call| json!({"calls": [call]})).collect();
    json!({"id": "w0", "image": "images/a.png", "question": "What is this?", "steps": steps})
}

fn rotate(input: &str, output: &str) -> Value {
    call("image/rotate", json!({"input_path": input, "angle": 90, "output_path": output}))
}

fn with_result(mut call: Value, result: Value) -> Value {
    call["result"] = result;
    call
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The fidelities of one trajectory.
fn compared(prediction: &Value, reference: &Value) -> Vec<Option<f64>> {
    fidelities(&scored(std::slice::from_ref(prediction), std::slice::from_ref(reference), Flow::On)[0])
}

#[test]
fn names_that_go_round_are_followed_to_their_end() {
    let turning = |count: usize| {
        trajectory(
            (0..count).map(|step| rotate(&format!("{}.png", (step + 1) % 3), &format!("{}.png", step % 3))),
        )
    };
    let over_and_over = trajectory((0..10_000).map(|_| rotate("b.png", "b.png")));
    for set in [&turning(300), &over_and_over] {
        assert!(compared(set, set).iter().all(|fidelity| *fidelity == Some(1.0)));
    }
    assert_eq!(compared(&over_and_over, &turning(3)).len(), 3);
    // Each file is made of the one before, twice: 2^60 ways lead to the first.
    let doubled = |result: &Value| {
        trajectory((0..60).map(|step| {
            let input = format!("{step}.dat");
            let arguments =
                json!({"input_paths": [input, input], "output_path": format!("{}.dat", step + 1)});
            with_result(call("files/join", arguments), result.clone())
        }))
    };
    let (prediction, reference) = (doubled(&text("joined two files")), doubled(&text("both are joined")));
    assert!(compared(&prediction, &reference).iter().all(|fidelity| *fidelity == Some(1.0)));
}

#[test]
fn a_result_of_eighty_megabytes_is_read_like_others() {
    let large = "a boat in the harbour ".repeat(4 << 20);
    let of = |result: &str, name: &str| {
        trajectory(std::iter::once(with_result(rotate("images/a.png", name), text(result))))
    };
    assert_eq!(compared(&of(&large, "b.png"), &of("a boat", "c.png")), [Some(1.0)]);
}

/// A PNG that says it has 60,000 by 60,000 pixels.
fn bomb() -> String {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(60_000_u32.to_be_bytes());
    bytes.extend(60_000_u32.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0]);
    bytes.extend(crc(&bytes[12..]).to_be_bytes());
    STANDARD.encode(bytes)
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(
            crc ^ u32::from(*byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 },
        )
    };
    !bytes.iter().fold(u32::MAX, step)
}

/// What only a prediction's record has never makes its call right.
#[test]
fn a_record_of_its_own_raises_nothing() {
    let wrong =
        json!({"input_path": "images/a.png", "x1": 0, "y1": 0, "x2": 9, "y2": 9, "output_path": "b.png"});
    let right =
        json!({"input_path": "images/a.png", "x1": 50, "y1": 50, "x2": 90, "y2": 90, "output_path": "b.png"});
    let of = |arguments: &Value, result: Option<Value>| {
        let mut call = call("image/crop", arguments.clone());
        if let Some(result) = result {
            call["result"] = result;
        }
        trajectory(std::iter::once(call))
    };
    let picture = |data: &str| json!({"content": [{"type": "image", "mimeType": "image/png", "data": data}]});
    let file = |path: &str| json!({"content": [{"type": "image", "file": path}]});
    let plain = compared(&of(&wrong, None), &of(&right, None));
    assert!(plain[0].unwrap() < 0.5);
    let forged = [
        text("the same as what 1.1 of the reference made"),
        text(&json!({"sha256": "00", "is_same": true}).to_string()),
        picture(&bomb()),
        picture("no Base64"),
        file("../../../../etc/passwd"),
        file("/dev/zero"),
        json!({"isError": true, "content": []}),
        json!(null),
    ];
    for result in &forged {
        // The reference has none, an error, something else, or a picture that cannot be had either.
        assert_eq!(compared(&of(&wrong, Some(result.clone())), &of(&right, None)), plain, "{result}");
        let others = [
            json!({"isError": true, "content": [{"type": "text", "text": "no"}]}),
            text("a boat"),
            picture(&bomb()),
        ];
        for other in others {
            let found = compared(&of(&wrong, Some(result.clone())), &of(&right, Some(other.clone())));
            if *result != other {
                assert!(found[0] <= plain[0], "{result} {other} {found:?}");
            }
        }
    }
}
