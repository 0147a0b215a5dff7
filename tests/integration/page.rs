//! The page of `m3 audit --html`, in a real browser.

mod findings;
mod paper;

use std::ops::Deref;
use std::path::{Path, PathBuf};

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::support::{Folder, m3, run, shared, text};

/// The codes of `WebDriver` for keys.
const ESCAPE: &str = "\u{e00c}";
const DOWN: &str = "\u{e015}";

/// The heading that is visible.
const OPEN: &str = "document.querySelector('#detail h2 bdi')?.textContent ?? 'nothing'";

/// Predictions of our own benchmark.
const GOOD: &str = "trajectories/predictions.json";
const POOR: &str = "trajectories/predictions-poor.json";

/// A page in a browser.
struct OpenPage {
    browser: Browser,
    path: PathBuf,
    _folder: Folder,
}

impl Deref for OpenPage {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

/// Opens the page of an audit at a fragment. `None`, with a line that says so, where there is no browser or no encoder.
fn open(folder: Folder, predictions: &Path, references: &Path, fragment: &str) -> Option<OpenPage> {
    let browser = Browser::open(1600, 1000)?;
    let path = folder.path().join("audit.html");
    let output = run(m3()?.args(["audit", "-q"]).args([predictions, references]).arg("--html").arg(&path));
    assert!(output.status.success(), "{}", text(&output.stderr));
    browser.visit(&path, fragment);
    Some(OpenPage { browser, path, _folder: folder })
}

/// Opens the page of predictions of our own benchmark.
fn page(predictions: &str, fragment: &str) -> Option<OpenPage> {
    open(Folder::new(), predictions.as_ref(), "trajectories/references.json".as_ref(), fragment)
}

/// Asserts that the console has no messages, and that nothing was requested except the page and what is in it.
fn assert_quiet(browser: &Browser) {
    assert_eq!(browser.console(), Vec::<Value>::new());
    for address in browser.requests() {
        let is_local = ["file:", "data:", "about:"].iter().any(|scheme| address.starts_with(scheme));
        assert!(is_local, "{address} was requested");
    }
}

fn shown_ids(browser: &Browser) -> Value {
    browser.run(
        "return [...document.querySelectorAll('#list li:not([hidden]) .row')].map(row => row.dataset.id)",
    )
}

/// Types into a control, as a person would change it.
fn set(browser: &Browser, control: &str, value: &str) {
    browser.run(&format!(
        "const control = document.getElementById('{control}'); control.value = {}; \
         control.dispatchEvent(new Event('input', {{ bubbles: true }}))",
        json!(value)
    ));
}

#[test]
fn it_opens_without_errors_or_requests_at_every_width() {
    let Some(browser) = page(GOOD, "") else { return };
    for width in [400, 800, 1600] {
        browser.resize(width, 1000);
        for fragment in ["", "#00020001", "#00050000"] {
            browser.visit(&browser.path, fragment);
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.text(fits), "true", "`{fragment}` is wider than {width} pixels");
        }
    }
    assert_quiet(&browser);
}

#[test]
fn filters_and_sorting_work() {
    let Some(browser) = page(GOOD, "") else { return };
    assert_eq!(shown_ids(&browser).as_array().unwrap().len(), 15);
    set(&browser, "type", "barcode");
    set(&browser, "sort", "id");
    assert_eq!(shown_ids(&browser), json!(["00010000", "00010001", "00010002"]));
    set(&browser, "order", "best");
    assert_eq!(shown_ids(&browser), json!(["00010002", "00010001", "00010000"]));
    assert!(browser.text("document.getElementById('count').textContent").starts_with("3 of 15"));
    set(&browser, "type", "");
    set(&browser, "metric", "purity");
    set(&browser, "to", "0.5");
    assert_eq!(shown_ids(&browser), json!(["00070001", "00020001"]));
    set(&browser, "to", "1");
    set(&browser, "reason", "the reference does not call this tool");
    assert_eq!(shown_ids(&browser), json!(["00070001"]));
    set(&browser, "reason", "");
    // The text is in an argument of one trajectory.
    set(&browser, "search", "LIVING-room.png");
    assert_eq!(shown_ids(&browser), json!(["00020001"]));
    set(&browser, "search", "no such words");
    assert_eq!(shown_ids(&browser), json!([]));
    assert_quiet(&browser);
}

#[test]
fn it_is_used_by_keyboard_alone() {
    let Some(browser) = page(GOOD, "") else { return };
    let ids = shown_ids(&browser);
    assert_eq!(browser.text(OPEN), "nothing");
    browser.press("j");
    assert_eq!(browser.text(OPEN), ids[0]);
    browser.press("jj");
    assert_eq!(browser.text(OPEN), ids[2]);
    browser.press(DOWN);
    assert_eq!(browser.text(OPEN), ids[3]);
    browser.press("k");
    assert_eq!(browser.text(OPEN), ids[2]);
    assert_eq!(browser.text("document.activeElement.dataset.id"), ids[2]);
    browser.press("/moon");
    assert_eq!(browser.text("document.getElementById('search').value"), "moon");
    assert_eq!(shown_ids(&browser), json!(["00020000"]));
    browser.press(ESCAPE);
    browser.press("j");
    assert_eq!(browser.text(OPEN), "00020000");
    browser.press(ESCAPE);
    assert_eq!(browser.text(OPEN), "nothing");
    assert_eq!(browser.text("document.getElementById('overview').hidden"), "false");
    assert_quiet(&browser);
}

#[test]
fn deep_links_open_the_right_trajectory() {
    let Some(browser) = page(GOOD, "#00030001") else { return };
    assert_eq!(browser.text(OPEN), "00030001");
    assert_eq!(browser.text("document.querySelector('.row[aria-current]').dataset.id"), "00030001");
    browser.visit(&browser.path, "#none%20such");
    assert_eq!(browser.text(OPEN), "nothing");
    assert!(browser.text("document.getElementById('unknown').textContent").contains("none such"));
    assert_quiet(&browser);
}

/// 00050000: two steps of one call in the wrong order, 1.1 -> 2.1 and 2.1 -> 1.1.
#[test]
fn lines_join_the_calls_that_met() {
    let Some(browser) = page(GOOD, "#00050000") else { return };
    let lines = browser.run(
        "return [...document.querySelectorAll('.lines path')].map(line => \
         [line.dataset.pair, line.getAttribute('class'), Number(line.getAttribute('stroke-width')) > 2])",
    );
    assert_eq!(lines, json!([["0-1", "inverted", true], ["1-0", "inverted", true]]));
    let labels =
        browser.run("return [...document.querySelectorAll('.lines text')].map(label => label.textContent)");
    // Both calls name another file.
    assert_eq!(labels, json!(["≠ 0.99", "≠ 0.91"]));
    // The lines begin and end at the calls.
    let meet = "(() => { const box = document.querySelector('.lines').getBoundingClientRect(); \
         const start = document.querySelector('.lines path').getPointAtLength(0); \
         const call = document.querySelector('.reference .call').getBoundingClientRect(); \
         return Math.abs(box.left + start.x - call.right) < 1 \
         && box.top + start.y > call.top && box.top + start.y < call.bottom })()";
    assert_eq!(browser.text(meet), "true");
    browser.resize(500, 1200);
    // Drawn again once the layout has settled.
    browser.wait("document.documentElement.clientWidth <= 500", "true");
    browser.wait(meet, "true");
    // Labels at a crossing must not overlap.
    assert_eq!(browser.text("document.querySelectorAll('.lines text').length"), "2");
    assert_eq!(
        browser.text("document.querySelector('.trajectory section[aria-label=Structure] li').textContent"),
        "inverted: 1.1 image/blur comes before 2.1 image/change_color, but was made after it (at 2.1, the \
         other at 1.1)"
    );
    assert_eq!(browser.text("document.querySelectorAll('.matrix .chosen').length"), "2");
    assert_quiet(&browser);
}

#[test]
fn calls_and_differences_of_every_trajectory_are_shown() {
    let Some(browser) = page(POOR, "") else { return };
    let problems = browser.run(
        "const problems = []; \
         for (const row of document.querySelectorAll('.row')) { \
           const content = document.getElementById(row.dataset.template).content; \
           const matched = content.querySelectorAll('.reference .call[data-partner]').length; \
           if (matched !== content.querySelectorAll('.matches > li').length) problems.push(row.dataset.id); \
           if (content.querySelectorAll('.prediction .call[data-partner]').length !== matched) \
             problems.push(row.dataset.id); \
         } return problems",
    );
    assert_eq!(problems, json!([]));
}

/// Level AA of WCAG: a contrast of 4.5 between every text and its background.
#[test]
fn text_stands_out_in_light_and_dark() {
    let Some(browser) = page(POOR, "") else { return };
    for scheme in ["light", "dark"] {
        browser.prefer(scheme);
        for fragment in ["", "#00030002", "#00020000"] {
            browser.visit(&browser.path, fragment);
            assert_eq!(browser.run(include_str!("contrast.js")), json!([]), "{scheme} {fragment}");
        }
    }
}

/// Opens a page of trajectories with these ids, each of a long argument that no screen shows unfolded.
fn page_of(ids: &[&str], fragment: &str) -> Option<OpenPage> {
    let trajectory = |id: &&str| {
        let calls = json!([{"name": "a/b", "arguments": {"long": "word ".repeat(100)}}]);
        json!({"id": id, "steps": [{"step": 1, "calls": calls}]})
    };
    let folder = Folder::new();
    let file = folder.json("set.json", &Value::Array(ids.iter().map(trajectory).collect()));
    open(folder, &file, &file, fragment)
}

#[test]
fn ids_that_mean_something_to_addresses_open_too() {
    let Some(browser) = page_of(&["main", "", "!", "detail"], "") else { return };
    for (fragment, title) in
        [("#main", "main"), ("#!", "(empty id)"), ("#%21", "!"), ("#detail", "detail"), ("#", "nothing")]
    {
        browser.visit(&browser.path, fragment);
        assert_eq!(browser.text(OPEN), title, "{fragment}");
    }
    let mut opened = Vec::new();
    for _ in 0..4 {
        browser.press("j");
        opened.push(browser.text(OPEN));
    }
    assert_eq!(opened, ["main", "(empty id)", "!", "detail"]);
    assert_quiet(&browser);
}

#[test]
fn what_is_opened_is_where_reading_goes_on() {
    let Some(browser) = page(GOOD, "") else { return };
    let click = "document.querySelectorAll('.row')[1].click()";
    let focused = "document.activeElement === document.querySelector('#detail h2')";
    // The second click opens what is open already.
    for _ in 0..2 {
        browser.run(click);
        browser.wait(focused, "true");
        browser.run("document.activeElement.blur()");
    }
    browser.run(click);
    browser.wait(focused, "true");
    browser.wait("getComputedStyle(document.activeElement).outlineWidth", "3px");
    browser.press("j");
    let said = browser.text("document.getElementById('opened').textContent");
    assert_eq!(said, format!("Opened: trajectory {}", browser.text(OPEN)));
}

#[test]
fn a_search_finds_the_words_of_the_files_and_moves_nothing() {
    let Some(browser) = page(GOOD, "") else { return };
    browser.run(
        "window.moves = 0; \
         new MutationObserver(found => { window.moves += found.length; }) \
           .observe(document.getElementById('list'), { childList: true })",
    );
    for words in ["partner", "answer of the", "no calls"] {
        set(&browser, "search", words);
        assert_eq!(shown_ids(&browser), json!([]), "{words}");
    }
    set(&browser, "search", "00020001");
    assert_eq!(shown_ids(&browser), json!(["00020001"]));
    assert_eq!(browser.run("return window.moves"), json!(0));
}

#[test]
fn intervals_say_what_they_are() {
    let Some(browser) = page(GOOD, "") else { return };
    let overview = browser.text("document.getElementById('overview').innerText");
    assert!(overview.contains("Intervals: 95 %, 10,000 resamples of the trajectories, seed 2024."));
}

/// Every control, link and picture has a name, and no id occurs twice.
#[test]
fn everything_has_a_name() {
    let Some(browser) = page(POOR, "#00030002") else { return };
    assert_eq!(browser.run(include_str!("names.js")), json!([]));
}

#[test]
fn hostile_trajectories_are_text() {
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let Some(path) = crate::audit::hostile_page() else { return };
    browser.visit(path, "");
    let count = shown_ids(&browser).as_array().unwrap().len();
    assert_eq!(count, crate::audit::HOSTILE.len());
    for _ in 0..count {
        browser.press("j");
        assert!(!browser.has_dialog());
        let clean = "window.hostile === undefined \
             && document.querySelectorAll('script').length === 1 \
             && document.querySelectorAll('[onerror], [onload], iframe, object, embed, base, form').length === 0 \
             && [...document.querySelectorAll('a')].every(link => link.getAttribute('href').startsWith('#')) \
             && [...document.querySelectorAll('img')].every(image => image.src.startsWith('data:image/'))";
        assert_eq!(browser.text(clean), "true", "{}", browser.text(OPEN));
    }
    set(&browser, "sort", "id");
    // The link of each id leads to its own trajectory, whatever characters it has.
    for index in 0..count {
        browser.run(&format!("document.querySelectorAll('.row')[{index}].click()"));
        let same = "document.querySelector('.row[aria-current]').dataset.template \
             === document.querySelectorAll('.row')[INDEX].dataset.template \
             && document.getElementById('unknown').hidden";
        browser.wait(&same.replace("INDEX", &index.to_string()), "true");
    }
    let visible = browser.text("document.body.innerText");
    assert!(visible.contains("<script>window.hostile=1</script>"));
    assert!(visible.contains("\\u{202e}") && !visible.contains('\u{202e}'));
    assert_quiet(&browser);
}

/// The real benchmark: at most 6 MB, and at work within a second on two quiet cores; the limit here leaves
/// room for tests that run at the same time.
#[test]
fn the_real_benchmark_makes_a_light_page() {
    let Some(data) = shared("open-m3-bench") else { return };
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let Some(mut m3) = m3() else { return };
    let folder = Folder::new();
    let path = folder.path().join("audit.html");
    let files = [data.join("predictions/strong.json"), data.join("references.json")];
    let output =
        run(m3.args(["audit", "-q"]).args(files).args(["--duplicates", "last", "--html"]).arg(&path));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let size = path.metadata().unwrap().len();
    assert!(size <= 6_000_000, "{size} bytes");
    browser.visit(&path, "#00050000");
    assert_eq!(browser.text(OPEN), "00050000");
    assert_eq!(shown_ids(&browser).as_array().unwrap().len(), 208);
    assert_quiet(&browser);
}
