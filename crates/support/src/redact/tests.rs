//! Tests of every form of a secret that is found, and of texts that stay unchanged.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn redactor(secrets: &[&str]) -> Redactor {
    Redactor::new(secrets).unwrap()
}

#[test]
fn a_secret_that_was_cut_or_stands_in_a_path_is_found() {
    let redactor = Redactor::new(["Sup3r/S3cr+t=K"]).unwrap();
    assert_eq!(redactor.text("key Sup3r/S3c… failed"), "key *** failed");
    // Three characters do not reveal the secret.
    assert_eq!(redactor.text("key Sup…"), "key Sup…");
    // Python's `urllib.parse.quote` writes this form.
    assert_eq!(redactor.text("at /Sup3r/S3cr%2Bt%3DK"), "at /***");
}

#[test]
fn every_form_of_a_secret_is_replaced() {
    let secret = "pä/ss w\"rd+1";
    let redactor = redactor(&[secret]);
    for form in [
        secret,
        "p%C3%A4%2Fss%20w%22rd%2B1",
        "p%c3%a4%2fss%20w%22rd%2b1",
        "p%C3%A4%2Fss+w%22rd%2B1",
        "pä/ss w\\\"rd+1",
        "pä\\/ss w\\\"rd+1",
        "p\\u00e4/ss w\\\"rd+1",
        "p\\u00E4/ss w\\\"rd+1",
    ] {
        assert_eq!(redactor.text(&format!("a {form} b")), "a *** b", "{form}");
    }
    assert!(matches!(redactor.text("nothing here"), Cow::Borrowed(_)));
    assert_eq!(Redactor::new([""]).unwrap().text("x"), "x");
}

#[test]
fn forms_of_web_pages_and_of_bytes_are_replaced() {
    let redactor = redactor(&["a<'\"&>b"]);
    // The first four are written by Python's `html.escape`, markupsafe, PHP's `htmlspecialchars` and Go's `html`.
    for form in [
        "a&lt;&#x27;&quot;&amp;&gt;b",
        "a&lt;&#39;&#34;&amp;&gt;b",
        "a&lt;&#039;&quot;&amp;&gt;b",
        "a&lt;'\"&amp;&gt;b",
        "613c2722263e62",
        "613C2722263E62",
        "%61%3c%27%22%26%3e%62",
        "%61%3C%27%22%26%3E%62",
    ] {
        assert_eq!(redactor.text(&format!("x {form} y")), "x *** y", "{form}");
    }
}

#[test]
fn nothing_of_a_secret_stays_at_the_end_of_base64() {
    // The output of `printf 'user:passpass' | base64`, and the same without the colon and in the alphabet for URLs.
    for (secret, encoded) in [
        ("passpass", "dXNlcjpwYXNzcGFzcw=="),
        ("passpass1", "dXNlcnBhc3NwYXNzMQ=="),
        ("passpass1", "dXNlcnBhc3NwYXNzMQ"),
    ] {
        let left = redactor(&[secret]).text(encoded).into_owned();
        assert!(left.ends_with(REDACTED), "{left}");
    }
}

#[test]
fn a_short_secret_spoils_no_image() {
    let image = format!("iVBORw0KGgo{}", "abcd".repeat(100));
    let mut result = json!({"content": [{"type": "image", "data": image}], "key": "abcd", "url": ""});
    result["url"] = json!(format!("data:image/png;base64,{image}"));
    let mut redacted = result.clone();
    redactor(&["abcd"]).value(&mut redacted);
    result["key"] = json!("***");
    assert_eq!(redacted, result);
    // A longer match is not chance, and a text that only begins like an image is searched as text.
    assert!(redactor(&["abcdabcd"]).text(&image).contains(REDACTED));
    assert!(redactor(&["abcd"]).text(&format!("{image} abcd")).ends_with("***"));
}

#[test]
fn the_longest_secret_counts() {
    let redactor = redactor(&["secret", "secretive", "tiv"]);
    assert_eq!(redactor.text("secretive secret motive"), "*** *** mo***e");
}

#[test]
fn values_lose_secrets_in_texts_keys_and_numbers() {
    let mut value = json!({"a": ["x12345678y", 12_345_678], "12345678": 1, "***": 2, "b": 1234});
    redactor(&["12345678"]).value(&mut value);
    assert_eq!(value, json!({"a": ["x***y", "***"], "****": 1, "***": 2, "b": 1234}));
}

#[test]
fn files_keep_their_length() {
    assert_eq!(redactor(&["key1"]).bytes(b"\xff\x00key1\xff").as_ref(), b"\xff\x00****\xff");
}

proptest! {
    #[test]
    fn no_secret_is_left_in_any_text(
        secrets in prop::collection::vec("[a-zA-Z0-9/+=_. é\"-]{4,20}", 1..5),
        pieces in prop::collection::vec("[a-z ,.\"/]{0,6}", 1..8),
    ) {
        let redactor = Redactor::new(&secrets).unwrap();
        let pieces = pieces.iter().zip(secrets.iter().cycle());
        let text: String = pieces.flat_map(|(a, b)| [a.as_str(), b.as_str()]).collect();
        for secret in &secrets {
            prop_assert!(!redactor.text(&text).contains(secret.as_str()));
            let json = serde_json::to_string(&json!({ "k": text })).unwrap();
            let inside = serde_json::to_string(secret).unwrap();
            prop_assert!(!redactor.text(&json).contains(inside.trim_matches('"')) || inside.contains("\\\""));
        }
    }

    #[test]
    fn no_secret_can_be_decoded_from_base64(before in ".{0,5}", after in ".{0,5}", secret in "[a-zA-Z0-9_-]{8,40}") {
        let redactor = Redactor::new([&secret]).unwrap();
        for engine in [&STANDARD_NO_PAD, &URL_SAFE_NO_PAD] {
            let encoded = engine.encode(format!("{before}{secret}{after}"));
            prop_assert!(redactor.text(&encoded).contains(REDACTED));
        }
        let padded = STANDARD.encode(format!("{before}{secret}{after}"));
        prop_assert!(redactor.text(&padded).contains(REDACTED));
    }

    #[test]
    fn text_without_secrets_stays(text in "[a-m ]{0,60}", secret in "[n-z]{4,12}") {
        prop_assert!(Redactor::new([&secret]).unwrap().text(&text) == text.as_str());
    }
}
