//! The branch of a session that ends with its last line, as a conversation.

use super::blocks;
use super::line::{Kind, Line};
use crate::formats::prelude::*;

/// A conversation, with the sub-agents whose results it holds.
pub(super) struct Branch {
    pub(super) conversation: Conversation,
    pub(super) ran: HashSet<String>,
}

/// The lines that belong to a branch.
struct Choice<'l> {
    path: HashSet<usize>,
    /// The replies on the path.
    replies: HashSet<&'l str>,
    /// The calls on the path.
    calls: HashSet<&'l str>,
    /// The calls whose results are on the path, too.
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

    /// Whether a line of the model belongs to the branch: it is on the path, or part of a reply that is.
    fn has_reply(&self, place: usize, line: &Line) -> bool {
        let is_known = self.path.contains(&place) || line.reply().is_some_and(|id| self.replies.contains(id));
        line.kind == Kind::Assistant && is_known
    }

    /// Whether a line has results that the path lacks: results follow the lines of their calls, so those of parallel
    /// calls are beside the path.
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

/// Adds a line of the model.
fn assistant<'l>(it: &mut Conversation, line: &'l Line, usage: &mut HashMap<&'l str, Usage>) {
    it.set_model(line.message.text("model"));
    let reported = line.message.member("usage").map(Usage::of_anthropic);
    // All lines of a reply have its tokens.
    match (line.reply(), reported) {
        (Some(id), Some(reported)) => {
            usage.insert(id, reported);
        }
        (None, Some(reported)) => it.usage.add(reported),
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
        // A parent that is not in the file was not a message: the path goes on with the line before.
        next = parent.and_then(|parent| places.get(parent).copied().or_else(|| place.checked_sub(1)));
    }
    path
}
