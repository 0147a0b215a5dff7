//! The command `m3 audit`: where the score of each trajectory comes from.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use m3_images::task_image::image_folders;
use m3_report::audit::{
    AUDIT_SCHEMA, AuditReport, AuditTerminal, Gathering, MetricIntervals, Overview, TrajectoryAudit, costs,
};
use m3_report::{ScoreSummary, TrajectoryReport, shortened};
use m3_score::{Metric, Profile, Summary, WeightedSums};
use m3_stats::{Draws, LEVEL, bootstrap};
use m3_support::names::list_of_nearest;
use m3_support::text::counted;
use m3_trajectory::Trajectory;
use m3_view::AuditPage;

use super::Common;
use crate::cli::common::{
    Failure, Output, PointsAt, Printer, Result, Scoring, ScoringArgs, WidthArgs, check_aligned, form, input,
    place_of, write_json,
};
use crate::cli::score::options::ScoreFormArg;

/// Options of `m3 audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AuditArgs {
    #[command(flatten)]
    scoring: ScoringArgs,
    /// Show this trajectory; repeatable
    #[arg(long, value_name = "ID")]
    id: Vec<String>,
    /// Show the N trajectories that cost the set's average most [default: 3, without --id and --html]
    #[arg(long, value_name = "N")]
    worst: Option<usize>,
    /// Write a page that shows all trajectories, or those of --id and --worst
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Folder of the references' images [default: that of the file REFERENCES, then the folder above it, unless
    /// that is the root, your home or the temporary folder]
    #[arg(long, value_name = "DIR", requires = "html")]
    images: Option<PathBuf>,
    /// Form of what is printed [default: by the file extension of --out, else table; nothing with --html]
    #[arg(long, value_enum)]
    format: Option<FormatArg>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    width: WidthArgs,
}

const EXAMPLES: &str = "\
Examples:
  m3 audit predictions.json references.json
  m3 audit predictions.json references.json --id 00050000
  m3 audit predictions.json references.json --worst 10 | less
  m3 audit predictions.json references.json --llm openai:gpt-5
  m3 audit predictions.json references.json --html audit.html
  m3 audit predictions.json references.json --html audit.html \\
      --images benchmark/
  m3 audit predictions.json references.json --worst 20 \\
      --format json --out audit.json
  m3 audit predictions.json references.json --id 00050000 --out m3.sarif";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FormatArg {
    /// For people
    Table,
    /// m3.audit/1
    Json,
    /// JUnit's XML: a test case for each trajectory that is shown
    Junit,
    /// SARIF 2.1.0: every fault of these trajectories with its place
    Sarif,
}

/// The number of trajectories that are shown by default.
const WORST: usize = 3;

/// The most trajectories in a page, unless --worst asks for more.
const MOST_IN_PAGE: usize = 2_000;

/// The most columns of an id in a message.
const SHOWN_ID: usize = 100;

/// The part of each trajectory that is kept until some are chosen.
struct TrajectoryCost {
    id: String,
    sums: WeightedSums,
    cost: f64,
}

/// The findings about the whole set.
struct Findings {
    overview: Overview,
    summary: ScoreSummary,
    intervals: MetricIntervals,
}

/// Shows where the numbers of two files come from.
pub(super) fn run(args: &AuditArgs, common: &Common, printer: Printer) -> Result {
    args.check_targets()?;
    args.scoring.ask.check()?;
    let format = form(args.format, args.out.as_deref())?;
    let images = input::image_folders(args.images.as_ref(), || image_folders(&args.scoring.references))?;
    let inputs = args.scoring.inputs();
    let kept: Vec<&Path> = inputs.iter().copied().chain(args.scoring.ask.cassettes()).collect();
    let page = args.html.as_deref().map(|path| Output::open(Some(path), &kept, printer)).transpose()?;
    let output = args.prints().then(|| Output::open(args.out.as_deref(), &kept, printer)).transpose()?;
    let asking = args.scoring.ask.open(&inputs, printer)?;
    let mut scoring = args.scoring.open(&[], common, printer)?;
    check_ids(&args.id, &scoring)?;
    args.scoring.predictions.say_further(printer);
    let asked = asking.map(|asking| scoring.ask(&asking)).transpose()?;
    let (trajectories, mut findings, set) = score(&mut scoring)?;
    if page.is_some() {
        findings.intervals = intervals(&trajectories, scoring.profile)?;
    }
    let chosen = args.choose(trajectories, printer)?;
    let mut page = page.map(|output| AuditPage::new(&images, chosen.len(), output)).transpose()?;
    let mut printed_to = output
        .map(|output| AuditOutput::new(output, (format, &args.width), &findings.summary))
        .transpose()?;
    let indices: Vec<usize> = chosen.iter().filter_map(|found| scoring.references.find(&found.id)).collect();
    let mut costs = chosen.iter().map(|found| found.cost);
    let places = scoring.places(if format == FormatArg::Sarif { PointsAt::Lines } else { PointsAt::Nothing });
    let place = |found: &TrajectoryCost| places.find(&found.id, scoring.files(1), 1);
    let mut places = chosen.iter().map(place).collect::<Result<Vec<_>, _>>()?.into_iter();
    let profile = scoring.profile;
    scoring.run_chosen(&indices, printed_to.is_none(), &mut |scored, pictures| {
        let cost = costs.next().unwrap_or_default();
        let (reference, prediction) = (scored.reference()?, scored.prediction()?);
        let nothing = || Cow::Owned(Trajectory { id: reference.id.clone(), ..Trajectory::default() });
        let prediction = prediction.unwrap_or_else(nothing);
        let both = (&*reference, &*prediction);
        let mut audit = TrajectoryAudit::new(scored.score, both.0, both.1, (profile, cost), pictures);
        audit.score.places = places.next().unwrap_or_default();
        if let Some(page) = &mut page {
            page.add(&audit, both, pictures)?;
        }
        printed_to.as_mut().map_or(Ok(()), |target| target.add(audit))
    })?;
    if let Some(page) = page {
        let trajectories = counted(page.len(), "trajectory");
        let output = page.finish(&findings.summary, &findings.overview, &findings.intervals);
        output?.commit()?;
        let path = args.html.as_deref().unwrap_or(Path::new("-"));
        printer.note(&format!("{trajectories} in `{}`", path.display()));
    }
    printed_to.map_or(Ok(()), |target| target.finish(findings))?;
    let are_aligned = check_aligned(&set);
    let are_asked = asked.map_or(Ok(()), |asked| asked.end(printer));
    are_aligned.and(are_asked)
}

/// Scores the set, and sorts its trajectories by cost.
fn score(scoring: &mut Scoring) -> Result<(Vec<TrajectoryCost>, Findings, Summary)> {
    let profile = scoring.profile;
    let (mut ids, mut sums) = (Vec::new(), Vec::new());
    let mut gathering = Gathering::default();
    // Similarities are not kept, because those of a whole set may not fit into memory.
    let (set, summary) = scoring.run(false, &mut |scored| {
        ids.push(scored.score.id.clone());
        sums.push(scored.score.sums.weighted());
        gathering.add(&TrajectoryReport::new(scored.score, profile));
        Ok(())
    })?;
    let costs = costs(&sums, profile);
    let scored = ids.into_iter().zip(sums).zip(costs);
    let mut trajectories: Vec<TrajectoryCost> =
        scored.map(|((id, sums), cost)| TrajectoryCost { id, sums, cost }).collect();
    // The sort is stable: trajectories of equal cost stay in the order of the references.
    trajectories.sort_by(|a, b| b.cost.total_cmp(&a.cost));
    let findings =
        Findings { overview: gathering.finish(&set.by_tool), summary, intervals: MetricIntervals::default() };
    Ok((trajectories, findings, set))
}

/// Intervals of the metrics of the set, by resampling its trajectories.
fn intervals(trajectories: &[TrajectoryCost], profile: Profile) -> Result<MetricIntervals> {
    let mut sums: Vec<(&str, WeightedSums)> =
        trajectories.iter().map(|found| (found.id.as_str(), found.sums)).collect();
    // Sorted by id, as in leaderboards: the same draws give the same intervals.
    sums.sort_by_key(|(id, _)| *id);
    let sums: Vec<WeightedSums> = sums.into_iter().map(|(_, sums)| sums).collect();
    let statistic = |sums: &WeightedSums| {
        let metrics = sums.metrics(profile);
        Metric::ALL.map(|metric| metrics[metric])
    };
    let resamples = bootstrap(&[sums], statistic, &Draws::default()).map_err(Failure::input)?;
    let interval = |metric: Metric| {
        let interval = resamples.estimate(0, metric.index(), LEVEL).interval?;
        Some((metric, (interval.low, interval.high)))
    };
    Ok(Metric::of_scores().filter_map(interval).collect())
}

/// Fails for ids that are not among the references; suggests similar ones.
fn check_ids(ids: &[String], scoring: &Scoring) -> Result {
    let Some(id) = ids.iter().find(|id| scoring.references.find(id).is_none()) else { return Ok(()) };
    let ids = (0..scoring.references.len()).map(|index| Ok(scoring.references.look_at(index)?.id.clone()));
    let known = ids.collect::<Result<Vec<String>>>()?;
    let nearest = list_of_nearest(id, known.iter().map(String::as_str), SHOWN_ID);
    Err(Failure::input(format!(
        "no reference has the id `{}`\nhint: the nearest are {nearest}",
        shortened(id, SHOWN_ID)
    )))
}

/// The output besides the page.
enum AuditOutput {
    Table(AuditTerminal<Output>),
    Json(Output, Vec<TrajectoryAudit>),
    /// JUnit or SARIF, which list the faults of trajectories.
    Faults(Output, ScoreFormArg, Vec<TrajectoryReport>),
}

impl AuditOutput {
    fn new(output: Output, (format, width): (FormatArg, &WidthArgs), summary: &ScoreSummary) -> Result<Self> {
        let (columns, is_styled) = (width.columns(&output), output.is_styled());
        match format {
            FormatArg::Table => {
                let mut terminal = AuditTerminal::new(output, columns, is_styled);
                terminal.begin(summary)?;
                Ok(Self::Table(terminal))
            }
            FormatArg::Json => Ok(Self::Json(output, Vec::new())),
            FormatArg::Junit => Ok(Self::Faults(output, ScoreFormArg::Junit, Vec::new())),
            FormatArg::Sarif => Ok(Self::Faults(output, ScoreFormArg::Sarif, Vec::new())),
        }
    }

    fn add(&mut self, audit: TrajectoryAudit) -> Result {
        match self {
            Self::Table(terminal) => terminal.write(&audit)?,
            Self::Json(_, audits) => audits.push(audit),
            Self::Faults(_, _, reports) => reports.push(audit.score),
        }
        Ok(())
    }

    fn finish(self, findings: Findings) -> Result {
        match self {
            Self::Table(terminal) => terminal.into_writer().commit(),
            Self::Json(mut output, trajectories) => {
                let Findings { overview, summary: score, .. } = findings;
                let report = AuditReport { schema: AUDIT_SCHEMA.to_owned(), score, overview, trajectories };
                write_json(&report, &mut output)?;
                output.commit()
            }
            Self::Faults(mut output, form, reports) => {
                let write = |output: &mut Output| {
                    let mut renderer = form.renderer(Box::new(output), (0, false), Vec::new())?;
                    reports.iter().try_for_each(|report| renderer.trajectory(report))?;
                    renderer.finish(&findings.summary)
                };
                write(&mut output)?;
                output.commit()
            }
        }
    }
}

impl AuditArgs {
    /// Whether there is output besides the page.
    fn prints(&self) -> bool {
        self.html.is_none() || self.format.is_some() || self.out.is_some()
    }

    /// Chooses the trajectories to show from all that were scored.
    fn choose(&self, trajectories: Vec<TrajectoryCost>, printer: Printer) -> Result<Vec<TrajectoryCost>> {
        let of_references = |id: &&String| !trajectories.iter().any(|found| found.id == **id);
        if let Some(id) = self.id.iter().find(of_references) {
            let id = shortened(id, SHOWN_ID);
            return Err(Failure::input(format!(
                "`{id}` has no prediction, or one that failed, and this profile leaves such references out"
            )));
        }
        let all = trajectories.len();
        let worst = match (self.worst, &self.html) {
            (Some(worst), _) => worst,
            (None, _) if !self.id.is_empty() => 0,
            (None, Some(_)) => MOST_IN_PAGE,
            (None, None) => WORST,
        };
        if self.worst.is_none() && self.id.is_empty() && self.html.is_some() && all > worst {
            printer.warn(&format!(
                "the page shows the {worst} of {all} trajectories that cost most; --worst {all} shows all"
            ));
        }
        let numbered = trajectories.into_iter().enumerate();
        let chosen = numbered.filter(|(rank, found)| *rank < worst || self.id.contains(&found.id));
        Ok(chosen.map(|(_, found)| found).collect())
    }

    /// Fails if the page and the other output would go to the same file: one would overwrite the other.
    fn check_targets(&self) -> Result {
        let standard = || PathBuf::from("-");
        let Some(page) = self.html.as_ref().filter(|_| self.prints()) else { return self.check_ending() };
        let printed = self.out.clone().unwrap_or_else(standard);
        if place_of(page) != place_of(&printed) {
            return self.check_ending();
        }
        let target =
            if *page == standard() { "standard output".to_owned() } else { format!("`{}`", page.display()) };
        Err(Failure::input(format!(
            "--html and --out would both write to {target}\nhint: name two different files"
        )))
    }

    /// Fails for an `--out` with the ending of a page.
    fn check_ending(&self) -> Result {
        let ending = self.out.as_deref().and_then(Path::extension);
        let ending = ending.map(|ending| ending.to_string_lossy().to_lowercase());
        if self.format.is_none() && ending.is_some_and(|ending| ending == "html" || ending == "htm") {
            return Err(Failure::input("--out takes what is printed\nhint: `--html FILE` writes the page"));
        }
        Ok(())
    }
}
