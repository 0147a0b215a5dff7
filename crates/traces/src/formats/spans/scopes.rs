//! Which spans belong to which trajectory: spans below a call are inside it, and several layers of spans may describe
//! one call.

use std::collections::HashMap;

use super::roles::{Reply, Role, ToolRun};
use crate::spans::{Span, parents_first};

/// The spans of a trace, grouped by the trajectory that they belong to.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    /// The replies, calls and agents directly in the outer trajectory (`None`), or in a call or an agent, by time.
    members: HashMap<Option<usize>, Vec<usize>>,
    /// The agents whose callers wait for them, grouped by the trajectory that contains them.
    agents: HashMap<Option<usize>, Vec<usize>>,
    /// For each span, the agent or the call that it belongs to.
    callers: Vec<Option<usize>>,
}

impl Scopes {
    /// Finds the trajectory of each span, and merges the layers of one call or one reply into the outermost.
    pub(super) fn new(spans: &[Span], roles: &mut [Role]) -> Self {
        let mut scopes = Self { callers: vec![None; spans.len()], ..Self::default() };
        let mut holders: Vec<Option<usize>> = vec![None; spans.len()];
        let mut returns = vec![false; spans.len()];
        let mut members = Vec::new();
        for (span, parent) in parents_first(spans) {
            if let Some(parent) = parent {
                let holds = match &roles[parent] {
                    Role::Call(ran) => !ran.passes_control,
                    Role::Agent(_) => returns[parent],
                    Role::Reply(_) | Role::Aside => true,
                    Role::Other => false,
                };
                holders[span] = if holds { Some(parent) } else { holders[parent] };
                let is_caller = match &roles[parent] {
                    Role::Call(_) => true,
                    Role::Agent(_) => !is_same_agent(roles, scopes.callers[parent], parent),
                    _ => false,
                };
                scopes.callers[span] = if is_caller { Some(parent) } else { scopes.callers[parent] };
            }
            // Without a caller there is nothing to return to; an agent below a call is inside this call anyway.
            let is_in_call = holders[span].is_some_and(|holder| matches!(roles[holder], Role::Call(_)));
            returns[span] = matches!(&roles[span], Role::Agent(agent) if agent.returns)
                && scopes.callers[span].is_some()
                && !is_in_call;
            if absorb(roles, span, holders[span], scopes.callers[span]) {
                // Spans below a layer are below the call itself.
                roles[span] = Role::Other;
            } else if !matches!(roles[span], Role::Other) {
                members.push(span);
            }
        }
        members.sort_unstable();
        for span in members {
            let mut holder = holders[span];
            // Calls below the span of a reply belong to that reply.
            while let Some(reply) = holder.filter(|holder| matches!(roles[*holder], Role::Reply(_))) {
                holder = holders[reply];
            }
            if returns[span] {
                scopes.agents.entry(holder).or_default().push(span);
                holder = Some(span);
            }
            scopes.members.entry(holder).or_default().push(span);
        }
        scopes
    }

    /// Takes out the members of a trajectory.
    pub(super) fn take(&mut self, holder: Option<usize>) -> Vec<usize> {
        self.members.remove(&holder).unwrap_or_default()
    }

    /// The inner trajectories of a trajectory: its calls that have spans of their own inside, and its agents.
    pub(super) fn insides(
        &mut self,
        holder: Option<usize>,
        calls: impl Iterator<Item = usize>,
    ) -> Vec<usize> {
        let calls = calls.filter(|call| self.members.contains_key(&Some(*call)));
        let mut insides: Vec<usize> = calls.collect();
        insides.extend(self.agents.remove(&holder).unwrap_or_default());
        insides.sort_unstable();
        insides
    }

    /// The agent or the call that a span belongs to.
    pub(super) fn caller(&self, span: usize) -> Option<usize> {
        self.callers.get(span).copied().flatten()
    }
}

/// Whether an agent's span describes the same agent as the span of its caller.
fn is_same_agent(roles: &[Role], outer: Option<usize>, inner: usize) -> bool {
    match (outer.map(|outer| &roles[outer]), &roles[inner]) {
        (Some(Role::Agent(outer)), Role::Agent(inner)) => outer.name.is_some() && outer.name == inner.name,
        _ => false,
    }
}

/// Merges a span into its holder if both are layers of one call or of one reply.
fn absorb(roles: &mut [Role], span: usize, holder: Option<usize>, caller: Option<usize>) -> bool {
    let Some(holder) = holder else { return false };
    let is_layer = match (&roles[holder], &roles[span]) {
        (Role::Reply(_), Role::Reply(_)) => true,
        (Role::Call(outer), Role::Call(inner)) => caller == Some(holder) && is_layer(outer, inner),
        _ => false,
    };
    if !is_layer {
        return false;
    }
    let inner = std::mem::replace(&mut roles[span], Role::Other);
    match (&mut roles[holder], inner) {
        (Role::Reply(outer), Role::Reply(inner)) => merge_replies(outer, inner),
        (Role::Call(outer), Role::Call(inner)) => merge_calls(outer, inner),
        _ => {}
    }
    true
}

/// Whether a call directly below another is the same one.
fn is_layer(outer: &ToolRun, inner: &ToolRun) -> bool {
    let (name, within) = (bare(&outer.call.tool), bare(&inner.call.tool));
    if inner.is_mcp {
        // A host may put the server's name before that of the tool.
        return name.ends_with(within);
    }
    name == within && (inner.call.id.is_none() || inner.call.id == outer.call.id)
}

/// The name of a tool without its server.
pub(super) fn bare(tool: &str) -> &str {
    tool.rsplit_once('/').map_or(tool, |(_, name)| name)
}

fn merge_replies(outer: &mut Reply, inner: Reply) {
    if outer.outputs.is_empty() {
        outer.outputs = inner.outputs;
        outer.is_failed &= inner.is_failed;
    }
    outer.input = outer.input.take().or(inner.input);
    outer.model = outer.model.take().or(inner.model);
    if outer.usage.is_empty() {
        outer.usage = inner.usage;
    }
}

fn merge_calls(outer: &mut ToolRun, inner: ToolRun) {
    outer.server = outer.server.take().or(inner.server);
    outer.message = outer.message.take().or(inner.message);
    let (call, other) = (&mut outer.call, inner.call);
    call.arguments = call.arguments.take().or(other.arguments);
    call.result = call.result.take().or(other.result);
    call.is_error |= other.is_error;
    // The error type of MCP is more telling than the class of an exception.
    let (first, second) = (call.error_type.take(), other.error_type);
    call.error_type = if inner.is_mcp { second.or(first) } else { first.or(second) };
}
