//! Passes classified trajectories to the language model, if one decides where rules are not sure, and then to the
//! report.

use std::path::PathBuf;

use clap::Args;
use m3_llm::{Model, Retry};
use m3_outcomes::{AskSummary, ClassifiedCall, ClassifiedTrajectory, ReplayedTrajectory, ask, is_open};
use m3_trajectory::Trajectory;
use tokio::runtime::Runtime;

use crate::cli::common::{
    Failure, Printer, Result, Signals, check_record, interrupted, open_model, record, runtime, said_of_retry,
};
use crate::report::{OutcomesGatherer, OutcomesRenderer};

/// Receives classified trajectories.
pub(crate) struct Sink<'a> {
    pub(crate) gatherer: &'a mut OutcomesGatherer,
    pub(crate) renderer: &'a mut dyn OutcomesRenderer,
    pub(crate) asking: Option<Asking>,
}

impl Sink<'_> {
    /// Takes a trajectory that was replayed.
    pub(crate) fn replayed(&mut self, found: ReplayedTrajectory) -> Result {
        for (server, reason) in &found.unavailable {
            self.gatherer.add_unavailable(server, reason);
        }
        self.push(found.trajectory, found.calls)
    }

    /// Takes the next trajectory.
    pub(crate) fn push(&mut self, trajectory: Trajectory, calls: Vec<ClassifiedCall>) -> Result {
        let classified = ClassifiedTrajectory { trajectory, calls };
        match &mut self.asking {
            None => self.take(&classified),
            Some(asking) => asking.push(classified)?.iter().try_for_each(|classified| self.take(classified)),
        }
    }

    /// Lets the model decide the calls that are still open.
    pub(crate) fn decide_rest(&mut self, printer: Printer) -> Result {
        let Some(asking) = &mut self.asking else { return Ok(()) };
        let rest = asking.decide()?;
        asking.say(printer);
        rest.iter().try_for_each(|classified| self.take(classified))
    }

    fn take(&mut self, classified: &ClassifiedTrajectory) -> Result {
        let report = self.gatherer.add(&classified.trajectory, &classified.calls);
        self.renderer.trajectory(&report).map_err(Failure::from)
    }
}

/// The number of calls that are collected before the model is asked about them.
const GATHERED: usize = 64;

/// The most trajectories that wait for decisions.
const HELD: usize = 256;

/// Options for asking a language model about outcomes.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Have a language model decide the answers that no rule is sure of, such as openai:gpt-5 (docs/models.md)
    #[arg(long, value_name = "MODEL")]
    llm: Option<String>,
    /// Variable that holds the model's key [default: the provider's own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "VARIABLE", requires = "llm")]
    llm_key_from: Option<String>,
    /// Keep the questions to the model and its replies in a cassette; --llm replay:FILE plays it
    #[arg(long, value_name = "FILE", requires = "llm")]
    record: Option<PathBuf>,
}

/// A model, and the calls to ask it about.
pub(crate) struct Asking {
    model: Model,
    runtime: Runtime,
    signals: Signals,
    held: Vec<ClassifiedTrajectory>,
    open: usize,
    asked: AskSummary,
    printer: Printer,
}

impl AskArgs {
    /// Opens the model, if one is to be asked.
    pub(crate) fn open(&self, printer: Printer) -> Result<Option<Asking>> {
        let Some(llm) = &self.llm else { return Ok(None) };
        let (model, played) = open_model(llm, self.llm_key_from.as_deref(), (1, None), printer)?;
        check_record(self.record.as_ref(), played.as_deref())?;
        let (model, _) = record(model, self.record.as_ref())?;
        let runtime = runtime()?;
        let signals = Signals::listen(&runtime);
        let (held, open, asked) = (Vec::new(), 0, AskSummary::default());
        Ok(Some(Asking { model, runtime, signals, held, open, asked, printer }))
    }
}

impl Asking {
    /// Adds a trajectory; returns those whose calls are all decided, in order.
    pub(crate) fn push(&mut self, judged: ClassifiedTrajectory) -> Result<Vec<ClassifiedTrajectory>> {
        self.open += judged.calls.iter().filter(|call| is_open(call)).count();
        self.held.push(judged);
        if self.open < GATHERED && self.held.len() < HELD { Ok(Vec::new()) } else { self.decide() }
    }

    /// Lets the model decide about the waiting trajectories, and returns them.
    pub(crate) fn decide(&mut self) -> Result<Vec<ClassifiedTrajectory>> {
        let mut held = std::mem::take(&mut self.held);
        self.open = 0;
        let printer = self.printer;
        let on_retry = |retry: Retry| printer.note(&said_of_retry("the model", &retry));
        let asking = async {
            tokio::select! {
                () = self.signals.first.cancelled() => Err(interrupted()),
                asked = ask(&self.model, &mut held, &on_retry) => Ok(asked?),
            }
        };
        // A replay calls this on a thread of its own runtime, whose other threads go on.
        let asked = if tokio::runtime::Handle::try_current().is_ok() {
            tokio::task::block_in_place(|| self.runtime.block_on(asking))
        } else {
            self.runtime.block_on(asking)
        };
        let asked = self.signals.settle(asked)?;
        self.asked.decided += asked.decided;
        self.asked.unclear += asked.unclear;
        Ok(held)
    }

    /// Reports how many calls the model decided.
    pub(crate) fn say(&self, printer: Printer) {
        let AskSummary { decided, unclear } = self.asked;
        printer.note(&format!("{decided} answers were decided by {}", self.model.name()));
        if unclear > 0 {
            printer.warn(&format!(
                "{unclear} replies of {} do not begin with the name of one outcome; what the rules said stays",
                self.model.name()
            ));
        }
    }
}
