//! Runs of `LangSmith`: a tree of chains, models and tools for each trace, flat or nested, in any order of lines.

mod run;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicBool, Ordering};

use super::langchain::message::{add_all, of_metadata, outcome, reply};
use crate::formats::prelude::*;
use crate::groups::{Names, grouped};
use crate::label::Label;
use crate::occurrences::Occurrences;
use crate::overlap::Overlap;
use run::{Run, tool_result};

/// Runs, by their types and their places in a trace.
pub(super) const RUNS: Format = Format {
    name: "langsmith",
    title: "LangSmith: runs",
    recognizes: |head| head.any(|value| is_run(value) || value.list("runs").iter().any(is_run)),
    read,
};

/// The deepest nesting of agents that is read.
const DEPTH: usize = 32;

fn is_run(value: &Json) -> bool {
    let keys = ["dotted_order", "trace_id", "child_runs", "parent_run_id"];
    value.text("run_type").is_some() && keys.iter().any(|key| value.has(key))
}

fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    // Runs that all name their traces are read a trace at a time.
    let (mut names, is_named) = (Names::default(), AtomicBool::new(true));
    let key = |value: &Json| {
        let trace = value.text("trace_id").filter(|_| is_run(value));
        is_named.fetch_and(trace.is_some(), Ordering::Relaxed);
        trace.map(str::to_owned)
    };
    let mut is_any = false;
    let work =
        |values: &[Json]| if is_named.load(Ordering::Relaxed) { trajectories(values) } else { Vec::new() };
    grouped(
        input,
        sink,
        key,
        |trace| names.number(&trace),
        work,
        |sink, traces| {
            is_any |= !traces.is_empty();
            traces.into_iter().try_for_each(|trace| sink.trace(None, trace))
        },
    )?;
    if !is_named.into_inner() {
        let traces = trajectories(&input.all(&mut Quiet(sink))?);
        is_any = !traces.is_empty();
        traces.into_iter().try_for_each(|trace| sink.trace(None, trace))?;
    }
    if is_any {
        return Ok(());
    }
    Err(ReadError::refused("runs of LangSmith of which each is below another; export whole traces"))
}

/// A sink without warnings: those of the second pass would repeat those of the first.
struct Quiet<'s>(&'s mut dyn Sink);

impl Sink for Quiet<'_> {
    fn trace(&mut self, line: Option<u64>, trace: Trace) -> Result<(), ReadError> {
        self.0.trace(line, trace)
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {}

    fn progress(&mut self, done: u64, total: u64) -> Result<(), ReadError> {
        self.0.progress(done, total)
    }
}

/// The trajectories of runs.
fn trajectories(values: &[Json]) -> Vec<Trace> {
    let mut runs = Vec::new();
    for value in values {
        match value {
            Json::Array(items) => items.iter().for_each(|item| flatten(item, None, &mut runs)),
            other if is_run(other) => flatten(other, None, &mut runs),
            other => other.list("runs").iter().for_each(|item| flatten(item, None, &mut runs)),
        }
    }
    let tree = Tree::new(runs);
    let trace = |roots: &Vec<usize>| {
        let label = roots.iter().find_map(|root| Label::find(tree.runs.get(*root)?.value));
        Trace { label, ..tree.trajectory(roots).finish() }
    };
    tree.roots().iter().map(trace).collect()
}

/// Adds a run and the runs that are nested in it.
fn flatten<'j>(value: &'j Json, parent: Option<&'j str>, runs: &mut Vec<Run<'j>>) {
    if !value.has("run_type") {
        return;
    }
    let run = Run::new(value, parent);
    let id = run.id;
    runs.push(run);
    value.list("child_runs").iter().for_each(|child| flatten(child, id, runs));
}

/// The runs of a file, with their parents and children.
#[derive(Debug)]
struct Tree<'j> {
    runs: Vec<Run<'j>>,
    children: HashMap<usize, Vec<usize>>,
    parents: HashMap<usize, usize>,
}

impl<'j> Tree<'j> {
    /// Sorts the runs by time, and joins them to their parents. A run that comes twice counts once.
    fn new(mut runs: Vec<Run<'j>>) -> Self {
        runs.sort_by(Run::order);
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut kept: Vec<Run<'j>> = Vec::new();
        for run in runs {
            match run.id.and_then(|id| numbers.get(id)).and_then(|number| kept.get_mut(*number)) {
                // The later record of a run is the one that was written at its end.
                Some(old) if old.value.has("outputs") || !run.value.has("outputs") => {}
                Some(old) => *old = run,
                None => {
                    numbers.extend(run.id.map(|id| (id, kept.len())));
                    kept.push(run);
                }
            }
        }
        let mut it = Self { runs: kept, children: HashMap::new(), parents: HashMap::new() };
        for (number, run) in it.runs.iter().enumerate() {
            let parent = run.parent.and_then(|parent| numbers.get(parent)).copied();
            if let Some(parent) = parent.filter(|parent| *parent != number) {
                it.parents.insert(number, parent);
                it.children.entry(parent).or_default().push(number);
            }
        }
        it
    }

    /// The first run of each trajectory: the runs of a trace whose parents are not in the file are one.
    fn roots(&self) -> Vec<Vec<usize>> {
        let mut all: Vec<Vec<usize>> = Vec::new();
        let mut traces = HashMap::new();
        for (number, run) in
            self.runs.iter().enumerate().filter(|(number, _)| !self.parents.contains_key(number))
        {
            let known = run.trace.and_then(|trace| traces.get(trace));
            if let Some(roots) = known.and_then(|place: &usize| all.get_mut(*place)) {
                roots.push(number);
            } else {
                traces.extend(run.trace.map(|trace| (trace, all.len())));
                all.push(vec![number]);
            }
        }
        all
    }

    /// These runs and the runs below them, in order of time, without those below tools.
    fn scope(&self, roots: &[usize]) -> Vec<usize> {
        let (mut all, mut open) = (Vec::new(), roots.to_vec());
        while let Some(number) = open.pop() {
            all.push(number);
            if !self.runs[number].is("tool") {
                open.extend(self.children.get(&number).into_iter().flatten());
            }
        }
        // Runs are in order of time.
        all.sort_unstable();
        all
    }

    /// The trajectory of a trace.
    fn trajectory(&self, roots: &[usize]) -> Conversation {
        let mut it = Conversation::default();
        let first = roots.first().map(|root| &self.runs[*root]);
        let scope = self.scope(roots);
        self.fill(&mut it, roots, &scope, 0);
        for run in scope.iter().map(|number| &self.runs[*number]) {
            it.at(run.start);
            it.at(run.end);
        }
        if let Some(first) = first {
            it.id = first.trace.or(first.id).map(str::to_owned);
            for key in ["name", "session_id", "reference_example_id"] {
                it.origin.extend(first.value.text(key).map(|text| (key, text.to_owned())));
            }
            if first.value.has("error") {
                it.note("the run ended with an error");
            }
        }
        it
    }

    /// Adds the messages of a trajectory: those in the output of a run, which are complete; else the replies of models
    /// and the runs of tools.
    fn fill(&self, it: &mut Conversation, roots: &[usize], scope: &[usize], depth: usize) {
        let runs = || scope.iter().map(|number| &self.runs[*number]);
        let whole = match roots {
            [root] => self.runs[*root].messages(),
            _ => None,
        };
        // The output of a chain may be its last message alone.
        let whole = whole.filter(|messages| {
            messages.iter().any(run::has_calls)
                || !runs().any(|run| run.is("tool"))
                || !runs().any(|run| run.is("llm"))
        });
        match whole {
            Some(messages) => add_all(it, messages.iter()),
            None if runs().any(|run| run.is("llm")) => replies(it, &runs().collect::<Vec<_>>()),
            None => tools_alone(it, runs().filter(|run| run.is("tool"))),
        }
        if !it.has_question() {
            roots
                .iter()
                .filter_map(|root| self.runs[*root].question())
                .take(1)
                .for_each(|question| it.user(question));
        }
        complete(it, runs().filter(|run| run.is("tool")));
        for number in scope.iter().filter(|number| self.runs[**number].is("tool")) {
            self.nest(it, *number, depth);
        }
    }

    /// Adds the agents that a tool has run, if they have calls: each child with messages is one, the others together.
    fn nest(&self, it: &mut Conversation, tool: usize, depth: usize) {
        let Some(children) = self.children.get(&tool) else { return };
        if depth == DEPTH {
            it.note("agents of agents deeper than 32 are left out");
            return;
        }
        let (agents, others): (Vec<usize>, Vec<usize>) =
            children.iter().partition(|child| self.runs[**child].messages().is_some());
        for roots in agents.iter().map(std::slice::from_ref).chain([&others[..]]) {
            let mut inner = Conversation::default();
            self.fill(&mut inner, roots, &self.scope(roots), depth + 1);
            if inner.calls_mut().next().is_some() || !inner.nested.is_empty() {
                let named = roots.iter().map(|child| &self.runs[*child]).find(|run| run.is("chain"));
                let name = named.unwrap_or(&self.runs[tool]).name;
                it.nested.push((name.to_owned(), inner));
            }
        }
    }
}

/// Adds replies of models, with the results that runs of tools or later requests have.
fn replies(it: &mut Conversation, runs: &[&Run<'_>]) {
    let (mut waiting, mut calls, mut seen) = (HashSet::new(), Occurrences::default(), HashMap::new());
    if let Some(first) = runs.iter().find(|run| run.is("llm")) {
        add_all(it, first.request().into_iter().filter(|message| run::is_human(message)));
    }
    for run in runs {
        if run.is("llm") {
            // The result that a model saw counts more than the output of a tool's run without an id.
            for (id, data) in run.request().into_iter().filter_map(run::tool_message) {
                if waiting.remove(&id) {
                    seen.insert((id.clone(), calls.count(&id)), outcome(None, data));
                }
            }
            for id in model_reply(it, run) {
                calls.next(&id);
                waiting.insert(id);
            }
        } else if run.is("tool") {
            let outcome = tool_result(run);
            if outcome.id.as_ref().is_none_or(|id| waiting.remove(id)) {
                it.result(outcome);
            }
        }
    }
    let mut calls = Occurrences::default();
    for call in it.calls_mut() {
        let result = call.id.clone().and_then(|id| seen.remove(&(id.clone(), calls.next(&id))));
        if let Some(outcome) = result {
            call.result = outcome.result;
            call.is_error |= outcome.is_error;
        }
    }
}

/// Adds a reply of a model, and returns the ids of its calls.
fn model_reply(it: &mut Conversation, run: &Run<'_>) -> Vec<String> {
    let Some(message) = run.reply() else {
        it.note("a request to a model without a reply");
        return Vec::new();
    };
    let before = it.usage;
    match run::ai(message) {
        Some(data) => reply(it, data, run.id),
        None => super::chat::reply_message(it, message, run.id),
    }
    if it.usage == before {
        it.usage.add(run_usage(run.value));
    }
    it.model = run.model(message).or(it.model.take());
    run::call_ids(message).collect()
}

/// Tokens of a run of a model.
fn run_usage(run: &Json) -> Usage {
    let outputs = run.member("outputs");
    if let Some(usage) = outputs.and_then(|outputs| outputs.member("usage_metadata")) {
        return of_metadata(usage);
    }
    if let Some(usage) = outputs.and_then(|outputs| outputs.member("usage")) {
        let is_anthropic = usage.has("cache_read_input_tokens");
        return if is_anthropic { Usage::of_anthropic(usage) } else { Usage::of_openai(usage) };
    }
    Usage { input: run.count("prompt_tokens"), output: run.count("completion_tokens"), ..Usage::default() }
}

/// Adds runs of tools without replies of models: runs that overlap are a step.
fn tools_alone<'r>(it: &mut Conversation, tools: impl Iterator<Item = &'r Run<'r>>) {
    let mut steps = Overlap::default();
    let moment = |time: Option<f64>| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "times are positive and in range"
        )]
        time.map_or(0, |time| (time.clamp(0.0, 9e12) * 1e6) as u64)
    };
    for run in tools {
        let outcome = tool_result(run);
        let call = TracedCall {
            result: outcome.result,
            is_error: outcome.is_error,
            seconds: run.seconds(),
            ..TracedCall::new(outcome.id, tool(None, run.name), run.arguments())
        };
        let number = steps.begin(call, moment(run.start));
        steps.end(number, moment(run.end));
    }
    if !steps.is_empty() {
        it.note("there are no replies of models; which calls were made together is told by time");
    }
    steps.steps(it);
}

/// Adds times of calls, and results that messages do not have.
fn complete<'r>(it: &mut Conversation, tools: impl Iterator<Item = &'r Run<'r>>) {
    let mut by_id: HashMap<String, Vec<(Outcome, Option<f64>)>> = HashMap::new();
    for run in tools {
        let outcome = tool_result(run);
        if let Some(id) = outcome.id.clone() {
            by_id.entry(id).or_default().push((outcome, run.seconds()));
        }
    }
    // Ids can come again: the first run is of the first call.
    for runs in by_id.values_mut() {
        runs.reverse();
    }
    for call in it.calls_mut() {
        let run = call.id.as_ref().and_then(|id| by_id.get_mut(id)).and_then(Vec::pop);
        let Some((outcome, seconds)) = run else { continue };
        call.seconds = seconds.or(call.seconds);
        if call.result.is_none() {
            call.result = outcome.result;
            call.is_error |= outcome.is_error;
        }
    }
}
