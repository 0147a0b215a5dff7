//! What the page of `m3 review` shows beside a reference, in a real browser: what the checks found, pictures of results.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::page::{assert_quiet, click, open, write};
use super::support::{Review, tools};
use crate::support::{Folder, root};

/// A reference with an unknown tool, without an answer, whose first call has no arguments; and a sound one.
#[test]
fn what_the_checks_found_is_listed_and_marked() {
    let Some(browser) = Browser::open(1280, 900) else { return };
    let folder = Folder::new();
    let buy = json!({"name": "shop/buy", "arguments": {}});
    let steps = json!([{"step": 1, "calls": [{"name": "clock/now"}]}, {"step": 2, "calls": [buy]}]);
    let judge = json!({"disagreements": [{"run": 1, "kind": "tools", "detail": "<b>calls</b> web/search"}]});
    let now = json!({"name": "clock/now", "arguments": {}});
    let references = json!([
        {"id": "sound", "steps": [{"step": 1, "calls": [now]}], "final_reply": "late"},
        {"id": "odd", "steps": steps, "judge": judge},
    ]);
    folder.json("references.json", &references);
    let tools = tools(&folder);
    let review = Review::start(&folder, &["references.json", "--tools", tools.to_str().unwrap()]);
    open(&browser, &review);
    let shown = "document.querySelector('#findings').innerText";
    assert_eq!(browser.text(shown), "What the checks found\n\nNothing.");
    let marks = "[...document.querySelectorAll('#list .row')].map(row => row.querySelector('.found')?.textContent ?? '').join()";
    browser.wait(marks, ",4 found");
    write(&browser, "#state", "found");
    assert_eq!(browser.text("document.querySelectorAll('#list > li:not([hidden])').length"), "1");
    browser.press("j");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "odd");
    let found = browser.text(shown);
    for part in [
        "/1/steps/0/calls/0: no `arguments`",
        "there is no answer",
        "2.1 shop/buy the catalog has no such tool",
        "another accepted run differs: <b>calls</b> web/search",
    ] {
        assert!(found.contains(part), "{part}: {found}");
    }
    click(&browser, "#findings button");
    assert_eq!(browser.text("document.activeElement.dataset.number"), "1");
    // What is mended is found no more.
    click(&browser, "[data-number='1'] .remove");
    browser.wait(marks, ",3 found");
    assert!(!browser.text(shown).contains("shop/buy"));
    assert_quiet(&browser, &review);
}

/// The list comes without findings, which are then counted some references at a time.
#[test]
fn findings_are_counted_piece_by_piece() {
    let folder = Folder::new();
    let reference = |number: usize| {
        let arguments = if number.is_multiple_of(2) { json!({}) } else { json!({"zone": number}) };
        let call = json!({"name": "clock/now", "arguments": arguments});
        json!({"id": format!("r{number}"), "steps": [{"step": 1, "calls": [call]}]})
    };
    folder.json("references.json", &(0..45).map(reference).collect());
    let review = Review::start(&folder, &["references.json"]);
    let listed = || -> Vec<Value> {
        let (_, told) = review.json("api/list");
        told["references"].as_array().unwrap().iter().map(|found| found["findings"].clone()).collect()
    };
    assert_eq!(listed(), vec![Value::Null; 45]);
    // That of a reference that was opened is known, and counted no more.
    review.json("api/reference?index=1");
    assert_eq!(listed()[..3], [Value::Null, json!(1), Value::Null]);
    let (_, first) = review.json("api/findings?from=0");
    assert_eq!((first["counts"].as_array().unwrap().len(), &first["next"]), (21, &json!(21)));
    assert_eq!(first["counts"][20], json!([20, 0, 1]));
    let (_, last) = review.json("api/findings?from=41");
    assert_eq!((last["counts"].as_array().unwrap().len(), &last["next"]), (4, &Value::Null));
    let known: Vec<bool> = listed().iter().map(Value::is_number).collect();
    assert_eq!(known.iter().filter(|known| **known).count(), 25);
    // A decision shows the reference anew, and so counts; one of another process does not.
    let other = Review::start(&folder, &["references.json"]);
    let accept = |index: usize| json!({"index": index, "base": 0, "name": "Ada", "action": "accept"});
    assert_eq!(review.post("api/decide", &accept(0)).0, 200);
    assert_eq!(other.post("api/decide", &accept(2)).0, 200);
    let (_, changes) = review.json("api/changes?since=0");
    let findings = |place: usize| changes["references"][place]["findings"].clone();
    assert_eq!((findings(0), findings(1)), (json!(1), Value::Null));
    assert_eq!(review.json("api/findings?from=2").1["counts"][0], json!([2, 1, 1]));
    for beyond in ["45", "99999999999"] {
        let (_, none) = review.json(&format!("api/findings?from={beyond}"));
        assert_eq!(none, json!({"counts": [], "next": null}), "{beyond}");
    }
}

#[test]
fn a_filter_by_findings_says_that_they_are_being_counted() {
    let Some(browser) = Browser::open(1280, 900) else { return };
    let folder = Folder::new();
    let references = ["a", "b"].map(|id| json!({"id": id, "steps": []}));
    folder.json("references.json", &json!(references));
    let review = Review::start(&folder, &["references.json"]);
    open(&browser, &review);
    let marks = "document.querySelectorAll('#list .found').length";
    browser.wait(marks, "2");
    browser.run(
        "const asked = window.fetch; const released = new Promise((done) => { window.release = done; }); \
         window.fetch = async (path, options) => { \
           if (path.startsWith('api/findings')) await released; \
           return asked(path, options); }",
    );
    let other = Review::start(&folder, &["references.json"]);
    let reject = json!({"index": 1, "base": 0, "name": "Bob", "action": "reject", "note": "nothing"});
    assert_eq!(other.post("api/decide", &reject).0, 200);
    browser.wait("document.querySelectorAll('#list .badge.rejected').length", "1");
    write(&browser, "#state", "found");
    let count = "document.querySelector('#count').textContent";
    assert_eq!(browser.text(count), "1 of 2 references; 1 decided; still counting findings");
    browser.run("window.release()");
    browser.wait(count, "2 of 2 references; 1 decided");
    assert_eq!(browser.text(marks), "2");
    assert_quiet(&browser, &review);
}

#[test]
fn pictures_of_results_are_shown_from_the_folder_of_images_alone() {
    let Some(browser) = Browser::open(1280, 900) else { return };
    let folder = Folder::new();
    let picture = root().join("images/dice.png");
    std::fs::copy(&picture, folder.path().join("dice.png")).unwrap();
    let sent = STANDARD.encode(std::fs::read(&picture).unwrap());
    let result = json!({"content": [
        {"type": "text", "text": "two pictures"},
        {"type": "image", "data": sent, "mimeType": "image/png"},
        {"type": "image", "file": "dice.png"},
        {"type": "image", "file": "../../etc/passwd"},
        {"type": "image", "data": "bm8gcGljdHVyZQ==", "mimeType": "<img src=x onerror=window.hostile=1>"},
    ]});
    let call = json!({"name": "image/roll", "arguments": {}, "result": result});
    folder.json(
        "references.json",
        &json!([{"id": "r", "image": "dice.png", "steps": [{"step": 1, "calls": [call]}], "final_reply": "6"}]),
    );
    let review = Review::start(&folder, &["references.json", "--images", "."]);
    open(&browser, &review);
    // They are asked for when they come into view.
    browser.run("document.querySelector('.call .picture:last-child').scrollIntoView()");
    let widths = "[...document.querySelectorAll('.call .picture')].map(found => \
        found.querySelector('img')?.naturalWidth ?? found.querySelector('p').textContent.slice(0, 22)).join()";
    let width = image::image_dimensions(&picture).unwrap().0.min(1280);
    browser.wait(widths, &format!("{width},{width},The image is not shown,The image is not shown"));
    assert_eq!(browser.text("document.querySelector('.call details pre').textContent"), "two pictures");
    assert_eq!(browser.text("window.hostile === undefined"), "true");
    browser.wait("document.querySelector('.thumbnail').naturalWidth", "160");
    for path in [
        "result/0/0/0",
        "result/0/0/3",
        "result/0/0/4",
        "result/0/0/9",
        "result/0/9/1",
        "result/9/0/1",
        "result/0/0",
        "result/x/0/1",
    ] {
        assert_eq!(review.get(path).status(), 404, "{path}");
    }
    assert_quiet(&browser, &review);
}
