//! The page: one document without data, whose script asks for what it shows.

use std::sync::LazyLock;

use m3_score::fidelity::constants::{EQUIVALENT, THRESHOLD};
use m3_support::pages::{BASE_STYLE, MAKE_SCRIPT, OF_FILE, OF_SERVER, Shell, escaped, filled};
use m3_web::Page;

static STYLE: LazyLock<String> = LazyLock::new(|| [BASE_STYLE, include_str!("page/view.css")].concat());

/// The scripts, in the order in which they use each other.
const SCRIPTS: [&str; 12] = [
    MAKE_SCRIPT,
    include_str!("page/data.js"),
    include_str!("page/table.js"),
    include_str!("page/home.js"),
    include_str!("page/tasks.js"),
    include_str!("page/run.js"),
    include_str!("page/task.js"),
    include_str!("page/flow.js"),
    include_str!("page/audit.js"),
    include_str!("page/compare.js"),
    include_str!("page/matrix.js"),
    include_str!("page/route.js"),
];

static SCRIPT: LazyLock<String> = LazyLock::new(|| {
    // Below the first, a matched pair asks for something else; from the second on, for the same.
    format!("\"use strict\";\nconst [REJECTED, SAME] = [{THRESHOLD}, {EQUIVALENT}];\n{}", SCRIPTS.concat())
});

const HEAD: &str = r##"<h1><a href="#/">{{title}}</a></h1>
<nav aria-label="Pages"><a href="#/">Runs</a> <a href="#/board">Leaderboard</a> <a href="#/matrix">Tasks × runs</a></nav>
<p id="live" hidden></p>
<button type="button" id="keys" aria-haspopup="dialog">Keys <kbd>?</kbd></button>
"##;

const INSTEAD: &str = "<code>m3 leaderboard</code>, <code>m3 audit</code>, <code>m3 show</code>";

/// The mark at which the data of a stand-alone page begin; it occurs nowhere else in the page.
const DATA: &str = "{{data}}";

/// The page that is served.
pub(crate) fn page() -> Page {
    let (html, policy) = shell("m3 view", &head("m3 view")).served();
    Page { html, policy }
}

/// The page of a bundle.
pub(crate) fn page_for_files() -> String {
    shell("m3 view", &head("m3 view")).file(OF_SERVER, "")
}

/// A page that requests nothing: the text before its data, and the text after them.
pub(crate) fn page_alone(title: &str) -> (String, String) {
    let page = shell(title, &head(title)).file(OF_FILE, DATA);
    let (before, after) = page.split_once(DATA).unwrap_or((&page, ""));
    (before.to_owned(), after.to_owned())
}

fn head(title: &str) -> String {
    filled(HEAD, &[("title", &escaped(title))])
}

fn shell<'a>(title: &'a str, head: &'a str) -> Shell<'a> {
    let body = include_str!("page/view.html");
    Shell { title, instead: INSTEAD, head, body, style: &STYLE, script: &SCRIPT }
}

#[cfg(test)]
mod tests {
    use m3_support::pages::fault;

    use super::*;

    #[test]
    fn style_and_scripts_have_no_fault() {
        for text in [&*STYLE, &*SCRIPT] {
            assert_eq!((fault(text), text.contains(DATA)), (None, false));
        }
    }

    #[test]
    fn nothing_comes_from_elsewhere() {
        let page = page();
        assert_eq!(page.html.matches("<script").count(), 1);
        // The namespace of SVG is only a name: nothing is requested from it.
        let page = page.html.replace("http://www.w3.org/2000/svg", "");
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}
