//! Another order of calls.

use super::super::plan::{Argument, Call, Plan};
use super::super::random::Random;
use super::{is_maker, makers};

/// The calls of each step in reverse.
pub(super) fn reverse(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let has_any = plan.steps.iter().any(|step| step.len() > 1);
    plan.steps.iter_mut().for_each(|step| step.reverse());
    has_any.then_some(())
}

/// One call in each step.
pub(super) fn split(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let has_any = plan.steps.iter().any(|step| step.len() > 1);
    plan.steps = std::mem::take(&mut plan.steps).into_iter().flatten().map(|call| vec![call]).collect();
    has_any.then_some(())
}

/// Each branch to its end before the next begins, one call in each step.
pub(super) fn branch_by_branch(plan: &mut Plan, _: &mut Random) -> Option<()> {
    fn place(plan: &Plan, id: usize, placed: &mut Vec<usize>) {
        if placed.contains(&id) {
            return;
        }
        for used in plan.get(id).uses() {
            place(plan, used, placed);
        }
        placed.push(id);
    }
    let before: Vec<usize> = plan.calls().map(|call| call.id).collect();
    let mut placed = Vec::new();
    for id in before.iter().filter(|id| plan.users(**id).is_empty()) {
        place(plan, *id, &mut placed);
    }
    if placed == before {
        return None;
    }
    plan.steps = placed.iter().map(|id| vec![plan.get(*id).clone()]).collect();
    Some(())
}

/// A call before the one whose file it reads.
pub(super) fn too_early(plan: &mut Plan, random: &mut Random) -> Option<()> {
    let readers: Vec<usize> =
        plan.calls().filter(|call| !call.files().is_empty()).map(|call| call.id).collect();
    let reader = random.any(&readers)?;
    let call = plan.get(reader).clone();
    let source = *call.files().first()?;
    let step = plan.step_of(source);
    let own = plan.step_of(reader);
    plan.steps[own].retain(|call| call.id != reader);
    plan.steps.insert(step, vec![call]);
    Some(())
}

/// Two edits of which one follows the other are exchanged; the names stay where they are.
pub(super) fn exchange(plan: &mut Plan, _: &mut Random) -> Option<()> {
    let is_edit =
        |call: &Call| is_maker(&call.tool) && call.argument("input_path").is_some() && call.short() != "crop";
    let pair = makers(plan).into_iter().find_map(|second| {
        let call = plan.get(second);
        let first = *call.files().first()?;
        let is_pair = is_edit(call) && is_edit(plan.get(first)) && plan.users(first).len() == 1;
        is_pair.then_some((first, second))
    });
    let (first, second) = pair?;
    let [one, two] = [first, second].map(|id| plan.get(id).clone());
    for (id, from) in [(first, &two), (second, &one)] {
        let call = plan.get_mut(id);
        let paths: Vec<(String, Argument)> =
            call.arguments.iter().filter(|(name, _)| is_path(name)).cloned().collect();
        call.tool.clone_from(&from.tool);
        call.arguments = paths
            .into_iter()
            .chain(from.arguments.iter().filter(|(name, _)| !is_path(name)).cloned())
            .collect();
    }
    Some(())
}

fn is_path(name: &str) -> bool {
    name.ends_with("_path")
}
