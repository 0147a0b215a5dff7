//! Hostile files: nothing of them runs, and no page leads to a file that was not given.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::{View, assert_quiet, visit, write};
use crate::support::Folder;

/// A text that would run if it became markup, and that turns the direction of writing.
const HOSTILE: &str =
    "\"><img src=x onerror=\"window.pwned=1\"><script>window.pwned=1</script>\u{202e}\u{0}</style>{{script}}";

/// A trajectory with hostile texts wherever a text can be.
fn hostile(id: &str) -> Value {
    let content = json!([
        {"type": "text", "text": HOSTILE}, {"type": "image", "data": HOSTILE, "mimeType": HOSTILE},
        {"type": "image", "file": "../../../../etc/passwd", "mimeType": "image/png"}, {"type": HOSTILE},
    ]);
    let call = json!({
        "name": HOSTILE, "arguments": {HOSTILE: HOSTILE, "__proto__": {"polluted": 1}}, "result": {"content": content},
        "is_error": true, "outcome": HOSTILE, "milliseconds": 3,
    });
    json!({
        "id": id, "type": HOSTILE, "question": HOSTILE, "image": "../secret.png", "final_reply": HOSTILE, "finish": HOSTILE,
        "failure": HOSTILE, "reason": HOSTILE, "mode": HOSTILE, "model": {"requested": HOSTILE, "reported": HOSTILE},
        "steps": [{"calls": [call, {"name": "a/b", "arguments": {"x": 1}, "result": {"constructor": HOSTILE}}]}],
        "turns": [{"purpose": HOSTILE, "milliseconds": 1e300, "usage": {"input_tokens": -5}, "oddities": [HOSTILE, 3]}, 7],
        "dialogue": [{"role": HOSTILE, "content": HOSTILE, "thoughts": HOSTILE, "name": HOSTILE, "images": [{"image": "/etc/passwd"}]}, "x"],
        "usage": {"input_tokens": "many"}, "run": {"repeat": 1, "milliseconds": HOSTILE},
    })
}

/// A folder with hostile runs, hostile references, and a secret outside of it.
fn folder() -> Folder {
    let folder = Folder::new();
    image::RgbImage::new(4, 4).save(folder.path().join("secret.png")).unwrap();
    let inside = folder.path().join("given");
    write(&inside.join("<img src=x onerror=alert(1)>.json"), &json!([hostile(HOSTILE), hostile("plain")]));
    write(&inside.join("other.json"), &json!([hostile(HOSTILE), hostile("plain")]));
    write(&inside.join("references.json"), &json!([hostile(HOSTILE), hostile("plain")]));
    std::fs::write(inside.join("broken.json"), "{\"schema\": \"m3.score/1\", \"trajectories\": [{]}")
        .unwrap();
    std::fs::write(inside.join("deep.json"), "[".repeat(100_000)).unwrap();
    folder
}

#[test]
fn hostile_texts_stay_texts_on_every_page() {
    let (folder, Some(browser)) = (folder(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["given"]) else { return };
    view.wait_for_scores();
    let home = view.json("data/home.json");
    assert_eq!(home["runs"].as_array().unwrap().len(), 2, "{home}");
    let encoded = |text: &str| browser.text(&format!("encodeURIComponent({})", json!(text)));
    let name = encoded("<img src=x onerror=alert(1)>");
    let id = encoded(HOSTILE);
    let pages = [
        "#/".to_owned(),
        "#/board".to_owned(),
        "#/matrix".to_owned(),
        format!("#/run/{name}"),
        format!("#/task/{name}/plain"),
        format!("#/task/{name}/{id}"),
        format!("#/tasks/{id}"),
        format!("#/compare/{name}/other"),
    ];
    for page in &pages {
        visit(&browser, &view.address, page);
        assert_eq!(
            browser.text("typeof window.pwned + typeof ({}).polluted"),
            "undefinedundefined",
            "{page}"
        );
        assert!(!browser.has_dialog(), "{page}");
        assert_eq!(
            browser
                .text("document.querySelectorAll('main script, main style, main iframe, [onerror]').length"),
            "0"
        );
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(browser.text(fits), "true", "{page}");
    }
    assert_quiet(&browser, &view.address);
}

#[test]
fn nothing_is_served_but_what_was_given_and_to_nobody_without_the_token() {
    let folder = folder();
    let Some(view) = View::start(&folder, &["given", "--no-score"]) else { return };
    let paths = [
        "data/../Cargo.toml",
        "data/picture/..%2f..%2fsecret.jpg",
        "data/picture/secret.jpg",
        "data/run/99.json",
        "data/run/-1.json",
        "data/task/0/99.json",
        "data/task/0/18446744073709551616.json",
        "data/compare/0-9.jpg",
        "data/",
        "index.html",
        "etc/passwd",
        "data/thumbnail/0000000000000000000.jpg",
    ];
    for path in paths {
        assert_eq!(view.status(path), 404, "{path}");
    }
    // The secret lies in the folder above: the page names its picture, and the server does not follow it.
    let task = view.json("data/task/0/0.json");
    let name = task["image"]["name"].as_str().unwrap();
    let shown = view.get(&format!("data/picture/{name}.jpg")).body_mut().read_to_vec().unwrap();
    assert!(shown.len() < 50 && shown.starts_with(b"GIF89a\x01\0\x01\0"), "one pixel stands for it");
    let (host, rest) = view.address.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let token = rest.trim_end_matches('/');
    let asked = |request: String| {
        let mut stream = TcpStream::connect(host).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    let get = |path: &str, host: &str| {
        asked(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    assert_eq!(get(&format!("/{token}/"), host), "200");
    assert_eq!(get(&format!("/{token}/data/home.json"), host), "200");
    assert_eq!(get("/data/home.json", host), "403");
    assert_eq!(get("/", host), "403");
    assert_eq!(get(&format!("/{}/data/home.json", "0".repeat(64)), host), "403");
    assert_eq!(get(&format!("/{token}/data/home.json"), "evil.example"), "403");
    assert_eq!(get(&format!("/{token}/../{token}/data/../../../etc/passwd"), host), "404");
    let posted = asked(format!(
        "POST /{token}/data/home.json HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}"
    ));
    assert_eq!(posted, "404");
}
