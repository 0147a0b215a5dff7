//! Which crates depend on which: dependencies point one way, and a single crate needs few others. What is published as a crate of
//! its own holds everything that it is compiled from.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
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
    ("llm", &["images", "support", "trajectory"]),
    ("report", &["embedding", "figures", "flow", "images", "score", "stats", "support", "trajectory"]),
    ("servers", &["embedding", "images", "mcp", "support", "trajectory"]),
    ("outcomes", &["images", "llm", "mcp", "support", "trajectory"]),
    ("executor", &["embedding", "images", "llm", "mcp", "outcomes", "support", "trajectory"]),
    ("judge", &["flow", "images", "llm", "mcp", "outcomes", "stats", "support", "trajectory", "web"]),
    ("view", &["images", "report", "score", "stats", "support", "trajectory", "web"]),
];

/// The most packages that a crate needs, including itself.
const MOST_PACKAGES: [(&[&str], usize); 2] = [(&["score"], 59), (&["score", "encoder"], 132)];

/// The libraries for others, with those that they need.
const PUBLISHED: [&str; 7] = ["embedding", "encoder", "flow", "score", "support", "traces", "trajectory"];

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

/// The paths of the files that a source file has in it, as they are written.
fn included(source: &str) -> Vec<&str> {
    let mut paths = Vec::new();
    for call in ["include_bytes!(", "include_str!(", "include!("] {
        for rest in source.split(call).skip(1) {
            let literal = rest.trim_start().strip_prefix('"').and_then(|rest| rest.split('"').next());
            paths.push(literal.unwrap_or("what no literal names"));
        }
    }
    paths
}

/// The place of a path that is written in a file of this folder; `None` above the package.
fn place(folder: &Path, written: &str) -> Option<PathBuf> {
    let mut place = folder.to_path_buf();
    for part in written.split('/') {
        match part {
            ".." if !place.pop() => return None,
            "." | ".." => {}
            part => place.push(part),
        }
    }
    Some(place)
}

/// A package is compiled without the rest of the repository: the file of a sibling is not there.
#[test]
fn published_crates_hold_what_they_are_compiled_from() {
    let mut count = 0;
    for name in PUBLISHED {
        let package = format!("m3-{name}");
        let listed = cargo(&["package", "--list", "--allow-dirty", "--package", &package]);
        let files: BTreeSet<&Path> = listed.lines().map(Path::new).collect();
        for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(Path::new(licence)), "{package} has no {licence}");
        }
        assert!(!files.contains(Path::new("build.rs")), "the script of {package} may read what is not in it");
        for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "rs")) {
            let source = std::fs::read_to_string(root().join("crates").join(name).join(file)).unwrap();
            for written in included(&source) {
                let place = place(file.parent().unwrap(), written);
                let is_there = place.is_some_and(|place| files.contains(&*place));
                assert!(
                    is_there,
                    "{package}: `{}` includes `{written}`, which is not in the package",
                    file.display()
                );
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} files are included");
}
