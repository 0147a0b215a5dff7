//! Sub-agents of a session: side chains in the file itself, or files beside it, which name the call that began them.

use std::path::{Path, PathBuf};

use m3_trajectory::Source;

use super::branch::{Branch, branch};
use super::line::{self, Kind, Line};
use crate::formats::prelude::*;
use crate::head::Head;

/// The longest file that names the call that began an agent, in bytes.
const LONGEST: u64 = 1 << 20;

/// The agents whose lines are among these, by their ids; lines without ids are one agent if they are linked.
pub(super) fn within(lines: &[Line]) -> Vec<(String, Branch)> {
    let mut groups: Vec<(String, Vec<&Line>)> = Vec::new();
    let mut of_ids: HashMap<&str, usize> = HashMap::new();
    let mut of_lines: HashMap<&str, usize> = HashMap::new();
    for line in lines {
        let known = match &line.agent {
            Some(agent) => of_ids.get(agent.as_str()),
            None => line.parent.as_deref().and_then(|parent| of_lines.get(parent)),
        };
        let place = known.copied().unwrap_or_else(|| {
            let name = line.agent.clone().unwrap_or_else(|| format!("agent-{}", groups.len() + 1));
            groups.push((name, Vec::new()));
            groups.len() - 1
        });
        of_ids.extend(line.agent.as_deref().map(|id| (id, place)));
        of_lines.extend(line.uuid.as_deref().map(|uuid| (uuid, place)));
        if let Some((_, lines)) = groups.get_mut(place) {
            lines.push(line);
        }
    }
    groups.retain(|(_, lines)| lines.iter().any(|line| line.kind != Kind::Other));
    groups.into_iter().map(|(name, lines)| (name, branch(&lines))).collect()
}

/// An agent in a file of its own.
struct Agent {
    name: String,
    /// The id of the call that began the agent.
    call: Option<String>,
    branch: Branch,
}

/// Adds the agents in files beside that of a session: those that its calls, or calls of its agents, have begun. `ran`
/// are the agents whose results the session holds.
pub(super) fn beside(source: &Source, mut conversation: Conversation, ran: HashSet<String>) -> Conversation {
    let Some(path) = source.path() else { return conversation };
    let mut agents: Vec<Option<Agent>> = Vec::new();
    for (name, path) in files(path, &ran) {
        match agent(&name, &path) {
            Ok(found) => agents.extend(found.map(Some)),
            Err(_) => conversation.note("the file of a sub-agent cannot be read"),
        }
    }
    let (mut of_calls, mut of_names) = (HashMap::<String, Vec<usize>>::new(), HashMap::new());
    for (place, agent) in agents.iter().enumerate() {
        let Some(agent) = agent else { continue };
        of_names.insert(agent.name.clone(), place);
        if let Some(call) = &agent.call {
            of_calls.entry(call.clone()).or_default().push(place);
        }
    }
    let begun = |it: &mut Conversation| -> Vec<usize> {
        it.calls_mut().filter_map(|call| of_calls.get(call.id.as_ref()?)).flatten().copied().collect()
    };
    let named = |ran: HashSet<String>| {
        ran.into_iter().filter_map(|name| of_names.get(&name).copied()).collect::<Vec<_>>()
    };
    let mut wanted = [begun(&mut conversation), named(ran)].concat();
    while let Some(place) = wanted.pop() {
        let Some(agent) = agents.get_mut(place).and_then(Option::take) else { continue };
        let Branch { conversation: mut inner, ran } = agent.branch;
        wanted.extend(begun(&mut inner).into_iter().chain(named(ran)));
        conversation.nested.push((agent.name, inner));
    }
    // The rest are agents of the program, such as those that summarize a conversation, or agents of other branches.
    for _ in agents.into_iter().flatten() {
        conversation.note("a sub-agent that no call began is left out");
    }
    conversation.nested.sort_by(|(a, _), (b, _)| a.cmp(b));
    conversation
}

/// The files of a session's agents, sorted by name: `SESSION/subagents/agent-ID.jsonl` for `SESSION.jsonl`; if there
/// are none, `agent-ID.jsonl` beside the session, as older versions wrote them, for the agents in `ran`. No other file
/// is read.
fn files(session: &Path, ran: &HashSet<String>) -> Vec<(String, PathBuf)> {
    let name = session.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let Some(stem) = m3_support::unpack::unpacked_name(&name).strip_suffix(".jsonl") else {
        return Vec::new();
    };
    let folder = session.with_file_name(stem).join("subagents");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<(String, PathBuf)> = entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
            Some((id.to_owned(), entry.path()))
        })
        .collect();
    if files.is_empty() {
        let is_name = |id: &&String| {
            !id.is_empty()
                && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        };
        let beside = ran
            .iter()
            .filter(is_name)
            .map(|id| (id.clone(), session.with_file_name(format!("agent-{id}.jsonl"))));
        files.extend(beside.filter(|(_, path)| std::fs::symlink_metadata(path).is_ok_and(|it| it.is_file())));
    }
    files.sort();
    files
}

/// Reads the file of an agent and its metadata; `None` if it holds no messages.
fn agent(name: &str, path: &Path) -> Result<Option<Agent>, ReadError> {
    let source = Source::open(path)?;
    let head = Head::read(&source)?;
    let lines = line::read(&Input::new(&source, &head), &mut SilentSink)?;
    let lines: Vec<&Line> = lines.iter().collect();
    if lines.iter().all(|line| line.kind == Kind::Other) {
        return Ok(None);
    }
    let about = path.with_file_name(format!("agent-{name}.meta.json"));
    Ok(Some(Agent { name: name.to_owned(), call: begun_by(&about), branch: branch(&lines) }))
}

/// The id of the call that began an agent, by the agent's metadata.
fn begun_by(about: &Path) -> Option<String> {
    if !std::fs::symlink_metadata(about).is_ok_and(|it| it.is_file()) {
        return None;
    }
    let bytes = Source::open(about).and_then(|source| source.start(LONGEST)).ok()?;
    let (about, _): (Json, _) = parse(&bytes).ok()?;
    about.text("toolUseId").map(str::to_owned)
}

/// A sink that keeps nothing: a line of an agent that cannot be read is one that was cut.
struct SilentSink;

impl Sink for SilentSink {
    fn trace(&mut self, _: Option<u64>, _: Trace) -> Result<(), ReadError> {
        Ok(())
    }

    fn warn(&mut self, _: Option<u64>, _: &str) {}
}
