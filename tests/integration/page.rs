//! The page of `m3 audit --html`, in a real browser: the pages of `m3 view`, of one run, in one file.

mod findings;
mod flow;
mod paper;

use std::ops::Deref;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::support::{Folder, m3, root, run, shared, text};
use crate::view::{axe, findings as axe_findings};

/// The heading of what is open.
const OPEN: &str = "document.querySelector('#main h2 bdi')?.textContent ?? 'nothing'";

/// Whether the address has been shown.
const READY: &str = "document.documentElement.dataset.ready ?? ''";

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

impl OpenPage {
    /// Goes to a fragment of the page, and waits until it is shown.
    fn go(&self, fragment: &str) {
        visit(&self.browser, &self.path, fragment);
    }
}

fn visit(browser: &Browser, path: &Path, fragment: &str) {
    browser.visit_address(&format!("file://{}{fragment}", path.display()));
    browser.wait(READY, if fragment.is_empty() { "#/" } else { fragment });
}

/// Opens the page of an audit at a fragment. `None`, with a line that says so, where there is no browser or no encoder.
fn open(folder: Folder, predictions: &Path, references: &Path, fragment: &str) -> Option<OpenPage> {
    let browser = Browser::open(1600, 1000)?;
    let path = folder.path().join("audit.html");
    let output = run(m3()?.args(["audit", "-q"]).args([predictions, references]).arg("--html").arg(&path));
    assert!(output.status.success(), "{}", text(&output.stderr));
    visit(&browser, &path, fragment);
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

/// The ids in the table of tasks, in their order.
fn shown_ids(browser: &Browser) -> Value {
    browser
        .run("return [...document.querySelectorAll('[data-rows] tbody th a')].map(link => link.textContent)")
}

#[test]
fn it_opens_without_errors_or_requests_at_every_width() {
    let Some(page) = page(POOR, "") else { return };
    let axe = axe();
    for fragment in ["#/", "#00020001", "#00050000", "#00030002"] {
        for width in [400, 800, 1280, 2560] {
            page.resize(width, 1000);
            page.go(fragment);
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(page.text(fits), "true", "`{fragment}` is wider than {width} pixels");
        }
        for scheme in ["light", "dark"] {
            page.prefer(scheme);
            assert_eq!(page.run(include_str!("contrast.js")), json!([]), "{scheme} {fragment}");
        }
        assert_eq!(page.run(include_str!("names.js")), json!([]), "{fragment}");
        if let Some(rules) = &axe {
            assert_eq!(axe_findings(&page, rules), json!([]), "{fragment}");
        }
    }
    assert_quiet(&page);
}

#[test]
fn filters_and_sorting_work() {
    let Some(page) = page(GOOD, "") else { return };
    let found = |query: &str| {
        page.go(&format!("#/?{query}"));
        shown_ids(&page)
    };
    // What costs the average most comes first: see the snapshot of the terminal.
    assert_eq!(shown_ids(&page).as_array().unwrap().len(), 15);
    assert_eq!(shown_ids(&page)[0], "00060001");
    let first = page.text("document.querySelector('[data-rows] tbody tr').textContent");
    assert!(first.contains("0.0123"), "{first}");
    assert_eq!(found("type=barcode&sort=id"), json!(["00010000", "00010001", "00010002"]));
    assert_eq!(found("type=barcode&sort=-id"), json!(["00010002", "00010001", "00010000"]));
    assert!(page.text("document.querySelector('.count').textContent").starts_with("3 of 15"));
    assert_eq!(found("metric=merge_purity&to=0.5&sort=average"), json!(["00070001", "00020001"]));
    assert_eq!(found("reason=tool_not_in_reference"), json!(["00070001"]));
    // Other tables have orders of their own.
    page.go("#/?sort=id&types=-average&type=barcode");
    let types =
        "[...document.querySelectorAll('table')].find(table => table.caption?.textContent === 'types')";
    let names = format!("[...{types}.querySelectorAll('tbody th')].map(head => head.textContent)");
    let averages =
        format!("[...{types}.querySelectorAll('tbody tr td:nth-of-type(3)')].map(cell => cell.textContent)");
    assert_eq!(page.text(&format!("{names}.length")), "7");
    assert_eq!(
        page.text(&format!("{averages}.join()")),
        page.text(&format!("{averages}.sort().reverse().join()"))
    );
    assert_ne!(page.text(&format!("{names}.join()")), page.text(&format!("{names}.sort().join()")));
    assert_eq!(shown_ids(&page), json!(["00010000", "00010001", "00010002"]));
    // The text is in an argument of one trajectory.
    assert_eq!(found("q=LIVING-room.png"), json!(["00020001"]));
    // Words of the page are not words of the files.
    for words in ["similarity", "no%20such%20words", "matched", "prediction"] {
        assert_eq!(found(&format!("q={words}")), json!([]), "{words}");
    }
    assert_quiet(&page);
}

#[test]
fn it_is_used_by_keyboard_alone() {
    let Some(page) = page(GOOD, "") else { return };
    let ids = shown_ids(&page);
    page.press("jj\u{e007}");
    page.wait(OPEN, ids[1].as_str().unwrap());
    assert_eq!(page.text("document.activeElement.tagName"), "H2");
    page.press("j");
    page.wait(OPEN, ids[2].as_str().unwrap());
    page.press("k");
    page.wait(OPEN, ids[1].as_str().unwrap());
    page.press("u");
    page.wait(OPEN, "nothing");
    page.press("/");
    assert_eq!(page.text("document.activeElement.dataset.filter"), "q");
    page.press("moon");
    page.wait(READY, "#/run/predictions?q=moon");
    assert_eq!(shown_ids(&page), json!(["00020000"]));
    assert_quiet(&page);
}

#[test]
fn deep_links_open_the_right_trajectory() {
    let Some(page) = page(GOOD, "#00030001") else { return };
    assert_eq!(page.text(OPEN), "00030001");
    page.go("#/task/predictions/00030001");
    assert_eq!(page.text(OPEN), "00030001");
    for (fragment, said) in [("#none%20such", "no task none such"), ("#/board", "this file has one run")] {
        page.visit_address(&format!("file://{}{fragment}", page.path.display()));
        page.wait(READY, "failed");
        let failure = page.text("document.getElementById('failure').textContent");
        assert!(failure.contains(said), "{failure}");
    }
    assert_quiet(&page);
}

/// 00050000: two steps of one call in the wrong order, 1.1 -> 2.1 and 2.1 -> 1.1.
#[test]
fn lines_join_the_calls_that_met() {
    let Some(page) = page(GOOD, "#00050000") else { return };
    let lines = page.run(
        "return [...document.querySelectorAll('.lines path')].map(line => \
         [line.dataset.pair, line.getAttribute('class'), Number(line.getAttribute('stroke-width')) > 2])",
    );
    assert_eq!(lines, json!([["0-1", "strong inverted", true], ["1-0", "strong inverted", true]]));
    let labels =
        page.run("return [...document.querySelectorAll('.lines text')].map(label => label.textContent)");
    // Both calls name another file, and make the same picture.
    assert_eq!(labels, json!(["0.99", "0.91"]));
    // The lines begin and end at the calls.
    let meet = "(() => { const box = document.querySelector('.lines').getBoundingClientRect(); \
         const start = document.querySelector('.lines path').getPointAtLength(0); \
         const call = document.querySelector('.reference .call').getBoundingClientRect(); \
         return Math.abs(box.left + start.x - call.right) < 1 \
         && box.top + start.y > call.top && box.top + start.y < call.bottom })()";
    assert_eq!(page.text(meet), "true");
    page.resize(500, 1200);
    // Drawn again once the layout has settled.
    page.wait("document.documentElement.clientWidth <= 500", "true");
    page.wait(meet, "true");
    assert_eq!(
        page.text("document.querySelector('.structure li').textContent"),
        "wrong order: 1.1 image/blur has to come before 2.1 image/change_color, but was made after it (at 2.1, the \
         other at 1.1)"
    );
    assert_eq!(page.text("document.querySelectorAll('.matrix .chosen').length"), "2");
    assert_quiet(&page);
}

#[test]
fn calls_and_differences_of_every_trajectory_are_shown() {
    let Some(page) = page(POOR, "") else { return };
    for id in shown_ids(&page).as_array().unwrap() {
        page.go(&format!("#{}", id.as_str().unwrap()));
        let counts = "[document.querySelectorAll('.reference .call[data-partner]').length, \
             document.querySelectorAll('.lines path').length, document.querySelectorAll('.matches > li').length].join()";
        let counts = page.text(counts);
        let counts: Vec<&str> = counts.split(',').collect();
        assert!(counts.iter().all(|count| *count == counts[0]), "{id}: {counts:?}");
    }
}

/// Opens a page of trajectories with these ids, each of a long argument.
fn page_of(ids: &[&str], fragment: &str) -> Option<OpenPage> {
    let trajectory = |id: &&str| {
        let result = json!({"content": [{"type": "text", "text": "word ".repeat(1_000)}]});
        let calls = json!([{"name": "a/b", "arguments": {"long": "word ".repeat(100)}, "result": result}]);
        json!({"id": id, "steps": [{"step": 1, "calls": calls}]})
    };
    let folder = Folder::new();
    let file = folder.json("set.json", &Value::Array(ids.iter().map(trajectory).collect()));
    open(folder, &file, &file, fragment)
}

#[test]
fn ids_that_mean_something_to_addresses_open_too() {
    let Some(page) = page_of(&["main", "", "!", "a/b?c#d"], "") else { return };
    for (fragment, title) in
        [("#main", "main"), ("#!", "(empty id)"), ("#%21", "!"), ("#a%2Fb%3Fc%23d", "a/b?c#d")]
    {
        page.go(fragment);
        assert_eq!(page.text(OPEN), title, "{fragment}");
    }
    page.go("#/?sort=id");
    page.press("j\u{e007}");
    let mut opened = Vec::new();
    for title in ["(empty id)", "!", "a/b?c#d", "main"] {
        page.wait(OPEN, title);
        opened.push(page.text(OPEN));
        page.press("j");
    }
    assert_quiet(&page);
}

#[test]
fn the_set_says_where_its_numbers_come_from() {
    let Some(page) = page(POOR, "") else { return };
    let said = page.text("document.getElementById('main').textContent");
    for part in [
        "Intervals: 95 %, 10,000 resamples of the trajectories, seed 2024.",
        "14 of 15 references have a prediction",
        "Why calls are unmatched",
        "predictions-poor.json sha256 ",
        "m3|v:",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // Calls in the bars of the histogram, and those in its table: matched and unmatched ones with a candidate.
    let bars = "[...document.querySelectorAll('.figure .middle')].reduce((sum, text) => sum + Number(text.textContent), 0)";
    let cells = "[...document.querySelectorAll('details .plain-numbers td')].reduce((sum, cell) => sum + Number(cell.textContent), 0)";
    assert_eq!(page.text(bars), page.text(cells));
    assert_ne!(page.text(bars), "0");
}

/// Digits are those that the commands print: `format!("{:.3}")` gives half of the last digit to the even one.
#[test]
fn numbers_have_the_digits_of_the_terminal() {
    let Some(page) = page(GOOD, "") else { return };
    let values =
        [0.0625, 0.1875, 0.062_500_000_1, 0.0005, 0.0015, 0.125, 1.0, 0.0, -0.0625, 2.0 / 3.0, 123_456.062_5];
    for value in values {
        for digits in 1..=4 {
            let script = format!("fixed({value:?}, {digits})");
            assert_eq!(page.text(&script), format!("{value:.digits$}"), "{script}");
        }
    }
}

/// The reference's question is what the run is scored by, whatever the prediction says.
#[test]
fn the_question_is_that_of_the_reference() {
    let side = |question: &str| {
        let calls = json!([{"name": "a/b", "arguments": {}}]);
        json!([{"id": "1", "question": question, "steps": [{"step": 1, "calls": calls}]}])
    };
    let folder = Folder::new();
    let files = [folder.json("p.json", &side("another task")), folder.json("r.json", &side("the task"))];
    let Some(page) = open(folder, &files[0], &files[1], "#1") else { return };
    assert_eq!(page.text("document.querySelector('.passage').textContent"), "the task");
}

/// Results with the pictures in them, and the dialogue, are in the file.
#[test]
fn results_and_their_pictures_are_in_the_file() {
    let image = STANDARD.encode(std::fs::read(root().join("images/clock.png")).unwrap());
    let result = json!({"content": [
        {"type": "text", "text": "two words"}, {"type": "image", "mimeType": "image/png", "data": image},
        {"type": "image", "file": "/etc/hostname"},
    ]});
    let calls = |result: Option<&Value>| {
        let mut call = json!({"name": "a/b", "arguments": {"x": 1}});
        if let Some(result) = result {
            call["result"] = result.clone();
        }
        json!([{"id": "1", "steps": [{"step": 1, "calls": [call]}], "dialogue": [{"role": "assistant", "text": "", "content": "I look", "thoughts": "hm"}]}])
    };
    let folder = Folder::new();
    let files = [folder.json("p.json", &calls(Some(&result))), folder.json("r.json", &calls(None))];
    let Some(page) = open(folder, &files[0], &files[1], "#1") else { return };
    let main = page.text("document.getElementById('main').textContent");
    for part in ["two words", "I look", "hm", "this page has no files that predictions name"] {
        assert!(main.contains(part), "{part}: {main}");
    }
    page.wait(
        "[...document.querySelectorAll('.result img')].filter(image => image.naturalWidth > 1).length",
        "1",
    );
    assert_quiet(&page);
}

#[test]
fn hostile_trajectories_are_text() {
    let Some(browser) = Browser::open(1600, 1000) else { return };
    let Some(path) = crate::audit::hostile_page() else { return };
    visit(&browser, path, "");
    let count = shown_ids(&browser).as_array().unwrap().len();
    assert_eq!(count, crate::audit::HOSTILE.len());
    let links = browser.run("return [...document.querySelectorAll('[data-rows] tbody th a')].map(link => link.getAttribute('href'))");
    for (index, link) in links.as_array().unwrap().iter().enumerate() {
        browser.run(&format!("location.hash = {link}"));
        browser.wait("document.querySelectorAll('.call').length > 0", "true");
        browser.wait("document.querySelector('.steps').textContent.includes('of 9')", "true");
        assert!(!browser.has_dialog());
        let clean = "window.hostile === undefined \
             && document.querySelectorAll('script:not([type])').length === 1 \
             && document.querySelectorAll('[onerror], [onload], iframe, object, embed, base').length === 0 \
             && [...document.querySelectorAll('a')].every(link => link.getAttribute('href').startsWith('#')) \
             && [...document.querySelectorAll('img')].every(image => image.src.startsWith('data:image/'))";
        assert_eq!(browser.text(clean), "true", "{index}");
        let visible = browser.text("document.body.innerText");
        assert!(!visible.contains('\u{202e}') && !visible.contains('\u{200b}'), "{index}");
        if visible.contains("tpircs") {
            assert!(visible.contains("\\u{202e}"), "{visible}");
        }
        browser.run("location.hash = '#/'");
        browser.wait("document.querySelectorAll('[data-rows]').length", "1");
    }
    assert!(browser.text("document.body.innerText").contains("<script>window.hostile=1</script>"));
    assert_quiet(&browser);
}

/// The real benchmark: at most 6 MB.
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
    visit(&browser, &path, "#00050000");
    assert_eq!(browser.text(OPEN), "00050000");
    visit(&browser, &path, "#/");
    assert!(browser.text("document.querySelector('.count').textContent").starts_with("208 of 208"));
    assert_quiet(&browser);
}

/// Notebooks show the page within a frame that has no address of its own.
#[test]
fn links_work_within_a_frame() {
    let Some(page) = page(GOOD, "") else { return };
    let inner = std::fs::read_to_string(&page.path).unwrap().replace('&', "&amp;").replace('"', "&quot;");
    let outer = page.path.with_file_name("frame.html");
    let frame = "<iframe sandbox=\"allow-scripts allow-same-origin\" srcdoc=\"";
    std::fs::write(&outer, format!("<!doctype html><meta charset=\"utf-8\">{frame}{inner}\"></iframe>"))
        .unwrap();
    page.visit_address(&format!("file://{}", outer.display()));
    let within = "document.querySelector('iframe').contentDocument?";
    page.wait(&format!("{within}.documentElement.dataset.ready ?? ''"), "#/");
    page.run(&format!("{}.querySelector('[data-rows] tbody th a').click()", within.trim_end_matches('?')));
    page.wait(&format!("{within}.querySelector('#main h2 bdi')?.textContent ?? ''"), "00060001");
}
