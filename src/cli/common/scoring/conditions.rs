//! The options of all commands that score, and the conditions that they open: how calls are compared and measured.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use m3_report::ResultPictures;
use m3_score::fidelity::Answers;
use m3_score::fidelity::model::Model;
use m3_score::{
    ArgumentMode, ArgumentRule, Flow, MatchMode, MatchOptions, Profile, Results, RoleRules, ScoreOptions,
    Similarity, Thresholds,
};
use m3_suites::Shape;
use m3_support::names::nearest;
use m3_support::text::shortened;
use m3_trajectory::catalog::Catalog;
use m3_trajectory::{CallForms, TrajectoryFile};

use crate::cli::common::failure::{Failure, Result};
use crate::cli::common::printer::Printer;

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
    pub(super) tools: Option<PathBuf>,
    /// What calls do, where names and the catalog do not say: a JSON object of tools, `*` for any characters, and `looks`,
    /// `changes` or `ignored`; calls of ignored tools do not count at all
    #[arg(long, value_name = "FILE")]
    pub(super) roles: Option<PathBuf>,
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
    pub(crate) fn open(&self) -> Result<Conditions> {
        let similarity = self.similarity;
        let usual = similarity.thresholds();
        let thresholds =
            Thresholds::new(self.tau_weak.unwrap_or(usual.weak()), self.tau_strong.unwrap_or(usual.strong()))
                .map_err(Failure::input)?;
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

/// The option that names the fidelity model.
#[derive(Debug, Args)]
pub(crate) struct ModelArg {
    /// Compare arguments by the model in this folder, as `m3 fidelity --train` makes it [default: the built-in one]
    #[arg(long = "fidelity-model", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// The name of the model's file in its folder.
pub(crate) const MODEL_FILE: &str = "model.json";

/// The largest model that is read, in bytes.
const LARGEST_MODEL: u64 = 1 << 26;

impl ModelArg {
    /// Reads the model, or takes the built-in one.
    pub(crate) fn open(&self) -> Result<Arc<Model>> {
        Ok(self.open_other()?.unwrap_or_else(Model::built_in))
    }

    /// Reads the model, if another than the built-in one is asked for.
    pub(crate) fn open_other(&self) -> Result<Option<Arc<Model>>> {
        let Some(folder) = &self.folder else { return Ok(None) };
        let path = if folder.is_dir() { folder.join(MODEL_FILE) } else { folder.clone() };
        let name = shortened(&path.display().to_string(), 300);
        let failure = |why: String| {
            Failure::input(format!(
                "the model `{name}` cannot be used: {why}\nhint: `m3 fidelity --train pairs.json --model-out DIR` makes one"
            ))
        };
        let file = std::fs::File::open(&path).map_err(|error| {
            let is_empty = folder.is_dir() && error.kind() == std::io::ErrorKind::NotFound;
            failure(if is_empty { format!("the folder has no `{MODEL_FILE}`") } else { error.to_string() })
        })?;
        let mut bytes = Vec::new();
        file.take(LARGEST_MODEL).read_to_end(&mut bytes).map_err(|error| failure(error.to_string()))?;
        Model::read(&bytes).map(|model| Some(Arc::new(model))).map_err(|error| failure(error.to_string()))
    }
}

/// The options of `--match`.
#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    /// Say for each trajectory whether it passes when compared with its reference, as agentevals does; changes no other
    /// number (docs/metrics.md)
    #[arg(id = "match", long = "match", value_name = "MODE", value_enum)]
    mode: Option<MatchMode>,
    /// Which arguments calls must share to be the same [default: exact]
    #[arg(id = "match_args", long = "match-args", value_name = "MODE", value_enum, requires = "match")]
    arguments: Option<ArgumentMode>,
    /// Another mode for the calls of a tool, or the arguments that count, such as image/crop=ignore or
    /// map/find=place.city,limit; repeatable
    #[arg(
        id = "match_tool",
        long = "match-tool",
        value_name = "TOOL=MODE|KEYS",
        requires = "match",
        value_parser = parse_tool
    )]
    tools: Vec<(String, ArgumentRule)>,
}

/// Reads `TOOL=MODE` or `TOOL=KEY,KEY`. `TOOL=exact,` is the key `exact`.
fn parse_tool(text: &str) -> Result<(String, ArgumentRule), String> {
    let (tool, rule) =
        text.split_once('=').ok_or("it should be TOOL=MODE or TOOL=KEYS, such as image/crop=ignore")?;
    if let Some(mode) = ArgumentMode::from_name(rule) {
        return Ok((tool.to_owned(), ArgumentRule::Mode(mode)));
    }
    let keys: Vec<String> = rule.split(',').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    if keys.is_empty() {
        return Err("no mode and no key follows the `=`".to_owned());
    }
    if !rule.contains(',')
        && let Some(mode) = mistyped(rule)
    {
        return Err(format!(
            "`{rule}` is no mode; `{mode}` is, and `{rule},` with a comma is an argument of this name"
        ));
    }
    Ok((tool.to_owned(), ArgumentRule::Keys(keys)))
}

/// The least likeness of a word and a mode, in [0, 1], with which the word counts as mistyped: `exat` has 0.95.
const LIKE_A_MODE: f64 = 0.93;

/// The mode that this word looks like.
fn mistyped(word: &str) -> Option<&'static str> {
    let modes = ArgumentMode::ALL.map(ArgumentMode::name);
    nearest(word, modes).first().filter(|(likeness, _)| *likeness >= LIKE_A_MODE).map(|(_, mode)| *mode)
}

impl MatchArgs {
    /// The options of matching, if `--match` is used; warns of a tool that is not called. If a tool is named twice, the
    /// last counts.
    pub(crate) fn options(&self, is_called: &dyn Fn(&str) -> bool, printer: Printer) -> Option<MatchOptions> {
        let tools: BTreeMap<String, ArgumentRule> = self.tools.iter().cloned().collect();
        if let Some(tool) = tools.keys().find(|tool| !is_called(tool)) {
            printer.warn(&format!("`--match-tool`: neither side calls `{}`", shortened(tool, 60)));
        }
        let arguments = self.arguments.unwrap_or(ArgumentMode::Exact);
        Some(MatchOptions { mode: self.mode?, arguments, tools })
    }
}

/// The property that tasks are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ByArg {
    /// The type that the references name
    Type,
    /// How hard a task is by the shape of its reference: single, two calls in parallel, two in series, more
    Class,
}

impl ByArg {
    /// For classes, replaces the type of each reference by the class of its shape.
    pub(crate) fn apply_to(self, references: &mut TrajectoryFile) {
        if self == Self::Class {
            references.set_types(|reference| Some(Shape::from_reference(reference).name().to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mode_with_a_slip_is_no_argument() {
        for slip in ["exat", "Exact", "ignroe", "ignored", "sub_set", "supserset"] {
            assert!(mistyped(slip).is_some(), "{slip}");
        }
        for argument in
            ["extra", "exchange", "image", "signature", "sub", "set", "super", "subject", "supplier"]
        {
            assert_eq!(mistyped(argument), None, "{argument}");
        }
        assert!(parse_tool("a=exat").is_err());
        assert_eq!(parse_tool("a=exat,"), Ok(("a".to_owned(), ArgumentRule::Keys(vec!["exat".to_owned()]))));
    }
}
