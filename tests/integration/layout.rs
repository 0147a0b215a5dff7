//! Which crates depend on which: dependencies point one way, and a single crate needs few others.

use std::collections::BTreeMap;
use std::process::Command;

use crate::support::root;

/// The crates that each crate may depend on, in the order of the layers. The program depends on all.
const MAY_SEE: [(&str, &[&str]); 15] = [
    ("support", &[]),
    ("stats", &[]),
    ("embedding", &[]),
    ("trajectory", &["support"]),
    ("images", &["support"]),
    ("encoder", &["embedding", "support"]),
    ("score", &["embedding", "support", "trajectory"]),
    ("figures", &["images", "support"]),
    ("mcp", &["images", "support", "trajectory"]),
    ("llm", &["images", "support"]),
    ("report", &["embedding", "figures", "images", "score", "stats", "support", "trajectory"]),
    ("servers", &["embedding", "images", "mcp", "support", "trajectory"]),
    ("outcomes", &["images", "llm", "mcp", "support", "trajectory"]),
    ("executor", &["embedding", "images", "llm", "mcp", "outcomes", "support", "trajectory"]),
    ("judge", &["executor", "images", "llm", "mcp", "outcomes", "stats", "support", "trajectory"]),
];

/// The most packages that a crate needs, including itself.
const MOST_PACKAGES: [(&[&str], usize); 2] = [(&["score"], 60), (&["score", "encoder"], 150)];

/// The crates of this project that a manifest names among its dependencies, those of tests left out.
fn seen(manifest: &str) -> Vec<&str> {
    let of_build = manifest.split("[dev-dependencies]").next().unwrap();
    let names = of_build.lines().filter_map(|line| line.strip_prefix("m3-"));
    names.map(|rest| rest.split(['.', ' ', '=']).next().unwrap()).collect()
}

#[test]
fn no_crate_sees_what_it_may_not() {
    let may_see = BTreeMap::from(MAY_SEE);
    let mut known = 0;
    for folder in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = folder.unwrap();
        let name = folder.file_name().into_string().unwrap();
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let seen = seen(&manifest);
        match may_see.get(name.as_str()) {
            Some(allowed) => {
                known += 1;
                assert!(seen.iter().all(|other| allowed.contains(other)), "`{name}` sees {seen:?}");
            }
            // The test kit belongs to no layer, and depends on no other crate.
            None => assert!(name == "testkit" && seen.is_empty(), "`{name}` is in no layer"),
        }
    }
    assert_eq!(known, MAY_SEE.len());
    // Dependencies point one way: each crate depends only on crates before it.
    for (index, (name, allowed)) in MAY_SEE.iter().enumerate() {
        let before: Vec<&str> = MAY_SEE[..index].iter().map(|(name, _)| *name).collect();
        assert!(allowed.iter().all(|other| before.contains(other)), "{name}");
    }
}

#[test]
fn the_scorer_needs_few_packages() {
    for (crates, most) in MOST_PACKAGES {
        let mut tree = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        tree.args(["tree", "--locked", "--offline", "--edges", "normal", "--prefix", "none", "--no-dedupe"]);
        for name in crates {
            tree.args(["--package", &format!("m3-{name}")]);
        }
        let output = tree.current_dir(root()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let listed = String::from_utf8(output.stdout).unwrap();
        let packages: std::collections::BTreeSet<&str> =
            listed.lines().filter(|line| !line.is_empty()).collect();
        assert!(packages.len() > crates.len() && packages.len() <= most, "{crates:?}: {}", packages.len());
    }
}
