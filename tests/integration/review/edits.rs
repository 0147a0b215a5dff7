//! Edits in the page of `m3 review`, in a real browser: the answer, new calls.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::page::{STATE, assert_quiet, click, open, start, write};
use super::support::{Review, lines, write_references};
use crate::support::{Folder, json_of, m3_bare, stdout};

const PLACES: &str = "[...document.querySelectorAll('.call')].map(call => \
    `${call.querySelector('.place').textContent}=${call.querySelector('.tool').textContent}`).join(' ')";

/// The accepted and edited references as they are written.
fn written(folder: &Folder) -> Vec<Value> {
    let out = folder.path().join("reviewed.json");
    let mut review = m3_bare(folder.path());
    stdout(review.current_dir(folder.path()).args(["review", "references.json", "--out"]).arg(&out));
    json_of(&out).as_array().unwrap().clone()
}

/// Presses Ctrl and Enter in the text that is being written.
fn save_by_keys(browser: &Browser) {
    browser.run(
        "document.querySelector('.draft textarea').dispatchEvent(new KeyboardEvent('keydown', \
         { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true }))",
    );
}

#[test]
fn the_answer_is_edited_and_the_edit_undone() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let answer = "document.querySelector('#answer .passage').textContent";
    click(&browser, "#answer .edit");
    assert_eq!(browser.text("document.querySelector('.draft textarea').value"), "12 EUR");
    // Left without a change, and the focus is where it came from.
    browser.run(
        "document.querySelector('.draft textarea').dispatchEvent(new KeyboardEvent('keydown', \
         { key: 'Escape', bubbles: true }))",
    );
    assert_eq!(browser.text("document.activeElement.textContent"), "Edit the answer");
    for (text, shown) in [("<b>13</b> EUR\nin all", "<b>13</b> EUR\nin all"), (" ", "No answer.")] {
        click(&browser, "#answer .edit");
        write(&browser, ".draft textarea", text);
        save_by_keys(&browser);
        browser.wait(answer, shown);
        assert_eq!(browser.text(STATE), "edited");
        assert_eq!(browser.text("document.activeElement.id"), "answer");
    }
    let kept = lines(&folder, "references.json.reviews.jsonl");
    assert_eq!(kept[0]["reply"], "<b>13</b> EUR\nin all");
    assert_eq!((kept[1]["reply"].as_str(), kept[1]["change"].as_str()), (Some(""), Some("answer changed")));
    assert_eq!(written(&folder)[0].get("final_reply"), None);
    browser.press("u");
    browser.wait(answer, "<b>13</b> EUR\nin all");
    assert!(browser.text("document.querySelector('.history').innerText").contains("edited: answer changed"));
    // An edit of a call leaves the answer alone.
    click(&browser, "[data-number='1'] .remove");
    browser.wait(PLACES, "1.1=shop/find 2.1=shop/get");
    let made = written(&folder);
    assert_eq!((made.len(), made[0]["final_reply"].as_str()), (1, Some("<b>13</b> EUR\nin all")));
    assert_eq!(made[0]["steps"][0]["calls"].as_array().unwrap().len(), 1);
    assert_quiet(&browser, &review);
}

#[test]
fn calls_are_added_by_the_rules_of_all_others() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let add = |tool: &str, step: &str, arguments: &str| {
        write(&browser, "#tool", tool);
        write(&browser, "#where", step);
        write(&browser, ".draft textarea", arguments);
        browser.run("document.querySelector('.draft .problems').replaceChildren()");
        save_by_keys(&browser);
    };
    let problem = "document.querySelector('.draft .problems li')?.textContent ?? ''";
    browser.press("c");
    browser.wait("document.activeElement.id", "tool");
    let offered = "[...document.querySelectorAll('#tools option')].map(option => option.value).join(' ')";
    assert_eq!(browser.text(offered), "clock/now shop/find shop/get");
    for (tool, step, arguments, part) in [
        ("shop/buy", "2", "{}", "the catalog has no tool `shop/buy`"),
        ("", "2", "{}", "a tool has a name"),
        ("shop/find", "2", "{\"query\": 3}", "/query: "),
        ("shop/find", "2", "{", "this is not JSON"),
        ("shop/get", "0", "{\"id\": \"item-77310\"}", "`shop/get` in step 1 uses `item-77310`"),
    ] {
        add(tool, step, arguments);
        browser.wait(&format!("({problem}).includes({})", json!(part)), "true");
    }
    assert!(!folder.path().join("references.json.reviews.jsonl").exists());
    // Into the step that is there, and then out of it.
    add("shop/get", "1", "{\"id\": \"item-77310\"}");
    browser.wait(PLACES, "1.1=shop/find 1.2=clock/now 2.1=shop/get 2.2=shop/get");
    assert_eq!(browser.text("document.activeElement.dataset.number"), "3");
    assert!(browser.text("document.activeElement.innerText").contains("this call was never made"));
    assert_eq!(browser.text("document.querySelectorAll('.graph [data-link]').length"), "2");
    click(&browser, "[data-number='3'] .later");
    browser.wait("document.querySelector(\"[data-number='3'] .place\").textContent", "3.1");
    click(&browser, "[data-number='3'] .edit");
    write(&browser, ".draft textarea", "{\"id\": \"item-77310\", \"note\": \"again\"}");
    save_by_keys(&browser);
    browser.wait("document.querySelector(\"[data-number='3'] pre\").textContent.includes('again')", "true");
    let added = json!({"name": "shop/get", "arguments": {"id": "item-77310", "note": "again"}});
    let made = written(&folder);
    assert_eq!(made[0]["steps"][2], json!({"step": 3, "calls": [added]}));
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let changes: Vec<&str> = kept.iter().map(|line| line["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["added shop/get", "moved shop/get", "arguments of shop/get"]);
    click(&browser, "[data-number='3'] .remove");
    browser.wait(PLACES, "1.1=shop/find 1.2=clock/now 2.1=shop/get");
    // It is not in the file, so there is nothing to put back but by undoing.
    assert_eq!(browser.text("document.querySelectorAll('.back').length"), "0");
    browser.press("u");
    browser.wait("document.querySelectorAll('.call').length", "4");
    assert_quiet(&browser, &review);
}

/// An answer that is being written is not dropped by a decision, unless the person says so.
#[test]
fn nothing_that_is_being_written_is_lost_unasked() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    browser.run("window.asked = 0; window.confirm = () => { window.asked += 1; return window.asked > 5; }");
    click(&browser, "#answer .edit");
    write(&browser, ".draft textarea", "13 EUR");
    for selector in [
        "#accept",
        "[data-number='1'] .later",
        "[data-number='1'] .remove",
        "#add",
        "#list li:last-child .row",
    ] {
        click(&browser, selector);
        assert_eq!(browser.text("document.querySelector('.draft textarea').value"), "13 EUR", "{selector}");
    }
    assert_eq!(browser.text("window.asked"), "5");
    assert!(!folder.path().join("references.json.reviews.jsonl").exists());
    click(&browser, "#accept");
    browser.wait(STATE, "accepted");
    assert_eq!(browser.text("document.querySelector('#answer .passage').textContent"), "12 EUR");
    assert_quiet(&browser, &review);
}

/// A note that is being written stays through all that sends no note, and is not in the next reference.
#[test]
fn a_note_stays_until_it_is_sent() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let note = "document.querySelector('#note').value";
    let version = "document.querySelectorAll('.history li').length";
    write(&browser, "#note", "no lamp");
    let edit = |selector: &str, text: &str| {
        click(&browser, selector);
        write(&browser, ".draft textarea", text);
        save_by_keys(&browser);
    };
    click(&browser, "[data-number='1'] .later");
    browser.wait(version, "1");
    assert_eq!(browser.text(note), "no lamp", "moved");
    click(&browser, "[data-number='1'] .remove");
    browser.wait(version, "2");
    assert_eq!(browser.text(note), "no lamp", "removed");
    click(&browser, ".back");
    browser.wait(version, "3");
    assert_eq!(browser.text(note), "no lamp", "put back");
    edit("[data-number='1'] .edit", "{\"zone\": 1}");
    browser.wait(version, "4");
    assert_eq!(browser.text(note), "no lamp", "edited");
    edit("#answer .edit", "13 EUR");
    browser.wait(version, "5");
    assert_eq!(browser.text(note), "no lamp", "answered");
    click(&browser, "#undo");
    browser.wait(version, "6");
    assert_eq!(browser.text(note), "no lamp", "undone");
    click(&browser, "#reject");
    browser.wait(STATE, "rejected");
    assert_eq!(browser.text(note), "");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let notes: Vec<&str> = kept.iter().filter_map(|line| line["note"].as_str()).collect();
    assert_eq!(notes, ["no lamp"]);
    browser.run("window.confirm = () => true");
    write(&browser, "#note", "of this one alone");
    browser.press("j");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "r2");
    assert_eq!(browser.text(note), "");
    assert_quiet(&browser, &review);
}

/// What is being written stays guarded where the other reference cannot be opened.
#[test]
fn what_is_being_written_outlives_an_opening_that_fails() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    browser.run(
        "window.asked = 0; window.confirm = () => { window.asked += 1; return window.asked === 1; }; \
         const asked = window.fetch; window.fetch = async (path, options) => { \
           if (path === 'api/reference?index=1') throw new TypeError('no network'); \
           return asked(path, options); }",
    );
    click(&browser, "#answer .edit");
    write(&browser, ".draft textarea", "13 EUR");
    click(&browser, "#list li:nth-child(2) .row");
    browser.wait("document.getElementById('failure').textContent.startsWith('m3 does not answer')", "true");
    click(&browser, "#accept");
    assert_eq!(browser.text("window.asked"), "2");
    assert_eq!(browser.text("document.querySelector('.draft textarea').value"), "13 EUR");
    assert!(!folder.path().join("references.json.reviews.jsonl").exists());
    assert_quiet(&browser, &review);
}

/// What somebody else decided while a note was written is shown once nothing is being written any more.
#[test]
fn a_change_by_others_is_shown_when_nothing_is_being_written_any_more() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    write(&browser, "#note", "my note");
    let other = Review::start(&folder, &["references.json"]);
    let accept = json!({"index": 0, "base": 0, "name": "Bob", "action": "accept"});
    assert_eq!(other.post("api/decide", &accept).0, 200);
    let failure = "document.getElementById('failure').textContent";
    browser.wait(&format!("{failure}.startsWith('Bob has changed')"), "true");
    assert_eq!(browser.text(STATE), "open");
    write(&browser, "#note", "");
    browser.wait(STATE, "accepted");
    browser.wait(failure, "");
    assert_quiet(&browser, &review);
}

/// Somebody else removed a call in the meantime: it stays removed.
#[test]
fn an_answer_that_is_sent_again_leaves_the_calls_of_others() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    click(&browser, "#answer .edit");
    write(&browser, ".draft textarea", "13 EUR");
    let other = Review::start(&folder, &["references.json"]);
    let steps = json!([[{"call": 0}], [{"call": 2}]]);
    let edit = json!({"index": 0, "base": 0, "name": "Bob", "action": "edit", "steps": steps});
    assert_eq!(other.post("api/decide", &edit).0, 200);
    save_by_keys(&browser);
    browser.wait("document.querySelector('#conflict') !== null", "true");
    click(&browser, "#conflict button:last-child");
    browser.wait("document.querySelector('#answer .passage').textContent", "13 EUR");
    assert_eq!(browser.text(PLACES), "1.1=shop/find 2.1=shop/get");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    assert_eq!((&kept[2]["steps"], kept[2]["reply"].as_str()), (&steps, Some("13 EUR")));
    assert_quiet(&browser, &review);
}

/// It would take an acceptance back.
#[test]
fn an_edit_that_changes_nothing_is_no_decision() {
    let folder = Folder::new();
    let references = write_references(&folder);
    let review = Review::start(&folder, &[references.to_str().unwrap()]);
    let accept = json!({"index": 0, "base": 0, "name": "Ada", "action": "accept"});
    assert_eq!(review.post("api/decide", &accept).0, 200);
    for edit in [
        json!({"steps": [[{"call": 0}, {"call": 1}], [{"call": 2}]], "reply": "12 EUR"}),
        json!({"steps": [[{"call": 0, "arguments": "{ \"query\": \"blue lamp\" }"}, {"call": 1}], [], [{"call": 2}]]}),
    ] {
        let mut sent = json!({"index": 0, "base": 1, "name": "Ada", "action": "edit"});
        sent.as_object_mut().unwrap().extend(edit.as_object().unwrap().clone());
        let (status, told) = review.post("api/decide", &sent);
        assert_eq!((status, told["state"].as_str(), &told["version"]), (200, Some("accepted"), &json!(1)));
    }
    assert_eq!(lines(&folder, "references.json.reviews.jsonl").len(), 1);
}

/// Without a catalog, tools of the references are offered, and any other may be written.
#[test]
fn a_reference_without_calls_and_answer_is_filled() {
    let Some(browser) = Browser::open(1280, 900) else { return };
    let folder = Folder::new();
    let known = json!({"id": "known", "steps": [{"step": 1, "calls": [{"name": "a/b", "arguments": {}}]}]});
    folder.json("references.json", &json!([{"id": "empty", "question": "?", "steps": []}, known]));
    let review = Review::start(&folder, &["references.json"]);
    open(&browser, &review);
    browser.press("a");
    let wrong = "document.querySelector('.decide .bad').textContent";
    browser.wait(&format!("({wrong}).endsWith('add one of them, or reject it')"), "true");
    click(&browser, "#add");
    assert_eq!(browser.text("document.querySelector('#tools option').value"), "a/b");
    write(&browser, "#tool", "<b>c</b>/d");
    save_by_keys(&browser);
    browser.wait(PLACES, "1.1=<b>c</b>/d");
    assert_eq!(browser.text("document.querySelectorAll('b').length"), "0");
    browser.press("a");
    browser.wait(STATE, "accepted");
    let made = written(&folder);
    assert_eq!(made[0]["steps"], json!([{"step": 1, "calls": [{"name": "<b>c</b>/d", "arguments": {}}]}]));
    assert_quiet(&browser, &review);
}
