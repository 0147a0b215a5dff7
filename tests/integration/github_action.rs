//! The GitHub action: its script does on a history of two commits what it would do on a runner, and `action.yml` hands it what
//! it reads. The data are those of the repository's small benchmark.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Folder, encoder, json_of, program_with_cache, root, skipped, text};

/// A repository with a branch `main` and, checked out alone as runners do, a branch `change`.
struct Checkout {
    folder: Folder,
}

/// Inputs of the action, as variables.
type Inputs<'i> = &'i [(&'i str, &'i str)];

/// What became of a job.
struct Job {
    code: i32,
    log: String,
    outputs: String,
    summary: String,
}

impl Checkout {
    /// With these predictions on the branches; `None` where there are none yet.
    fn new(main: Option<&Value>, change: &Value) -> Self {
        let folder = Folder::new();
        let origin = folder.path().join("origin");
        std::fs::create_dir(&origin).unwrap();
        git(&origin, &["init", "--quiet", "--initial-branch=main"]);
        let commit = |predictions: Option<&Value>| {
            if let Some(predictions) = predictions {
                std::fs::create_dir_all(origin.join("runs/a b")).unwrap();
                std::fs::write(origin.join("runs/a b/predictions.json"), predictions.to_string()).unwrap();
            }
            git(&origin, &["add", "--all"]);
            git(&origin, &["commit", "--quiet", "--message", "predictions"]);
        };
        std::fs::copy(root().join("trajectories/references.json"), origin.join("references.json")).unwrap();
        commit(main);
        git(&origin, &["switch", "--quiet", "--create", "change"]);
        commit(Some(change));
        let url = format!("file://{}", origin.display());
        git(folder.path(), &["clone", "--quiet", "--depth=1", "--branch=change", &url, "workspace"]);
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs the script as a runner does for a pull request against `main`.
    fn run(&self, inputs: Inputs<'_>) -> Option<Job> {
        let assets = encoder()?;
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache");
        let mut script = program_with_cache("bash", &cache, assets);
        let temporary = self.path("temporary");
        std::fs::create_dir_all(&temporary).unwrap();
        for (name, file) in [("GITHUB_OUTPUT", "outputs"), ("GITHUB_STEP_SUMMARY", "summary")] {
            std::fs::write(self.path(file), "").unwrap();
            script.env(name, self.path(file));
        }
        script.arg(root().join("action/score.sh")).current_dir(&temporary);
        script.env("GITHUB_WORKSPACE", self.path("workspace")).env("RUNNER_TEMP", &temporary);
        script.env("GITHUB_BASE_REF", "main").env("INPUT_M3", assert_cmd::cargo::cargo_bin("m3"));
        script.env("INPUT_PREDICTIONS", "runs/a b").env("INPUT_REFERENCES", "references.json");
        script.envs(inputs.iter().copied());
        let output = script.output().unwrap();
        let read = |name: &str| std::fs::read_to_string(self.path(name)).unwrap();
        Some(Job {
            code: output.status.code().unwrap(),
            log: text(&output.stdout) + &text(&output.stderr),
            outputs: read("outputs"),
            summary: read("summary"),
        })
    }
}

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments).current_dir(folder);
    // Whatever the user has configured.
    git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = git.output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// Whether git is here; says so if it is not.
fn has_git() -> bool {
    Command::new("git").arg("--version").output().is_ok() || skipped::<()>("git is not here").is_some()
}

fn predictions(name: &str) -> Value {
    json_of(root().join("trajectories").join(name))
}

/// Good predictions in which one task is done better than before and one worse.
fn otherwise() -> Value {
    let mut changed = predictions("predictions.json");
    let references = predictions("references.json");
    let steps = |set: &Value, id: &str| {
        set.as_array().unwrap().iter().find(|task| task["id"] == id).unwrap()["steps"].clone()
    };
    for task in changed.as_array_mut().unwrap() {
        match task["id"].as_str().unwrap() {
            "00060001" => task["steps"] = steps(&references, "00060001"),
            "00010000" => task["steps"] = json!([]),
            _ => {}
        }
    }
    changed
}

/// The interval of the difference of averages by `m3 compare`: above zero from poor to good (docs/leaderboard.md has it),
/// below zero the other way, and on both sides of it for one better and one worse task of fifteen.
#[test]
fn each_decision_ends_the_job_as_it_should() {
    if !has_git() {
        return;
    }
    let (good, poor) = (predictions("predictions.json"), predictions("predictions-poor.json"));
    let fails = [("INPUT_FAIL_ON_INCONCLUSIVE", "true")];
    let cases: [(&Value, &Value, Inputs<'_>, &str, i32); 5] = [
        (&poor, &good, &[], "pass", 0),
        (&good, &poor, &[], "regress", 1),
        (&good, &otherwise(), &[], "inconclusive", 0),
        (&good, &otherwise(), &fails, "inconclusive", 1),
        (&good, &otherwise(), &[("INPUT_MARGIN", "0.5"), fails[0]], "pass", 0),
    ];
    for (main, change, inputs, decision, code) in cases {
        let checkout = Checkout::new(Some(main), change);
        let Some(job) = checkout.run(inputs) else { return };
        assert_eq!(
            (job.code, job.outputs.contains(&format!("decision={decision}\n"))),
            (code, true),
            "{}",
            job.log
        );
        assert!(job.summary.starts_with(&format!("## m3: {decision}\n\n")), "{}", job.summary);
        assert!(
            job.summary.contains("| average ") && job.summary.contains("**m3 score**"),
            "{}",
            job.summary
        );
        assert_eq!(job.log.contains("::error title=m3::"), code == 1, "{}", job.log);
        assert_eq!(job.log.contains("::warning title=m3::"), decision == "inconclusive" && code == 0);
        let score = job.outputs.lines().find_map(|line| line.strip_prefix("score=")).unwrap();
        assert_eq!(json_of(score)["schema"], "m3.score/1");
        let comparison = job.outputs.lines().find_map(|line| line.strip_prefix("comparison=")).unwrap();
        assert_eq!(json_of(comparison)["decision"], decision);
    }
}

#[test]
fn a_first_run_has_nothing_to_compare_with_and_floors_hold_all_the_same() {
    if !has_git() {
        return;
    }
    let checkout = Checkout::new(None, &predictions("predictions.json"));
    let Some(job) = checkout.run(&[]) else { return };
    assert_eq!((job.code, job.outputs.contains("decision=none\n")), (0, true), "{}", job.log);
    let job =
        checkout.run(&[("INPUT_OPTIONS", "--fail-under recall=0.5\n--fail-under precision=0.99")]).unwrap();
    assert_eq!((job.code, job.log.contains("precision is 0.9500")), (1, true), "{}", job.log);
    let poor = root().join("trajectories/predictions-poor.json");
    let job = checkout.run(&[("INPUT_BASE_PREDICTIONS", poor.to_str().unwrap())]).unwrap();
    assert_eq!((job.code, job.outputs.contains("decision=pass\n")), (0, true), "{}", job.log);
    // What cannot be scored, and a branch that is not there, are failures and no passes.
    let job = checkout.run(&[("INPUT_PREDICTIONS", "missing.json")]).unwrap();
    assert_eq!((job.code, job.outputs.as_str()), (2, ""), "{}", job.log);
    let job = checkout.run(&[("INPUT_BASE", "no-such-branch")]).unwrap();
    assert!(job.code == 2 && job.log.contains("the base branch cannot be read"), "{}", job.log);
}

/// What the script reads is what `action.yml` hands it, and every input goes there.
#[test]
fn the_action_hands_every_input_to_the_script() {
    let read = |name: &str| std::fs::read_to_string(root().join(name)).unwrap();
    let (action, script) = (read("action.yml"), read("action/score.sh"));
    let inputs = action.split("\ninputs:\n").nth(1).unwrap().split("\noutputs:\n").next().unwrap();
    let is_name = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let inputs: Vec<&str> =
        inputs.lines().filter(is_name).map(|line| line.trim().trim_end_matches(':')).collect();
    assert_eq!(inputs.len(), 9, "{inputs:?}");
    for input in inputs {
        let variable = format!("INPUT_{}", input.to_uppercase().replace('-', "_"));
        assert!(action.contains(&format!("        {variable}: ${{{{ inputs.{input} }}}}\n")), "{variable}");
        assert!(script.contains(&variable), "{variable} is not read");
    }
    // Inputs never become part of a script, where a shell would read them.
    let runs: Vec<&str> = action.split(" run:").skip(1).collect();
    let code =
        |run: &&str| run.split(" env:").next().unwrap().split(" - name:").next().unwrap().contains("${{");
    assert!(runs.len() == 2 && !runs.iter().any(code), "{action}");
}
