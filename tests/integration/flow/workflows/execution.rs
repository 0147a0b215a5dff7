//! Runs plans against the servers: one call after the other, each with arguments made of what the calls before it
//! made and answered.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use m3_images::task_image::{self, Copies};
use m3_mcp::{ToolName, ToolResult};
use m3_outcomes::CallResult;
use m3_support::redact::Redactor;
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::files::{Files, files_in, path_in_workspace};
use super::plan::{Argument, Call, Plan, Spelling};
use super::remains::{Graph, LookedUp, Remains};
use super::servers::Servers;

/// What every path of the workspace begins with in records, in place of the folder that it was.
const WORKSPACE: &str = "/workspace";

/// A plan that was run.
#[derive(Debug)]
pub(crate) struct Run {
    /// The steps in the form of trajectories, with the result of each call.
    pub(crate) steps: Value,
    /// What it leaves behind.
    pub(crate) remains: Remains,
}

/// How plans are run.
#[derive(Debug, Clone)]
pub(crate) struct Execution {
    /// Plans that are run at once, each on servers of its own.
    pub(crate) workers: usize,
    /// The program that serves our servers.
    pub(crate) m3: PathBuf,
    /// The folder of the tasks' images.
    pub(crate) images: PathBuf,
    /// Whether edits are compared with what they are of.
    pub(crate) watches: bool,
}

/// The servers of all workers.
pub(crate) struct Workers(Vec<Servers>);

impl Workers {
    /// Starts the servers of each worker.
    ///
    /// # Errors
    /// Which server is not ready, and why.
    pub(crate) async fn start(options: &Execution, has_others: bool) -> Result<Self, String> {
        // One after the other: npm unpacks a package once.
        let mut workers = Self(Vec::new());
        for _ in 0..options.workers {
            match Servers::start(&options.m3, has_others).await {
                Ok(servers) => workers.0.push(servers),
                Err(reason) => {
                    workers.end().await;
                    return Err(reason);
                }
            }
        }
        Ok(workers)
    }

    /// Ends all servers.
    pub(crate) async fn end(self) {
        for servers in self.0 {
            servers.host.close().await;
        }
    }

    /// Runs all plans; the order is that of the plans.
    pub(crate) async fn run(&mut self, plans: Vec<Plan>, options: &Execution) -> Vec<Run> {
        let queue: Arc<Mutex<VecDeque<(usize, Plan)>>> =
            Arc::new(Mutex::new(plans.into_iter().enumerate().collect()));
        let mut running = JoinSet::new();
        for servers in self.0.drain(..) {
            let (queue, options) = (Arc::clone(&queue), options.clone());
            running.spawn(async move {
                let mut done = Vec::new();
                loop {
                    let next = queue.lock().unwrap().pop_front();
                    let Some((index, plan)) = next else { break };
                    done.push((index, run(&plan, &servers, &options).await));
                }
                (servers, done)
            });
        }
        let mut all: Vec<(usize, Run)> = Vec::new();
        for (servers, done) in running.join_all().await {
            self.0.push(servers);
            all.extend(done);
        }
        all.sort_by_key(|(index, _)| *index);
        all.into_iter().map(|(_, run)| run).collect()
    }
}

/// A call that was made.
struct Made {
    /// The file that it wrote, as the server or the call says.
    path: String,
    /// What it answered, as JSON where it is that.
    answered: Value,
}

/// Runs a plan in a fresh workspace.
async fn run(plan: &Plan, servers: &Servers, options: &Execution) -> Run {
    servers.forget();
    let workspace = servers.workspace();
    let source = options.images.join(plan.image.trim_start_matches("images/"));
    task_image::put(plan.image, &source, &workspace, Copies::WithMedia).unwrap();
    let mut state = State {
        files: Files::new(files_in(&workspace), options.watches),
        made: BTreeMap::new(),
        looked_up: Vec::new(),
    };
    let mut steps = Vec::new();
    for (index, step) in plan.steps.iter().enumerate() {
        let mut calls = Vec::new();
        for call in step {
            calls.push(make(plan, call, servers, &mut state).await);
        }
        steps.push(json!({"step": index + 1, "calls": calls}));
    }
    let graph = Graph::read(&servers.graph());
    let remains = state.files.remains(graph, state.looked_up);
    Run { steps: recorded(&Value::Array(steps), &workspace), remains }
}

/// What is known while a plan is run.
struct State {
    files: Files,
    made: BTreeMap<usize, Made>,
    looked_up: Vec<LookedUp>,
}

/// Makes a call; returns it in the form of trajectories. The only place where servers are called.
async fn make(plan: &Plan, call: &Call, servers: &Servers, state: &mut State) -> Value {
    let workspace = servers.workspace();
    let arguments: Map<String, Value> = call
        .arguments
        .iter()
        .map(|(name, argument)| (name.clone(), value(plan, argument, &state.made, &workspace)))
        .collect();
    let name = ToolName::parse(&call.tool).unwrap();
    let outcome = servers.host.call(&name, arguments.clone(), &CancellationToken::new()).await;
    let (given, answer) = match outcome.result {
        Ok(result) => (CallResult::answered(&result), answered(&result, &workspace)),
        Err(error) => (CallResult::failed(&name, &error, &Redactor::new::<&str>([]).unwrap()), Value::Null),
    };
    let (result, is_error) = given.result.unwrap_or((Value::Null, true));
    let arguments = Value::Object(arguments);
    let has_written = state.files.after(&call.tool, &arguments, files_in(&workspace), &workspace);
    let path = written(call, &arguments, &answer);
    state.made.insert(call.id, Made { path, answered: answer.clone() });
    if !has_written && !is_error {
        // A call that looks at several pictures looks at each.
        let parts = answer["images"].as_array().cloned().unwrap_or_else(|| vec![answer]);
        let looked = |answer| LookedUp { call: call.id, tool: call.tool.clone(), answer };
        state.looked_up.extend(parts.into_iter().map(looked));
    }
    let mut made = json!({"name": call.tool, "arguments": arguments, "result": result});
    if is_error {
        made["is_error"] = json!(true);
    }
    made
}

/// What a call answered, as JSON where its text is that; files by their paths in the workspace.
fn answered(result: &ToolResult, workspace: &Path) -> Value {
    let text = result.all_text().replace(&format!("{}/", workspace.display()), "");
    serde_json::from_str(&text).unwrap_or_else(|_| json!(text))
}

/// The path of the file that a call wrote: as the server says, else as the call does.
fn written(call: &Call, arguments: &Value, answer: &Value) -> String {
    let by_call = ["output_path", "destination", "path"].iter().find_map(|name| arguments[name].as_str());
    let by_server = answer.pointer("/result/0").and_then(Value::as_str);
    let by_server = by_server.filter(|_| call.tool.starts_with("image/"));
    by_server.or(by_call).unwrap_or("missing.png").to_owned()
}

/// The value of an argument.
fn value(plan: &Plan, argument: &Argument, made: &BTreeMap<usize, Made>, workspace: &Path) -> Value {
    let within = |argument: &Argument| value(plan, argument, made, workspace);
    match argument {
        Argument::Value(value) => value.clone(),
        Argument::List(parts) => parts.iter().map(within).collect(),
        Argument::Object(members) => {
            Value::Object(members.iter().map(|(name, part)| (name.clone(), within(part))).collect())
        }
        Argument::Text(parts) => {
            let text = |part: &Argument| match within(part) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            Value::String(parts.iter().map(text).collect())
        }
        Argument::Path(path) => json!(plan.whole_path(*path)),
        Argument::File(call) => json!(made.get(call).map_or("missing.png", |made| &made.path)),
        Argument::Image => json!(plan.image),
        Argument::Entity(entity) => json!(plan.entities[*entity].name),
        Argument::Answer(answer) => {
            made.get(&answer.call).map_or(Value::Null, |made| answer.value(&made.answered))
        }
        Argument::Spelled(spelling, inner) => match within(inner) {
            Value::String(path) => json!(spelled(&path, *spelling, workspace)),
            other => other,
        },
    }
}

/// A path in another writing.
fn spelled(path: &str, spelling: Spelling, workspace: &Path) -> String {
    let path = path_in_workspace(path, workspace);
    match spelling {
        Spelling::Absolute => workspace.join(path).display().to_string(),
        Spelling::Dot => format!("./{path}"),
        Spelling::Slashes => format!(".//{}", path.replace('/', "//")),
    }
}

/// The steps with one name for every worker's workspace.
fn recorded(steps: &Value, workspace: &Path) -> Value {
    let text = steps.to_string().replace(workspace.to_str().unwrap(), WORKSPACE);
    serde_json::from_str(&text).unwrap()
}
