//! `m3 view`: the pages in a real browser, live and as a bundle, and what must never get out.

mod bundle;
mod found;
mod graded;
mod live;
mod pages;
mod safety;

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use m3_testkit::browser::Browser;
use serde_json::{Value, json};

use crate::support::{Folder, agent, encoder, m3, m3_process, root, run, skipped, text};

/// A running `m3 view`.
struct View {
    child: Child,
    address: String,
    agent: ureq::Agent,
}

impl View {
    /// Starts it with these arguments. `None` where the encoder is not here.
    fn start(folder: &Folder, arguments: &[&str]) -> Option<Self> {
        let mut command = m3_process(folder.path(), encoder()?);
        command.args(["view", "--no-open"]).args(arguments).current_dir(folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        Some(Self::of(command))
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Self { child, address, agent: agent() }
    }

    fn get(&self, path: &str) -> ureq::http::Response<ureq::Body> {
        self.agent.get(format!("{}{path}", self.address)).call().unwrap()
    }

    fn status(&self, path: &str) -> u16 {
        self.get(path).status().as_u16()
    }

    fn json(&self, path: &str) -> Value {
        let mut response = self.get(path);
        assert_eq!(response.status().as_u16(), 200, "{path}");
        response.body_mut().with_config().limit(64 << 20).read_json().unwrap()
    }

    /// Waits until every run has a score.
    fn wait_for_scores(&self) {
        let start = std::time::Instant::now();
        loop {
            let home = self.json("data/home.json");
            let runs = home["runs"].as_array().unwrap();
            if runs.iter().all(|run| run["values"].is_array() || run["problem"].is_string()) {
                return;
            }
            assert!(start.elapsed().as_secs() < 60, "{home}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Opens a page of an address and waits until it is shown.
fn visit(browser: &Browser, address: &str, page: &str) {
    browser.visit_address(&format!("{address}{page}"));
    browser.wait("document.documentElement.dataset.ready ?? ''", if page.is_empty() { "#/" } else { page });
    browser.wait(
        "[...document.images].filter(image => image.loading !== 'lazy' && !image.complete).length",
        "0",
    );
}

/// Asserts that the console has no messages, and that nothing was asked of anybody but this address.
fn assert_quiet(browser: &Browser, address: &str) {
    assert_eq!(browser.console(), Vec::<Value>::new());
    for asked in browser.requests() {
        let is_ours = asked.starts_with(address) || asked.starts_with("data:") || asked == "about:blank";
        assert!(is_ours, "{asked} was requested");
    }
}

/// A folder with two files of predictions, a run of `m3 run` with results and pictures, and the references of our own benchmark.
fn small_benchmark() -> Option<Folder> {
    let folder = Folder::new();
    let tasks = root().join("trajectories/tasks.json");
    let out = folder.path().join("replayed");
    let mut command = m3()?;
    command
        .arg("run")
        .arg(tasks)
        .args(["--llm", "replay:trajectories/cassette.jsonl.gz", "-q", "-o"])
        .arg(&out);
    let output = run(&mut command);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for (from, to) in [("predictions", "good"), ("predictions-poor", "poor"), ("references", "references")] {
        let from = root().join(format!("trajectories/{from}.json"));
        std::fs::copy(from, folder.path().join(format!("{to}.json"))).unwrap();
    }
    Some(folder)
}

/// The rules of axe-core, from npm. `None`, with a line that says so, where they are not installed; in CI that is a failure.
pub(crate) fn axe() -> Option<String> {
    let path = root().join("target/ci-tools/node_modules/axe-core/axe.min.js");
    match std::fs::read_to_string(&path) {
        Ok(rules) => Some(rules),
        Err(reason) if std::env::var_os("CI").is_some() => panic!("axe-core is needed in CI: {reason}"),
        Err(_) => skipped("axe-core is not here: npm install --prefix target/ci-tools axe-core@4.14.1"),
    }
}

/// What axe-core finds in the page: rules and the elements that break them.
pub(crate) fn findings(browser: &Browser, rules: &str) -> Value {
    browser.run(&format!("{rules}\nwindow.found = undefined; axe.run().then(all => {{ window.found = JSON.stringify(all.violations.map(rule => [rule.id, rule.nodes.map(node => node.html.slice(0, 200))])); }});"));
    browser.wait("typeof window.found", "string");
    serde_json::from_str(browser.run("return window.found").as_str().unwrap()).unwrap()
}

/// The recall of a run on the first page.
fn recall_of(home: &Value, run: usize) -> Value {
    let mut columns = home["columns"].as_array().unwrap().iter();
    home["runs"][run]["values"][columns.position(|column| column["name"] == "recall").unwrap()].clone()
}

/// A trajectory with one call of a tool.
fn one_call(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"id": id, "steps": [{"calls": [{"name": tool, "arguments": arguments}]}]})
}

fn write(path: &Path, value: &Value) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, value.to_string()).unwrap();
    path.to_owned()
}
