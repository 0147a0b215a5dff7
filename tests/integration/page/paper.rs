//! The page, printed.

use serde_json::json;

use super::{GOOD, assert_quiet, page, page_of, set};

/// Parts that are folded or scrolled on the screen are complete on paper, and folded again afterwards.
#[test]
fn nothing_is_folded_on_paper() {
    let Some(browser) = page_of(&["1"], "#1") else { return };
    let unopened = "document.querySelectorAll('main details:not([open])').length";
    assert_eq!(browser.text(unopened), "3");
    browser.run("window.dispatchEvent(new Event('beforeprint'))");
    browser.show_as_printed(true);
    assert_eq!(browser.text(unopened), "0");
    let shown = browser.text("document.querySelector('.call code').checkVisibility()");
    assert_eq!(shown, "true");
    let overflow = browser.run(
        "return [...document.querySelectorAll('#detail .scroll')] \
           .map(box => getComputedStyle(box).overflowX)",
    );
    assert_eq!(overflow, json!(["visible", "visible"]));
    browser.show_as_printed(false);
    browser.run("window.dispatchEvent(new Event('afterprint'))");
    assert_eq!(browser.text(unopened), "3");
    // The same happens when a real printer is used.
    browser.run(&format!(
        "window.addEventListener('beforeprint', () => {{ window.foldedOnPaper = {unopened}; }})"
    ));
    assert!(browser.print().len() > 1_000);
    assert_eq!(browser.text("window.foldedOnPaper"), "0");
}

/// `window.print` is replaced by what a browser does before and after it.
#[test]
fn all_listed_trajectories_are_printed() {
    let Some(browser) = page(GOOD, "") else { return };
    set(&browser, "type", "barcode");
    let printed = browser.run(
        "let printed; \
         window.print = () => { \
           window.dispatchEvent(new Event('beforeprint')); \
           printed = ['.trajectory', '.printing .alignment', '.lines path'] \
             .map(name => document.querySelectorAll(name).length); \
           window.dispatchEvent(new Event('afterprint')); \
         }; \
         document.getElementById('print').click(); \
         return [...printed, document.querySelectorAll('.trajectory').length]",
    );
    // 2, 3 and 4 calls, all matched.
    assert_eq!(printed, json!([3, 3, 9, 0]));
    assert_quiet(&browser);
}
