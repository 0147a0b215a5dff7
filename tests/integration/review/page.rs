//! The page of `m3 review`, in a real browser.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::support::{Review, lines, tools, write_references};
use crate::audit::HOSTILE;
use crate::support::Folder;

pub(super) const STATE: &str = "document.querySelector('#detail h2 .badge')?.textContent ?? 'none'";

/// Opens a page and waits until it is ready.
pub(super) fn open(browser: &Browser, review: &Review) {
    browser.visit_address(review.address());
    browser.wait("document.documentElement.dataset.ready", "true");
}

pub(super) fn click(browser: &Browser, selector: &str) {
    browser.run(&format!("document.querySelector({}).click()", json!(selector)));
}

/// After a decision the next open reference is a key away; after the last one the page says what comes next.
#[test]
fn the_next_open_reference_is_a_key_away_and_the_last_one_says_what_comes_next() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let title = "document.querySelector('#detail h2 bdi').textContent";
    assert_eq!(browser.text("document.querySelectorAll('#next, #done').length"), "0");
    // The second one first: what is left begins after it, and then from the start.
    browser.press("j");
    browser.wait(title, "r2");
    browser.press("a");
    browser.wait("document.querySelector('#next')?.textContent", "Next open reference, 2 left n");
    browser.press("n");
    browser.wait(title, "=WEBSERVICE(1)");
    browser.press("a");
    browser.wait("document.querySelector('#next')?.textContent", "Next open reference, 1 left n");
    click(&browser, "#next");
    browser.wait(title, "r1");
    browser.press("a");
    browser.wait(
        "document.querySelector('#done code')?.textContent.endsWith('references.json --out reviewed.json')",
        "true",
    );
    assert_quiet(&browser, &review);
}

/// Writes into a field.
pub(super) fn write(browser: &Browser, selector: &str, text: &str) {
    browser.run(&format!(
        "const field = document.querySelector({}); field.value = {}; field.dispatchEvent(new Event('input', {{ bubbles: true }}))",
        json!(selector), json!(text)
    ));
}

/// Asserts that only the server's own address was requested, and that the console has no messages except those about
/// refused requests that a test provokes.
pub(super) fn assert_quiet(browser: &Browser, review: &Review) {
    let said = browser.console();
    let is_refusal = |entry: &Value| {
        let message = entry["message"].as_str().unwrap_or_default();
        message.contains("status of 422")
            || message.contains("status of 404")
            || message.contains("status of 409")
    };
    let unexpected: Vec<&Value> = said.iter().filter(|entry| !is_refusal(entry)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
    // A page that was open before may have asked its server once more.
    let is_earlier =
        |address: &str| address.starts_with("http://127.0.0.1:") && address.contains("/api/changes?");
    for address in browser.requests() {
        let is_ours = address.starts_with(review.address())
            || address.starts_with("data:")
            || address == "about:blank"
            || is_earlier(&address);
        assert!(is_ours, "{address} was requested");
    }
}

pub(super) fn start(folder: &Folder) -> Option<(Browser, Review)> {
    let browser = Browser::open(1600, 1000)?;
    let references = write_references(folder);
    let tools = tools(folder);
    let review = Review::start(folder, &[references.to_str().unwrap(), "--tools", tools.to_str().unwrap()]);
    open(&browser, &review);
    Some((browser, review))
}

#[test]
fn references_are_accepted_rejected_and_decisions_undone() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    assert_eq!(browser.text(STATE), "open");
    browser.press("a");
    browser.wait(STATE, "accepted");
    browser.wait("document.querySelector('#list .badge').textContent", "accepted");
    browser.press("j");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "r2");
    click(&browser, "#reject");
    browser
        .wait("document.querySelector('.decide .bad').textContent", "a rejection needs a note that says why");
    assert_eq!(browser.text(STATE), "open");
    write(&browser, "#note", "the image is of something else");
    click(&browser, "#reject");
    browser.wait(STATE, "rejected");
    let history = "document.querySelector('.history').innerText";
    assert!(browser.text(history).contains("the image is of something else"));
    click(&browser, "#undo");
    browser.wait(STATE, "open");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let actions: Vec<&str> = kept.iter().map(|line| line["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["accept", "reject", "undo"]);
    assert!(kept.iter().all(|line| line["name"] == "Ada"));
    assert_quiet(&browser, &review);
}

#[test]
fn arguments_are_edited_within_the_catalog() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    click(&browser, "[data-number='0'] .edit");
    for (text, pointer, part) in [
        ("{\"query\": 3}", "/query", "string"),
        ("{\"query\": ", "", "not JSON"),
        ("[1]", "", "an array"),
        ("{}", "", "query"),
    ] {
        write(&browser, ".draft textarea", text);
        browser.run("document.querySelector('.draft .problems').replaceChildren()");
        click(&browser, ".draft .save");
        browser.wait("document.querySelector('.draft .problems li') !== null", "true");
        let said = browser.text("document.querySelector('.draft .problems').textContent");
        assert!(said.starts_with(pointer) && said.contains(part), "{text}: {said}");
        assert_eq!(
            browser.text("document.querySelector('.draft textarea').getAttribute('aria-invalid')"),
            "true"
        );
        // The text that was typed stays.
        assert_eq!(browser.text("document.querySelector('.draft textarea').value"), text);
    }
    write(&browser, ".draft textarea", "{\"query\": \"red lamp\"}");
    click(&browser, ".draft .save");
    browser.wait(STATE, "edited");
    let call = "document.querySelector(\"[data-number='0']\")";
    assert!(browser.text(&format!("{call}.innerText")).contains("red lamp"));
    assert!(browser.text(&format!("{call}.innerText")).contains("never sent"));
    assert_eq!(browser.text(&format!("document.activeElement === {call}")), "true");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0]["steps"][0][0]["arguments"], "{\"query\":\"red lamp\"}");
    assert_eq!(kept[0]["change"], "arguments of shop/find");
    assert_quiet(&browser, &review);
}

#[test]
fn calls_are_moved_and_removed_unless_another_one_needs_them() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let places = "[...document.querySelectorAll('.call')].map(call => \
        `${call.querySelector('.place').textContent}=${call.dataset.number}`).join(' ')";
    assert_eq!(browser.text(places), "1.1=0 1.2=1 2.1=2");
    assert_eq!(browser.text("document.querySelectorAll('.graph [data-link]').length"), "1");
    assert!(browser.text("document.querySelector('.graph').textContent").contains("item-77310"));
    let refusal =
        |number: usize| format!("document.querySelector(\"[data-number='{number}'] .refusal\").textContent");
    // By keyboard: a call that needs the first one cannot join its step.
    browser.run("document.querySelector(\"[data-number='2']\").focus()");
    let move_up = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', altKey: true, bubbles: true }))";
    browser.run(move_up);
    let refused =
        "`shop/get` in step 1 uses `item-77310`, which `shop/find` in step 1 returns; it has to come later";
    browser.wait(&refusal(2), refused);
    click(&browser, "[data-number='0'] .remove");
    browser.wait(&format!("{}.includes('is left out')", refusal(0)), "true");
    assert_eq!(browser.text(places), "1.1=0 1.2=1 2.1=2");
    assert!(!folder.path().join("references.json.reviews.jsonl").exists());

    click(&browser, "[data-number='1'] .later");
    browser.wait(places, "1.1=0 2.1=1 3.1=2");
    assert_eq!(browser.text("document.activeElement.dataset.number"), "1");
    click(&browser, "[data-number='1'] .later");
    browser.wait(places, "1.1=0 2.1=2 2.2=1");
    click(&browser, "[data-number='1'] .remove");
    browser.wait(places, "1.1=0 2.1=2");
    click(&browser, ".back");
    browser.wait(places, "1.1=0 2.1=1 3.1=2");
    for expected in ["1.1=0 2.1=2", "1.1=0 2.1=2 2.2=1", "1.1=0 2.1=1 3.1=2", "1.1=0 1.2=1 2.1=2"] {
        click(&browser, "#undo");
        browser.wait(places, expected);
    }
    assert_eq!(browser.text(STATE), "open");
    assert_quiet(&browser, &review);
}

#[test]
fn another_persons_decision_appears_and_a_late_one_can_be_sent_again() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let other = Review::start(&folder, &["references.json"]);
    let reject = json!({"index": 1, "base": 0, "name": "Bob", "action": "reject", "note": "no"});
    assert_eq!(other.post("api/decide", &reject).0, 200);
    browser.wait("document.querySelectorAll('#list .badge')[1].textContent", "rejected");
    // While a person is typing, nothing is removed.
    write(&browser, "#note", "my note");
    let accept = json!({"index": 0, "base": 0, "name": "Bob", "action": "accept"});
    assert_eq!(other.post("api/decide", &accept).0, 200);
    browser.wait("document.getElementById('failure').textContent.startsWith('Bob has changed')", "true");
    assert_eq!(browser.text("document.getElementById('note').value"), "my note");
    click(&browser, "#reject");
    browser.wait(
        "document.querySelector('#conflict p')?.textContent.startsWith('Bob has decided in the meantime')",
        "true",
    );
    click(&browser, "#conflict button:last-child");
    browser.wait(STATE, "rejected");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let notes: Vec<_> =
        kept.iter().map(|line| (line["note"].as_str().unwrap_or(""), line["set_aside"] == true)).collect();
    assert_eq!(notes, [("no", false), ("", false), ("my note", true), ("my note", false)]);
    assert_quiet(&browser, &review);
}

/// References with hostile text in every field.
fn hostile(folder: &Folder) -> std::path::PathBuf {
    let reference = |(index, text): (usize, &&str)| {
        let text = if *text == "LONG" { "<b>long</b> ".repeat(5000) } else { (*text).to_owned() };
        let key: String = text.chars().take(300).collect();
        let id = format!("{key}-774401");
        let first = json!({"name": key, "arguments": {key.clone(): text}, "result": {key.clone(): id}, "outcome": text});
        let second =
            json!({"name": format!("{key}/{key}"), "arguments": {"id": id, "url": text}, "result": text});
        json!({
            "id": format!("{key}{index}"), "type": key, "image": text, "question": text, "final_reply": text,
            "steps": [{"step": 1, "calls": [first]}, {"step": 2, "calls": [second]}],
            "judge": {key.clone(): {key.clone(): [text, text]}, "reason": text},
        })
    };
    folder.json("hostile.json", &Value::Array(HOSTILE.iter().enumerate().map(reference).collect()))
}

#[test]
fn nothing_in_a_reference_runs() {
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let folder = Folder::new();
    let references = hostile(&folder);
    let review = Review::start(&folder, &[references.to_str().unwrap()]);
    open(&browser, &review);
    let clean = "window.hostile === undefined \
         && document.querySelectorAll('script').length === 1 \
         && document.querySelectorAll('[onerror], [onload], iframe, object, embed, base, form, b').length === 0 \
         && [...document.querySelectorAll('a')].every(link => link.getAttribute('href').startsWith('#')) \
         && [...document.querySelectorAll('img')].every(image => /^(image|result)\\//.test(image.getAttribute('src')))";
    for (index, text) in HOSTILE.iter().enumerate() {
        browser.run(&format!("document.querySelectorAll('#list .row')[{index}].click()"));
        browser.wait("location.hash", &format!("#{index}"));
        browser.wait(
            &format!(
                "document.querySelector('#list [aria-current]') === document.querySelectorAll('#list .row')[{index}]"
            ),
            "true",
        );
        assert!(!browser.has_dialog());
        assert_eq!(browser.text(clean), "true", "{text}");
        // Also in texts that people type.
        write(&browser, "#note", text);
        write(&browser, "#name", text);
        click(&browser, "#reject");
        browser.wait(STATE, "rejected");
        assert_eq!(browser.text(clean), "true", "{text}");
        click(&browser, ".call .edit");
        assert_eq!(browser.text(clean), "true", "{text}");
        browser.run("document.querySelector('.draft .actions button:last-child').click()");
    }
    let visible = browser.text("document.body.innerText");
    assert!(!visible.contains('\u{202e}') && !visible.contains('\u{1b}'));
    assert_quiet(&browser, &review);
}

#[test]
fn it_fits_every_width_stands_out_and_has_names() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for width in [400, 800, 1600] {
            browser.resize(width, 1000);
            open(&browser, &review);
            browser.press("u");
            click(&browser, "[data-number='0'] .edit");
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.text(fits), "true", "{width}");
            assert_eq!(browser.run(include_str!("../contrast.js")), json!([]), "{scheme} {width}");
            browser.run("document.querySelector('.draft .actions button:last-child').click()");
        }
    }
    assert_eq!(browser.run(include_str!("../names.js")), json!([]));
    // The help on keys, last in the list, is within the window, whatever is above it.
    browser.resize(1280, 800);
    let is_within = "document.querySelector('.keys').getBoundingClientRect().bottom <= innerHeight \
         && document.documentElement.scrollHeight <= innerHeight";
    assert_eq!(browser.text(is_within), "true");
    assert_quiet(&browser, &review);
}

/// A path in the evidence as deep as possible, and a tool with a long and wide name.
#[test]
fn deep_evidence_stays_readable_and_names_stay_in_their_boxes() {
    let Some(browser) = Browser::open(400, 900) else { return };
    let folder = Folder::new();
    let deep =
        (0..11).fold(json!("a text of several words"), |value, depth| json!({format!("key{depth}"): value}));
    let name = format!("SERVER/{}", "WIDE_MEMBER_".repeat(4));
    let steps = json!([{"step": 1, "calls": [{"name": name, "arguments": {}}]}]);
    let references = folder.json("deep.json", &json!([{"id": "x", "steps": steps, "judge": deep}]));
    let review = Review::start(&folder, &[references.to_str().unwrap()]);
    for width in [400, 1280] {
        browser.resize(width, 900);
        open(&browser, &review);
        let leaf =
            "[...document.querySelectorAll('.evidence .passage')].at(-1).parentElement.clientWidth >= 150";
        assert_eq!(browser.text(leaf), "true", "{width}");
        let fits = "[...document.querySelectorAll('.graph .nodes g text')].every(text => text.getBBox().x + text.getBBox().width \
             <= text.parentElement.querySelector('rect').getBBox().x + 176)";
        assert_eq!(browser.text(fits), "true", "{width}");
    }
    assert_quiet(&browser, &review);
}

/// Late answers belong to what was on the screen before.
#[test]
fn what_is_decided_is_what_is_on_the_screen() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    // The answers to the first decision and to the first opening come after all others.
    browser.run(
        "const asked = window.fetch; let held = 0; window.fetch = async (path, options) => { \
           const answer = await asked(path, options); \
           const isHeld = (path === 'api/decide' || path === 'api/reference?index=1') && held < 2; \
           if (isHeld) { held += 1; await new Promise((done) => setTimeout(done, 700)); window.released = (window.released ?? 0) + 1; } \
           return answer; }",
    );
    browser.press("a");
    browser.run("document.querySelectorAll('#list .row')[1].click(); document.querySelectorAll('#list .row')[2].click()");
    browser.wait("window.released", "2");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "=WEBSERVICE(1)");
    browser.press("a");
    browser.wait(STATE, "accepted");
    let kept = lines(&folder, "references.json.reviews.jsonl");
    let ids: Vec<&str> = kept.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["r1", "=WEBSERVICE(1)"]);
    assert_quiet(&browser, &review);
}

/// The page asks for decisions of others while its own is on its way: the answer then comes after that to the
/// decision, and has nothing new.
#[test]
fn a_late_look_at_what_others_did_takes_no_focus_away() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    browser.run(
        "const asked = window.fetch; window.looks = 0; \
         const looked = new Promise((done) => { window.look = done; }); \
         const released = new Promise((done) => { window.release = done; }); \
         window.fetch = async (path, options) => { \
           const answer = await asked(path, options); \
           if (path === 'api/decide') await looked; \
           if (path === 'api/reference?index=0') { window.look(); await released; } \
           if (path.startsWith('api/changes')) window.looks += 1; \
           return answer; }",
    );
    click(&browser, "[data-number='1'] .later");
    // The list may say `edited` while the answer to the decision, which gives the focus, is still held.
    let focus = "document.activeElement.dataset.number";
    browser.wait(focus, "1");
    // It asks again after it has handled the late answer.
    browser.run("window.looks = 0; window.release()");
    browser.wait("window.looks > 0", "true");
    assert_eq!(browser.text(focus), "1");
    assert_quiet(&browser, &review);
}
