//! Files and folders of one folder do not use each other in a circle: what two of them need stands in a third. (A folder's
//! `mod.rs` and the files beneath it may use each other: they are one module to everybody else.)

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::support::root;

/// A module by its names from the crate on; the crate itself has none.
type Module = Vec<String>;

/// The modules of a crate, with the paths that each names and whether it re-exports them; those of tests are left out.
struct Modules(BTreeMap<Module, Vec<(Module, bool)>>);

impl Modules {
    fn read(folder: &Path) -> Self {
        let mut modules = Self(BTreeMap::new());
        let file = ["lib.rs", "main.rs"].map(|name| folder.join(name)).into_iter().find(|file| file.exists());
        modules.gather(&file.unwrap(), folder, Vec::new());
        modules
    }

    /// Takes a file and, by its `mod` lines, the files beneath it. `folder` is where these are.
    fn gather(&mut self, file: &Path, folder: &Path, module: Module) {
        let text = std::fs::read_to_string(file).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        let mut is_test = false;
        let mut code = String::new();
        for line in text.lines().map(|line| line.split("//").next().unwrap()) {
            let words =
                line.trim_start_matches("pub").trim_start_matches("(crate)").trim_start_matches("(super)");
            if let Some(name) =
                words.trim_start().strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';'))
            {
                let (alone, inside) = (folder.join(format!("{name}.rs")), folder.join(name));
                let file = if alone.exists() { alone } else { inside.join("mod.rs") };
                let module = module.iter().cloned().chain([name.to_owned()]).collect();
                if !is_test {
                    self.gather(&file, &inside, module);
                }
            }
            is_test = line.trim() == "#[cfg(test)]";
            code.push_str(line);
            code.push(' ');
        }
        self.0.insert(module, paths(&code));
    }

    /// The module that a path leads to, re-exports followed.
    fn home(&self, path: &[String], steps: usize) -> Module {
        let mut end = path.len();
        while !self.0.contains_key(&path[..end]) {
            end -= 1;
        }
        let module = path[..end].to_vec();
        let Some(item) = path.get(end).filter(|_| steps > 0) else { return module };
        let exported =
            self.0[&module].iter().find(|(path, is_public)| *is_public && path.last() == Some(item));
        let followed = exported.and_then(|(path, _)| self.absolute(&module, path));
        followed.filter(|path| path[..] != module[..]).map_or(module, |path| self.home(&path, steps - 1))
    }

    /// A path as it stands in a module, from the crate on; nothing if it leads into another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Module> {
        let mut base = module.to_vec();
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop();
                    rest = &rest[1..];
                }
            }
            child => {
                base.push(child.to_owned());
                self.0.contains_key(&base).then(|| base.pop())?;
            }
        }
        Some(base.into_iter().chain(rest.iter().filter(|name| *name != "self").cloned()).collect())
    }

    /// Which siblings use which, by the folder that they are in.
    fn siblings(&self) -> BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> {
        let mut siblings: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
        for (module, paths) in &self.0 {
            let used = paths.iter().filter_map(|(path, _)| self.absolute(module, path));
            for used in used.map(|path| self.home(&path, 5)) {
                let shared = module.iter().zip(&used).take_while(|(a, b)| a == b).count();
                if let (Some(from), Some(to)) = (module.get(shared), used.get(shared)) {
                    let folder = siblings.entry(module[..shared].to_vec()).or_default();
                    folder.entry(from.clone()).or_default().insert(to.clone());
                }
            }
        }
        siblings
    }
}

/// The paths in some code, and whether each is re-exported; lists in braces are taken apart.
fn paths(code: &str) -> Vec<(Module, bool)> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("use ") {
        let before = code[..at].trim_end();
        let tree = code[at + 4..].split(';').next().unwrap();
        expand(tree, &[], &mut |path| found.push((path, before.ends_with("pub") || before.ends_with(')'))));
    }
    for word in code.split(|c: char| !(c.is_alphanumeric() || "_:".contains(c))) {
        if word.contains("::") {
            let path = word.split("::").map(str::to_owned).filter(|name| !name.is_empty()).collect();
            found.push((path, false));
        }
    }
    found
}

/// Takes `a::{b, c::d as e}` apart.
fn expand(tree: &str, base: &[String], take: &mut impl FnMut(Module)) {
    let (head, list) =
        tree.split_once('{').map_or((tree, None), |(head, rest)| (head, rest.rsplit_once('}')));
    let names = head.split("::").map(|name| name.split(" as ").next().unwrap_or_default().trim().to_owned());
    let path: Module = base.iter().cloned().chain(names.filter(|name| !name.is_empty())).collect();
    let Some((list, _)) = list else { return take(path) };
    let (mut depth, mut start) = (0_i32, 0);
    for (at, sign) in list.char_indices().chain([(list.len(), ',')]) {
        match sign {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !list[start..at].trim().is_empty() {
                    expand(&list[start..at], &path, take);
                }
                start = at + 1;
            }
            _ => {}
        }
    }
}

/// Those that can be reached from themselves.
fn in_circles(uses: &BTreeMap<String, BTreeSet<String>>) -> Vec<&str> {
    let reaches_itself = |start: &String| {
        let (mut open, mut seen) = (vec![start], BTreeSet::new());
        while let Some(next) = open.pop() {
            for used in uses.get(next).into_iter().flatten() {
                if used == start {
                    return true;
                }
                if seen.insert(used) {
                    open.push(used);
                }
            }
        }
        false
    };
    uses.keys().filter(|name| reaches_itself(name)).map(String::as_str).collect()
}

#[test]
fn files_of_a_folder_use_each_other_in_one_direction() {
    let crates = std::fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut uses_seen = 0;
    for folder in crates.chain([root().to_owned()]) {
        let name = if folder == root() { "m3" } else { folder.file_name().unwrap().to_str().unwrap() };
        for (module, uses) in Modules::read(&folder.join("src")).siblings() {
            uses_seen += uses.values().map(BTreeSet::len).sum::<usize>();
            let place = [&[name.to_owned()][..], &module[..]].concat().join("/");
            let circle = in_circles(&uses);
            assert!(circle.is_empty(), "{place}: {circle:?}");
        }
    }
    assert!(uses_seen > 500, "{uses_seen} uses were found, so that the test reads the code no more");
}

#[test]
fn lists_of_imports_are_taken_apart() {
    let mut found = Vec::new();
    expand("super::{a, b::{self, C as D}}", &[], &mut |path| found.push(path.join("::")));
    assert_eq!(found, ["super::a", "super::b::self", "super::b::C"]);
    let uses = |pairs: &[(&str, &str)]| {
        let mut uses = BTreeMap::<String, BTreeSet<String>>::new();
        for (from, to) in pairs {
            uses.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        uses
    };
    assert_eq!(in_circles(&uses(&[("a", "b"), ("b", "c")])), <[&str; 0]>::default());
    assert_eq!(in_circles(&uses(&[("a", "b"), ("b", "c"), ("c", "b")])), ["b", "c"]);
}
