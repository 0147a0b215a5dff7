//! Every page: what it shows, at every width, in both schemes, by keyboard alone, for readers of screens.

use m3_testkit::browser::Browser;
use serde_json::json;

use super::{View, assert_quiet, axe, findings, one_call, small_benchmark, visit, write};
use crate::support::Folder;

/// The codes of `WebDriver` for keys.
const ENTER: &str = "\u{e007}";
const ESCAPE: &str = "\u{e00c}";

/// One page of each kind.
const PAGES: [&str; 9] = [
    "#/",
    "#/board",
    "#/matrix",
    "#/run/replayed",
    "#/task/replayed/00010001",
    "#/compare/poor/replayed",
    "#/tasks/00010001",
    "#/references/references.json",
    "#/reference/references.json/00010001",
];

/// The text of the page's part.
const MAIN: &str = "document.getElementById('main').textContent";

/// The ids in the table of tasks, in their order.
const ROWS: &str =
    "[...document.querySelectorAll('table.rows tbody th a')].map(link => link.textContent).join()";

#[test]
fn every_page_fits_every_width_in_both_schemes_and_asks_nobody_else() {
    let (Some(folder), Some(browser)) = (small_benchmark(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    let axe = axe();
    for page in PAGES {
        for width in [400, 1280, 2560] {
            browser.resize(width, 1000);
            visit(&browser, &view.address, page);
            let fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth";
            assert_eq!(browser.text(fits), "true", "`{page}` is wider than {width} pixels");
        }
        for scheme in ["light", "dark"] {
            browser.prefer(scheme);
            assert_eq!(browser.run(include_str!("../contrast.js")), json!([]), "{scheme} {page}");
        }
        assert_eq!(browser.run(include_str!("../names.js")), json!([]), "{page}");
        if let Some(rules) = &axe {
            assert_eq!(findings(&browser, rules), json!([]), "{page}");
        }
        assert!(!browser.print().is_empty());
    }
    assert_quiet(&browser, &view.address);
}

#[test]
fn a_task_shows_what_the_model_saw_called_and_got() {
    let (Some(folder), Some(browser)) = (small_benchmark(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    visit(&browser, &view.address, "#/task/replayed/00010001");
    let page = browser.text(MAIN);
    for shown in [
        "What do the two codes on this label say?",
        "HB-2044-7719-EX",
        "{\"height\":140,\"result\":[\"parcel-bars.png\"],\"width\":660}",
        "step 1, 2 calls at once",
        "model: plan",
        "100 in, 10 out",
        "You solve tasks about images",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    // The task's image, and the two that the tool made on each side.
    let drawn = "[...document.querySelectorAll('.task img, .result img')].filter(image => image.naturalWidth > 0).length";
    browser.wait(drawn, "5");
    // A line for each matched call.
    assert_eq!(browser.text("document.querySelectorAll('.lines path').length"), "3");
    // A failed call says so, in its place.
    visit(&browser, &view.address, "#/task/replayed/00020001");
    assert_eq!(browser.text("document.querySelectorAll('.prediction .call .flag').length"), "1");
    assert!(browser.text(MAIN).contains("failed: resource not found"));
    // A reference has the calls that should be made, and leads to the runs of its task.
    visit(&browser, &view.address, "#/reference/references.json/00010001");
    assert_eq!(browser.text("document.querySelectorAll('.reference .call').length"), "3");
    assert!(browser.text(MAIN).contains("All runs side by side"));
    // A missing call is told where it is missing.
    visit(&browser, &view.address, "#/task/poor/00010000");
    assert!(browser.text("document.querySelectorAll('.call.alone').length").parse::<u32>().unwrap() > 0);
    assert!(browser.text(MAIN).contains("missed: "), "{}", browser.text(MAIN));
    assert_quiet(&browser, &view.address);
}

#[test]
fn filters_and_sorting_stand_in_the_address_and_lead_on() {
    let (Some(folder), Some(browser)) = (small_benchmark(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    visit(&browser, &view.address, "#/run/replayed?type=barcode&sort=-id");
    assert!(browser.text(ROWS).ends_with("00010002,00010001,00010000"), "{}", browser.text(ROWS));
    browser.run(
        "const search = document.querySelector('[data-filter=q]'); search.focus(); search.value = 'shelf'; \
                 search.dispatchEvent(new Event('input', { bubbles: true }))",
    );
    browser.wait("location.hash", "#/run/replayed?type=barcode&sort=-id&q=shelf");
    browser.wait("document.documentElement.dataset.ready", "#/run/replayed?type=barcode&sort=-id&q=shelf");
    // Who types goes on typing.
    assert_eq!(browser.text("document.activeElement.dataset.filter"), "q");
    assert_eq!(browser.text("document.activeElement.value"), "shelf");
    browser.run("document.querySelector('.reset').click()");
    browser.wait("document.documentElement.dataset.ready", "#/run/replayed?sort=-id");
    assert!(browser.text("document.querySelector('.count').textContent").starts_with("15 of 15"));
    // A metric in a range.
    visit(&browser, &view.address, "#/run/replayed?metric=step_coherence&to=0.7");
    assert!(
        browser.text("document.querySelector('.count').textContent").starts_with("3 of 15"),
        "{}",
        browser.text(MAIN)
    );
    // From a filtered table, `j` goes to the next task of that table.
    visit(&browser, &view.address, "#/task/replayed/00010002?type=barcode&sort=-id");
    browser.press("j");
    browser.wait("document.documentElement.dataset.ready", "#/task/replayed/00010001?type=barcode&sort=-id");
    browser.press("j");
    browser.wait("document.documentElement.dataset.ready", "#/task/replayed/00010000?type=barcode&sort=-id");
    browser.press("u");
    browser.wait("document.documentElement.dataset.ready", "#/run/replayed?type=barcode&sort=-id");
    assert_quiet(&browser, &view.address);
}

#[test]
fn it_is_used_by_keyboard_alone() {
    let (Some(folder), Some(browser)) = (small_benchmark(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    visit(&browser, &view.address, "#/");
    browser.press("j");
    let first = browser.text("document.activeElement.textContent");
    browser.press("jk");
    assert_eq!(browser.text("document.activeElement.textContent"), first);
    browser.press(ENTER);
    browser.wait("document.documentElement.dataset.ready", &format!("#/run/{first}"));
    assert_eq!(browser.text("document.activeElement.tagName"), "H2");
    browser.press("/");
    assert_eq!(browser.text("document.activeElement.dataset.filter"), "q");
    browser.press("moon");
    browser.wait("document.documentElement.dataset.ready", &format!("#/run/{first}?q=moon"));
    browser.press(ESCAPE);
    browser.press("?");
    assert_eq!(browser.text("document.getElementById('help').open"), "true");
    browser.press(ESCAPE);
    assert_eq!(browser.text("document.getElementById('help').open"), "false");
    browser.press("u");
    browser.wait("document.documentElement.dataset.ready", "#/");
    // Of a leaderboard `j` leads through the runs; of a comparison, to the tasks that changed.
    for (page, opened) in [("#/board", "#/run/"), ("#/compare/poor/replayed", "#/tasks/")] {
        visit(&browser, &view.address, page);
        browser.press("j\u{e007}");
        browser.wait(&format!("document.documentElement.dataset.ready.startsWith('{opened}')"), "true");
    }
    assert_quiet(&browser, &view.address);
}

/// The numbers of the pages are those of the commands.
#[test]
fn pages_say_what_the_commands_say() {
    let (Some(folder), Some(browser)) = (small_benchmark(), Browser::open(1280, 1000)) else { return };
    let Some(view) = View::start(&folder, &["."]) else { return };
    view.wait_for_scores();
    let mut command = crate::support::m3().unwrap();
    command.args(["score", "-q", "--format", "json"]).arg(folder.path().join("poor.json"));
    let output = crate::support::run(
        command.arg(folder.path().join("references.json")).args(["--duplicates", "last"]),
    );
    let score: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let home = view.json("data/home.json");
    let runs = home["runs"].as_array().unwrap();
    let poor = runs.iter().position(|run| run["name"] == "poor").unwrap();
    for (column, value) in
        home["columns"].as_array().unwrap().iter().zip(runs[poor]["values"].as_array().unwrap())
    {
        assert_eq!(*value, score["aggregate"][column["name"].as_str().unwrap()], "{column}");
    }
    let run = view.json(&format!("data/run/{poor}.json"));
    let row = run["rows"].as_array().unwrap().iter().position(|row| row["id"] == "00010000").unwrap();
    let task = view.json(&format!("data/task/{poor}/{row}.json"));
    let scored =
        score["trajectories"].as_array().unwrap().iter().find(|found| found["id"] == "00010000").unwrap();
    assert_eq!(task["score"], *scored);
    visit(&browser, &view.address, "#/");
    let average = score["aggregate"]["average"].as_f64().unwrap();
    assert!(browser.text(MAIN).contains(&format!("{average:.3}")));
    // Gains and regressions: the same tasks change as `m3 compare` says.
    visit(&browser, &view.address, "#/compare/poor/replayed");
    assert!(browser.text(MAIN).contains("The second is better"), "{}", browser.text(MAIN));
    // The metrics that decide have their p as it is, the others after the correction for several.
    let replayed = runs.iter().position(|run| run["name"] == "replayed").unwrap();
    let differences = view.json(&format!("data/compare/{poor}-{replayed}.json"))["differences"].clone();
    let differences = differences.as_array().unwrap();
    let shown = "[...document.querySelectorAll('.plain-numbers')][0].querySelectorAll('tbody tr')";
    let shown = format!("[...{shown}].map(row => row.lastElementChild.textContent).join()");
    let p = |row: &serde_json::Value| {
        let p = if ["verdict", "average"].contains(&row["metric"].as_str().unwrap()) {
            assert!(row["corrected_p_value"].is_null(), "{row}");
            &row["p_value"]
        } else {
            &row["corrected_p_value"]
        };
        let said = |p: f64| if p < 1e-3 { "< 0.001".to_owned() } else { format!("{p:.3}") };
        p.as_f64().map_or("–".to_owned(), said)
    };
    let expected: Vec<String> = differences.iter().map(p).collect();
    assert_eq!(browser.text(&shown), expected.join(","));
}

/// Of two trajectories with one id the last is scored; both can be opened, and `j` goes on from one to the other.
#[test]
fn repeated_ids_have_pages_of_their_own_and_files_that_are_passed_over_are_told() {
    let folder = Folder::new();
    let call = |id: &str, x: u64| one_call(id, "t/u", &json!({"x": x}));
    write(
        &folder.path().join("p.json"),
        &json!([call("a", 1), call("a", 2), call("b", 3), {"id": "c", "steps": []}]),
    );
    write(&folder.path().join("references.json"), &json!([call("a", 2), call("b", 3), call("c", 4)]));
    std::fs::write(folder.path().join("cut.json"), "[{\"id\": \"a\", \"st").unwrap();
    let (Some(view), Some(browser)) = (View::start(&folder, &["."]), Browser::open(1280, 1000)) else {
        return;
    };
    view.wait_for_scores();
    let rows = view.json("data/run/0.json")["rows"].clone();
    let told: Vec<(bool, bool)> = rows
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["is_replaced"] == true, row["values"].is_array()))
        .collect();
    assert_eq!(told, [(true, false), (false, true), (false, true), (false, true)]);
    let shown = "document.querySelector('.prediction .arguments code').textContent";
    visit(&browser, &view.address, "#/task/p/a/1/1?sort=id");
    assert_eq!(browser.text(shown), "1");
    assert!(browser.text(MAIN).contains("that one is scored, and this one is not"));
    browser.press("j");
    browser.wait("document.documentElement.dataset.ready", "#/task/p/a?sort=id");
    assert_eq!(browser.text(shown), "2");
    browser.press("j");
    browser.wait("document.documentElement.dataset.ready", "#/task/p/b?sort=id");
    // Who goes up is at the row that they left.
    browser.press("u");
    browser.wait("document.documentElement.dataset.ready", "#/run/p?sort=id");
    assert_eq!(browser.text("document.activeElement.textContent"), "b");
    assert!(browser.text(MAIN).contains("1 of 4 tasks made no call"), "{}", browser.text(MAIN));
    visit(&browser, &view.address, "#/");
    assert!(browser.text(MAIN).contains("1 file in these folders is not shown"), "{}", browser.text(MAIN));
    assert!(browser.text(MAIN).contains("cut.json"));
}
