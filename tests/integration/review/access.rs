//! The pages of `m3 review` for everybody: every width, both schemes, axe-core, paper, and the keyboard alone.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use super::page::{STATE, assert_quiet, open, start};
use super::support::{Review, own, tools, write_references};
use crate::support::{Folder, json_of};
use crate::view::{axe, findings};

/// The codes of `WebDriver` for keys.
const TAB: &str = "\u{e004}";
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";
const DELETE: &str = "\u{e017}";

#[test]
fn every_page_fits_every_width_in_both_schemes_and_on_paper() {
    let Some(browser) = Browser::open(1280, 1000) else { return };
    let folder = Folder::new();
    let references = write_references(&folder);
    let references = references.to_str().unwrap();
    let mut originals: Value = json_of(references);
    originals[0]["steps"][1]["calls"][0]["arguments"]["note"] = json!("another");
    let originals = folder.json("originals.json", &originals);
    let tools = tools(&folder);
    let (predictions, own_references) = (own("predictions.json"), own("references.json"));
    let axe = axe();
    for arguments in [
        vec![references, "--tools", tools.to_str().unwrap()],
        vec!["--pairs", originals.to_str().unwrap(), references],
        vec!["--label", &predictions, &own_references, "--sample", "4"],
    ] {
        let review = Review::start(&folder, &arguments);
        open(&browser, &review);
        let is_review = !arguments[0].starts_with("--");
        // What is there only while somebody writes is looked at too.
        if is_review {
            browser.press("c");
        }
        for width in [400, 1280, 2560] {
            browser.resize(width, 1000);
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.text(fits), "true", "{arguments:?} at {width} pixels");
            for scheme in ["light", "dark"] {
                browser.prefer(scheme);
                assert_eq!(browser.run(include_str!("../contrast.js")), json!([]), "{scheme} {arguments:?}");
            }
            if let Some(rules) = &axe {
                assert_eq!(findings(&browser, rules), json!([]), "{arguments:?} at {width} pixels");
            }
        }
        assert_eq!(browser.run(include_str!("../names.js")), json!([]), "{arguments:?}");
        // On paper is the task in full, and nothing to press.
        browser.show_as_printed(true);
        let is_paper = "[...document.querySelectorAll('.actions, .tools, .decide, .layout nav')].every(part => part.getClientRects().length === 0) \
            && getComputedStyle(document.querySelector('main')).overflowY === 'visible' \
            && document.querySelector('.task').getClientRects().length > 0";
        assert_eq!(browser.text(is_paper), "true", "{arguments:?}");
        browser.show_as_printed(false);
        assert!(!browser.print().is_empty());
        assert_quiet(&browser, &review);
        // Before its server ends: the page goes on asking it.
        browser.visit_address("about:blank");
    }
}

/// What is folded or scrolled on the screen stands on paper in full, and is as before afterwards.
#[test]
fn nothing_is_cut_on_paper() {
    // As wide as a sheet of A4 without its edges.
    let Some(browser) = Browser::open(720, 1000) else { return };
    let folder = Folder::new();
    let long: Vec<String> = (0..80).map(|line| format!("line {line} of a long text")).collect();
    let step = |number: usize| {
        let arguments = json!({"lines": long, "word": "x".repeat(500)});
        json!({"step": number, "calls": [{"name": "a/read", "arguments": arguments, "result": long.join("\n")}]})
    };
    let steps: Vec<Value> = (1..6).map(step).collect();
    let reference = json!({
        "id": "long", "question": long.join("\n"), "final_reply": long.join("\n"), "steps": steps,
        "judge": {"reason": long.join("\n")},
    });
    let references = folder.json("references.json", &json!([reference]));
    let mut original = reference.clone();
    original["steps"].as_array_mut().unwrap().pop();
    let originals = folder.json("originals.json", &json!([original]));
    let (references, originals) = (references.to_str().unwrap(), originals.to_str().unwrap());
    for arguments in [vec![references], vec!["--pairs", originals, references]] {
        let review = Review::start(&folder, &arguments);
        open(&browser, &review);
        let closed = "document.querySelectorAll('#detail details:not([open])').length";
        let before = browser.text(closed);
        assert_ne!(before, "0", "{arguments:?}");
        let cut = "return [...document.querySelectorAll('main, main *')].filter((part) => { \
             const box = part.getBoundingClientRect(); \
             if (box.width === 0) return false; \
             const isHidden = (overflow, content, shown) => overflow !== 'visible' && content > shown + 1; \
             const style = getComputedStyle(part); \
             return box.right > innerWidth + 1 || isHidden(style.overflowY, part.scrollHeight, part.clientHeight) \
               || isHidden(style.overflowX, part.scrollWidth, part.clientWidth); \
           }).map((part) => `${part.tagName}.${part.getAttribute('class')}`)";
        assert_ne!(browser.run(cut), json!([]), "{arguments:?} on the screen");
        browser.run("window.dispatchEvent(new Event('beforeprint'))");
        browser.show_as_printed(true);
        assert_eq!((browser.run(cut), browser.text(closed)), (json!([]), "0".to_owned()), "{arguments:?}");
        let results =
            "[...document.querySelectorAll('.call details pre')].every((pre) => pre.checkVisibility())";
        assert_eq!(browser.text(results), "true", "{arguments:?}");
        browser.show_as_printed(false);
        browser.run("window.dispatchEvent(new Event('afterprint'))");
        assert_eq!(browser.text(closed), before, "{arguments:?}");
        // The same happens when a real printer is used.
        browser.run(&format!(
            "window.addEventListener('beforeprint', () => {{ window.foldedOnPaper = {closed}; }})"
        ));
        assert!(!browser.print().is_empty());
        assert_eq!(browser.text("window.foldedOnPaper"), "0", "{arguments:?}");
        assert_quiet(&browser, &review);
        // Before its server ends: the page goes on asking it.
        browser.visit_address("about:blank");
    }
}

#[test]
fn a_review_needs_no_mouse() {
    let folder = Folder::new();
    let Some((browser, review)) = start(&folder) else { return };
    let focus = "document.activeElement.textContent.trim().split('\\n')[0]";
    // A call is added: its tool, its step, its arguments, and saved.
    browser.press("c");
    browser.press("clock/now");
    browser.press(&TAB.repeat(3));
    assert_eq!(browser.text(focus), "Save Ctrl Enter");
    browser.press(ENTER);
    browser.wait("document.activeElement.dataset.number", "3");
    // It is edited and left as it was, then removed.
    browser.press("e");
    assert_eq!(browser.text("document.activeElement.value"), "{}");
    browser.press(ESCAPE);
    assert_eq!(browser.text("document.activeElement.dataset.number"), "3");
    browser.press(DELETE);
    browser.wait("document.querySelectorAll('.call').length", "3");
    // The answer, by its button.
    browser.run("document.querySelector('#answer .edit').focus()");
    browser.press(ENTER);
    browser.press("!");
    browser.press(TAB);
    browser.press(ENTER);
    browser.wait("document.querySelector('#answer .passage').textContent.includes('!')", "true");
    // Another reference is searched for and rejected, and the next one accepted.
    browser.press("/");
    browser.press("r2");
    browser.press(ESCAPE);
    browser.press("j");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "r2");
    browser.press("r");
    browser.press("no lamp");
    browser.press(&TAB.repeat(2));
    assert_eq!(browser.text(focus), "Reject r");
    browser.press(ENTER);
    browser.wait(STATE, "rejected");
    browser.press("n");
    browser.wait("document.querySelector('#detail h2 bdi').textContent", "=WEBSERVICE(1)");
    browser.press("a");
    browser.wait(STATE, "accepted");
    assert_quiet(&browser, &review);
}
