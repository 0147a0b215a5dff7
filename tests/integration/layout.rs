//! Which crates depend on which: dependencies point one way, and a single crate needs few others.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use crate::support::{root, text};

/// The crates that each crate may depend on, in the order of the layers. The program depends on all.
const MAY_SEE: [(&str, &[&str]); 20] = [
    ("support", &[]),
    ("stats", &[]),
    ("embedding", &[]),
    ("trajectory", &["support"]),
    ("flow", &["support", "trajectory"]),
    ("traces", &["support", "trajectory"]),
    ("suites", &["stats", "support", "trajectory"]),
    ("images", &["support"]),
    ("encoder", &["embedding", "support"]),
    ("score", &["embedding", "flow", "support", "trajectory"]),
    ("figures", &["images", "support"]),
    ("web", &["support"]),
    ("mcp", &["images", "support", "trajectory", "web"]),
    ("llm", &["images", "support"]),
    ("report", &["embedding", "figures", "flow", "images", "score", "stats", "support", "trajectory"]),
    ("servers", &["embedding", "images", "mcp", "support", "trajectory"]),
    ("outcomes", &["images", "llm", "mcp", "support", "trajectory"]),
    ("executor", &["embedding", "images", "llm", "mcp", "outcomes", "support", "trajectory"]),
    ("judge", &["flow", "images", "llm", "mcp", "outcomes", "stats", "support", "trajectory", "web"]),
    ("view", &["images", "report", "score", "stats", "support", "trajectory", "web"]),
];

/// The most packages that a crate needs, including itself.
const MOST_PACKAGES: [(&[&str], usize); 2] = [(&["score"], 91), (&["score", "encoder"], 162)];

/// What `cargo` prints.
fn cargo(arguments: &[&str]) -> String {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let output = cargo.args(arguments).args(["--locked", "--offline"]).current_dir(root()).output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn no_crate_sees_what_it_may_not() {
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--no-deps", "--format-version", "1"])).unwrap();
    let ours = |package: &Value| package["name"].as_str().unwrap().strip_prefix("m3-").map(str::to_owned);
    let mut seen: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in metadata["packages"].as_array().unwrap() {
        let Some(name) = ours(package) else { continue };
        let dependencies = package["dependencies"].as_array().unwrap().iter();
        seen.insert(name, dependencies.filter(|other| other["kind"] != "dev").filter_map(ours).collect());
    }
    // It is of no layer: it plays the other side in tests, and sees nothing of ours.
    assert_eq!(seen.remove("testkit"), Some(Vec::new()));
    // It feeds hostile input to who reads what others wrote; nobody sees it.
    assert!(seen.remove("fuzz").is_some());
    // The program again, as a module of Python.
    assert!(seen.remove("python").is_some());
    let may_see = BTreeMap::from(MAY_SEE);
    assert!(seen.keys().eq(may_see.keys()), "{:?}", seen.keys());
    for (name, others) in &seen {
        assert!(others.iter().all(|other| may_see[&**name].contains(&&**other)), "`{name}` sees {others:?}");
    }
    // One way: everybody sees those before them only.
    for (index, (name, allowed)) in MAY_SEE.iter().enumerate() {
        let before: Vec<&str> = MAY_SEE[..index].iter().map(|(name, _)| *name).collect();
        assert!(allowed.iter().all(|other| before.contains(other)), "{name}");
    }
}

#[test]
fn the_scorer_needs_few_packages() {
    for (crates, most) in MOST_PACKAGES {
        let crates: Vec<String> = crates.iter().map(|name| format!("--package=m3-{name}")).collect();
        let mut arguments = vec!["tree", "--edges", "normal", "--prefix", "none", "--no-dedupe"];
        arguments.extend(crates.iter().map(String::as_str));
        let listed = cargo(&arguments);
        let packages: BTreeSet<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
        assert!(packages.len() > crates.len() && packages.len() <= most, "{crates:?}: {}", packages.len());
    }
}
