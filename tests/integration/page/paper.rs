//! The page, printed.

use serde_json::json;

use super::{GOOD, assert_quiet, page, page_of};

/// Parts that are folded or scrolled on the screen are complete on paper, and folded again afterwards.
#[test]
fn nothing_is_folded_on_paper() {
    let Some(page) = page_of(&["1"], "#1") else { return };
    let unopened = "document.querySelectorAll('main details:not([open])').length";
    assert_eq!(page.text(unopened), "2");
    page.run("window.dispatchEvent(new Event('beforeprint'))");
    page.show_as_printed(true);
    assert_eq!(page.text(unopened), "0");
    assert_eq!(page.text("document.querySelector('.result pre').checkVisibility()"), "true");
    let overflow = page
        .run("return [...document.querySelectorAll('.scroll')].map(box => getComputedStyle(box).overflowX)");
    assert_eq!(overflow, json!(["visible", "visible"]));
    page.show_as_printed(false);
    page.run("window.dispatchEvent(new Event('afterprint'))");
    assert_eq!(page.text(unopened), "2");
    // The same happens when a real printer is used.
    page.run(&format!(
        "window.addEventListener('beforeprint', () => {{ window.foldedOnPaper = {unopened}; }})"
    ));
    assert!(page.print().len() > 1_000);
    assert_eq!(page.text("window.foldedOnPaper"), "0");
}

/// A table shows its first rows at once and the others as one comes to them; on paper there are all.
#[test]
fn long_tables_are_whole_on_paper() {
    let ids: Vec<String> = (0..250).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let Some(page) = page_of(&ids, "") else { return };
    let rows = "document.querySelectorAll('[data-rows] tbody tr').length";
    assert_eq!(page.text(rows), "100");
    page.run("window.dispatchEvent(new Event('beforeprint'))");
    assert_eq!(page.text(rows), "250");
}

/// `window.print` is replaced by what a browser does before and after it.
#[test]
fn all_listed_trajectories_are_printed() {
    let Some(page) = page(GOOD, "#/?type=barcode") else { return };
    page.run(
        "window.print = () => { \
           window.dispatchEvent(new Event('beforeprint')); \
           window.printed = ['.printed', '.printing .alignment', '.lines path'] \
             .map(name => document.querySelectorAll(name).length).join(); \
           window.dispatchEvent(new Event('afterprint')); \
         }; \
         document.getElementById('print').click()",
    );
    // 2, 3 and 4 calls, all matched.
    page.wait("window.printed", "3,3,9");
    page.wait("document.querySelectorAll('.printed').length", "0");
    assert_quiet(&page);
}
