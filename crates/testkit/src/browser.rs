//! A real browser for tests: headless Chromium, controlled through chromedriver (`WebDriver`).

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::agent;

/// The time after which a page that hangs fails the test.
const PATIENCE: Duration = Duration::from_mins(1);

/// A browser, and the driver that is its parent. Both end when this is dropped.
pub struct Browser {
    driver: Child,
    agent: ureq::Agent,
    session: String,
    /// The folder for the browser's temporary files; removed last.
    _folder: tempfile::TempDir,
}

impl Browser {
    /// A window of this many pixels. If there is no browser, `None` and a line that says so; in CI this is a failure.
    pub fn open(width: u32, height: u32) -> Option<Self> {
        let is_here = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !is_here("chromium") || !is_here("chromedriver") {
            assert!(std::env::var_os("CI").is_none(), "chromium and chromedriver are needed in CI");
            return crate::skipped("chromium or chromedriver is not here");
        }
        let folder = tempfile::tempdir().unwrap();
        let (driver, port) = driver(folder.path());
        let session = format!("http://127.0.0.1:{port}/session");
        let mut browser = Self { driver, agent: agent(), session, _folder: folder };
        // Chromium's own sandbox does not work for root, and tests in containers often run as root.
        let arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"];
        let capabilities = json!({"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
            "goog:chromeOptions": {"binary": which("chromium"), "args": arguments},
        }}});
        let session = browser.post("", &capabilities);
        browser.session = format!("{}/{}", browser.session, session["sessionId"].as_str().unwrap());
        browser.resize(width, height);
        Some(browser)
    }

    /// Changes the size of the window.
    pub fn resize(&self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        let command = json!({"cmd": "Emulation.setDeviceMetricsOverride", "params": size});
        self.post("/goog/cdp/execute", &command);
    }

    /// Sets the color scheme that the reader prefers: `light` or `dark`.
    pub fn prefer(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.post("/goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": features}));
    }

    /// Lays the page out as on paper, or as on a screen.
    pub fn show_as_printed(&self, is_printed: bool) {
        let media = json!({"media": if is_printed { "print" } else { "" }});
        self.post("/goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": media}));
    }

    /// Prints the page; a PDF as base64.
    pub fn print(&self) -> String {
        self.post("/print", &json!({})).as_str().unwrap().to_owned()
    }

    /// Opens a file at a fragment such as `#id`, as a new page.
    pub fn visit(&self, path: &Path, fragment: &str) {
        self.post("/url", &json!({"url": "about:blank"}));
        self.post("/url", &json!({"url": format!("file://{}{fragment}", path.display())}));
        self.wait("document.documentElement.dataset.ready", "true");
    }

    /// Opens an address, as a new page.
    pub fn visit_address(&self, address: &str) {
        self.post("/url", &json!({"url": "about:blank"}));
        self.post("/url", &json!({"url": address}));
    }

    /// Runs the body of a function in the page and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// The result of an expression, as text.
    pub fn text(&self, expression: &str) -> String {
        self.run(&format!("return String({expression})")).as_str().unwrap().to_owned()
    }

    /// Waits until an expression has this text.
    pub fn wait(&self, expression: &str, expected: &str) {
        let start = Instant::now();
        while self.text(expression) != expected {
            assert!(start.elapsed() < PATIENCE, "`{expression}` is {}", self.text(expression));
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Presses keys in the focused element; special keys have `WebDriver`'s codes.
    pub fn press(&self, keys: &str) {
        let press =
            |key: char| [json!({"type": "keyDown", "value": key}), json!({"type": "keyUp", "value": key})];
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    /// All messages in the console since the last call.
    pub fn console(&self) -> Vec<Value> {
        self.log("browser")
    }

    /// Addresses that were requested since the last call.
    pub fn requests(&self) -> Vec<String> {
        let address = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let event = &message["message"];
            let is_request = event["method"] == "Network.requestWillBeSent";
            is_request.then(|| event["params"]["request"]["url"].as_str().unwrap().to_owned())
        };
        self.log("performance").iter().filter_map(address).collect()
    }

    /// Whether a dialog such as that of `alert` is open.
    pub fn has_dialog(&self) -> bool {
        let response = self.agent.get(format!("{}/alert/text", self.session)).call().unwrap();
        response.status().is_success()
    }

    fn log(&self, kind: &str) -> Vec<Value> {
        self.post("/se/log", &json!({"type": kind})).as_array().unwrap().clone()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let mut response = self.agent.post(format!("{}{path}", self.session)).send_json(body).unwrap();
        let answer: Value = response.body_mut().with_config().limit(64 << 20).read_json().unwrap();
        assert!(response.status().is_success(), "{path}: {answer}");
        answer["value"].clone()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The driver closes the browser with the session; errors do not matter any more.
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Starts a driver; returns it and its port. The driver fails if its port is taken for either IPv4 or IPv6, and is
/// then started again.
fn driver(temporary: &Path) -> (Child, u16) {
    for _ in 0..5 {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .env("TMPDIR", temporary)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(driver.stdout.take().unwrap());
        let port = output.lines().map_while(Result::ok).find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse().ok()
        });
        if let Some(port) = port {
            return (driver, port);
        }
        let _ = driver.kill();
        let _ = driver.wait();
    }
    panic!("chromedriver does not start")
}

/// The path of a program, because the driver looks for Chrome under other names.
fn which(program: &str) -> String {
    let path = std::env::var_os("PATH").unwrap();
    let path = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file());
    path.unwrap().display().to_string()
}
