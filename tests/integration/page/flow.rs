//! What both trajectories do, in the page of an audit.

use serde_json::json;

use super::{GOOD, assert_quiet, page};

#[test]
fn the_maker_of_what_a_call_reads_stands_out() {
    let Some(page) = page(GOOD, "#00050000") else { return };
    let lines = page
        .run("return [...document.querySelectorAll('#prediction-1 .flow li')].map(line => line.textContent)");
    assert_eq!(lines, json!(["reads crowd-grey.png, which 1.1 made", "makes crowd-blurred.png"]));
    let makers = "[...document.querySelectorAll('.call.maker')].map(call => call.id).join()";
    assert_eq!(page.text(makers), "");
    // The lines are drawn once the page has its size.
    page.wait("document.querySelectorAll('.flow-lines path').length > 0", "true");
    // By the keyboard: its links can be reached.
    page.run("document.querySelector('#prediction-1 .flow a').focus()");
    assert_eq!(page.text(makers), "prediction-0");
    assert_eq!(page.text("document.querySelectorAll('.flow-lines .shown').length"), "2");
    page.run("document.activeElement.blur()");
    assert_eq!(page.text(makers), "");
    // By the pointer.
    page.run("document.getElementById('reference-1').dispatchEvent(new MouseEvent('mouseenter'))");
    assert_eq!(page.text(makers), "reference-0");
    assert_quiet(&page);
}

#[test]
fn pictures_stand_beside_each_other_with_their_difference() {
    let Some(page) = page(GOOD, "#00050000") else { return };
    let labels = page.run(
        "return [...document.querySelectorAll('.trio')].map(trio => [...trio.querySelectorAll('.step-title')].map(label => label.textContent).join())",
    );
    assert_eq!(labels, json!(vec!["reference,prediction,difference"; 3]));
    let widths = "[...document.querySelectorAll('.trio img')].every(image => image.naturalWidth === 384)";
    page.run("document.querySelectorAll('.trio img').forEach(image => { image.loading = 'eager'; })");
    page.wait(widths, "true");
    let said = page.text("document.querySelector('#main').textContent");
    assert!(
        said.contains("10.0 % of the pixels differ") && said.contains("artifact agreement 0.9993"),
        "{said}"
    );
    // Both files have the same results but one: then there is no third picture.
    page.go("#00020001");
    assert_eq!(page.text("document.querySelector('.trio').textContent.includes('difference')"), "false");
}
