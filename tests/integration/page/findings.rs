//! The findings about arguments: in the table, in a trajectory and in the overview.

use serde_json::json;

use super::{OPEN, POOR, assert_quiet, page, shown_ids};

/// By hand from the terminal's output for these predictions: see the snapshot of every poor prediction.
#[test]
fn what_became_of_arguments_can_be_filtered_by() {
    let Some(page) = page(POOR, "") else { return };
    let offered =
        "return [...document.querySelectorAll('[data-filter=finding] option')].map(option => option.value)";
    assert_eq!(page.run(offered), json!(["", "different", "missing", "rejected"]));
    page.go("#/?finding=rejected&sort=id");
    assert_eq!(shown_ids(&page), json!(["00010002", "00020000", "00030002", "00050000"]));
    page.go("#/?metric=argument_fidelity&from=0.5&to=0.9");
    assert_eq!(shown_ids(&page), json!(["00030002", "00010002"]));
    assert_quiet(&page);
}

#[test]
fn rejected_pairs_can_be_seen_alone() {
    let Some(page) = page(POOR, "#00030002") else { return };
    let shown = "return [...document.querySelectorAll('.matches > li')].map(item => item.checkVisibility())";
    assert_eq!(page.run(shown), json!([true, true, true, true]));
    page.run("document.querySelector('.only input').click()");
    assert_eq!(page.run(shown), json!([false, false, true, false]));
    let verdicts = page.run(
        "return [...document.querySelectorAll('.matches .rejected .verdict')] \
           .map(mark => [mark.textContent, mark.title.startsWith('score 0.')])",
    );
    assert_eq!(verdicts, json!([["≠ different", true], ["≠ different", true]]));
    // Both calls of the pair are marked in their places.
    assert_eq!(page.text("document.querySelectorAll('.alignment .call .flag').length"), "2");
    assert_quiet(&page);
}

#[test]
fn findings_of_the_overview_lead_to_their_trajectories() {
    let Some(page) = page(POOR, "") else { return };
    let link = "document.querySelector('.wordy a')";
    let named = page.text(&format!("{link}.textContent"));
    page.run(&format!("{link}.click()"));
    page.wait(OPEN, &named);
    assert_quiet(&page);
}
