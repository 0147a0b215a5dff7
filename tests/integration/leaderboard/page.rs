//! Tables as a page, in a real browser.

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::support::{Folder, m3_bare, run, text};

/// A page of tables: a click on a column's head sorts the table, the figures are shown, accessibility checks pass, and
/// no script from the data runs.
#[test]
fn pages_of_tables_sort_show_figures_and_run_nothing() {
    let folder = Folder::new();
    let evil = "<img src=x onerror=\"window.pwned=1\">\u{202e}";
    let csv =
        format!("model,recall,precision\n\"{}\",1,0\nb,0.25,0.5\nc,0.5,0.75\n", evil.replace('"', "\"\""));
    let csv = folder.write("models.csv", csv);
    let page = folder.path().join("board.html");
    let output = run(m3_bare(folder.path()).arg("leaderboard").arg(&csv).arg("--out").arg(&page));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let Some(browser) = Browser::open(1280, 1000) else { return };
    browser.visit_address(&format!("file://{}", page.display()));
    let recalls = "[...document.querySelectorAll('table')[0].tBodies[0].rows].map(row => row.cells[1].textContent).join()";
    browser.run(
        "[...document.querySelectorAll('th button')].find(head => head.textContent === 'recall').click()",
    );
    assert_eq!(browser.text(recalls), "1.000,0.500,0.250");
    browser.run(
        "[...document.querySelectorAll('th button')].find(head => head.textContent === 'recall').click()",
    );
    assert_eq!(browser.text(recalls), "0.250,0.500,1.000");
    assert_eq!(browser.text("document.querySelector('[aria-sort]').ariaSort"), "ascending");
    assert!(
        browser
            .text("[...document.images].filter(image => image.naturalWidth > 100).length")
            .parse::<u32>()
            .unwrap()
            > 0
    );
    assert_eq!(browser.text("typeof window.pwned"), "undefined");
    for width in [400, 1280, 2560] {
        browser.resize(width, 1000);
        let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
        assert_eq!(browser.text(fits), "true", "{width}");
    }
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        assert_eq!(browser.run(include_str!("../contrast.js")), json!([]), "{scheme}");
    }
    assert_eq!(browser.run(include_str!("../names.js")), json!([]));
    if let Some(rules) = crate::view::axe() {
        assert_eq!(crate::view::findings(&browser, &rules), json!([]));
    }
    assert_eq!(browser.console(), Vec::<Value>::new());
    assert!(browser.requests().iter().all(|asked| asked.starts_with("file:")
        || asked.starts_with("data:")
        || asked.starts_with("about:")));
}
