//! The options of `m3 run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use m3_executor::run::KeepWorkspaces;
use m3_executor::{Instruction, Limits, Mode, RunOptions};
use m3_llm::Settings;
use m3_mcp::results::ResultStore;
use m3_servers::candidates::Candidates;
use m3_servers::distractors::DistractorKind;
use serde_json::{Map, Value};

use crate::cli::common::{EncoderArgs, ReplyArgs};

/// Options of `m3 run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// Tasks: JSON, JSON Lines, either in gzip or zstd; `-` for standard input
    pub(super) tasks: PathBuf,
    /// The model, such as openai:gpt-5, or replay:FILE to replay a cassette
    #[arg(long, value_name = "MODEL")]
    pub(super) llm: String,
    /// Folder for everything that is written; the same command continues what is in it
    #[arg(short, long, value_name = "DIR")]
    pub(super) out: PathBuf,
    /// Configuration of MCP servers (docs/mcp.md); not needed with replay:FILE
    #[arg(long, value_name = "CONFIG")]
    pub(super) servers: Option<PathBuf>,
    /// Only this server; repeatable
    #[arg(long, value_name = "NAME", requires = "servers")]
    pub(super) server: Vec<String>,
    /// Folder that the images of tasks are in [default: that of the tasks, and the one above it]
    #[arg(long, value_name = "DIR")]
    pub(super) images: Option<PathBuf>,
    /// How model and tools work together
    #[arg(long, value_enum, default_value_t = Mode::Staged)]
    pub(super) mode: Mode,
    /// Which text of a task the model gets; a task with only one text uses that one
    #[arg(long, value_enum, default_value_t = Instruction::Question)]
    pub(super) instruction: Instruction,
    /// Only the task with this id; repeatable
    #[arg(long, value_name = "ID", help_heading = "Which tasks")]
    pub(super) id: Vec<String>,
    /// Only tasks of this type
    #[arg(long = "type", value_name = "TYPE", help_heading = "Which tasks")]
    pub(super) task_type: Option<String>,
    /// Run each task this many times, for pass@k and pass^k: `m3 score` of the run's folder has them
    #[arg(long, value_name = "K", default_value_t = 1, help_heading = "Which tasks", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(super) repeat: u32,
    /// Run tasks again that failed before
    #[arg(long, help_heading = "Which tasks")]
    pub(super) retry_failed: bool,
    #[command(flatten)]
    pub(super) limits: LimitArgs,
    #[command(flatten)]
    pub(super) asking: AskingArgs,
    /// Tasks at once, each with its own instances of servers that are not `stateless`
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) workers: u16,
    /// Keep every request and reply of models and tools in a cassette
    #[arg(long, value_name = "FILE")]
    pub(super) record: Option<PathBuf>,
    /// Which workspaces are left when their tasks are done
    #[arg(long, value_enum, value_name = "WHICH", default_value_t = KeepWorkspaces::Always)]
    pub(super) keep_workspaces: KeepWorkspaces,
    /// Table of prices, to show what the run costs (docs/run.md)
    #[arg(long, value_name = "FILE")]
    pub(super) prices: Option<PathBuf>,
    #[command(flatten)]
    pub(super) encoder: EncoderArgs,
}

/// The limits of a task.
#[derive(Debug, Args)]
#[command(next_help_heading = "Limits of a task")]
pub(super) struct LimitArgs {
    /// Steps with calls
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_steps: u32,
    /// Calls of one step
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    max_calls_per_step: u32,
    /// Calls of all steps
    #[arg(long, value_name = "N")]
    max_calls: Option<u32>,
    /// Tokens, input and output of all turns together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_tokens: Option<u64>,
    /// Seconds of one call, from when it is sent
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u32).range(1..=604_800))]
    call_time: u32,
    /// Seconds of all calls of one step
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=604_800))]
    step_time: u32,
    /// Seconds of the task, from its first request
    #[arg(long, value_name = "SECONDS", default_value_t = 3600, value_parser = clap::value_parser!(u32).range(1..=604_800))]
    task_time: u32,
}

/// Options for the requests to the model.
#[derive(Debug, Args)]
#[command(next_help_heading = "What the model gets")]
pub(super) struct AskingArgs {
    /// Offer only the K tools nearest to the task's text, by the sentence encoder
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) top_tools: Option<u32>,
    #[command(flatten)]
    pub(super) candidates: CandidateArgs,
    /// Offer no tool whose input schema cannot be used, instead of leaving its calls unchecked
    #[arg(long)]
    pub(super) only_checkable_tools: bool,
    /// Have long results shortened by the model itself instead of by rule
    #[arg(long)]
    compress: bool,
    /// Show the model no image, and do not mention any: the blind baseline (docs/run.md)
    #[arg(long, conflicts_with_all = ["images", "max_image_side"])]
    pub(super) no_images: bool,
    /// Scale images down to this side, in pixels, where the provider takes more
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(16..=16_384))]
    max_image_side: Option<u32>,
    #[command(flatten)]
    replies: ReplyArgs,
    /// Seed of sampling, for providers that have one
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Further keys of every request's body, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = parse_object)]
    llm_extra: Option<Extra>,
    /// Most tries of a request, while the model cannot be reached or asks to wait [default: 8, and 3 while it has never answered]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) llm_tries: Option<u32>,
    /// Variable that holds the key [default: the provider's own, such as `OPENAI_API_KEY`]
    #[arg(long, value_name = "VARIABLE")]
    pub(super) llm_key_from: Option<String>,
}

/// Options that choose the tools that a task is offered beside those that it needs.
#[derive(Debug, Args)]
pub(super) struct CandidateArgs {
    /// Offer each task K tools: those that its reference calls, and distractors, but none that solves the task as well
    /// (docs/run.md); those of a smaller K are among those of a greater one
    #[arg(long, value_name = "K", requires = "references", conflicts_with = "top_tools", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) candidates: Option<u32>,
    /// References of the tasks, which say which tools each needs
    #[arg(long, value_name = "FILE", requires = "candidates")]
    pub(super) references: Option<PathBuf>,
    /// Which distractors
    #[arg(long, value_enum, value_name = "KIND", default_value_t = DistractorKind::Random, requires = "candidates")]
    distractor_kind: DistractorKind,
    /// Decides random distractors and the order of the tools: the same seed gives the same lists on any machine
    #[arg(long, value_name = "N", default_value_t = 0, requires = "candidates")]
    candidates_seed: u64,
}

impl CandidateArgs {
    /// The choice of candidates; `None` if all tools are offered.
    pub(super) fn choice(&self) -> Option<Candidates> {
        let (kind, seed) = (self.distractor_kind, self.candidates_seed);
        Some(Candidates { count: self.candidates? as usize, kind, seed })
    }
}

const EXAMPLES: &str = "\
Examples:
  m3 run tasks.json --llm openai:gpt-5 --servers servers/local.json -o out
  m3 run tasks.json --llm gemini:gemini-2.5-pro --servers s.json -o out
  m3 run tasks.json --llm openai@http://127.0.0.1:8000/v1:Qwen/Qwen3-VL-8B \\
      --servers s.json -o out --mode native
  m3 run tasks.json --llm openai:gpt-5 --servers s.json -o out \\
      --candidates 20 --references references.json
  m3 run tasks.json --llm openai:gpt-5 --servers s.json -o out --record a.tape
  m3 run tasks.json --llm replay:a.tape -o again

The same command again continues where it stopped: tasks that are done are left alone, those whose image, \
text, model, prompts, limits or tools have changed are run again. Then score DIR/predictions.json. docs/run.md \
explains the folder and the modes.

With replay:FILE the model's replies come from a cassette, and so do the tools' results unless --servers \
names servers to call.

Exits with 3 if tasks failed, with 4 if the model, a server or disk space is not available, with 130 if it was \
interrupted: Ctrl-C once finishes running calls and saves, twice stops at once.";

/// A JSON object on the command line.
#[derive(Debug, Clone)]
pub(super) struct Extra(Map<String, Value>);

impl RunArgs {
    /// The options for running tasks.
    pub(super) fn options(&self) -> RunOptions {
        let seconds = |seconds: u32| Duration::from_secs(seconds.into());
        let (limits, asking) = (&self.limits, &self.asking);
        RunOptions {
            mode: self.mode,
            instruction: self.instruction,
            limits: Limits {
                steps: limits.max_steps,
                calls_per_step: limits.max_calls_per_step,
                calls: limits.max_calls,
                tokens: limits.max_tokens,
                call_time: seconds(limits.call_time),
                step_time: seconds(limits.step_time),
                task_time: seconds(limits.task_time),
            },
            compress: asking.compress,
            result_limit: ResultStore::DEFAULT_LIMIT,
            no_images: asking.no_images,
            max_image_side: asking.max_image_side,
            settings: Settings {
                seed: asking.seed,
                extra: asking.llm_extra.as_ref().map_or_else(Map::new, |extra| extra.0.clone()),
                ..asking.replies.settings()
            },
        }
    }
}

/// Keys that m3 itself sets in requests: with other values the record would be wrong, and several replies or a
/// streamed one could not be read.
const OWN_KEYS: [&str; 9] =
    ["contents", "messages", "model", "n", "stream", "system", "systemInstruction", "tools", "toolConfig"];

fn parse_object(text: &str) -> Result<Extra, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(members)) => match members.keys().find(|key| OWN_KEYS.contains(&key.as_str())) {
            Some(key) => Err(format!("m3 sets `{key}` itself")),
            None => Ok(Extra(members)),
        },
        Ok(_) => Err("it should be a JSON object, such as {\"top_p\": 0.9}".to_owned()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}
