//! The options of all commands that score, and the conditions that they open: how calls are compared and measured.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use m3_report::ResultPictures;
use m3_score::fidelity::Answers;
use m3_score::fidelity::model::Model;
use m3_score::{Flow, MatchOptions, Profile, Results, RoleRules, ScoreOptions, Similarity, Thresholds};
use m3_trajectory::CallForms;
use m3_trajectory::catalog::Catalog;

use crate::cli::common::failure::Failure;
use crate::cli::common::printer::Printer;
use crate::cli::common::scoring::fidelity_model::ModelArg;
use crate::cli::common::scoring::match_args::MatchArgs;

/// Options of all commands that score.
#[derive(Debug, Args)]
pub(crate) struct ConditionsArgs {
    /// How metrics are computed: by the paper's equations, or as its published program does
    #[arg(long, value_enum, default_value_t = Profile::Paper)]
    pub(crate) profile: Profile,
    /// How calls are compared when they are aligned
    #[arg(long, value_enum, default_value_t = Similarity::Cosine)]
    similarity: Similarity,
    /// Pairs of calls less similar than this are not matched [default: 0.6 cosine, 0.5 typed]
    #[arg(long, value_name = "S")]
    tau_weak: Option<f64>,
    /// Matched pairs at least this similar are strong matches [default: 0.8 cosine, 0.85 typed]
    #[arg(long, value_name = "S")]
    tau_strong: Option<f64>,
    /// Whether a prediction may name the files that it makes otherwise than the reference, and has to read what the matched
    /// call made; changes fidelity, and the verdict that follows from it
    #[arg(long, value_enum, default_value_t = Flow::On)]
    flow: Flow,
    /// Whether recorded results are evidence where both sides have them: the same telling result makes a call right, another
    /// one from the same inputs wrong; changes fidelity, artifact agreement and the verdict that follows from them
    #[arg(long, value_enum, default_value_t = Results::Auto)]
    results: Results,
    /// Catalog of tools: its schemas give kinds and defaults of arguments; optional arguments that are null or equal
    /// to the default are ignored (profile paper)
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// What calls do, where names and the catalog do not say: a JSON object of tools, `*` for any characters, and `looks`,
    /// `changes` or `ignored`; calls of ignored tools do not count at all
    #[arg(long, value_name = "FILE")]
    roles: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) matching: MatchArgs,
    #[command(flatten)]
    model: ModelArg,
}

/// The conditions of a score: how calls are compared and measured.
#[derive(Debug)]
pub(crate) struct Conditions {
    pub(crate) profile: Profile,
    pub(crate) forms: CallForms,
    similarity: Similarity,
    flow: Flow,
    results: Results,
    /// Opens pictures of results.
    pub(crate) pictures: ResultPictures,
    thresholds: Thresholds,
    pub(crate) catalog: Option<Arc<Catalog>>,
    pub(crate) roles: Option<Arc<RoleRules>>,
    pub(crate) model: Option<Arc<Model>>,
    pub(crate) answers: Answers,
    pub(crate) verdicts: Option<MatchOptions>,
}

impl ConditionsArgs {
    /// Reads the catalog and the model. Trajectories have no verdicts yet: [`Conditions::verdicts`] is set once it is known
    /// which tools are called.
    pub(crate) fn open(&self) -> Result<Conditions, Failure> {
        let similarity = self.similarity;
        let usual = similarity.thresholds();
        let thresholds = Thresholds::new(
            self.tau_weak.unwrap_or(usual.weak()),
            self.tau_strong.unwrap_or(usual.strong()),
        )?;
        Ok(Conditions {
            profile: self.profile,
            forms: self.forms(),
            similarity,
            flow: self.flow,
            results: self.results,
            pictures: ResultPictures::default(),
            thresholds,
            catalog: self.tools.as_deref().map(Catalog::open).transpose()?.map(Arc::new),
            roles: self.roles.as_deref().map(RoleRules::open).transpose()?.map(Arc::new),
            model: self.model.open_other()?,
            answers: Answers::default(),
            verdicts: None,
        })
    }

    /// The options of `--match`, for trajectories that are not known yet.
    pub(crate) fn verdicts(&self, printer: Printer) -> Option<MatchOptions> {
        self.matching.options(&|_| true, printer)
    }

    /// With the published program's profile, calls are read as that program reads them, so that the numbers agree.
    pub(crate) fn forms(&self) -> CallForms {
        match self.profile {
            Profile::Paper => CallForms::Understood,
            Profile::OpenM3Bench => CallForms::Literal,
        }
    }

    /// The catalog's file.
    pub(crate) fn tools(&self) -> Option<&Path> {
        self.tools.as_deref()
    }

    /// The file of roles.
    pub(crate) fn roles(&self) -> Option<&Path> {
        self.roles.as_deref()
    }
}

impl Conditions {
    /// The opener of pictures of results, if results are evidence.
    pub(crate) fn result_pictures(&self) -> Option<&ResultPictures> {
        (self.results == Results::Auto).then_some(&self.pictures)
    }

    /// The conditions as options of the scorer.
    pub(crate) fn options(&self, keeps_similarities: bool) -> ScoreOptions<'_> {
        ScoreOptions {
            profile: self.profile,
            thresholds: self.thresholds,
            similarity: self.similarity,
            flow: self.flow,
            results: self.results,
            pictures: Some(&self.pictures),
            catalog: self.catalog.as_deref(),
            roles: self.roles.as_deref(),
            model: self.model.as_ref(),
            answers: Some(&self.answers),
            verdicts: self.verdicts.as_ref(),
            keeps_similarities,
        }
    }
}
