//! The file of a session: its lines are a tree, and the branch that ends with the last line is the conversation.

use super::branch::{Branch, branch};
use super::line::{Kind, Line};
use super::{agents, line};
use crate::formats::prelude::*;

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
        // The file is that of a sub-agent.
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

/// The lines of each session. Files can be joined; linked lines are one session, even if its id changes.
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

/// Sets of equal numbers (union-find): each number leads to a lower one of its set, or to itself.
#[derive(Default)]
struct Same(Vec<usize>);

impl Same {
    fn add(&mut self) -> usize {
        self.0.push(self.0.len());
        self.0.len() - 1
    }

    /// The lowest number of a set. The way to it is made shorter for the next time.
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
