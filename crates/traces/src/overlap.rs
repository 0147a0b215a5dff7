//! Steps of traces that hold no replies: calls are made together if they overlap.

use crate::conversation::Conversation;
use crate::trace::TracedCall;

/// Calls in the order of their beginnings, with the moments at which they began and ended.
#[derive(Debug, Default)]
pub(crate) struct Overlap {
    calls: Vec<(TracedCall, u64, u64)>,
}

impl Overlap {
    /// Begins a call and returns its number for the other functions. Moments are counted by the caller, and do not go
    /// back.
    pub(crate) fn begin(&mut self, call: TracedCall, moment: u64) -> usize {
        // A call without an end ends at its beginning: else all later calls would be in its step.
        self.calls.push((call, moment, moment));
        self.calls.len() - 1
    }

    /// Ends a call, and returns it to be completed.
    pub(crate) fn end(&mut self, number: usize, moment: u64) -> Option<&mut TracedCall> {
        let (call, _, end) = self.calls.get_mut(number)?;
        *end = moment;
        Some(call)
    }

    /// All calls so far, to complete them.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut TracedCall> {
        self.calls.iter_mut().map(|(call, ..)| call)
    }

    /// Whether no call was made.
    pub(crate) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Puts the calls into steps: a call that begins before an earlier call of a step has ended belongs to that step.
    pub(crate) fn steps(self, conversation: &mut Conversation) {
        let (mut step, mut until) = (Vec::new(), 0);
        for (call, start, end) in self.calls {
            if start >= until && !step.is_empty() {
                conversation.step(std::mem::take(&mut step));
            }
            until = if step.is_empty() { end } else { until.max(end) };
            step.push(call);
        }
        if !step.is_empty() {
            conversation.step(step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_overlap_are_a_step_and_those_without_an_end_hold_nothing_open() {
        let mut it = Overlap::default();
        let call = |tool: &str| TracedCall::new(None, tool.to_owned(), None);
        let a = it.begin(call("a"), 1);
        let b = it.begin(call("b"), 2);
        it.end(a, 3);
        let c = it.begin(call("c"), 4);
        it.end(b, 5);
        it.end(c, 6);
        it.begin(call("lost"), 7);
        it.begin(call("d"), 8);
        let mut conversation = Conversation::default();
        it.steps(&mut conversation);
        let steps = conversation.finish().steps;
        let names =
            |step: &Vec<TracedCall>| step.iter().map(|call| call.tool.clone()).collect::<Vec<_>>().concat();
        assert_eq!(steps.iter().map(names).collect::<Vec<_>>(), ["abc", "lost", "d"]);
    }
}
