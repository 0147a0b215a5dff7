//! The file of a session: its lines are a tree, of which the branch that ends with the last line is the conversation.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::line::{Kind, Line};
use super::{agents, blocks, line};
use crate::conversation::Conversation;
use crate::fields::Fields;
use crate::input::{Input, ReadError, Sink};
use crate::usage::Usage;

pub(super) fn read(input: &Input<'_>, sink: &mut dyn Sink) -> Result<(), ReadError> {
    let lines = line::read(input, sink)?;
    let mut has_any = false;
    for lines in sessions(lines) {
        let (side, main): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(|line| line.is_side);
        let inner = agents::within(&side);
        if main.iter().any(|line| line.kind != Kind::Other) {
            let Branch { conversation, ran } = branch(&main.iter().collect::<Vec<_>>());
            let mut conversation = agents::beside(input.source, conversation, ran);
            conversation.nested.extend(inner.into_iter().map(|(name, branch)| (name, branch.conversation)));
            has_any = true;
            sink.trace(None, conversation.finish())?;
            continue;
        }
        // The file of a sub-agent, given by itself.
        for (name, Branch { mut conversation, .. }) in inner {
            conversation.id = conversation.id.map(|id| format!("{id}/{name}"));
            has_any = true;
            sink.trace(None, conversation.finish())?;
        }
    }
    if has_any {
        return Ok(());
    }
    Err(ReadError::refused(
        "a session of Claude Code without messages: nothing was said, and no tool was called; take the file of a session \
         that has some, below `~/.claude/projects`",
    ))
}

/// The lines of each session: files can be joined, but what hangs together is one, under however many ids it went on.
fn sessions(lines: Vec<Line>) -> Vec<Vec<Line>> {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let mut of_lines: HashMap<&str, usize> = HashMap::new();
    let mut same = Same::default();
    let mut places = Vec::with_capacity(lines.len());
    for line in &lines {
        let id = *ids.entry(line.session.as_deref().unwrap_or_default()).or_insert_with(|| same.add());
        if let Some(parent) = line.parent.as_deref().and_then(|parent| of_lines.get(parent)) {
            same.join(id, *parent);
        }
        of_lines.extend(line.uuid.as_deref().map(|uuid| (uuid, id)));
        places.push(id);
    }
    let mut groups: BTreeMap<usize, Vec<Line>> = BTreeMap::new();
    for (line, id) in lines.into_iter().zip(places) {
        groups.entry(same.first(id)).or_default().push(line);
    }
    groups.into_values().filter(|lines| lines.iter().any(|line| line.kind != Kind::Other)).collect()
}

/// Which numbers stand for the same: for each number a lower one that does, or itself.
#[derive(Default)]
struct Same(Vec<usize>);

impl Same {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// The lowest number that stands for the same. The way there is made shorter for the next time.
    fn first(&mut self, mut number: usize) -> usize {
        while let Some(lower) = self.0.get(number).copied().filter(|lower| *lower < number) {
            let next = self.0.get(lower).copied().unwrap_or(lower);
            if let Some(place) = self.0.get_mut(number) {
                *place = next;
            }
            number = lower;
        }
        number
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.first(a), self.first(b));
        if let Some(place) = self.0.get_mut(a.max(b)) {
            *place = a.min(b);
        }
    }
}

/// A conversation, with the sub-agents whose results it holds.
pub(super) struct Branch {
    pub(super) conversation: Conversation,
    pub(super) ran: HashSet<String>,
}

/// Which lines are of a branch.
struct Choice<'l> {
    path: HashSet<usize>,
    /// The replies on the path.
    replies: HashSet<&'l str>,
    /// Their calls.
    calls: HashSet<&'l str>,
    /// Those whose results are on the path, too.
    done: HashSet<&'l str>,
}

impl<'l> Choice<'l> {
    fn new(lines: &[&'l Line]) -> Self {
        let path = path(lines);
        let on_path: Vec<&Line> =
            (0..).zip(lines).filter(|(place, _)| path.contains(place)).map(|(_, it)| *it).collect();
        let replies: HashSet<&str> = on_path.iter().filter_map(|line| line.reply()).collect();
        let answers = on_path.iter().filter(|line| line.kind == Kind::User);
        let done = answers.flat_map(|line| blocks::results(&line.message)).collect();
        let mut choice = Self { path, replies, calls: HashSet::new(), done };
        let replies = (0..).zip(lines).filter(|(place, line)| choice.has_reply(*place, line));
        choice.calls = replies.flat_map(|(_, line)| blocks::calls(&line.message)).collect();
        choice
    }

    /// Whether a line of the model is taken: on the path, or of a reply that is.
    fn has_reply(&self, place: usize, line: &Line) -> bool {
        let is_known = self.path.contains(&place) || line.reply().is_some_and(|id| self.replies.contains(id));
        line.kind == Kind::Assistant && is_known
    }

    /// Whether a line has results that are missing on the path: they hang below the lines of their calls, so that those of
    /// parallel calls are beside it.
    fn has_results(&self, line: &Line) -> bool {
        let is_missing = |id: &str| self.calls.contains(id) && !self.done.contains(id);
        line.kind == Kind::User && blocks::results(&line.message).any(is_missing)
    }
}

/// The branch that ends with the last line.
pub(super) fn branch(lines: &[&Line]) -> Branch {
    let mut it = Conversation::default();
    let mut ran = HashSet::new();
    let mut choice = Choice::new(lines);
    let mut usage: HashMap<&str, Usage> = HashMap::new();
    for (place, line) in lines.iter().enumerate() {
        if line.kind == Kind::Other || line.is_synthetic() {
            continue;
        }
        let (is_reply, is_on_path) = (choice.has_reply(place, line), choice.path.contains(&place));
        if !is_reply && !is_on_path && !choice.has_results(line) {
            it.note("a message of a branch that was given up is left out");
            continue;
        }
        it.at(line.time);
        it.id = line.session.clone().or(it.id.take());
        ran.extend(line.ran.clone());
        if is_reply {
            assistant(&mut it, line, &mut usage);
        } else if is_on_path {
            blocks::user(&mut it, &line.message, line.is_own);
        } else {
            for block in line.message.list("content").iter().filter(|block| blocks::is_result(block)) {
                let id = block.text("tool_use_id").filter(|id| choice.calls.contains(id));
                if id.is_some_and(|id| choice.done.insert(id)) {
                    blocks::result(&mut it, block);
                }
            }
        }
    }
    for usage in usage.into_values() {
        it.usage.add(usage);
    }
    Branch { conversation: it, ran }
}

/// A line of the model.
fn assistant<'l>(it: &mut Conversation, line: &'l Line, usage: &mut HashMap<&'l str, Usage>) {
    if let Some(model) = line.message.text("model") {
        it.model = Some(model.to_owned());
    }
    let told = line.message.member("usage").map(Usage::of_anthropic);
    // All lines of a reply have its tokens.
    match (line.reply(), told) {
        (Some(id), Some(told)) => {
            usage.insert(id, told);
        }
        (None, Some(told)) => it.usage.add(told),
        _ => {}
    }
    blocks::assistant(it, &line.message);
}

/// The lines from the last one back to the root.
fn path(lines: &[&Line]) -> HashSet<usize> {
    let places = lines.iter().enumerate().filter_map(|(place, line)| Some((line.uuid.as_deref()?, place)));
    let places: HashMap<&str, usize> = places.collect();
    let mut path = HashSet::new();
    let mut next = lines.iter().rposition(|line| line.uuid.is_some());
    if next.is_none() {
        return (0..lines.len()).collect();
    }
    // A line that comes again closes a circle, which no program writes.
    while let Some(place) = next
        && path.insert(place)
    {
        let parent = lines.get(place).and_then(|line| line.parent.as_deref());
        // A parent that is not in the file was no message: what stands before goes on.
        next = parent.and_then(|parent| places.get(parent).copied().or_else(|| place.checked_sub(1)));
    }
    path
}
