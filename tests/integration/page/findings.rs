//! The findings about arguments: in the list, in a trajectory and in the overview.

use serde_json::json;

use super::{OPEN, POOR, assert_quiet, page, set, shown_ids};

/// By hand from the terminal's output for these predictions: see the snapshot of every poor prediction.
#[test]
fn what_became_of_arguments_can_be_filtered_and_sorted_by() {
    let Some(browser) = page(POOR, "") else { return };
    let offered = "return [...document.querySelectorAll('#finding option')].map(option => option.value)";
    let offered = browser.run(offered);
    assert_eq!(offered, json!(["", "similar, but another call", "different", "missing", "extra", "close"]));
    set(&browser, "sort", "id");
    set(&browser, "finding", "similar, but another call");
    assert_eq!(shown_ids(&browser), json!(["00020000", "00030002", "00050000"]));
    let marks = browser.run(
        "return [...document.querySelectorAll('#list li:not([hidden]) .row-rejected')].map(mark => mark.textContent)",
    );
    assert_eq!(marks, json!(["≠ 2", "≠ 1", "≠ 2"]));
    set(&browser, "finding", "extra");
    assert_eq!(shown_ids(&browser), json!(["00020000"]));
    set(&browser, "finding", "");
    set(&browser, "metric", "fidelity");
    set(&browser, "from", "0.5");
    set(&browser, "to", "0.9");
    assert_eq!(shown_ids(&browser), json!(["00030002"]));
    assert_quiet(&browser);
}

#[test]
fn rejected_pairs_can_be_seen_alone() {
    let Some(browser) = page(POOR, "#00030002") else { return };
    let shown =
        "return [...document.querySelectorAll('#detail .matches > li')].map(item => item.checkVisibility())";
    assert_eq!(browser.run(shown), json!([true, true, true, true]));
    browser.run("document.querySelector('#detail .only input').click()");
    assert_eq!(browser.run(shown), json!([false, false, true, false]));
    let verdicts = browser.run(
        "return [...document.querySelectorAll('#detail .matches .rejected .verdict')] \
           .map(mark => [mark.textContent, mark.title.startsWith('score 0.')])",
    );
    assert_eq!(verdicts, json!([["≠ different", true], ["≠ different", true]]));
    // Both calls of the pair are marked in their places.
    assert_eq!(browser.text("document.querySelectorAll('#detail .call .flag').length"), "2");
    assert_quiet(&browser);
}

#[test]
fn findings_of_the_overview_lead_to_their_trajectories() {
    let Some(browser) = page(POOR, "") else { return };
    let links = browser.run(
        "return [...document.querySelectorAll('.findings')] \
           .map(table => [...table.querySelectorAll('a')].every(link => link.getAttribute('href').length === 9))",
    );
    assert_eq!(links, json!([true, true]));
    let click = "document.querySelectorAll('.findings')[1].querySelector('a').click()";
    let named = browser.text("document.querySelectorAll('.findings')[1].querySelector('a').textContent");
    browser.run(click);
    browser.wait(OPEN, &named);
    assert_quiet(&browser);
}
