//! The command `m3 review`: has people look at references, in a page or as a table.

mod pairs;
mod sample;

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use clap::{ArgGroup, Args};
use m3_images::task_image::image_folders;
use m3_judge::review::arrangement::Rules;
use m3_judge::review::{
    DecideError, ImageSize, ImageSource, Images, LabelDesk, LabelFile, Pairs, PairsDesk, ReviewDesk, Reviews,
    lock_path, preferences_path, read_table, reviewed, store_path, write_table,
};
use m3_mcp::ToolCatalog;
use m3_report::audit::Pictures;
use m3_report::{json_without_hidden, shortened};
use m3_support::files::folder_of;
use m3_support::text::counted;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::json::Keys;
use m3_trajectory::{Duplicates, Trajectory, TrajectoryFile};
use m3_web::Handler;

use crate::cli::common::{
    Failure, Output, PredictionsArg, Printer, Result, code, input, refuse_equal, serve_page,
};
use crate::export::MediaFiles;
use crate::result_files::ResultFiles;

/// Options of `m3 review`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, group(ArgGroup::new("mode").args(["out", "export", "import", "pairs", "label"])))]
pub(super) struct ReviewArgs {
    /// References: JSON, JSON Lines, either in gzip or zstd. Decisions are kept beside them, in REF.reviews.jsonl
    #[arg(value_name = "REF")]
    references: PathBuf,
    /// Catalog of the tools: edited arguments have to fit it, added calls are of its tools
    #[arg(long, value_name = "CATALOG")]
    tools: Option<PathBuf>,
    /// Where images are looked for, and nowhere else [default: the folder of REF and the one above it]
    #[arg(long, value_name = "DIR")]
    images: Option<PathBuf>,
    /// What to do when an id stands twice in REF with different content
    #[arg(long, value_enum, default_value_t = Duplicates::Error)]
    duplicates: Duplicates,
    /// Name of the person who decides [default: the user's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Port of the page, at 127.0.0.1; 0 takes a free one
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
    /// Open no browser
    #[arg(long)]
    no_open: bool,
    /// Write the references that were accepted or edited, and open no page
    #[arg(short, long, value_name = "REVIEWED.json")]
    out: Option<PathBuf>,
    /// With --out, write the references that nobody has decided on too
    #[arg(long, requires = "out")]
    with_undecided: bool,
    /// Write calls and decisions as CSV, and open no page
    #[arg(long, value_name = "FILE.csv")]
    export: Option<PathBuf>,
    /// Take decisions and edits from a CSV file, by the same rules as the page
    #[arg(long, value_name = "FILE.csv")]
    import: Option<PathBuf>,
    /// Compare the original runs in ORIGINAL with REF, side by side and without saying which is which
    #[arg(long, value_name = "ORIGINAL")]
    pairs: Option<PathBuf>,
    /// With --pairs, print what people prefer, and open no page
    #[arg(long, requires = "pairs")]
    summary: bool,
    /// Label pairs of calls of PRED and REF as strong, medium or weak
    #[arg(long, value_name = "PRED")]
    label: Option<PredictionsArg>,
    /// With --label, label at most this many pairs, from the most alike to the least
    #[arg(long, value_name = "N", default_value_t = 40, requires = "label")]
    sample: usize,
    /// With --label, the seed of the sample
    #[arg(long, value_name = "S", default_value_t = 2024, requires = "label")]
    seed: u64,
    /// With --label, the file of labels
    #[arg(long, value_name = "FILE", default_value = "labels.json", requires = "label")]
    labels: PathBuf,
}

const EXAMPLES: &str = "\
The page is served at 127.0.0.1 to who has its address; every decision is saved at once. \
Several people may review one file at the same time.

Examples:
  m3 review references.json --tools tools.json --name Ada
  m3 review references.json --out reviewed.json
  m3 review references.json --export review.csv
  m3 review references.json --import review.csv --name Ada --tools tools.json
  m3 review --pairs predictions.json references.json
  m3 review --pairs predictions.json references.json --summary
  m3 review --label predictions.json references.json --sample 40

Exit codes: 0 done, 2 bad usage or input, 3 decisions of --import refused because somebody decided first, \
4 something needed is not available (a port, disk space).

docs/review.md explains the files.";

/// The longest side of an image in the page, in pixels, and the quality of its JPEG, of 100.
const WHOLE: (u32, u8) = (1280, 85);

/// The longest side of an image in the list, in pixels, and the quality of its JPEG, of 100.
const THUMBNAIL: (u32, u8) = (160, 70);

/// Serves the page, or does work that needs no page.
pub(super) fn run(args: &ReviewArgs, printer: Printer) -> Result {
    if args.references == Path::new("-") {
        return Err(Failure::input(
            "decisions are kept beside REF, and standard input has no place\nhint: name a file",
        ));
    }
    args.check_written()?;
    let name = args.name();
    if let Some(originals) = &args.pairs {
        return args.pairs(originals, &name, printer);
    }
    let [file] = input::open_all([&args.references], args.duplicates, printer)?;
    let references = all(&file)?;
    if let Some(predictions) = &args.label {
        return args.label(predictions.only_path(printer), references, &name, printer);
    }
    let catalog = args.tools.as_deref().map(Catalog::open).transpose()?;
    let rules = Rules::new(catalog.as_ref().map(ToolCatalog::from).as_ref());
    let path = store_path(&args.references);
    let mut reviews = Reviews::open(references, &path)?;
    if reviews.foreign() > 0 {
        let decisions = counted(reviews.foreign(), "decision");
        printer.warn(&format!(
            "{decisions} in `{}` are of references that are not in the file any more, or were changed since",
            path.display()
        ));
    }
    if let Some(out) = &args.out {
        return args.write(&reviews, out, printer);
    }
    reviews.find_runs(folder_of(&args.references));
    if let Some(table) = &args.export {
        let mut output = Output::open(Some(table), &[&args.references], printer)?;
        write_table(&reviews, &mut output)?;
        return output.commit();
    }
    if let Some(table) = &args.import {
        return import(table, &mut reviews, &rules, &name, printer);
    }
    let problems = (args.references.as_path(), file.problems());
    let desk = ReviewDesk::new(reviews, rules, args.pictures()?, problems, &name);
    args.serve(desk, printer)
}

/// Whether a workspace lies in one of these folders, with links followed: a reference may name any workspace.
fn is_within(workspace: &Path, folders: &[PathBuf]) -> bool {
    let Ok(workspace) = workspace.canonicalize() else { return false };
    folders.iter().filter_map(|folder| folder.canonicalize().ok()).any(|folder| workspace.starts_with(folder))
}

impl ReviewArgs {
    /// Refuses to overwrite files that are read, and people's decisions, which are kept beside the references.
    fn check_written(&self) -> Result {
        let beside = [store_path(&self.references), preferences_path(&self.references)];
        let read = [Some(&self.references), self.tools.as_ref(), self.pairs.as_ref()];
        let kept = read.into_iter().flatten().chain(&beside).map(PathBuf::as_path);
        let mut kept: Vec<&Path> = kept.chain(self.label.as_ref().map(PredictionsArg::as_path)).collect();
        let labels = [self.labels.clone(), lock_path(&self.labels)];
        if self.label.is_some() {
            return refuse_equal(&kept, &labels.each_ref().map(PathBuf::as_path));
        }
        kept.extend(labels.iter().filter(|path| path.exists()).map(PathBuf::as_path));
        let Some(written) = self.out.as_ref().or(self.export.as_ref()) else { return Ok(()) };
        refuse_equal(&kept, &[written])?;
        // The file may hold decisions on other references.
        let name = written.to_string_lossy();
        let is_kept = [".reviews.jsonl", ".preferences.jsonl"].iter().any(|ending| name.ends_with(ending));
        if is_kept && written.exists() {
            return Err(Failure::input(format!(
                "`{name}` is what people have said of references\nhint: name another file"
            )));
        }
        Ok(())
    }

    /// The name of the person who decides.
    fn name(&self) -> String {
        let known = || ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
        let name = self.name.clone().or_else(known).filter(|name| !name.trim().is_empty());
        name.unwrap_or_else(|| "reviewer".to_owned())
    }

    fn pictures(&self) -> Result<Images> {
        let folders = input::image_folders(self.images.as_ref(), || image_folders(&self.references))?;
        let [whole, small] =
            [WHOLE, THUMBNAIL].map(|(side, quality)| Pictures::of_size(&folders, side, quality));
        let decoding = Mutex::new(());
        Ok(Arc::new(move |source, size| {
            // A large picture takes hundreds of megabytes while it is decoded: one at a time.
            let _decoding = decoding.lock().unwrap_or_else(PoisonError::into_inner);
            let pictures = if size == ImageSize::Thumbnail { &small } else { &whole };
            let made = match source {
                ImageSource::Made(workspace, path) if is_within(&workspace, &folders) => {
                    let (side, quality) = if size == ImageSize::Thumbnail { THUMBNAIL } else { WHOLE };
                    let made = Pictures::of_size(&[workspace], side, quality).file(&path);
                    made.or_else(|_| pictures.file(&path))
                }
                ImageSource::Made(_, path) | ImageSource::File(path) => pictures.file(&path),
                ImageSource::Sent(bytes) => pictures.sent(&bytes),
            };
            made.map_err(str::to_owned)
        }))
    }

    fn pairs(&self, originals: &Path, name: &str, printer: Printer) -> Result {
        let [file] = input::open_all([&self.references], self.duplicates, printer)?;
        let pairs = pairs::of(originals, (&self.references, all(&file)?), printer)?;
        let pairs = Pairs::open(pairs, &preferences_path(&self.references))?;
        if self.summary {
            return pairs::summarize(&pairs);
        }
        let source = self.references.display().to_string();
        self.serve(Mutex::new(PairsDesk::new(pairs, self.pictures()?, &source, name)), printer)
    }

    fn label(&self, predictions: &Path, references: Vec<Trajectory>, name: &str, printer: Printer) -> Result {
        let predicted = all(&input::open_predicted(predictions, printer)?)?;
        let candidates = sample::sample(&references, &predicted, self.sample, self.seed);
        if candidates.is_empty() {
            return Err(Failure::input(
                "no call of the predictions is of a tool that the reference of its task calls too\n\
                hint: the predictions come first: --label PRED REF",
            ));
        }
        let file = LabelFile::open(&self.labels).map_err(Failure::input)?;
        printer.note(&format!(
            "{} to label, in `{}`",
            counted(candidates.len(), "pair"),
            self.labels.display()
        ));
        let source = format!("{} and {}", predictions.display(), self.references.display());
        let desk = LabelDesk::new(candidates, references, file, self.pictures()?, (&source, name));
        self.serve(Mutex::new(desk), printer)
    }

    /// Serves a page until the user ends it.
    fn serve(&self, desk: impl Handler, printer: Printer) -> Result {
        let advice = "private address: whoever has it can decide in your name; Ctrl-C stops the server";
        serve_page(desk, (self.port, !self.no_open, advice), printer)
    }

    /// Copies the files of results, which are beside the references, if these are written into another folder.
    fn copy_files(&self, references: &mut [Trajectory], out: &Path, printer: Printer) -> Result {
        let folder = |path: &Path| folder_of(path).canonicalize().ok();
        if out == Path::new("-") || folder(out) == folder(&self.references) {
            return Ok(());
        }
        let (from, mut files) = (MediaFiles::beside(&self.references, Vec::new()), ResultFiles::beside(out));
        for reference in references {
            files.take(reference, Some((".", &from))).map_err(Failure::unavailable)?;
        }
        files.problem().iter().for_each(|problem| printer.warn(problem));
        Ok(())
    }

    /// Writes the accepted and edited references.
    fn write(&self, reviews: &Reviews, out: &Path, printer: Printer) -> Result {
        let mut references = reviewed(reviews, self.with_undecided);
        let mut output = Output::open(Some(out), &[&self.references], printer)?;
        self.copy_files(&mut references.references, out, printer)?;
        let texts = references.references.iter().map(|made| made.to_json().to_text(Keys::AsRead));
        output.write_list(texts.map(|text| Ok(json_without_hidden(&text).into_owned())))?;
        output.commit()?;
        for (id, state, note) in &references.left_out {
            let note = if note.is_empty() { String::new() } else { format!(": {}", shortened(note, 200)) };
            printer.event(&format!("left out `{}`, {}{note}", shortened(id, 100), state.name()));
        }
        printer.note(&format!(
            "{} written, {} left out",
            counted(references.references.len(), "reference"),
            references.left_out.len()
        ));
        Ok(())
    }
}

fn all(file: &TrajectoryFile) -> Result<Vec<Trajectory>> {
    (0..file.len()).map(|index| file.read(index).map_err(Failure::from)).collect()
}

/// The largest table that is read, in bytes: `--export` writes no larger one.
const MAX_TABLE: u64 = 256 << 20;

/// The most problems of a table that are printed one by one.
const SHOWN_PROBLEMS: usize = 50;

/// Makes all decisions of a table, but none of them if the table has a problem.
pub(super) fn import(
    table: &Path,
    reviews: &mut Reviews,
    rules: &Rules,
    name: &str,
    printer: Printer,
) -> Result {
    let shown = table.display();
    let unreadable = |cause: io::Error| Failure::input(format!("failed to read `{shown}`: {cause}"));
    let reader: Box<dyn io::Read> = match table {
        path if path == Path::new("-") => Box::new(io::stdin()),
        path => Box::new(File::open(path).map_err(unreadable)?),
    };
    let changes = match read_table(reviews, rules, reader.take(MAX_TABLE)) {
        Ok(changes) => changes,
        Err(wrong) => {
            for problem in wrong.iter().take(SHOWN_PROBLEMS) {
                Printer::error(&format!("{shown}: {problem}"));
            }
            let more = wrong.len().saturating_sub(SHOWN_PROBLEMS);
            let more = if more > 0 { format!("{more} more; ") } else { String::new() };
            return Err(Failure::input(format!(
                "{more}nothing was decided\nhint: mend the lines and import the file again"
            )));
        }
    };
    let count = changes.len();
    let late = changes.decide(reviews, name).map_err(|error| match error {
        DecideError::Store(error) => error.into(),
        error => Failure::input(error),
    })?;
    for problem in &late {
        Printer::error(&format!("{shown}: {problem}"));
    }
    printer.note(&format!("{} decided", counted(count - late.len(), "reference")));
    if late.is_empty() { Ok(()) } else { Err(Failure::silent(code::FAILED)) }
}
