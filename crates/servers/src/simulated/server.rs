//! One simulated server of a catalog: a [`Toolbox`] with nothing behind it but recordings and schemas.

use std::collections::HashMap;
use std::future;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use m3_mcp::arguments::ArgumentSchema;
use m3_mcp::{Answer, Answering, Tool, ToolResult, Toolbox};
use serde_json::{Map, Value};

use super::answer::{self, Output};
use super::canonical::{CallKey, Defaults};
use super::faults::{Fault, Faults};
use super::recordings::Recordings;
use super::refusal;
use crate::seed::Seed;
use crate::work::internal;

/// How simulated servers behave.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Behaviour {
    /// Equal seeds give equal answers and equal faults, on any machine.
    pub seed: u64,
    /// Calls that were not recorded fail instead of getting a result that is made up.
    pub is_strict: bool,
    /// Delays, failures, crashes and hangs.
    pub faults: Faults,
}

/// A simulated server. Its only state is how often it got each call, if this matters for the answer;
/// [`Toolbox::fresh`] gives another instance without this state.
#[derive(Debug)]
pub struct SimulatedServer {
    shared: Arc<SharedState>,
    seen: Mutex<HashMap<CallKey, CallCount>>,
}

/// The state that all instances of a server share.
#[derive(Debug)]
struct SharedState {
    name: String,
    tools: Vec<Tool>,
    /// The tools by name, with everything that their calls need.
    prepared: HashMap<String, PreparedTool>,
    recordings: Arc<Recordings>,
    behaviour: Behaviour,
    seed: Seed,
}

/// Everything that the calls of a tool need; schemas are compiled at the first call, so that a large catalog starts at
/// once.
#[derive(Debug)]
struct PreparedTool {
    index: usize,
    defaults: Defaults,
    /// `None` if the schema cannot be compiled: arguments are then not checked.
    input: OnceLock<Option<ArgumentSchema>>,
    output: OnceLock<Option<Output>>,
}

/// How often an instance got a call.
#[derive(Debug, Clone, Copy, Default)]
struct CallCount {
    /// The number of equal calls for which faults were drawn.
    calls: u64,
    /// The number of equal calls that took their turn in several recorded results.
    replays: usize,
}

/// The most distinct calls that are counted, in at most 50 MB; further calls always count as new.
const MAX_SEEN: usize = 500_000;

impl SimulatedServer {
    /// A server of this name with these tools.
    pub(super) fn new(
        name: String,
        tools: Vec<Tool>,
        recordings: Arc<Recordings>,
        behaviour: Behaviour,
    ) -> Self {
        let prepare = |(index, tool): (usize, &Tool)| {
            let defaults = Defaults::new(&tool.input_schema);
            let prepared = PreparedTool { index, defaults, input: OnceLock::new(), output: OnceLock::new() };
            (tool.name.clone(), prepared)
        };
        let prepared = tools.iter().enumerate().map(prepare).collect();
        let seed = Seed::new(behaviour.seed);
        let shared = SharedState { name, tools, prepared, recordings, behaviour, seed };
        Self { shared: Arc::new(shared), seen: Mutex::default() }
    }

    /// Whether answers depend on earlier calls: then each task needs a separate instance.
    #[must_use]
    pub fn has_memory(&self) -> bool {
        !self.shared.behaviour.faults.never() || self.shared.recordings.has_several()
    }

    /// Counts a replay if `is_replay`, otherwise a call, and returns the counts before it. Two simultaneous calls get
    /// different numbers.
    fn count(&self, call: &CallKey, is_replay: bool) -> CallCount {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= MAX_SEEN && !seen.contains_key(call) {
            return CallCount::default();
        }
        let entry = seen.entry(*call).or_default();
        let before = *entry;
        if is_replay {
            entry.replays += 1;
        } else {
            entry.calls += 1;
        }
        before
    }

    /// The delay of a call, and its fault, if any.
    fn fate(&self, call: &CallKey) -> (Duration, Option<Fault>) {
        let faults = &self.shared.behaviour.faults;
        if *faults == Faults::default() {
            return (Duration::ZERO, None);
        }
        faults.draw(&self.shared.seed, call, self.count(call, false).calls)
    }

    /// Which of several recorded results comes next.
    fn turn(&self, call: &CallKey) -> usize {
        let has_several = self.shared.recordings.results(call).len() > 1;
        if has_several { self.count(call, true).replays } else { 0 }
    }
}

impl SharedState {
    /// The answer to a call without a fault. Schemas and results may be large, so this may take long.
    fn answer(&self, tool: &str, call: &CallKey, turn: usize, arguments: Map<String, Value>) -> Answer {
        let Some(prepared) = self.prepared.get(tool) else { return Answer::UnknownTool };
        let tool = &self.tools[prepared.index];
        let output = prepared.output(tool);
        // Recordings come first: the real server accepted these arguments, whatever its schema says.
        let recorded = self.recordings.results(call);
        if let Some(last) = recorded.last() {
            return Answer::Result(answer::recorded(recorded.get(turn).unwrap_or(last), output));
        }
        let arguments = Value::Object(arguments);
        let problems =
            prepared.input(tool).and_then(|schema| schema.problems(&arguments).ok()).unwrap_or_default();
        if !problems.is_empty() {
            return Answer::Result(answer::refused(refusal::text(tool, &arguments, &problems)));
        }
        let Value::Object(arguments) = arguments else { return Answer::Result(ToolResult::default()) };
        if self.behaviour.is_strict {
            return Answer::Result(answer::not_recorded(&self.name, &tool.name, &arguments));
        }
        let seed = self.seed.child("result").child(call.bytes());
        Answer::Result(answer::made(&tool.name, &arguments, output, &seed))
    }
}

impl PreparedTool {
    fn input(&self, tool: &Tool) -> Option<&ArgumentSchema> {
        self.input.get_or_init(|| ArgumentSchema::new(&tool.input_schema).ok()).as_ref()
    }

    fn output(&self, tool: &Tool) -> Option<&Output> {
        let prepare = || {
            let schema = tool.output_schema.clone()?;
            let judge = ArgumentSchema::new(&schema).ok()?;
            Some(Output { schema, judge })
        };
        self.output.get_or_init(prepare).as_ref()
    }
}

impl Toolbox for SimulatedServer {
    fn name(&self) -> &str {
        &self.shared.name
    }

    fn tools(&self) -> &[Tool] {
        &self.shared.tools
    }

    fn call<'a>(&'a self, tool: &'a str, arguments: Map<String, Value>) -> Answering<'a> {
        let Some(prepared) = self.shared.prepared.get(tool) else {
            return Box::pin(future::ready(Answer::UnknownTool));
        };
        let call = CallKey::new(&self.shared.name, tool, &arguments, &prepared.defaults);
        // Drawn here and not when first polled, so that calls count in the order in which they arrive.
        let (delay, fault) = self.fate(&call);
        Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            match fault {
                Some(Fault::Hang) => future::pending().await,
                Some(Fault::Crash) => Answer::Crash,
                Some(Fault::Failure(form, text)) => {
                    let output = prepared.output(&self.shared.tools[prepared.index]);
                    Answer::Result(answer::failed(form, text, output))
                }
                None => {
                    let (shared, tool, turn) = (Arc::clone(&self.shared), tool.to_owned(), self.turn(&call));
                    let work = move || shared.answer(&tool, &call, turn, arguments);
                    let answer = tokio::task::spawn_blocking(work).await;
                    answer.unwrap_or_else(|_| internal("the simulation crashed; this is a bug"))
                }
            }
        })
    }

    fn fresh(&self) -> Option<Arc<dyn Toolbox>> {
        Some(Arc::new(Self { shared: Arc::clone(&self.shared), seen: Mutex::default() }))
    }
}
