//! The command `m3 view`: shows runs, scores and references in a browser.

use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use m3_score::RoleRules;
use m3_support::text::{counted, hash_of_bytes};
use m3_traces::TRACES;
use m3_trajectory::catalog::Catalog;
use m3_view::{BundleError, Library, Scorer, ViewDesk, ViewSources, write_bundle};
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::Common;
use crate::cli::common::{
    Failure, Printer, Result, Signals, TEMPORARY, code, input, interrupted, runtime, serve_page,
};
use crate::cli::library::call;

/// Options of `m3 view`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ViewArgs {
    /// Folders and files with anything that m3 reads or writes: runs of `m3 run`, traces of other programs, scores,
    /// references
    #[arg(value_name = "PATH", default_value = ".")]
    paths: Vec<PathBuf>,
    /// References to score runs against that have no score; repeatable. Files named like references are found without it
    #[arg(long, value_name = "REF")]
    references: Vec<PathBuf>,
    /// Catalog of tools, for these scores; as of `m3 score`
    #[arg(long, value_name = "FILE", conflicts_with = "no_score")]
    tools: Option<PathBuf>,
    /// What calls do, for these scores: tools that look, change or do not count; as of `m3 score`
    #[arg(long, value_name = "FILE", conflicts_with = "no_score")]
    roles: Option<PathBuf>,
    /// Score nothing: show only scores that are there
    #[arg(long)]
    no_score: bool,
    /// Where images are looked for, and nowhere else [default: the folder of each file and the one above it]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// Write the pages into a new folder, for any web server, and serve nothing
    #[arg(long, value_name = "DIR")]
    bundle: Option<PathBuf>,
    /// Port of the page, at 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "bundle")]
    port: u16,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
}

const EXAMPLES: &str = "\
Served on 127.0.0.1 to anyone who has the address. Reads only what you name, changes nothing, follows runs in progress.

Examples:
  m3 view runs/
  m3 view runs/gpt-5 runs/gemini --references references.json
  m3 view predictions.jsonl score.json references.json
  m3 view runs/ --references references.json --tools tools.json --roles roles.json
  m3 view traces/ --images pictures/
  m3 view runs/ --bundle site/

Exit codes: 0 done, 2 bad usage or input, 4 something needed is not available (a port, disk space).

docs/view.md explains the pages.";

/// The time from one scoring of runs in progress to the next.
const AGAIN: Duration = Duration::from_secs(10);

/// Serves the pages, or writes them.
pub(super) fn run(args: &ViewArgs, common: &Common, printer: Printer) -> Result {
    raise_open_files();
    // Files that cannot be read are reported before anything is served.
    args.tools.as_deref().map(Catalog::open).transpose()?;
    args.roles.as_deref().map(RoleRules::open).transpose()?;
    let images =
        args.images.as_ref().map(|images| input::image_folders(Some(images), Vec::new)).transpose()?;
    let given = ViewSources {
        paths: args.paths.clone(),
        references: args.references.clone(),
        images: images.and_then(|folders| folders.into_iter().next()),
        formats: TRACES,
    };
    let library = Library::open(given).map_err(Failure::input)?;
    let library = Arc::new(library);
    let folder_of_scores = tempfile::Builder::new().prefix("m3-view-").tempdir();
    let folder_of_scores = folder_of_scores.map_err(|cause| Failure::output(TEMPORARY, &cause))?;
    let scorer = scorer(folder_of_scores.path(), args, common);
    if let Some(folder) = &args.bundle {
        return bundle(library, (!args.no_score).then_some(scorer), folder, printer);
    }
    if !args.no_score {
        let library = Arc::clone(&library);
        // The thread ends with the process. It scores runs in progress again and again.
        thread::spawn(move || {
            loop {
                library.score(&scorer);
                thread::sleep(AGAIN);
            }
        });
    }
    let desk = ViewDesk::new(library, true);
    let advice = "private address; Ctrl-C stops the server";
    serve_page(desk, (args.port, !args.no_open, advice), printer)
}

/// Writes the pages into a folder. After a signal, the folders that are not complete are removed.
fn bundle(library: Arc<Library>, scorer: Option<Scorer>, folder: &Path, printer: Printer) -> Result {
    let runtime = runtime()?;
    let signals = Signals::listen(&runtime);
    if let Some(scorer) = scorer {
        let library = Arc::clone(&library);
        let scoring = runtime.spawn_blocking(move || library.score(&scorer));
        let ended = runtime.block_on(async {
            tokio::select! { done = scoring => Some(done), () = signals.first.cancelled() => None }
        });
        if let Some(Err(error)) = ended
            && error.is_panic()
        {
            resume_unwind(error.into_panic());
        }
    }
    let bar = printer.bar();
    let mut progress = |done: usize, all: usize| {
        bar.set("writing", done as u64, all as u64);
        !signals.first.is_cancelled()
    };
    let written = if signals.first.is_cancelled() {
        Err(BundleError::Stopped)
    } else {
        write_bundle(library, folder, &mut progress)
    };
    drop(bar);
    // What is left of the scoring is not waited for.
    runtime.shutdown_background();
    let written = written.map_err(|error| match &error {
        BundleError::NotEmpty(_) => Failure::input(error),
        BundleError::Io(path, cause) => Failure::output(&format!("`{}`", path.display()), cause),
        BundleError::Stopped => interrupted(),
    })?;
    printer.note(&format!("{} in `{}`", counted(written, "file"), folder.display()));
    Ok(())
}

/// Raises the limit of open files as far as the system allows: each file that is shown is kept open. If the limit stays
/// low, an error says so when files are opened.
#[cfg(unix)]
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

#[cfg(not(unix))]
fn raise_open_files() {}

/// Scores as `m3 score` does, into a folder.
fn scorer(folder: &Path, args: &ViewArgs, common: &Common) -> Scorer {
    let folder = folder.to_owned();
    let files = [("--tools", &args.tools), ("--roles", &args.roles), ("--cache-dir", &common.cache_dir)];
    let given = files.into_iter().filter_map(|(option, path)| Some([option.into(), path.clone()?.into()]));
    let given: Vec<OsString> = given.flatten().collect();
    Box::new(move |predictions, references| {
        // A new score of the same file takes the place of the old one.
        let Some((first, repeats)) = predictions.split_first() else {
            return Err("there are no predictions".to_owned());
        };
        let name = hash_of_bytes(first.as_os_str().as_encoded_bytes());
        let path = folder.join(format!("{}.json", name.trim_start_matches("sha256:")));
        let mut words: Vec<OsString> = vec!["score".into(), first.into(), references.into()];
        for repeat in repeats {
            words.extend(["--repeat".into(), repeat.into()]);
        }
        words.extend(["--duplicates", "last", "--format", "json", "--out"].map(OsString::from));
        words.push(path.clone().into());
        words.extend(given.iter().cloned());
        let called = call(words, Arc::new(|_, _, _| true));
        // Where some trajectories have failed, the report is written too.
        if matches!(called.code, 0 | code::FAILED) && path.is_file() {
            return Ok(path);
        }
        let said = called.messages.iter().map(|message| message.text.as_str());
        Err(format!("it could not be scored: {}", said.collect::<Vec<_>>().join("; ")))
    })
}
